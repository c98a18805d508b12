"""Layers of a network against their depth, and those that break a symmetry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.style import (
    AMBER,
    FOUND,
    MUTED,
    OTHER,
    PURPLE,
    SKY,
    THIRD,
    figure,
    horizontal_line,
    legend,
    lowest,
    plain,
    tidy,
)
from liegg.results.layer_errors import Cause, LayerErrors
from liegg.results.layers import LayerSymmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

CAUSE_LOOKS = dict(
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


def layers(
    result: LayerSymmetries,
    reference: Float[Tensor, "e ..."] | None = None,
    name: str = "",
    fig: "Figure | SubFigure | None" = None,
    *,
    variance: bool = False,
) -> "Figure | SubFigure":
    """Draw the defect of every layer against its depth, the first layer on the left.

    Args:
        result: what `discover_layers` returned.
        reference: generators of a known algebra; adds the bias, and draws the largest of their defects.
        name: of the reference.
        fig: figure or subfigure to draw into; by default a new one.
        variance: draw the paper's symmetry variance as well.
    """
    label = plain(name) or "the reference"
    count = 1 + variance + (reference is not None)
    fig = fig or figure(max(6.0, 1.5 + 0.35 * len(result)), 1.2 + 2.3 * count)
    axes = fig.subplots(count, 1, sharex=True, squeeze=False).flatten()
    if variance:
        variances = {"output": result.variance(), "output of unit length": result.variance("unit")}
        _lines(axes[0], variances, (("o", FOUND), ("s", OTHER)))
        axes[0].set_ylabel("symmetry variance")
    if reference is not None:
        biases = {
            "output": result.bias(reference),
            "output of unit length": result.bias(reference, "unit"),
        }
        _lines(axes[-2], biases, (("o", FOUND), ("s", OTHER)), log=False)
        axes[-2].set(ylabel=f"bias against {label}", ylim=(-0.05, 1.1))
    defects = {"invariance": result.defect(reference)}
    if result.output_action is not None:
        defects["equivariance"] = result.defect(reference, "equivariance")
    _lines(axes[-1], defects, (("o", FOUND), ("^", THIRD)))
    threshold = result[0].invariance.decision.thresholds.threshold
    horizontal_line(axes[-1], threshold, ":", f"threshold {threshold:g}")
    defect = "smallest defect δ²" if reference is None else f"largest defect δ² of {label}"
    axes[-1].set(ylabel=defect, xlabel="layer, first to last")
    names = [plain(each) for each in result.names]
    axes[-1].set_xticks(range(len(result)), names, rotation=90, fontsize="small")
    for ax in axes:
        tidy(ax)
        legend(ax)
    return fig


def _lines(
    ax: "Axes",
    series: dict[str, Float[Tensor, " l"]],
    looks: Sequence[tuple[str, str]],
    *,
    log: bool = True,
) -> None:
    """Draw series against depth; NaN leaves a gap, and a logarithmic axis has zeros at its lower end."""
    if log:
        least = lowest(*series.values())
        series = {name: values.clamp_min(least) for name, values in series.items()}
        ax.set_yscale("log")
    for (label, values), (marker, colour) in zip(series.items(), looks, strict=False):
        ax.plot(values.tolist(), f"-{marker}", color=colour, markersize=5, linewidth=1, label=label)


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
        colour, hatch = CAUSE_LOOKS[cause]
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
