"""What the slider of a page moves: samples small enough to be put into it, and the motions to choose from."""

import base64
import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, Affine, Linear, Product, Restricted
from liegg.actions.grid.color import Channels
from liegg.actions.grid.grid import Grid
from liegg.actions.vectors import as_vectors
from liegg.algebra.words.wording import coordinate_names
from liegg.discovery.verification.further_curves import others_of, words_of
from liegg.report.page.generators import strongest_plane
from liegg.report.page.numbers import number
from liegg.results.run_folder import MAX_SAMPLES
from liegg.results.symmetries import Symmetries

LONGEST_SIDE, MOST_VECTORS = 96, 256
MOST_ENTRIES = 40_000
"""Entries of all matrices that are put into the page; motions beyond are left out, and said to be."""

MOST_MOTIONS = 12


def stage_of(action: Action, samples: Tensor | np.ndarray | None) -> dict[str, Any] | None:
    """The samples as the script reads them; None if there are none.

    Args:
        action: the candidate generators, which say whether a sample is a picture or vectors.
        samples: `[k, *x]`.

    Returns:
        `kind` is `"image"`, `"points"`, or `"none"` with a note why nothing can be drawn.

    Raises:
        ArgumentError: no finite numbers, or a shape that the action does not move.
    """
    if samples is None:
        return None
    given = torch.as_tensor(samples)
    if (
        given.ndim < 2
        or not len(given)
        or given.is_complex()
        or not bool(torch.isfinite(given[:MAX_SAMPLES]).all())
    ):
        raise ArgumentError(
            f"samples have shape {tuple(given.shape)} and type {given.dtype}; expected a few inputs of the model, [k, *x], of "
            "finite numbers, for example samples=data[:8]."
        )
    x = given[:MAX_SAMPLES].detach().to("cpu", torch.float64)
    action.check(tuple(x.shape[1:]))
    parts = _parts(action)
    if len(parts) == 1 and isinstance(parts[0], Linear | Affine):
        return _points(parts[0], x)
    grids = [part for part in parts if isinstance(part, Grid) and part.dimension == 2]
    colours = [part for part in parts if isinstance(part, Channels)]
    if len(grids) + len(colours) < len(parts) or max(len(grids), len(colours)) > 1:
        return {
            "kind": "none",
            "note": f"The page does not draw what {action!r} moves; it draws pictures and vectors.",
        }
    return _pictures(x, grids[0] if grids else None, colours[0] if colours else None)


def _points(action: Linear | Affine, x: Float[Tensor, "k ..."]) -> dict[str, Any]:
    vectors = as_vectors(x, action.n, action.copies, action.layout)[:, :MOST_VECTORS]
    note = (
        f"The first {MOST_VECTORS} of {action.copies} vectors of a sample are shown."
        if action.copies > MOST_VECTORS
        else ""
    )
    return {
        "kind": "points",
        "n": action.n,
        "homogeneous": action.homogeneous,
        "names": list(coordinate_names(action.n)),
        "samples": _rounded(vectors),
        "note": note,
    }


def _pictures(
    x: Float[Tensor, "k ..."], grid: Grid | None, colour: Channels | None
) -> dict[str, Any]:
    shape = (
        (grid.shape if grid is not None else None)
        or (colour.shape if colour is not None else None)
        or tuple(x.shape[1:])
    )
    whole = x.reshape(len(x), *shape)
    whole = whole.unsqueeze(1) if whole.ndim == 3 else whole
    channels = whole.shape[1]
    if whole.ndim != 4 or (channels not in (1, 3) and colour is not None):
        return {
            "kind": "none",
            "note": f"The page draws pictures of 1 or 3 channels; a sample has shape {tuple(shape)}.",
        }
    notes = []
    if channels not in (1, 3):
        whole = whole.mean(1, keepdim=True)
        notes.append(f"Shown is the mean of {channels} channels.")
    sides = tuple(whole.shape[2:])
    if max(sides) > LONGEST_SIDE:
        smaller = tuple(max(1, round(side * LONGEST_SIDE / max(sides))) for side in sides)
        whole = interpolate(whole, size=smaller, mode="area")
        notes.append(
            f"Pictures of {sides[0]} by {sides[1]} pixels are shown with {smaller[0]} by {smaller[1]}."
        )
    low, high = float(whole.min()), float(whole.max())
    high = high if high > low else low + 1.0
    levels = ((whole - low) / (high - low) * 255).round().to(torch.uint8)
    return {
        "kind": "image",
        "channels": levels.shape[1],
        "height": levels.shape[2],
        "width": levels.shape[3],
        "low": low,
        "high": high,
        "border": "replicate" if grid is None else grid.border,
        "note": " ".join(notes),
        "samples": [base64.b64encode(one.numpy().tobytes()).decode("ascii") for one in levels],
    }


