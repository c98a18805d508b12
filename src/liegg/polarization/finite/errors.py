"""The error of finite differences: how far rows move when every step is doubled."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.polarization import r_factor
from liegg.polarization.finite.differences import difference_rows
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rounding_noise import Scatter

FEWEST, MOST = 64, 256
"""Samples at which rows are computed with both steps."""


def error_samples(candidates: int, rows: int) -> int:
    """Samples at which the error is measured: rows for twice as many candidates, within limits.

    >>> error_samples(25, 1), error_samples(100, 1)
    (64, 200)
    """
    return min(MOST, max(FEWEST, -(-2 * candidates // max(rows, 1))))


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
) -> Scatter:
    r"""Rows with doubled steps against the rows themselves.

    $D(2t) - D(t)$ is three times the error of $D(t)$ for a smooth function, the error itself at kinks,
    and 1.1 times its noise. The length of each column is added as a row of its own, so that few
    samples do not make the error of a combination of candidates vanish.

    Args:
        model: the probed model.
        action: the candidates.
        x: a batch.
        steps: step of each candidate.
        outputs: which outputs get rows of their own.
        seed: of random combinations.
        n_output_generators: columns of the output action, which come first and have no such error.
        rows: rows per sample.
    """
    x = x[evenly_spaced(x, error_samples(action.size, rows))]
    one, two = (
        difference_rows(model, action, x, times * steps, outputs=outputs, seed=seed).cpu()
        for times in (1, 2)
    )
    finite = (one + two).isfinite().flatten(1).all(1)
    difference = (two - one)[finite]
    with torch.no_grad():
        y = model(x).double().cpu()
    flat = difference.flatten(0, 1)
    padded = torch.nn.functional.pad(flat, (n_output_generators, 0))
    columns = torch.diag(torch.linalg.vector_norm(padded, dim=0))
    r = r_factor.update(r_factor.init(padded.shape[1]), torch.cat([padded, columns])).r
    spread = float((y - y.mean(0)).square().sum(1).mean())
    return Scatter(r, int(finite.sum()), spread, 0.0)
