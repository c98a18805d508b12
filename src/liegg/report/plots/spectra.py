"""The paper's two numbers of every direction: variance and bias."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.style import (
    FOUND,
    MOST,
    OTHER,
    count_directions,
    cut,
    figure,
    legend,
    lowest,
    plain,
    window,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spectrum(sym: Symmetries, ax: "Axes | None" = None, *, most: int = MOST) -> "Axes":
    """Symmetry variance of every direction, ascending, with the symmetries found set apart.

    Args:
        sym: the result of `discover`.
        ax: where to draw; by default a new figure.
        most: directions drawn, around the gap.
    """
    total = len(sym.spectrum.values)
    title = f"{sym.nullity} of {total} directions {'is a symmetry' if sym.nullity == 1 else 'are symmetries'}"
    return _dots(
        ax,
        sym.spectrum.values,
        sym.nullity,
        most,
        log=True,
        label="symmetry variance  σ²/|D|",
        title=title,
    )


def bias(
    sym: Symmetries,
    reference: Float[Tensor, "e n n"],
    name: str,
    ax: "Axes | None" = None,
    *,
    most: int = MOST,
) -> "Axes":
    """The paper's symmetry bias of every direction against a reference algebra.

    Args:
        sym: the result of `discover`.
        reference: generators such as `liegg.so(5)`.
        name: what to call them on the axis.
        ax: where to draw; by default a new figure.
        most: directions drawn, around the gap.
    """
    called = plain(name)
    label, title = (
        f"symmetry bias against {called}",
        f"distance to {called}: 0 inside, 1 orthogonal",
    )
    return _dots(ax, sym.bias(reference), sym.nullity, most, log=False, label=label, title=title)


def _dots(
    ax: "Axes | None",
    values: Float[Tensor, " k"],
    found: int,
    most: int,
    *,
    log: bool,
    label: str,
    title: str,
) -> "Axes":
    """Dots over direction numbers, found ones in their own colour and shape."""
    ax = ax or figure().subplots()
    shown = window(len(values), found, most)
    heights = values[shown.start : shown.stop]
    if log:
        ax.set_yscale("log")
        label += cut(heights, least := lowest(heights))
        heights = heights.clamp_min(least)
    else:
        ax.set_ylim(-0.05, 1.1)
    place, edge = range(shown.start + 1, shown.stop + 1), max(0, found - shown.start)
    if edge:
        ax.plot(place[:edge], heights[:edge].tolist(), "o", color=FOUND, label="symmetry")
    if len(place) > edge:
        ax.plot(
            place[edge:],
            heights[edge:].tolist(),
            "s",
            color=OTHER,
            markersize=5,
            label="no symmetry",
        )
    ax.set_ylabel(label)
    ax.set_title(title, fontsize="medium")
    count_directions(ax, shown, len(values))
    if len(place):
        legend(ax)
    return ax
