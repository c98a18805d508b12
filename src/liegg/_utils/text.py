"""Text for a terminal."""

import math
from collections.abc import Sequence
from itertools import groupby


def printable(text: str) -> str:
    r"""The text with control characters written as escapes, so that a name cannot steer a terminal; lines stay lines.

    >>> printable("a\x1b[31mb\nc\td")
    'a\\x1b[31mb\nc\td'
    """
    return "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode()
        for one in text
    )


def root_percent(square: float) -> str:
    """The root of a squared share in percent, with two digits, near 100 % and above three.

    >>> root_percent(0.0009), root_percent(0.995), root_percent(0.0)
    ('3', '99.7', '0')
    """
    return f"{100 * math.sqrt(square):.{2 if square < 0.98 else 3}g}"


def runs(places: Sequence[int]) -> str:
    """Whole numbers, consecutive ones joined.

    >>> runs([1, 2, 3, 7])
    '1–3, 7'
    """
    # Consecutive numbers are equally far from their places in the list.
    groups = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in group] for _, group in groups]
    return ", ".join(f"{p[0]}" if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
