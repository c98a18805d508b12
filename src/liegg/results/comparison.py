"""The result of `compare`: the symmetries of two models side by side, and what that shows."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg.results.json_values import json_values
from liegg.results.paired_answer import PairedAnswer
from liegg.results.tables import Printed, value_range, with_interval

OUTPUT_DIFFERENCE = 0.1
"""Relative difference above which output generators differ, unless uncertainties explain more."""

SAME_SPAN = 1e-6
"""Angle in radians below which two spans are one.

It allows for rounding in exact directions, as far as usual data amplifies it."""


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

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        return json_values(self) | {"smaller": self.smaller, "ratio": json_values(self.ratio)}


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes:
        model: name of the model.
        samples: number of samples.
        nullity: number of symmetries.
        nullity_interval: its interval; None if none was made.
        algebra: name of the algebra.
        undecided: number of directions that its data does not decide.
        uncertainty: angle in radians by which its directions may be off.
        of_data: whether it is about a data set, without any model.
    """

    model: str
    samples: int
    nullity: int
    nullity_interval: tuple[int, int] | None
    algebra: str
    undecided: int
    uncertainty: float
    of_data: bool = False


class SideBySide(Printed):
    """What comparisons share: the names of two models, and a table."""

    names: tuple[str, str]

    @property
    def both(self) -> dict[str, str]:
        """The names, for a template."""
        return dict(zip(("first", "second"), self.names, strict=True))

    @checked()
    def named(self, side: str) -> str:
        """Name of the first model for `"a"`, of the second for `"b"`."""
        return dict(zip("ab", self.names, strict=True)).get(side, side)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(SideBySide):
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
        names: names of the two models.
        answers: the named motions that both models were asked about, side by side.
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
    names: tuple[str, str] = ("a", "b")
    answers: tuple[PairedAnswer, ...] = ()

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
    def remarks(self) -> tuple[Remark, ...]:
        """What the comparison shows: which symmetries are shared, and which model has them better."""
        a, b = self.a, self.b
        if a.undecided or b.undecided:
            sides = zip(self.names, (a, b), strict=True)
            models = " and ".join(name for name, side in sides if side.undecided)
            return (Diagnosis.NOT_COMPARABLE(models=models),)
        if a.of_data != b.of_data:
            return tuple(_model_and_data(self))
        if not a.nullity and not b.nullity:
            return (Diagnosis.NEITHER_SYMMETRIC(), *_nearest(self))
        if not self.shared:
            return tuple(_nothing_shared(self))
        remarks = [_shared(self), *_amount(self)]
        if self.output_difference > max(OUTPUT_DIFFERENCE, self.explained):
            remarks.append(Diagnosis.OUTPUTS_DIFFER(percent=100 * self.output_difference))
        return tuple(remarks)

    @property
    def sentence(self) -> str:
        """The comparison in plain words: the first named motion, and the symmetries found."""
        found = "; ".join(self.remarks) + "."
        return " ".join([*(answer.sentence for answer in self.answers[:1]), found])

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        return json_values(self) | {
            "sentence": self.sentence,
            "remarks": [remark.to_dict() for remark in self.remarks],
            "same": self.same,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "directions": [pair.to_dict() for pair in self.directions],
            "overall": None if self.overall is None else self.overall.to_dict(),
            "answers": [answer.to_dict() for answer in self.answers],
        }

    @checked()
    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.comparisons.write_comparison`."""
        from liegg.report.page.comparisons import write_comparison

        return write_comparison(self, path, title=title)

    @checked()
    def table(self, *, width: int | None = None) -> str:
        """What `print` shows.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
        """
        from liegg.results.comparison_text import table

        return table(self, width=width)

    def __repr__(self) -> str:
        return (
            f"Comparison(shared={self.shared}, only_a={self.only_a}, only_b={self.only_b}, "
            f"question={self.question!r})"
        )


def _shared(comparison: Comparison) -> Remark:
    """Which symmetries both models have."""
    a, b, shared = comparison.a, comparison.b, comparison.shared
    adjective = _adjective(comparison)
    if comparison.same and a.algebra == b.algebra:
        return Diagnosis.SAME_ALGEBRA(adjective=adjective, algebra=_algebra(a))
    if comparison.same:
        return Diagnosis.SAME_DIRECTIONS(
            adjective=adjective, shared=shared, a=a.algebra, b=b.algebra
        )
    if comparison.only_a and comparison.only_b:
        return Diagnosis.PARTLY_SHARED(
            shared=shared,
            only_a=comparison.only_a,
            only_b=comparison.only_b,
            a=a.algebra,
            b=b.algebra,
            **comparison.both,
        )
    one, other = comparison.names
    larger, smaller, whole, part = (one, other, a, b) if comparison.only_a else (other, one, b, a)
    return Diagnosis.ONE_CONTAINS_OTHER(
        larger=larger,
        smaller=smaller,
        part=_algebra(part),
        more=whole.nullity - shared,
        algebra=_algebra(whole),
    )


def _model_and_data(comparison: Comparison) -> list[Remark]:
    """What a model keeps of the symmetries of a data set, what it adds and what it breaks."""
    first = comparison.a.of_data
    model, data = comparison.names[::-1] if first else comparison.names
    total, of_model = (comparison.a, comparison.b) if first else (comparison.b, comparison.a)
    shared = comparison.shared
    beyond, broken = of_model.nullity - shared, total.nullity - shared
    found = [Diagnosis.DATA_HAS_NOTHING_TO_KEEP(data=data)]
    if total.nullity:
        algebra = _algebra(total)
        values = {"shared": shared, "total": total.nullity, "algebra": algebra}
        found = [Diagnosis.MODEL_KEEPS(model=model, data=data, **values)]
    if beyond:
        found.append(Diagnosis.MODEL_BEYOND(beyond=beyond, model=model, data=data))
    if broken:
        found.append(Diagnosis.MODEL_BREAKS(broken=broken, model=model, data=data))
    return found


def _nothing_shared(comparison: Comparison) -> list[Remark]:
    """One model has no symmetry, or both have different ones."""
    a, b = comparison.a, comparison.b
    if a.nullity and b.nullity:
        angle = math.degrees(float(comparison.angles[0]))
        found = [
            Diagnosis.NOTHING_SHARED(a=_algebra(a), b=_algebra(b), angle=angle, **comparison.both)
        ]
    else:
        one, other, side = (*comparison.names, a) if a.nullity else (*comparison.names[::-1], b)
        found = [
            Diagnosis.ONLY_ONE_SYMMETRIC(
                one=one, other=other, adjective=_adjective(comparison), algebra=_algebra(side)
            )
        ]
    for one, other in (("a", "b"), ("b", "a")):
        pairs = [pair for pair in comparison.directions if pair.found_in == one]
        values = [value for pair in pairs if not math.isnan(value := getattr(pair, other).value)]
        if values:
            found.append(
                Diagnosis.DEFECT_IN_OTHER(
                    one=comparison.named(one),
                    other=comparison.named(other),
                    defects=value_range(values),
                )
            )
    return found


def _nearest(comparison: Comparison) -> list[Remark]:
    """How near the nearest candidates come."""
    overall = comparison.overall
    if overall is None:
        return []
    closer = comparison.named(overall.smaller)
    return [
        Diagnosis.NEAREST_CANDIDATES(a=_value(overall.a), b=_value(overall.b), **comparison.both),
        Diagnosis.CLEARLY_CLOSER(model=closer) if closer else Diagnosis.NOT_CLEARLY_CLOSER(),
    ]


def _amount(comparison: Comparison) -> list[Remark]:
    """Which model is more invariant on the shared directions, and by how much."""
    overall, adjective = comparison.overall, _adjective(comparison)
    ones = "one" if comparison.shared == 1 else "ones"
    where = "" if comparison.same else f"on the shared {ones} "
    if overall is None:
        return [Diagnosis.AMOUNT_UNKNOWN(where=where)]
    a, b = overall.a, overall.b
    if a.exact and b.exact:
        return [Diagnosis.BOTH_EXACT(where=where)]
    if a.exact or b.exact:
        exact, other, measured = (*comparison.names, b) if a.exact else (*comparison.names[::-1], a)
        return [Diagnosis.ONE_EXACT(where=where, exact=exact, other=other, defect=_value(measured))]
    if (ratio := overall.ratio) is None:
        return [Diagnosis.AMOUNT_UNKNOWN(where=where)]
    if math.isnan(ratio[1]):
        return [Diagnosis.MEANS_ONLY(where=where, a=_value(a), b=_value(b), **comparison.both)]
    value, low, high = ratio
    if overall.smaller == "b":
        value, low, high = 1 / value, 1 / high, 1 / low
    times = {"where": where, "adjective": adjective, "ratio": with_interval(value, low, high)}
    if overall.smaller:
        return [Diagnosis.MORE_SYMMETRIC(model=comparison.named(overall.smaller), **times)]
    clear = [pair.smaller for pair in comparison.directions if pair.found_in == "both"]
    return [
        Diagnosis.NOT_MORE_SYMMETRIC(**times, **comparison.both),
        *(
            Diagnosis.MORE_SYMMETRIC_ON_SOME(
                model=comparison.named(side), count=clear.count(side), shared=comparison.shared
            )
            for side in ("a", "b")
            if side in clear
        ),
    ]


def _algebra(side: Side) -> str:
    """Name of the algebra, or the number of directions of one without a name."""
    if side.algebra == "unknown":
        return f"{plural(side.nullity, 'direction')} without a name"
    return side.algebra


def _adjective(comparison: Comparison) -> str:
    return "invariant" if comparison.question == "invariance" else "equivariant"


def _value(measured: Measured) -> str:
    if measured.exact and not math.isnan(measured.low):
        return "0, exactly"
    return with_interval(measured.value, measured.low, measured.high)
