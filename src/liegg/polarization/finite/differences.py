"""Central differences of a model along the candidates: on straight lines, or between samples that are really moved."""

from collections.abc import Iterable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.inputs.difference_quotient import half_difference
from liegg.inputs.model import Model
from liegg.polarization.output_sketch import Outputs, combine

VELOCITY_NUMBERS = 2**22
"""Most numbers in the velocities that are held at a time: 32 MB."""

Motion = tuple[Float[Tensor, "t b ..."], Float[Tensor, "t b ..."], Float[Tensor, " t"]]
"""Samples moved ahead and behind along some candidates, and the step of each."""


def difference_rows(
    model: Model,
    x: Float[Tensor, "b ..."],
    motions: Iterable[Motion],
    *,
    outputs: Outputs,
    seed: int = 0,
    first: int = 0,
) -> Float[Tensor, "b k g"]:
    r"""Rows $(f(x_t) - f(x_{-t})) / 2t$ with a step $t$ for each candidate.

    For each motion one call of the model with both ends, or two if these are many.

    Args:
        model: the probed model.
        x: a batch in the model's dtype.
        motions: the batch at both ends of the steps, see `straight_motions` and `group_motions`.
        outputs: which outputs get rows of their own.
        seed: of random combinations.
        first: position of the first sample in the data.
    """
    columns = []
    for ahead, behind, steps in motions:
        changes = half_difference(model, x, ahead.flatten(0, 1), behind.flatten(0, 1))
        slopes = changes.unflatten(0, (len(steps), len(x))) / steps[:, None, None]
        columns.append(combine(slopes, outputs, seed=seed, first=first))
    return torch.cat(columns).permute(1, 2, 0)


def straight_motions(
    action: Action, x: Float[Tensor, "b ..."], steps: Float[Tensor, " g"]
) -> Iterator[Motion]:
    r"""The samples $x \pm t\,\xi_a(x)$, one candidate after the other; added in float64."""
    for tangent, step in zip(tangents(action, x), steps.to(x.device), strict=True):
        yield (x + step * tangent)[None], (x - step * tangent)[None], step[None]


def group_motions(
    action: Action, x: Float[Tensor, "b ..."], steps: Float[Tensor, " g"], together: int
) -> Iterator[Motion]:
    """The samples moved by the action, `together` candidates at a time; those without a step are left out."""
    for some in torch.diag(steps)[steps > 0].split(together):
        h = some.to(x)
        yield action.act_all(h, x), action.act_all(-h, x), some.sum(1).to(x.device)


def tangents(action: Action, x: Float[Tensor, "b ..."]) -> Iterator[Float[Tensor, "b ..."]]:
    """Velocities of the samples under each candidate, in float64, a few held at a time."""
    x = x.double()
    units = torch.eye(action.size, dtype=x.dtype, device=x.device)
    for some in units.split(max(1, VELOCITY_NUMBERS // max(1, x.numel()))):
        yield from action.tangents(some, x)


def lengths(action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, " g"]:
    """Root mean square length of the motion of samples by each candidate."""
    squares = [float(one.square().sum()) / len(x) for one in tangents(action, x)]
    return torch.tensor(squares, dtype=torch.float64).sqrt()


def random_direction(action: Action) -> Float[Tensor, " g"]:
    """One direction among the candidates, the same at every call."""
    return torch.randn(action.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
