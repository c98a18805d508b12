r"""The step of each candidate, from the noise of the model and from how its difference quotients converge.

The quotient $D(t)$ has the noise $\sigma/\sqrt2\,t$ and the error $O(t^2)$ of a smooth function, or
$O(\sqrt t)$ near kinks. Steps fall by factors of 4 from a quarter of the data's spread. Neighbouring
quotients show how fast they converge, and so what is left; the step with the smallest sum of both
errors is taken.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ModelError, one_line
from liegg._utils.precision import coarsest
from liegg._utils.random import signs_like
from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.difference_quotient import along
from liegg.inputs.model import Model
from liegg.polarization.finite.differences import (
    difference_rows,
    lengths,
    random_direction,
    straight_motions,
)
from liegg.polarization.finite.noise import POINTS, noise_level, still_share
from liegg.polarization.output_sketch import Outputs, combine

STEP_SAMPLES = 16
"""Samples at which steps are tried."""

SPREAD_SAMPLES = 256
"""Samples of which the spread is taken."""

LONGEST_STEP, STEP_RATIO, MOST_STEPS = 0.25, 4.0, 20
"""Longest step as a share of the data's spread, ratio of neighbouring steps, and how many are tried at most."""

CLOSE, CLOSE_UNITS, CLOSE_FACTOR, FARTHEST_CLOSE = 1e-6, 16.0, 64.0, 0.01
"""Distance of the points that show the noise, as a share of the spread, and at least in rounding units; it grows by this factor
while they have equal outputs, up to this share."""

LARGE_NOISE, NOISE_FALL = 1e-6, 4.0
"""Noise, relative to the output, that is measured again at nearer points, and the factor by which it falls there if it is none."""

SLOWEST_FALL, FASTEST_FALL = 2.0, 16.0
"""Ratio of neighbouring errors: at kinks, and of a smooth function."""

NOISY = 2.0
"""Noise of a quotient, in standard deviations, within which its change is noise."""

ROUNDED = 0.3
"""Rounding units of an output that its noise is at least: those of a uniform error."""

SHARP = 1e-4
"""Relative noise of a quotient along a direction that is not a candidate: shorter steps find jumps, which longer ones smear."""

PIECEWISE, PIECEWISE_UNITS, STILL_SHARE = 2e-5, 64.0, 0.5
"""Step, as a share of the spread and in rounding units, that leaves more than this share of the outputs of a piecewise constant
function exactly as they are."""


class Steps(NamedTuple):
    """How finite differences are taken.

    Attributes:
        steps: step of each candidate, in units of its generator.
        noise: standard deviation of the model's noise, relative to the size of its output.
        deviation: the same in units of the output.
        length: length of a step along a direction that is not a candidate.
        slope: mean squared gradient of the model; None if its outputs are piecewise constant.
        slope_noise: what noise alone would add to it.
        piecewise: whether the model is piecewise constant.
    """

    steps: Float[Tensor, " g"]
    noise: float
    deviation: float
    length: float
    slope: float | None
    slope_noise: float
    piecewise: bool


