"""The search on one space of matrices: structured elements, polished solutions, what the data can tell."""

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.cosets import representatives
from liegg.discovery.group.orbits import told_apart
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.slots import Judge
from liegg.discovery.group.vectors import LARGEST_POLISHED, ROUNDS, frame_of, polished, structured
from liegg.results.group_symmetries import GroupElement

if TYPE_CHECKING:
    from liegg.discovery.group.search import Findings

MOST_EXACT, MOST_OTHERS = 24, 8
"""Exact and other solutions of a round that are judged; closing finds the rest of a group."""

FEW_OF_A_KIND = 4
"""Exact solutions of either determinant that are judged where continuous symmetries make them a continuum."""

FEW_STARTS = 32
"""Random starts where there are continuous symmetries: from every start some element of each component is near."""

EXACT_TOLERANCE, INEXACT_TOLERANCE = 1e-6, 0.02
"""Distance of samples, relative to their size, within which an orbit reaches them."""

FLAT = "the samples do not span the space, so that it is known on a part of it only"
SAME_ORBIT = "on these samples it does what the continuous symmetries do"


def search_matrices(
    setting: Setting,
    space: VectorSpace,
    algebra: Float[Tensor, "d n n"],
    judge: Judge,
    findings: "Findings",
    uncertainty: float,
) -> None:
    """Add the elements of one space to the findings.

    Args:
        setting: model and samples.
        space: what the matrices act on.
        algebra: generators of the identity component.
        judge: grades elements on held-out samples.
        findings: what was found so far.
        uncertainty: relative error of each unit generator.
    """
    frame = frame_of(setting, space)
    candidates = structured(space, frame, algebra, uncertainty=uncertainty)
    findings.count("structured elements", len(candidates))
    tolerance = INEXACT_TOLERANCE if uncertainty else EXACT_TOLERANCE

    n = len(frame.moment)
    if frame.rank < n:
        findings.notes.append(Diagnosis.GROUP_FLAT_DATA(rank=frame.rank, dimension=n))
        findings.rejected += [_unknown(element) for element in judge(candidates)]
        return
    known: list[Tensor] = []

    def add(elements: list[GroupElement]) -> bool:
        """Add elements; of those that count one per component. Whether there was a new component."""
        counted = [element for element in elements if element.counted]
        findings.rejected += [element for element in elements if not element.counted]
        new = representatives(counted, algebra, known, exact=not uncertainty)
        known.extend(element.matrices[0] for element in new)
        findings.add([_told(setting, space, algebra, one, tolerance, findings) for one in new])
        return bool(new)

    add(judge(candidates))
    distinct = len(torch.unique(setting.search.x.flatten(1), dim=0))
    rows = distinct * setting.search.y.shape[1]
    if not setting.starts:
        findings.notes.append(Diagnosis.GROUP_NO_STARTS())
        return
    if rows < 2 * space.action.size:
        findings.notes.append(
            Diagnosis.GROUP_FEW_SAMPLES(samples=distinct, unknowns=space.action.size)
        )
        return
    if n > LARGEST_POLISHED:
        findings.notes.append(Diagnosis.GROUP_STRUCTURED_ONLY(dimension=n, most=LARGEST_POLISHED))
        return
    generator = torch.Generator().manual_seed(setting.seed)
    count = min(setting.starts, FEW_STARTS) if len(algebra) else setting.starts
    for number in range(1 if len(algebra) else ROUNDS):
        solutions, costs, starts = polished(
            setting, space, frame, candidates if number == 0 else [], generator, count
        )
        findings.count("random starts", starts)
        new = _selected(solutions, costs, known, continuum=bool(len(algebra)))
        if not new or not add(judge(new)):
            break


def _unknown(element: GroupElement) -> GroupElement:
    """An element that counts, as not testable: data in a plane do not say what a map does outside of it."""
    if not element.counted:
        return element
    return replace(element, grade="not testable", reason=FLAT)


def _selected(
    solutions: list[Candidate],
    costs: Float[Tensor, " s"],
    known: list[Float[Tensor, "n n"]],
    *,
    continuum: bool,
) -> list[Candidate]:
    """Solutions to judge: exact ones and a few others that are not known."""
    exact, others = [], []
    for candidate, cost in zip(solutions, costs.tolist(), strict=True):
        matrix = candidate.factors[0][1]
        size = float(matrix.norm())
        if any(float((matrix - other).norm()) <= 1e-3 * size for other in known):
            continue
        (exact if cost < 1e-16 else others).append(candidate)
    if continuum:
        signs = [float(torch.linalg.det(one.factors[0][1])) > 0 for one in exact]
        exact = [
            one
            for sign in (False, True)
            for one in [e for e, s in zip(exact, signs, strict=True) if s is sign][:FEW_OF_A_KIND]
        ]
    return exact[:MOST_EXACT] + others[:MOST_OTHERS]


def _told(
    setting: Setting,
    space: VectorSpace,
    algebra: Tensor,
    element: GroupElement,
    tolerance: float,
    findings: "Findings",
) -> GroupElement:
    """The element as not testable if the data cannot tell it from the identity component."""
    if not element.counted or not len(algebra):
        return element
    told = told_apart(
        space,
        element.matrices[0],
        algebra,
        setting.held_out.x,
        tolerance=tolerance,
        seed=setting.seed,
    )
    if told == "not by this data":
        return replace(element, grade="not testable", reason=SAME_ORBIT)
    if told == "by no data":
        findings.notes.append(Diagnosis.GROUP_IMPLIED(source=element.source))
    return element
