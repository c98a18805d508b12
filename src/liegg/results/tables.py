"""What printed tables share: their size, wrapped sentences, rows left out in the middle, and HTML for notebooks."""

import textwrap
from collections.abc import Iterable
from html import escape

TABLE_WIDTH = 120
"""Columns of a table; sentences are wrapped."""

TABLE_LINES = 38
"""Lines of a table; rows in the middle are left out, and the table says so."""


def wrapped(lines: Iterable[str], *, break_long_words: bool = False) -> list[str]:
    """Lines of bounded length, but for long words; what follows the first line of a sentence is indented."""
    wrapper = textwrap.TextWrapper(
        TABLE_WIDTH,
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=break_long_words,
    )
    return [part for line in lines for part in wrapper.wrap(line) or [""]]


def without_middle(rows: list[str], capacity: int, *, indent: int) -> list[str]:
    """At most this many rows: where there are more, those in the middle are left out and counted.

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


def as_html(table: object) -> str:
    """The printed table for notebooks, with its columns aligned."""
    return f'<pre style="overflow-x: auto; line-height: 1.35">{escape(str(table))}</pre>'
