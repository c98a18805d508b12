"""The answer to a question about a named motion: is the model invariant to rotation, and how far?"""

import math
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import percentage
from liegg.decision.grades import COUNTED, GRADES
from liegg.results.json_values import json_values

HOLDS = 0.05
"""Share of the output's variance, and of the predictions, up to which a motion changes nothing."""

CLEAR_P = 0.05
"""Largest p value of a clear difference from re-initialised models."""


@dataclass(frozen=True)
class Share:
    """A share, a difference of shares or a ratio, with its interval.

    Attributes:
        value: the number.
        low: lower end of its interval.
        high: upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LargestOutput:
    """Which output is largest, beside a question that is about something else.

    The question is about a part of the output, or nothing says whether outputs are classes: the largest one would be the prediction.

    Attributes:
        share: share of the samples for which a motion changes it, at the reported size.
        random: the same for random motions.
        each: `[n]`, the same for every sample.
    """

    share: Share
    random: float
    each: Float[Tensor, " n"]


@dataclass(frozen=True, eq=False, kw_only=True)
class FiniteChange:
    r"""What finite motions of samples do to the output, beside random motions of equal displacement.

    A change is $r = \mathrm{mean}\,|f(gx) - f(x)|^2 / \mathrm{var} f$, or $|f(gx) - g'f(x)|^2$ for
    equivariance. Values are means over the generators of the motion and both senses.

    Attributes:
        sizes: `[t]`, sizes of the motion, ascending, in `unit`.
        unit: `"°"`, `"pixels"`, `"steps"`, `"%"`, or empty for multiples of the data's spread.
        whole_turn: whether the sizes are spread evenly over a whole turn, so that their mean is that
            of a random angle; otherwise the largest size is reported.
        displacement: `[t]`, root mean square motion of the samples, in multiples of their spread.
        change: `[t]`, `r`; infinite where an output is not finite.
        changed: `[t]`, share of predictions that change; None without classes.
        random_change: `[t]`, `r` of random motions of equal displacement.
        random_changed: `[t]`, the same of their predictions.
        each_change: `[n]`, `r` of every sample, at the reported size.
        each_changed: `[n]`, share of changed predictions of every sample, at the reported size.
        share: predictions that change at the reported size; None without classes.
        random_share: the same for random motions.
        amount: root mean square change of the output, in multiples of its spread, at the reported size.
        random_amount: the same for random motions.
        holds: whether neither output nor predictions change by more than 5 % at any size.
        milder: whether it changes clearly less than random motions of equal displacement do.
        radius: size up to which `r` is at most 5 %; the largest size if it always is.
        samples: checksum of the samples, so that two results can be paired.
        level: nominal coverage of intervals.
        shown: checksums of the first samples, whose predictions are stored.
        predictions: `[s, t + 1]`, predicted classes of these samples before the motion and after
            each size of the first generator, −1 where an output is NaN; None without classes.
        times: `[t]`, the sizes as times of the first generator; None in results that lack them.
        largest: how often the largest output becomes another one, if the question is about a part of
            the outputs of a classifier, or if outputs may be classes; else None. `predictions` are then
            the places of the largest outputs.
    """

    sizes: Float[Tensor, " t"]
    unit: str
    whole_turn: bool
    displacement: Float[Tensor, " t"]
    change: Float[Tensor, " t"]
    changed: Float[Tensor, " t"] | None
    random_change: Float[Tensor, " t"]
    random_changed: Float[Tensor, " t"] | None
    each_change: Float[Tensor, " n"]
    each_changed: Float[Tensor, " n"] | None
    share: Share | None
    random_share: float | None
    amount: float
    random_amount: float
    holds: bool
    milder: bool
    radius: float
    samples: str
    level: float
    shown: tuple[str, ...] = ()
    predictions: Int[Tensor, "s u"] | None = None
    times: Float[Tensor, " t"] | None = None
    largest: LargestOutput | None = None

    @property
    def undefined(self) -> float:
        """Share of the samples for which the output is infinite or NaN after the motion, at the reported size."""
        return float(self.each_change.isinf().double().mean())

    def size_in_words(self, size: float | None = None) -> str:
        """A size in words; by default the reported one."""
        if size is None and self.whole_turn:
            return "by a random angle"
        size = float(self.sizes[-1]) if size is None else size
        if self.unit == "":
            return f"by {size:.2g} of the data's spread"
        digits = f"{size:.2g}" if size < 10 else f"{size:.0f}"
        if self.unit in ("pixels", "steps"):
            return f"by {digits} {self.unit.removesuffix('s')}{'s' * (digits != '1')}"
        return f"by {digits}{' ' * (self.unit == '%')}{self.unit}"


NO_DERIVATIVE = "no derivative"
"""Grade of motions under a piecewise constant model."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Answer:
    """How much a model changes under one named motion.

    Attributes:
        name: the motion's name.
        coefficients: `[k, g]`, its generators, in the candidates or in another action.
        inside: whether they are among the candidates of the analysis.
        defect: δ², mean over the span of its generators; NaN if not measured.
        interval: lower and upper end of the defect's interval; NaN without one.
        effect: change of the output relative to its spread, to first order, for a motion as large as
            the data's spread; NaN if not known.
        grade: `"exact"`, `"strong"`, `"approximate"`, `"weak"` or `"none"`; `"trivial"` if it does
            not move the data, `"undecided"` if the data does not decide, `"no derivative"` if only
            finite motions decide.
        finite: what finite motions do; None if not measured.
        untrained: defects in re-initialised models; empty if not asked.
        untrained_changed: mean share of predictions that change in them; None without classes.
        equivariance: whether the question is equivariance.
        of_data: whether it is about the distribution of a data set, without any model.
        part: the part of the output that the question is about, in words; empty for all of it.
    """

    name: str
    coefficients: Float[Tensor, "k g"]
    inside: bool
    defect: float
    interval: tuple[float, float]
    effect: float
    grade: str
    finite: FiniteChange | None = None
    untrained: tuple[float, ...] = ()
    untrained_changed: float | None = None
    equivariance: bool = False
    of_data: bool = False
    part: str = ""

    @property
    def has_derivative(self) -> bool:
        """Whether derivatives tell how much small motions change."""
        return self.grade in GRADES

    @property
    def holds(self) -> bool | None:
        """Whether the model is invariant (or equivariant) as far as it was tried; None if undecided.

        Small changes by small motions add up, large ones may level off: without finite motions a model is only known to be invariant
        where its derivative vanishes.
        """
        if self.grade in ("trivial", "undecided"):
            return None
        if self.finite is not None:
            return self.finite.holds
        if self.of_data:
            return self.grade in COUNTED
        return True if self.grade == "exact" else None

    @property
    def verdict(self) -> Remark:
        """Invariant or not."""
        if self.holds is None:
            if self.grade == "trivial":
                return Diagnosis.MOTION_MOVES_NOTHING()
            if self.has_derivative and self.finite is None:
                return Diagnosis.MOTION_NOT_TRIED()
            is_unknown = math.isnan(self.defect) and self.finite is None
            return (Diagnosis.MOTION_NOT_MEASURED if is_unknown else Diagnosis.MOTION_UNDECIDED)()
        adjective = "equivariant" if self.equivariance else "invariant"
        if self.grade == "exact" and self.holds:
            return Diagnosis.MOTION_EXACT(adjective=adjective)
        if self.holds:
            return Diagnosis.MOTION_NEARLY(adjective=adjective)
        if self.finite is not None and self.finite.milder:
            return Diagnosis.MOTION_MILDER(adjective=adjective)
        return Diagnosis.MOTION_BREAKS(adjective=adjective)

    @property
    def trained(self) -> Remark | None:
        """How the model compares with re-initialised models; None without controls."""
        below = [value for value in self.untrained if math.isfinite(value)]
        if not below or not math.isfinite(self.defect):
            return None
        rank = 1 + sum(value <= self.defect for value in below)
        values = {"draws": len(below), "p": rank / (1 + len(below))}
        if values["p"] <= CLEAR_P:
            return Diagnosis.CLEARLY_BETTER_THAN_UNTRAINED(**values)
        if rank == 1:
            return Diagnosis.BETTER_THAN_UNTRAINED(**values)
        return Diagnosis.NO_BETTER_THAN_UNTRAINED(**values)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What was measured, the verdict, and how it compares with untrained models."""
        what = self._measured()
        trained = self.trained
        return (*what, self.verdict, *(() if trained is None else (trained,)))

    @property
    def sentence(self) -> str:
        """The answer in one or two plain sentences."""
        first, *rest = self.remarks
        text = f"{first}: {', '.join(rest)}." if rest else f"{first}."
        is_word = self.name.split(" ")[0].isalpha()  # not a symbol such as m1
        return text[0].upper() + text[1:] if is_word else text

    @property
    def changed(self) -> str:
        """How many predictions change, or how much the output does, in per cent; empty if nothing was moved."""
        if self.finite is None:
            return ""
        if self.finite.share is not None:
            return percentage(self.finite.share.value)
        if self.finite.undefined:
            return "undefined"
        return percentage(
            0.0 if self.grade == "exact" and self.finite.holds else self.finite.amount
        )

    def _measured(self) -> tuple[Remark, ...]:
        """What the motion does, in the most telling units that were measured."""
        if self.holds is None and not self.has_derivative:
            return (Diagnosis.MOTION_NAMED(motion=self.name),)
        if self.finite is None:
            if self.of_data:
                percent = percentage(math.sqrt(max(self.defect, self.interval[1], 0.0)))
                return (Diagnosis.MOTION_CHANGES_DISTRIBUTION(motion=self.name, percent=percent),)
            percent, what = percentage(math.sqrt(max(self.defect, 0.0))), self.part or "the output"
            return (Diagnosis.MOTION_FIRST_ORDER(motion=self.name, what=what, percent=percent),)
        size = self.finite.size_in_words()
        share, random = self.finite.share, self.finite.random_share
        if share is not None and random is not None:
            values = {"motion": self.name, "size": size, "random": percentage(random)}
            values |= _ends(share)
            if self.finite.undefined:
                values["percent"] = percentage(self.finite.undefined)
                return (Diagnosis.MOTION_CHANGES_BUT_UNDEFINED(**values),)
            if not self.finite.holds and share.value <= HOLDS:  # else it reads as a contradiction
                values["percent"] = percentage(self.finite.amount)
                return (Diagnosis.MOTION_CHANGES_BUT_OUTPUT(**values),)
            return (Diagnosis.MOTION_CHANGES_PREDICTIONS(**values),)
        return (self._output_changed(self.finite),)

    def _output_changed(self, finite: FiniteChange) -> Remark:
        """What a motion changes in the output, beside random motions."""
        nothing = self.changed == percentage(0.0)
        random = "random motions as large leave the domain of the model"
        if math.isfinite(finite.random_amount):
            change = "do so by" if self.equivariance else "change it by"
            if self.equivariance and nothing:
                change = "miss that by"
            random = f"random motions as large {change} {percentage(finite.random_amount)}"
        values = {"motion": self.name, "size": finite.size_in_words(), "random": random}
        if finite.undefined:
            return Diagnosis.MOTION_UNDEFINED(**values, percent=percentage(finite.undefined))
        if nothing:
            values |= {"size": "by any angle"} if finite.whole_turn else {}
            if self.part:
                return Diagnosis.MOTION_CHANGES_NOTHING_OF(**values, part=self.part)
            along = Diagnosis.MOTION_MOVES_ALONG
            return (along if self.equivariance else Diagnosis.MOTION_CHANGES_NOTHING)(**values)
        if self.equivariance:
            return Diagnosis.MOTION_CHANGES_EQUIVARIANCE(**values, percent=self.changed)
        values["percent"] = self.changed
        if self.part:
            values["part"] = self.part
            if finite.largest is None:
                return Diagnosis.MOTION_CHANGES_PART(**values)
            predictions = _ends(finite.largest.share)
            return Diagnosis.MOTION_CHANGES_PART_AND_PREDICTIONS(**values, **predictions)
        if finite.largest is not None:
            return Diagnosis.MOTION_CHANGES_LARGEST(**values, **_ends(finite.largest.share))
        return Diagnosis.MOTION_CHANGES_OUTPUT(**values)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        return json_values(self) | {
            "sentence": self.sentence,
            "holds": self.holds,
            "remarks": [remark.to_dict() for remark in self.remarks],
        }

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"Answer({self.sentence!r})"


def _ends(share: Share) -> dict[str, str]:
    """A share and its interval in per cent."""
    values = {"share": share.value, "low": share.low, "high": share.high}
    return {name: percentage(value) for name, value in values.items()}
