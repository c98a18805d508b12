"""Names of coordinates, numbers and directions as they are written by hand."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from jaxtyping import Float

from liegg._utils.errors import ArgumentError

Vector = Float[np.ndarray, " m"]

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
"""Digits of the default names x₁, x₂ and so on."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits of exponents: R², 10⁻³."""

PLAIN_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)
"""From the digits of indices and exponents back to plain ones."""

CONSTANTS = {"1": ("translation", "along"), "1 (offset)": ("offset", "of")}
"""Names of the axes of a product that are always 1, and what a motion along them is called."""


def coordinate_names(n: int, coordinates: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of n coordinates: the given ones, or x₁, x₂, ...

    Raises:
        ArgumentError: the number of names is not n.

    >>> coordinate_names(3)
    ('x₁', 'x₂', 'x₃')
    """
    if coordinates is None:
        return tuple(f"x{i + 1}".translate(SUBSCRIPTS) for i in range(n))
    if isinstance(coordinates, str) or len(coordinates) != n:
        example = ", ".join(f'"{name}"' for name in "xyzw"[:n]) if n <= 4 else '"x1", "x2", ...'
        raise ArgumentError(
            f"coordinates are {coordinates!r}; expected {n} names, for example ({example})."
        )
    return tuple(coordinates)


SMALL_VECTOR, NEGLIGIBLE = 0.05, 1e-3
"""Largest entry below which two decimals are too few; share of it that is written as zero."""


def number(value: float) -> str:
    """Two decimals, or two significant digits below one; no trailing zeros, a true minus sign.

    >>> number(0.5), number(-2.0), number(1.4142), number(0.0123)
    ('0.5', '−2', '1.41', '0.012')
    """
    text = f"{value:.2f}" if abs(value) >= 1 else f"{value:.2g}"
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return "0" if text in ("-0", "") else text.replace("-", "−")


def vector(values: Vector) -> str:
    """Entries in brackets, all with one decimal where that is enough, otherwise with two; small vectors with two digits.

    >>> vector(np.array([0.6, 0.8])), vector(np.array([0.0, 0.7071, -0.7071]))
    ('(0.6, 0.8)', '(0.00, 0.71, −0.71)')
    >>> vector(np.array([0.0, 0.00314]))
    '(0, 0.0031)'
    """
    largest = float(abs(values).max(initial=0.0))
    if 0 < largest < SMALL_VECTOR:
        rounded = np.where(abs(values) > NEGLIGIBLE * largest, values, 0.0).tolist()
        return f"({', '.join(map(number, rounded))})"
    decimals = 1 if float(abs(values - values.round(1)).max()) < 0.005 else 2
    # Python's `z` writes a negative number that rounds to zero without its sign.
    texts = [f"{value:z.{decimals}f}".replace("-", "−") for value in values.tolist()]
    return f"({', '.join(texts)})"


def first_largest(values: Vector) -> int:
    """Place of the first entry as large as the largest, up to a relative 1e-8.

    >>> first_largest(np.array([0.5, -0.7, 0.7]))
    1
    """
    return int((abs(values) >= abs(values).max() * (1 - 1e-8)).argmax())


def direction(values: Vector, names: Sequence[str], tolerance: float) -> tuple[str, float]:
    """A direction by the name of its axis, or as a unit vector.

    And its length, negative if it was reversed.

    >>> direction(np.array([0.0, -2.0]), ("x", "y"), 1e-6)
    ('y', -2.0)
    """
    axis = first_largest(values)
    length = float(np.copysign(np.linalg.norm(values), values[axis]))
    unit = values / (length or 1.0)
    others = np.delete(unit, axis)
    return (vector(unit) if (abs(others) > tolerance).any() else names[axis]), length


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def combination(values: Sequence[float], words: Sequence[str], tolerance: float) -> str:
    """A linear combination, scaled so that the first of its largest coefficients is 1.

    Six terms are written out; of more, the smaller ones are counted.

    >>> combination([2.0, -1.0], ["phase", "amplitude"], 1e-6)
    'phase − 0.5 amplitude'
    """
    largest = max(map(abs, values))
    if not largest > 0:
        return "no motion"
    first = next(value for value in values if abs(value) >= largest * (1 - 1e-8))
    scaled = [value / largest if first > 0 else -value / largest for value in values]
    terms = [pair for pair in zip(scaled, words, strict=True) if abs(pair[0]) > tolerance]
    shown = terms if len(terms) <= 6 else sorted(terms, key=lambda term: -abs(term[0]))[:5]
    text = signed_sum(shown, number)
    rest = len(terms) - len(shown)
    return f"{text} and {rest} smaller terms" if rest else text


def signed_sum(
    terms: Iterable[tuple[float, str]], write: Callable[[float], str], minus: str = "−"
) -> str:
    """The sum of coefficients times words; empty for no terms.

    Args:
        terms: coefficients, and what they multiply.
        write: writes a positive coefficient; one that is written as 1 is left out.
        minus: the minus sign.

    Examples:
        >>> signed_sum([(-1.0, "x"), (0.5, "y")], number)
        '−x + 0.5 y'
    """
    text = ""
    for value, word in terms:
        sign, size = minus if value < 0 else "+", write(abs(value))
        lead = f" {sign} " if text else sign.removeprefix("+")
        text += lead + (word if size == "1" else f"{size} {word}")
    return text
