r"""Levenberg–Marquardt over groups of matrices, for many starts at once.

A step is an element $a$ of a Lie algebra, and the matrix moves by $e^{a}$: rank is never lost, and a start stays in its component.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

Residual = Callable[
    [Tensor, Int[Tensor, " s"]], tuple[Float[Tensor, "s m"], Float[Tensor, "s m g"]]
]
"""From matrices `[s, n, n]` and the numbers of their starts to what is to vanish and its derivatives in the coordinates of a step."""

Move = Callable[[Tensor, Float[Tensor, "s g"]], Float[Tensor, "s n n"]]
"""From matrices and steps to moved matrices."""


class Schedule(NamedTuple):
    """When steps are damped, and when a start is left.

    Attributes:
        steps: most steps.
        longest: length of a step at most.
        damping: of the first step, relative to the mean sensitivity.
        less: its factor after a good step.
        more: its factor after a bad step.
        stuck: damping at which a start is given up.
        done: mean squared residual below which nothing is left to gain.
        small_gain: relative gain of a step that counts as slow.
        patience: slow steps in a row after which a start is left.
        small_step: length of a step at which a start has converged.
    """

    steps: int
    longest: float
    damping: float
    less: float
    more: float
    stuck: float
    done: float = 0.0
    small_gain: float = 0.0
    patience: int = 1
    small_step: float = 0.0


def descend(
    starts: Float[Tensor, "s n n"],
    residual: Residual,
    move: Move,
    schedule: Schedule,
    *,
    metric: Float[Tensor, "g g"] | None = None,
) -> tuple[Float[Tensor, "s n n"], Float[Tensor, " s"]]:
    """Take every start downhill.

    Args:
        starts: invertible matrices.
        residual: what is to vanish.
        move: how a step moves a matrix.
        schedule: damping and stopping.
        metric: lengths of steps; the identity by default.

    Returns:
        Where the starts arrived, and the mean squared residual there.
    """
    h = starts.clone()
    values, rows = residual(h, torch.arange(len(h)))
    cost = values.square().mean(1)
    metric = torch.eye(rows.shape[2]).to(rows) if metric is None else metric
    damping = torch.full_like(cost, schedule.damping)
    slow = torch.zeros_like(cost)
    for _ in range(schedule.steps):
        active = (cost > schedule.done) & (cost < 1e100)
        active &= (damping < schedule.stuck) & (slow < schedule.patience)
        places = active.nonzero()[:, 0]
        if not len(places):
            break
        step = _step(values[places], rows[places], metric, damping[places])
        length = torch.einsum("sg,gh,sh->s", step, metric, step).clamp_min(0).sqrt()
        step = step * (schedule.longest / length.clamp_min(1e-300)).clamp(max=1.0)[:, None]
        trial = move(h[places], step)
        new_values, new_rows = residual(trial, places)
        new_cost = new_values.square().mean(1)
        better = new_cost < cost[places]
        gain = 1 - new_cost / cost[places].clamp_min(1e-300)
        slow[places] = torch.where(better & (gain < schedule.small_gain), slow[places] + 1, 0)
        factor = torch.where(better, schedule.less, schedule.more)
        damping[places] = (damping[places] * factor).clamp_min(1e-12)
        damping[places[length < schedule.small_step]] = torch.inf
        won = places[better]
        h[won], cost[won] = trial[better], new_cost[better]
        values[won], rows[won] = new_values[better], new_rows[better]
    return h, cost


def _step(
    values: Float[Tensor, "s m"],
    rows: Float[Tensor, "s m g"],
    metric: Float[Tensor, "g g"],
    damping: Float[Tensor, " s"],
) -> Float[Tensor, "s g"]:
    """Damped least squares steps; none where they cannot be solved for."""
    square = rows.mT @ rows
    right = (rows.mT @ values[..., None])[..., 0]
    sensitivity = square.diagonal(dim1=1, dim2=2).sum(1) / metric.diagonal().sum()
    shift = (damping * sensitivity).clamp_min(1e-290)[:, None, None] * metric
    step, info = torch.linalg.solve_ex(square + shift, -right[..., None])
    return torch.where((info == 0)[:, None, None], step, 0.0)[..., 0].nan_to_num(0.0, 0.0, 0.0)
