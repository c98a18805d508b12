r"""Outputs in units of their own: the model's outputs times the inverse root of their covariance.

Rows of whitened outputs have $\sum_x E^\top S^{-1} E$ in place of $\sum_x E^\top E$. With $y \mapsto By$
both $E$ and $S$ change so that the product stays, whatever the invertible $B$: defects do not depend on
the units of the outputs, on how they are mixed, or on how often one of them is written.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.errors import ArgumentError
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.inputs.probe import gradients
from liegg.polarization import displacement
from liegg.polarization.displacement import Workspace
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Plan
from liegg.polarization.rows import ROW_ELEMENTS, polarize
from liegg.spectrum.defects import TRIVIAL_TOLERANCE, whitening

AskedOutputs = Outputs | Literal["whitened"]
"""What a user may ask: rows of the outputs as they are, or of whitened ones."""

SAMPLES = 256
"""Samples of the first batch from which the covariance of the outputs is computed."""

SAMPLES_PER_OUTPUT = 2
"""Fewest samples for each output; with fewer, outputs that hardly vary together are not seen."""

COMBINATION_UNITS, LARGEST_CUT = 1000.0, 0.01
"""Rounding units of its size (at most this share of its square) by which a combination of outputs may vary without being more than
rounding; such combinations are left out."""


class Whitening(NamedTuple):
    """How outputs were whitened.

    Attributes:
        outputs: number of outputs.
        independent: of these, how many combinations vary by more than rounding.
        condition: largest over smallest variance of these, with every output in units of its own.
        samples: samples of the first batch that the covariance is from.
    """

    outputs: int
    independent: int
    condition: float
    samples: int


def whitened(
    model: Model, action: Action, x: Float[Tensor, "b ..."], plan: Plan
) -> tuple[Model, Whitening]:
    r"""The model with whitened outputs, as many as before.

    The covariance is $S = \mathrm{Cov}(y) + s\,\overline{E M^{+} E^\top}$: how the outputs vary over the data, and how they
    vary when the candidates move the data by its own spread $s$. The second part keeps an output that the data leave constant
    but that some candidate changes.

    Args:
        model: the probed model.
        action: the candidate generators.
        x: the first batch.
        plan: how rows of each output are computed.

    Raises:
        ArgumentError: there are too few samples for so many outputs.
    """
    width = model(x[:1]).shape[1]
    room = max(1, ROW_ELEMENTS // (action.size * width))
    some = x[evenly_spaced(x, min(SAMPLES, room))]
    if len(some) < SAMPLES_PER_OUTPUT * width:
        raise ArgumentError(
            f"outputs='whitened' needs the covariance of {width} outputs, from at least "
            f"{SAMPLES_PER_OUTPUT * width} samples of the first batch; there are {len(some)}. Use "
            "outputs='each', fewer outputs (target=), or larger batches."
        )
    rows = call_within_memory(partial(_deviations, model, action, plan), some)
    unit = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    matrix, values = inverse_root(rows, cut=min((COMBINATION_UNITS * unit) ** 2, LARGEST_CUT))
    if not len(values):
        return model, Whitening(width, 0, 1.0, len(some))
    function = partial(_mixed, model.function, matrix.to(x.device))
    mixed = replace(
        model,
        function=function,
        output_shape=(width,),
        whole=None,  # classes are asked of the model before it was whitened
        target=None,
    )
    slope, centre, squares = call_within_memory(partial(gradients, mixed, summed=False), some)
    if slope is not None:  # terms of nearly dependent outputs cancel, and leave their rounding
        slope *= float((1 / values).mean())
    condition = float(values.max() / values.min())
    mixed = replace(mixed, slope=slope, centre=centre, squares=squares)
    return mixed, Whitening(width, len(values), condition, len(some))


def inverse_root(
    rows: Float[Tensor, "m c"], *, cut: float
) -> tuple[Float[Tensor, "c c"], Float[Tensor, " k"]]:
    """A matrix `W` with `Wᵀ W` a generalised inverse of `rowsᵀ rows`, and the eigenvalues that it inverts.

    Every column is first divided by its length; eigenvalues are those after that. They come from the rows themselves, since a
    product of rows would lose half of the digits.

    Args:
        rows: deviations of the outputs.
        cut: eigenvalues up to this are rounding, and are not inverted.

    Examples:
        >>> rows = torch.tensor([[2.0, 2.0], [0.0, 0.0]], dtype=torch.float64)
        >>> inverse_root(rows, cut=1e-9)
        (tensor([[0.1768, 0.1768],
                [0.1768, 0.1768]], dtype=torch.float64), tensor([2.0000], dtype=torch.float64))
    """
    sizes = rows.norm(dim=0)
    scale = torch.where(sizes > 0, 1 / sizes.clamp_min(torch.finfo(rows.dtype).tiny), 0.0)
    factor = torch.linalg.qr(rows * scale, mode="r").R
    _, roots, axes = torch.linalg.svd(factor, full_matrices=False)
    used = roots.square() > cut
    axes, roots = axes[used], roots[used]
    return (axes.mT / roots) @ axes * scale, roots.square()


def _deviations(
    model: Model, action: Action, plan: Plan, x: Float[Tensor, "b ..."]
) -> Float[Tensor, "m c"]:
    """How the outputs vary over these samples, and under the candidates; mean squares are sums of squares."""
    rows, y = polarize(model, action, x, plan)
    workspace = Workspace(action)
    workspace.prepare(x)
    sums = displacement.update(displacement.init(action, x), x, workspace)
    moved = action.displacement(displacement.finalise(sums, action, x)[0], len(x))
    whiten, _ = whitening(moved, TRIVIAL_TOLERANCE)
    parts = (rows.double().cpu().unflatten(2, (moved.repeat, -1)) @ whiten).flatten(2)
    spread = displacement.spread(sums) / max(parts.shape[2], 1)
    y = y.double().cpu()
    return torch.cat([y - y.mean(0), parts.mT.flatten(0, 1) * spread**0.5]) / len(x) ** 0.5


def _mixed(function: Callable[[Tensor], Tensor], matrix: Tensor, x: Tensor) -> Tensor:
    return _product(function(x).reshape(x.shape[0], -1), matrix)


def _product(y: Float[Tensor, "... c"], matrix: Float[Tensor, "c c"]) -> Float[Tensor, "... c"]:
    precise = torch.promote_types(y.dtype, torch.float32)
    return y.to(precise) @ matrix.to(precise).mT
