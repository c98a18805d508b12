"""Comparisons of two results, and of two networks layer by layer, as self-contained HTML pages."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import plural
from liegg.report.numbers import angle, number, power_of_ten, with_interval
from liegg.report.page.charts import Panel, Series, over_layers
from liegg.report.page.glossary import words_of_motions
from liegg.report.page.layers import (
    CANDIDATE_WORDS,
    DEFECT_DECADES,
    DEFECT_WORDS,
    INTERVAL_WORDS,
    LAYER_GLOSSARY,
    count_words,
    layer_panels,
)
from liegg.report.page.render import rendered, write_html
from liegg.results.comparison import Comparison, Measured, PairedDefect, Side
from liegg.results.comparison_text import compared_cell, largest_head, largest_pair
from liegg.results.layer_account import in_sentences
from liegg.results.layer_comparison import LayerComparison, LayerPair
from liegg.results.layers import LayerSymmetries, smallest_defect
from liegg.results.paired_answer import PairedAnswer

STRIP_WIDTH, STRIP_MARGIN = 260.0, 16.0
"""Size of the drawn intervals, in pixels."""

STRIP_DECADES = 8
"""Of their axis; smaller values are drawn at its left edge."""

UNNAMED = ("a", "b")
"""What `liegg.compare` calls two models whose names are not given."""

MODEL_GLOSSARY = (
    (
        "symmetry",
        "a small motion of the input that does not change the model's output (invariance), or that the output follows "
        "(equivariance). so(3) is the name of all rotations in three dimensions; other names are of that kind.",
    ),
    DEFECT_WORDS,
    CANDIDATE_WORDS,
    INTERVAL_WORDS,
    (
        "predictions, classes",
        "a classifier has one output per class, and predicts the class with the largest one. A prediction changes if another "
        "class is predicted after the motion than before.",
    ),
    (
        "spread",
        "standard deviation: of the outputs over the samples, or of the samples about their mean.",
    ),
)


@checked()
def write_comparison(comparison: Comparison, path: str | Path, *, title: str | None = None) -> Path:
    """Write a comparison as one HTML page: the answer, then every motion with its intervals drawn.

    Args:
        comparison: the result of `liegg.compare`.
        path: the file; folders are made if needed.
        title: heading of the page; by default it names the models.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return write_html(comparison_html(comparison, title=title), Path(path))


