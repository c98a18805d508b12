"""Generators as a page shows them: the matrix, what it does in words, and its vector field."""

import base64
import math
import struct
import zlib
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.words.wording import coordinate_names
from liegg.discovery.verification.further_curves import others_of, words_of
from liegg.report.page.numbers import number
from liegg.results.matrices import SHOWN_SIDE
from liegg.results.symmetries import Symmetries

MOST = 12
"""Generators drawn; words are given for all."""

NUMBERS, CELLS = 8, 16
"""Side of a matrix up to which its entries are written, and up to which it is drawn cell by cell; a larger one is a picture."""

ARROWS = 7
"""Arrows to a side of a vector field."""

SHARE = 0.01
"""Rates below this share of the generator's size are not told: they are rounding, or error."""


def bases(sym: Symmetries, record: dict[str, Any]) -> list[dict[str, Any]]:
    """The generators in every basis there is: readable, as found, and in the frame of what they preserve; else nearest candidates.

    Args:
        sym: the result of `discover`.
        record: the same as a dict.

    Returns:
        For each basis its name, what it is, all words, and the first generators with matrix, field and what there is to tell of it.
    """
    if not sym.shown:
        return []
    if not sym.nullity:
        return _candidates(sym, record)
    readable, action = sym.identification.readable, sym.action
    names = names_of(sym)
    words = tuple(words_of(sym, matrix) for matrix in sym.generators)
    found = [
        (
            "readable",
            "readable",
            "the same span with few entries; entries that the error explains are rounded",
            readable.generators,
            readable.words,
            names,
        ),
        (
            "found",
            "as found",
            "orthonormal in the Frobenius inner product, smallest defect first",
            sym.generators,
            words,
            names,
        ),
    ]
    primed = tuple(f"{name}′" if name != "1" else name for name in names)
    if (
        readable.framed is not None
        and tuple(text.replace("′", "") for text in readable.framed_words) != readable.words
    ):
        about = "in coordinates in which the preserved form is standard; a prime marks their axes"
        found.append(
            ("framed", "in its own frame", about, readable.framed, readable.framed_words, primed)
        )
    partner = None if sym.output_action is None else sym.output_generators
    listed = []
    for key, name, about, matrices, told, axes in found:
        drawn = [
            _card(
                matrix,
                text,
                axes,
                homogeneous=action.homogeneous,
                label=f"{'generator' if key == 'found' else 'element'} {i}",
            )
            for i, (matrix, text) in enumerate(zip(matrices[:MOST], told, strict=False), start=1)
        ]
        if key == "found":
            for card, defect, variance in zip(
                drawn, record["generator_defect"], record["generator_variance"], strict=False
            ):
                card["told"] += [f"δ² {number(defect)}", f"variance {number(variance)}"]
        if key == "found" and partner is not None:
            for card, matrix in zip(drawn, partner, strict=False):
                rows = coordinate_names(len(matrix))
                card["output"] = heat_map(matrix, rows, f"{card['label']}, on the output")
        listed.append(
            {"key": key, "name": name, "about": about, "words": list(told), "cards": drawn}
        )
    return listed


def _candidates(sym: Symmetries, record: dict[str, Any]) -> list[dict[str, Any]]:
    """The nearest candidates, where no symmetry was found."""
    nearest, names = others_of(sym), names_of(sym)
    cards = [
        _card(matrix, text, names, homogeneous=sym.action.homogeneous, label=f"candidate {i}")
        for i, (matrix, text) in enumerate(
            zip(nearest.matrices, nearest.words, strict=True), start=1
        )
    ]
    first = sym.decision.undecided
    for card, defect, grade in zip(
        cards, record["defects"][first:], record["grades"][first:], strict=False
    ):
        card["told"] += [f"δ² {number(defect)}", f"grade {grade}"]
    about = "no symmetry was found; these motions change the output least"
    return (
        [
            {
                "key": "found",
                "name": "nearest candidates",
                "about": about,
                "words": list(nearest.words),
                "cards": cards,
            }
        ]
        if cards
        else []
    )


def trivial_matrices(sym: Symmetries, most: int = 6) -> list[dict[str, Any]]:
    """The first directions that do not move the data, as matrices; none where these are too large."""
    if sym.action.ambient > SHOWN_SIDE:
        return []
    matrices = sym.action.matrices(sym.accumulated.solution.trivial[:most])
    return [
        heat_map(matrix, names_of(sym), f"trivial direction {i}")
        for i, matrix in enumerate(matrices, start=1)
    ]


def names_of(sym: Symmetries) -> tuple[str, ...]:
    """Names of the coordinates that the matrices act on; `1` for the last one of affine maps."""
    action = sym.action
    inner = coordinate_names(action.ambient - action.homogeneous, action.axes)
    return (*inner, "1") if action.homogeneous else inner


