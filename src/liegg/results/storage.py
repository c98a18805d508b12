"""Results on disk: JSON for what people read, safetensors for arrays. Nothing is unpickled, and loading computes nothing."""

import dataclasses
import hashlib
import json
import math
import operator
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import torch as tensors
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import remark_from_dict
from liegg._utils.errors import RecordError
from liegg._utils.file_set import MANIFEST, read_files, read_manifest, read_regular, write_files
from liegg.actions import Action, Displacement, action_from_settings
from liegg.algebra.identification_storage import (
    identification_from_record,
    identification_to_record,
)
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.controls import Controls, RandomControl, ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.decision.intervals import Certainty
from liegg.decision.thresholds import Thresholds
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.results.account import Account, Candidate
from liegg.results.accumulated import Accumulated
from liegg.results.json_values import json_values
from liegg.results.older_formats import upgraded
from liegg.results.symmetries import Symmetries
from liegg.results.verification import verification_from_dict
from liegg.spectrum.defects import Defects
from liegg.spectrum.smallest_defects import Bottom
from liegg.spectrum.spectrum import Spectrum

FORMAT = 5
"""Version of the layout of a stored result."""

OLDER_FORMATS = (2, 3, 4)
"""Versions that are read too, from folders without a manifest; format 2 holds no blocks of samples."""

UPGRADED_FORMATS = (2, 3)
"""Versions that hold no identification, which is then computed."""

FILES = ("record.json", "arrays.safetensors")
"""What a stored result consists of."""

BLOCK_ARRAYS = ("rows", "motions", "total", "samples")
"""Arrays of `BlockStatistics`."""


@checked()
def save(sym: Symmetries, folder: Path) -> Path:
    """Write a result into a folder as `record.json` and `arrays.safetensors`, listed with checksums in `manifest.json`.

    Args:
        sym: the result of `discover`.
        folder: created if needed. A result that it holds is replaced, as a whole; a crash at any moment leaves the old
            result or the new one. Other files are not touched.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under these names.
    """
    return write_files(folder, result_files(sym))


def result_files(sym: Symmetries) -> dict[str, bytes]:
    """The files of a stored result."""
    record, arrays = to_record(sym)
    return pair_of_files(FILES, {"format": FORMAT, **record}, arrays)


def pair_of_files(
    names: tuple[str, str], record: dict[str, Any], arrays: dict[str, Tensor]
) -> dict[str, bytes]:
    """A record as a JSON file, and its arrays, whose checksum the record holds."""
    content = tensors.save(arrays)
    return {
        names[0]: json_bytes(record | {"arrays": hashlib.sha256(content).hexdigest()}),
        names[1]: content,
    }


