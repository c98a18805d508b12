"""The layers that break a symmetry, and why."""

from typing import TYPE_CHECKING, get_args

from liegg.report.plots.style import (
    AMBER,
    FOUND,
    MUTED,
    OTHER,
    PURPLE,
    SKY,
    THIRD,
    figure,
    legend,
    plain,
    tidy,
)
from liegg.results.layer_errors import Cause, LayerErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = dict(
    zip(
        get_args(Cause),
        (
            (FOUND, ""),
            (OTHER, "//"),
            (THIRD, ".."),
            (SKY, ""),
            (AMBER, "xx"),
            (PURPLE, "\\\\"),
            ("0.85", ""),
            (MUTED, "++"),
        ),
        strict=True,
    )
)
"""Colour and hatching of every cause."""


def layer_errors(result: LayerErrors, ax: "Axes | None" = None, *, most: int = 20) -> "Axes":
    """Draw what each layer adds as a bar, divided into causes, the first layer on the left.

    Args:
        result: what `liegg.layer_errors` returned.
        ax: axes to draw into; by default those of a new figure.
        most: how many layers are drawn: those that add most.
    """
    keep = {layer.name for layer in result.worst[:most]}
    layers = [layer for layer in result.single if layer.name in keep]
    if ax is None:
        ax = figure(max(6.0, 1.5 + 0.35 * len(layers)), 4.0).subplots()
    heights = [0.0] * len(layers)
    for cause in get_args(Cause):
        parts = [100 * layer.causes().get(cause, 0.0) for layer in layers]
        if not any(parts):
            continue
        colour, hatch = LOOKS[cause]
        places = range(len(layers))
        ax.bar(
            places, parts, bottom=heights, color=colour, hatch=hatch, edgecolor="white", label=cause
        )
        heights = [low + part for low, part in zip(heights, parts, strict=True)]
    ax.set_xticks(
        range(len(layers)), [plain(layer.name) for layer in layers], rotation=90, fontsize="small"
    )
    known = any(layer.effect == layer.effect for layer in layers)  # not NaN
    ax.set_ylabel("change of the output, % of variance" if known else "error added, % of variance")
    tidy(ax)
    if layers:
        legend(ax)
    return ax
