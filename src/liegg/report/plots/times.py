"""At which times to look at a motion, and what to call them."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.words.wording import number
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TURNING = 0.25
"""Growth rate over angular speed up to which a motion is followed once around."""

BACK = 0.01
"""How near to where it started a motion must come, to be said to come back."""


@dataclass(frozen=True, eq=False)
class Times:
    """Times of a motion.

    Attributes:
        values: ascending, in units of the generator.
        names: angles where the motion comes back, else t; the first with its unit.
    """

    values: Float[Tensor, " t"]
    names: tuple[str, ...]


def times_of(sym: Symmetries, matrix: Float[Tensor, "n n"], which: int | None, steps: int) -> Times:
    """Equally spaced times: once around where the motion turns, else both ways; no further than a generator was verified.

    Args:
        sym: the result of `discover`.
        matrix: the generator.
        which: its number among those found; None if it is another.
        steps: how many times.
    """
    longest, both, period = reach(matrix)
    verified = sym.verification
    if which is not None and verified is not None and len(verified.curves) == sym.nullity:
        curve = verified.curves[which]
        if curve.period is not None:
            longest, both, period = min(curve.longest, curve.period), curve.both_ways, curve.period
        longest = min(longest, curve.longest)
    values = torch.linspace(-longest if both else 0.0, longest, steps, dtype=torch.float64)
    if period is not None:
        return Times(
            values, tuple(f"{number(round(360 * t / period, 1))}°" for t in values.tolist())
        )
    digits = 1 - math.floor(math.log10(longest)) if longest > 0 else 0
    return Times(values, tuple(f"t = {number(round(t, digits))}" for t in values.tolist()))


def reach(matrix: Float[Tensor, "n n"]) -> tuple[float, bool, float | None]:
    """How far to follow a motion: the longest time, whether both ways, and the period if it comes back by then.

    Once around by its largest angular speed where it turns, else both ways up to a motion of size 1.

    >>> longest, both, period = reach(torch.tensor([[0.0, -2.0], [2.0, 0.0]]))
    >>> round(longest, 3), both, period == longest
    (3.142, False, True)
    >>> reach(torch.tensor([[0.5, 0.0], [0.0, 0.0]]))
    (2.0, True, None)
    """
    values = torch.linalg.eigvals(matrix.double())
    fastest = float(values.imag.abs().max())
    time = 2 * math.pi / fastest if fastest > 1e-3 * float(matrix.norm()) else math.inf
    if math.isfinite(time) and float(values.real.abs().max()) < TURNING * fastest:
        closes = float(((values * time).exp() - 1).abs().max()) < BACK
        return time, False, time if closes else None
    return 1 / max(float(torch.linalg.matrix_norm(matrix.double(), 2)), 1e-300), True, None


def name_panel(ax: "Axes", times: Times, row: int, column: int, left: str) -> None:
    """The time above the first row, and what stands left of the first column."""
    if row == 0:
        ax.set_title(times.names[column], fontsize="small")
    if column == 0:
        ax.set_ylabel(left, fontsize="small")
