"""Results that earlier versions stored: what they did not store is computed once, when they are read."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from liegg.actions import Action, action_from_settings
from liegg.algebra.identification_storage import identification_to_record
from liegg.decision.gap import mixing_angle
from liegg.results.account import LISTED_CANDIDATES, matrices_of, words_of
from liegg.results.naming import name_symmetries
from liegg.spectrum.equivariance import eliminate

Record = dict[str, Any]


class _Computed(NamedTuple):
    """What formats 2 and 3 did not store of a decision."""

    unsolved: int
    certainty: Record | None
    uncertainty: float


def upgraded(record: Record, arrays: dict[str, Tensor]) -> tuple[Record, dict[str, Tensor]]:
    """A result of format 2 or 3 in the layout of format 4.

    Args:
        record: the JSON values, as they were stored.
        arrays: the arrays.
    """
    action, computed = action_from_settings(record["action"]), _computed(record, arrays)
    old, bottom, settings = record["decision"], record.get("bottom"), dict(record["settings"])
    nullity, uncertainty = old["nullity"], computed.uncertainty
    settings["nonlinearity"] = settings.pop("bend", None)
    identification = name_symmetries(
        action,
        arrays["coefficients"],
        uncertainty=uncertainty,
        is_lower_bound=computed.unsolved > 0 and nullity == len(arrays["defects.values"]),
    )
    name, name_arrays = identification_to_record(identification)
    near = arrays["defects.directions"][nullity : nullity + LISTED_CANDIDATES]
    words = words_of(action, near, uncertainty)
    arrays = _arrays(record, arrays, action)
    arrays |= {f"identification.{key}": array for key, array in name_arrays.items()}
    if words:
        arrays["account.candidates"] = near
    return record | {
        "settings": settings,
        "reinitialised": record["fresh"],
        "bottom": None if bottom is None else bottom | {"requested": bottom["asked"]},
        "generator_words": list(words_of(action, arrays["coefficients"], uncertainty)),
        "candidates": [
            {"words": text, "defect": defect, "interval": interval, "grade": grade}
            for text, defect, interval, grade in zip(
                words,
                arrays["defects.values"][nullity:].tolist(),
                arrays["intervals"][nullity:].tolist(),
                old["grades"][nullity:],
                strict=False,
            )
        ],
        "decision": old
        | computed._asdict()
        | {
            "borderline": [names.split(", ") if names else [] for names in old["near"]],
            "thresholds": settings,
        },
        "stored": {
            "gram": False,
            "displacement_repeat": record["displacement_repeat"],
            "displacement_noise": record["displacement_noise"],
            "barely": record["barely"],
            "blocks_squared": record.get("blocks_squared", False),
            "seed": settings["seed"],
            "identification": name,
        },
    }, arrays


def _computed(record: Record, arrays: dict[str, Tensor]) -> _Computed:
    """Directions that were not solved for, and how sure the others are."""
    old, values, bottom = record["decision"], arrays["defects.values"], record.get("bottom")
    certainty = None if old["undecided"] else record["certainty"]
    uncertainty = mixing_angle(values, old["nullity"], old["floor"])
    if old["nullity"] and certainty is not None:
        uncertainty = max(uncertainty, certainty["angle"])
    unsolved = 0 if bottom is None else bottom["moving"] - len(values)
    return _Computed(unsolved, certainty, uncertainty)


def _arrays(record: Record, arrays: dict[str, Tensor], action: Action) -> dict[str, Tensor]:
    """The arrays under their names of today, with the generators as matrices and the output coefficients."""
    values, factor, coefficients = (
        arrays[key] for key in ("defects.values", "factor", "coefficients")
    )
    upgraded = arrays | {
        "intervals": arrays.get("bounds", values.new_full((len(values), 2), math.nan)),
        "rows": factor,
        "account.defects": torch.tensor(record["generator_defect"], dtype=torch.float64),
        "account.variances": torch.tensor(record["generator_variance"], dtype=torch.float64),
    }
    matrices = {"generators": matrices_of(action, coefficients)}
    if outputs := factor.shape[1] - action.size:
        partner = upgraded["partner"] = eliminate(factor, outputs).partner
        output_action = action_from_settings(record["output_action"])
        matrices["output_generators"] = matrices_of(output_action, coefficients @ partner.mT)
    upgraded |= {f"account.{key}": made for key, made in matrices.items() if made is not None}
    if record["fresh"] is not None:
        upgraded |= {f"reinitialised.{key}": arrays[f"fresh.{key}"] for key in ("along", "own")}
    return upgraded
