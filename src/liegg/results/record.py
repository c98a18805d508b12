"""A result as a record: JSON values for what people read, named arrays for the rest. Reading it computes nothing."""

import dataclasses
import math
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from liegg._utils.diagnoses import remark_from_dict
from liegg._utils.errors import RecordError
from liegg.actions import Action, Displacement, action_from_settings
from liegg.algebra.identification_storage import (
    identification_from_record,
    identification_to_record,
)
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.controls import Controls, RandomControl, RankTest, ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.decision.distribution import DistributionTest, MeanStatistics
from liegg.decision.intervals import Certainty
from liegg.decision.thresholds import Thresholds
from liegg.decision.two_sample import MovedTest
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.results.account import Account, Candidate
from liegg.results.accumulated import Accumulated
from liegg.results.answer import answer_from_dict
from liegg.results.answers import Answers
from liegg.results.json_values import json_values
from liegg.results.symmetries import Symmetries
from liegg.results.tower import level_from_dict
from liegg.results.verification import verification_from_dict
from liegg.spectrum.defects import Bottom, Defects
from liegg.spectrum.spectrum import Spectrum

BLOCK_ARRAYS = ("rows", "motions", "total", "samples")
"""Arrays of `BlockStatistics`."""

MEAN_ARRAYS = ("squares", "noise", "coordinates")
"""Arrays of `MeanStatistics`."""