@checked()
def write_layer_comparison(
    comparison: LayerComparison, path: str | Path, *, title: str | None = None
) -> Path:
    """Write a comparison of layers as one HTML page: the answer, charts over the layers, the table.

    Args:
        comparison: the result of `liegg.compare` for two results of `discover_layers`.
        path: the file; folders are made if needed.
        title: heading of the page; by default it names the networks.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return write_html(layer_comparison_html(comparison, title=title), Path(path))


def comparison_html(comparison: Comparison, *, title: str | None = None) -> str:
    """The page of `write_comparison` as text."""
    pairs = list(comparison.directions)
    if comparison.overall is not None and comparison.shared > 1:
        pairs.append(comparison.overall)
    axis = _strip_axis(pairs)
    angles = [angle(value) for value in comparison.angles.tolist()]
    values = {
        "title": _title((comparison.a.model, comparison.b.model), comparison.names)
        if title is None
        else title,
        "sentences": [
            *(answer.sentence for answer in comparison.answers[:1]),
            f"{'; '.join(comparison.remarks)}.",
        ],
        "positive": comparison.shared > 0 or any(one.smaller for one in comparison.answers[:1]),
        "names": comparison.names,
        "answers": [_answer(comparison, one) for one in comparison.answers],
        "largest": largest_head(comparison.answers)
        if any(map(largest_pair, comparison.answers))
        else "",
        "facts": [
            (comparison.names[0], _side(comparison.a)),
            (comparison.names[1], _side(comparison.b)),
            ("question", comparison.question),
            ("candidates", comparison.action),
        ],
        "level": f"bars are {100 * comparison.level:g} % intervals",
        "axis": axis,
        "rows": [_row(comparison, pair, axis) for pair in pairs],
        "angles": f"Angles between the symmetries of {' and of '.join(comparison.names)}: {', '.join(angles[:12])}. Up to "
        f"{angle(comparison.explained)} the data of both leaves open."
        if angles
        else "",
        "glossary": MODEL_GLOSSARY + words_of_motions(" ".join(pair.words for pair in pairs)),
        "notes": list(comparison.notes),
    }
    return rendered("comparison.html.jinja", values)


def layer_comparison_html(comparison: LayerComparison, *, title: str | None = None) -> str:
    """The page of `write_layer_comparison` as text."""
    a, b = comparison.a, comparison.b
    values = {
        "title": _title((a.model, b.model), comparison.names, "Layers of ")
        if title is None
        else title,
        "sentences": in_sentences(comparison.remarks),
        "positive": any(pair.shared for pair in comparison.pairs),
        "facts": [
            (comparison.names[0], _network(a)),
            (comparison.names[1], _network(b)),
            ("candidates", repr(a.action)),
        ],
        "decades": DEFECT_DECADES,
        "about": f"{' and '.join(comparison.names)} are drawn against the layers that both have; bars "
        "are intervals.",
        "bold": "Names in bold: one network has a symmetry there that the other does not have.",
        "chart": over_layers([pair.name for pair in comparison.pairs], _panels(comparison)),
        "heads": _heads(comparison),
        "rows": [
            {"cells": _cells(comparison, pair), "marked": pair.differs} for pair in comparison.pairs
        ],
        "glossary": LAYER_GLOSSARY,
        "notes": list(comparison.notes),
    }
    return rendered("layers.html.jinja", values)


def _title(models: tuple[str, str], names: tuple[str, str], prefix: str = "") -> str:
    """The models, or where they are called alike what the caller named them."""
    a, b = names if models[0] == models[1] else models
    return f"{prefix}{models[0]}, two results" if (a, b) == UNNAMED else f"{prefix}{a} and {b}"


def _side(side: Side) -> str:
    algebra = f", {side.algebra}" if side.nullity and side.algebra != "unknown" else ""
    undecided = f", {side.undecided} undecided" if side.undecided else ""
    count = f"{plural(side.nullity, 'symmetry')}{algebra}{undecided}"
    return f"{side.model}: {count} ({plural(side.samples, 'sample')})"


def _network(result: LayerSymmetries) -> str:
    return f"{result.model}: {plural(len(result), 'layer')} ({plural(result.samples, 'sample')})"


def _strip_axis(pairs: Sequence[PairedDefect]) -> dict[str, Any]:
    """A logarithmic axis for all intervals of a table."""
    ends = [
        end
        for pair in pairs
        for one in (pair.a, pair.b)
        if not one.exact
        for end in (one.value, one.low, one.high)
        if end > 0 and math.isfinite(end)
    ] or [1.0]
    last = math.ceil(math.log10(max(ends)) - 1e-9)
    first = max(math.floor(math.log10(min(ends)) + 1e-9), last - STRIP_DECADES)
    first -= any(one.exact for pair in pairs for one in (pair.a, pair.b))
    last = max(last, first + 1)
    room = STRIP_WIDTH - 2 * STRIP_MARGIN

    def place(value: float) -> float:
        power = math.log10(max(value, 10.0**first))
        return round(STRIP_MARGIN + room * min(max((power - first) / (last - first), 0.0), 1.0), 1)

    step = max(1, math.ceil((last - first) / 4))
    ticks = [(place(10.0**k), power_of_ten(k)) for k in range(last, first - 1, -step)]
    return {
        "place": place,
        "width": STRIP_WIDTH,
        "ticks": ticks,
        "first": ticks[-1][1],
        "last": ticks[0][1],
    }


def _answer(comparison: Comparison, pair: PairedAnswer) -> dict[str, str]:
    """A named motion in both models."""
    ratio = pair.ratio
    return {
        "motion": pair.name,
        "size": pair.size_in_words(),
        "a": compared_cell(pair, pair.a),
        "b": compared_cell(pair, pair.b),
        "clearly": pair.smaller_in_words,
        "ratio": with_interval(ratio.value, ratio.low, ratio.high),
        "largest": largest_pair(pair),
    }


def _row(comparison: Comparison, pair: PairedDefect, axis: dict[str, Any]) -> dict[str, Any]:
    marks = [_mark(one, axis["place"]) for one in (pair.a, pair.b)]
    values = [_value(one) for one in (pair.a, pair.b)]
    ratio, clear = pair.ratio, ""
    if pair.smaller:
        times = None if ratio is None else ratio[0] if pair.smaller == "a" else 1 / ratio[0]
        clear = comparison.named(pair.smaller) + (
            ", exactly" if times is None else f", {number(times, 2)} times"
        )
    return {
        "words": pair.words,
        "marks": marks,
        "a": values[0],
        "b": values[1],
        "found_in": comparison.named(pair.found_in),
        "clearly": clear or "neither",
        "label": f"δ² of {pair.words}: {values[0]} in {comparison.names[0]}, {values[1]} in "
        f"{comparison.names[1]}",
    }


def _mark(measured: Measured, place: Any) -> dict[str, Any]:
    if math.isnan(measured.value):
        return {"x": None, "whisker": None}
    known = not measured.exact and not math.isnan(measured.low)
    return {
        "x": place(0.0 if measured.exact else measured.value),
        "whisker": (place(measured.low), place(measured.high)) if known else None,
    }


def _value(measured: Measured) -> str:
    if measured.exact:
        return "0 (exact)"
    return with_interval(measured.value, measured.low, measured.high)


def _panels(comparison: LayerComparison) -> list[Panel]:
    """Number of symmetries, smallest defects, and one chart for every named motion."""
    called = list(zip("ab", comparison.names, strict=True))
    sides = [
        (name, [getattr(pair, side).invariance for pair in comparison.pairs])
        for side, name in called
    ]
    named = {
        f"defect δ² of {name}": [
            Series(title, [one.value for one in of], [[one.low, one.high] for one in of])
            for side, title in called
            for of in [[getattr(pair.directions[i], side) for pair in comparison.pairs]]
        ]
        for i, name in enumerate(comparison.motions)
    }
    counts = [Series(name, [float(sym.nullity) for sym in syms]) for name, syms in sides]
    smallest = [Series(name, [smallest_defect(sym) for sym in syms]) for name, syms in sides]
    return layer_panels(named, counts, smallest, comparison.pairs[0].a.invariance)


def _heads(comparison: LayerComparison) -> list[str]:
    a, b = comparison.names
    heads = ["layer", "kind", f"symmetries in {a}", f"symmetries in {b}", "shared"]
    heads += [f"smallest δ² in {a}", f"smallest δ² in {b}"]
    for name in comparison.motions:
        heads += [f"δ² of {name} in {a}", f"δ² of {name} in {b}", "clearly smaller in"]
    return heads


def _cells(comparison: LayerComparison, pair: LayerPair) -> list[str]:
    cells = [
        pair.name,
        pair.kind,
        count_words(pair.a.invariance),
        count_words(pair.b.invariance),
        "undecided" if pair.undecided else str(pair.shared),
        *(number(smallest_defect(layer.invariance)) for layer in (pair.a, pair.b)),
    ]
    for one in pair.directions:
        cells += [_value(one.a), _value(one.b), comparison.named(one.smaller) or "neither"]
    return cells
