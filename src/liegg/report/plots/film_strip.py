"""A film strip: exp(tA) acting on samples, a column to a time."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, Affine, Linear
from liegg.actions.grid.color import Channels
from liegg.actions.grid.grid import Grid
from liegg.discovery.verification.further_curves import words_of
from liegg.report.plots.clouds import points
from liegg.report.plots.matrices import short
from liegg.report.plots.selection import generator_of, parts_of
from liegg.report.plots.style import figure, plain
from liegg.report.plots.times import Times, name_panel, times_of
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

MOST_ROWS, MOST_STEPS = 8, 25


def motion(
    sym: Symmetries,
    samples: Tensor | np.ndarray,
    made: "Figure | SubFigure | None" = None,
    which: int | Float[Tensor, "n n"] = 0,
    *,
    steps: int = 7,
) -> "Figure | SubFigure":
    """Samples moved by exp(tA), from left to right: pictures, signals, point clouds or vectors.

    A motion is followed once around where it turns, else both ways, and no further than it was verified. Pictures, signals and
    clouds of points have a row each; single vectors and pairs share one. Vectors of more than two dimensions are seen in the
    coordinate plane where the generator does most; faint lines are their paths, or faint marks where many of them started.

    Args:
        sym: the result of `discover`.
        samples: a few inputs of the model, `[k, *x]`, of which the first eight are drawn.
        made: figure or subfigure to draw into; by default a new one.
        which: number of the generator found, from 0; or a generator of your own.
        steps: columns; an odd number shows the samples as they are in the middle of a motion that goes both ways.

    Raises:
        ArgumentError: samples that the action does not move, no such generator, or nothing that could be drawn.
    """
    if not 2 <= steps <= MOST_STEPS:
        raise ArgumentError(f"steps={steps}: expected 2 to {MOST_STEPS} columns.")
    matrix = generator_of(sym, which)
    given = torch.as_tensor(samples)
    if (
        given.ndim < 2
        or not len(given)
        or given.is_complex()
        or not bool(torch.isfinite(given[:MOST_ROWS]).all())
    ):
        raise ArgumentError(
            f"samples have shape {tuple(given.shape)} and type {given.dtype}; expected a few inputs of the model, [k, *x], of "
            "finite numbers, for example data[:4]."
        )
    x = given[:MOST_ROWS].detach().to("cpu", torch.float64)
    sym.action.check(tuple(x.shape[1:]))
    times = times_of(sym, matrix, which if isinstance(which, int) else None, steps)
    parts = parts_of(sym.action)
    if len(parts) == 1 and isinstance(parts[0], Linear | Affine):
        made, note = points(parts[0], matrix, x, times, made)
    else:
        made, note = _signals(
            sym.action,
            torch.stack([sym.action.act(t * matrix, x) for t in times.values.tolist()]),
            times,
            made,
        )
    title = short(words_of(sym, matrix), 80)
    made.suptitle(plain(f"{title}{note}"), fontsize="medium")
    return made


def _signals(
    action: Action, moved: Float[Tensor, "t b ..."], times: Times, made: "Figure | SubFigure | None"
) -> "tuple[Figure | SubFigure, str]":
    """Pictures as pictures, signals along a line as curves."""
    shape = next(
        (
            part.shape
            for part in parts_of(action)
            if isinstance(part, Grid | Channels) and part.shape
        ),
        tuple(moved.shape[2:]),
    )
    dimension = next(
        (part.dimension for part in parts_of(action) if isinstance(part, Grid)), len(shape) - 1
    )
    if dimension not in (1, 2) or len(shape) not in (dimension, dimension + 1):
        raise ArgumentError(
            f"{action!r} moves samples of shape {tuple(shape)}; drawn are pictures, signals and vectors."
        )
    whole = moved.reshape(*moved.shape[:2], *shape)
    whole = whole.unsqueeze(2) if len(shape) == dimension else whole  # [t, b, channels, *sides]
    note, channels = "", whole.shape[2]
    if dimension == 2 and channels not in (1, 3):
        whole, note = whole.mean(2, keepdim=True), f"; mean of {channels} channels"
    low, high = float(whole.min()), float(whole.max())
    high = high if high > low else low + 1.0
    columns, rows = whole.shape[:2]
    side = 1.05 if dimension == 2 else 1.3
    made = made or figure(
        max(4.0, 0.6 + side * columns),
        0.75 + (side * whole.shape[-2] / whole.shape[-1] if dimension == 2 else 0.9) * rows,
    )
    axes = made.subplots(rows, columns, squeeze=False)
    for i in range(rows):
        for j, ax in enumerate(axes[i]):
            picture = whole[j, i]
            if dimension == 1:
                ax.plot(picture.mT.numpy(), linewidth=1)
                ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
            elif len(picture) == 3:
                ax.imshow(((picture - low) / (high - low)).permute(1, 2, 0).numpy())
            else:
                ax.imshow(picture[0].numpy(), cmap="gray", vmin=low, vmax=high)
            ax.set(xticks=[], yticks=[])
            name_panel(ax, times, i, j, f"sample {i + 1}" if rows > 1 else "")
    return made, note
