"""Identifications as a JSON dictionary and named tensors, read back without any computation."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from liegg._utils.diagnoses import remark_from_dict
from liegg.algebra.closure import Closure
from liegg.algebra.identification import Alternative, Identification
from liegg.algebra.words.readable import Readable

JSON_FIELDS = ("name", "meaning", "confident", "estimated", "homogeneous", "unseen")
"""Fields of an identification that JSON holds as they are."""

NUMBER_FIELDS = ("margin", "angle", "uncertainty")
"""Fields that are numbers, infinite or NaN at times."""

CLOSURE_NUMBERS = ("largest", "rms", "explained", "noise")
"""The same for its closure."""


def identification_to_record(
    identification: Identification,
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Everything that an identification shows, in a form that can be stored.

    Args:
        identification: the result of `identify`. Its readable basis and its metric are computed
            here if they were not before.

    Returns:
        A dictionary of JSON values without infinities and NaN, and contiguous tensors by name; no
        two of them share memory.

    Examples:
        >>> from liegg.algebra import identify, so
        >>> record, tensors = identification_to_record(identify(so(3)))
        >>> record["name"], record["readable"]["words"][0], sorted(tensors)[:2]
        ('so(3)', 'rotation in x₁–x₂', ['closure.residuals', 'generators'])
    """
    readable, closure = identification.readable, identification.closure
    record: dict[str, Any] = {name: getattr(identification, name) for name in JSON_FIELDS}
    record |= {name: _number(getattr(identification, name)) for name in NUMBER_FIELDS}
    record |= {
        "aliases": list(identification.aliases),
        "coordinates": None
        if identification.coordinates is None
        else list(identification.coordinates),
        "reasons": [remark.to_dict() for remark in identification.reasons],
        "notes": [remark.to_dict() for remark in identification.notes],
        "alternatives": [
            {
                "name": rival.name,
                "angle": _number(rival.angle),
                "needs": _number(rival.needs),
                "reason": rival.reason.to_dict(),
            }
            for rival in identification.alternatives
        ],
        "readable": {
            "words": list(readable.words),
            "framed_words": list(readable.framed_words),
            "rotations": readable.rotations,
            "boosts": readable.boosts,
        },
        "closure": None
        if closure is None
        else {name: _number(getattr(closure, name)) for name in CLOSURE_NUMBERS}
        | {"closed": closure.closed},
    }
    tensors = {
        "span": identification.span,
        "generators": identification.generators,
        "metric": identification.metric,
        "readable.generators": readable.generators,
        "readable.frame": readable.frame,
        "readable.framed": readable.framed,
        "closure.residuals": None if closure is None else closure.residuals,
    }
    return record, {
        name: tensor.detach().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
        if tensor is not None
    }


def identification_from_record(
    record: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> Identification:
    """Read back what `identification_to_record` gave; tensors and numbers come back bit for bit.

    Forms, invariants and abstract names are not stored: they are computed from the generators when
    they are asked for.

    Args:
        record: the dictionary.
        tensors: the tensors, by name.

    Raises:
        KeyError: an entry or a tensor is missing.
    """
    words, closure = record["readable"], record["closure"]
    numbers: dict[str, Any] = {name: float(record[name]) for name in NUMBER_FIELDS}
    identification = Identification(
        **{name: record[name] for name in JSON_FIELDS},
        **numbers,
        span=tensors["span"],
        generators=tensors["generators"],
        aliases=tuple(record["aliases"]),
        coordinates=None if record["coordinates"] is None else tuple(record["coordinates"]),
        reasons=tuple(map(remark_from_dict, record["reasons"])),
        notes=tuple(map(remark_from_dict, record["notes"])),
        alternatives=tuple(
            Alternative(
                rival["name"],
                float(rival["angle"]),
                float(rival["needs"]),
                remark_from_dict(rival["reason"]),
            )
            for rival in record["alternatives"]
        ),
        closure=None
        if closure is None
        else Closure(
            residuals=tensors["closure.residuals"],
            closed=closure["closed"],
            **{name: float(closure[name]) for name in CLOSURE_NUMBERS},
        ),
    )
    # What is computed on demand and cached: stored, so that it is not computed again.
    vars(identification)["metric"] = tensors.get("metric")
    vars(identification)["readable"] = Readable(
        generators=tensors["readable.generators"],
        words=tuple(words["words"]),
        frame=tensors.get("readable.frame"),
        framed=tensors.get("readable.framed"),
        framed_words=tuple(words["framed_words"]),
        rotations=words["rotations"],
        boosts=words["boosts"],
    )
    return identification


def _number(value: float) -> float | str:
    """A number for JSON, which has no infinity and no NaN: those as text, which `float` reads."""
    return value if math.isfinite(value) else str(value)
