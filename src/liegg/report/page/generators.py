"""Generators as a page shows them: the matrix or the coefficients, words, and the vector field."""

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import MatrixAction
from liegg.algebra.words.readable import word_tolerance
from liegg.algebra.words.vector_fields import vector_field
from liegg.algebra.words.wording import coordinate_names
from liegg.discovery.verification.further_curves import others_of
from liegg.report.motions import coordinates_of, output_coordinates_of, plane_of
from liegg.report.numbers import number
from liegg.results.account import PRINTABLE_SIDE, direction_error, is_printable, words_of
from liegg.results.symmetries import Symmetries

MAX_CARDS = 12
"""Generators drawn; words are given for all."""

MAX_TRIVIAL = 6
"""Directions that do not move the data, drawn."""

LISTED_COEFFICIENTS = 8
"""Coefficients listed on a card."""

MAX_NUMBERED_SIDE, MAX_CELL_SIDE = 8, 16
"""Side of a matrix up to which its entries are written, and up to which it is drawn cell by cell."""

MAX_TICK = 7
"""Letters of a name beside a cell."""

CARD_ARROWS = 7
"""Arrows per side of a vector field."""

NEGLIGIBLE_RATE = 0.01
"""Rates below this share of the generator's size are rounding or error, and are left out."""


def bases(sym: Symmetries, record: dict[str, Any]) -> list[dict[str, Any]]:
    """The generators in every basis: readable, as found, in their own frame; or the nearest candidates.

    Args:
        sym: the result of `discover`.
        record: the same as a dict.

    Returns:
        For each basis its key, name, explanation, the words of all generators, and cards of the first.
    """
    action, words = sym.action, sym.account.words
    if isinstance(action, MatrixAction) and not is_printable(sym.nullity, action.ambient):
        return []
    if not sym.nullity:
        return _candidates(sym, record)
    numbers = zip(record["generator_defect"], record["generator_variance"], strict=True)
    notes = [[f"δ² {number(defect)}", f"variance {number(value)}"] for defect, value in numbers]
    cards = _cards(sym, sym.coefficients[:MAX_CARDS], words, "generator", notes=notes)
    tolerance = _tolerance(sym)
    if isinstance(output := sym.output_action, MatrixAction):
        names = output_coordinates_of(output)
        for card, matrix in zip(cards, sym.output_generators, strict=False):
            label = f"{card['label']}, on the output"
            card["output"] = heat_map(matrix, names, label)
            card["output_formula"] = _formula(matrix, names, output, tolerance)
    if not isinstance(action, MatrixAction):
        about = "orthonormal coefficients, smallest defect first"
        return [_basis("found", "as found", about, cards, words=words)]
    readable, names = sym.identification.readable, coordinates_of(action)
    shown = {"action": action, "label": "element", "tolerance": tolerance}
    elements = _matrix_cards(readable.generators, readable.words, names, **shown)
    about = "the same span with few entries; entries that the error explains are rounded"
    found = "orthonormal in the Frobenius inner product, smallest defect first"
    result = [
        _basis("readable", "readable", about, elements, words=readable.words),
        _basis("found", "as found", found, cards, words=words),
    ]
    if readable.framed is not None and readable.frame_changes_words:
        names = tuple(name if name == "1" else f"{name}′" for name in names)
        framed = _matrix_cards(readable.framed, readable.framed_words, names, **shown)
        about = "in coordinates in which the preserved form is standard; a prime marks their axes"
        result.append(
            _basis("framed", "in its own frame", about, framed, words=readable.framed_words)
        )
    return result


def _candidates(sym: Symmetries, record: dict[str, Any]) -> list[dict[str, Any]]:
    """The nearest candidates, where no symmetry was found."""
    nearest, first = others_of(sym), sym.decision.undecided
    values = zip(record["defects"][first:], record["grades"][first:], strict=True)
    notes = [[f"δ² {number(defect)}", f"grade {grade}"] for defect, grade in values]
    cards = _cards(sym, nearest.coefficients, nearest.words, "candidate", notes=notes)
    about = "no symmetry was found; these motions change the output least"
    return (
        [_basis("found", "nearest candidates", about, cards, words=nearest.words)] if cards else []
    )


