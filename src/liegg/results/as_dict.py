"""A result as JSON values."""

from dataclasses import asdict
from typing import Any

from torch import Tensor

from liegg.decision.decide import Decision
from liegg.results.account import Candidate
from liegg.results.json_values import json_values
from liegg.results.symmetries import Symmetries

LISTED_NUMBERS = 2**21
"""Arrays of more numbers are not listed: null is in their place, and the arrays beside the record hold them."""


def as_dict(sym: Symmetries) -> dict[str, Any]:
    """See `Symmetries.to_dict`."""
    spectrum, control = sym._spectrum, sym.controls.reinitialised
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
            "words": sym.words,
            "sentence": sym.sentence.to_dict(),
            "answers": [answer.to_dict() for answer in sym.answers],
            "vector_fields": sym.vector_fields(),
            "candidates": [*map(_in_words, sym.candidates)],
            "readable": [*map(_in_words, sym.account.readable)],
            "on_output": None if sym.account.on_output is None else sym.account.on_output.to_dict(),
            "generator_words": sym.account.words,
            "candidate_words": None if sym.action.has_matrices else sym.action.words,
            "variance": None if spectrum is None else float(spectrum.values[0]),
            "spectrum": None if spectrum is None else spectrum.values,
            "bias": sym.account.bias,
            "defects": sym.defects,
            "intervals": sym.intervals,
            "grades": sym.decision.grades,
            "sensitivity": sym.accumulated.solution.sensitivity,
            "coefficients": _listed(sym.coefficients),
            "generators": _listed(sym.account.generators),
            "output_generators": _listed(sym.account.output_generators),
            "generator_variance": sym.account.variances,
            "generator_defect": sym.account.defects,
            "trivial": _listed(sym.accumulated.solution.trivial),
            "identification": sym.identification.to_dict(),
            "tower": [asdict(level) for level in sym.tower],
            "decision": _decision(sym.decision),
            "control": sym.controls.random,
            "reinitialised": None
            if control is None
            else json_values(control)
            | {
                "own": control.own[:, : len(control.learned)],
                "notes": [note.to_dict() for note in control.notes],
                "remark": None if control.test is None else control.test.remark.to_dict(),
            },
            "verification": None if sym.verification is None else sym.verification.to_dict(),
            "bottom": sym.accumulated.bottom,
            "settings": sym.settings,
            "distribution": sym.distribution,
            "notes": [note.to_dict() for note in sym.notes],
        }
    )


def _decision(decision: Decision) -> dict[str, Any]:
    """Every field, and the remarks with their members' names."""
    return json_values(decision) | {
        "is_lower_bound": decision.is_lower_bound,
        "sentence": decision.sentence.to_dict(),
        "reasons": [reason.to_dict() for reason in decision.reasons],
        "warnings": [warning.to_dict() for warning in decision.warnings],
    }


def _in_words(one: Candidate) -> dict[str, Any]:
    """A direction without its coefficients."""
    return {"words": one.words, "defect": one.defect, "interval": one.interval, "grade": one.grade}


def _listed(array: Tensor | None) -> Tensor | None:
    return None if array is None or array.numel() > LISTED_NUMBERS else array
