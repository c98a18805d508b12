"""Whether a model's derivative is that of its output, or whether something inside hides a part of the change."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import HiddenDerivativeError
from liegg._utils.precision import coarsest, full_precision_products
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.inputs.short_steps import (
    COARSE_UNIT,
    LONG_STEP,
    SHORTEST_POWER,
    Steps,
    halved,
    make_steps,
    outside_of,
)

HIDDEN_PAIRS, FEWEST_PAIRS = 64, 2
"""Most and fewest pairs of samples between which steps are made."""

SAMPLES_PER_PAIR = 64
"""One pair, which costs up to five evaluations, for as many samples of the first batch."""

CHEAP_PRODUCTS = 2**22
"""Products of weights and samples (of images: pixels) that more pairs may cost: about a millisecond."""

PARTNER = 0.382
"""Distance of the two samples of a pair, as a share of the pairs: no period of the data is near it."""

TOO_SHORT = 1e-3
"""Longest step that says nothing of jumps: it hardly meets any, and noise, as of a solver, looks like them."""

HALVINGS, SHORT_HALVINGS = 12, 3
"""Most halvings of a long step, and of the shortest one."""

FEWEST_HALVINGS, STEPS_INSIDE = 3, 32.0
"""Halvings that must be possible, and steps of finite differences that fit into the shortest step: quotients nearer to a jump show
the jump itself."""

SMOOTH, JUMPS = 1e-4, 0.03
"""Largest relative change that a smooth part, or jumps, may hide.

