"""A comparison as a table for a terminal."""

import math
from collections.abc import Sequence

from liegg._utils.diagnoses import plural
from liegg._utils.text import percentage
from liegg.results.answer import Answer
from liegg.results.answers import changed_cell
from liegg.results.comparison import SAME_SPAN, Comparison, Measured, PairedDefect, Side
from liegg.results.paired_answer import PairedAnswer, largest_share
from liegg.results.tables import (
    TABLE_LINES,
    Column,
    decimal,
    fitted,
    interval,
    leading,
    table_width,
    value_range,
    with_interval,
    without_middle,
    wrapped,
)

SIDE_BY_SIDE = 100
"""Columns from which on both models are in one line; below, each has its own."""


WITH_INTERVALS = 80
"""Columns from which on changed predictions have their intervals."""


def table(comparison: Comparison, *, width: int | None = None) -> str:
    """Readable account of a comparison in under 40 lines, the conclusion first.

    Args:
        comparison: the result of `liegg.compare`.
        width: columns of a line, from 60 to 200; those of the terminal by default.
    """
    width = table_width(width)
    first, second = comparison.names
    lines = [
        *_opening(comparison, width),
        f"{comparison.question} under {comparison.action}, {_kinds(comparison)} side by side",
        f"  {first}: {_side(comparison.a)}",
        f"  {second}: {_side(comparison.b)}",
        *_angles(comparison),
        *(f"  note: {note}" for note in comparison.notes),
    ]
    lines = wrapped(lines, width)
    return "\n".join([*lines, *_rows(comparison, TABLE_LINES - len(lines), width)])


def _opening(comparison: Comparison, width: int) -> tuple[str, ...]:
    """The first lines: the named motions, and what the comparison shows, in plain words."""
    found = f"{'; '.join(comparison.remarks)}."
    if not comparison.answers:
        return (found,)
    motions = leading(_motions(comparison, intervals=width >= WITH_INTERVALS), width)
    return (*wrapped([comparison.answers[0].sentence], width), "", *motions, "", found)


def _motions(comparison: Comparison, *, intervals: bool) -> list[Column]:
    """The named motions in both models; without intervals of what they change, the clearly smaller one is shown in narrow tables too."""
    (first, second), answers = comparison.names, comparison.answers
    ratios = [one.ratio for one in answers]
    return [
        Column("motion", [one.name for one in answers], words=True),
        Column(first, [compared_cell(one, one.a, intervals=intervals) for one in answers]),
        Column(second, [compared_cell(one, one.b, intervals=intervals) for one in answers]),
        Column(largest_head(answers), [largest_pair(one) for one in answers], spare=1),
        Column("clearly less", [one.smaller_in_words for one in answers]),
        Column(
            f"δ² in {second} over {first}",
            [with_interval(one.value, one.low, one.high) for one in ratios],
            spare=2,
        ),
    ]


def largest_head(answers: Sequence[PairedAnswer]) -> str:
    """What `largest_pair` is called."""
    part = any(one.a.part for one in answers)
    return "predictions changed" if part else "predictions, if classes"


def largest_pair(answer: PairedAnswer) -> str:
    """Samples whose largest output changes in either model; empty where that is not said beside the answer."""
    shares = [largest_share(answer.a), largest_share(answer.b)]
    known = [percentage(share) for share in shares if share is not None]
    return ", ".join(known) if len(known) == len(shares) else ""


def compared_cell(pair: PairedAnswer, answer: Answer, *, intervals: bool = True) -> str:
    """What a motion changes in one of two models; its defect if it was not moved by the same size in both."""
    if pair.measure in ("predictions", "output") or math.isnan(answer.defect):
        return changed_cell(answer) if intervals else answer.changed
    defect = "0" if answer.grade == "exact" else with_interval(answer.defect, math.nan, math.nan)
    return f"δ² {defect}"


