"""Results on disk: JSON for what is read, safetensors for arrays; nothing is ever unpickled."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from liegg._utils.errors import RecordError
from liegg.actions import Action, Displacement, action_from_settings
from liegg.decision.block_statistics import Pairs
from liegg.decision.controls import RandomControl, ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.decision.intervals import Certainty, Resampled, redrawn
from liegg.polarization.r_factor import RFactor
from liegg.results.symmetries import Symmetries
from liegg.results.verification import verification_from_dict
from liegg.spectrum.defects import Defects
from liegg.spectrum.smallest_defects import Bottom
from liegg.spectrum.spectrum import Spectrum

FORMAT = 3
"""Version of the layout of a stored record."""

READ = (2, FORMAT)
"""Versions that can be read: format 2 had no blocks, so a result of it has its intervals, but none of further directions."""

FILES = ("record.json", "arrays.safetensors")
"""What a stored record consists of."""

BLOCKS = ("rows", "motions", "total", "samples")
"""Arrays of `Pairs`, from which the draws are made again."""


def save(sym: Symmetries, folder: str | Path) -> Path:
    """Write a result into a folder as `arrays.safetensors` and `record.json`.

    Each file is renamed into place, and `record.json` last: where there is one, it is whole and goes with the arrays beside it.

    Args:
        sym: the result of `discover`.
        folder: made if needed; files of an earlier result in it are replaced.

    Returns:
        The folder.

    Raises:
        RecordError: the path exists and is no folder.
    """
    folder = made(folder)
    arrays = {
        "spectrum.values": sym.spectrum.values,
        "spectrum.basis": sym.spectrum.basis,
        "defects.values": sym.solution.values,
        "defects.directions": sym.solution.directions,
        "defects.trivial": sym.solution.trivial,
        "coefficients": sym.coefficients,
        "factor": sym.factor,
        "displacement.block": sym.displacement.block,
    }
    if sym.bottom is not None:
        arrays["bottom.residuals"] = sym.bottom.residuals
        if (whole := sym.bottom.whole) is not None:
            arrays |= {"bottom.values": whole.values, "bottom.directions": whole.directions}
    if sym.bounds is not None:
        arrays["bounds"] = sym.bounds
    if sym.resampled is not None:
        arrays |= {f"blocks.{name}": getattr(sym.resampled.pairs, name) for name in BLOCKS}
    if sym.reinitialised is not None:
        arrays |= {"fresh.along": sym.reinitialised.along, "fresh.own": sym.reinitialised.own}
    if sym.output_coefficients is not None:
        arrays["output_coefficients"] = sym.output_coefficients
    record = {
        "format": FORMAT,
        "displacement_repeat": sym.displacement.repeat,
        "displacement_noise": sym.displacement.noise,
        "barely": sym.solution.barely,
        "blocks_squared": sym.resampled is not None and sym.resampled.pairs.squared,
        **sym.to_dict(),
    }
    record_part, arrays_part = (folder / f".{name}.part" for name in FILES)
    save_file({name: array.contiguous() for name, array in arrays.items()}, arrays_part)
    record_part.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    arrays_part.chmod(record_part.stat().st_mode)  # safetensors lets nobody else read it
    (folder / "record.json").unlink(
        missing_ok=True
    )  # an old record must never stand beside new arrays
    arrays_part.replace(folder / "arrays.safetensors")
    record_part.replace(folder / "record.json")
    return folder


def made(folder: str | Path) -> Path:
    """A folder to save into, made if needed; raise `RecordError` where that cannot be."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise RecordError(
            f"{folder} is a file; expected a folder to save into, for example {folder.with_suffix('')}-run/."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(
            f"{folder} cannot be made: {error.strerror}. Choose another folder."
        ) from error
    return folder


