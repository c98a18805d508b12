"""From elements to a group: closed under multiplication, and every product judged like the elements themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.close import close
from liegg.algebra.finite.group import FiniteGroup
from liegg.decision.grades import COUNTED
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.judge import Findings
from liegg.results.group_symmetries import GroupElement

LARGEST_GROUP = 2000
"""Largest order of a group of components."""

EXACT_ERROR, INEXACT_ERROR = 1e-6, 0.05
"""Relative error of the matrices of exact elements and of others."""

SAME_ELEMENT = 0.1
"""Relative distance to an element of a group within which another one is the same."""

BESIDE_EXACT = "it holds only nearly, beside exact symmetries"
NOT_A_GROUP = "its powers and products do not form a group"


class Assembled(NamedTuple):
    """A group, and its elements but the identity with their evidence."""

    group: FiniteGroup
    elements: tuple[GroupElement, ...]


def assemble(findings: Findings) -> None:
    """Find the largest group that elements form with all products of a grade that counts.

    Exact elements come first, together. Others are part of the group only if nothing is exact, neither an element nor the continuous
    part: one after the other, best first. An element stays out if it does not close with those before it, or if a product is not
    a symmetry.
    """
    setting = findings.setting
    if not findings.accepted:
        return
    exact = [element for element in findings.accepted if element.grade == "exact"]
    others = [element for element in findings.accepted if element.grade != "exact"]
    others = sorted(others, key=lambda element: element.effect)
    blocks = Blocks(findings, setting.matrix_spaces, setting.algebra)
    uncertain = bool(len(blocks.algebra)) and setting.uncertainty > 0
    floor = INEXACT_ERROR if uncertain else EXACT_ERROR
    found = blocks.attempt(exact, floor) if exact else None
    if exact and found is None and uncertain:
        # The continuous symmetries hold only nearly, and exact elements need not normalise them.
        blocks = replace(blocks, algebra=blocks.algebra[:0])
        found = blocks.attempt(exact, EXACT_ERROR)
    if found or (len(blocks.algebra) and not uncertain):
        findings.rejected += [replace(element, reason=BESIDE_EXACT) for element in others]
    else:
        found = _one_by_one(blocks, [*exact, *others], floor)
    if found:
        findings.group, findings.elements = found


def _one_by_one(
    blocks: "Blocks", elements: Sequence[GroupElement], floor: float
) -> Assembled | None:
    """The group that elements form when one after the other is added, each that does not close left out."""
    found: Assembled | None = None
    kept: list[GroupElement] = []
    for element in elements:
        if found and blocks.contains(found.group, element):
            continue
        error = floor if all(e.grade == "exact" for e in (*kept, element)) else INEXACT_ERROR
        larger = blocks.attempt([*kept, element], error)
        if larger is None:
            blocks.findings.rejected.append(replace(element, reason=NOT_A_GROUP))
            continue
        found = larger
        kept.append(element)
    return found


@dataclass(frozen=True, eq=False)
class Blocks:
    """Spaces whose matrices are blocks of one matrix.

    Attributes:
        findings: judges products.
        spaces: in the order of the blocks.
        algebra: generators of the identity component, in these blocks.
    """

    findings: Findings
    spaces: tuple[Space, ...]
    algebra: Float[Tensor, "d n n"]

    def matrix(self, element: GroupElement) -> Float[Tensor, "n n"]:
        """The matrix of an element on all spaces."""
        own = dict(zip(element.kinds, element.matrices, strict=True))
        return torch.block_diag(
            *(own.get(s.kind, torch.eye(s.side, dtype=torch.float64)) for s in self.spaces)
        )

    def candidate(self, matrix: Float[Tensor, "n n"]) -> Candidate:
        """The element with a matrix on all spaces, without factors that do nothing."""
        factors, start = [], 0
        for space in self.spaces:
            inside = slice(start, start + space.side)
            start += space.side
            factors.append((space, matrix[inside, inside]))
        moving = [
            (space, block)
            for space, block in factors
            if float((block - torch.eye(space.side).double()).abs().max()) > 1e-9
        ]
        return Candidate(tuple(moving or factors[:1]), "product")

    def attempt(self, elements: Sequence[GroupElement], error: float) -> Assembled | None:
        """The group that elements generate, if it is closed and all its elements are symmetries; else None."""
        first, alone = self.spaces[0], len(self.spaces) == 1
        group = close(
            torch.stack([self.matrix(element) for element in elements]),
            algebra=self.algebra if len(self.algebra) else None,
            tolerance=error,
            limit=LARGEST_GROUP,
            coordinates=first.coordinates if alone else None,
            homogeneous=alone and isinstance(first, VectorSpace) and first.homogeneous,
        )
        if not group.closed or len(group.elements) < 2:
            return None
        judged = self.findings.judge([self.candidate(matrix) for matrix in group.elements[1:]])
        if not all(element.grade in COUNTED for element in judged):
            return None
        numbered = enumerate(zip(judged, group.words[1:], strict=True), start=1)
        named = (replace(one, words=words, component=place) for place, (one, words) in numbered)
        return Assembled(group, tuple(named))

    def contains(self, group: FiniteGroup, element: GroupElement) -> bool:
        """Whether an element is already in a finite group; components of continuous groups are compared when they are closed."""
        if len(self.algebra):
            return False
        matrix = self.matrix(element)
        gaps = (group.elements - matrix).flatten(1).norm(dim=1)
        return float(gaps.min()) <= SAME_ELEMENT * float(matrix.norm())
