"""Figures of a record: one function per figure, each takes an `ax` and returns it; no global style is touched."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._errors import MissingExtraError
from liegg.layers import LayerSymmetries
from liegg.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND, OTHER, THIRD, MUTED = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
"""Blue, vermilion and green of the Okabe-Ito palette: told apart by every kind of colour vision, on paper and on screen."""


def figure(width: float = 7.0, height: float = 4.0) -> "Figure":
    """An empty figure that belongs to no window and no global state; inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError("figures need matplotlib. Type: pip install 'liegg[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def save_figure(made: "Figure", path: str | Path) -> list[Path]:
    """Write a figure as PNG and as SVG beside each other.

    Args:
        made: the figure.
        path: with or without ending; both files get its stem.

    Returns:
        The two paths.
    """
    stem = Path(path).with_suffix("")
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "liegg"}):  # a fixed salt and no date: the same result gives the same file
        for target in paths:
            part = target.with_name(f".{target.name}.part")  # and renamed, so that no half-drawn figure is left
            made.savefig(part, format=target.suffix[1:], metadata={"Date": None} if target.suffix == ".svg" else None)
            part.replace(target)
    return paths


def spectrum(sym: Symmetries, ax: "Axes | None" = None) -> "Axes":
    """Symmetry variance of every direction, ascending, with the symmetries found set apart.

    Args:
        sym: the result of `discover`.
        ax: where to draw; by default a new figure.
    """
    return _stems(
        ax,
        sym.spectrum.values,
        sym.nullity,
        log=True,
        label="symmetry variance  σ²/|D|",
        title=f"{sym.nullity} of {len(sym.spectrum.values)} directions are symmetries",
    )


def defects(sym: Symmetries, ax: "Axes | None" = None) -> "Axes":
    """Scale-free defect of every direction that moves the data, with the threshold.

    Args:
        sym: the result of `discover`.
        ax: where to draw; by default a new figure.
    """
    ax = _stems(ax, sym.defects, sym.nullity, log=True, label="defect  δ²", title="0: exact symmetry, 1: average direction")
    ax.axhline(sym.decision.threshold, color=MUTED, linestyle=":", linewidth=1, label=f"threshold {sym.decision.threshold:g}")
    ax.legend(frameon=False)
    return ax


def bias(sym: Symmetries, reference: Float[Tensor, "e n n"], name: str, ax: "Axes | None" = None) -> "Axes":
    """The paper's symmetry bias of every direction against a reference algebra.

    Args:
        sym: the result of `discover`.
        reference: generators such as `liegg.so(5)`.
        name: what to call them on the axis.
        ax: where to draw; by default a new figure.
    """
    title = f"distance to {name}: 0 inside, 1 orthogonal"
    return _stems(ax, sym.bias(reference), sym.nullity, log=False, label=f"symmetry bias against {name}", title=title)


