"""Short steps from samples towards others: values and derivatives of a model at both ends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.random import signs_like
from liegg.inputs.difference_quotient import along
from liegg.inputs.model import Model

LONG_STEP, LONG_STEP_IN_HALF_PRECISION = 0.125, 0.25
"""Longest step, as a share of the way to the other sample; a second one follows it."""

SHORTEST_POWER, SECOND_STEP = 0.4, 16
"""Power of the rounding unit that is the shortest step, and how many times longer the second one is."""

COARSE_UNIT = 1e-4
"""Rounding unit above which short steps show only rounding."""

STEP_UNITS = 8.0
"""Rounding units, of the output and of gradient times input, that two values may differ by."""

SMALLEST_SPREAD = 1e-3
"""Smallest spread of an output, relative to the largest, by which it is divided."""

CONSTANT_UNITS, CONSTANT_SHARE = 1000.0, 0.01
"""Rounding units of the largest output, at most this share of it, by which outputs may differ between samples that are constant."""

QUIET_UNITS = 1e3
"""Rounding units within which an output counts as constant."""


class Points(NamedTuple):
    """Places, and what the model does there.

    Attributes:
        x: the places, in float64.
        value: a combination of the outputs.
        slope: its gradient.
        size: size of its terms.
        length: length of the numbers that may change.
    """

    x: Float[Tensor, "*s n"]
    value: Float[Tensor, "*s"]
    slope: Float[Tensor, "*s n"]
    size: Float[Tensor, "*s"]
    length: Float[Tensor, "*s"]

    def each(self, change: Callable[[Tensor], Tensor]) -> "Points":
        """The points with every tensor changed."""
        return Points(*map(change, self))

    def where(self, chosen: Bool[Tensor, " s"], other: "Points") -> "Points":
        """These points where they are chosen, else the other ones."""
        x, value, slope, size, length = (
            torch.where(chosen if one.ndim == 1 else chosen[:, None], one, two)
            for one, two in zip(self, other, strict=True)
        )
        return Points(x, value, slope, size, length)


@dataclass(frozen=True)
class Steps:
    """Straight steps from samples towards others, of several kinds.

    Attributes:
        model: the model.
        like: the samples, in the model's dtype.
        unit: rounding unit of the model's arithmetic.
        weights: how outputs are combined, for each sample.
        points: the samples, then the ends of the steps of each kind.
        begin: where among the points the steps of each kind begin.
        length: length of the steps of each kind, as a share of the way to the other sample.
        constant: whether only rounding makes the outputs of different samples differ.
        moved: which numbers of a sample may change; None for all.
    """

    model: Model
    like: Float[Tensor, "p ..."]
    unit: float
    weights: Float[Tensor, "p c"]
    points: Points
    begin: list[int]
    length: Float[Tensor, "k 1"]
    constant: bool
    moved: Bool[Tensor, "..."] | None = None


def make_steps(
    model: Model,
    x: Tensor,
    way: Tensor,
    *,
    unit: float,
    summed: bool,
    moved: Bool[Tensor, "..."] | None = None,
) -> Steps:
    """Make the steps: one evaluation for all of their ends."""
    short, long = (
        unit**SHORTEST_POWER,
        LONG_STEP_IN_HALF_PRECISION if unit > COARSE_UNIT else LONG_STEP,
    )
    begin, lengths, ends = [0, 1], [long, long], [long, 2 * long]
    if unit <= COARSE_UNIT:
        begin, lengths = [0, 0, 0, 3], [short, SECOND_STEP * short, *lengths]
        ends = [short, SECOND_STEP * short, *ends]
    weights, constant = x.new_empty(0), False

    def weigh(y: Tensor) -> Tensor:
        nonlocal weights, constant
        constant = _is_constant(y[: len(x)], unit)
        weights = torch.ones_like(y[: len(x)]) if summed else _weights(y[: len(x)], unit)
        return weights.repeat(len(lengths) + 1, 1)

    places = torch.cat([x, *(x + end * way for end in ends)])
    ways = way.repeat(len(ends) + 1, *[1] * (x.ndim - 1))
    points = _evaluate(model, places, ways, weigh, moved=moved)
    return Steps(
        model,
        x,
        unit,
        weights,
        points.each(lambda part: part.unflatten(0, (-1, len(x)))),
        begin,
        torch.tensor(lengths, dtype=torch.float64, device=x.device)[:, None],
        constant,
        moved,
    )


def _is_constant(y: Float[Tensor, "p c"], unit: float) -> bool:
    """Whether outputs differ between samples by no more than rounding of the largest."""
    values = y.double()
    least = min(CONSTANT_UNITS * unit, CONSTANT_SHARE)
    return bool(((values - values.mean(0)).abs() <= least * values.abs().max()).all())


def _weights(y: Float[Tensor, "p c"], unit: float) -> Float[Tensor, "p c"]:
    """Random signs over the spread of each output, at most 1."""
    values = y.double()
    spread = (values - values.mean(0)).square().mean(0).sqrt()
    least = torch.maximum(SMALLEST_SPREAD * spread.max(), QUIET_UNITS * unit * values.abs().amax(0))
    spread = torch.maximum(spread, least).clamp_min(torch.finfo(torch.float64).tiny)
    return signs_like(y, seed=0) * (spread.min() / spread).to(y.dtype)


def _evaluate(
    model: Model,
    x: Tensor,
    way: Tensor,
    weigh: Callable[[Tensor], Tensor],
    *,
    moved: Bool[Tensor, "..."] | None = None,
) -> Points:
    """Combined outputs and their gradients: one forward and one reverse pass.

    Of a model without derivatives, the part of the gradient along the way, by finite differences.
    """
    if model.finite:
        y, slopes = along(model, x, way, model.step)
        weights, direction = weigh(y.to(x.dtype)).double(), way.double().flatten(1)
        square = direction.square().sum(1).clamp_min(torch.finfo(torch.float64).tiny)
        slope = ((slopes * weights).sum(1) / square)[:, None] * direction
    else:
        leaf = x.detach().clone().requires_grad_()
        with torch.enable_grad():
            y = model(leaf)
        weights = weigh(y.detach())
        slope = torch.autograd.grad(y, leaf, weights, materialize_grads=True)[0]
    terms = y.detach().double() * weights.double()
    size = torch.linalg.vector_norm(terms, dim=1)
    flat = x.double().flatten(1)
    length = (flat if moved is None else flat * moved.flatten()).norm(dim=-1)
    return Points(flat, terms.sum(1), slope.double().flatten(1), size, length)


def outside_of(
    near: Points, far: Points, length: Float[Tensor, "*#s"], unit: float
) -> tuple[Float[Tensor, "*s"], Float[Tensor, "*s"]]:
    """How far differences lie outside of the derivatives at both ends of steps, and the larger of these.

    Both are changes for the whole way between two samples; the first has a sign.
    """
    step, change = far.x - near.x, far.value - near.value
    one, other = (near.slope * step).sum(-1), (far.slope * step).sum(-1)
    steepest = torch.maximum(near.slope.norm(dim=-1), far.slope.norm(dim=-1))
    lengths = near.length
    size = torch.maximum(near.size, far.size) + steepest * torch.maximum(lengths, lengths.mean())
    noise = STEP_UNITS * unit * torch.maximum(size, size.mean())
    above = (change - torch.maximum(one, other) - noise).clamp_min(0)
    below = (torch.minimum(one, other) - change - noise).clamp_min(0)
    return (above - below) / length, torch.maximum(one.abs(), other.abs()) / length


def halved(
    steps: Steps,
    outside: Float[Tensor, "k p"],
    rounds: int,
    share: Callable[[Tensor], float],
    *,
    limit: float,
    steady: bool = False,
) -> Float[Tensor, "k p"]:
    """Halve the steps that are outside and go on with the worse half: by how much all are outside at most.

    It ends as soon as their share is within the limit. If what is outside must be `steady`, steps where
    it grows by more than twice are not counted: noise and jumps do, derivatives do not. Towards a pole the slopes grow as the
    differences do; what grows with them is not hidden.
    """
    outside = outside.abs()
    rows, places = outside.nonzero(as_tuple=True)
    begin = torch.tensor(steps.begin, device=rows.device)[rows]
    near, far = (
        steps.points.each(lambda part, row=row: part[row, places]) for row in (begin, rows + 1)
    )
    length, weights = steps.length[rows, 0], steps.weights[places]
    start, slopes = outside[rows, places], outside_of(near, far, length, steps.unit)[1]
    for _ in range(rounds):
        middle = ((near.x + far.x) / 2).to(steps.like.dtype).unflatten(1, steps.like.shape[1:])
        way = (far.x - near.x).to(steps.like.dtype).unflatten(1, steps.like.shape[1:])
        centre = _evaluate(steps.model, middle, way, lambda _: weights, moved=steps.moved)
        length = length / 2
        halves = []
        for one, other in ((near, centre), (centre, far)):
            there, steeper = outside_of(one, other, length, steps.unit)
            calm = (slopes / torch.maximum(steeper, slopes)).nan_to_num(1.0).square()
            halves.append((there * calm).abs().nan_to_num(0.0))
        left = halves[0] >= halves[1]
        near, far = near.where(left, centre), centre.where(left, far)
        worse = torch.maximum(*halves)
        finest = torch.minimum(outside[rows, places], worse)
        finest = finest * (worse <= 2 * start) if steady else finest
        outside = outside.index_put((rows, places), finest)
        if share(outside) <= limit:
            break
    return outside