def motions_of(sym: Symmetries, stage: dict[str, Any] | None) -> dict[str, Any]:
    """Motions to choose from: the generators found with their curves, then readable ones; the nearest candidates if none was found.

    Args:
        sym: the result of `discover`.
        stage: what `stage_of` made.

    Returns:
        `list` of motions, and `note` if there is something to know of them. Without samples there is no motion.
    """
    if stage is None or stage["kind"] == "none":
        return {"list": [], "note": "" if stage is None else stage["note"]}
    if not sym.shown:
        return {
            "list": [],
            "note": f"Matrices of {sym.action.ambient} rows are too large to be put into a page.",
        }
    if sym.nullity:
        chosen = _found(sym)
        note = ""
    else:
        first = sym.decision.undecided
        chosen = [
            one
            | {
                "label": f"candidate {i}: {one['label']}",
                "told": f"δ² = {number(float(sym.defects[first + i - 1]))}",
            }
            for i, one in enumerate(_others(sym, "nearest candidates"), start=1)
        ]
        note = "No symmetry was found. The slider shows the nearest candidates: motions that change the output least, and yet do."
        if sym.decision.undecided:
            note = "Nothing was decided about the first directions, for want of samples. The slider shows what comes after them."
        note = note if chosen else "No candidate moves the data, so there is nothing to show."
    room = max(1, min(MOST_MOTIONS * 2, MOST_ENTRIES // max(1, sym.action.ambient**2)))
    if sym.action.ambient**2 > MOST_ENTRIES:
        return {
            "list": [],
            "note": f"Matrices of {sym.action.ambient} rows are too large to be put into a page.",
        }
    if len(chosen) > room:
        note = f"{note} The first {room} of {len(chosen)} motions can be chosen.".strip()
    return {"list": [_split(one, sym.action, stage) for one in chosen[:room]], "note": note}


def _found(sym: Symmetries) -> list[dict[str, Any]]:
    """The readable generators and those found, with the curves that were measured along them."""
    verified = sym.verification
    curves = verified.curves if verified is not None and len(verified.curves) == sym.nullity else ()
    raw = sym.generators[:MOST_MOTIONS]
    chosen = [
        _motion(
            matrix,
            f"generator {i + 1}: {words_of(sym, matrix)}",
            "as found",
            f"generator-{i}" if curves else None,
            curves[i] if curves else None,
        )
        for i, matrix in enumerate(raw)
    ]
    return [*_others(sym, "readable basis"), *chosen]


def _others(sym: Symmetries, basis: str) -> list[dict[str, Any]]:
    """Further motions, with their curves if they were followed."""
    verified, beside = sym.verification, others_of(sym)
    curves = (
        verified.others if verified is not None and verified.other_words == beside.words else ()
    )
    return [
        _motion(
            matrix, words, basis, f"other-{i}" if curves else None, curves[i] if curves else None
        )
        for i, (matrix, words) in enumerate(zip(beside.matrices, beside.words, strict=True))
    ]


def _motion(
    matrix: Float[Tensor, "n n"], label: str, basis: str, key: str | None, curve: Any
) -> dict[str, Any]:
    """A motion and how far to follow it: as far as its curve, else once around, else a motion of size 1."""
    if curve is not None:
        reach = {"longest": curve.longest, "both": curve.both_ways, "period": curve.period}
    else:
        values = torch.linalg.eigvals(matrix.double())
        fastest = float(values.imag.abs().max())
        time = 2 * math.pi / fastest if fastest > 1e-3 * float(matrix.norm()) else math.inf
        closes = math.isfinite(time) and float(((values * time).exp() - 1).abs().max()) < 0.01
        turns = math.isfinite(time) and float(values.real.abs().max()) < 0.25 * fastest
        longest = (
            time if turns else 1 / max(float(torch.linalg.matrix_norm(matrix.double(), 2)), 1e-300)
        )
        reach = {
            "longest": longest,
            "both": not (turns and closes),
            "period": time if turns and closes else None,
        }
    return {"label": label, "basis": basis, "curve": key, "matrix": matrix, "told": "", **reach}


def _split(motion: dict[str, Any], action: Action, stage: dict[str, Any]) -> dict[str, Any]:
    """The blocks of the matrix that move places and colours, as lists."""
    matrix = motion.pop("matrix")
    if stage["kind"] == "points":
        plane = (
            strongest_plane(matrix, homogeneous=action.homogeneous)[:2]
            if stage["n"] > 1
            else (0, 0)
        )
        return motion | {"place": _rounded(matrix), "colour": None, "plane": list(plane)}
    blocks: dict[str, Any] = {"place": None, "colour": None}
    start = 0
    for part in _parts(action):
        inside = slice(start, start + part.ambient)
        blocks["place" if isinstance(part, Grid) else "colour"] = _rounded(matrix[inside, inside])
        start += part.ambient
    return motion | blocks


def _parts(action: Action) -> list[Action]:
    """The actions that a sample is moved by, without their restrictions."""
    whole = action.parent if isinstance(action, Restricted) else action
    return (
        [each for part in whole.parts for each in _parts(part)]
        if isinstance(whole, Product)
        else [whole]
    )


def _rounded(values: Tensor) -> Any:
    """Nested lists of numbers with six digits: as many as a screen can show, and a few more."""
    if values.ndim:
        return [_rounded(one) for one in values]
    return float(f"{float(values):.6g}")