def _side(side: Side) -> str:
    low, high = side.nullity_interval or (side.nullity, side.nullity)
    interval = "" if low == high else f" ({low} to {high})"
    algebra = f", {side.algebra}" if side.nullity else ""
    undecided = f", {side.undecided} undecided" if side.undecided else ""
    count = f"{plural(side.nullity, 'symmetry')}{interval}{algebra}{undecided}"
    return f"{side.model}, {plural(side.samples, 'sample')}: {count}"


def _kinds(comparison: Comparison) -> str:
    """What is compared."""
    of_data = comparison.a.of_data + comparison.b.of_data
    return ("two models", "a data set and a model", "two data sets")[of_data]


def _angles(comparison: Comparison) -> list[str]:
    if not len(comparison.angles):
        return []
    angles = [angle if angle > SAME_SPAN else 0.0 for angle in comparison.angles.tolist()]
    return [
        f"  principal angles between the two spans: {value_range([*map(math.degrees, angles)])}°; "
        f"up to {math.degrees(comparison.explained):.2g}° are explained by the uncertainties: "
        f"{plural(comparison.shared, 'direction')} shared, {comparison.only_a} only in "
        f"{comparison.names[0]}, {comparison.only_b} only in {comparison.names[1]}"
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
    columns = (_side_by_side if is_wide else _stacked)(comparison, pairs, level)
    head, *rows = fitted(columns, width)
    capacity = max(room - 2, 4)
    if not is_wide:  # the two lines of a direction stay together
        capacity = max(capacity // 2, 4)
        rows = ["\n".join(rows[i : i + 2]) for i in range(0, len(rows), 2)]
    return ["", head, *without_middle(rows, capacity, indent=12)]


def _side_by_side(comparison: Comparison, pairs: list[PairedDefect], level: str) -> list[Column]:
    """Both models in one line."""
    first, second = comparison.names
    return [
        Column("found in", _found_in(comparison, pairs)),
        Column(f"δ² in {first}", [_defect(pair.a) for pair in pairs], ">"),
        Column(level, [_interval(pair.a) for pair in pairs], "^"),
        Column(f"δ² in {second}", [_defect(pair.b) for pair in pairs], ">"),
        Column(level, [_interval(pair.b) for pair in pairs], "^"),
        Column("clearly smaller", [_clear(comparison, pair) for pair in pairs]),
        Column("motion", [pair.words for pair in pairs], words=True),
    ]


def _stacked(comparison: Comparison, pairs: list[PairedDefect], level: str) -> list[Column]:
    """A line for each model; below the motion, which is clearly smaller."""
    both = [one for pair in pairs for one in (pair.a, pair.b)]
    clear = [_clear(comparison, pair) for pair in pairs]
    return [
        Column("found in", [text for name in _found_in(comparison, pairs) for text in (name, "")]),
        Column("in", [*comparison.names] * len(pairs)),
        Column("δ²", [_defect(one) for one in both], ">"),
        Column(level, [_interval(one) for one in both], "^"),
        Column(
            "motion, smaller",
            [text for pair, last in zip(pairs, clear, strict=True) for text in (pair.words, last)],
            words=True,
        ),
    ]


def _found_in(comparison: Comparison, pairs: list[PairedDefect]) -> list[str]:
    """Which model has each direction; empty if neither has one."""
    names = [comparison.named(pair.found_in) for pair in pairs]
    return names if any(pair.found_in != "neither" for pair in pairs) else [""] * len(pairs)


def _clear(comparison: Comparison, pair: PairedDefect) -> str:
    """In which model the defect is clearly smaller, and by how much; a dash if in neither."""
    if not pair.smaller:
        return "–"
    name, ratio = comparison.named(pair.smaller), pair.ratio
    if ratio is None:  # one is exact, or its interval begins at 0
        smaller = pair.a if pair.smaller == "a" else pair.b
        return f"{name}, exact" if smaller.exact else name
    times = ratio[0] if pair.smaller == "a" else 1 / ratio[0]
    return f"{name}, {times:.2g} times"


def _defect(measured: Measured) -> str:
    return "0" if measured.exact else decimal(measured.value)


def _interval(measured: Measured) -> str:
    return "exact" if measured.exact else interval(measured.low, measured.high)
