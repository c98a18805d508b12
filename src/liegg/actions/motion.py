"""A named motion, such as rotation, with its size in a common unit."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ArgumentError

Unit = Literal["", "°", "pixels", "steps", "%"]


@checked_fields
@dataclass(frozen=True, eq=False)
class Motion:
    r"""What `about=` asks: one or several generators under one name, and how far to go.

    Attributes:
        generators: matrices `[k, n, n]` or coefficients `[k, g]` of the action; with several, the
            question is about all of them together, such as shifts along both axes.
        longest: how far to go, in units of the generators; by default one whole turn where there
            is one, else as far as the data is wide.
        unit: unit of a reported size: `"°"`, `"pixels"`, `"steps"` or `"%"`; empty for multiples of the
            data's spread.
        per_unit: size in that unit per unit of the generators; 0 for growth, of which a size is
            $100\,(e^t - 1)$ %.
        action: the action that the generators belong to; None for that of the analysis.

    Examples:
        >>> from liegg import scaling, so
        >>> round(Motion(so(2), unit="°", per_unit=180 / math.pi).size(math.pi / 2))
        90
        >>> round(Motion(scaling(2), math.log(1.25), unit="%").size(math.log(1.25)))
        25
    """

    generators: Float[Tensor, "k ..."]
    longest: float | None = None
    unit: Unit = ""
    per_unit: float = 0.0
    action: Any = None

    def __post_init__(self) -> None:
        if self.generators.ndim not in (2, 3):
            raise ArgumentError(
                f"generators of a motion have shape {tuple(self.generators.shape)}; expected matrices "
                "[k, n, n] or coefficients [k, g], for example Motion(liegg.so(2))."
            )
        if self.action is not None and not hasattr(self.action, "as_coefficients"):
            raise ArgumentError(
                f"action is a {type(self.action).__name__}; expected an action such as liegg.Image()."
            )
        if self.longest is not None and not 0 < self.longest < math.inf:
            raise ArgumentError(
                f"longest={self.longest}: expected None or a positive number, in units of the "
                "generators."
            )

    def size(self, time: float) -> float:
        """A time in the unit of the motion; 0 if it has none."""
        if self.unit == "%" and not self.per_unit:
            return 100 * math.expm1(time)
        return self.per_unit * time

    def time(self, size: float) -> float:
        """The time at which the motion has a size in its unit; a motion without a unit is as long as its time.

        Raises:
            ArgumentError: the motion has no such size.

        Examples:
            >>> from liegg import so
            >>> round(Motion(so(2), unit="°", per_unit=180 / math.pi).time(90.0), 4)
            1.5708
        """
        growth = self.unit == "%" and not self.per_unit
        if not math.isfinite(size) or size == 0 or (growth and size <= -100):
            raise ArgumentError(
                f"size={size}: expected a finite number other than 0"
                f"{', above -100 %' if growth else ''}, in {self.unit or 'units of the generators'}."
            )
        return math.log1p(size / 100) if growth else size / (self.per_unit or 1.0)
