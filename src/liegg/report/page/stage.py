"""What the slider of a page moves: samples small enough for the page, and the motions to choose from."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from liegg.actions import Action, MatrixAction
from liegg.algebra.words.wording import coordinate_names
from liegg.discovery.verification.further_curves import others_of
from liegg.report.motions import (
    MAX_VECTORS,
    as_images,
    blocks_of,
    checked_samples,
    data_range,
    extent_of,
    plane_of,
    symmetry_curves,
)
from liegg.report.numbers import number
from liegg.results.account import is_printable
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve

MAX_IMAGE_SIDE = 96
"""Pixels per side of an image in the page."""

MAX_LENGTH, MAX_CHANNELS = 256, 6
"""Points and channels of a signal along a line in the page."""

MAX_VOLUME_SIDE, MAX_VOLUMES = 24, 4
"""Voxels per side of a volume in the page, and volumes."""

MAX_ENTRIES = 40_000
"""Entries of all matrices in the page; further motions are left out, and a note says so."""

MAX_GENERATORS, MAX_MOTIONS = 12, 24
"""Symmetries, and motions in all, that can be chosen."""


def stage_of(action: Action, samples: Tensor | np.ndarray | None) -> dict[str, Any] | None:
    """The samples as the script reads them; None if there are none.

    Args:
        action: the candidate generators, which say whether a sample is an image or vectors.
        samples: `[k, *x]`.

    Returns:
        `kind` is `"image"`, `"signal"`, `"volume"`, `"points"`, or `"none"` with a note that says why nothing is drawn.

    Raises:
        ArgumentError: the samples are not finite numbers.
        ShapeError: the action does not move samples of this shape.
    """
    if samples is None:
        return None
    x = checked_samples(action, samples)
    stages = [part.stage for part in action.parts]
    note = f"The page draws images, signals, volumes and vectors, not what {action!r} moves."
    if not isinstance(action, MatrixAction):
        note = (
            f"The slider moves samples by matrices, and {action!r} has none; "
            "liegg.plot.motion(sym, samples) draws them."
        )
    elif stages == ["points"]:
        return _points(action, action.staged(x))
    elif len(set(stages)) == len(stages) and set(stages) <= {"grid", "colour"}:
        signals = action.staged(x)
        channels = signals.shape[1]
        if signals.ndim == 4 and (channels in (1, 3) or "colour" not in stages):
            return _images(action, signals)
        if stages == ["grid"] and signals.ndim in (3, 5):
            return _lines(action, signals) if signals.ndim == 3 else _volumes(action, signals)
        if "colour" in stages:
            note = f"The page draws images with 1 or 3 channels; these have {channels}."
    return {"kind": "none", "note": note}


def _points(action: MatrixAction, vectors: Float[Tensor, "k copies n"]) -> dict[str, Any]:
    copies, n = vectors.shape[1:]
    drawn = f"The first {MAX_VECTORS} of {copies} vectors of a sample are drawn."
    return {
        "kind": "points",
        "n": n,
        "homogeneous": action.homogeneous,
        "names": list(coordinate_names(n, action.axes)),
        "samples": _rounded(vectors[:, :MAX_VECTORS]),
        "note": drawn if copies > MAX_VECTORS else "",
    }


def _images(action: MatrixAction, signals: Float[Tensor, "k c h w"]) -> dict[str, Any]:
    images, note = as_images(signals)
    images, smaller = _smaller(images, MAX_IMAGE_SIDE)
    notes = [f"The {note} is drawn."] * bool(note)
    notes += [f"Images of {smaller[0]} pixels are drawn with {smaller[1]}."] if smaller else []
    low, high = data_range(images)
    return {
        "kind": "image",
        "channels": images.shape[1],
        "height": images.shape[2],
        "width": images.shape[3],
        "low": low,
        "high": high,
        "border": _border(action),
        "note": " ".join(notes),
        "samples": _levels(images, low, high),
    }


def _smaller(
    signals: Float[Tensor, "k c ..."], side: int
) -> tuple[Float[Tensor, "k c ..."], tuple[str, ...]]:
    """Signals on a grid averaged down to at most this side, and both sizes in words; none if they are small enough."""
    sides = tuple(signals.shape[2:])
    if max(sides) <= side:
        return signals, ()
    smaller = tuple(max(1, round(one * side / max(sides))) for one in sides)
    words = tuple(" by ".join(map(str, each)) for each in (sides, smaller))
    return interpolate(signals, size=smaller, mode="area"), words


def _levels(values: Float[Tensor, "k ..."], low: float, high: float) -> list[str]:
    """Each sample with 256 levels between two values, as text."""
    levels = ((values - low) / (high - low) * 255).round().to(torch.uint8)
    return [base64.b64encode(one.numpy().tobytes()).decode("ascii") for one in levels]


def _lines(action: MatrixAction, signals: Float[Tensor, "k c l"]) -> dict[str, Any]:
    """Signals along a line, one list of values per channel."""
    channels, notes = signals.shape[1], ["The faint line is the sample as it is."]
    signals, smaller = _smaller(signals[:, :MAX_CHANNELS], MAX_LENGTH)
    if channels > MAX_CHANNELS:
        notes.append(f"The first {MAX_CHANNELS} of {channels} channels are drawn.")
    if smaller:
        notes.append(f"Signals of {smaller[0]} points are drawn with {smaller[1]}.")
    low, high = data_range(signals)
    return {
        "kind": "signal",
        "length": signals.shape[2],
        "low": low,
        "high": high,
        "border": _border(action),
        "note": " ".join(notes),
        "samples": _rounded(signals),
    }


def _volumes(action: MatrixAction, signals: Float[Tensor, "k c d h w"]) -> dict[str, Any]:
    """Volumes with 256 levels, of which the page draws the three slices through the centre."""
    channels = signals.shape[1]
    volumes, smaller = _smaller(signals[:MAX_VOLUMES].mean(1, keepdim=True), MAX_VOLUME_SIDE)
    notes = [
        "Each row is a sample: its slices through the centre, across z, across y and across x."
    ]
    if channels > 1:
        notes.append(f"The mean of {channels} channels is drawn.")
    if smaller:
        notes.append(f"Volumes of {smaller[0]} are drawn with {smaller[1]}.")
    if len(signals) > MAX_VOLUMES:
        notes.append(f"The first {MAX_VOLUMES} of {len(signals)} samples are drawn.")
    return {
        "kind": "volume",
        "sides": list(volumes.shape[2:]),
        "border": _border(action),
        "note": " ".join(notes),
        "samples": _levels(volumes, *data_range(volumes)),
    }


def _border(action: MatrixAction) -> str:
    """What lies beyond the border of a grid."""
    borders = [part.settings()["border"] for part in action.parts if part.stage == "grid"]
    return borders[0] if borders else "replicate"


def motions_of(
    sym: Symmetries, stage: dict[str, Any] | None, named: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Motions to choose from: named ones, then readable generators and those found, or the nearest candidates.

    Args:
        sym: the result of `discover`.
        stage: what `stage_of` returned.
        named: what `liegg.report.page.named_motions.named_motions` returned.

    Returns:
        `list` of motions, empty without samples, and `note` with what to know about them.
    """
    if stage is None or stage["kind"] == "none" or not isinstance(sym.action, MatrixAction):
        return {"list": [], "note": "" if stage is None else stage["note"]}
    side = sym.action.ambient
    if not is_printable(sym.nullity, side) or side**2 > MAX_ENTRIES:
        return {"list": [], "note": f"Matrices with {side} rows are too large for the page."}
    if sym.nullity:
        labels = [f"generator {i}: {words}" for i, words in enumerate(sym.account.words, start=1)]
        curves = symmetry_curves(sym) or (None,) * sym.nullity
        found = _motions(
            sym.generators[:MAX_GENERATORS], labels, "as found", "generator", curves=curves
        )
        motions, note = [*_others(sym, sym.action, "readable basis"), *found], ""
    else:
        motions, note = _candidates(sym, sym.action)
    if named and not sym.nullity:
        note = ""  # the first motion is not a candidate
    motions = [*named, *motions]
    count = max(1, min(MAX_MOTIONS, MAX_ENTRIES // max(1, side**2)))
    if len(motions) > count:
        note = f"{note} The first {count} of {len(motions)} motions can be chosen.".strip()
    drawn = [_split(one, one.pop("action", sym.action), stage) for one in motions[:count]]
    return {"list": drawn, "note": note}


def _candidates(sym: Symmetries, action: MatrixAction) -> tuple[list[dict[str, Any]], str]:
    """The nearest candidates with their defects, and what to know about them."""
    first = sym.decision.undecided
    motions = _others(sym, action, "nearest candidates")
    for i, motion in enumerate(motions):
        motion["label"] = f"candidate {i + 1}: {motion['label']}"
        motion["defect"] = f"δ² = {number(float(sym.defects[first + i]))}"
    if not motions:
        return [], "No candidate moves the data, so there is nothing to show."
    if first:
        return motions, (
            "The first directions are undecided: there are too few samples. The slider shows the "
            "directions after them."
        )
    return motions, (
        "No symmetry was found. The slider shows the nearest candidates: the motions that change the "
        "output least."
    )


def _others(sym: Symmetries, action: MatrixAction, basis: str) -> list[dict[str, Any]]:
    """Readable generators or candidates, with their curves if they were measured."""
    verification, others = sym.verification, others_of(sym)
    curves = (None,) * len(others.words)
    if verification is not None and verification.other_words == others.words:
        curves = verification.others
    return _motions(
        action.matrices(others.coefficients), others.words, basis, "other", curves=curves
    )


def _motions(
    matrices: Float[Tensor, "k n n"],
    labels: Sequence[str],
    basis: str,
    kind: str,
    *,
    curves: Sequence[Curve | None],
) -> list[dict[str, Any]]:
    """Motions as the script reads them, with the key of each curve that was measured."""
    extents = [extent_of(*pair) for pair in zip(matrices, curves, strict=False)]
    return [
        {
            "label": label,
            "basis": basis,
            "curve": None if curve is None else f"{kind}-{i}",
            "matrix": matrix,
            "defect": "",
            "longest": extent.longest,
            "both": extent.both_ways,
            "period": extent.period,
        }
        for i, (matrix, label, curve, extent) in enumerate(
            zip(matrices, labels, curves, extents, strict=False)
        )
    ]


def _split(motion: dict[str, Any], action: MatrixAction, stage: dict[str, Any]) -> dict[str, Any]:
    """Replace the matrix by its blocks, as lists: those that move places and colours."""
    matrix = motion.pop("matrix")
    if stage["kind"] == "points":
        plane = plane_of(matrix, homogeneous=action.homogeneous).axes if stage["n"] > 1 else (0, 0)
        return motion | {"place": _rounded(matrix), "colour": None, "plane": list(plane)}
    blocks: dict[str, Any] = {"place": None, "colour": None}
    for part, _, block in blocks_of(action, matrix):
        blocks["place" if part.stage == "grid" else "colour"] = _rounded(block)
    return motion | blocks


def _rounded(values: Tensor) -> Any:
    """Nested lists of numbers with six digits, more than a screen can show."""
    if values.ndim:
        return [_rounded(one) for one in values]
    return float(f"{float(values):.6g}")
