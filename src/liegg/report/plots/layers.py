"""Layers of a network against their depth."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.style import FOUND, MUTED, OTHER, THIRD, figure, legend, lowest, plain, tidy
from liegg.results.layers import LayerSymmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def layers(
    found: LayerSymmetries,
    reference: Float[Tensor, "e n n"] | None = None,
    name: str = "",
    made: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Variance, bias and defect of every layer against its depth, the first layer on the left.

    Args:
        found: the result of `discover_layers`.
        reference: generators of a known algebra; adds the bias, and the defects are then theirs: the largest of them.
        name: its name.
        made: figure or subfigure to draw into; by default a new one.
    """
    called = plain(name) or "the reference"
    panels = 2 if reference is None else 3
    made = made or figure(max(6.0, 1.5 + 0.35 * len(found)), 1.2 + 2.3 * panels)
    axes = made.subplots(panels, 1, sharex=True, squeeze=False).flatten()
    _depth(axes[0], found.variance(), "o", FOUND, "output")
    _depth(axes[0], found.variance("unit"), "s", OTHER, "output of unit length")
    axes[0].set_ylabel("symmetry variance")
    if reference is not None:
        axes[1].plot(found.bias(reference).tolist(), "-o", color=FOUND, linewidth=1, label="output")
        axes[1].plot(
            found.bias(reference, "unit").tolist(),
            "-s",
            color=OTHER,
            markersize=3,
            linewidth=1,
            label="output of unit length",
        )
        axes[1].set(ylabel=f"bias against {called}", ylim=(-0.05, 1.1))
    _depth(axes[-1], found.defect(reference), "o", FOUND, "invariance")
    if found.output_action is not None:
        _depth(axes[-1], found.defect(reference, "equivariance"), "^", THIRD, "equivariance")
    threshold = found[0].invariance.decision.threshold
    axes[-1].axhline(
        threshold, color=MUTED, linestyle=":", linewidth=1, label=f"threshold {threshold:g}"
    )
    axes[-1].set_ylabel(
        "smallest defect δ²" if reference is None else f"largest defect δ² of {called}"
    )
    axes[-1].set_xticks(
        range(len(found)), [plain(each) for each in found.names], rotation=90, fontsize="small"
    )
    axes[-1].set_xlabel("layer, first to last")
    for ax in axes:
        tidy(ax)
        legend(ax)
    return made


def _depth(ax: "Axes", values: Float[Tensor, " l"], marker: str, colour: str, label: str) -> None:
    """Numbers against depth on a logarithmic axis; layers that have none leave a gap, exact zeros lie at the lower end."""
    shown = values.clamp_min(lowest(values))
    ax.plot(shown.tolist(), f"-{marker}", color=colour, markersize=5, linewidth=1, label=label)
    ax.set_yscale("log")
