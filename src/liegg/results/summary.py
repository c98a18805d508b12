"""The record as a plain dict of JSON values: the one source of text, JSON and pages."""

import dataclasses
import math
from typing import Any

from liegg.decision.controls import ReinitialisedControl
from liegg.results.symmetries import Symmetries
from liegg.spectrum.smallest_defects import Bottom

LISTED = 2**21
"""Numbers that are listed; where there are more, null stands in their place, and the arrays beside the record hold them."""


def summary(sym: Symmetries) -> dict[str, Any]:
    """Everything of the record as JSON values: finite numbers, strings, lists; infinities and NaN become null.

    So do generators that are too many or too large for a text.

    Args:
        sym: the result of `discover`.

    Returns:
        Keys `model`, `question`, `samples`, `rows`, `action`, `output_action`, `nullity`, `variance`, `spectrum`, `defects`,
        `sensitivity`, `generators`, `output_generators`, `generator_variance`, `generator_defect`, `trivial`, `name`,
        `identification`, `intervals`, `grades`, `decision`, `certainty`, `control`, `fresh`, `verification`, `bottom`, `settings`,
        `notes`.
    """
    return _plain(
        {
            "model": sym.model,
            "question": "invariance" if sym.output_action is None else "equivariance",
            "samples": sym.samples,
            "rows": sym.rows,
            "action": sym.action.settings(),
            "output_action": None if sym.output_action is None else sym.output_action.settings(),
            "nullity": sym.nullity,
            "variance": sym.variance,
            "spectrum": sym.spectrum.values.tolist(),
            "defects": sym.defects.tolist(),
            "intervals": sym.intervals.tolist(),
            "grades": list(sym.grades),
            "sensitivity": sym.solution.sensitivity,
            "generators": sym.generators.tolist() if sym.shown else None,
            "coefficients": sym.coefficients.tolist(),
            "output_generators": None
            if sym.output_action is None or not sym.output_action.has_matrices
            else sym.output_generators.tolist(),
            "generator_variance": sym.direction_variance(sym.coefficients).tolist(),
            "generator_defect": sym.direction_defect(sym.coefficients).tolist()
            if sym.nullity
            else [],
            "trivial": sym.trivial.tolist() if sym.trivial.numel() <= LISTED else None,
            "name": sym.name,
            "identification": sym.identification.to_dict(),
            "decision": dataclasses.asdict(sym.decision),
            "certainty": None if sym.certainty is None else dataclasses.asdict(sym.certainty),
            "control": None if sym.control is None else dataclasses.asdict(sym.control),
            "fresh": _fresh(sym.reinitialised),
            "verification": None if sym.verification is None else sym.verification.to_dict(),
            "bottom": _bottom(sym.bottom),
            "settings": sym.settings,
            "notes": list(sym.notes),
        }
    )


def _bottom(low: Bottom | None) -> dict[str, Any] | None:
    if low is None:
        return None
    return {
        "asked": low.asked,
        "moving": low.moving,
        "residuals": low.residuals.tolist(),
        "steps": low.steps,
    }


def _fresh(fresh: ReinitialisedControl | None) -> dict[str, Any] | None:
    if fresh is None:
        return None
    return {
        "along": fresh.along.tolist(),
        "own": fresh.own.tolist(),
        "learned": list(fresh.learned),
        "notes": list(fresh.notes),
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN; say so with null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
