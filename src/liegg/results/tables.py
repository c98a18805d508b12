"""Building blocks of printed tables: size, numbers, wrapped sentences, fitted columns, HTML for notebooks."""

import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

TABLE_WIDTH = 120
"""Columns of a table that is not printed to a terminal."""

NARROWEST_TABLE, WIDEST_TABLE = 60, 200
"""Columns between which a table fits the terminal."""

TABLE_LINES = 38
"""Lines of a table; rows in the middle are left out, and the table says so."""

NARROW_INTERVAL = 1.05
"""Ratio of the ends of an interval below which they need three digits."""

SHORTEST_WORDS = 6
"""Columns below which words are left out instead of cut."""


def table_width(width: int | None = None) -> int:
    """Columns of a table, from 60 to 200.

    Args:
        width: the columns that were asked for; by default those of the terminal, or of the environment variable COLUMNS, and
            `TABLE_WIDTH` if there is neither.
    """
    if width is not None:
        return min(max(width, NARROWEST_TABLE), WIDEST_TABLE)
    try:
        is_terminal = "COLUMNS" in os.environ or sys.stdout.isatty()
    except (AttributeError, ValueError):  # no standard output, or a closed one
        is_terminal = False
    if not is_terminal:
        return TABLE_WIDTH
    columns = shutil.get_terminal_size((TABLE_WIDTH, TABLE_LINES)).columns
    return table_width(columns)


def decimal(value: float, digits: int = 3, *, floor: float = 0.0) -> str:
    """A number with few digits: 0 at or below the numerical floor, a dash if there is none.

    >>> decimal(0.01234), decimal(1.234e-7, 2), decimal(3e-31, floor=5e-28), decimal(math.nan)
    ('0.0123', '1.2e-07', '0', '–')
    """
    if math.isnan(value):
        return "–"
    return "0" if value <= floor else f"{value:.{digits}g}"


def interval(low: float, high: float) -> str:
    """An interval with two digits, or three if its ends are alike; empty if there is none.

    >>> interval(0.0123, 0.0456), interval(1.0, 1.04), interval(math.nan, math.nan)
    ('0.012 – 0.046', '1 – 1.04', '')
    """
    if not (math.isfinite(low) and low < high):
        return ""
    digits = digits_of_ends(low, high)
    return f"{decimal(low, digits)} – {decimal(high, digits)}"


def digits_of_ends(low: float, high: float) -> int:
    """Digits that tell the ends of an interval apart: two, or three."""
    return 3 if high < NARROW_INTERVAL * low or f"{low:.2g}" == f"{high:.2g}" else 2


def with_interval(value: float, low: float, high: float) -> str:
    """A number with its interval; empty if it is not known.

    >>> with_interval(0.61, 0.54, 0.71), with_interval(123.0, math.nan, math.nan)
    ('0.61 (0.54 to 0.71)', '120')
    >>> with_interval(1.02, 1.0, 1.04)
    '1.02 (1 to 1.04)'
    """
    if not math.isfinite(value):
        return ""
    digits = digits_of_ends(low, high) if math.isfinite(low) else 2
    value, low, high = (float(f"{one:.{digits}g}") for one in (value, low, high))
    return f"{value:g} ({low:g} to {high:g})" if math.isfinite(low) else f"{value:g}"


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Lines of bounded length; what follows the first line of a sentence is indented, and no percent sign begins a line."""
    wrapper = textwrap.TextWrapper(width, subsequent_indent="    ", break_on_hyphens=False)
    joined = (line.replace(" %", "\N{NO-BREAK SPACE}%") for line in lines)
    parts = (part for line in joined for part in wrapper.wrap(line) or [""])
    return [part.replace("\N{NO-BREAK SPACE}%", " %") for part in parts]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        head: its heading.
        cells: one text per row.
        side: where the texts are aligned, `"<"`, `"^"` or `">"`.
        words: whether the texts may be cut, at their end.
        names: the same, at their beginning: of a dotted name the end says more.
        spare: how early `leading` leaves the column out where not all fit.
    """

    head: str
    cells: Sequence[str]
    side: str = "<"
    words: bool = False
    names: bool = False
    spare: int = 0


