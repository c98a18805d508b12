"""Finite motions from velocities: Runge-Kutta integration over unit time."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

FIRST_FLOW_STEPS, LAST_FLOW_STEPS = 8, 1024
"""Steps of the first integration, and of the last one that is tried."""

TRIED_FLOW_STEPS = 128
"""Steps from which on a sample is given up if twice as many have not reduced its error. With fewer, motions that contract fast overflow."""

FLOW_ELEMENTS = 2**20
"""Numbers of the velocities of all candidates that are integrated at once."""

FLOW_TOLERANCE = 1e-9
"""Relative error of a moved sample in float64; coarser formats take a few of their rounding units."""


def flow(
    velocity: Callable[[Tensor, Int[Tensor, " p"]], Tensor], x: Float[Tensor, "b ..."]
) -> Float[Tensor, "b ..."]:
    r"""Solution at time 1 of $\dot y = v(y)$, $y(0) = x$, by the classical Runge-Kutta method.

    The number of steps is doubled until two results agree, for every sample on its own, and the two
    are combined (Richardson). A sample for which they never agree becomes NaN: its motion leaves every
    bounded region in finite time, as $\dot y = y^2$ does, or changes faster than the steps resolve.
    It is given up early where more steps do not reduce the error.

    Args:
        velocity: velocities of some of the samples, given their present places `[p, *x]` and their numbers `[p]`.
        x: samples at time 0.

    Examples:
        >>> x = torch.tensor([[0.5], [3.0]], dtype=torch.float64)
        >>> flow(lambda y, _: y**2, x)[:, 0].round(decimals=9)  # x / (1 - x) before 1
        tensor([1., nan], dtype=torch.float64)
    """
    tolerance = max(FLOW_TOLERANCE, 16 * torch.finfo(x.dtype).eps)
    result = torch.full_like(x, torch.nan)
    steps, numbers = FIRST_FLOW_STEPS, torch.arange(len(x), device=x.device)
    coarse = _runge_kutta(velocity, x, numbers, steps)
    before = torch.full((len(x),), torch.inf, dtype=x.dtype, device=x.device)
    while len(numbers) and steps < LAST_FLOW_STEPS:
        steps *= 2
        fine = _runge_kutta(velocity, x[numbers], numbers, steps)
        correction = (fine - coarse) / 15
        error = correction.flatten(1).abs().amax(1).nan_to_num(nan=torch.inf, posinf=torch.inf)
        allowed = tolerance * (1 + fine.flatten(1).abs().amax(1))
        converged = error.isfinite() & (error <= allowed)
        result = result.index_put((numbers[converged],), (fine + correction)[converged])
        left = ~converged & ((error < before) | (steps < TRIED_FLOW_STEPS))
        numbers, coarse, before = numbers[left], fine[left], error[left]
    return result


def flows(
    fields: Callable[[Tensor], Tensor], h: Float[Tensor, "m g"], x: Float[Tensor, "b ..."]
) -> Float[Tensor, "m b ..."]:
    """The same samples under several motions, as many pairs of a motion and a sample at once as fit into memory.

    Args:
        fields: velocities `[p, g, *x]` of samples under every candidate.
        h: coefficients of the motions.
        x: samples at time 0.
    """
    some = max(1, FLOW_ELEMENTS // max(1, h.shape[1] * x.numel()))
    return torch.cat([_flows(fields, part, x) for part in h.split(some)])


def _flows(
    fields: Callable[[Tensor], Tensor], h: Float[Tensor, "m g"], x: Float[Tensor, "b ..."]
) -> Float[Tensor, "m b ..."]:
    pairs = h.repeat_interleave(len(x), 0)  # [m·b, g]

    def velocity(moved: Tensor, numbers: Tensor) -> Tensor:
        return torch.einsum("pg,pg...->p...", pairs[numbers], fields(moved))

    moved = flow(velocity, x.repeat(len(h), *[1] * (x.ndim - 1)))
    return moved.unflatten(0, (len(h), len(x)))


def _runge_kutta(
    velocity: Callable[[Tensor, Int[Tensor, " p"]], Tensor],
    x: Float[Tensor, "p ..."],
    numbers: Int[Tensor, " p"],
    steps: int,
) -> Float[Tensor, "p ..."]:
    """The classical method of fourth order, with equal steps."""
    step = 1 / steps
    for _ in range(steps):
        k1 = velocity(x, numbers)
        k2 = velocity(x + step / 2 * k1, numbers)
        k3 = velocity(x + step / 2 * k2, numbers)
        k4 = velocity(x + step * k3, numbers)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x
