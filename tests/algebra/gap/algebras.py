"""Lie algebras as matrices with small integer entries, and the same in a basis and in coordinates without structure."""

import functools
import itertools
from fractions import Fraction

import torch
from torch import Tensor

from cases import normal
from liegg.algebra import diagonal, gl, orthonormal, shear, sp
from liegg.algebra.bracket import structure_constants


def unit(n: int, i: int, j: int) -> Tensor:
    matrix = torch.zeros(n, n, dtype=torch.float64)
    matrix[i, j] = 1
    return matrix


def real(matrix: Tensor) -> Tensor:
    """A + iB as the real matrix [[A, -B], [B, A]]."""
    return torch.cat(
        [torch.cat([matrix.real, -matrix.imag], -1), torch.cat([matrix.imag, matrix.real], -1)], -2
    )


def complexified(generators: Tensor) -> Tensor:
    """Real and imaginary multiples."""
    return torch.cat(
        [real(generators.to(torch.complex128)), real(1j * generators.to(torch.complex128))]
    )


def independent(candidates: Tensor) -> Tensor:
    """The first matrices that span what all do."""
    kept: list[Tensor] = []
    for matrix in candidates:
        if torch.linalg.matrix_rank(torch.stack([*kept, matrix]).flatten(1)) > len(kept):
            kept.append(matrix)
    return torch.stack(kept)


def su_pq(p: int, q: int) -> Tensor:
    """Complex matrices with A*η + ηA = 0 and trace 0, η = diag(1 × p, -1 × q)."""
    n, eta = p + q, torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64)
    found = [1j * (unit(n, i, i) - unit(n, i + 1, i + 1)) for i in range(n - 1)]
    for i, j in itertools.combinations(range(n), 2):
        sign = float(eta[i] * eta[j])
        found += [
            (unit(n, i, j) - sign * unit(n, j, i)).to(torch.complex128),
            1j * (unit(n, i, j) + sign * unit(n, j, i)),
        ]
    return real(torch.stack(found))


def quaternionic(p: int, q: int) -> Tensor:
    """sp(p, q) on C^2n: matrices of u(2p, 2q) that are quaternionic; sp(n) for q = 0."""
    n, eta = p + q, torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64)
    found = []
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        sign = float(eta[i] * eta[j])
        for k, unit_quaternion in enumerate(_quaternions()):
            back = 1 if k == 0 else -1  # conjugate
            matrix = torch.kron(unit(n, i, j).to(torch.complex128), unit_quaternion)
            matrix = matrix - sign * back * torch.kron(
                unit(n, j, i).to(torch.complex128), unit_quaternion
            )
            found.append(matrix)
    return independent(real(torch.stack([m for m in found if bool(m.abs().sum() > 0)])))


def sl_h(m: int) -> Tensor:
    """Quaternionic m × m matrices whose real trace is zero, on C^2m."""
    pieces = [torch.kron(e.to(torch.complex128), w) for e in gl(m) for w in _quaternions()]
    one = torch.eye(2, dtype=torch.complex128)
    off = [
        p
        for p, (e, k) in zip(pieces, itertools.product(range(m * m), range(4)), strict=True)
        if k or e % (m + 1)
    ]
    return real(
        torch.stack(
            off
            + [
                torch.kron((unit(m, i, i) - unit(m, i + 1, i + 1)).to(one), one)
                for i in range(m - 1)
            ]
        )
    )


def so_star(m: int) -> Tensor:
    """so*(2m): complex antisymmetric matrices [[A, B], [-B̄, Ā]] with A antisymmetric and B Hermitian."""
    zero = torch.zeros(m, m, dtype=torch.complex128)
    found = []
    for i, j in itertools.combinations(range(m), 2):
        a = (unit(m, i, j) - unit(m, j, i)).to(torch.complex128)
        s = (unit(m, i, j) + unit(m, j, i)).to(torch.complex128)
        found += [_blocks(a, zero), _blocks(1j * a, zero), _blocks(zero, s), _blocks(zero, 1j * a)]
    found += [_blocks(zero, unit(m, i, i).to(torch.complex128)) for i in range(m)]
    return real(torch.stack(found))


@functools.cache
def g2(*, split: bool = False) -> Tensor:
    """Derivations of the (split) octonions, on their imaginary part R⁷; rationals with denominators cleared."""
    table = _octonions(-1.0 if not split else 1.0)
    eye = torch.eye(8, dtype=torch.float64)
    # D(xy) = D(x)y + xD(y), for all pairs of basis elements: linear in the 64 entries of D.
    equations = torch.zeros(8, 8, 8, 8, 8, dtype=torch.float64)
    for a, b in itertools.product(range(8), repeat=2):
        equations[a, b] += torch.einsum("c,de->dec", table[a, b], eye)
        for e in range(8):
            equations[a, b, :, e, a] -= table[e, b]
            equations[a, b, :, e, b] -= table[a, e]
    return _integer_null_space(equations.reshape(512, 64)).reshape(-1, 8, 8)[:, 1:, 1:]


def _octonions(sign: float) -> Tensor:
    """Multiplication table [8, 8, 8] by doubling the quaternions: (a, b)(c, d) = (ac + sign d̄b, da + bc̄)."""
    quaternion = torch.zeros(4, 4, 4, dtype=torch.float64)
    for i in range(4):
        quaternion[0, i, i] = quaternion[i, 0, i] = 1
    for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2)):
        quaternion[i, j, k], quaternion[j, i, k] = 1, -1
    for i in range(1, 4):
        quaternion[i, i, 0] = -1
    bar = torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64)
    table = torch.zeros(8, 8, 8, dtype=torch.float64)
    table[:4, :4, :4] = quaternion
    table[4:, 4:, :4] = sign * torch.einsum("d,dbk->bdk", bar, quaternion)  # b, d -> d̄b
    table[:4, 4:, 4:] = torch.einsum("dak->adk", quaternion)
    table[4:, :4, 4:] = torch.einsum("bck,c->bck", quaternion, bar)
    return table