def to_record(sym: Symmetries) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Everything of a result as JSON values and named arrays."""
    total, solution = sym.accumulated, sym.accumulated.solution
    name, name_arrays = identification_to_record(sym.identification)
    arrays: dict[str, Tensor | None] = {
        "defects.values": solution.values,
        "defects.directions": solution.directions,
        "defects.trivial": solution.trivial,
        "coefficients": sym.coefficients,
        "intervals": sym.intervals,
        "rows": total.rows.matrix if isinstance(total.rows, Gram) else total.rows.r,
        "displacement.block": total.displacement.block,
        "partner": total.partner,
        "account.defects": sym.account.defects,
        "account.variances": sym.account.variances,
        "account.bias": sym.account.bias,
        "account.generators": sym.account.generators,
        "account.output_generators": sym.account.output_generators,
        "bottom.residuals": None if total.bottom is None else total.bottom.residuals,
    }
    if (spectrum := sym._spectrum) is not None:
        arrays |= {"spectrum.values": spectrum.values, "spectrum.basis": spectrum.basis}
    for kind in ("candidates", "readable"):
        if listed := getattr(sym.account, kind):
            arrays[f"account.{kind}"] = torch.stack([one.coefficients for one in listed])
    if total.blocks is not None:
        arrays |= {f"blocks.{field}": getattr(total.blocks, field) for field in BLOCK_ARRAYS}
    if total.means is not None:
        arrays |= {f"means.{field}": getattr(total.means, field) for field in MEAN_ARRAYS}
    if (control := sym.controls.reinitialised) is not None:
        arrays |= {"reinitialised.along": control.along, "reinitialised.own": control.own}
    arrays |= {f"identification.{field}": array for field, array in name_arrays.items()}
    record = {
        **sym.to_dict(),
        "stored": {
            "gram": isinstance(total.rows, Gram),
            "displacement_repeat": total.displacement.repeat,
            "displacement_noise": total.displacement.noise,
            "barely": solution.barely,
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
    stored, output = record["stored"], record["output_action"]
    solution = Defects(
        arrays["defects.values"],
        arrays["defects.directions"],
        arrays["defects.trivial"],
        record["sensitivity"],
        stored["barely"],
    )
    blocks = None
    if "blocks.rows" in arrays:
        parts = (arrays[f"blocks.{field}"] for field in BLOCK_ARRAYS)
        blocks = BlockStatistics(
            *parts,
            squared=stored["blocks_squared"],
            limit=_number(stored.get("blocks_limit"), math.inf),
        )
    means = None
    if "means.squares" in arrays:
        parts = {field: arrays[f"means.{field}"] for field in MEAN_ARRAYS}
        means = MeanStatistics(**parts, freedom=stored["means_freedom"])
    kind = Gram if stored["gram"] else RFactor
    accumulated = Accumulated(
        rows=kind(arrays["rows"], record["rows"]),
        displacement=Displacement(
            arrays["displacement.block"],
            stored["displacement_repeat"],
            stored["displacement_noise"],
        ),
        solution=solution,
        partner=arrays.get("partner"),
        samples=operator.index(record["samples"]),
        blocks=blocks,
        bottom=_bottom(record["bottom"], arrays),
        seed=stored["seed"],
        means=means,
        error=max(map(float, record["settings"].get("errors", ())), default=0.0),
    )
    spectrum = None
    if "spectrum.values" in arrays:
        spectrum = Spectrum(arrays["spectrum.values"], arrays["spectrum.basis"])
    names = {
        key.removeprefix("identification."): array
        for key, array in arrays.items()
        if key.startswith("identification.")
    }
    return Symmetries(
        model=record["model"],
        action=_action(record["action"], action, arrays["coefficients"].shape[1], "action"),
        output_action=None
        if output is None
        else _action(output, output_action, len(arrays["partner"]), "output_action"),
        samples=record["samples"],
        decision=_decision(record["decision"]),
        coefficients=arrays["coefficients"],
        intervals=arrays["intervals"],
        identification=identification_from_record(stored["identification"], names),
        tower=tuple(map(level_from_dict, record.get("tower", ()))),
        controls=_controls(record, arrays),
        verification=None
        if record["verification"] is None
        else verification_from_dict(record["verification"]),
        accumulated=accumulated,
        account=_account(record, arrays),
        settings=record["settings"],
        notes=tuple(map(remark_from_dict, record["notes"])),
        answers=Answers(map(answer_from_dict, record.get("answers", ()))),
        distribution=_distribution(record.get("distribution")),
        _spectrum=spectrum,
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


def _distribution(record: dict[str, Any] | None) -> DistributionTest | None:
    """How a data set was tested; None for a model."""
    if record is None:
        return None
    values: dict[str, Any] = dict(record)
    for name in ("span_p", "next_p", "detectable"):
        values[name] = _number(record[name], math.nan)
    for name in ("ratios", "p_values"):
        values[name] = tuple(_number(one, math.inf) for one in record[name])
    values["moved"] = tuple(MovedTest(**one) for one in record["moved"])
    return DistributionTest(**values)


def _decision(record: dict[str, Any]) -> Decision:
    sure = record["certainty"]
    record = record | _before_levels(record)
    values = {field.name: record[field.name] for field in dataclasses.fields(Decision)}
    return Decision(
        **values
        | {
            "gap": _number(record["gap"], math.inf),
            "control": _number(record["control"], math.inf),
            "floor": _number(record["floor"], math.nan),
            "response": _number(record["response"], math.nan),
            "grades": tuple(record["grades"]),
            "levels": tuple(record["levels"]),
            "borderline": tuple(map(tuple, record["borderline"])),
            "certainty": None
            if sure is None
            else Certainty(**sure | {"nullity": tuple(sure["nullity"])}),
            "thresholds": Thresholds(
                **{name: record["thresholds"][name] for name in _kept(record["thresholds"])}
            ),
            "sentence": remark_from_dict(record["sentence"]),
            "reasons": tuple(map(remark_from_dict, record["reasons"])),
            "warnings": tuple(map(remark_from_dict, record["warnings"])),
        }
    )


def _before_levels(record: dict[str, Any]) -> dict[str, Any]:
    """What results before 0.2.0 did not store: levels follow from the grades, and effects were not measured."""
    if "levels" in record:
        return {}
    kinds, nullity = record["grades"][: record["nullity"]], record["nullity"]
    strong = sum(kind in ("exact", "strong") for kind in kinds)
    return {"levels": (record["exact"], strong, nullity, nullity), "response": 0.0}


def _kept(stored: dict[str, float]) -> list[str]:
    """Names of the stored thresholds that there still are."""
    return [field.name for field in dataclasses.fields(Thresholds) if field.name in stored]


def _controls(record: dict[str, Any], arrays: dict[str, Tensor]) -> Controls:
    random, other = record["control"], record["reinitialised"]
    return Controls(
        None
        if random is None
        else RandomControl(
            _number(random["low"], math.inf),
            _number(random["median"], math.inf),
            random["share"],
            random["draws"],
        ),
        None
        if other is None
        else ReinitialisedControl(
            arrays["reinitialised.along"],
            arrays["reinitialised.own"],
            tuple(other["learned"]),
            tuple(map(remark_from_dict, other["notes"])),
            _rank_test(other.get("test")),
            tuple(other.get("counts", ())),
        ),
    )


def _rank_test(record: dict[str, Any] | None) -> RankTest | None:
    """The test of a control; earlier versions stored none."""
    if record is None:
        return None
    values: dict[str, Any] = record | {"model": _number(record["model"], math.nan)}
    for name in ("along", "own"):
        values[name] = tuple(_number(value, math.nan) for value in record[name])
    return RankTest(**values)


def _account(record: dict[str, Any], arrays: dict[str, Tensor]) -> Account:
    return Account(
        words=tuple(record["generator_words"]),
        defects=arrays["account.defects"],
        variances=arrays["account.variances"],
        candidates=_candidates(record["candidates"], arrays.get("account.candidates", ())),
        bias=arrays.get("account.bias"),
        generators=arrays.get("account.generators"),
        output_generators=arrays.get("account.output_generators"),
        readable=_candidates(record.get("readable", ()), arrays.get("account.readable", ())),
        on_output=None if (said := record.get("on_output")) is None else remark_from_dict(said),
    )


def _candidates(listed: Iterable[dict[str, Any]], rows: Iterable[Tensor]) -> tuple[Candidate, ...]:
    """Directions in words, with their coefficients."""
    return tuple(
        Candidate(
            words=one["words"],
            defect=_number(one["defect"], math.nan),
            interval=(_number(one["interval"][0], math.nan), _number(one["interval"][1], math.nan)),
            grade=one["grade"],
            coefficients=row,
        )
        for one, row in zip(listed, rows, strict=True)
    )


def _bottom(record: dict[str, Any] | None, arrays: dict[str, Tensor]) -> Bottom | None:
    if record is None:
        return None
    return Bottom(
        record["requested"], record["moving"], arrays["bottom.residuals"], record["steps"]
    )


def _number(value: float | None, other: float) -> float:
    """A number that JSON holds as null."""
    return other if value is None else value
