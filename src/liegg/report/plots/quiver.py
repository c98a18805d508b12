"""The vector field of a generator in a plane."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.actions import MatrixAction
from liegg.report.motions import generator_of, words_of
from liegg.report.numbers import number
from liegg.report.planes import Plane, grid_of_places, plane_in, plane_of
from liegg.report.plots.matrices import short
from liegg.report.plots.style import FOUND, figure, plain, write_centred
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARROWS = 11
"""Arrows per side."""


def field(
    source: Symmetries | Float[Tensor, "n n"],
    ax: "Axes | None" = None,
    which: int = 0,
    *,
    homogeneous: bool = False,
) -> "Axes":
    r"""Draw the velocities $x' = Ax$, or $x' = Ax + b$, in the coordinate plane where they are largest.

    For two coordinates, and for images, that is all of it; otherwise the axes say how much of the generator's squared size the
    plane holds. Every arrow is the velocity at its middle, all scaled alike. A generator without a matrix cannot be drawn; the
    axes then say so.

    Args:
        source: the result of `discover`, or a generator.
        ax: axes to draw into; by default a new figure.
        which: number of the symmetry, from 0; not used for a generator of your own.
        homogeneous: a generator of your own is affine, with a zero last row.

    Raises:
        ArgumentError: there is no such symmetry, or it moves a line only.
    """
    title = ""
    if isinstance(source, Symmetries):
        generator = generator_of(source, which)
        title = short(words_of(source, which), 44)
        if not isinstance(source.action, MatrixAction):
            ax = ax or figure(4.2, 4.4).subplots()
            ax.set_title(plain(title), fontsize="medium")
            write_centred(ax, "The action has no matrices to draw; see liegg.plot.motion.")
            return ax
        plane = plane_in(source.action, generator)
    else:
        plane = plane_of(source, homogeneous=homogeneous)
    ax = ax or figure(4.2, 4.4).subplots()
    places = grid_of_places(ARROWS)
    velocities = plane.velocities(places)
    speed = float(velocities.norm(dim=1).max())
    ax.quiver(
        *places.mT.numpy(),
        *velocities.mT.numpy(),
        color=FOUND,
        pivot="mid",
        angles="xy",
        scale_units="xy",
        scale=speed / (0.9 * 2 / (ARROWS - 1)) if speed > 0 else 1.0,
        width=0.006,
        headwidth=4,
        headlength=4.5,
        headaxislength=4,
    )
    ax.plot([0], [0], "+", color="0.4", markersize=9, zorder=1)
    ax.set(
        xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1]
    )
    x, y = (plain(name) + ", in half sides of the image" * plane.is_grid for name in plane.names)
    ax.set_xlabel(f"{x}\n{_caption(plane, speed)}")
    ax.set_ylabel(y)
    ax.set_title(plain(title), fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _caption(plane: Plane, speed: float) -> str:
    """How much of the generator the plane holds, and the speed of the longest arrow."""
    share = f"this plane holds {100 * plane.share:.0f} % of the generator\n" * (plane.share < 0.995)
    if not speed > 0:
        return f"{share}no motion in this plane"
    return f"{share}longest arrow: speed {number(speed, 2)} per unit of t"