def load(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> Symmetries:
    """Read back a result that `Symmetries.save` wrote; arrays come back bit for bit.

    Args:
        folder: the folder that was saved into.
        action: the action, if it is one of your own; else it is made again from the record.
        output_action: the same for the action on the outputs.

    Raises:
        RecordError: a file is missing, damaged, or of another format.
    """
    folder = Path(folder)
    try:
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        if record["format"] not in READ:
            known = " and ".join(map(str, READ))
            raise RecordError(
                f"{folder} holds a record of format {record['format']}; this version reads formats {known}."
            )
        return _assemble(record, load_file(folder / "arrays.safetensors"), action, output_action)
    except FileNotFoundError as error:
        missing = next((name for name in FILES if not (folder / name).exists()), "a file")
        raise RecordError(
            f"{folder} is no stored result: {missing} is missing. Make one with sym.save(...)."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(
            f"{folder} is damaged ({type(error).__name__}: {error}). Run the analysis again."
        ) from error


def _assemble(
    record: dict[str, Any],
    arrays: dict[str, Tensor],
    action: Action | None = None,
    output_action: Action | None = None,
) -> Symmetries:
    decision = record["decision"]
    if "near" in decision:
        decision["borderline"] = decision.pop("near")
    lists = ("grades", "borderline", "reasons", "warnings")
    decision = record["decision"] | {key: tuple(record["decision"][key]) for key in lists}
    decision |= {key: math.inf for key in ("gap", "control") if decision[key] is None}
    output = record["output_action"]
    solved = Defects(
        arrays["defects.values"],
        arrays["defects.directions"],
        arrays["defects.trivial"],
        record["sensitivity"],
        record["barely"],
    )
    low = _bottom(record.get("bottom"), solved, arrays)
    sym = Symmetries(
        action=action or action_from_settings(record["action"]),
        output_action=None if output is None else output_action or action_from_settings(output),
        solution=solved,
        decision=Decision(
            **{field.name: decision[field.name] for field in dataclasses.fields(Decision)}
        ),
        coefficients=arrays["coefficients"],
        output_coefficients=arrays.get("output_coefficients"),
        kept=RFactor(arrays["factor"], record["rows"]),
        displacement=Displacement(
            arrays["displacement.block"],
            record["displacement_repeat"],
            record["displacement_noise"],
        ),
        samples=record["samples"],
        model=record["model"],
        settings=record["settings"],
        notes=tuple(record["notes"]),
        bounds=arrays.get("bounds"),
        resampled=_resampled(
            record, solved if low is None or low.whole is None else low.whole, arrays
        ),
        control=None if record["control"] is None else RandomControl(**_numbers(record["control"])),
        reinitialised=_fresh(record["fresh"], arrays),
        verification=None
        if record["verification"] is None
        else verification_from_dict(record["verification"]),
        bottom=low,
    )
    sure = record["certainty"]
    vars(sym)["certainty"] = (
        None if sure is None else Certainty(**{**sure, "nullity": tuple(sure["nullity"])})
    )
    vars(sym)["spectrum"] = Spectrum(
        arrays["spectrum.values"], arrays["spectrum.basis"]
    )  # as it was, not solved again
    return sym


def _resampled(
    record: dict[str, Any], solved: Defects, arrays: dict[str, Tensor]
) -> Resampled | None:
    """The draws of the stored blocks, made again with the seed that made them."""
    if "blocks.rows" not in arrays:
        return None
    pairs = Pairs(*(arrays[f"blocks.{name}"] for name in BLOCKS), squared=record["blocks_squared"])
    return redrawn(
        pairs, solved, floor=record["decision"]["floor"], seed=record["settings"]["seed"]
    )


def _bottom(
    record: dict[str, Any] | None, solved: Defects, arrays: dict[str, Tensor]
) -> Bottom | None:
    if record is None:
        return None
    whole = None
    if "bottom.values" in arrays:
        whole = dataclasses.replace(
            solved, values=arrays["bottom.values"], directions=arrays["bottom.directions"]
        )
    return Bottom(
        record["asked"], record["moving"], arrays["bottom.residuals"], record["steps"], whole
    )


def _numbers(control: dict[str, Any]) -> dict[str, Any]:
    """Infinity is null in JSON."""
    return {key: math.inf if value is None else value for key, value in control.items()}


def _fresh(record: dict[str, Any] | None, arrays: dict[str, Tensor]) -> ReinitialisedControl | None:
    if record is None:
        return None
    return ReinitialisedControl(
        arrays["fresh.along"], arrays["fresh.own"], tuple(record["learned"]), tuple(record["notes"])
    )
