"""Rounding noise of the rows: how they scatter when every input changes by one rounding unit."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.random import signs_like
from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.polarization import r_factor
from liegg.polarization.plan import Plan
from liegg.polarization.rows import ROW_ELEMENTS, polarize, rows_per_sample

SCATTER_SAMPLES = 256
"""Samples at which rows are computed twice."""

EXCUSED = 4.0
"""Largest ratio of a defect to its scatter that counts as rounding.

Exact symmetries in half precision stay below 3, asymmetric functions have 100."""


class Scatter(NamedTuple):
    r"""How far the rows of a model are from reproducible.

    Attributes:
        r: factor with $r^\top r = \tfrac12 \sum_x \Delta(x)^\top \Delta(x)$ over some samples,
            where $\Delta$ is the difference between both evaluations of the rows of a sample.
        samples: number of these samples.
        spread: mean squared distance of their outputs from the mean output.
        tremor: half the mean squared difference between both evaluations of an output.
    """

    r: Float[Tensor, "g g"]
    samples: int
    spread: float
    tremor: float

    @property
    def constant(self) -> bool:
        """Whether outputs of different samples differ no more than evaluations of one sample."""
        return self.spread <= EXCUSED * self.tremor


def scatter(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    plan: Plan,
    *,
    unit: float,
    output_action: Action | None = None,
    samples: int = SCATTER_SAMPLES,
) -> Scatter:
    r"""Compute rows twice, the second time with every input shifted by one rounding unit.

    The shift changes all rounding inside the model but hardly the function itself. Along a
    direction $h$ in which the true row is zero, both evaluations are independent rounding, so half
    their mean squared difference is the mean square of the row: $|rh|^2/N$ explains $h^\top A h$
    completely. Where the row is not zero, both evaluations agree up to a rounding unit times the
    nonlinearity of the model, and almost nothing is left. Systematic rounding, such as that of the
    weights, does not
    scatter: it belongs to the function.

    Args:
        model: the probed model.
        action: candidate generators.
        x: a batch of the data, from which evenly spaced samples are taken.
        plan: how rows are computed.
        unit: rounding unit of the model's arithmetic.
        output_action: action on the outputs, for equivariance.
        samples: most samples.

    Returns:
        The scatter in the columns of `polarize`; samples with derivatives that are not finite are
        omitted.

    Examples:
        >>> import torch
        >>> from liegg.actions import Linear
        >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)).bfloat16()
        >>> square = Model(lambda x: (x * x).sum(1), "square")
        >>> noise = scatter(square, Linear(3), x, Plan("each", "vjp"), unit=2.0**-7)
        >>> noise.r.shape, noise.samples
        (torch.Size([9, 9]), 200)
    """
    columns = action.size + (0 if output_action is None else output_action.size)
    room = max(1, ROW_ELEMENTS // (columns * rows_per_sample(plan.outputs, model)))
    return call_within_memory(
        lambda some: _scatter(model, action, some, plan, unit=unit, output_action=output_action),
        x[evenly_spaced(x, min(samples, room))],
    )


def _scatter(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    plan: Plan,
    *,
    unit: float,
    output_action: Action | None,
) -> Scatter:
    """The scatter at these samples."""
    signs = signs_like(x, seed=plan.seed).double()
    shifted = (x.double() * (1 + unit * signs)).to(x.dtype)
    movable = action.movable(x)
    shifted = shifted if movable is None else torch.where(movable, shifted, x)
    (one, y), (other, z) = (
        polarize(model, action, samples, plan, output_action=output_action)
        for samples in (x, shifted)
    )
    difference = (one - other) / 2**0.5
    finite = difference.isfinite().flatten(1).all(1)
    difference, y, z = difference[finite].cpu(), y[finite].double(), z[finite].double()
    spread, tremor = (
        float(part.square().sum()) / max(len(y), 1) for part in (y - y.mean(0), (y - z) / 2**0.5)
    )
    r = r_factor.update(r_factor.init(difference.shape[2]), difference.flatten(0, 1)).r
    return Scatter(r, len(difference), spread, tremor)


def measured_floor(
    floor: float,
    values: Float[Tensor, " r"],
    scattered: Float[Tensor, " r"],
    *,
    trusted: float,
    most: float,
    own: float | Float[Tensor, " r"] = 0.0,
    gap: float = 1.0,
) -> float:
    """The noise floor, moved to where the measured scatter ends.

    A direction is rounding if its defect is at most `EXCUSED` times its scatter. Between `trusted`
    and `most` the floor rises above such directions, and stays below the first that is not
    rounding. If it hides the gap after directions that are all rounding, it is lowered to their
    scatter.

    Args:
        floor: the floor without measurement.
        values: defects, ascending.
        scattered: defect that rounding alone gives each direction.
        trusted: defect up to which a direction is rounding without measurement.
        most: largest defect that can be rounding.
        own: error of the solution itself, which does not scatter; of all directions, or of each.
        gap: smallest ratio between symmetries and the rest.

    Examples:
        >>> import torch
        >>> values = torch.tensor([0.0001, 0.002, 0.9], dtype=torch.float64)
        >>> measured_floor(0.001, values, torch.full_like(values, 0.001), trusted=0.001, most=0.02)
        0.004
        >>> measured_floor(
        ...     0.003, values, torch.full_like(values, 0.00001), trusted=0.001, most=0.02
        ... )
        0.001
        >>> measured_floor(
        ...     0.001, values, torch.full_like(values, 0.00005), trusted=0.001, most=0.02, gap=10.0
        ... )
        0.0002
    """
    alone = (EXCUSED * scattered).maximum(torch.as_tensor(own, dtype=values.dtype))
    uncertain = (values > trusted) & (values <= most)
    excused = values <= alone
    real = values[uncertain & ~excused].tolist()
    reach = (
        min(max(floor, float(alone[uncertain & excused].max())), most)
        if bool((uncertain & excused).any())
        else floor
    )
    if real and real[0] <= reach:
        before = values[uncertain & excused & (values < real[0])].tolist()
        reach = (before[-1] * real[0]) ** 0.5 if before else trusted
    low = values <= reach
    if hides(reach, values, gap) and bool(excused[low].all()):
        return min(reach, float(alone[low].max()))
    return reach


def hides(floor: float, values: Float[Tensor, " r"], gap: float) -> bool:
    """Whether a floor hides the gap after it: the next value is less than `gap` times the floor."""
    at_floor = int((values <= floor).sum())
    return 0 < at_floor < len(values) and float(values[at_floor]) < gap * floor
