r"""Known Lie algebras as generators `[d, n, n]`, float64, each closed under the bracket.

Matrices have small integer entries and are independent, not normalised. Complex algebras act on
$\mathbb{C}^n$ written as $\mathbb{R}^{2n}$ with all real parts first: $A + iB$ becomes the block
matrix `[[A, -B], [B, A]]`. Affine ones are homogeneous, `[n+1, n+1]` with a zero last row.
"""

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError

Generators = Float[Tensor, "d n n"]
Field = Literal["R", "C"]

LARGEST_GENERATOR_BYTES = 2**34
"""Generators that would be larger are refused."""


@checked()
def so(p: int, q: int = 0) -> Generators:
    """Rotations of R^p.

    With `q`, rotations and boosts that preserve the metric diag(+1 × p, −1 × q).

    >>> so(2)
    tensor([[[ 0., -1.],
             [ 1.,  0.]]], dtype=torch.float64)
    >>> so(1, 3).shape
    torch.Size([6, 4, 4])
    """
    n = _positive(p + q, "so", "p + q")
    if min(p, q) < 0:
        raise ArgumentError(f"so({p}, {q}): p and q must not be negative, for example so(1, 3).")
    sign = torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64)
    i, j = torch.triu_indices(n, n, 1)
    return (sign[i] * sign[j])[:, None, None] * _units(n, j, i) - _units(n, i, j)


@checked()
def o(n: int) -> Generators:
    """Algebra of O(n), the same as `so(n)`: reflections are not connected to the identity."""
    return so(n)


@checked()
def gl(n: int, field: Field = "R") -> Generators:
    """All linear maps of R^n.

    With `field="C"` all complex ones of C^n, as real matrices [2n, 2n].
    """
    _positive(n, "gl", "n")
    return _over(torch.eye(n * n, dtype=torch.float64).unflatten(1, (n, n)), field)


@checked()
def sl(n: int, field: Field = "R") -> Generators:
    """Linear maps of R^n that preserve volume: traceless matrices.

    With `field="C"` the complex ones, as real matrices [2n, 2n].
    """
    _positive(n, "sl", "n")
    i, j = (~torch.eye(n, dtype=torch.bool)).nonzero().mT
    return _over(torch.cat([_units(n, i, j), _traceless_diagonal(n)]), field)


@checked()
def sp(n: int) -> Generators:
    """Linear maps of R^n, n = 2m, that preserve the area form of (q₁…q_m, p₁…p_m): sp(2m, R)."""
    if n < 2 or n % 2:
        raise ArgumentError(f"sp({n}): the dimension must be even and positive, for example sp(4).")
    m = _positive(n, "sp", "n") // 2
    i, j = torch.ones(m, m).nonzero().mT
    blocks = [_units(n, i, j) - _units(n, m + j, m + i)]
    i, j = torch.triu_indices(m, m)
    for low, high in ((0, m), (m, 0)):
        mirrored = (i != j)[:, None, None] * _units(n, low + j, high + i)
        blocks.append(_units(n, low + i, high + j) + mirrored)
    return torch.cat(blocks)


@checked()
def u(p: int, q: int = 0) -> Generators:
    """Unitary maps of C^p, as real matrices [2p, 2p].

    With `q`, those that preserve the Hermitian form diag(+1 × p, −1 × q).
    """
    n = _positive(p + q, "u", "n" if not q else "p + q")
    return torch.cat([su(p, q), realify(torch.zeros(n, n), torch.eye(n))[None]])


@checked()
def su(p: int, q: int = 0) -> Generators:
    """Unitary maps of determinant one, as real matrices.

    With `q`, those that preserve the Hermitian form diag(+1 × p, −1 × q).

    >>> su(2).shape, su(1, 1).shape
    (torch.Size([3, 4, 4]), torch.Size([3, 4, 4]))
    """
    n = _positive(p + q, "su", "n" if not q else "p + q")
    if min(p, q) < 0:
        raise ArgumentError(f"su({p}, {q}): p and q must not be negative, for example su(1, 2).")
    i, j = torch.triu_indices(n, n, 1)
    sign = torch.where((i < p) == (j < p), 1.0, -1.0)[:, None, None]
    real = sign * _units(n, j, i) - _units(n, i, j)
    imaginary = torch.cat([_units(n, i, j) + sign * _units(n, j, i), _traceless_diagonal(n)])
    return torch.cat(
        [realify(real, torch.zeros_like(real)), realify(torch.zeros_like(imaginary), imaginary)]
    )


@checked()
def se(p: int, q: int = 0) -> Generators:
    """Rotations and translations of R^p, homogeneous.

    With `q`, those of a metric: `se(1, 3)` is the Poincaré algebra.
    """
    return torch.cat([_homogeneous(so(p, q)), translation(p + q)])


