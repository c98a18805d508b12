"""A result as a record: JSON values for what people read, named arrays for the rest. Reading it computes nothing."""

import math
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg._utils.errors import RecordError
from liegg.actions import Action, Displacement, action_from_settings
from liegg.algebra.identification_storage import (
    identification_from_record,
    identification_to_record,
)
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.controls import Controls, RandomControl, ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.decision.distribution import MeanStatistics
from liegg.decision.distribution_test import DistributionTest
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.results.account import Account, Candidate
from liegg.results.accumulated import Accumulated
from liegg.results.answer import Answer
from liegg.results.answers import Answers
from liegg.results.json_values import from_json, json_values
from liegg.results.symmetries import Symmetries
from liegg.results.tower import Level
from liegg.results.verification import verification_from_dict
from liegg.spectrum.defects import Bottom, Defects
from liegg.spectrum.spectrum import Spectrum

ARRAYS = {
    "defects": ("values", "directions", "trivial"),
    "displacement": ("block",),
    "account": ("defects", "variances", "bias", "generators", "output_generators"),
    "bottom": ("residuals",),
    "spectrum": ("values", "basis"),
    "blocks": ("rows", "motions", "total", "samples"),
    "means": ("squares", "noise", "coordinates"),
    "reinitialised": ("along", "own"),
}
"""Arrays of the parts of a result, stored under names such as `defects.values`."""


