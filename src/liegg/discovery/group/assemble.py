"""From elements to a group: closed under multiplication, and every product judged like the elements themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.close import close
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.monomial import signed_permutations
from liegg.decision.grades import COUNTED
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.judge import BESIDE_EXACT, Findings, distinct_elements
from liegg.results.group_symmetries import GroupElement

LARGEST_GROUP = 2000
"""Largest order of a group of components."""

EXACT_ERROR, INEXACT_ERROR = 1e-6, 0.05
"""Relative error of the matrices of exact elements, and largest one of others."""

SMALLER_ERRORS = (0.02, 0.01, 0.005, 0.002, 0.001)
"""Errors with which elements that do not close with the largest are tried again. With that one a rotation by 72.1°
may have any angle near it; if its powers close to within a smaller error, that is the stronger evidence."""

EXACT_ERRORS = 2.0
"""Error of exact elements over that of the continuous part, where that is larger."""

JUDGED_PRODUCTS, FACTORS = 32, 4
"""Random products of generators that are judged where a group is too large to list."""

SAME_ELEMENT = 0.1
"""Relative distance to an element of a group within which another one is the same."""

NOT_A_GROUP = "its powers and products do not form a finite group"


class Assembled(NamedTuple):
    """A group, and its elements but the identity with their evidence."""

    group: FiniteGroup
    elements: tuple[GroupElement, ...]


def assemble(findings: Findings) -> None:
    """Find the largest group that elements form with all products of a grade that counts.

    Where anything is exact (a direction, an element, a permutation, a shift), only exact elements are part of the group. Otherwise
    elements are added one after the other, best first. An element stays out if it does not close with those before it, or if a
    product is not a symmetry. What these would add to an exact group is kept separately.
    """
    setting = findings.setting
    exact = [element for element in findings.accepted if element.grade == "exact"]
    others = [element for element in findings.accepted if element.grade != "exact"]
    others = sorted(others, key=lambda element: element.effect)
    blocks = Blocks(findings, setting.matrix_spaces, setting.algebra)
    floor = max(EXACT_ERROR, EXACT_ERRORS * setting.uncertainty)
    floor = INEXACT_ERROR if setting.inexact else floor
    counted = exact if findings.anything_exact else [*exact, *others]
    found, left = blocks.attempt(exact, floor) if exact else None, []
    if found is None:
        found, left = _one_by_one(blocks, counted, floor)
    findings.rejected += [replace(element, reason=NOT_A_GROUP) for element in left]
    if found:
        findings.group, findings.elements = found
    if findings.anything_exact and others:
        findings.rejected += [replace(element, reason=BESIDE_EXACT) for element in others]
        if not left and not setting.nearly_continuous:
            nearly, _ = _one_by_one(blocks, [*findings.elements, *others], floor)
            if nearly and len(nearly.elements) > len(findings.elements):
                findings.nearly = nearly


def _one_by_one(
    blocks: "Blocks", elements: Sequence[GroupElement], floor: float
) -> tuple[Assembled | None, list[GroupElement]]:
    """The group that elements form when one after the other is added, and each that does not close with those before it."""
    found: Assembled | None = None
    kept: list[GroupElement] = []
    left: list[GroupElement] = []
    for element in elements:
        if found and blocks.contains(found.group, element):
            continue
        own = [*kept, element]
        attempts = (blocks.attempt(own, error) for error in _errors(own, floor))
        larger = next((one for one in attempts if one is not None), None)
        if larger is None:
            left.append(element)
            continue
        found = larger
        kept.append(element)
    return found, left


def _errors(elements: Sequence[GroupElement], floor: float) -> tuple[float, ...]:
    """Errors of the matrices with which elements are closed, one after the other until they form a group: of exact ones the floor."""
    if all(one.grade == "exact" for one in elements):
        return (floor,)
    return INEXACT_ERROR, *(error for error in SMALLER_ERRORS if error > floor)


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

    @cached_property
    def frame(self) -> Float[Tensor, "n n"]:
        """Coordinates as columns in which affine maps depend on no unit and no origin."""
        return torch.block_diag(*map(self.findings.setting.frame_on, self.spaces))

    def scaled(self, matrix: Float[Tensor, "*k n n"]) -> Float[Tensor, "*k n n"]:
        """Matrices in these coordinates."""
        return torch.linalg.inv(self.frame) @ matrix @ self.frame

    def shift(self, matrix: Float[Tensor, "n n"]) -> Float[Tensor, " m"] | None:
        """By what an affine map moves all points alike; None for any other matrix."""
        first, n = self.spaces[0], len(matrix) - 1
        if len(self.spaces) > 1 or not (isinstance(first, VectorSpace) and first.homogeneous):
            return None
        change = matrix[:n, :n] - torch.eye(n, dtype=torch.float64)
        return matrix[:n, n] if float(change.abs().max()) <= EXACT_ERROR else None

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
            frame=self.frame,
            coordinates=first.coordinates if alone else None,
            homogeneous=alone and isinstance(first, VectorSpace) and first.homogeneous,
        )
        too_large = group.reason is not None and (
            group.reason.diagnosis is Diagnosis.GROUP_BEYOND_LIMIT
        )
        if too_large and all(element.grade == "exact" for element in elements):
            if not self.products_are_exact(group.elements):
                return None
            own = distinct_elements(elements)
            listed = replace(group, elements=torch.stack([self.matrix(one) for one in own]))
            return Assembled(_unlisted(listed, error), tuple(own))
        if not group.closed or len(group.elements) < 2:
            return None
        judged = self.findings.judge([self.candidate(matrix) for matrix in group.elements[1:]])
        if not all(element.grade in COUNTED for element in judged):
            return None
        if not alone:  # the words of each block name its own coordinates
            group = replace(group, words=(group.words[0], *(one.words for one in judged)))
        numbered = enumerate(zip(judged, group.words[1:], strict=True), start=1)
        named = (replace(one, words=words, component=place) for place, (one, words) in numbered)
        return Assembled(group, tuple(named))

    def products_are_exact(self, generators: Float[Tensor, "k n n"]) -> bool:
        """Whether random products of generators of a large group are symmetries like these."""
        random = torch.Generator().manual_seed(self.findings.setting.seed)
        picks = torch.randint(len(generators), (JUDGED_PRODUCTS, FACTORS), generator=random)
        products = [torch.linalg.multi_dot([*generators[pick]]) for pick in picks]
        judged = self.findings.judge([self.candidate(matrix) for matrix in products])
        return all(one.grade in ("exact", "not testable") for one in judged)

    def contains(self, group: FiniteGroup, element: GroupElement) -> bool:
        """Whether an element is already in a finite group; components of continuous groups are compared when they are closed."""
        if len(self.algebra):
            return False
        matrix = self.scaled(self.matrix(element))
        gaps = (self.scaled(group.elements) - matrix).flatten(1).norm(dim=1)
        return float(gaps.min()) <= SAME_ELEMENT * float(matrix.norm())


def _unlisted(group: FiniteGroup, error: float) -> FiniteGroup:
    """A group of more elements than are listed: its order and name where a rule gives them, else a lower bound."""
    counted = None
    if not group.dimension:
        counted = signed_permutations(group.elements, tolerance=10 * error)
    order, name = counted or (None, f"group of more than {LARGEST_GROUP} elements")
    return replace(group, name=name, abstract=name, known_order=order)