def _card(
    matrix: Float[Tensor, "n n"],
    words: str,
    names: tuple[str, ...],
    *,
    homogeneous: bool,
    label: str,
) -> dict[str, Any]:
    return {
        "label": label,
        "words": words,
        "matrix": heat_map(matrix, names, label),
        "output": None,
        "field": field(matrix, names, homogeneous=homogeneous),
        "told": [text for text in [rates(matrix)] if text],
    }


def heat_map(matrix: Float[Tensor, "n n"], names: tuple[str, ...], label: str) -> dict[str, Any]:
    """A matrix as coloured cells with numbers, as cells, or as a picture, by its size.

    Args:
        matrix: the entries.
        names: of rows and columns.
        label: what it is, for those who do not see it.
    """
    n, most = len(matrix), float(matrix.abs().max()) if matrix.numel() else 0.0
    share = matrix / most if most > 0 else matrix
    label = f"{label}: matrix of {n} by {n}, entries up to {number(most)}"
    if n > CELLS:
        return {"kind": "picture", "n": n, "label": label, "source": _picture(share)}
    entries = [
        {
            "i": i,
            "j": j,
            "share": round(abs(float(share[i, j])), 3),
            "sign": "pos" if share[i, j] >= 0 else "neg",
            "text": _entry(float(matrix[i, j]), most),
        }
        for i in range(n)
        for j in range(n)
    ]
    cell = (46, 30) if n <= NUMBERS else (18, 18)
    return {
        "kind": "cells",
        "n": n,
        "label": label,
        "entries": entries,
        "names": names,
        "cell": cell,
        "numbers": n <= NUMBERS,
    }


def field(
    matrix: Float[Tensor, "n n"], names: tuple[str, ...], *, homogeneous: bool
) -> dict[str, Any] | None:
    """Arrows of the motion x' = Ax in the coordinate plane where it is strongest; None for a line or for no motion.

    Args:
        matrix: the generator.
        names: of the coordinates.
        homogeneous: the last column is a translation.
    """
    n = len(matrix) - homogeneous
    if n < 2 or not float(matrix.abs().max()) > 0:
        return None
    i, j, share = strongest_plane(matrix, homogeneous=homogeneous)
    steps = torch.linspace(-1.0, 1.0, ARROWS, dtype=torch.float64)
    places = torch.cartesian_prod(steps, steps)
    arrows = places @ matrix[[i, j]][:, [i, j]].to(places).mT
    if homogeneous:
        arrows = arrows + matrix[[i, j], n].to(places)
    longest = float(arrows.norm(dim=1).max())
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
    return {
        "x": names[i],
        "y": names[j],
        "lines": lines,
        "share": None if n == 2 else round(100 * share),
    }


def strongest_plane(matrix: Float[Tensor, "n n"], *, homogeneous: bool) -> tuple[int, int, float]:
    """The two coordinates between which most of a motion happens, and the share of its squared size that does.

    >>> i, j, share = strongest_plane(
    ...     torch.tensor([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]), homogeneous=False
    ... )
    >>> i, j, round(share, 3)
    (0, 2, 0.889)
    """
    n = len(matrix) - homogeneous
    squares = matrix[:n, :n].square()
    inside = squares.diagonal()[:, None] + squares.diagonal()[None] + squares + squares.mT
    if homogeneous:
        shift = matrix[:n, n].square()
        inside = inside + shift[:, None] + shift[None]
    pairs = torch.triu_indices(n, n, 1)
    best = int(inside[pairs[0], pairs[1]].argmax())
    i, j = int(pairs[0][best]), int(pairs[1][best])
    return i, j, float(inside[i, j] / matrix.square().sum())


def rates(matrix: Float[Tensor, "n n"]) -> str:
    """Angular speeds and growth rates, from the eigenvalues; empty if there are none to tell.

    >>> rates(torch.tensor([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    'angular speed 2, growth rate 0.5'
    """
    values = torch.linalg.eigvals(matrix.double())
    least = SHARE * float(matrix.norm())
    turns = sorted(
        {round(float(value), 3) for value in values.imag if float(value) > least}, reverse=True
    )
    grows = sorted(
        {round(float(value), 3) for value in values.real if abs(float(value)) > least}, reverse=True
    )
    told = [("angular speed", turns), ("growth rate", grows)]
    return ", ".join(
        f"{name}{'s' if len(many) > 1 else ''} {', '.join(map(number, many[:4]))}"
        for name, many in told
        if many
    )


def _entry(value: float, most: float) -> str:
    """Two decimals; a plain 0 for what is nothing beside the largest."""
    return "0" if abs(value) < 0.005 * most else f"{value:.2f}".replace("-", "−")


def _picture(share: Float[Tensor, "n n"]) -> str:
    """A PNG of one pixel to an entry, blue for positive and vermilion for negative, the fainter the smaller."""
    colour = torch.where(
        share[..., None] >= 0, torch.tensor([0, 114, 178]), torch.tensor([213, 94, 0])
    )
    opacity = (share.abs() * 255).round()[..., None]
    pixels = torch.cat([colour, opacity], dim=2).to(torch.uint8).numpy()
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", share.shape[1], share.shape[0], 8, 6, 0, 0, 0)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
