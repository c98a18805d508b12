"""A film strip: exp(tA) acting on samples, one column per time."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.algebra.words.wording import coordinate_names, number
from liegg.report.motions import (
    MAX_VECTORS,
    as_images,
    checked_samples,
    data_range,
    extent_of,
    generator_of,
    motion_words,
    plane_in,
    symmetry_curves,
)
from liegg.report.plots.matrices import short
from liegg.report.plots.style import AMBER, FOUND, OTHER, PURPLE, SKY, THIRD, figure, plain
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MAX_COLUMNS = 25

MAX_PATHS = 30
"""Vectors per panel up to which their paths are drawn."""

CLOUD_SIZE = 3
"""Vectors from which on a sample is a cloud and has a row of its own."""

PATH_STEPS = 8
"""Points of a path from one column to the next."""

SAMPLE_MARKERS = "osD^vP"
SAMPLE_COLOURS = (FOUND, OTHER, THIRD, AMBER, PURPLE, SKY)
"""One of each per sample."""


def motion(
    sym: Symmetries,
    samples: Tensor | np.ndarray,
    fig: "Figure | SubFigure | None" = None,
    which: int | Float[Tensor, "..."] = 0,
    *,
    steps: int = 7,
) -> "Figure | SubFigure":
    """Draw samples moved by exp(tA), from left to right: images, volumes, signals, point clouds or vectors.

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
    if not 2 <= steps <= MAX_COLUMNS:
        raise ArgumentError(f"steps={steps}: expected 2 to {MAX_COLUMNS} columns.")
    generator = generator_of(sym, which)
    x = checked_samples(sym.action, samples)
    times, names = times_of(sym, generator, which if isinstance(which, int) else None, steps)
    draw = _draw_points if sym.action.stage == "points" else _draw_signals
    fig, axes, label, note = draw(sym.action, generator, x, times, fig=fig)
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name, fontsize="small")
    for i, ax in enumerate(axes[:, 0]):
        sample = f"sample {i + 1}" if len(axes) > 1 else ""
        ax.set_ylabel("\n".join(filter(None, (sample, label))), fontsize="small")
    title = short(motion_words(sym, which), 80)
    fig.suptitle(plain("; ".join(filter(None, (title, note)))), fontsize="medium")
    return fig


def times_of(
    sym: Symmetries, generator: Float[Tensor, "..."], which: int | None, steps: int
) -> tuple[Float[Tensor, " t"], tuple[str, ...]]:
    """Equally spaced times of a motion, no further than it was verified, and their names: angles if it comes back.

    Args:
        sym: the result of `discover`.
        generator: matrix or coefficients.
        which: number of the symmetry; None for another generator.
        steps: number of times.
    """
    (longest, both_ways, period), curves = extent_of(generator), symmetry_curves(sym)
    if which is not None and curves:
        curve = curves[which]
        longest = min(curve.longest, curve.period or longest)
        if curve.period is not None:
            both_ways, period = curve.both_ways, curve.period
    values = torch.linspace(-longest if both_ways else 0.0, longest, steps, dtype=torch.float64)
    if period is not None:
        return values, tuple(f"{number(round(360 * t / period, 1))}°" for t in values.tolist())
    digits = 1 - math.floor(math.log10(longest)) if longest > 0 else 0
    return values, tuple(f"t = {number(round(t, digits))}" for t in values.tolist())


