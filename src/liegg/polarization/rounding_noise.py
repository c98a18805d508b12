"""What rounding alone does to the rows of a model: how they scatter when every number of a sample moves by a rounding unit."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import fitted
from liegg.actions import Action
from liegg.inputs.model import Model
from liegg.polarization import r_factor as accumulate
from liegg.polarization.rows import ROW_ELEMENTS, Plan, polarize, rows_per_sample

SAMPLES = 256
"""Samples at which rows are taken twice."""

EXCUSED = 4.0
"""Largest defect over its scatter that is rounding: exact symmetries in half precision keep to 3, asymmetric functions have 100."""


class Scatter(NamedTuple):
    r"""How far the rows of a model are from reproducible.

    Attributes:
        r: factor with $r^\top r = \tfrac12 \sum_x \Delta(x)^\top \Delta(x)$ over some samples, $\Delta$ being the difference of
            both readings of the rows of a sample.
        samples: number of these samples.
        spread: mean squared distance of their outputs from the mean output.
        trembling: half the mean squared difference of both readings of an output.
    """

    r: Float[Tensor, "g g"]
    samples: int
    spread: float
    trembling: float

    @property
    def constant(self) -> bool:
        """Whether the outputs of different samples differ no more than those of one."""
        return self.spread <= EXCUSED * self.trembling


def scatter(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    how: Plan,
    *,
    unit: float,
    output_action: Action | None = None,
    samples: int = SAMPLES,
) -> Scatter:
    r"""Take the rows of some samples as they are, and with every number one rounding unit larger or smaller, at random.

    Such a step rounds everything inside the model anew, and hardly moves the function itself. Along a direction $h$ in which
    the true row is zero, both readings are rounding alone and independent, so that half their mean squared difference is the
    mean square of the row: $|rh|^2/N$ is all there is to $h^\top A h$. Where the row is not zero, both readings
    agree up to a rounding unit times the bend of the model, and next to nothing is left. Rounding that repeats itself, such as
    that of the weights, is no scatter: it belongs to the function.

    Args:
        model: the probed model.
        action: candidate generators.
        x: a batch of the data, from which samples are taken evenly.
        how: how rows are taken.
        unit: rounding unit of the model's arithmetic.
        output_action: action on the outputs, for equivariance.
        samples: number of samples, at most.

    Returns:
        The scatter in the columns of `polarize`; samples whose derivatives are not finite are left out.

    Examples:
        >>> from liegg.actions import Linear
        >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)).bfloat16()
        >>> found = scatter(
        ...     Model(lambda x: (x * x).sum(1), "square"),
        ...     Linear(3),
        ...     x,
        ...     Plan("each", "vjp"),
        ...     unit=2.0**-7,
        ... )
        >>> found.r.shape, found.samples
        (torch.Size([9, 9]), 200)
    """
    columns = action.size + (0 if output_action is None else output_action.size)
    room = max(1, ROW_ELEMENTS // (columns * rows_per_sample(how.outputs, model)))
    x = x[torch.linspace(0, len(x) - 1, min(samples, room, len(x))).long().to(x.device)]
    return fitted(lambda some: _scatter(model, action, some, how, unit, output_action), x)


def _scatter(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    how: Plan,
    unit: float,
    output_action: Action | None,
) -> Scatter:
    """The scatter at these samples."""
    columns = action.size + (0 if output_action is None else output_action.size)
    signs = (
        2
        * torch.randint(0, 2, x.shape, generator=torch.Generator().manual_seed(how.seed)).to(
            x.device
        )
        - 1
    )
    moved = (x.double() * (1 + unit * signs.double())).to(x.dtype)
    (one, y), (other, z) = (
        polarize(model, action, some, how, output_action=output_action) for some in (x, moved)
    )
    apart = (one - other) / 2**0.5
    finite = apart.isfinite().flatten(1).all(1)
    apart, y, z = apart[finite].cpu(), y[finite].double(), z[finite].double()
    spread, trembling = (
        float(part.square().sum()) / max(len(y), 1) for part in (y - y.mean(0), (y - z) / 2**0.5)
    )
    return Scatter(
        accumulate.update(accumulate.init(columns), apart.flatten(0, 1)).r,
        len(apart),
        spread,
        trembling,
    )


def measured_floor(
    floor: float,
    values: Float[Tensor, " r"],
    scattered: Float[Tensor, " r"],
    *,
    trusted: float,
    most: float,
    own: float = 0.0,
    gap: float = 1.0,
) -> float:
    """The floor moved to where the scatter says that rounding ends.

    A direction is rounding if its defect is at most `EXCUSED` times its scatter. Between `trusted` and `most` the floor rises over
    such directions, and falls below the first that is none. Where it hides the gap between directions that are all rounding and the
    next, it comes down to what rounding does to them.

    Args:
        floor: as it is without any measurement.
        values: defects, ascending.
        scattered: defect that rounding alone gives each direction.
        trusted: defect up to which a direction is rounding unseen.
        most: largest defect that can be rounding.
        own: error of the solution itself, which does not scatter.
        gap: smallest ratio between symmetries and the rest.

    Examples:
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
    alone = (EXCUSED * scattered).clamp_min(own)
    asked = (values > trusted) & (values <= most)
    excused = values <= alone
    real = values[asked & ~excused].tolist()
    reach = (
        min(max(floor, float(alone[asked & excused].max())), most)
        if bool((asked & excused).any())
        else floor
    )
    if real and real[0] <= reach:
        before = values[asked & excused & (values < real[0])].tolist()
        reach = (before[-1] * real[0]) ** 0.5 if before else trusted
    low = values <= reach
    if hides(reach, values, gap) and bool(excused[low].all()):
        return min(reach, float(alone[low].max()))
    return reach


def hides(floor: float, values: Float[Tensor, " r"], gap: float) -> bool:
    """Whether a floor hides the gap behind the directions at it: the next is less than `gap` times as large as the floor itself."""
    at_floor = int((values <= floor).sum())
    return 0 < at_floor < len(values) and float(values[at_floor]) < gap * floor
