"""Central differences of a model along the candidates."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.inputs.model import Model
from liegg.polarization.output_sketch import Outputs, combine

TANGENT_NUMBERS = 2**22
"""Most numbers in the velocities that are held at a time: 32 MB."""


def difference_rows(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    steps: Float[Tensor, " g"],
    *,
    outputs: Outputs,
    seed: int = 0,
    first: int = 0,
) -> Float[Tensor, "b k g"]:
    r"""Rows $(f(x + t\,\xi_a(x)) - f(x - t\,\xi_a(x))) / 2t$, with a step $t$ for each candidate.

    Two calls of the model for each candidate, each with as many samples as the batch has.

    Args:
        model: the probed model.
        action: the candidates.
        x: a batch in the model's dtype.
        steps: step of each candidate.
        outputs: which outputs get rows of their own.
        seed: of random combinations.
        first: position of the first sample in the data.
    """
    columns = []
    for tangent, step in zip(tangents(action, x), steps.tolist(), strict=True):
        ahead, behind = (_moved(model, x, tangent, sign * step) for sign in (1, -1))
        slope = (ahead - behind) / (2 * step)
        columns.append(combine(slope[None], outputs, seed=seed, first=first)[0])
    return torch.stack(columns, dim=2)


def tangents(action: Action, x: Float[Tensor, "b ..."]) -> Iterator[Float[Tensor, "b ..."]]:
    """Velocities of the samples under each candidate, in float64, a few held at a time."""
    x = x.double()
    units = torch.eye(action.size, dtype=x.dtype, device=x.device)
    for some in units.split(max(1, TANGENT_NUMBERS // max(1, x.numel()))):
        yield from action.tangents(some, x)


def lengths(action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, " g"]:
    """Root mean square length of the motion of samples by each candidate."""
    squares = [float(one.square().sum()) / len(x) for one in tangents(action, x)]
    return torch.tensor(squares, dtype=torch.float64).sqrt()


def _moved(model: Model, x: Tensor, tangent: Tensor, step: float) -> Float[Tensor, "b c"]:
    """Outputs of moved samples; the motion is added in float64."""
    with torch.no_grad():
        return model((x.double() + step * tangent).to(x.dtype)).double()
