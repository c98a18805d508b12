"""Layers of a network against their depth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.style import (
    FOUND,
    OTHER,
    THIRD,
    figure,
    horizontal_line,
    legend,
    lowest,
    plain,
    tidy,
)
from liegg.results.layers import LayerSymmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def layers(
    result: LayerSymmetries,
    reference: Float[Tensor, "e ..."] | None = None,
    name: str = "",
    fig: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Draw variance, bias and defect of every layer against its depth, the first layer on the left.

    Args:
        result: what `discover_layers` returned.
        reference: generators of a known algebra; adds the bias, and draws the largest of their defects.
        name: of the reference.
        fig: figure or subfigure to draw into; by default a new one.
    """
    label = plain(name) or "the reference"
    count = 2 if reference is None else 3
    fig = fig or figure(max(6.0, 1.5 + 0.35 * len(result)), 1.2 + 2.3 * count)
    axes = fig.subplots(count, 1, sharex=True, squeeze=False).flatten()
    variances = {"output": result.variance(), "output of unit length": result.variance("unit")}
    _lines(axes[0], variances, (("o", FOUND), ("s", OTHER)))
    axes[0].set_ylabel("symmetry variance")
    if reference is not None:
        biases = {
            "output": result.bias(reference),
            "output of unit length": result.bias(reference, "unit"),
        }
        _lines(axes[1], biases, (("o", FOUND), ("s", OTHER)), log=False)
        axes[1].set(ylabel=f"bias against {label}", ylim=(-0.05, 1.1))
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
