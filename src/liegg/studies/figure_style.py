"""What the figures of the studies share: quiet axes, logarithmic axes with plain numbers, powers of ten as text."""

from math import log10
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALLEST_PLAIN = 1e-4
"""Numbers below are written with a power of ten."""

MOST_DECADES = 6
"""Shown on a logarithmic axis. What is smaller is rounding in our studies, such as directions that too few samples leave free."""


def tidy(ax: "Axes") -> None:
    """Leave the left and the lower edge of the frame, and faint horizontal lines."""
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def logarithmic(ax: "Axes", names: Literal["x", "y", "xy"]) -> None:
    """Make axes logarithmic, with ticks that `number` writes; to be called when everything is drawn.

    Powers of ten alone would leave many of our axes with a single tick. Half a decade gets round numbers at equal steps,
    one and a half decades 1, 2, 3, 5 and 7 of each, up to three 1, 2 and 5. The lower end is cut at `MOST_DECADES`.

    Args:
        ax: where.
        names: which of its axes.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for name in names:
        ax.set(**{f"{name}scale": "log"})
        axis = ax.xaxis if name == "x" else ax.yaxis
        low, high = axis.get_view_interval()
        decades = min(MOST_DECADES, log10(high / low))
        ax.set(**{f"{name}lim": (high / 10.0**decades, high)})
        subs = (
            (1.0,)
            if decades > 3
            else (1.0, 2.0, 5.0)
            if decades > 1.5
            else (1.0, 2.0, 3.0, 5.0, 7.0)
        )
        axis.set_major_locator(
            MaxNLocator(5, steps=[1, 2, 5, 10]) if decades < 0.5 else LogLocator(subs=subs)
        )
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axis.set_minor_formatter(NullFormatter())


def number(value: float, digits: int = 3) -> str:
    """A positive number for people: `0.05`, and `3 × 10⁻³³` where zeros would have to be counted.

    Args:
        value: the number.
        digits: how many of them, trailing zeros left out.
    """
    if value >= SMALLEST_PLAIN:
        return f"{value:.{digits}g}"
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{float(mantissa):g} × {power_of_ten(int(exponent))}"


def power_of_ten(exponent: int) -> str:
    """The power as text, `10⁻³`."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
