"""Generators as matrices, as coefficients where the action has no matrices, and as vector fields."""

from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import plural
from liegg._utils.errors import ArgumentError
from liegg.actions import MatrixAction
from liegg.report.motions import (
    Plane,
    coordinates_of,
    generator_of,
    motion_words,
    plane_in,
    plane_of,
)
from liegg.report.numbers import number
from liegg.report.plots.style import FOUND, figure, plain, write_centred
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage

MATRICES_PER_ROW = 5
"""Matrices per row."""

MAX_NAMED_SIDE = 6
"""Side of a matrix up to which its rows and columns are named."""

MAX_NAMED_CANDIDATES = 40
"""Candidates up to which the columns of coefficients are named."""

LINE_LENGTH = 24
"""Letters per line above a matrix, two lines at most."""

FIGURE_ARROWS = 11
"""Arrows per side of a vector field."""


def generators(
    sym: Symmetries,
    fig: "Figure | SubFigure | None" = None,
    *,
    max_generators: int = 10,
    basis: Literal["found", "readable"] = "readable",
) -> "Figure | SubFigure":
    """Draw the generators as matrices, blue for positive and red for negative entries.

    Generators of an action without matrices are drawn as rows of coefficients.

    Args:
        sym: the result of `discover`.
        fig: figure or subfigure to draw into; by default a new one.
        max_generators: how many to draw; the title says how many there are.
        basis: `"readable"`, with few entries, and in words; or `"found"`, the same span orthonormal, smallest defect first. Spans
            without a readable basis, and actions without matrices, have the second only.

    Raises:
        ArgumentError: there is no such basis.
    """
    if basis not in ("found", "readable"):
        raise ArgumentError(f"basis={basis!r}: expected 'found' or 'readable'.")
    if not sym.nullity:
        fig = fig or figure(7.0, 1.1)
        fig.suptitle("no generator: no symmetry was found", fontsize="medium")
        return fig
    if not isinstance(sym.action, MatrixAction):
        return _coefficients(sym, fig, max_generators)
    readable = sym.identification.readable.generators
    is_readable = basis == "readable" and len(readable) > 0
    matrices = readable if is_readable else sym.generators
    drawn = matrices[:max_generators]
    words = sym.identification.readable.words if is_readable else map(str, range(1, len(drawn) + 1))
    rows = -(-len(drawn) // MATRICES_PER_ROW)
    columns = -(-len(drawn) // max(rows, 1))
    height = 0.7 + (1.5 if is_readable else 1.35) * max(rows, 1)
    fig = fig or figure(max(4.0, 1.5 + 1.15 * columns), height)
    about = "readable basis of the same span" if is_readable else "Frobenius-orthonormal"
    count = f"{len(drawn)} of {plural(len(matrices), 'generator')}"
    fig.suptitle(f"{count}, {about}", fontsize="medium")
    if not len(drawn):
        return fig
    axes = fig.subplots(rows, columns, squeeze=False).flatten()
    names = coordinates_of(sym.action)
    ticks = range(len(names)) if len(names) <= MAX_NAMED_SIDE else []
    largest = float(drawn.abs().max())
    for ax, matrix, text in zip(axes, drawn, words, strict=False):
        _heat_map(ax, matrix, largest)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(list(ticks), [plain(names[i]) for i in ticks], fontsize="x-small")
        ax.set_title(plain(short(text)), fontsize="x-small" if is_readable else "small")
    for ax in axes[len(drawn) :]:
        ax.set_axis_off()
    fig.colorbar(axes[0].images[0], ax=list(axes), shrink=0.8, label="entry")
    return fig


def _coefficients(
    sym: Symmetries, fig: "Figure | SubFigure | None", max_generators: int
) -> "Figure | SubFigure":
    """Draw the coefficients, one row per generator, with the words of the candidates."""
    rows, words = sym.coefficients[:max_generators], sym.action.words
    fig = fig or figure(max(4.0, 2.0 + 0.3 * len(words)), 2.2 + 0.3 * len(rows))
    count = f"{len(rows)} of {plural(sym.nullity, 'generator')}"
    fig.suptitle(f"{count}, orthonormal coefficients", fontsize="medium")
    ax = fig.subplots()
    image = _heat_map(ax, rows, float(rows.abs().max()) if rows.numel() else 1.0)
    named = range(len(words)) if len(words) <= MAX_NAMED_CANDIDATES else []
    labels = [plain(words[i]) for i in named]
    ax.set_xticks(list(named), labels, rotation=90, fontsize="x-small")
    ax.set_yticks(range(len(rows)), [f"{i + 1}" for i in range(len(rows))], fontsize="x-small")
    fig.colorbar(image, ax=ax, shrink=0.8, label="coefficient")
    return fig


def _heat_map(ax: "Axes", values: Float[Tensor, "n m"], largest: float) -> "AxesImage":
    ax.tick_params(length=0, pad=1)
    return ax.imshow(values.detach().numpy(), cmap="RdBu", vmin=-largest, vmax=largest)


def short(words: str, length: int = LINE_LENGTH) -> str:
    """Wrap words to two lines; the second ends in dots if there are more."""
    lines = wrap(words, length)
    if len(lines) <= 2:
        return "\n".join(lines)
    return f"{lines[0]}\n{lines[1][: length - 2].rstrip()} …"


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
    ax = ax or figure(4.2, 4.4).subplots()
    if isinstance(source, Symmetries):
        generator = generator_of(source, which)
        ax.set_title(plain(short(motion_words(source, which), 44)), fontsize="medium")
        if not isinstance(source.action, MatrixAction):
            write_centred(ax, "The action has no matrices to draw; see liegg.plot.motion.")
            return ax
        plane = plane_in(source.action, generator)
    else:
        plane = plane_of(source, homogeneous=homogeneous)
    places, velocities, speed = plane.arrows(FIGURE_ARROWS)
    ax.quiver(
        *places.mT.numpy(),
        *velocities.mT.numpy(),
        color=FOUND,
        pivot="mid",
        angles="xy",
        scale_units="xy",
        scale=speed / (0.9 * 2 / (FIGURE_ARROWS - 1)) if speed > 0 else 1.0,
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
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _caption(plane: Plane, speed: float) -> str:
    """How much of the generator the plane holds, and the speed of the longest arrow."""
    share = f"this plane holds {100 * plane.share:.0f} % of the generator\n" * (plane.share < 0.995)
    if not speed > 0:
        return f"{share}no motion in this plane"
    return f"{share}longest arrow: speed {number(speed, 2)} per unit of t"