def read_pair(folder: Path, names: tuple[str, str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The record and the arrays that `pair_of_files` made; earlier versions wrote no checksum.

    Raises:
        FileNotFoundError: a file is missing.
        RecordError: the arrays belong to another record.
    """
    files = read_stored(folder, names)
    record, content = json.loads(files[names[0]]), files[names[1]]
    if "arrays" in record and record["arrays"] != hashlib.sha256(content).hexdigest():
        raise RecordError(f"{folder / names[1]} belongs to another result than {names[0]}.")
    return record, tensors.load(content)


def json_bytes(record: dict[str, Any]) -> bytes:
    """A record as the text of a JSON file."""
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()


@checked()
def load(
    folder: Path, *, action: Action | None = None, output_action: Action | None = None
) -> Symmetries:
    """Read back a result that `Symmetries.save` wrote; its numbers come back bit for bit, and nothing is computed.

    Args:
        folder: the folder that was saved into.
        action: the candidate generators of a result for an action of your own, which cannot be made from its settings.
        output_action: the same for the action on the outputs.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format, or the action does not fit.
    """
    with damage_named(folder):
        record, arrays = read_pair(folder, FILES)
        check_format(folder, record["format"], FORMAT, OLDER_FORMATS)
        if record["format"] in UPGRADED_FORMATS:
            record, arrays = upgraded(record, arrays)
        return from_record(record, arrays, action=action, output_action=output_action)


def read_stored(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """Read files of a folder, checked against its manifest; earlier versions wrote none.

    Raises:
        FileNotFoundError: one of them is missing.
        RecordError: one of them is not what the manifest lists, or not a regular file.
    """
    files = read_present(folder, names)
    for name in names:
        if name not in files:
            raise FileNotFoundError(None, None, name)
    return files


def read_present(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """The same for those of the files that the folder has."""
    if read_manifest(folder) is not None:
        return read_files(folder, names)
    return {name: read_regular(folder / name) for name in names if (folder / name).exists()}


def check_format(folder: Path, version: Any, current: int, older: Collection[int]) -> None:
    """Raise `RecordError` if this version of the package does not read a format.

    Args:
        folder: where it is stored.
        version: the format.
        current: the format that this version writes, always with a manifest.
        older: the formats that were written without one.
    """
    listed = read_manifest(folder) is not None
    if version == current and not listed:
        raise RecordError(
            f"{folder} is damaged: {MANIFEST} is missing. Restore it from a copy, or run the analysis again."
        )
    if version not in ({current} if listed else older):
        known = ", ".join(map(str, (*older, current)))
        raise RecordError(
            f"{folder} holds a result of format {version}; this version reads formats {known}."
        )


@contextmanager
def damage_named(
    folder: Path, what: str = "a stored result", how: str = "sym.save(...)"
) -> Iterator[None]:
    """Turn whatever goes wrong while a folder is read into a `RecordError`: its content may be anything.

    Args:
        folder: what is read.
        what: what it should be.
        how: how such a folder is made.
    """
    try:
        yield
    except RecordError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        name = Path(error.filename or FILES[0]).name
        raise RecordError(
            f"{folder} is not {what}: {name} is missing. Make one with {how}."
        ) from error
    except Exception as error:
        raise RecordError(
            f"{folder} is damaged ({type(error).__name__}: {error}). Run the analysis again."
        ) from error


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
    if sym.account.candidates:
        rows = torch.stack([candidate.coefficients for candidate in sym.account.candidates])
        arrays["account.candidates"] = rows
    if total.blocks is not None:
        arrays |= {f"blocks.{field}": getattr(total.blocks, field) for field in BLOCK_ARRAYS}
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
            "seed": total.seed,
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
        blocks = BlockStatistics(*parts, squared=stored["blocks_squared"])
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
        controls=_controls(record, arrays),
        verification=None
        if record["verification"] is None
        else verification_from_dict(record["verification"]),
        accumulated=accumulated,
        account=_account(record, arrays),
        settings=record["settings"],
        notes=tuple(map(remark_from_dict, record["notes"])),
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


def _decision(record: dict[str, Any]) -> Decision:
    sure = record["certainty"]
    values = {field.name: record[field.name] for field in dataclasses.fields(Decision)}
    return Decision(
        **values
        | {
            "gap": _number(record["gap"], math.inf),
            "control": _number(record["control"], math.inf),
            "grades": tuple(record["grades"]),
            "borderline": tuple(map(tuple, record["borderline"])),
            "certainty": None
            if sure is None
            else Certainty(**sure | {"nullity": tuple(sure["nullity"])}),
            "thresholds": Thresholds(**record["thresholds"]),
            "sentence": remark_from_dict(record["sentence"]),
            "reasons": tuple(map(remark_from_dict, record["reasons"])),
            "warnings": tuple(map(remark_from_dict, record["warnings"])),
        }
    )


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
        ),
    )


def _account(record: dict[str, Any], arrays: dict[str, Tensor]) -> Account:
    candidates = tuple(
        Candidate(
            words=one["words"],
            defect=_number(one["defect"], math.nan),
            interval=(_number(one["interval"][0], math.nan), _number(one["interval"][1], math.nan)),
            grade=one["grade"],
            coefficients=row,
        )
        for one, row in zip(record["candidates"], arrays.get("account.candidates", ()), strict=True)
    )
    return Account(
        words=tuple(record["generator_words"]),
        defects=arrays["account.defects"],
        variances=arrays["account.variances"],
        candidates=candidates,
        bias=arrays.get("account.bias"),
        generators=arrays.get("account.generators"),
        output_generators=arrays.get("account.output_generators"),
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