def choose_steps(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    *,
    outputs: Outputs = "each",
    seed: int = 0,
) -> Steps:
    """Choose the steps on a few samples.

    Args:
        model: the probed model.
        action: the candidates.
        x: the first batch.
        outputs: which outputs get rows of their own.
        seed: of random combinations.

    Raises:
        ModelError: no step gives finite outputs.

    Examples:
        >>> from liegg.actions import Linear
        >>> x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> found = choose_steps(Model(lambda x: x.sin().sum(1), "sine"), Linear(3), x)
        >>> bool((found.steps > 1e-7).all() & (found.steps < 1e-2).all()), found.piecewise
        (True, False)
    """
    spread = _spread(action, x[evenly_spaced(x, SPREAD_SAMPLES)])
    some = x[evenly_spaced(x, STEP_SAMPLES)]
    unit = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    trial = _Trial(model, action, some, outputs, seed, unit)
    try:
        noise = _noise(trial, spread)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever a model does beside its samples
        raise _fails(model, one_line(error)) from error
    scale = spread / lengths(action, some).clamp_min(torch.finfo(torch.float64).tiny * spread)
    ladder = _Ladder([], [], [])
    for rung in range(MOST_STEPS):
        share = LONGEST_STEP / STEP_RATIO**rung
        if rung > 2 and (share < CLOSE_UNITS * unit or ladder.settled(noise)):
            break
        ladder.quotients.append(trial.quotients(share * scale))
        ladder.steps.append(share * scale)
        ladder.shares.append(share)
    errors = ladder.errors(noise)
    best = errors.argmin(0)
    between = ladder.between(noise, best)
    if not bool(errors.isfinite().any()):
        raise _fails(model, "its outputs are not finite there")
    chosen = torch.stack(ladder.steps).gather(0, best[None])[0] * between
    length = float(torch.tensor(ladder.shares)[best].median()) * spread
    sizes = torch.stack(ladder.quotients).square().sum(2).mean(1).sqrt().gather(0, best[None])[0]
    steepness = float((sizes * scale / spread).nan_to_num(0.0).median())
    if steepness > 0:
        short = max(noise / (math.sqrt(2) * SHARP * steepness), CLOSE_UNITS * unit * spread)
        length = min(length, short)
    piecewise = _is_piecewise(trial, scale)
    slope, slope_noise = (None, 0.0) if piecewise else _slope(model, some, length, noise)
    size = float(trial.outputs_at(some).square().sum(2).mean().sqrt())
    relative = noise / size if size > 0 else 0.0
    return Steps(chosen, relative, noise, length, slope, slope_noise, piecewise)


def _fails(model: Model, reason: str) -> ModelError:
    """The error for a model that cannot be evaluated beside its samples."""
    return ModelError(
        f"{model.name} fails when samples are moved a little ({reason}), so that there are no finite "
        "differences. Check that it accepts samples near those of the data."
    )


class _Trial(NamedTuple):
    """A few samples at which steps are tried.

    Attributes:
        model: the probed model.
        action: the candidates.
        x: the samples.
        outputs: which outputs get rows of their own.
        seed: of random combinations.
        unit: rounding unit of the model's arithmetic.
    """

    model: Model
    action: Action
    x: Float[Tensor, "s ..."]
    outputs: Outputs
    seed: int
    unit: float

    def outputs_at(self, places: Float[Tensor, "s ..."]) -> Float[Tensor, "1 s k"]:
        """Outputs, or combinations of them, at places near the samples."""
        with torch.no_grad():
            y = self.model(places.to(self.x.dtype))
        return combine(y[None], self.outputs, seed=self.seed)

    def quotients(self, steps: Float[Tensor, " g"]) -> Float[Tensor, "s k g"]:
        """Difference quotients; NaN if the model fails there: moved samples need not be valid."""
        motions = straight_motions(self.action, self.x, steps)
        try:
            return difference_rows(
                self.model, self.x, motions, outputs=self.outputs, seed=self.seed
            ).cpu()
        except torch.OutOfMemoryError:
            raise
        except Exception:
            width = 1 if self.outputs == "sum" else math.prod(self.model.output_shape)
            width = self.outputs if isinstance(self.outputs, int) else width
            return torch.full(
                (len(self.x), width, self.action.size), torch.nan, dtype=torch.float64
            )


class _Ladder(NamedTuple):
    """Difference quotients with steps that fall by a constant ratio."""

    quotients: list[Float[Tensor, "s k g"]]
    steps: list[Float[Tensor, " g"]]
    shares: list[float]

    @property
    def changes(self) -> Float[Tensor, "r g"]:
        """Root mean square change of the quotients from each step to the next."""
        table = torch.stack(self.quotients)
        return (table[1:] - table[:-1]).square().sum(2).mean(1).sqrt()

    def noises(self, noise: float) -> Float[Tensor, "r g"]:
        """What noise does to the quotients."""
        return noise / (math.sqrt(2) * torch.stack(self.steps))

    @property
    def rates(self) -> Float[Tensor, "r g"]:
        """Ratio by which the error falls from each step to the next."""
        changes = self.changes
        rates = torch.full_like(changes, SLOWEST_FALL)
        rates[1:] = (changes[:-1] / changes[1:]).nan_to_num(FASTEST_FALL, posinf=FASTEST_FALL)
        return torch.cat([rates[:1], rates]).clamp(SLOWEST_FALL, FASTEST_FALL)

    @property
    def left(self) -> Float[Tensor, "r g"]:
        """Estimate of what is left to converge at each step."""
        changes, rates = self.changes, self.rates
        first = changes[:1] * rates[:1]
        return torch.cat([first, changes]) / (rates - 1)

    def errors(self, noise: float) -> Float[Tensor, "r g"]:
        """Estimated error of the quotients: what is left to converge, and noise; infinite if unknown."""
        errors = (self.left.square() + self.noises(noise).square()).sqrt()
        return torch.where(errors.isfinite(), errors, torch.inf)

    def between(self, noise: float, best: Int[Tensor, " g"]) -> Float[Tensor, " g"]:
        r"""Factor of the best steps that minimises the error: $\tau$ in $a^2\tau^{2p} + \sigma^2\tau^{-2}$."""
        rates, left, noises = (
            part.gather(0, best[None])[0] for part in (self.rates, self.left, self.noises(noise))
        )
        power = rates.log() / math.log(STEP_RATIO)
        factor = (noises.square() / (power * left.square())) ** (1 / (2 * power + 2))
        # Not longer ones: a few samples may miss where the function is steep.
        return factor.nan_to_num(1.0).clamp(1 / math.sqrt(STEP_RATIO), 1.0)

    def settled(self, noise: float) -> bool:
        """Whether shorter steps would only show more noise, for every candidate."""
        last, rising = self.changes[-1], NOISY * self.noises(noise)[-1]
        return bool(((last <= rising) | ~last.isfinite()).all()) and bool(last.isfinite().any())


