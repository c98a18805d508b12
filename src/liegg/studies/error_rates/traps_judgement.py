"""Is a verdict about a trap right, honest, missed, or confident and wrong?"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import degrees
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import LieggError
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.bracket import bracket
from liegg.decision.decide import Decision
from liegg.decision.thresholds import Thresholds
from liegg.discovery.discover import discover
from liegg.discovery.output_whitening import AskedOutputs
from liegg.results.symmetries import Symmetries
from liegg.studies.error_rates.cases import Trap, matches
from liegg.studies.error_rates.traps_truth import Measured, right_names
from liegg.studies.provenance import rounded

VERDICTS = ("right", "honest", "missed", "confident wrong")

CLAIM_LEVELS = ("exact", "strong", "approximate")
"""Levels of a claim, from the strongest to the weakest."""

OUTSIDE_ANGLE = 0.2
"""Angle in radians from the true algebra beyond which a counted direction is not in it."""

EXACT_DEFECT = 1e-8
"""Largest true defect of a direction that may be called exact."""

GRADE_MARGIN = 1.5
"""Factor by which a true defect may exceed the threshold of a grade: the grade is an estimate."""

NO_EXCUSE = frozenset({"NOT_MOVED", "BARELY_MOVED", "DEAD_OUTPUTS", "TEXT"})
"""Warnings about something else; they do not make a false claim honest."""

CLUSTER_RATIO = 5.0
"""Largest ratio of true defects that belong together."""

QUALIFIED = ", up to "
"""Begins the words of a name that holds only up to directions that do not move the data."""

STORED_DIRECTIONS = 20
"""Directions whose numbers are stored for each case."""


@dataclass(frozen=True, eq=False)
class Claim:
    """Directions that are reported as symmetries at one level.

    Attributes:
        level: one of `CLAIM_LEVELS`.
        coefficients: orthonormal, of all directions at this level or a stronger one.
        name: name of their span; empty where it has none of its own.
        sure: whether the name is stated without reservation.
        generators: matrices of the named algebra; None without a name.
    """

    level: str
    coefficients: Float[Tensor, "d g"]
    name: str = ""
    sure: bool = False
    generators: Float[Tensor, "e n n"] | None = None


def claims(sym: Symmetries) -> list[Claim]:
    """What a result claims, level by level; the only place that reads the levels of a result."""
    grades = sym.decision.grades[: sym.nullity]
    found = []
    for place, level in enumerate(CLAIM_LEVELS):
        count = sum(grade in CLAIM_LEVELS[: place + 1] for grade in grades)
        if count > (len(found[-1].coefficients) if found else 0):
            found.append(Claim(level, sym.coefficients[:count]))
    name = sym.identification
    if found and name.known and not name.unseen:
        last = found[-1]
        found[-1] = Claim(last.level, last.coefficients, name.name, name.confident, name.generators)
    return found


def warned(sym: Symmetries) -> list[str]:
    """Names of the warnings of a result."""
    return [
        getattr(getattr(text, "diagnosis", None), "name", "TEXT") for text in sym.decision.warnings
    ]


def limit(level: str, thresholds: Thresholds, floor: float = 0.0) -> float:
    """Largest true defect for which a claim at this level is not false; "exact" means up to the stated floor."""
    limits = {
        "exact": max(EXACT_DEFECT, floor),
        "strong": thresholds.strong,
        "approximate": thresholds.threshold,
    }
    return limits[level] if level == "exact" else GRADE_MARGIN * limits[level]


def false_claims(trap: Trap, sym: Symmetries, truth: Measured) -> Iterator[dict[str, Any]]:
    """Every claim of a result that is not true: of a direction, of a grade, or of a name."""
    for claim in claims(sym):
        angle = truth.outside(claim.coefficients, known=True)
        defect = truth.defect(claim.coefficients)
        numbers = {"level": claim.level, "angle": angle, "defect": defect}
        if angle > OUTSIDE_ANGLE and (trap.strict or defect is None):
            yield {"claim": "count"} | numbers
        elif defect is not None and defect > limit(
            claim.level, sym.decision.thresholds, sym.decision.floor
        ):
            yield {"claim": "grade"} | numbers
        if claim.sure and (why := _wrong_name(trap, claim, truth, sym.decision.thresholds)):
            yield {"claim": "name", "level": claim.level, "name": claim.name, "why": why}


def _wrong_name(trap: Trap, claim: Claim, truth: Measured, thresholds: Thresholds) -> str:
    """Why a sure name is wrong; empty if it is not.

    A name "up to motions that do not move this data" stands for a class of spans, the right one
    among them.
    """
    if len(truth.still) and QUALIFIED in claim.name:
        return ""
    for span, broken in ((truth.algebra, False), (truth.known, True)):
        if len(claim.coefficients) == len(span):
            near = truth.outside(claim.coefficients, known=broken) <= OUTSIDE_ANGLE
            right = right_names(trap, broken=broken)
            if near and right and not matches(claim.name, right):
                return f"the algebra is {right[0]}"
            break
    else:
        if trap.strict and truth.outside(claim.coefficients, known=True) > OUTSIDE_ANGLE:
            return "the algebra has another dimension"
    if claim.generators is None or not isinstance(trap.action, MatrixAction):
        return ""
    try:
        rows = trap.action.as_coefficients(claim.generators)
    except LieggError:
        return ""  # a named algebra outside the candidates cannot be measured
    defect = truth.defect(rows)
    if defect is not None and defect > limit("approximate", thresholds):
        return "its generators do not preserve the function"
    return ""


def classify(trap: Trap, sym: Symmetries, truth: Measured) -> dict[str, Any]:
    """Judgement of a verdict, and every false claim.

    *Right*: nothing false is claimed and nothing is missed. *Honest*: wrong, or nothing, but with a
    warning, "undecided", or a range that contains the truth. *Missed*: fewer than there are, and
    not a word about it. *Confident wrong*: something false, and not a word about it.
    """
    decision, right = sym.decision, len(truth.algebra)
    false = list(false_claims(trap, sym, truth))
    ends = _range(sym)
    wide = ends is not None and any(
        ends[0] <= size <= ends[1] != ends[0] for size in (right, len(truth.known))
    )
    excuses = [name for name in warned(sym) if name not in NO_EXCUSE]
    careful = bool(excuses) or decision.undecided > 0 or wide or _says_how_many_violate(trap, sym)
    missed = sym.nullity < findable(truth, decision) or splits(sym.nullity, truth)
    if false:
        verdict = "honest" if careful else "confident wrong"
    elif missed:
        verdict = "honest" if careful or not trap.decidable else "missed"
    else:
        verdict = "right"
    exact = sum(grade == "exact" for grade in decision.grades[: sym.nullity])
    undergraded = verdict == "right" and exact < right <= sym.nullity
    return {
        "verdict": verdict,
        "false": false,
        "careful": careful,
        "undergraded": undergraded,
        "findable": findable(truth, decision),
    }


def _says_how_many_violate(trap: Trap, sym: Symmetries) -> bool:
    """Whether all that is counted is exact on every sample, and the stated share that may violate it covers the true one."""
    decision = sym.decision
    shares = [
        reason.values["share"]
        for reason in decision.reasons
        if reason.diagnosis is Diagnosis.NONE_VIOLATES
    ]
    exact = decision.exact == decision.nullity
    return exact and trap.violating > 0 and any(share >= trap.violating for share in shares)


def findable(truth: Measured, decision: Decision) -> int:
    """Directions that should be counted: the algebra, and of its broken part what is clear.

    Clear is what is strong whatever follows, and what is below the threshold with a gap after it.
    """
    thresholds = decision.thresholds
    effect = decision.response * thresholds.threshold / thresholds.effect**2
    values = [value * max(1.0, effect) for value in truth.defects(truth.known) or []]
    strong = sum(value <= thresholds.strong / GRADE_MARGIN for value in values)
    separate = [
        count
        for count, value in enumerate(values, start=1)
        if value <= thresholds.threshold / GRADE_MARGIN
        and truth.following(count) >= thresholds.minimum_gap * value
    ]
    return max(len(truth.algebra), strong, *separate[-1:])


def splits(count: int, truth: Measured) -> bool:
    """Whether a count includes only a part of the cluster of defects that the broken part ends with."""
    values = truth.defects(truth.known) or []
    before = sum(value < values[-1] / CLUSTER_RATIO for value in values)
    return before < count < len(values)


def _range(sym: Symmetries) -> tuple[int, int] | None:
    ends = sym.decision.nullity_interval
    return None if ends is None else (int(ends[0]), int(ends[1]))


def judge_trap(trap: Trap, *, outputs: AskedOutputs = "each") -> dict[str, Any]:
    """Analyse a trap with the default settings and judge the verdict.

    Args:
        trap: the case.
        outputs: how outputs are read, as for `liegg.discover`.

    Returns:
        As JSON values: the verdict with its false claims, what was reported, and the numbers of the
        first directions, from which other rules can be tried without the models.
    """
    facts = {
        "label": trap.label,
        "action": repr(trap.action),
        "samples": len(trap.data),
        "dtype": str(trap.data.dtype).removeprefix("torch."),
        "strict": trap.strict,
        "decidable": trap.decidable,
        "expected": len(trap.algebra),
    }
    try:
        sym = discover(
            trap.model,
            trap.data,
            trap.action,
            output_action=trap.output_action,
            outputs=outputs,
            held_out=trap.held_out,
        )
    except LieggError as error:
        verdict = "right" if trap.refused else "missed" if trap.decidable else "honest"
        return facts | {
            "verdict": verdict,
            "false": [],
            "refused": f"{type(error).__name__}: {error}",
            "findable": len(trap.algebra),
        }
    truth = Measured(trap, sym)
    found = classify(trap, sym, truth)
    return rounded(facts | found | _reported(sym, truth) | _numbers(trap, sym, truth), 4)


def _reported(sym: Symmetries, truth: Measured) -> dict[str, Any]:
    """The reported result."""
    decision, name, ends = sym.decision, sym.identification, _range(sym)
    return {
        "expected": len(truth.algebra),
        "known": len(truth.known),
        "known_defect": truth.defect(truth.known),
        "nullity": sym.nullity,
        "undecided": decision.undecided,
        "range": None if ends is None else list(ends),
        "grades": list(decision.grades[:STORED_DIRECTIONS]),
        "warnings": warned(sym),
        "name": sym.name,
        "sure": name.confident,
        "margin": name.margin,
        "uncertainty": decision.uncertainty,
        "angle": degrees(truth.outside(sym.coefficients, known=True)) if sym.nullity else None,
    }


def _numbers(trap: Trap, sym: Symmetries, truth: Measured) -> dict[str, Any]:
    """Numbers of the first directions, and of the spans of the first k of them."""
    directions = sym.accumulated.solution.directions[:STORED_DIRECTIONS]
    spans = [directions[: k + 1] for k in range(len(directions))]
    outputs = trap.model(trap.data).detach().to(torch.float64).reshape(len(trap.data), -1)
    data = trap.data.to(torch.float64).flatten(1)
    return {
        "defects": sym.defects[:STORED_DIRECTIONS].tolist(),
        "intervals": sym.intervals[:STORED_DIRECTIONS].tolist(),
        "kappa": sym.accumulated.solution.sensitivity,
        "floor": sym.decision.floor,
        "directions": len(sym.defects),
        "trivial": len(sym.accumulated.solution.trivial),
        "rows": sym.accumulated.rows.rows,
        "nonlinearity": sym.settings["nonlinearity"] or 0.0,
        "data_variance": float(data.var(0).sum()),
        "output_variance": float(outputs.var(0).sum()),
        "outside": [truth.outside(span) for span in spans],
        "outside_known": [truth.outside(span, known=True) for span in spans],
        "population": [truth.defect(span) for span in spans],
        "closure": [open_by(span, trap.action) for span in spans],
    }


def open_by(rows: Float[Tensor, "d g"], action: Action) -> float | None:
    """Largest part of a bracket of unit generators outside their span; None without matrices."""
    if not isinstance(action, MatrixAction) or len(rows) * action.ambient > 400:
        return None
    if len(rows) < 2:
        return 0.0
    matrices = action.matrices(orthonormal_rows(rows))
    basis = orthonormal_rows(matrices.flatten(1))
    matrices = basis.unflatten(1, matrices.shape[1:])
    left, right = torch.triu_indices(len(basis), len(basis), 1)
    brackets = bracket(matrices[left], matrices[right]).flatten(1)
    return float((brackets - brackets @ basis.mT @ basis).norm(dim=1).max())
