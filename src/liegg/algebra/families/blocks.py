"""Sums: algebras that act on separate subspaces, each by itself, or in the same way on all."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.catalog import direct_sum
from liegg.algebra.families.record import Model, Proposer, conjugate, lowest, usable
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.structure.real_forms import abelian

LOOSE = 10.0
"""Multiple of the noise that may be left outside the blocks before a fit; a fit mends what a poor start leaves."""

TIED = 1e-6
"""Product of unit matrices on two subspaces from which on the two move together, where there is no noise."""


def blocks(
    span: Float[Tensor, "d n n"], noise: float, best: Proposer, *, loose: float = 1.0
) -> Iterator[Model]:
    """Models that act on the subspaces that the matrices keep: separately where they can, in copies where all are tied together.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator.
        best: what proposes the best few models for the part on some of the subspaces.
        loose: factor on the noise with which subspaces are told apart.
    """
    subspaces = invariant_subspaces(span, uncertainty=loose * noise)
    if len(subspaces) < 2:
        return
    frame = torch.cat(subspaces, 1)
    if not usable(frame):
        return
    inside = torch.linalg.solve(frame, span @ frame)
    edges = [0, *torch.tensor([basis.shape[1] for basis in subspaces]).cumsum(0).tolist()]
    pieces = [inside[:, a:b, a:b] for a, b in pairwise(edges)]
    outside = 1 - float(sum(piece.square().sum() for piece in pieces) / inside.square().sum())
    if outside > (LOOSE * noise) ** 2:
        return
    parts = _components(pieces, max(TIED, LOOSE / 2 * noise))
    order = torch.cat([torch.arange(edges[i], edges[i + 1]) for part, _ in parts for i in part])
    found = (
        _copies(pieces, best, noise) if len(parts) == 1 else _separate(pieces, parts, best, noise)
    )
    stretch = float(torch.linalg.cond(frame))
    for model in found:
        yield replace(
            model,
            generators=conjugate(model.generators, frame[:, order]),
            stretch=max(stretch, model.stretch),
        )


def _components(pieces: list[Tensor], tied: float) -> list[tuple[list[int], int]]:
    """Sets of blocks that move independently of one another, each with the dimension of what moves it; what stands still is one.

    If the algebra is a sum, the projection onto it, in the entries of all blocks, has none between blocks of different summands.
    """
    entries = torch.cat([piece.flatten(1) for piece in pieces], 1)
    edges = [0, *torch.tensor([piece[0].numel() for piece in pieces]).cumsum(0).tolist()]
    rows = torch.linalg.qr(entries.mT)[0]
    own = [rows[a:b] for a, b in pairwise(edges)]
    groups = [{i} for i in range(len(own))]
    for i, one in enumerate(own):
        for j in range(i):
            if float((one @ own[j].mT).norm()) > tied:
                joined = next(g for g in groups if i in g) | next(g for g in groups if j in g)
                groups = [g for g in groups if not g & joined] + [joined]
    sized = [
        (sorted(group), round(sum(float(own[i].square().sum()) for i in group))) for group in groups
    ]
    still = sorted(i for group, size in sized if not size for i in group)
    return [*sorted(part for part in sized if part[1]), *([(still, 0)] if still else [])]


def _separate(
    pieces: list[Tensor], parts: list[tuple[list[int], int]], best: Proposer, noise: float
) -> Iterator[Model]:
    """Every choice of models for the parts, one beside the other."""
    if sum(size for _, size in parts) != len(pieces[0]):
        return
    proposals = []
    for group, size in parts:
        own = torch.stack(
            [torch.block_diag(*[pieces[i][k] for i in group]) for k in range(len(pieces[0]))]
        )
        side = own.shape[1]
        rows = torch.linalg.svd(own.flatten(1), full_matrices=False)[2][:size]
        proposals.append(list(best(rows.unflatten(1, (side, side)), noise)))
    for chosen in product(*proposals):
        yield _side_by_side(chosen)


def _side_by_side(models: tuple[Model, ...]) -> Model:
    generators = direct_sum(*(model.generators for model in models))
    names = tuple(
        part
        for model in models
        for part in (model.blocks or ((model.name, len(model.generators)),))
        if part[1]
    )
    one = next(
        (model for model in models if len(names) == 1 and len(model.generators)),
        Model("", generators),
    )
    return replace(
        one,
        name=sum_name(names, generators.shape[1]),
        generators=generators,
        blocks=names if len(names) > 1 else one.blocks,
        stretch=max(model.stretch for model in models),
        whole=False,
    )


def _copies(pieces: list[Tensor], best: Proposer, noise: float) -> Iterator[Model]:
    """A model for one block, repeated on the others, or its dual there."""
    one, d, m = pieces[0], len(pieces[0]), pieces[0].shape[1]
    values = torch.linalg.svdvals(one.flatten(1))
    if (
        any(piece.shape[1] != m for piece in pieces)
        or len(values) < d
        or float(values[-1]) < LOOSE * noise * float(values[0])
    ):
        return
    rows = torch.linalg.svd(one.flatten(1), full_matrices=False)[2][:d].unflatten(1, (m, m))
    for model in best(rows, noise):
        mixed = (
            torch.linalg.pinv(one.flatten(1).mT) @ model.generators.flatten(1).mT
        )  # lstsq does not give the same bits twice
        there = [torch.einsum("ba,bij->aij", mixed, piece) for piece in pieces[1:]]
        copies = [model.generators, *(_copy(model.generators, other) for other in there)]
        generators = torch.stack(
            [torch.block_diag(*[copy[k] for copy in copies]) for k in range(d)]
        )
        yield replace(model, generators=generators, copies=model.copies * len(pieces), whole=False)


def _copy(here: Float[Tensor, "d m m"], there: Float[Tensor, "d m m"]) -> Float[Tensor, "d m m"]:
    """`here` or its dual in the coordinates in which it comes nearest to `there`."""
    (miss, frame), (dual_miss, dual_frame) = (
        _intertwiner(here, there),
        _intertwiner(-here.mT, there),
    )
    return conjugate(here, frame) if miss <= dual_miss else conjugate(-here.mT, dual_frame)


def _intertwiner(
    here: Float[Tensor, "d m m"], there: Float[Tensor, "d m m"]
) -> tuple[float, Float[Tensor, "m m"]]:
    """The map X with the smallest there·X − X·here, and that; infinite for a singular map."""
    m = here.shape[1]
    one = torch.eye(m).to(here)
    square = torch.zeros(m * m, m * m).to(here)
    for a, b in zip(here, there, strict=True):
        step = torch.kron(b.contiguous(), one) - torch.kron(one, a.mT.contiguous())
        square += step.mT @ step
    vector = lowest(square, 1)[0]
    frame = vector.unflatten(0, (m, m))
    return (float(vector @ square @ vector), frame) if usable(frame) else (torch.inf, one)


def sum_name(parts: tuple[tuple[str, int], ...], n: int = 0) -> str:
    """Name of a direct sum on Rⁿ, the largest part first; scalings and translations are collected as R, R², ….

    >>> sum_name((("so(2)", 1), ("so(3)", 3))), sum_name((("so(3)", 3), ("scaling(1)", 1)))
    ('so(3) ⊕ so(2)', 'so(3) ⊕ R')
    >>> sum_name((("scaling(1)", 1), ("scaling(1)", 1)), 2)
    'diagonal(2)'
    """
    if n > 1 and list(parts) == [("scaling(1)", 1)] * n:
        return f"diagonal({n})"
    if len(parts) == 1:
        return parts[0][0]
    plain = [size for name, size in parts if name.startswith(("scaling", "translation"))]
    others = [part for part in parts if not part[0].startswith(("scaling", "translation"))]
    names = [name for name, _ in sorted(others, key=lambda part: (-part[1], part[0]))]
    return " ⊕ ".join(
        [f"({name})" if "⋉" in name else name for name in names]
        + ([abelian(sum(plain))] if plain else [])
    )