@checked()
def aff(n: int) -> Generators:
    """All affine maps of R^n, homogeneous [n+1, n+1]."""
    return torch.cat([_homogeneous(gl(n)), translation(n)])


@checked()
def translation(n: int) -> Generators:
    """Translations of R^n, homogeneous [n+1, n+1]."""
    _positive(n, "translation", "n", n)
    return _units(n + 1, torch.arange(n), n)


@checked()
def scaling(n: int) -> Generators:
    """Uniform scaling of R^n: the identity matrix."""
    return torch.eye(_positive(n, "scaling", "n", 1), dtype=torch.float64)[None]


@checked()
def diagonal(n: int) -> Generators:
    """Independent scaling of each coordinate."""
    every = torch.arange(_positive(n, "diagonal", "n", n))
    return _units(n, every, every)


@checked()
def shear(n: int) -> Generators:
    """Shears: the strictly upper triangular matrices."""
    _positive(n, "shear", "n")
    return _units(n, *torch.triu_indices(n, n, 1))


@checked()
def heis(dimension: int) -> Generators:
    """Heisenberg algebra of odd dimension 2m + 1, as matrices [m+2, m+2].

    >>> heis(3)[0] @ heis(3)[1] - heis(3)[1] @ heis(3)[0] == heis(3)[2]
    tensor([[True, True, True],
            [True, True, True],
            [True, True, True]])
    """
    if dimension < 3 or dimension % 2 == 0:
        raise ArgumentError(
            f"heis({dimension}): the dimension must be odd and at least 3; heis(3) is the smallest."
        )
    m = (dimension - 1) // 2
    n = _positive(m + 2, "heis", "half the dimension", dimension)
    inner = torch.arange(1, n - 1)
    corner = _units(n, torch.tensor([0]), n - 1)
    return torch.cat([_units(n, torch.zeros_like(inner), inner), _units(n, inner, n - 1), corner])


def direct_sum(*algebras: Float[Tensor, "_ _ _"]) -> Generators:
    """Algebras that act on separate subspaces, one after the other, as block matrices.

    >>> direct_sum(so(3), so(2)).shape
    torch.Size([4, 5, 5])
    """
    n, before, parts = sum(a.shape[-1] for a in algebras), 0, []
    for algebra in algebras:
        side = algebra.shape[-1]
        parts.append(
            torch.nn.functional.pad(
                algebra.double(), (before, n - before - side, before, n - before - side)
            )
        )
        before += side
    return torch.cat(parts)


def _over(generators: Generators, field: Field) -> Float[Tensor, "k m m"]:
    zero = torch.zeros_like(generators)
    return (
        generators
        if field == "R"
        else torch.cat([realify(generators, zero), realify(zero, generators)])
    )


def _positive(n: int, name: str, what: str, count: int | None = None) -> int:
    """The dimension; refuse one without matrices, or with more of them than fit into memory.

    Args:
        n: the dimension.
        name: of the algebra.
        what: the dimension in words.
        count: number of generators; by default all matrices.
    """
    if n < 1:
        raise ArgumentError(
            f"{name}(): {what} is {n}; expected a positive dimension, for example {name}(3)."
        )
    if (size := 8 * n * n * (count or n * n)) > LARGEST_GENERATOR_BYTES:
        raise ArgumentError(
            f"{name}(): {what} is {n}, so its generators would take {size >> 30} GiB; at most "
            f"{LARGEST_GENERATOR_BYTES >> 30} GiB are made. Choose a smaller dimension, or an action such as "
            "liegg.actions.Banded, which needs no matrices."
        )
    return n


def _units(n: int, rows: Int[Tensor, " k"], columns: Int[Tensor, " k"] | int) -> Generators:
    """Matrices with a single entry, which is 1."""
    matrices = torch.zeros(len(rows), n, n, dtype=torch.float64)
    matrices[torch.arange(len(rows)), rows, columns] = 1
    return matrices


def _traceless_diagonal(n: int) -> Generators:
    """Diagonal matrices that scale one axis up and the next one down."""
    first = torch.arange(n - 1)
    return _units(n, first, first) - _units(n, first + 1, first + 1)


def realify(
    real: Float[Tensor, "*d n n"], imaginary: Float[Tensor, "*d n n"]
) -> Float[Tensor, "*d m m"]:
    """A + iB as the real matrix [[A, −B], [B, A]]."""
    real, imaginary = real.double(), imaginary.double()
    return torch.cat([torch.cat([real, -imaginary], -1), torch.cat([imaginary, real], -1)], -2)


def _homogeneous(generators: Generators) -> Float[Tensor, "d m m"]:
    return torch.nn.functional.pad(generators, (0, 1, 0, 1))