def _basis(
    key: str, name: str, about: str, cards: list[dict[str, Any]], *, words: Sequence[str]
) -> dict[str, Any]:
    return {"key": key, "name": name, "about": about, "cards": cards, "words": list(words)}


def _cards(
    sym: Symmetries,
    rows: Float[Tensor, "k g"],
    words: Sequence[str],
    label: str,
    *,
    notes: Sequence[list[str]] = (),
) -> list[dict[str, Any]]:
    """Cards of generators with notes: matrices where the action has them, else coefficients."""
    action = sym.action
    if isinstance(action, MatrixAction):
        matrices = action.matrices(rows)
        shown = {"action": action, "label": label, "tolerance": _tolerance(sym)}
        cards = _matrix_cards(matrices, words, coordinates_of(action), **shown)
    else:
        cards = [
            _card(f"{label} {i}", text) | {"terms": _terms(row, action.words)}
            for i, (row, text) in enumerate(zip(rows, words, strict=False), start=1)
        ]
    for card, more in zip(cards, notes, strict=False):
        card["notes"] += more
    return cards


def _matrix_cards(
    matrices: Float[Tensor, "k n n"],
    words: Sequence[str],
    names: tuple[str, ...],
    *,
    action: MatrixAction,
    label: str,
    tolerance: float,
) -> list[dict[str, Any]]:
    return [
        _card(f"{label} {i}", text)
        | {
            "matrix": heat_map(matrix, names, f"{label} {i}"),
            "field": field(matrix, names, homogeneous=action.homogeneous),
            "formula": _formula(matrix, names, action, tolerance),
            "notes": [text for text in [rates(matrix)] if text],
        }
        for i, (matrix, text) in enumerate(zip(matrices[:MAX_CARDS], words, strict=False), start=1)
    ]


def _formula(
    matrix: Float[Tensor, "n n"], names: tuple[str, ...], action: MatrixAction, tolerance: float
) -> str:
    """The vector field of a generator; its names are those of the rows of the matrix."""
    n = len(matrix) - action.homogeneous
    given = None if names[:n] == coordinate_names(n) else names[:n]
    how = {"homogeneous": action.homogeneous, "tolerance": tolerance}
    return vector_field(matrix, coordinates=given, **how)


def _tolerance(sym: Symmetries) -> float:
    """Share of the largest entry of a generator that its error explains."""
    side = sym.action.ambient if isinstance(sym.action, MatrixAction) else 1
    return word_tolerance(side, direction_error(sym.decision))


def _card(label: str, words: str) -> dict[str, Any]:
    empty = {"matrix": None, "output": None, "field": None, "terms": []}
    empty |= {"formula": "", "output_formula": ""}
    return {"label": label, "words": words, "notes": [], **empty}


def _terms(row: Float[Tensor, " g"], words: tuple[str, ...]) -> list[tuple[str, str]]:
    """The largest coefficients with the words of their candidates."""
    order: list[int] = (
        row.abs().argsort(descending=True, stable=True)[:LISTED_COEFFICIENTS].tolist()
    )
    return [(words[i], number(float(row[i]))) for i in order if float(row[i])]


def trivial_directions(sym: Symmetries) -> list[dict[str, Any]]:
    """The first directions that do not move the data, as cards; none where matrices are too large."""
    if isinstance(sym.action, MatrixAction) and sym.action.ambient > PRINTABLE_SIDE:
        return []
    rows = sym.accumulated.solution.trivial[:MAX_TRIVIAL]
    return _cards(sym, rows, words_of(sym.action, rows, 0.0), "trivial direction")