Honest functions stay below 1e-10 in float64; networks with kinks reach 0.025 before a step is halved."""

NEARLY = 2 / 3
"""Share of the limit of jumps above which they cannot be excluded: both a step and steep functions without any show 2.9 %."""

SMOOTH_UNITS = 30.0
"""Roots of the rounding unit that a smooth part must exceed in any case: 1 % in float32."""

LOST = 100.0
"""Smallest numbers of a precision below which an output loses its digits."""


OUTPUT_NUMBERS = 2**21
"""Outputs of all pairs together."""


@dataclass(frozen=True)
class HiddenChange:
    """Change of the output that the derivative does not show, relative to the change that either shows.

    Attributes:
        smooth: part that finite differences at the samples show, such as a detached term.
        jumps: part that steps between samples show, such as rounding or a look-up.
        unit: rounding unit of the model's arithmetic.
    """

    smooth: float
    jumps: float
    unit: float

    @property
    def share(self) -> float:
        """The larger one of the two parts."""
        return max(self.smooth, self.jumps)

    @property
    def remark(self) -> Remark:
        """What a result says about it."""
        return Diagnosis.HIDDEN_DERIVATIVE(percent=100 * self.share, kind=self.kind)

    @property
    def kind(self) -> str:
        """How it shows."""
        if self.smooth > smooth_limit(self.unit):
            return "finite differences at the samples converge to something else"
        return "the output jumps between samples"

    @property
    def nearly(self) -> bool:
        """Whether jumps are not found, but cannot be excluded: steep functions without jumps show as much."""
        return not self.found and self.jumps > NEARLY * jump_limit(self.unit)

    @property
    def doubt(self) -> Remark:
        """What a result says where jumps cannot be excluded."""
        return Diagnosis.JUMPS_NOT_EXCLUDED(
            percent=100 * self.jumps, limit=100 * jump_limit(self.unit)
        )

    @property
    def found(self) -> bool:
        """Whether this is more than steps of honest functions show."""
        return self.smooth > smooth_limit(self.unit) or self.jumps > jump_limit(self.unit)


def hidden_change(
    model: Model,
    x: Float[Tensor, "b ..."],
    *,
    moved: Bool[Tensor, "..."] | None = None,
    movable: Bool[Tensor, "b ..."] | None = None,
    summed: bool = False,
    pairs: int | None = None,
) -> HiddenChange | None:
    r"""Compare differences of the output with its derivative, on short steps from samples towards others.

    Between two places $f(y) - f(x) = \int_0^1 \langle \partial f(x + t(y - x)), y - x\rangle\,dt$, so
    that the difference is a mean of the derivatives along the step. On a short step of an honest
    function it lies between those at both ends, up to rounding; where a kink or a steep place leaves it
    outside, it comes back when the step is halved. What is hidden from the derivative stays outside.

    Outputs are divided by their spread and combined with new random signs for each pair: each
    evaluation is one forward and one reverse pass for all outputs.

    Args:
        model: the probed model.
        x: the first batch.
        moved: which numbers of a sample may change; None for all.
        movable: numbers of the samples that are not context, if there is any; steps between two samples change those
            that both have.
        summed: whether the question is about the sum of the outputs.
        pairs: number of pairs of samples; by default as many as cost little beside the pass.

    Returns:
        The hidden change; None if it cannot be measured: the samples are equal, nothing changes the
        output, it has no derivative at all, or the model fails between samples, which need not be valid.

    Examples:
        >>> x = torch.randn(100, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> whole = Model(lambda x: x.square().sum(1), "whole")
        >>> hidden_change(whole, x).found
        False
        >>> part = Model(lambda x: x.square().sum(1) + 3 * x[:, 0].detach(), "part")
        >>> hidden_change(part, x).found, round(hidden_change(part, x).smooth, 1)
        (True, 0.4)
    """
    count = affordable_pairs(model, x) if pairs is None else pairs
    places = evenly_spaced(x, count)
    known = None if movable is None else movable[places]
    measure = partial(_measure, model, moved=moved, movable=known, summed=summed)
    try:
        with full_precision_products():
            if known is not None:
                return measure(x[places])
            return call_within_memory(measure, x[places])
    except Exception:  # whatever a model does between samples must not break the analysis
        return None


def refuse(model: Model, hidden: HiddenChange) -> NoReturn:
    """Raise the error for a model whose derivative is not that of its output.

    Raises:
        HiddenDerivativeError: always.
    """
    if model.finite:
        raise HiddenDerivativeError(
            f"the output of {model.name} jumps between samples: finite differences by short steps do not "
            f"show {100 * hidden.share:.3g} % of its change. Something inside is rounded, looked up or "
            "chosen. Remove it, or pass run=liegg.Run(hidden='warn') to analyse the function without its "
            "jumps; sym.about(...) measures finite motions of it."
        )
    raise HiddenDerivativeError(
        f"the derivative of {model.name} does not show {100 * hidden.share:.3g} % of the change of its "
        f"output between samples: {hidden.kind}, so symmetries of this derivative are those of another "
        "function. Something inside hides the change: .detach(), torch.no_grad, .numpy(), rounding, a "
        "step or a choice (floor, argmax, top-k, nearest neighbours, a hard cut-off, an angle that wraps around), "
        "a straight-through estimator, or a backward of your own that is wrong. Remove it, analyse the "
        "part of the model before it, or pass run=liegg.Run(hidden='warn') to analyse the derivative as "
        "it is."
    )


def smooth_limit(unit: float) -> float:
    """Largest relative change that a smooth part may hide, in arithmetic of a rounding unit.

    >>> smooth_limit(2.0**-52), round(smooth_limit(2.0**-23), 3)
    (0.0001, 0.01)
    """
    return max(SMOOTH, SMOOTH_UNITS * math.sqrt(unit))


def jump_limit(unit: float) -> float:
    """Largest relative change that jumps may hide, in arithmetic of a rounding unit.

    >>> jump_limit(2.0**-23), round(jump_limit(2.0**-7), 2)
    (0.03, 0.09)
    """
    return max(JUMPS, math.sqrt(unit))


def affordable_pairs(model: Model, x: Float[Tensor, "b ..."]) -> int:
    """Pairs of samples that cost a few percent of the pass over a batch, or about a millisecond.

    >>> affordable_pairs(Model(torch.sin, "sine"), torch.zeros(50, 3))
    50
    """
    cheap = cheap_evaluations(model, x) // 5
    room = OUTPUT_NUMBERS // max(1, math.prod(model.output_shape))
    most = min(HIDDEN_PAIRS, max(FEWEST_PAIRS, room))
    return min(len(x), most, max(FEWEST_PAIRS, len(x) // SAMPLES_PER_PAIR, cheap))


def cheap_evaluations(model: Model, x: Float[Tensor, "b ..."]) -> int:
    """Samples that a model evaluates in about a millisecond.

    >>> cheap_evaluations(Model(torch.sin, "sine"), torch.zeros(50, 3))
    21845
    """
    numbers = math.prod(x.shape[1:])
    products = 64 * numbers if model.weights is None else model.weights * numbers ** (x.ndim > 2)
    return CHEAP_PRODUCTS // max(1, products)


def _measure(
    model: Model,
    x: Float[Tensor, "p ..."],
    *,
    moved: Tensor | None,
    movable: Tensor | None,
    summed: bool,
) -> HiddenChange | None:
    """The hidden change on steps from these samples."""
    numbers = torch.finfo(coarsest(x.dtype, model.arithmetic))
    unit = max(numbers.eps, model.noise)
    partner = max(1, round(PARTNER * len(x)))
    way = x.roll(partner, 0) - x
    way = way if moved is None else way * moved.to(way)
    context = None
    if movable is not None:
        way, context = way * (movable & movable.roll(partner, 0)), moved
    if model.finite and _rounds(model, way) < FEWEST_HALVINGS:
        return None
    steps = make_steps(model, x, way, unit=unit, summed=summed, moved=context)
    near = steps.points.each(lambda part: part[steps.begin])
    far = steps.points.each(lambda part: part[1:])
    outside, slopes = outside_of(near, far, steps.length, unit)
    known = (outside + slopes).isfinite().all(0) & (way != 0).flatten(1).any(1)
    outside, slopes = outside[:, known], slopes[:, known]
    if 2 * outside.shape[1] < len(x) or not bool((outside.abs() + slopes > 0).any()):
        return None
    if steps.constant or float(steps.points.size[:, known].max()) < LOST * numbers.tiny:
        return None
    places = known.nonzero().flatten()
    steps = replace(
        steps, weights=steps.weights[places], points=steps.points.each(lambda part: part[:, places])
    )
    # Finite differences at the samples are the derivative of such a model.
    smooth = 0.0 if unit > COARSE_UNIT or model.finite else _smooth(steps, outside, slopes)
    settled = smooth > smooth_limit(unit)
    return HiddenChange(smooth, _jumps(steps, outside, slopes, settled=settled), unit)


def _rounds(model: Model, way: Float[Tensor, "p ..."]) -> int:
    """Halvings of a long step until it is as short as the steps of finite differences."""
    length = LONG_STEP * float(way.double().flatten(1).norm(dim=1).median())
    return int(math.log2(max(length / (STEPS_INSIDE * model.step), 1.0))) if model.step > 0 else 0


def _smooth(steps: Steps, outside: Float[Tensor, "k p"], slopes: Float[Tensor, "k p"]) -> float:
    """Relative change on which the two shortest steps agree: finite differences converge, but to something else.

    Rounding, other noise and jumps differ between both lengths.
    """
    one, two = outside[0], outside[1]
    agree = (one * two > 0) & ((one - two).abs() <= torch.maximum(one.abs(), two.abs()) / 2)
    if 2 * float((one * agree).square().sum()) <= float(one.square().sum()):
        return 0.0
    total = float((slopes[1] + two.abs()).square().sum())

    def share(outside: Tensor) -> float:
        agreed = torch.minimum(outside[0].abs(), two.abs()) * agree
        return math.sqrt(float(agreed.square().sum()) / total)

    if share(outside) <= smooth_limit(steps.unit):
        return share(outside)
    shortest = torch.zeros_like(outside)
    shortest[0] = one * agree
    limit = smooth_limit(steps.unit)
    return share(halved(steps, shortest, SHORT_HALVINGS, share, limit=limit, steady=True))


def _jumps(
    steps: Steps, outside: Float[Tensor, "k p"], slopes: Float[Tensor, "k p"], *, settled: bool
) -> float:
    """Relative change that does not fall when steps are halved, for the worst of the lengths.

    A jump is as high on a short step as on a long one, but met less often: squares are weighted with
    the length. In half precision, where nothing else shows smooth parts, they are not.
    """
    weight = torch.ones_like(steps.length) if steps.unit > COARSE_UNIT else steps.length
    weight = weight * (steps.length > TOO_SHORT)

    def share(outside: Tensor) -> float:
        hidden = (weight * outside.square()).sum(1)
        return math.sqrt(float((hidden / (hidden + slopes.square().sum(1))).nan_to_num(0.0).max()))

    limit = jump_limit(steps.unit)
    if settled or share(outside) <= limit:
        return share(outside)
    ratio = float(steps.length[-1]) / steps.unit**SHORTEST_POWER
    rounds = min(HALVINGS, math.ceil(math.log2(ratio)) + 4)
    if steps.model.finite:
        way = steps.points.x[1:] - steps.points.x[steps.begin]
        rounds = min(rounds, _rounds(steps.model, way[-1] / steps.length[-1]))
    return share(halved(steps, outside * (weight > 0), rounds, share, limit=limit))
