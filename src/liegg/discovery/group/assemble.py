"""From elements to a group: closed under multiplication, and every product judged like the elements themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.actions.finite.space import Space
from liegg.algebra.finite.close import close
from liegg.algebra.finite.group import FiniteGroup
from liegg.decision.grades import COUNTED
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.slots import Judge
from liegg.results.group_symmetries import GroupElement

LIMIT = 2000
"""Largest order of a group of components."""

EXACT_ERROR, INEXACT_ERROR = 1e-6, 0.05
"""Relative error of the matrices of exact elements and of others."""

BESIDE = "it holds only nearly, beside exact symmetries"
OPEN = "its powers and products do not form a group"


@dataclass(frozen=True, eq=False)
class Assembled:
    """A group with the evidence of its elements.

    Attributes:
        group: closed under multiplication; None if no element but the identity was found.
        elements: one per component, the identity left out.
        excluded: elements of a grade that counts which do not belong to any group with the others.
        notes: why a group was not closed.
    """

    group: FiniteGroup | None
    elements: tuple[GroupElement, ...]
    excluded: tuple[GroupElement, ...]
    notes: tuple[Remark, ...] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """The spaces whose matrices a group is made of, side by side.

    Attributes:
        spaces: in the order of the blocks.
        algebra: generators of the identity component, in these blocks.
        homogeneous: whether the only space has affine maps.
        coordinates: names of the coordinates of the only space; None for several spaces.
        uncertain: whether the algebra holds only nearly.
        partner: completes a candidate with what it does to the output.
    """

    spaces: tuple[Space, ...]
    algebra: Float[Tensor, "d n n"]
    homogeneous: bool
    coordinates: tuple[str, ...] | None
    uncertain: bool
    partner: Callable[[Candidate], Candidate]

    def block(self, element: GroupElement | Candidate) -> Float[Tensor, "n n"]:
        """The matrix of an element on all spaces."""
        if isinstance(element, Candidate):
            own = {id(space): matrix for space, matrix in element.factors}
            blocks = [own.get(id(s), torch.eye(s.side, dtype=torch.float64)) for s in self.spaces]
        else:
            kinds = dict(zip(element.kinds, element.matrices, strict=True))
            blocks = [
                kinds.get(s.kind, torch.eye(s.side, dtype=torch.float64)) for s in self.spaces
            ]
        return torch.block_diag(*blocks)

    def candidate(self, block: Float[Tensor, "n n"], source: str) -> Candidate:
        """The element with a matrix on all spaces, without factors that do nothing."""
        factors, start = [], 0
        for space in self.spaces:
            inside = slice(start, start + space.side)
            start += space.side
            matrix = block[inside, inside]
            if float((matrix - torch.eye(space.side).double()).abs().max()) > 1e-9:
                factors.append((space, matrix))
        factors = factors or [(self.spaces[0], block[: self.spaces[0].side, : self.spaces[0].side])]
        return self.partner(Candidate(tuple(factors), source))


def assemble(frame: Frame, accepted: Sequence[GroupElement], judge: Judge) -> Assembled:
    """The largest group that elements form with all products of a grade that counts.

    Exact elements come first, together. Others are part of the group only if nothing is exact, neither an element nor the continuous
    part: one after the other, best first. An element stays out if it does not close with those before it, or if a product is not
    a symmetry.

    Args:
        frame: the spaces, the identity component, and what elements do to the output.
        accepted: elements of a grade that counts.
        judge: grades elements on held-out samples.
    """
    exact = [element for element in accepted if element.grade == "exact"]
    others = [element for element in accepted if element.grade != "exact"]
    others = sorted(others, key=lambda element: element.effect)
    floor = INEXACT_ERROR if frame.uncertain else EXACT_ERROR
    found = _attempt(frame, exact, judge, floor) if exact else None
    if exact and found is None and frame.uncertain:
        # The continuous symmetries hold only nearly, and exact elements need not normalise them.
        frame = replace(frame, algebra=frame.algebra[:0])
        found = _attempt(frame, exact, judge, EXACT_ERROR)
    if found or (len(frame.algebra) and not frame.uncertain):
        beside = tuple(replace(element, reason=BESIDE) for element in others)
        return replace(found, excluded=beside) if found else Assembled(None, (), beside)
    kept: list[GroupElement] = []
    one_by_one = [*exact, *others]
    excluded: list[GroupElement] = []
    notes: list[Remark] = []
    for element in one_by_one:
        if found and _contains(frame, found, element):
            continue
        error = floor if all(e.grade == "exact" for e in (*kept, element)) else INEXACT_ERROR
        larger = _attempt(frame, [*kept, element], judge, error)
        if larger is None:
            excluded.append(replace(element, reason=OPEN))
            continue
        found = larger
        kept.append(element)
    if found is None:
        return Assembled(None, (), tuple(excluded), tuple(notes))
    return replace(found, excluded=tuple(excluded), notes=tuple(notes))


def _attempt(
    frame: Frame, elements: Sequence[GroupElement], judge: Judge, error: float
) -> Assembled | None:
    """The group that elements generate, if it is closed and all its elements are symmetries; else None."""
    matrices = torch.stack([frame.block(element) for element in elements])
    group = close(
        matrices,
        algebra=frame.algebra if len(frame.algebra) else None,
        tolerance=error,
        limit=LIMIT,
        coordinates=frame.coordinates,
        homogeneous=frame.homogeneous,
    )
    if not group.closed or len(group.elements) < 2:
        return None
    candidates = [frame.candidate(block, "product") for block in group.elements[1:]]
    judged = judge(candidates)
    if not all(element.grade in COUNTED for element in judged):
        return None
    numbered = zip(judged, group.words[1:], range(1, len(group.elements)), strict=True)
    named = tuple(replace(e, words=words, component=place) for e, words, place in numbered)
    return Assembled(group, named, ())


def _contains(frame: Frame, found: Assembled, element: GroupElement) -> bool:
    """Whether an element is already in a finite group; components of continuous groups are compared when they are closed."""
    if len(frame.algebra):
        return False
    block = frame.block(element)
    size = float(block.norm())
    gaps = (found.group.elements - block).flatten(1).norm(dim=1)  # pyright: ignore[reportOptionalMemberAccess]
    return float(gaps.min()) <= 0.1 * size
