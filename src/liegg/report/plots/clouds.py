"""Vectors and clouds of points on the move, seen in a plane."""

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.actions.vectors import as_vectors
from liegg.report.plots.selection import plane_in
from liegg.report.plots.style import AMBER, FOUND, OTHER, PURPLE, SKY, THIRD, figure, plain
from liegg.report.plots.times import Times, name_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

MOST_VECTORS, MOST_PATHS = 256, 30
"""Vectors of a sample that are drawn, and vectors to a panel up to which their paths are."""

CLOUD = 3
"""Vectors from which on a sample is a cloud and has a row of its own."""

FINER = 8
"""Points of a path from one column to the next."""

SHAPES = "osD^vP"
COLOURS = (FOUND, OTHER, THIRD, AMBER, PURPLE, SKY)
"""One of each to a sample, in turn."""


def points(
    action: Linear | Affine,
    matrix: Float[Tensor, "n n"],
    x: Float[Tensor, "b ..."],
    times: Times,
    made: "Figure | SubFigure | None",
) -> "tuple[Figure | SubFigure, str]":
    """Panels of vectors at each time, in the coordinate plane where the generator does most.

    Args:
        action: what moves them.
        matrix: the generator.
        x: samples.
        times: a column each.
        made: figure to draw into; by default a new one.

    Returns:
        The figure, and what is to be said of it.
    """
    plane, columns = plane_in(action, matrix), len(times.values)
    fine = torch.linspace(
        float(times.values[0]),
        float(times.values[-1]),
        FINER * (columns - 1) + 1,
        dtype=torch.float64,
    )
    moved = torch.cat([x, *(action.act(t * matrix, x) for t in fine.tolist())])
    seen = as_vectors(moved, action.n, action.copies, action.layout)[
        :, :MOST_VECTORS, list(plane.axes)
    ]
    start, *paths = seen.unflatten(0, (-1, len(x))).unbind(0)
    path = torch.stack(paths)  # [fine, b, vectors, 2]
    rows = [[i] for i in range(len(x))] if action.copies >= CLOUD else [list(range(len(x)))]
    made = made or figure(max(4.0, 0.8 + 1.3 * columns), 1.0 + 1.25 * len(rows))
    axes = made.subplots(len(rows), columns, squeeze=False, sharex=True, sharey=True)
    low, high = seen.flatten(0, 1).amin(0), seen.flatten(0, 1).amax(0)
    middle, half = ((low + high) / 2).tolist(), 0.56 * float((high - low).max()) or 1.0
    few = len(rows[0]) * start.shape[1] <= MOST_PATHS
    for i, members in enumerate(rows):
        for j, ax in enumerate(axes[i]):
            for k in members:
                colour = COLOURS[k % len(COLOURS)]
                look = {
                    "marker": SHAPES[k % len(SHAPES)],
                    "linestyle": "none",
                    "markersize": 4.0 if few else 2.0,
                }
                if few:
                    ax.plot(
                        path[:, k, :, 0].numpy(),
                        path[:, k, :, 1].numpy(),
                        color=colour,
                        alpha=0.35,
                        linewidth=0.7,
                        zorder=1,
                    )
                else:
                    ax.plot(*start[k].mT.numpy(), color="0.8", zorder=1, **look)
                ax.plot(*path[FINER * j, k].mT.numpy(), color=colour, zorder=2, **look)
            ax.set(
                xlim=(middle[0] - half, middle[0] + half),
                ylim=(middle[1] - half, middle[1] + half),
                aspect="equal",
            )
            ax.tick_params(labelsize="x-small")
            name_panel(
                ax,
                times,
                i,
                j,
                (f"sample {i + 1}\n" if len(rows) > 1 else "") + plain(plane.names[1]),
            )
            if i == len(rows) - 1:
                ax.set_xlabel(plain(plane.names[0]), fontsize="small")
    note = (
        ""
        if plane.share >= 0.995
        else f"; this plane shows {100 * plane.share:.0f} % of the generator"
    )
    return made, note + (
        f"; first {MOST_VECTORS} of {action.copies} vectors" if action.copies > MOST_VECTORS else ""
    )