def _spread(action: Action, x: Float[Tensor, "b ..."]) -> float:
    """Root mean square distance of samples from their mean, in what the candidates move; their size if all are equal."""
    x = x.double()
    moved = (action.field(random_direction(action).to(x), x) != 0).flatten(1).any(0)
    flat = x.flatten(1)[:, moved]
    about = float((flat - flat.mean(0)).square().sum(1).mean().sqrt())
    return about or float(flat.square().sum(1).mean().sqrt()) or 1.0


def _noise(trial: _Trial, spread: float) -> float:
    """Standard deviation of the noise of the outputs, along one random motion of each sample."""
    x, action = trial.x.double(), trial.action
    way = action.field(random_direction(action).to(x), x)
    size = float(way.flatten(1).square().sum(1).mean().sqrt())

    def values(close: float) -> Float[Tensor, "m s k"]:
        step = close * spread / size if size > 0 else 0.0
        return torch.cat([trial.outputs_at(x + i * step * way) for i in range(POINTS)])

    closest = CLOSE_UNITS * trial.unit
    close = max(CLOSE, closest)
    table = values(close)
    while float(still_share(table).mean()) > STILL_SHARE and close < FARTHEST_CLOSE and size > 0:
        close *= CLOSE_FACTOR
        table = values(close)
    level, output = _level(table), float(table.square().sum(2).mean().sqrt())
    # Noise does not depend on the distance; a function with steep features does.
    while level > LARGE_NOISE * output and close / CLOSE_FACTOR >= closest:
        close /= CLOSE_FACTOR
        nearer = _level(values(close))
        if nearer > level / NOISE_FALL:
            break
        level = nearer
    return max(level, ROUNDED * trial.unit * output)


def _level(table: Float[Tensor, "m s k"]) -> float:
    """Root mean square of the noise of all lines; a single line may cross a jump or a kink."""
    levels = noise_level(table)
    levels = levels[levels.isfinite()]
    if not len(levels):
        return 0.0
    middle = float(levels.median())
    levels = levels.clamp_max(10 * middle) if middle > 0 else levels
    return float(levels.square().mean().sqrt())


def _slope(model: Model, x: Tensor, length: float, noise: float) -> tuple[float, float]:
    """Mean squared gradient, from one random direction per sample, and what noise adds to it."""
    signs = signs_like(x, seed=0)
    _, slopes = along(model, x, signs, length)
    numbers = math.prod(x.shape[1:])
    return float(slopes.square().sum(1).mean()), numbers * noise**2 / (2 * length**2)


def _is_piecewise(trial: _Trial, scale: Float[Tensor, " g"]) -> bool:
    """Whether short steps mostly change nothing, exactly, although long ones do."""
    short = max(PIECEWISE, PIECEWISE_UNITS * trial.unit)
    near, far = ((trial.quotients(share * scale) != 0).any(1) for share in (short, LONGEST_STEP))
    changing = int(far.sum())
    return changing > 0 and int((near & far).sum()) < (1 - STILL_SHARE) * changing
