"""Sums: algebras that act on separate subspaces, each by itself or all together in copies."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.models.forms import commuting
from liegg.algebra.models.record import Model, Proposer, conjugate, lowest, power

LOOSE = 10.0
"""Multiple of the noise that may be left outside the blocks before a fit; a fit mends what a poor start leaves."""


def blocks(span: Float[Tensor, "d n n"], noise: float, best: Proposer, *, count: int) -> Iterator[Model]:
    """Models that act on two complementary subspaces: separately, or in the same way on both.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator.
        best: what proposes the best few models for the part on one subspace.
        count: how many nearly commuting matrices are searched for one that tells two subspaces apart.
    """
    n = span.shape[1]
    if n < 2:
        return
    frame, size = split(commuting(span, count))
    inside = torch.linalg.solve(frame, span @ frame)
    one, two = inside[:, :size, :size], inside[:, size:, size:]
    outside = 1 - float((one.square().sum() + two.square().sum()) / inside.square().sum())
    if size == 0 or outside > (LOOSE * noise) ** 2:
        return
    stretch = float(torch.linalg.cond(frame))
    for model in (*_separate(one, two, noise, best), *_copies(one, two, noise, best)):
        yield replace(model, generators=conjugate(model.generators, frame), stretch=max(stretch, model.stretch))


def split(matrices: Float[Tensor, "c n n"]) -> tuple[Float[Tensor, "n n"], int]:
    """Frame of two complementary subspaces that the matrices keep, and the size of the first; size 0 where they tell none apart."""
    n = matrices.shape[1]
    square = torch.einsum("aij,bji->ab", matrices, matrices)
    values, vectors = torch.linalg.eigh((square + square.mT) / 2)
    apart = torch.einsum("a,aij->ij", vectors[:, -1], matrices)  # the one with the most real eigenvalues
    real = torch.linalg.eigvals(apart.to(torch.complex128)).real.sort().values
    gaps = real.diff()
    if float(values[-1]) <= 0 or float(gaps.max()) < 1e-3 * float(apart.norm()):
        return torch.eye(n).to(matrices), 0
    cut = int(gaps.argmax())
    sign = _sign(apart - (real[cut] + real[cut + 1]) / 2 * torch.eye(n).to(apart))
    if sign is None:
        return torch.eye(n).to(matrices), 0
    low = torch.linalg.svd(torch.eye(n).to(sign) - sign)[0][:, : cut + 1]
    high = torch.linalg.svd(torch.eye(n).to(sign) + sign)[0][:, : n - cut - 1]
    return torch.cat([low, high], 1), cut + 1


def _sign(matrix: Float[Tensor, "n n"]) -> Float[Tensor, "n n"] | None:
    """The matrix sign function, by Newton's iteration: −1 on one subspace, +1 on the other."""
    for _ in range(60):
        inverse, failed = torch.linalg.inv_ex(matrix)
        if int(failed):
            return None
        following = (matrix + inverse) / 2
        if float((following - matrix).norm()) <= 1e-13 * float(following.norm()):
            return following
        matrix = following
    return matrix


def _separate(one: Float[Tensor, "d m m"], two: Float[Tensor, "d k k"], noise: float, best: Proposer) -> Iterator[Model]:
    """Every pair of models for the parts, with the dimensions that leave least over."""
    d = len(one)
    (first, one_rows), (second, two_rows) = _parts(one), _parts(two)
    left = [float(first[k:].square().sum() + second[d - k :].square().sum()) for k in range(d + 1)]
    k = min(range(d + 1), key=left.__getitem__)
    if left[k] > (LOOSE * noise) ** 2 * d:
        return
    for a in best(one_rows[:k], noise):
        for b in best(two_rows[: d - k], noise):
            yield _side_by_side(a, b)


def _side_by_side(a: Model, b: Model) -> Model:
    m, k = a.generators.shape[1], b.generators.shape[1]
    pad = torch.nn.functional.pad
    generators = torch.cat([pad(a.generators, (0, k, 0, k)), pad(b.generators, (m, 0, m, 0))])
    names = tuple(part for model in (a, b) for part in (model.blocks or ((model.name, len(model.generators)),)) if part[1])
    return Model(sum_name(names, m + k), generators, names, max(a.stretch, b.stretch))


def _copies(one: Float[Tensor, "d m m"], two: Float[Tensor, "d k k"], noise: float, best: Proposer) -> Iterator[Model]:
    """The smaller part's model, repeated on the other subspace as often as it fits."""
    if one.shape[1] > two.shape[1]:
        for model in _copies(two, one, noise, best):  # the same with the subspaces exchanged
            k = two.shape[1]
            yield replace(model, generators=model.generators.roll((-k, -k), (1, 2)))
        return
    d, m, k = len(one), one.shape[1], two.shape[1]
    values, rows = _parts(one)
    if k % m or len(values) < d or float(values[d - 1]) < max(LOOSE * noise, 1e-3) * float(values[0]):
        return
    for model in best(rows[:d], noise):
        coefficients = torch.linalg.pinv(one.flatten(1).mT) @ model.generators.flatten(1).mT  # lstsq: not the same bits twice
        there = torch.einsum("ba,bij->aij", coefficients, two)
        for here in (model.generators, -model.generators.mT):
            frame = _intertwiners(here, there, k // m)
            if float(torch.linalg.cond(frame)) < 1e6:
                repeated = torch.stack([torch.block_diag(*[g] * (k // m)) for g in here])
                both = [torch.block_diag(a, b) for a, b in zip(model.generators, conjugate(repeated, frame), strict=True)]
                yield replace(model, generators=torch.stack(both))


def _intertwiners(here: Float[Tensor, "d m m"], there: Float[Tensor, "d k k"], count: int) -> Float[Tensor, "k k"]:
    """The `count` maps X with the smallest there·X − X·here, side by side."""
    m, k = here.shape[1], there.shape[1]
    square = torch.zeros(k * m, k * m).to(here)
    for a, b in zip(here, there, strict=True):
        step = torch.kron(b.contiguous(), torch.eye(m).to(a)) - torch.kron(torch.eye(k).to(a), a.mT.contiguous())
        square += step.mT @ step
    return torch.cat(list(lowest(square, count).unflatten(1, (k, m))), 1)


def _parts(matrices: Float[Tensor, "d m m"]) -> tuple[Float[Tensor, " r"], Float[Tensor, "r m m"]]:
    """Singular values and orthonormal matrices of the span of a part."""
    side = matrices.shape[1]
    _, values, rows = torch.linalg.svd(matrices.flatten(1), full_matrices=False)
    return values, rows.unflatten(1, (side, side))


def sum_name(parts: tuple[tuple[str, int], ...], n: int = 0) -> str:
    """Name of a direct sum on Rⁿ, the largest part first; scalings and translations are collected as R, R², ….

    >>> sum_name((("so(2)", 1), ("so(3)", 3))), sum_name((("so(3)", 3), ("scaling(1)", 1)))
    ('so(3) ⊕ so(2)', 'so(3) ⊕ R')
    >>> sum_name((("scaling(1)", 1), ("scaling(1)", 1)), 2)
    'diagonal(2)'
    """
    if n > 1 and list(parts) == [("scaling(1)", 1)] * n:
        return f"diagonal({n})"
    plain = [size for name, size in parts if name.startswith(("scaling", "translation"))]
    others = [part for part in parts if not part[0].startswith(("scaling", "translation"))]
    if len(parts) == 1:
        return parts[0][0]
    names = [name for name, _ in sorted(others, key=lambda part: (-part[1], part[0]))]
    return " ⊕ ".join(names + ([power(sum(plain))] if plain else []))
