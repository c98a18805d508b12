"""The result as a plain dict of JSON values: the one source of text, JSON and pages."""

import dataclasses
from typing import Any

from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.decision.controls import ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.results.json_values import json_values
from liegg.results.symmetries import Symmetries
from liegg.spectrum.smallest_defects import Bottom

LISTED_NUMBERS = 2**21
"""Arrays of more numbers are not listed: null is in their place, and the arrays beside the record hold them."""


def summary(sym: Symmetries) -> dict[str, Any]:
    """Everything of the result as JSON values: finite numbers, strings, lists; infinities and NaN become null.

    So do generators that are too many or too large for a text, and those of actions without matrices.

    Args:
        sym: the result of `discover`.
    """
    spectrum = sym._spectrum
    return json_values(
        {
            "model": sym.model,
            "question": "invariance" if sym.output_action is None else "equivariance",
            "samples": sym.samples,
            "rows": sym.accumulated.rows.rows,
            "action": sym.action.settings(),
            "output_action": None if sym.output_action is None else sym.output_action.settings(),
            "nullity": sym.nullity,
            "name": sym.name,
            **sym.account.to_dict(),
            "words": list(sym.words),
            "generator_words": list(sym.account.words),
            "candidate_words": list(sym.action.words) if not sym.action.has_matrices else None,
            "variance": None if spectrum is None else float(spectrum.values[0]),
            "spectrum": None if spectrum is None else spectrum.values.tolist(),
            "bias": None if sym.account.bias is None else sym.account.bias.tolist(),
            "defects": sym.defects.tolist(),
            "intervals": sym.intervals.tolist(),
            "grades": list(sym.grades),
            "sensitivity": sym.accumulated.solution.sensitivity,
            "coefficients": _listed(sym.coefficients),
            "generators": _listed(sym.account.generators),
            "output_generators": _listed(sym.account.output_generators),
            "generator_variance": sym.account.variances.tolist(),
            "generator_defect": sym.account.defects.tolist(),
            "trivial": _listed(sym.accumulated.solution.trivial),
            "identification": sym.identification.to_dict(),
            "decision": decision_dict(sym.decision),
            "control": None
            if sym.controls.random is None
            else dataclasses.asdict(sym.controls.random),
            "reinitialised": _reinitialised(sym.controls.reinitialised),
            "verification": None if sym.verification is None else sym.verification.to_dict(),
            "bottom": _bottom(sym.accumulated.bottom),
            "settings": sym.settings,
            "notes": [_remark(note) for note in sym.notes],
        }
    )


def decision_dict(decision: Decision) -> dict[str, Any]:
    """A decision as JSON values; its thresholds are a dict of their own, its remarks have their members' names."""
    record = {field.name: getattr(decision, field.name) for field in dataclasses.fields(Decision)}
    return record | {
        "is_lower_bound": decision.is_lower_bound,
        "thresholds": dataclasses.asdict(decision.thresholds),
        "certainty": None if decision.certainty is None else dataclasses.asdict(decision.certainty),
        "sentence": decision.sentence.to_dict(),
        "reasons": [reason.to_dict() for reason in decision.reasons],
        "warnings": [_remark(warning) for warning in decision.warnings],
    }


def _remark(remark: str) -> dict[str, Any] | str:
    return remark.to_dict() if isinstance(remark, Remark) else remark


def _listed(array: Tensor | None) -> list[Any] | None:
    return None if array is None or array.numel() > LISTED_NUMBERS else array.tolist()


def _bottom(bottom: Bottom | None) -> dict[str, Any] | None:
    if bottom is None:
        return None
    return {
        "requested": bottom.requested,
        "moving": bottom.moving,
        "residuals": bottom.residuals.tolist(),
        "steps": bottom.steps,
    }


def _reinitialised(control: ReinitialisedControl | None) -> dict[str, Any] | None:
    if control is None:
        return None
    return {
        "along": control.along.tolist(),
        "own": control.own.tolist(),
        "learned": list(control.learned),
        "notes": [_remark(note) for note in control.notes],
    }