def _draw_signals(
    action: Action,
    generator: Float[Tensor, "..."],
    x: Float[Tensor, "b ..."],
    times: Float[Tensor, " t"],
    *,
    fig: "Figure | SubFigure | None",
) -> "tuple[Figure | SubFigure, Any, str, str]":
    """Draw images as images, volumes by their middle slice, signals along a line as curves; see `_draw_points`."""
    if action.stage is None or action.staged(x).ndim not in (3, 4, 5):
        raise ArgumentError(
            f"{action!r} moves samples of shape {tuple(x.shape[1:])}; images, volumes, signals and "
            "vectors can be drawn."
        )
    signals = torch.cat([action.staged(action.act(t * generator, x)) for t in times])
    is_volume, is_image = signals.ndim == 5, signals.ndim > 3
    if is_volume:
        signals = signals[:, :, signals.shape[2] // 2]
    signals, note = as_images(signals) if is_image else (signals, "")
    note = "; ".join(filter(None, ("middle slice across z" * is_volume, note)))
    low, high = data_range(signals)
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


def _draw_points(
    action: Action,
    generator: Float[Tensor, "..."],
    x: Float[Tensor, "b ..."],
    times: Float[Tensor, " t"],
    *,
    fig: "Figure | SubFigure | None",
) -> "tuple[Figure | SubFigure, Any, str, str]":
    """Draw vectors at each time, in the coordinate plane where the generator is largest.

    Args:
        action: moves them.
        generator: matrix or coefficients.
        x: samples.
        times: one column each.
        fig: figure to draw into; by default a new one.

    Returns:
        The figure, its axes by row and column, the label of the vertical axes, and a note.
    """
    columns, copies = len(times), _vectors(action, x).shape[1]
    plane, names, note = _plane(action, generator, x)
    fine = torch.linspace(float(times[0]), float(times[-1]), PATH_STEPS * (columns - 1) + 1)
    moved = torch.cat([x, *(action.act(t * generator, x) for t in fine.double())])
    points = _vectors(action, moved)[:, :MAX_VECTORS, plane]
    start, *paths = points.unflatten(0, (-1, len(x))).unbind(0)
    path = torch.stack(paths)  # [fine, b, vectors, 2]
    rows = [[i] for i in range(len(x))] if copies >= CLOUD_SIZE else [list(range(len(x)))]
    fig = fig or figure(max(4.0, 0.8 + 1.3 * columns), 1.0 + 1.25 * len(rows))
    axes = fig.subplots(len(rows), columns, squeeze=False, sharex=True, sharey=True)
    low, high = points.flatten(0, 1).amin(0), points.flatten(0, 1).amax(0)
    (x0, y0), half = ((low + high) / 2).tolist(), 0.56 * float((high - low).max()) or 1.0
    with_paths = len(rows[0]) * start.shape[1] <= MAX_PATHS
    for members, row in zip(rows, axes, strict=True):
        for j, ax in enumerate(row):
            for k in members:
                track = path[:, k] if with_paths else start[None, k]
                _draw_sample(ax, k, track, path[PATH_STEPS * j, k])
            ax.set(xlim=(x0 - half, x0 + half), ylim=(y0 - half, y0 + half), aspect="equal")
            ax.tick_params(labelsize="x-small")
    for ax in axes[-1]:
        ax.set_xlabel(plain(names[0]), fontsize="small")
    if copies > MAX_VECTORS:
        note = f"first {MAX_VECTORS} of {copies} vectors{f'; {note}' if note else ''}"
    return fig, axes, plain(names[1]), note


def _plane(
    action: Action, generator: Float[Tensor, "..."], x: Float[Tensor, "b ..."]
) -> tuple[list[int], tuple[str, str], str]:
    """Numbers and names of the two coordinates that are drawn, and a note on what they hold."""
    if isinstance(action, MatrixAction):
        plane = plane_in(action, generator)
        share = f"this plane holds {100 * plane.share:.0f} % of the generator"
        return list(plane.axes), plane.names, share if plane.share < 0.995 else ""
    speed = _vectors(action, action.field(generator, x)).square().mean((0, 1))
    if len(speed) < 2:
        raise ArgumentError(f"{action!r} moves points on a line; a plane needs two coordinates.")
    first, second = sorted(speed.topk(2).indices.tolist())
    names = coordinate_names(len(speed))
    return [first, second], (names[first], names[second]), ""


def _vectors(action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b v n"]:
    """The vectors of every sample."""
    vectors = action.staged(x)
    return vectors.unsqueeze(1) if vectors.ndim == 2 else vectors


def _draw_sample(
    ax: "Axes", sample: int, track: Float[Tensor, "t v 2"], now: Float[Tensor, "v 2"]
) -> None:
    """Draw the vectors of a sample now, and their paths; or their starts, if the track is only that."""
    colour, marker = (
        SAMPLE_COLOURS[sample % len(SAMPLE_COLOURS)],
        SAMPLE_MARKERS[sample % len(SAMPLE_MARKERS)],
    )
    is_path = len(track) > 1
    dots = {"marker": marker, "linestyle": "none", "markersize": 4.0 if is_path else 2.0}
    if is_path:
        line = {"color": colour, "alpha": 0.35, "linewidth": 0.7}
        ax.plot(track[..., 0].numpy(), track[..., 1].numpy(), zorder=1, **line)
    else:
        ax.plot(*track[0].mT.numpy(), color="0.8", zorder=1, **dots)
    ax.plot(*now.mT.numpy(), color=colour, zorder=2, **dots)
