"""A comparison as a table for a terminal."""

import math

from liegg._utils.diagnoses import plural
from liegg.results import paired_answers_text
from liegg.results.comparison import SAME_SPAN, Comparison, Measured, PairedDefect, Side
from liegg.results.tables import TABLE_LINES, TABLE_WIDTH, value_range, without_middle, wrapped

MAX_WORDS = 32
"""Characters of a motion's description."""


def table(comparison: Comparison) -> str:
    """Readable account of a comparison in under 40 lines.

    Args:
        comparison: the result of `liegg.compare`.
    """
    answers = paired_answers_text.lines(comparison.answers, comparison.names, TABLE_WIDTH)
    first, second = comparison.names
    lines = [
        *([*answers, ""] if answers else []),
        f"{comparison.question} under {comparison.action}, two models side by side",
        f"  {first}: {_side(comparison.a)}",
        f"  {second}: {_side(comparison.b)}",
        "",
        f"  {'; '.join(comparison.remarks)}.",
        *_angles(comparison),
        *(f"  note: {note}" for note in comparison.notes),
    ]
    lines = wrapped(lines, break_long_words=True)
    return "\n".join([*lines, *_rows(comparison, TABLE_LINES - len(lines))])


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
        f"{plural(comparison.shared, 'direction')} shared, {comparison.only_a} only in "
        f"{comparison.names[0]}, {comparison.only_b} only in {comparison.names[1]}"
    ]


def _rows(comparison: Comparison, room: int) -> list[str]:
    """One line per direction, and the mean of the shared ones last."""
    pairs = list(comparison.directions)
    if not pairs:
        return []
    if comparison.overall is not None and comparison.shared > 1:
        pairs.append(comparison.overall)
    level = f"{100 * comparison.level:g} % interval"
    heading = (
        f"  {'found in':<8}  {'δ² in a':>9}  {level:^19}  {'δ² in b':>9}  {level:^19}  "
        f"{'clearly smaller':<16}  motion"
    )
    rows = [_row(pair) for pair in pairs]
    return ["", heading, *without_middle(rows, max(room - 2, 4), indent=12)]


def _row(pair: PairedDefect) -> str:
    words = pair.words if len(pair.words) <= MAX_WORDS else f"{pair.words[: MAX_WORDS - 1]}…"
    clear = "–"
    if pair.smaller:
        ratio = pair.ratio
        times = 1.0 if ratio is None else ratio[0] if pair.smaller == "a" else 1 / ratio[0]
        clear = f"{pair.smaller}, {'exact' if ratio is None else f'{times:.2g} times'}"
    cells = f"{_cells(pair.a)}  {_cells(pair.b)}  {clear:<16}"
    return f"  {pair.found_in:<8}  {cells}  {words}".rstrip()


def _cells(measured: Measured) -> str:
    if math.isnan(measured.value):
        return f"{'–':>9}  {'':^19}"
    ends = "" if math.isnan(measured.low) else f"{measured.low:.2e} – {measured.high:.2e}"
    return f"{measured.value:>9.2e}  {'exact' if measured.exact else ends:^19}"
