"""Standard families among the candidates: rotations, translations and rigid motions, as wholes."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.catalog import se, so, translation
from liegg.decision.decide import Decision
from liegg.decision.rank import rule, scale
from liegg.results.accumulated import Accumulated
from liegg.results.naming import LARGEST_STANDARD, coefficients_within

OUTSIDE_SPAN = 0.5
"""Part of a unit generator outside the span of the symmetries from which on it is not one of them."""


def standard_families(
    action: Action, accumulated: Accumulated, decision: Decision
) -> tuple[Remark, ...]:
    """Standard families that lie below the threshold although the count does not include them.

    Among many candidates a nearly symmetric neighbour can hide the gap after a family. Its own largest defect does not depend
    on the other candidates' gaps. Families inside a larger one that is reported are left out.

    Args:
        action: the candidate generators.
        accumulated: what the pass left.
        decision: which directions are symmetries; a family among these is not reported.
    """
    if decision.undecided or not isinstance(action, MatrixAction):
        return ()
    n, thresholds = action.ambient - action.homogeneous, decision.thresholds
    if not 2 <= n <= LARGEST_STANDARD or not accumulated.solution.sensitivity > 0:
        return ()
    factor = float(scale(decision.response, rule(decision.floor, thresholds)))
    families = {f"so({n})": so(n)}
    if action.homogeneous:
        wide = torch.nn.functional.pad(so(n), (0, 1, 0, 1))
        families = {f"se({n})": se(n), f"so({n})": wide, f"translation({n})": translation(n)}
    remarks: list[Remark] = []
    still = orthonormal_rows(accumulated.solution.trivial)
    counted = accumulated.solution.directions[: decision.nullity]
    counted = counted - counted @ still.mT @ still
    for name, generators in families.items():
        given = coefficients_within(action, generators)
        # What does not move the data cannot set a family apart from what is counted.
        if given is None or _inside(given - given.to(still) @ still.mT @ still, counted):
            continue
        defect = accumulated.largest_defect(given)
        if defect * factor <= thresholds.threshold:
            remarks.append(Diagnosis.STANDARD_FAMILY(name=name, defect=defect))
            if name.startswith("se"):
                break
    return tuple(remarks)


def _inside(rows: Float[Tensor, "d g"], span: Float[Tensor, "k g"]) -> bool:
    """Whether every direction of a family approximately lies in a span."""
    if not len(span):
        return False
    rows, span = orthonormal_rows(rows.to(span)), orthonormal_rows(span)
    return float(torch.linalg.matrix_norm(rows - rows @ span.mT @ span, 2)) < OUTSIDE_SPAN
