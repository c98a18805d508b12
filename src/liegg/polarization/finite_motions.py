"""Derivatives along the candidates compared with the output of samples that are really moved."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.polarization.finite.differences import difference_rows, group_motions
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize

MOVED_SAMPLES = 4
"""Samples that are moved."""

LARGEST_RATIO = 2.0
"""Largest ratio between two squared changes that agree."""

CHANGE_UNITS = 64.0
"""Rounding units of the output that a change may be off by."""

SMALL_SHARE = 0.03
"""Share of the mean squared change below which a change counts as none."""


def finite_motions(
    model: Model, action: Action, x: Float[Tensor, "b ..."], plan: Plan
) -> Remark | None:
    r"""Compare each row times a step with half the change between both ends of that motion.

    For a motion $T_s$ of a sampled image, $s\,\langle \partial f(x), \xi \rangle$ should be
    $\tfrac12 (f(T_s x) - f(T_{-s} x))$. Where images have detail as fine as a pixel, and the model
    reacts to it, they differ: derivatives show what no real motion does.

    Args:
        model: the probed model.
        action: the candidates; only those with a step are moved, see `Action.steps`.
        x: a batch, of which a few samples are moved.
        plan: how rows are computed.

    Returns:
        A warning with the candidate that disagrees most; None if all agree to a factor of
        `LARGEST_RATIO`.
    """
    steps = action.steps(tuple(x.shape[1:]))
    if not bool((steps > 0).any()) or len(x) < 1:
        return None
    some = x[evenly_spaced(x, min(MOVED_SAMPLES, len(x)))]
    return call_within_memory(lambda x: _compared(model, action, plan, steps, x=x), some)


def squared_changes(
    model: Model,
    action: Action,
    plan: Plan,
    steps: Float[Tensor, " g"],
    *,
    x: Float[Tensor, "b ..."],
) -> tuple[Float[Tensor, " m"], Float[Tensor, " m"], float]:
    """Mean squared change of the outputs by derivatives and by moving, per candidate with a step; and the mean squared output."""
    moving = (steps > 0).nonzero()[:, 0]
    rows, y = polarize(model, action, x, plan)
    rows = rows[..., moving.to(x.device)].cpu()
    promised = (rows * steps[moving]).square().sum(1).mean(0)
    motions = group_motions(action, x, steps, len(moving))
    moved = difference_rows(model, x, motions, outputs=plan.outputs, seed=plan.seed).cpu()
    found = (moved * steps[moving]).square().sum(1).mean(0)
    return promised, found, float(y.double().square().sum(1).mean())


def _compared(
    model: Model,
    action: Action,
    plan: Plan,
    steps: Float[Tensor, " g"],
    *,
    x: Float[Tensor, "b ..."],
) -> Remark | None:
    """The warning for these samples."""
    promised, found, size = squared_changes(model, action, plan, steps, x=x)
    unit = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    rounding = (CHANGE_UNITS * unit) ** 2 * size
    small = max(SMALL_SHARE * max(float(promised.mean()), float(found.mean())), rounding)
    ratios = ((promised + small) / (found + small)).log().abs()
    if not bool(torch.isfinite(ratios).all()) or float(ratios.max()) <= math.log(LARGEST_RATIO):
        return None
    worst = int(ratios.argmax())
    candidate = int((steps > 0).nonzero()[worst, 0])
    return Diagnosis.MOTIONS_DISAGREE(
        motion=action.words[candidate],
        real=float(found[worst]),
        derivative=float(promised[worst]),
        n=len(x),
    )
