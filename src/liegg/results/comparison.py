"""The result of `compare`: the symmetries of two models side by side."""

import math
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Measured:
    """Defect δ² in one model: of a direction, or the mean over several.

    Attributes:
        value: the defect; NaN if the model's data does not determine it.
        low: lower end of its interval; NaN without one.
        high: upper end.
        exact: at the numerical floor, which is then the interval's upper end.
    """

    value: float
    low: float
    high: float
    exact: bool


@dataclass(frozen=True, eq=False)
class PairedDefect:
    """The defect of the same motion in both models.

    Attributes:
        found_in: `"both"`, `"a"` or `"b"`; `"neither"` for candidates, if there is no symmetry.
        words: what the motion does.
        generator: its matrix, or its coefficients if the action has no matrices; None for a mean
            over several, and for candidates of the same rank, which differ.
        a: its defect in the first model.
        b: its defect in the second.
    """

    found_in: str
    words: str
    generator: Float[Tensor, "..."] | None
    a: Measured
    b: Measured

    @property
    def smaller(self) -> str:
        """`"a"` or `"b"` if its defect is clearly smaller: the intervals are disjoint; else empty."""
        for name, one, other in (("a", self.a, self.b), ("b", self.b, self.a)):
            low = other.value if one.exact and math.isnan(other.low) else other.low
            if one.high < low:
                return name
        return ""

    @property
    def ratio(self) -> tuple[float, float, float] | None:
        """Defect in b over that in a with its interval; None if one is exact or unknown.

        The two defects are taken as independent.
        """
        a, b = self.a, self.b
        if a.exact or b.exact or not min(a.value, b.value) > 0 or 0 in (a.low, b.low):
            return None
        middle = math.log(b.value / a.value)
        down = math.hypot(math.log(b.value / b.low), math.log(a.high / a.value))
        up = math.hypot(math.log(b.high / b.value), math.log(a.value / a.low))
        return math.exp(middle), math.exp(middle - down), math.exp(middle + up)


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes:
        model: name of the model.
        samples: number of samples.
        nullity: number of symmetries.
        nullity_interval: its interval.
        algebra: name of the algebra.
        undecided: number of directions that its data does not decide.
        uncertainty: angle in radians by which its directions may be off.
    """

    model: str
    samples: int
    nullity: int
    nullity_interval: tuple[int, int]
    algebra: str
    undecided: int
    uncertainty: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison:
    """Symmetries of two models, side by side; printed as a table.

    Attributes:
        a: the first result.
        b: the second.
        question: `"invariance"` or `"equivariance"`.
        action: the candidate generators, in words.
        level: nominal coverage of the intervals.
        angles: principal angles in radians, ascending, between the two spans of symmetries.
        explained: largest angle that the uncertainties of both explain.
        shared: number of directions that both have: angles up to `explained`.
        directions: every direction found in either model, shared ones once; the nearest candidates
            by rank if there is none.
        overall: mean over the shared directions, in the data's metric, or the nearest candidates;
            None if there is neither.
        output_difference: largest relative difference of the output generators of shared
            equivariances; else 0.
        notes: what to know about the numbers.
    """

    a: Side
    b: Side
    question: str
    action: str
    level: float
    angles: Float[Tensor, " k"]
    explained: float
    shared: int
    directions: tuple[PairedDefect, ...]
    overall: PairedDefect | None
    output_difference: float
    notes: tuple[str, ...]

    @property
    def only_a(self) -> int:
        """Number of directions that only the first model has."""
        return self.a.nullity - self.shared

    @property
    def only_b(self) -> int:
        """Number of directions that only the second model has."""
        return self.b.nullity - self.shared

    @property
    def same(self) -> bool:
        """Whether both have the same symmetries, at least one."""
        return self.shared > 0 and not self.only_a and not self.only_b

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        from liegg.results.comparison_text import sentence

        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        from liegg.results.comparison_text import comparison_dict

        return comparison_dict(self)

    def _repr_html_(self) -> str:
        """The table for notebooks, with its columns aligned."""
        from html import escape

        return f'<pre style="overflow-x: auto; line-height: 1.35">{escape(str(self))}</pre>'

    def __str__(self) -> str:
        from liegg.results.comparison_text import table

        return table(self)

    def __repr__(self) -> str:
        return (
            f"Comparison(shared={self.shared}, only_a={self.only_a}, only_b={self.only_b}, "
            f"question={self.question!r})"
        )
