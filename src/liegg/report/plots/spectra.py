"""The paper's two numbers of every direction: variance and bias."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.numbers import window
from liegg.report.plots.style import (
    FOUND,
    MAX_DIRECTIONS,
    OTHER,
    cut,
    figure,
    label_directions,
    legend,
    lowest,
    plain,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spectrum(
    sym: Symmetries, ax: "Axes | None" = None, *, max_directions: int = MAX_DIRECTIONS
) -> "Axes":
    """Draw the symmetry variance of every direction, ascending, with the symmetries set apart.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    values = sym.spectrum.values
    ax = ax or figure().subplots()
    drawn = window(len(values), sym.nullity, max_directions)
    least = lowest(values[drawn.start : drawn.stop])
    ax.set_yscale("log")
    note = cut(values[drawn.start : drawn.stop], least)
    _dots(ax, values.clamp_min(least), sym.nullity, drawn)
    verb = "is a symmetry" if sym.nullity == 1 else "are symmetries"
    ax.set_ylabel(f"symmetry variance  σ²/|D|{note}")
    ax.set_title(f"{sym.nullity} of {len(values)} directions {verb}", fontsize="medium")
    return ax


def bias(
    sym: Symmetries,
    reference: Float[Tensor, "e ..."],
    name: str,
    ax: "Axes | None" = None,
    *,
    max_directions: int = MAX_DIRECTIONS,
) -> "Axes":
    """Draw the paper's symmetry bias of every direction against a reference algebra.

    Args:
        sym: the result of `discover`.
        reference: generators such as `liegg.so(5)`.
        name: of the reference, for the axis.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    values = sym.bias(reference)
    ax = ax or figure().subplots()
    _dots(ax, values, sym.nullity, window(len(values), sym.nullity, max_directions))
    ax.set(ylim=(-0.05, 1.1), ylabel=f"symmetry bias against {plain(name)}")
    ax.set_title(f"distance to {plain(name)}: 0 inside, 1 orthogonal", fontsize="medium")
    return ax


def _dots(ax: "Axes", values: Float[Tensor, " k"], nullity: int, drawn: range) -> None:
    """Draw dots over direction numbers, symmetries in their own colour and shape."""
    heights = values.tolist()
    for label, marker, colour, size, directions in (
        ("symmetry", "o", FOUND, 6, range(drawn.start, min(nullity, drawn.stop))),
        ("no symmetry", "s", OTHER, 5, range(max(nullity, drawn.start), drawn.stop)),
    ):
        if directions:
            places, some = [i + 1 for i in directions], [heights[i] for i in directions]
            ax.plot(places, some, marker, color=colour, markersize=size, label=label)
    label_directions(ax, drawn, len(values))
    if drawn:
        legend(ax)
