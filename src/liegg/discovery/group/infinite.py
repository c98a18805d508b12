"""Exact elements that close with no finite group: they, or products of them, have infinite order.

Periods of a crystal, integer shears, scalings of a function of the logarithm: the complete group is infinite and is not listed.
"""

import itertools
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.unbounded import is_unbounded
from liegg.algebra.subspace import orthonormal
from liegg.discovery.group.assemble import NOT_A_GROUP, Blocks
from liegg.discovery.group.judge import Findings
from liegg.results.group_symmetries import GroupElement

MOST_LEFT, MOST_JUDGED = 16, 24
"""Elements whose products are looked at, and products that are judged."""

POWERS = (2, 3)
"""Powers of an element of infinite order that must be symmetries like itself."""

POWER_ROUNDING = 1e3
"""How many times the effect of rounding these may have: they move the samples farther."""

COMPACT_MIXTURES = 4
"""Random elements of a continuous group that show whether it is bounded."""

SAME_MATRIX = 1e-3
"""Relative distance within which two matrices are one."""


def add_infinite(findings: Findings) -> None:
    """Find elements of infinite order among exact elements that were left out, and their products; the shortest are kept.

    Of translations a basis of the shortest ones is kept, of anything else one element. Beside a continuous group that is unbounded
    itself nothing is looked for: what grows may be part of it.
    """
    left = [one for one in findings.rejected if one.grade == "exact" and one.reason == NOT_A_GROUP]
    blocks = Blocks(findings, findings.setting.matrix_spaces, findings.setting.algebra)
    if not left or not _is_compact(blocks):
        return
    own = [blocks.matrix(one) for one in sorted(left, key=lambda one: one.displacement)[:MOST_LEFT]]
    group = [] if findings.group is None else list(findings.group.elements)
    candidates = _shortest(blocks, own, group)
    judged = findings.judge([blocks.candidate(matrix) for matrix in candidates])
    for matrix, element in zip(candidates, judged, strict=True):
        if element.grade == "exact" and _is_new(blocks, matrix, findings.infinite):
            powers = [torch.linalg.matrix_power(matrix, k) for k in POWERS]
            further = findings.judge([blocks.candidate(power) for power in powers])
            if all(one.effect <= POWER_ROUNDING * findings.setting.floor for one in further):
                findings.infinite.append(element)
    if findings.infinite:  # the others are symmetries too
        findings.rejected = [one for one in findings.rejected if one not in left]


def _is_compact(blocks: Blocks) -> bool:
    """Whether the continuous symmetries that are divided out stay bounded."""
    if not len(blocks.algebra):
        return True
    span = orthonormal(blocks.algebra)
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(COMPACT_MIXTURES, len(span), generator=generator, dtype=torch.float64)
    exponentials = torch.linalg.matrix_exp(torch.einsum("md,dij->mij", weights, span))
    return not any(is_unbounded(blocks.scaled(one)) for one in exponentials)


def _shortest(
    blocks: Blocks, own: Sequence[Tensor], group: Sequence[Tensor]
) -> list[Float[Tensor, "n n"]]:
    """Elements of infinite order, distinct, translations first and those that move least before others."""
    products = [one @ other for one in own for other in group]
    products += [one @ torch.linalg.inv(other) for one, other in itertools.permutations(own, 2)]
    distinct: dict[tuple[int, ...], Tensor] = {}
    for matrix in (*own, *map(torch.linalg.inv, own), *products):
        scaled = blocks.scaled(matrix)
        key = tuple((scaled / SAME_MATRIX).round().long().flatten().tolist())
        if key not in distinct and is_unbounded(scaled):
            distinct[key] = matrix
    return sorted(distinct.values(), key=lambda one: _size(blocks, one))[:MOST_JUDGED]


def _size(blocks: Blocks, matrix: Tensor) -> tuple[bool, float, float]:
    """Whether it is none of the translations, how far it and its inverse move, and which of the two is the smaller."""
    scaled = blocks.scaled(matrix)
    one = torch.eye(len(scaled)).to(scaled)
    far = float((scaled - one).norm() + (torch.linalg.inv(scaled) - one).norm())
    return blocks.shift(matrix) is None, round(far, 3), -float(scaled.sum())


def _is_new(blocks: Blocks, matrix: Tensor, known: Sequence[GroupElement]) -> bool:
    """Whether a translation is independent of those that are known; anything else is where nothing is known."""
    shifts = [blocks.shift(blocks.matrix(one)) for one in known] + [blocks.shift(matrix)]
    translations = [shift / shift.norm() for shift in shifts if shift is not None]
    if not known or len(translations) < len(shifts):
        return not known
    matrices = torch.stack(translations)
    return len(matrices) <= matrices.shape[1] and (
        float(torch.linalg.svdvals(matrices)[-1]) > SAME_MATRIX
    )
