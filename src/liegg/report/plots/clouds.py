"""Moving vectors and clouds of points, drawn in a plane."""

from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.algebra.words.wording import coordinate_names
from liegg.report.planes import plane_in
from liegg.report.plots.style import AMBER, FOUND, OTHER, PURPLE, SKY, THIRD, figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MAX_VECTORS, MAX_PATHS = 256, 30
"""Vectors of a sample that are drawn, and vectors per panel up to which their paths are."""

CLOUD_SIZE = 3
"""Vectors from which on a sample is a cloud and has a row of its own."""

PATH_STEPS = 8
"""Points of a path from one column to the next."""

MARKERS = "osD^vP"
COLOURS = (FOUND, OTHER, THIRD, AMBER, PURPLE, SKY)
"""One of each per sample."""


def draw_points(
    action: Action,
    generator: Float[Tensor, "..."],
    x: Float[Tensor, "b ..."],
    times: Float[Tensor, " t"],
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
    colour, marker = COLOURS[sample % len(COLOURS)], MARKERS[sample % len(MARKERS)]
    is_path = len(track) > 1
    dots = {"marker": marker, "linestyle": "none", "markersize": 4.0 if is_path else 2.0}
    if is_path:
        line = {"color": colour, "alpha": 0.35, "linewidth": 0.7}
        ax.plot(track[..., 0].numpy(), track[..., 1].numpy(), zorder=1, **line)
    else:
        ax.plot(*track[0].mT.numpy(), color="0.8", zorder=1, **dots)
    ax.plot(*now.mT.numpy(), color=colour, zorder=2, **dots)
