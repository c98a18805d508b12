"""A comparison as a table for a terminal."""

import math

from liegg._utils.diagnoses import plural
from liegg.results.comparison import SAME_SPAN, Comparison, Measured, PairedDefect, Side
from liegg.results.tables import (
    TABLE_LINES,
    Column,
    decimal,
    fitted,
    interval,
    table_width,
    value_range,
    without_middle,
    wrapped,
)

SIDE_BY_SIDE = 100
"""Columns from which on both models are in one line; below, each has its own."""


def table(comparison: Comparison, *, width: int | None = None) -> str:
    """Readable account of a comparison in under 40 lines, the conclusion first.

    Args:
        comparison: the result of `liegg.compare`.
        width: columns of a line, from 60 to 200; those of the terminal by default.
    """
    width = table_width(width)
    lines = [
        *_opening(comparison),
        f"{comparison.question} under {comparison.action}, two models side by side",
        f"  a: {_side(comparison.a)}",
        f"  b: {_side(comparison.b)}",
        *_angles(comparison),
        *(f"  note: {note}" for note in comparison.notes),
    ]
    lines = wrapped(lines, width)
    return "\n".join([*lines, *_rows(comparison, TABLE_LINES - len(lines), width)])


def _opening(comparison: Comparison) -> tuple[str, ...]:
    """The first lines: what the comparison shows, in plain words."""
    return (comparison.sentence,)


def _side(side: Side) -> str:
    low, high = side.nullity_interval or (side.nullity, side.nullity)
    interval = "" if low == high else f" ({low} to {high})"
    algebra = f", {side.algebra}" if side.nullity else ""
    undecided = f", {side.undecided} undecided" if side.undecided else ""
    count = f"{plural(side.nullity, 'symmetry')}{interval}{algebra}{undecided}"
    return f"{side.model}, {plural(side.samples, 'sample')}: {count}"


def _angles(comparison: Comparison) -> list[str]:
    if not len(comparison.angles):
        return []
    angles = [angle if angle > SAME_SPAN else 0.0 for angle in comparison.angles.tolist()]
    return [
        f"  principal angles between the two spans: {value_range([*map(math.degrees, angles)])}°; "
        f"up to {math.degrees(comparison.explained):.2g}° are explained by the uncertainties: "
        f"{plural(comparison.shared, 'direction')} shared, {comparison.only_a} only in a, "
        f"{comparison.only_b} only in b"
    ]


def _rows(comparison: Comparison, room: int, width: int) -> list[str]:
    """One line per direction, or two in a narrow terminal; the mean of the shared ones last."""
    pairs = list(comparison.directions)
    if not pairs:
        return []
    if comparison.overall is not None and comparison.shared > 1:
        pairs.append(comparison.overall)
    level = f"{100 * comparison.level:g} % interval"
    is_wide = width >= SIDE_BY_SIDE
    columns = _side_by_side(pairs, level) if is_wide else _stacked(pairs, level)
    head, *rows = fitted(columns, width)
    capacity = max(room - 2, 4)
    if not is_wide:  # the two lines of a direction stay together
        capacity = max(capacity // 2, 4)
        rows = ["\n".join(rows[i : i + 2]) for i in range(0, len(rows), 2)]
    return ["", head, *without_middle(rows, capacity, indent=12)]


def _side_by_side(pairs: list[PairedDefect], level: str) -> list[Column]:
    """Both models in one line."""
    return [
        Column("found in", [pair.found_in for pair in pairs]),
        Column("δ² in a", [_defect(pair.a) for pair in pairs], ">"),
        Column(level, [_interval(pair.a) for pair in pairs], "^"),
        Column("δ² in b", [_defect(pair.b) for pair in pairs], ">"),
        Column(level, [_interval(pair.b) for pair in pairs], "^"),
        Column("clearly smaller", [_clear(pair) for pair in pairs]),
        Column("motion", [pair.words for pair in pairs], words=True),
    ]


def _stacked(pairs: list[PairedDefect], level: str) -> list[Column]:
    """A line for each model; below the motion, which is clearly smaller."""
    both = [one for pair in pairs for one in (pair.a, pair.b)]
    clear = [
        text if (text := _clear(pair)) == "–" else f"clearly smaller: {text}" for pair in pairs
    ]
    return [
        Column("found in", [text for pair in pairs for text in (pair.found_in, "")]),
        Column("in", ["a", "b"] * len(pairs)),
        Column("δ²", [_defect(one) for one in both], ">"),
        Column(level, [_interval(one) for one in both], "^"),
        Column(
            "motion",
            [text for pair, last in zip(pairs, clear, strict=True) for text in (pair.words, last)],
            words=True,
        ),
    ]


def _clear(pair: PairedDefect) -> str:
    """In which model the defect is clearly smaller, and by how much; a dash if in neither."""
    if not pair.smaller:
        return "–"
    ratio = pair.ratio
    times = 1.0 if ratio is None else ratio[0] if pair.smaller == "a" else 1 / ratio[0]
    return f"{pair.smaller}, {'exact' if ratio is None else f'{times:.2g} times'}"


def _defect(measured: Measured) -> str:
    return "0" if measured.exact else decimal(measured.value)


def _interval(measured: Measured) -> str:
    return "exact" if measured.exact else interval(measured.low, measured.high)
