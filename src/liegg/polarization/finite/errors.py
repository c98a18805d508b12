"""The error of finite differences: how rows converge when steps are halved, and noise."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.polarization import r_factor
from liegg.polarization.finite.differences import difference_rows, straight_motions
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rounding_noise import Scatter

FEWEST_ERROR_SAMPLES, MOST_ERROR_SAMPLES = 64, 256
"""Samples at which rows are computed with three steps."""

SLOWEST_GROWTH, FASTEST_GROWTH = 1.5, 4.0
"""Ratio of the errors of doubled steps: of a function with kinks or worse, and of a smooth one."""

NOISE_OF_CHANGE = 1.25
"""Variance of the difference of rows with a step and with twice that step, over that of the rows, if both are noise."""

ROWS_PER_CANDIDATE = 4
"""Rows per candidate below which a combination of candidates might seem to have no error."""


def error_samples(candidates: int, rows: int) -> int:
    """Samples at which the error is measured: rows for twice as many candidates, within limits.

    >>> error_samples(25, 1), error_samples(100, 1)
    (64, 200)
    """
    return min(MOST_ERROR_SAMPLES, max(FEWEST_ERROR_SAMPLES, -(-2 * candidates // max(rows, 1))))


def difference_errors(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    steps: Float[Tensor, " g"],
    *,
    outputs: Outputs,
    seed: int = 0,
    n_output_generators: int = 0,
    rows: int = 1,
    noise: float = 0.0,
) -> Scatter:
    r"""Rows with twice and four times the steps against the rows themselves.

    $D(2t) - D(t)$ is three times the error of $D(t)$ for a smooth function. In general it is $\rho - 1$
    times that error, if errors grow by $\rho$ when steps are doubled, which $D(4t)$ shows. Noise is
    added. With few samples the length of each column is added as a row of its own, so that the error of
    a combination of candidates does not vanish.

    Args:
        model: the probed model.
        action: the candidates.
        x: a batch.
        steps: step of each candidate.
        outputs: which outputs get rows of their own.
        seed: of random combinations.
        n_output_generators: columns of the output action, which come first and have no such error.
        rows: rows per sample.
        noise: standard deviation of the noise of the outputs.
    """
    x = x[evenly_spaced(x, error_samples(action.size, rows))]
    one, two, four = (
        difference_rows(
            model, x, straight_motions(action, x, times * steps), outputs=outputs, seed=seed
        ).cpu()
        for times in (1, 2, 4)
    )
    finite = (one + two).isfinite().flatten(1).all(1)
    one, two, four = one[finite], two[finite], four[finite]
    with torch.no_grad():
        y = model(x).double().cpu()
    flat = _scaled(one, two, four, noise / (math.sqrt(2) * steps)).flatten(0, 1)
    padded = torch.nn.functional.pad(flat, (n_output_generators, 0))
    if len(flat) < ROWS_PER_CANDIDATE * flat.shape[1]:
        columns = torch.diag(torch.linalg.vector_norm(padded, dim=0))
        padded = torch.cat([padded, columns])
    r = r_factor.update(r_factor.init(padded.shape[1]), padded).r
    spread = float((y - y.mean(0)).square().sum(1).mean())
    return Scatter(r, int(finite.sum()), spread, 0.0)


def _scaled(
    one: Float[Tensor, "b k g"],
    two: Float[Tensor, "b k g"],
    four: Float[Tensor, "b k g"],
    noises: Float[Tensor, " g"],
) -> Float[Tensor, "b k g"]:
    """Changes of the rows from a step to twice that step, scaled to the error of each candidate's column."""
    changes = two - one
    squares = changes.square().sum(1).mean(0)
    before = (four - two).square().sum(1).mean(0)
    rates = (
        (before / squares).sqrt().nan_to_num(SLOWEST_GROWTH).clamp(SLOWEST_GROWTH, FASTEST_GROWTH)
    )
    noisy = noises.square()
    converging = (squares - NOISE_OF_CHANGE * noisy).clamp_min(0) / (rates - 1).square()
    wanted = converging + noisy
    tiny = torch.finfo(torch.float64).tiny
    factors = (wanted / squares.clamp_min(tiny)).sqrt()
    # A column that did not change at all has the noise in every row.
    filled = (noises / math.sqrt(changes.shape[1])).expand_as(changes)
    return torch.where(squares > tiny, changes * factors.clamp_max(1e30), filled)
