"""The search on one space of matrices: structured elements, polished solutions, one of each component, what the data can tell."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.affine_starts import affine_starts
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.component import identity_component
from liegg.discovery.group.judge import BESIDE_EXACT, Findings
from liegg.discovery.group.orbits import told_apart
from liegg.discovery.group.polish import Solutions, solve
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.starts import moments_of, random_starts, structured
from liegg.results.group_symmetries import GroupElement

LARGEST_POLISHED = 16
"""Largest dimension in which matrices are polished; above it only structured elements are tried."""

ROUNDS = 3
"""Most rounds of random starts."""

MOST_EXACT, MOST_OTHERS = 24, 8
"""Exact and other solutions of a round that are judged; closing finds the rest of a group."""

FEW_OF_A_KIND = 12
"""Exact solutions of either determinant that are judged where continuous symmetries make them a continuum."""

FEWEST_UNCERTAIN = 4
"""Dimension from which on random starts may miss elements of a finite group: few of them are near any."""

FEW_RANDOM_STARTS = 32
"""Random starts where there are continuous symmetries: from every start some element of each component is near."""

EXACT_COST = 1e-16
"""Squared residual over the variance of an exact solution."""

EXACT_TOLERANCE, INEXACT_TOLERANCE = 1e-6, 0.02
"""Distance of samples, relative to their size, within which an orbit reaches them."""

ERRORS = 10.0
"""How many times the error of a unit generator a product of their exponentials may be off."""

MOST_PRODUCTS = 64
"""Products of exact elements whose components are left out."""

FLAT_SAMPLES = "the samples do not span the space, so that it is known on a part of it only"
SAME_ORBIT = "on these samples it does what the continuous symmetries do"


def search_matrices(space: VectorSpace, findings: Findings) -> None:
    """Add the elements of one space to the findings."""
    setting = findings.setting
    algebra, moments = setting.algebra_on(space), moments_of(setting, space)
    candidates = structured(space, moments, algebra, uncertainty=setting.uncertainty)
    findings.count("structured elements", len(candidates))
    judged = findings.judge(candidates)
    n = len(moments.moment)
    if moments.rank < n:
        # Data in a plane do not say what a map does outside of it.
        findings.notes.append(Diagnosis.GROUP_FLAT_DATA(rank=moments.rank, dimension=n))
        findings.rejected += [
            replace(element, grade="not testable", reason=FLAT_SAMPLES)
            if element.counted
            else element
            for element in judged
        ]
        return
    known = _add(judged, [], space, findings)
    if setting.local:  # matrices near the continuous symmetries would fit the samples, too
        return
    obstacle = _obstacle(setting, space)
    if obstacle is not None:
        findings.notes.append(obstacle)
        return
    generator = torch.Generator().manual_seed(setting.seed)
    count = min(setting.starts, FEW_RANDOM_STARTS) if len(algebra) else setting.starts
    starts = [h for candidate in candidates for _, h in candidate.factors]
    for _ in range(1 if len(algebra) else ROUNDS):
        random = (
            affine_starts(setting, space, moments, starts, count=count, generator=generator)
            if space.homogeneous
            else random_starts(count, moments, generator)
        )
        findings.count("random starts", count)
        solutions = solve(setting, space, moments, torch.stack([*starts, *random]))
        new = _unknown(solutions, known, continuum=bool(len(algebra)))
        found = _add(
            findings.judge([Candidate(((space, h),), "search") for h in new]),
            known,
            space,
            findings,
        )
        if not found:
            break
        known += found
        starts = []  # structured elements are searched from once
    if n >= FEWEST_UNCERTAIN and not len(algebra):
        findings.notes.append(Diagnosis.GROUP_SEARCHED(dimension=n, starts=count))


def _obstacle(setting: Setting, space: VectorSpace) -> Remark | None:
    """Why only structured elements are tried; None if matrices are searched for."""
    distinct = len(torch.unique(setting.search.x.flatten(1), dim=0))
    n, unknowns = space.n, space.action.size
    if not setting.starts:
        return Diagnosis.GROUP_NO_STARTS()
    if distinct * setting.search.y.shape[1] < 2 * unknowns:
        return Diagnosis.GROUP_FEW_SAMPLES(samples=distinct, unknowns=unknowns)
    if n > LARGEST_POLISHED:
        return Diagnosis.GROUP_STRUCTURED_ONLY(dimension=n, most=LARGEST_POLISHED)
    return None


def _add(
    judged: Sequence[GroupElement],
    known: Sequence[Float[Tensor, "n n"]],
    space: VectorSpace,
    findings: Findings,
) -> list[Float[Tensor, "n n"]]:
    """Add elements to the findings, of those that count one per component; the matrices of components that are known now.

    Products of exact elements that the data can tell are exact, so that one of several such components need not be looked at.
    """
    setting, algebra = findings.setting, findings.setting.algebra_on(space)
    findings.rejected += [element for element in judged if not element.counted]
    counted = [element for element in judged if element.counted]
    if not len(algebra):
        findings.add(counted)
        return [element.matrix for element in counted]
    component = identity_component(algebra, setting.frame_on(space), exact=not setting.inexact)
    left = sorted(counted, key=lambda one: one.effect if one.grade != "exact" else -1.0)
    products = [torch.eye(algebra.shape[1], dtype=torch.float64)]
    for matrix in (*products, *known):
        left = component.outside(matrix, left)
    new: list[Tensor] = []
    while left:
        first = left[0]
        if first.grade != "exact" and setting.exact_directions:
            findings.rejected += [replace(one, reason=BESIDE_EXACT) for one in left]
            break
        told = _told(first, space, findings)
        findings.add([told])
        reached = [first.matrix]
        if told.grade == "exact" and component.exact:
            reached = [first.matrix @ one for one in products]
            products = [*products, *reached][:MOST_PRODUCTS]
        for matrix in reached:
            left = component.outside(matrix, left)
        new += reached
    return new


def _told(element: GroupElement, space: VectorSpace, findings: Findings) -> GroupElement:
    """An element of another component, or that this data cannot tell it from the continuous symmetries."""
    setting = findings.setting
    exact = max(EXACT_TOLERANCE, ERRORS * setting.uncertainty)
    told = told_apart(
        space,
        element.matrix,
        setting.algebra_on(space),
        setting.held_out.x,
        frame=setting.frame_on(space),
        tolerance=INEXACT_TOLERANCE if setting.inexact else exact,
        seed=setting.seed,
    )
    if told == "by no data":
        findings.notes.append(Diagnosis.GROUP_IMPLIED(source=element.source))
    if told == "not by this data":
        return replace(element, grade="not testable", reason=SAME_ORBIT)
    return element


def _unknown(
    solutions: Solutions, known: Sequence[Float[Tensor, "n n"]], *, continuum: bool
) -> list[Float[Tensor, "n n"]]:
    """Solutions to judge: exact ones and a few others that are not known."""
    exact, others = [], []
    for matrix, cost in zip(solutions.h, solutions.cost.tolist(), strict=True):
        size = float(matrix.norm())
        if all(float((matrix - other).norm()) > 1e-3 * size for other in known):
            (exact if cost < EXACT_COST else others).append(matrix)
    if continuum:
        mirrored = [h for h in exact if float(torch.linalg.det(h)) <= 0]
        proper = [h for h in exact if float(torch.linalg.det(h)) > 0]
        exact = mirrored[:FEW_OF_A_KIND] + proper[:FEW_OF_A_KIND]
    return exact[:MOST_EXACT] + others[:MOST_OTHERS]
