"""Finite motions from velocities: Runge-Kutta integration over unit time."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

FIRST_FLOW_STEPS, LAST_FLOW_STEPS = 8, 1024
"""Steps of the first integration, and of the last one that is tried."""

FLOW_TOLERANCE = 1e-9
"""Relative error of a moved sample in float64; coarser formats take a few of their rounding units."""


def flow(velocity: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
    r"""Solution at time 1 of $\dot y = v(y)$, $y(0) = x$, by the classical Runge-Kutta method.

    The number of steps is doubled until two results agree for every sample, and the two are
    combined (Richardson). A sample for which they never agree becomes NaN: its motion leaves every
    bounded region in finite time, as $\dot y = y^2$ does, or changes faster than the steps resolve.

    Args:
        velocity: velocities of samples `[b, *x]`.
        x: samples at time 0.

    Examples:
        >>> x = torch.tensor([[0.5], [3.0]], dtype=torch.float64)
        >>> flow(torch.square, x)[:, 0].round(decimals=9)  # x / (1 - x), which is infinite at 1
        tensor([1., nan], dtype=torch.float64)
    """
    tolerance = max(FLOW_TOLERANCE, 16 * torch.finfo(x.dtype).eps)
    steps, coarse = FIRST_FLOW_STEPS, _runge_kutta(velocity, x, FIRST_FLOW_STEPS)
    while True:
        steps *= 2
        fine = _runge_kutta(velocity, x, steps)
        correction = (fine - coarse) / 15
        error = correction.flatten(1).abs().amax(1)
        converged = error <= tolerance * (1 + fine.flatten(1).abs().amax(1))
        if bool(converged.all()) or steps >= LAST_FLOW_STEPS:
            kept = converged.reshape(-1, *[1] * (x.ndim - 1))
            return torch.where(kept, fine + correction, torch.nan)
        coarse = fine


def _runge_kutta(
    velocity: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."], steps: int
) -> Float[Tensor, "b ..."]:
    """The classical method of fourth order, with equal steps."""
    step = 1 / steps
    for _ in range(steps):
        k1 = velocity(x)
        k2 = velocity(x + step / 2 * k1)
        k3 = velocity(x + step / 2 * k2)
        k4 = velocity(x + step * k3)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x
