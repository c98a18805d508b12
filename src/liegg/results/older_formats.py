"""Results that earlier versions stored: what they did not store is computed once, when they are read."""

import math
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from liegg.actions import action_from_settings
from liegg.algebra.identification_storage import identification_to_record
from liegg.decision.gap import mixing_angle
from liegg.decision.thresholds import Thresholds
from liegg.results.account import NEAREST, matrices_of, words_of
from liegg.results.naming import name_symmetries
from liegg.spectrum.equivariance import eliminate

Record = dict[str, Any]


def upgraded(record: Record, arrays: dict[str, Tensor]) -> tuple[Record, dict[str, Tensor]]:
    """A result of format 2 or 3 in the layout of format 4.

    Args:
        record: the JSON values, as they were stored.
        arrays: the arrays.
    """
    action = action_from_settings(record["action"])
    settings = dict(record["settings"])
    settings["nonlinearity"] = settings.pop("bend", None)
    old, values = record["decision"], arrays["defects.values"]
    bottom = record.get("bottom")
    unsolved = 0 if bottom is None else bottom["moving"] - len(values)
    nullity, coefficients = old["nullity"], arrays["coefficients"]
    certainty = None if old["undecided"] else record["certainty"]
    uncertainty = mixing_angle(values, nullity, old["floor"])
    if nullity and certainty is not None:
        uncertainty = max(uncertainty, certainty["angle"])
    identification = name_symmetries(
        action,
        coefficients,
        uncertainty=uncertainty,
        is_lower_bound=unsolved > 0 and nullity == len(values),
    )
    name, name_arrays = identification_to_record(identification)
    near = arrays["defects.directions"][nullity : nullity + NEAREST]
    words = words_of(action, near, uncertainty)
    outputs = arrays["factor"].shape[1] - action.size
    arrays = dict(arrays) | {
        "intervals": arrays.get("bounds", values.new_full((len(values), 2), math.nan)),
        "rows": arrays["factor"],
        "account.defects": torch.tensor(record["generator_defect"], dtype=torch.float64),
        "account.variances": torch.tensor(record["generator_variance"], dtype=torch.float64),
        **{f"identification.{key}": array for key, array in name_arrays.items()},
    }
    if words:
        arrays["account.candidates"] = near
    if (matrices := matrices_of(action, coefficients)) is not None:
        arrays["account.generators"] = matrices
    if outputs:
        partner = eliminate(arrays["factor"], outputs).partner
        arrays["partner"] = partner
        output_action = action_from_settings(record["output_action"])
        if (matrices := matrices_of(output_action, coefficients @ partner.mT)) is not None:
            arrays["account.output_generators"] = matrices
    if record["fresh"] is not None:
        arrays["reinitialised.along"] = arrays["fresh.along"]
        arrays["reinitialised.own"] = arrays["fresh.own"]
    record = dict(record) | {
        "settings": settings,
        "reinitialised": record["fresh"],
        "bottom": None if bottom is None else bottom | {"requested": bottom["asked"]},
        "generator_words": list(words_of(action, coefficients, uncertainty)),
        "candidates": [
            {"words": text, "defect": defect, "interval": interval, "grade": grade}
            for text, defect, interval, grade in zip(
                words,
                values[nullity:].tolist(),
                arrays["intervals"][nullity:].tolist(),
                old["grades"][nullity:],
                strict=False,
            )
        ],
        "decision": old
        | {
            "unsolved": unsolved,
            "borderline": [names.split(", ") if names else [] for names in old["near"]],
            "uncertainty": uncertainty,
            "certainty": certainty,
            "thresholds": {
                field.name: settings[field.name]
                for field in fields(Thresholds)
                if field.name in settings
            },
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
    }
    return record, arrays
