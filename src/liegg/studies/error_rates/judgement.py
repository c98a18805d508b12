"""Results of liegg and of the other rules on a case; the only module that reads a verdict."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.discover import discover
from liegg.polarization.gram import Gram
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import defects
from liegg.studies.error_rates.cases import CLEARLY_NONLINEAR, Case, midpoint_ratio
from liegg.studies.error_rates.rules import RULES, Evidence

LIEGG = "liegg"
"""Name of liegg's own verdict among the rules."""

STRONG = ("exact", "strong")
"""Grades of symmetries that cannot be due to chance."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The parts of a verdict that the study reads.

    Attributes:
        nullity: directions that are counted.
        grades: how good each of them is: `"exact"`, `"strong"`, `"approximate"` or `"weak"`.
        intervals: 95 % interval of each δ², `[r, 2]`, NaN for those at the floor; None if none are stated.
        range: least and most directions that the samples allow; None if not stated.
        warned: whether it warns of what may make it wrong: data that covers too little, a model nearly linear on it.
    """

    nullity: int
    grades: tuple[str, ...]
    intervals: Float[Tensor, "r 2"] | None
    range: tuple[int, int] | None
    warned: bool


def verdict(sym: Symmetries) -> Verdict:
    """Read a verdict."""
    made = sym.decision.certainty is not None
    return Verdict(
        sym.nullity,
        sym.decision.grades[: sym.nullity],
        sym.intervals if made else None,
        sym.decision.nullity_interval if made else None,
        bool(sym.decision.warnings),
    )


def evidence(sym: Symmetries) -> Evidence:
    """What the other rules may look at: the numbers as they were measured, also where liegg holds them for mere rounding."""
    values = sym.defects
    if (
        sym.accumulated.solution.sensitivity == 0
    ):  # liegg has put zeros in their place, and a rule of its own would be charged with that
        tolerance = sym.settings["trivial_tolerance"]
        values = defects(
            sym.accumulated.rows
            if isinstance(sym.accumulated.rows, Gram)
            else sym.accumulated.rows.r,
            sym.accumulated.displacement,
            sym.samples,
            trivial_tolerance=tolerance,
        ).values
    unit = torch.finfo(getattr(torch, sym.settings["dtype"])).eps
    return Evidence(values, sym.spectrum.values, len(sym.accumulated.solution.trivial), unit**2)


def counts(sym: Symmetries, seen: Evidence) -> dict[str, int]:
    """Number of symmetries by every rule, liegg's verdict first."""
    return {LIEGG: sym.nullity} | {name: rule(seen) for name, rule in RULES.items()}


def judge(case: Case) -> dict[str, Any]:
    """Analyse a case with the default settings.

    Returns:
        As JSON values: its labels, the count of every rule, the grades of the counted directions,
        and the defects next to the right count: `last`, the largest of a symmetry, `next`, the
        smallest that is not, and the one `after`.
    """
    sym = discover(case.model, case.data, case.action)
    said, seen, right = verdict(sym), evidence(sym), case.expected
    ratio = midpoint_ratio(case.model, case.data)
    angle = float(sym.angles(case.algebra).max()) if right and said.nullity == right else None
    return {
        "family": case.family,
        "kind": case.kind,
        "n": case.action.n,
        "copies": case.action.copies,
        "action": type(case.action).__name__,
        "outputs": case.outputs,
        "samples": len(case.data),
        "dtype": str(case.data.dtype).removeprefix("torch."),
        "midpoint_ratio": shortened(ratio),
        "nonlinear": ratio >= CLEARLY_NONLINEAR,
        "warned": said.warned,
        "expected": right,
        "exact": sum(grade == "exact" for grade in said.grades),
        "strong": sum(grade in STRONG for grade in said.grades),
        "approximate": sum(grade not in STRONG for grade in said.grades),
        "range": None if said.range is None else list(said.range),
        "last": shortened(float(seen.defects[right - 1])) if right else None,
        "next": shortened(float(seen.defects[right])) if right < len(seen.defects) else None,
        "after": shortened(float(seen.defects[right + 1]))
        if right + 1 < len(seen.defects)
        else None,
        "rounding_unit": torch.finfo(case.data.dtype).eps,
        "threshold": sym.decision.thresholds.threshold,
        "angle": None if angle is None else shortened(angle),
        "counts": counts(sym, seen),
    }


def shortened(value: float) -> float:
    """Round to four digits for storage."""
    return float(f"{value:.4g}")