def to_record(sym: Symmetries) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Everything of a result as JSON values and named arrays."""
    total, rows = sym.accumulated, sym.accumulated.rows
    name, name_arrays = identification_to_record(sym.identification)
    parts = {
        "defects": total.solution,
        "displacement": total.displacement,
        "account": sym.account,
        "bottom": total.bottom,
        "spectrum": sym._spectrum,
        "blocks": total.blocks,
        "means": total.means,
        "reinitialised": sym.controls.reinitialised,
    }
    arrays: dict[str, Tensor | None] = {
        f"{kind}.{field}": getattr(part, field)
        for kind, part in parts.items()
        if part is not None
        for field in ARRAYS[kind]
    }
    arrays |= {
        "coefficients": sym.coefficients,
        "intervals": sym.intervals,
        "rows": rows.matrix if isinstance(rows, Gram) else rows.r,
        "partner": total.partner,
        **{f"identification.{field}": array for field, array in name_arrays.items()},
    }
    for kind in ("candidates", "readable"):
        if listed := getattr(sym.account, kind):
            arrays[f"account.{kind}"] = torch.stack([one.coefficients for one in listed])
    record = {
        **sym.to_dict(),
        "stored": {
            "gram": isinstance(rows, Gram),
            "displacement_repeat": total.displacement.repeat,
            "displacement_noise": total.displacement.noise,
            "barely": total.solution.barely,
            "blocks_squared": total.blocks is not None and total.blocks.squared,
            "blocks_limit": None if total.blocks is None else total.blocks.limit,
            "seed": total.seed,
            "means_freedom": None if total.means is None else total.means.freedom,
            "identification": name,
        },
    }
    return json_values(record), {
        field: array.detach().clone(memory_format=torch.contiguous_format)
        for field, array in arrays.items()
        if array is not None
    }


def from_record(
    record: dict[str, Any],
    arrays: dict[str, Tensor],
    *,
    action: Action | None = None,
    output_action: Action | None = None,
) -> Symmetries:
    """The result that `to_record` wrote down.

    Raises:
        KeyError: something is missing.
        RecordError: the action given has another number of candidates than the stored one.
    """
    output = record["output_action"]
    if output is not None:
        output = _action(output, output_action, len(arrays["partner"]), "output_action")
    verification, spectrum = record["verification"], _part(arrays, "spectrum")
    return Symmetries(
        model=record["model"],
        action=_action(record["action"], action, arrays["coefficients"].shape[1], "action"),
        output_action=output,
        samples=record["samples"],
        decision=_decision(record["decision"]),
        coefficients=arrays["coefficients"],
        intervals=arrays["intervals"],
        identification=identification_from_record(
            record["stored"]["identification"], _part(arrays, "identification")
        ),
        tower=from_json(tuple[Level, ...], record.get("tower", ())),
        controls=_controls(record, arrays),
        verification=None if verification is None else verification_from_dict(verification),
        accumulated=_accumulated(record, arrays),
        account=_account(record, arrays),
        settings=record["settings"],
        notes=from_json(tuple[Remark, ...], record["notes"]),
        answers=Answers(
            from_json(
                tuple[Answer, ...],
                record.get("answers", ()),
                infinite=("amount", "random_amount", "radius"),
            )
        ),
        distribution=from_json(
            DistributionTest | None, record.get("distribution"), infinite=("ratios", "p_values")
        ),
        _spectrum=Spectrum(**spectrum) if spectrum else None,
    )


def _part(arrays: dict[str, Tensor], kind: str) -> dict[str, Any]:
    """The arrays of one part of a result, by their own names; none if the result does not have it."""
    prefix = f"{kind}."
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _accumulated(record: dict[str, Any], arrays: dict[str, Tensor]) -> Accumulated:
    """The sums over the data."""
    stored, bottom = record["stored"], record["bottom"]
    blocks, means = _part(arrays, "blocks"), _part(arrays, "means")
    limit = stored.get("blocks_limit")
    return Accumulated(
        rows=(Gram if stored["gram"] else RFactor)(arrays["rows"], record["rows"]),
        displacement=Displacement(
            arrays["displacement.block"],
            stored["displacement_repeat"],
            stored["displacement_noise"],
        ),
        solution=Defects(
            **_part(arrays, "defects"), sensitivity=record["sensitivity"], barely=stored["barely"]
        ),
        partner=arrays.get("partner"),
        samples=operator.index(record["samples"]),
        blocks=BlockStatistics(
            **blocks, squared=stored["blocks_squared"], limit=math.inf if limit is None else limit
        )
        if blocks
        else None,
        bottom=None if bottom is None else from_json(Bottom, bottom | _part(arrays, "bottom")),
        seed=stored["seed"],
        means=MeanStatistics(**means, freedom=stored["means_freedom"]) if means else None,
        error=max(map(float, record["settings"].get("errors", ())), default=0.0),
    )


def _action(settings: dict[str, Any], given: Action | None, size: int, name: str) -> Action:
    """The action given, or that of the settings."""
    if given is None:
        stored = action_from_settings(settings)
        if stored.size != size:
            raise RecordError(
                f"the stored {name} has {stored.size} candidates and the stored arrays {size}."
            )
        return stored
    if given.size != size:
        raise RecordError(
            f"{name}={given!r} has {given.size} candidates; the stored result has {size}. Pass the action of the analysis."
        )
    return given


def _decision(record: dict[str, Any]) -> Decision:
    """The decision; results before 0.2.0 hold neither levels, which follow from the grades, nor effects."""
    if "levels" not in record:
        nullity = record["nullity"]
        strong = sum(grade in ("exact", "strong") for grade in record["grades"][:nullity])
        record = record | {"levels": (record["exact"], strong, nullity, nullity), "response": 0.0}
    return from_json(Decision, record, infinite=("gap", "control"))


def _controls(record: dict[str, Any], arrays: dict[str, Tensor]) -> Controls:
    """Random directions and re-initialised models."""
    other = record["reinitialised"]
    if other is not None:
        other = from_json(ReinitialisedControl, other | _part(arrays, "reinitialised"))
    random = from_json(RandomControl | None, record["control"], infinite=("low", "median"))
    return Controls(random, other)


def _account(record: dict[str, Any], arrays: dict[str, Tensor]) -> Account:
    """Words and numbers of the directions."""
    own = _part(arrays, "account")
    return Account(
        **own
        | {
            "words": tuple(record["generator_words"]),
            "candidates": _candidates(record["candidates"], own.get("candidates", ())),
            "readable": _candidates(record.get("readable", ()), own.get("readable", ())),
            "on_output": from_json(Remark | None, record.get("on_output")),
        }
    )


def _candidates(listed: Iterable[dict[str, Any]], rows: Iterable[Tensor]) -> tuple[Candidate, ...]:
    """Directions in words, with their coefficients."""
    return tuple(
        from_json(Candidate, one | {"coefficients": row})
        for one, row in zip(listed, rows, strict=True)
    )