def _integer_null_space(matrix: Tensor) -> Tensor:
    """Basis of the null space with small integers, by elimination in fractions."""
    rows = [[Fraction(int(v)) for v in row] for row in matrix.unique(dim=0).tolist()]
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        chosen = next((r for r in range(len(pivots), len(rows)) if rows[r][column]), None)
        if chosen is None:
            continue
        place = len(pivots)
        rows[place], rows[chosen] = rows[chosen], rows[place]
        rows[place] = [v / rows[place][column] for v in rows[place]]
        for r, row in enumerate(rows):
            if r != place and row[column]:
                rows[r] = [v - row[column] * w for v, w in zip(row, rows[place], strict=True)]
        pivots.append(column)
    free = [c for c in range(matrix.shape[1]) if c not in pivots]
    out = torch.zeros(len(free), matrix.shape[1], dtype=torch.float64)
    for k, c in enumerate(free):
        out[k, c] = 1
        for r, pivot in enumerate(pivots):
            out[k, pivot] = -float(rows[r][c])
    return out


def _quaternions() -> list[Tensor]:
    """1, i, j, k as complex 2 × 2 matrices."""
    return [
        torch.tensor(m, dtype=torch.complex128)
        for m in ([[1, 0], [0, 1]], [[1j, 0], [0, -1j]], [[0, 1], [-1, 0]], [[0, 1j], [1j, 0]])
    ]


def _blocks(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([torch.cat([a, b], 1), torch.cat([-b.conj(), a.conj()], 1)])


def direct_sum(*algebras: Tensor) -> Tensor:
    """Block matrices, one algebra in each block."""
    sizes = [a.shape[1] for a in algebras]
    found = []
    for place, algebra in enumerate(algebras):
        for matrix in algebra:
            blocks = [
                matrix if k == place else torch.zeros(s, s, dtype=torch.float64)
                for k, s in enumerate(sizes)
            ]
            found.append(torch.block_diag(*blocks))
    return torch.stack(found)


def semidirect(generators: Tensor, *, scaled: bool = False) -> Tensor:
    """Linear maps and all translations of the space they act on; with `scaled`, the identity among the maps."""
    n = generators.shape[1]
    maps = (
        torch.cat([generators, torch.eye(n, dtype=torch.float64)[None]]) if scaled else generators
    )
    shifts = torch.stack([unit(n + 1, i, n) for i in range(n)])
    return torch.cat([torch.nn.functional.pad(maps, (0, 1, 0, 1)), shifts])


def heisenberg(m: int) -> Tensor:
    n = m + 2
    return torch.stack(
        [unit(n, 0, i + 1) for i in range(m)]
        + [unit(n, i + 1, n - 1) for i in range(m)]
        + [unit(n, 0, n - 1)]
    )


def flow(matrix: list[list[float]]) -> Tensor:
    """One linear map and all translations."""
    return semidirect(torch.tensor(matrix, dtype=torch.float64)[None])


def filiform(n: int) -> Tensor:
    """[x, y_i] = y_{i+1} for i = 1 … n - 2."""
    step = torch.diag(torch.ones(n - 2, dtype=torch.float64), -1)
    return semidirect(step[None])


def upper_triangular(n: int) -> Tensor:
    return torch.cat([diagonal(n), shear(n)])


def block_triangular(*sizes: int) -> Tensor:
    """Matrices with zeros below diagonal blocks of the given sizes."""
    block = [k for k, size in enumerate(sizes) for _ in range(size)]
    n = len(block)
    return torch.stack([unit(n, i, j) for i in range(n) for j in range(n) if block[i] <= block[j]])


def jacobi(m: int) -> Tensor:
    """sp(2m, R) and the Heisenberg algebra of the space it acts on."""
    n = 2 * m + 2
    inner = torch.nn.functional.pad(sp(2 * m), (1, 1, 1, 1))
    shifts = []
    for k in range(m):  # v -> column v and row ω(v, ·)
        shifts += [
            unit(n, 1 + k, n - 1) + unit(n, 0, 1 + m + k),
            unit(n, 1 + m + k, n - 1) - unit(n, 0, 1 + k),
        ]
    return torch.cat([inner, torch.stack([*shifts, unit(n, 0, n - 1)])])


def shape_of(generators: Tensor, *, seed: int, condition: float = 100.0) -> Tensor:
    """The same algebra conjugated by a matrix of the given condition number, orthonormal and mixed at random."""
    n, d = generators.shape[1], len(generators)
    stretch = torch.logspace(0, 1, n, base=condition, dtype=torch.float64)
    left, right = (torch.linalg.qr(normal(n, n, seed=seed + k))[0] for k in (1, 2))
    change = left @ torch.diag(stretch) @ right
    turned = orthonormal(change @ generators @ torch.linalg.inv(change))
    return torch.einsum("ab,bij->aij", torch.linalg.qr(normal(d, d, seed=seed + 3))[0], turned)


def constants_of(generators: Tensor, *, seed: int, condition: float = 100.0) -> Tensor:
    return structure_constants(shape_of(generators, seed=seed, condition=condition))
