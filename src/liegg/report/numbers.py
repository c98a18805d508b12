"""Numbers as pages and figures write them, and which of many directions they show."""

import math
from collections.abc import Iterable

from liegg.algebra.words.wording import SUPERSCRIPTS

MAX_DECADES = 12
"""Of a logarithmic axis: smaller values, and zeros, are drawn at its lower edge."""

LEAST_POWER, MOST_POWER = -300, 308
"""Powers of ten that float64 holds with all digits."""


def number(value: float | int | None, digits: int = 3) -> str:
    """A number in common notation; a dash for None and non-finite values.

    >>> number(0.0312), number(2.5e-9), number(None), number(1e30), number(-0.5), number(12)
    ('0.0312', '2.5 × 10⁻⁹', '–', '10³⁰', '−0.5', '12')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if 1e3 <= abs(value) < 1e5 and value == int(value):
        return f"{value:.0f}".replace("-", "−")
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.{digits}g}".replace("-", "−")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    power = power_of_ten(int(exponent))
    return power if float(mantissa) == 1 else f"{float(mantissa):g} × {power}".replace("-", "−")


def power_of_ten(exponent: int) -> str:
    """A power of ten as text.

    >>> power_of_ten(-3), power_of_ten(0)
    ('10⁻³', '1')
    """
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def angle(radians: float | None) -> str:
    """Radians as degrees.

    >>> angle(math.pi / 6), angle(1e-17)
    ('30°', '0°')
    """
    if radians is None or not math.isfinite(radians):
        return "–"
    degrees = math.degrees(radians)
    return "0°" if degrees < 1e-9 else f"{number(degrees, 2)}°"


def with_interval(
    value: float | None, low: float | None, high: float | None, digits: int = 3
) -> str:
    """A number and its interval, if it has one.

    >>> with_interval(0.25, 0.2, 0.3), with_interval(0.25, math.nan, math.nan)
    ('0.25 (0.2 – 0.3)', '0.25')
    """
    known = low is not None and high is not None and math.isfinite(low + high)
    ends = f" ({number(low, digits)} – {number(high, digits)})" if known else ""
    return f"{number(value, digits)}{ends}"


def nice_steps(low: float | int, high: float | int, count: int = 6) -> list[float]:
    """Round numbers at equal distances inside an interval, at most about `count`.

    >>> nice_steps(0.0, 1.0, 6), nice_steps(1, 25, 6)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [5.0, 10.0, 15.0, 20.0, 25.0])
    """
    if not high > low:
        return [float(low)]
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(
        size * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (size * factor) <= count
    )
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def decades(values: Iterable[float], most: int = MAX_DECADES) -> tuple[float, float]:
    """Powers of ten around the positive values, at most this many apart; zeros need them all.

    What is not finite is left out.

    >>> decades([0.003, 0.4]), decades([0.0, 0.4]), decades([1e-32, 0.4]), decades([])
    ((0.001, 1.0), (1e-12, 1.0), (1e-12, 1.0), (0.001, 1.0))
    """
    known = [value for value in values if math.isfinite(value)]
    positive = [value for value in known if value > 0]
    if not positive:
        return 1e-3, 1.0
    last = math.ceil(math.log10(max(positive)) + 0.02)
    first = math.floor(math.log10(min(positive)) - 0.02)
    if len(positive) < len(known) or first < last - most:
        first = last - most
    first = min(max(first, LEAST_POWER), MOST_POWER - 2)
    return 10.0**first, 10.0 ** min(max(last, first + 2), MOST_POWER)


def window(total: int, nullity: int, count: int) -> range:
    """Directions to draw: all, or `count` of them around the gap after the last symmetry.

    >>> window(25, 10, 200), window(1000, 300, 100)
    (range(0, 25), range(250, 350))
    """
    first = max(0, min(nullity - count // 2, total - count))
    return range(first, min(total, first + count))
