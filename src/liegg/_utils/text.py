"""Text for a terminal."""

import math
from collections.abc import Sequence
from itertools import groupby


def printable(text: str) -> str:
    r"""Escape control characters, so that a name cannot control a terminal; line breaks stay.

    >>> printable("a\x1b[31mb\nc\td")
    'a\\x1b[31mb\nc\td'
    """
    return "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode()
        for one in text
    )


CONTROLS = {n: f"\\u{n:04x}" for n in (*range(32), *range(127, 160)) if chr(n) not in "\n\t"}
"""Control characters but line breaks and tabs, and how they are shown; inside JSON they stay what they are."""


def without_controls(text: str) -> str:
    r"""The same for a page, in which spaces of all kinds and other signs that are no controls stay.

    >>> without_controls("a\x1b[31mb\xa0c")
    'a\\u001b[31mb\xa0c'
    """
    return text.translate(CONTROLS)


def percent_digits(share: float) -> str:
    """A share in per cent with the digits that matter, without the sign; less than all is never written as 100.

    >>> percent_digits(0.1912), percent_digits(0.00034), percent_digits(0.997), percent_digits(2.5)
    ('19', '0.034', '99.7', '250')
    """
    percent = 100 * share
    if math.isinf(percent):
        return "∞"
    if 99.5 <= percent < 99.95:
        return f"{percent:.1f}"
    return f"{percent:.0f}" if percent == 0 or 9.95 <= percent < 1e5 else f"{percent:.2g}"


def percentage(share: float) -> str:
    """The same with the sign.

    >>> percentage(0.1912), percentage(0.0)
    ('19 %', '0 %')
    """
    return f"{percent_digits(share)} %"


def root_percent(square: float, floor: float = 0.0) -> str:
    """The root of a squared share, such as a defect, in per cent; 0 at or below a floor.

    >>> root_percent(0.0009), root_percent(0.995), root_percent(1e-30, 1e-26)
    ('3', '99.7', '0')
    """
    return percent_digits(math.sqrt(square) if square > floor else 0.0)


def runs(places: Sequence[int]) -> str:
    """Whole numbers, consecutive ones joined.

    >>> runs([1, 2, 3, 7])
    '1–3, 7'
    """
    # Consecutive numbers are equally far from their places in the list.
    groups = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in group] for _, group in groups]
    return ", ".join(f"{p[0]}" if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
