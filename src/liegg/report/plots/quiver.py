"""The vector field of a generator in a plane."""

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.verification.further_curves import words_of
from liegg.report.page.numbers import number
from liegg.report.plots.matrices import short
from liegg.report.plots.selection import Plane, generator_of, plane_in, plane_of
from liegg.report.plots.style import FOUND, figure, plain
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARROWS = 11
"""Arrows to a side."""


def field(
    shown: Symmetries | Float[Tensor, "n n"],
    ax: "Axes | None" = None,
    which: int = 0,
    *,
    homogeneous: bool = False,
) -> "Axes":
    r"""Arrows of the motion $x' = Ax$, or $x' = Ax + b$, in the coordinate plane where it is strongest.

    For two coordinates, and for pictures, that is all of it; otherwise the axes say how much of the generator's squared size the
    plane shows. Every arrow is the velocity at its middle, all scaled alike.

    Args:
        shown: the result of `discover`, or a generator.
        ax: where to draw; by default a new figure.
        which: number of the generator found, from 0; not used for a generator of your own.
        homogeneous: a generator of your own is affine, with a zero last row.

    Raises:
        ArgumentError: there is no such generator, or it moves a line only.
    """
    if isinstance(shown, Symmetries):
        matrix = generator_of(shown, which)
        plane, title = plane_in(shown.action, matrix), short(words_of(shown, matrix), 44)
    else:
        plane, title = plane_of(shown, homogeneous=homogeneous), ""
    ax = ax or figure(4.2, 4.4).subplots()
    steps = torch.linspace(-1.0, 1.0, ARROWS, dtype=torch.float64)
    places = torch.cartesian_prod(steps, steps)
    velocity = places @ plane.linear.mT + plane.shift
    fastest = float(velocity.norm(dim=1).max())
    longest = 0.9 * float(steps[1] - steps[0])
    ax.quiver(
        *places.mT.numpy(),
        *velocity.mT.numpy(),
        color=FOUND,
        pivot="mid",
        angles="xy",
        scale_units="xy",
        scale=fastest / longest if fastest > 0 else 1.0,
        width=0.006,
        headwidth=4,
        headlength=4.5,
        headaxislength=4,
    )
    ax.plot([0], [0], "+", color="0.4", markersize=9, zorder=1)
    ax.set(
        xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1]
    )
    ax.set_xlabel(_label(plane, 0, fastest))
    ax.set_ylabel(_label(plane, 1, fastest))
    ax.set_title(plain(title), fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _label(plane: Plane, side: int, fastest: float) -> str:
    """Name and unit of a coordinate; below the horizontal axis also how much is shown, and how fast."""
    words = plain(plane.names[side]) + (", in half sides of the picture" if plane.picture else "")
    if side == 1:
        return words
    speed = (
        f"longest arrow: speed {number(fastest, 2)} per unit of t"
        if fastest > 0
        else "no motion in this plane"
    )
    seen = (
        ""
        if plane.share >= 0.995
        else f"this plane shows {100 * plane.share:.0f} % of the generator\n"
    )
    return f"{words}\n{seen}{speed}"
