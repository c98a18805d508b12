"""The noise floor: how large a defect rounding alone can produce, and whether anything else moves the output."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from liegg.decision.thresholds import Thresholds
from liegg.polarization.rounding_noise import EXCUSED

SOLVER_UNITS = 100.0
"""Rounding units of float64 by which the solution itself may be off."""

DERIVATIVE_UNITS = 4.0
"""Rounding units by which a derivative may be off where it should be 0; unit lengths and softmax sums stay within 3."""

INCONCLUSIVE_UNIT = 2.0**-11
"""Rounding unit from which a few units prove nothing: any direction takes only a hundredth of a gradient of 10,000 numbers,
whatever rounding does. Half precision and TensorFloat-32 are that coarse."""

FAINT_UNITS, FAINT_SHARE = 100.0, 0.1
"""Rounding units of its size (at most this share of it) by which an output may move that is constant: terms inside a model may be
larger than its output, and so is their rounding."""


def rounding_bound(unit: float, thresholds: Thresholds, *, conditioning: float = 1.0) -> float:
    r"""Largest defect that rounding alone can produce: `(floor_factor · unit)² · conditioning`.

    At least the error of the solution in float64.

    Args:
        unit: rounding unit of the model's arithmetic, from `liegg._utils.precision`.
        thresholds: what counts as a symmetry.
        conditioning: squared length of the gradient over the mean sensitivity κ, that is how much
            larger the terms are that cancel in a symmetric direction than their sum along an average one.
    """
    model = (thresholds.floor_factor * unit) ** 2 * max(conditioning, 1.0)
    return max(model, (SOLVER_UNITS * torch.finfo(torch.float64).eps) ** 2)


def numerical_floor(unit: float, thresholds: Thresholds, *, conditioning: float = 1.0) -> float:
    """Defect up to which a direction is exact unless rounding is measured: the bound, and at most `strong`."""
    bound = rounding_bound(unit, thresholds, conditioning=conditioning)
    return min(bound, thresholds.strong or math.inf)


def trusted_floor(unit: float, thresholds: Thresholds, *, conditioning: float = 1.0) -> float:
    """Defect up to which a direction is exact without a measurement.

    Rounding errors add up like random numbers, so that exact symmetries mostly stay within a few units of what an average
    direction does, however the terms cancel. The error of the solution itself does grow with the conditioning.
    """
    solver = (SOLVER_UNITS * torch.finfo(torch.float64).eps) ** 2 * max(conditioning, 1.0)
    return min(
        max(numerical_floor(unit, thresholds), solver),
        numerical_floor(unit, thresholds, conditioning=conditioning),
    )


@dataclass(frozen=True)
class Response:
    """Whether the model responds to anything beyond rounding.

    Attributes:
        still: only rounding moves the output along every candidate.
        reacts: the model reacts to some change of the input.
        measured: rounding had to be measured to know.
    """

    still: bool
    reacts: bool
    measured: bool = False


def response(
    sensitivity: float,
    slope: float | None,
    output_square: float,
    *,
    unit: float,
    thresholds: Thresholds,
    rounding: Callable[[], tuple[float, bool]] | None = None,
) -> Response:
    """Compare the mean sensitivity with rounding: of the output, of the gradient that cancels, and as measured if in doubt.

    Args:
        sensitivity: squared motion of the output over that of the data, mean over the candidates.
        slope: squared length of the gradient; None if not known.
        output_square: squared size of the output over the squared motion of the data.
        unit: rounding unit of the model's arithmetic.
        thresholds: for the number of rounding units that a cancelling gradient may leave.
        rounding: returns the mean sensitivity that rounding alone gives, and whether only rounding makes the outputs of different
            samples differ; called only if the output moves by almost nothing relative to its size or its gradient.

    Examples:
        >>> response(1e-32, 1.0, 1.0, unit=2.0**-52, thresholds=Thresholds())
        Response(still=True, reacts=True, measured=False)
        >>> response(
        ...     1e-30,
        ...     1e-29,
        ...     1.0,
        ...     unit=2.0**-52,
        ...     thresholds=Thresholds(),
        ...     rounding=lambda: (1e-30, False),
        ... )
        Response(still=True, reacts=False, measured=True)
    """
    least = (DERIVATIVE_UNITS * unit) ** 2 * output_square
    reacts = slope is not None and slope > least
    doubt = (
        sensitivity <= least
        if slope is None
        else sensitivity <= (DERIVATIVE_UNITS * unit) ** 2 * slope or slope <= least
    )
    if doubt and (rounding is None or unit < INCONCLUSIVE_UNIT):
        return Response(True, reacts)
    cancels = slope is not None and sensitivity <= (thresholds.floor_factor * unit) ** 2 * slope
    faint = (
        max(sensitivity, slope or 0.0) <= min(FAINT_UNITS * unit, FAINT_SHARE) ** 2 * output_square
    )
    if rounding is None or not (doubt or cancels or faint):
        return Response(False, reacts)
    noise, constant = rounding()
    if sensitivity <= EXCUSED * noise or (faint and constant):
        # A gradient that does not cancel is itself rounding.
        return Response(True, reacts and cancels, measured=True)
    return Response(False, reacts)
