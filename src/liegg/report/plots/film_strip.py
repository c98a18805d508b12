"""A film strip: exp(tA) acting on samples, one column per time."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.algebra.words.wording import number
from liegg.report.motions import extent_of, generator_of, symmetry_curves, words_of
from liegg.report.plots.clouds import draw_points
from liegg.report.plots.matrices import short
from liegg.report.plots.style import figure, plain
from liegg.report.samples import as_images, checked_samples, value_range
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

MAX_STEPS = 25


class Times(NamedTuple):
    """Times of a motion.

    Attributes:
        values: ascending, in units of the generator.
        names: angles where the motion comes back, else t.
    """

    values: Float[Tensor, " t"]
    names: tuple[str, ...]


def motion(
    sym: Symmetries,
    samples: Tensor | np.ndarray,
    fig: "Figure | SubFigure | None" = None,
    which: int | Float[Tensor, "..."] = 0,
    *,
    steps: int = 7,
) -> "Figure | SubFigure":
    """Draw samples moved by exp(tA), from left to right: images, signals, point clouds or vectors.

    A rotation is followed once around, another motion both ways, and none further than it was verified. Images, signals and
    clouds of points have a row each; single vectors and pairs share one. Vectors with more than two coordinates are drawn in
    the coordinate plane where the generator is largest; faint lines are their paths, or faint marks their starts.

    Args:
        sym: the result of `discover`.
        samples: a few inputs of the model, `[k, *x]`, of which the first eight are drawn.
        fig: figure or subfigure to draw into; by default a new one.
        which: number of the symmetry, from 0; or a generator of your own, as a matrix or as coefficients.
        steps: columns; an odd number draws the samples as they are in the middle of a motion that goes both ways.

    Raises:
        ArgumentError: there is no such symmetry, the samples are not finite, or they cannot be drawn.
        ShapeError: the action does not move samples of this shape.
    """
    if not 2 <= steps <= MAX_STEPS:
        raise ArgumentError(f"steps={steps}: expected 2 to {MAX_STEPS} columns.")
    generator = generator_of(sym, which)
    x = checked_samples(sym.action, samples)
    times = times_of(sym, generator, which if isinstance(which, int) else None, steps)
    draw = draw_points if sym.action.stage == "points" else _draw_signals
    fig, axes, label, note = draw(sym.action, generator, x, times.values, fig)
    for ax, name in zip(axes[0], times.names, strict=True):
        ax.set_title(name, fontsize="small")
    for i, ax in enumerate(axes[:, 0]):
        sample = f"sample {i + 1}" if len(axes) > 1 else ""
        ax.set_ylabel("\n".join(filter(None, (sample, label))), fontsize="small")
    title = short(words_of(sym, which), 80)
    fig.suptitle(plain("; ".join(filter(None, (title, note)))), fontsize="medium")
    return fig


def times_of(
    sym: Symmetries, generator: Float[Tensor, "..."], which: int | None, steps: int
) -> Times:
    """Equally spaced times of a motion, no further than it was verified.

    Args:
        sym: the result of `discover`.
        generator: matrix or coefficients.
        which: number of the symmetry; None for another generator.
        steps: number of times.
    """
    extent, curves = extent_of(generator), symmetry_curves(sym)
    if which is not None and curves:
        curve = curves[which]
        longest = min(curve.longest, curve.period or extent.longest)
        extent = extent_of(generator, curve) if curve.period is not None else extent
        extent = extent._replace(longest=longest)
    longest, both_ways, period = extent
    values = torch.linspace(-longest if both_ways else 0.0, longest, steps, dtype=torch.float64)
    if period is not None:
        return Times(
            values, tuple(f"{number(round(360 * t / period, 1))}°" for t in values.tolist())
        )
    digits = 1 - math.floor(math.log10(longest)) if longest > 0 else 0
    return Times(values, tuple(f"t = {number(round(t, digits))}" for t in values.tolist()))


def _draw_signals(
    action: Action,
    generator: Float[Tensor, "..."],
    x: Float[Tensor, "b ..."],
    times: Float[Tensor, " t"],
    fig: "Figure | SubFigure | None",
) -> "tuple[Figure | SubFigure, Any, str, str]":
    """Draw images as images and signals along a line as curves; see `draw_points`."""
    if action.stage is None or action.staged(x).ndim not in (3, 4):
        raise ArgumentError(
            f"{action!r} moves samples of shape {tuple(x.shape[1:])}; images, signals and vectors can "
            "be drawn."
        )
    signals = torch.cat([action.staged(action.act(t * generator, x)) for t in times])
    is_image = signals.ndim == 4
    signals, note = as_images(signals) if is_image else (signals, "")
    low, high = value_range(signals)
    margin = 0.05 * (high - low)
    rows, columns = len(x), len(times)
    height = 1.05 * signals.shape[-2] / signals.shape[-1] if is_image else 0.9
    width = 0.6 + (1.05 if is_image else 1.3) * columns
    fig = fig or figure(max(4.0, width), 0.75 + height * rows)
    axes = fig.subplots(rows, columns, squeeze=False)
    for ax, signal in zip(axes.T.flatten(), signals, strict=True):
        if not is_image:
            ax.plot(signal.mT.numpy(), linewidth=1)
            ax.set_ylim(low - margin, high + margin)
        elif len(signal) == 3:
            ax.imshow(((signal - low) / (high - low)).permute(1, 2, 0).numpy())
        else:
            ax.imshow(signal[0].numpy(), cmap="gray", vmin=low, vmax=high)
        ax.set(xticks=[], yticks=[])
    return fig, axes, "", note