def heat_map(matrix: Float[Tensor, "n n"], names: tuple[str, ...], label: str) -> dict[str, Any]:
    """A matrix as coloured cells with numbers, as cells, or as an image, by its size.

    Args:
        matrix: the entries.
        names: of rows and columns.
        label: what it is, for screen readers.
    """
    n, largest = len(matrix), float(matrix.abs().max())
    share = matrix / largest if largest > 0 else matrix
    label = f"{label}: matrix of {n} by {n}, entries up to {number(largest)}"
    if n > MAX_CELL_SIDE:
        return {"kind": "image", "n": n, "label": label, "source": _png(share)}
    numbered = n <= MAX_NUMBERED_SIDE
    entries = [
        {
            "i": i,
            "j": j,
            "share": round(abs(float(share[i, j])), 3),
            "sign": "pos" if share[i, j] >= 0 else "neg",
            "text": _entry(float(matrix[i, j]), largest),
        }
        for i in range(n)
        for j in range(n)
    ]
    cell = (46, 30) if numbered else (18, 18)
    ticks = _ticks(names)
    return {
        "kind": "cells",
        "n": n,
        "label": label,
        "entries": entries,
        "names": ticks,
        "left": max(24, 8 + 7 * max(map(len, ticks))),
        "cell": cell,
        "numbers": numbered,
    }


def _ticks(names: tuple[str, ...]) -> list[str]:
    """Names that fit beside a cell; long ones are cut, and numbered if that makes two alike."""
    cut = [name if len(name) <= MAX_TICK else f"{name[: MAX_TICK - 1]}…" for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    return [
        text if text == name else f"{i} {name[: MAX_TICK - 3]}…"
        for i, (text, name) in enumerate(zip(cut, names, strict=True), start=1)
    ]


def field(
    matrix: Float[Tensor, "n n"], names: tuple[str, ...], *, homogeneous: bool
) -> dict[str, Any] | None:
    """Arrows of x' = Ax in the coordinate plane where it is largest; None for a line or for no motion.

    Args:
        matrix: the generator.
        names: of the coordinates.
        homogeneous: the last column is a translation.
    """
    n = len(matrix) - homogeneous
    if n < 2 or not float(matrix.abs().max()) > 0:
        return None
    plane = plane_of(matrix, homogeneous=homogeneous)
    places, arrows, longest = plane.arrows(CARD_ARROWS)
    arrows = arrows * (0.3 / longest) if longest > 0 else arrows
    lines = [
        {
            "x1": round(100 + 70 * x - 35 * u, 1),
            "y1": round(100 - 70 * y + 35 * v, 1),
            "x2": round(100 + 70 * x + 35 * u, 1),
            "y2": round(100 - 70 * y - 35 * v, 1),
        }
        for (x, y), (u, v) in zip(places.tolist(), arrows.tolist(), strict=True)
        if math.hypot(u, v) > 0.02
    ]
    x, y = (names[i] for i in plane.axes)
    return {"x": x, "y": y, "lines": lines, "share": None if n == 2 else round(100 * plane.share)}


def rates(matrix: Float[Tensor, "n n"]) -> str:
    """Angular speeds and growth rates, from the eigenvalues; empty if all are negligible.

    >>> rates(torch.tensor([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    'angular speed 2, growth rate 0.5'
    """
    values = torch.linalg.eigvals(matrix.double())
    negligible = NEGLIGIBLE_RATE * float(matrix.norm())
    speeds = {round(value, 3) for value in values.imag.tolist() if value > negligible}
    growth = {round(value, 3) for value in values.real.tolist() if abs(value) > negligible}
    return ", ".join(
        f"{name}{'s' * (len(some) > 1)} {', '.join(map(number, sorted(some, reverse=True)[:4]))}"
        for name, some in (("angular speed", speeds), ("growth rate", growth))
        if some
    )


def _entry(value: float, largest: float) -> str:
    """Two decimals; a plain 0 for what is negligible next to the largest entry."""
    return "0" if abs(value) < 0.005 * largest else f"{value:.2f}".replace("-", "−")


def _png(share: Float[Tensor, "n n"]) -> str:
    """A PNG with one pixel per entry: blue for positive, vermilion for negative, fainter when smaller."""
    blue, vermilion = torch.tensor([0, 114, 178]), torch.tensor([213, 94, 0])
    colour = torch.where(share[..., None] >= 0, blue, vermilion)
    opacity = (share.abs() * 255).round()[..., None]
    pixels = torch.cat([colour, opacity], dim=2).to(torch.uint8).numpy()
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", share.shape[1], share.shape[0], 8, 6, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        png += struct.pack(">I", len(body)) + kind + body + checksum
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