def fitted(columns: Sequence[Column], width: int) -> list[str]:
    """The lines of a table, heading first; columns of words are cut until it fits, and left out if nothing remains of them.

    Args:
        columns: the columns; those without any text are left out.
        width: columns of the terminal.

    Examples:
        >>> fitted(
        ...     [Column("δ²", ["0.1"], ">"), Column("motion", ["rotation in x–y"], words=True)], 17
        ... )
        ['   δ²  motion', '  0.1  rotation …']
    """
    shown = [column for column in columns if any(column.cells)]
    sizes = [max(map(len, (column.head, *column.cells))) for column in shown]
    while sum(sizes) + 2 * len(sizes) > width:
        flexible = [i for i, column in enumerate(shown) if column.words or column.names]
        if not flexible:
            break
        widest = max(flexible, key=lambda i: sizes[i])
        if sizes[widest] > SHORTEST_WORDS:
            sizes[widest] -= 1
        else:
            del shown[flexible[-1]], sizes[flexible[-1]]
    texts = [
        [_cut(text, size, at_start=column.names) for text in (column.head, *column.cells)]
        for column, size in zip(shown, sizes, strict=True)
    ]
    rows = zip(*texts, strict=True)
    return [
        (
            "  "
            + "  ".join(
                f"{text:{column.side}{size}}"
                for text, column, size in zip(row, shown, sizes, strict=True)
            )
        ).rstrip()
        for row in rows
    ]


def framed(
    lines: Iterable[str], columns: Sequence[Column], notes: Sequence[str], width: int
) -> str:
    """A table between the lines that introduce it and its notes."""
    return "\n".join(
        [
            *wrapped(lines, width),
            *fitted(columns, width),
            *wrapped([""] * bool(notes) + [*notes], width),
        ]
    )


def leading(columns: Sequence[Column], width: int, *, least: int = 3) -> list[str]:
    """Like `fitted`, but drop columns until the rest fits: those to spare first, then the last.

    Args:
        columns: the columns.
        width: columns of the terminal.
        least: how many are kept, and cut instead.

    Examples:
        >>> leading([Column("a", ["123"]), Column("b", ["456"]), Column("c", ["789"])], 10, least=1)
        ['  a    b', '  123  456']
        >>> leading([Column("a", ["123"], spare=1), Column("b", ["456"])], 6, least=1)
        ['  b', '  456']
    """
    shown = [column for column in columns if any(column.cells)]
    while len(shown) > least:
        sizes = [max(map(len, (column.head, *column.cells))) for column in shown]
        if sum(sizes) + 2 * len(sizes) <= width:
            break
        del shown[max(range(len(shown)), key=lambda i: (shown[i].spare, i))]
    return fitted(shown, width)


def _cut(text: str, size: int, *, at_start: bool) -> str:
    if len(text) <= size:
        return text
    return f"…{text[len(text) - size + 1 :]}" if at_start else f"{text[: size - 1]}…"


def without_middle(rows: list[str], capacity: int, *, indent: int) -> list[str]:
    """At most `capacity` rows; of more, those in the middle are replaced by their number.

    Args:
        rows: one line each.
        capacity: how many lines there may be.
        indent: column of the number that are left out.

    Examples:
        >>> without_middle(["a", "b", "c", "d", "e"], 3, indent=6)
        ['a', '  ... 3 more', 'e']
    """
    hidden = len(rows) - capacity + 1
    if hidden <= 1:
        return rows
    half = capacity // 2
    return [*rows[:half], f"{'  ...':<{indent}}{hidden} more", *rows[half + hidden :]]


def value_range(values: list[float]) -> str:
    """The smallest and the largest of some values, with two digits.

    >>> value_range([0.1, 0.25]), value_range([0.1])
    ('0.1 to 0.25', '0.1')
    """
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"


class Printed:
    """A result that prints as a table, in notebooks with its columns aligned."""

    def table(self) -> str:
        """What `print` shows."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return f'<pre style="overflow-x: auto; line-height: 1.35">{escape(str(self))}</pre>'
