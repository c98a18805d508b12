"""Stage 5'', stillness: does anything but rounding move the output along the candidates, and if not, along anything else?"""

from collections.abc import Callable
from dataclasses import dataclass

from liegg.decision.grades import Thresholds
from liegg.polarization.rounding_noise import EXCUSED

ROUNDING = 4.0
"""Rounding units that a derivative may be off by where it should be 0; unit lengths and softmax sums keep to 3."""

COARSE = 2.0**-11
"""Rounding unit from which on a few of them prove nothing: of a gradient of 10,000 numbers any direction takes but a hundredth of
its length, whatever rounding does. Half precision and TensorFloat-32 are that coarse."""

FAINT, LEAST_FAINT = 100.0, 0.1
"""Rounding units of its size (at most this share of it) by which an output moves that may be still: terms inside a model may be
larger than its output, and their rounding with them."""


@dataclass(frozen=True)
class Stillness:
    """What is left of the sensitivity when rounding is taken off.

    Attributes:
        still: nothing but rounding moves the output along any candidate.
        reacts: the model is known to react to something, if not to the candidates.
        measured: rounding had to be measured to see it.
    """

    still: bool
    reacts: bool
    measured: bool = False


def stillness(
    sensitivity: float,
    slope: float | None,
    square: float,
    *,
    unit: float,
    thresholds: Thresholds | None = None,
    noise: Callable[[], tuple[float, bool]] | None = None,
) -> Stillness:
    """Hold the mean sensitivity against rounding: of the output, of the gradient that cancels, and as measured on suspicion.

    Args:
        sensitivity: squared motion of the output over that of the data, mean over the candidates.
        slope: squared length of the gradient; None if not known.
        square: squared size of the output over the squared motion of the data.
        unit: rounding unit of the model's arithmetic.
        thresholds: for the number of rounding units that a cancelling gradient may leave.
        noise: tells the mean sensitivity that rounding alone gives, and whether nothing else makes the outputs of different samples
            different; called only if the output moves by next to nothing of its size, or of its gradient.

    Examples:
        >>> stillness(1e-32, 1.0, 1.0, unit=2.0**-52)
        Stillness(still=True, reacts=True, measured=False)
        >>> stillness(1e-30, 1e-29, 1.0, unit=2.0**-52, noise=lambda: (1e-30, False))
        Stillness(still=True, reacts=False, measured=True)
        >>> stillness(1e-30, 1e-29, 1.0, unit=2.0**-52, noise=lambda: (1e-40, False))
        Stillness(still=False, reacts=True, measured=False)
        >>> stillness(1e-30, 1e-29, 1.0, unit=2.0**-52, noise=lambda: (1e-40, True))
        Stillness(still=True, reacts=False, measured=True)
    """
    least = (ROUNDING * unit) ** 2 * square
    reacts = slope is not None and slope > least
    doubt = (
        sensitivity <= least
        if slope is None
        else sensitivity <= (ROUNDING * unit) ** 2 * slope or slope <= least
    )
    if doubt and (noise is None or unit < COARSE):
        return Stillness(True, reacts)
    cancels = (
        slope is not None
        and sensitivity <= ((thresholds or Thresholds()).floor_factor * unit) ** 2 * slope
    )
    faint = max(sensitivity, slope or 0.0) <= min(FAINT * unit, LEAST_FAINT) ** 2 * square
    if noise is None or not (doubt or cancels or faint):
        return Stillness(False, reacts)
    alone, constant = noise()
    if sensitivity <= EXCUSED * alone or (faint and constant):
        return Stillness(
            True, reacts and cancels, measured=True
        )  # a gradient that does not cancel is rounding itself
    return Stillness(False, reacts)