def generators(sym: Symmetries, made: "Figure | None" = None, *, most: int = 10) -> "Figure":
    """The found generators as matrices, blue for positive and red for negative entries.

    Args:
        sym: the result of `discover`.
        made: figure or subfigure to draw into; by default a new one.
        most: how many to draw; the title says how many there are.
    """
    shown = sym.generators[:most]
    made = made or figure(7.0, 1.1 + 1.5 * ((len(shown) + 4) // 5))
    made.suptitle(f"{len(shown)} of {sym.nullity} generators, Frobenius-orthonormal", fontsize="medium")
    if not len(shown):
        return made
    limit = float(shown.abs().max())
    axes = made.subplots((len(shown) + 4) // 5, min(5, len(shown)), squeeze=False).flatten()
    image = None
    for index, ax in enumerate(axes):
        if index >= len(shown):
            ax.set_axis_off()
            continue
        image = ax.imshow(shown[index].numpy(), cmap="RdBu", vmin=-limit, vmax=limit)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(f"{index + 1}", fontsize="small")
    if image is not None:
        made.colorbar(image, ax=list(axes), shrink=0.8, label="entry")
    return made


def overview(sym: Symmetries, reference: Float[Tensor, "e n n"] | None = None, name: str = "") -> "Figure":
    """Spectrum, bias (or defects where no reference is given) and generators on one page.

    Args:
        sym: the result of `discover`.
        reference: generators of a known algebra to compare with.
        name: its name.
    """
    made = figure(9.5, 6.4)
    top, bottom = made.subfigures(2, 1, squeeze=False, height_ratios=(1.15, 1)).flatten()
    left, right = top.subplots(1, 2)
    spectrum(sym, left)
    if reference is None:
        defects(sym, right)
    else:
        bias(sym, reference, name, right)
    generators(sym, bottom)
    return made


def layers(
    found: LayerSymmetries, reference: Float[Tensor, "e n n"] | None = None, name: str = "", made: "Figure | None" = None
) -> "Figure":
    """Variance, bias and defect of every layer against its depth, the first layer on the left.

    Args:
        found: the result of `discover_layers`.
        reference: generators of a known algebra; adds the bias, and the defects are then theirs: the largest of them.
        name: its name.
        made: figure or subfigure to draw into; by default a new one.
    """
    called = name or "the reference"
    panels = 2 if reference is None else 3
    made = made or figure(max(6.0, 1.5 + 0.35 * len(found)), 1.2 + 2.3 * panels)
    axes = made.subplots(panels, 1, sharex=True, squeeze=False).flatten()
    _depth(axes[0], found.variance(), "o", FOUND, "output")
    _depth(axes[0], found.variance("unit"), "s", OTHER, "output of unit length")
    axes[0].set_ylabel("symmetry variance")
    if reference is not None:
        axes[1].plot(found.bias(reference).tolist(), "-o", color=FOUND, linewidth=1, label="output")
        axes[1].plot(
            found.bias(reference, "unit").tolist(), "-s", color=OTHER, markersize=3, linewidth=1, label="output of unit length"
        )
        axes[1].set(ylabel=f"bias against {called}", ylim=(-0.05, 1.1))
    _depth(axes[-1], found.defect(reference), "o", FOUND, "invariance")
    if found.output_action is not None:
        _depth(axes[-1], found.defect(reference, "equivariance"), "^", THIRD, "equivariance")
    threshold = found[0].invariance.decision.threshold
    axes[-1].axhline(threshold, color=MUTED, linestyle=":", linewidth=1, label=f"threshold {threshold:g}")
    axes[-1].set_ylabel("smallest defect δ²" if reference is None else f"largest defect δ² of {called}")
    axes[-1].set_xticks(range(len(found)), found.names, rotation=90, fontsize="small")
    axes[-1].set_xlabel("layer, first to last")
    for ax in axes:
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    return made


def _depth(ax: "Axes", values: Float[Tensor, " l"], marker: str, colour: str, label: str) -> None:
    """Numbers against depth on a logarithmic axis; layers that have none leave a gap."""
    known = values[~values.isnan()]
    shown = values.clamp_min(_smallest_shown(known)) if len(known) else values
    ax.plot(shown.tolist(), f"-{marker}", color=colour, markersize=5, linewidth=1, label=label)
    ax.set_yscale("log")


def _stems(ax: "Axes | None", values: Float[Tensor, " k"], found: int, *, log: bool, label: str, title: str) -> "Axes":
    """Dots over direction numbers, found ones in their own colour and shape."""
    ax = ax or figure().subplots()
    from matplotlib.ticker import MaxNLocator

    place = torch.arange(1, len(values) + 1)
    shown = values.clamp_min(_smallest_shown(values)) if log else values
    ax.plot(place[:found], shown[:found], "o", color=FOUND, label="symmetry")
    ax.plot(place[found:], shown[found:], "s", color=OTHER, markersize=5, label="no symmetry")
    if log:
        ax.set_yscale("log")
    else:
        ax.set_ylim(-0.05, 1.1)
    ax.set_xlabel("direction, most invariant first")
    ax.set_ylabel(label)
    ax.set_title(title, fontsize="medium")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="best")
    return ax


def _smallest_shown(values: Float[Tensor, " k"]) -> float:
    """Exact zeros are drawn at the rounding of the largest value, where a logarithm still exists."""
    return float(values.max()) * 1e-34 + 1e-300
