"""The same named motion in two models: which of them changes less, by how much, and how sure that is."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import percentage
from liegg.results.account import EQUAL_DEFECTS
from liegg.results.answer import Answer, Share
from liegg.results.json_values import json_values
from liegg.results.tables import with_interval

Measure = Literal["predictions", "output", "defect", ""]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedAnswer:
    """One named motion in both models.

    Attributes:
        a: the answer of the first model.
        b: the answer of the second.
        names: names of the models.
        measure: what decides: changed `"predictions"`, the change of the `"output"`, or the
            `"defect"`; empty if they cannot be compared.
        difference: of that measure, first model minus second, with its interval: shares of
            predictions, mean squared changes of the output; NaN for defects.
        paired: whether both were measured on the same samples.
        ratio: defect of the second model over that of the first, with its interval; NaN if one is
            exact or unknown.
        paired_ratio: whether both passes read the same blocks of samples.
    """

    a: Answer
    b: Answer
    names: tuple[str, str]
    measure: Measure
    difference: Share
    paired: bool
    ratio: Share
    paired_ratio: bool

    @property
    def name(self) -> str:
        """The motion's name."""
        return self.a.name

    @property
    def smaller(self) -> str:
        """`"a"` or `"b"` if that model clearly changes less; else empty."""
        if self.measure == "defect":
            low, high = self.ratio.low, self.ratio.high
            return "a" if low > 1 + EQUAL_DEFECTS else "b" if high < 1 - EQUAL_DEFECTS else ""
        return "a" if self.difference.high < 0 else "b" if self.difference.low > 0 else ""

    @property
    def smaller_in_words(self) -> str:
        """The model that clearly changes less, `"neither"` if none does; "(δ²)" if derivatives alone say so."""
        if not self.smaller:
            return "neither"
        return self.names[self.smaller == "b"] + " (δ²)" * (self.measure == "defect")

    @property
    def remark(self) -> Remark:
        """Which model changes less, and by how much."""
        one, other = (self.b, self.a) if self.smaller == "b" else (self.a, self.b)
        model, rest = self.names if self.smaller != "b" else self.names[::-1]
        adjective = "equivariant" if self.a.equivariance else "invariant"
        values = {"motion": self.name, "adjective": adjective, "model": model, "other": rest}
        if self.measure == "":
            return Diagnosis.MOTION_NOT_COMPARED(**values, because=self._because())
        if self.measure == "defect":
            values |= {"ratio": self._times()}
            clear, open_ = Diagnosis.MOTION_SMALLER_DEFECT, Diagnosis.MOTION_EQUAL_DEFECT
        else:
            values |= {"one": self._told(one), "samples": self._samples()}
            values |= {"instead": self._instead(other)}
            values |= {"size": self.size_in_words(), "points": self._points()}
            clear, open_ = Diagnosis.MOTION_CHANGES_LESS, Diagnosis.MOTION_CHANGES_ALIKE
        return (clear if self.smaller else open_)(**values)

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        return f"{self.remark}."

    @property
    def largest_first(self) -> bool:
        """Whether the sentence begins with how often the largest output changes, as predictions would: not if that disagrees."""
        a, b = largest_share(self.a), largest_share(self.b)
        if a is None or b is None or self.a.part or self.b.part:
            return False
        return not self.smaller or (a <= b if self.smaller == "a" else b <= a)

    def _told(self, answer: Answer) -> str:
        """What a motion changes, in words."""
        if answer.finite is None:
            return ""
        if answer.finite.share is not None:
            return f"changes {answer.changed} of its predictions"
        output = f"{answer.part or 'its output'} by {answer.changed} of its spread"
        if answer.equivariance:
            return f"misses where its output should go by {answer.changed} of its spread"
        share = largest_share(answer)
        if share is None:
            return f"changes {output}"
        if answer.part:
            return f"changes {output}, and {percentage(share)} of its predictions,"
        predictions = f"{percentage(share)} of its predictions, if its outputs are classes"
        first, second = (predictions, output) if self.largest_first else (output, predictions)
        return f"changes {first}, and {second},"

    def _instead(self, answer: Answer) -> str:
        """The numbers of `_told` for the other model."""
        share = largest_share(answer)
        numbers = [answer.changed, *([] if share is None else [percentage(share)])]
        return " and ".join(numbers[::-1] if self.largest_first else numbers)

    def _because(self) -> str:
        """Which model was not asked; empty if both were."""
        missing = [
            name
            for name, one in zip(self.names, (self.a, self.b), strict=True)
            if one.verdict.diagnosis is Diagnosis.MOTION_NOT_MEASURED
        ]
        if not missing:
            return ""
        return f", which was not measured in {' and '.join(missing)}: ask discover about it by name"

    def size_in_words(self) -> str:
        """The size of the motion in both models; empty if it was not the same."""
        is_finite = self.measure in ("predictions", "output")
        return self.a.finite.size_in_words() if self.a.finite is not None and is_finite else ""

    def _samples(self) -> str:
        counts = [
            0 if one.finite is None else len(one.finite.each_change) for one in (self.a, self.b)
        ]
        if self.paired:
            return f"on the same {counts[0]} samples"
        return f"on {counts[0]} and {counts[1]} samples"

    def _points(self) -> str:
        """The difference in percentage points; empty for changes of the output, whose squares differ."""
        if self.measure != "predictions":
            return ""
        sign = -1.0 if self.smaller == "a" else 1.0
        value, *ends = (
            100 * sign * x
            for x in (self.difference.value, self.difference.low, self.difference.high)
        )
        low, high = sorted(ends)
        return f"{value:.2g} percentage points{' fewer' * bool(self.smaller)}, {low:.2g} to {high:.2g}, "

    def _times(self) -> str:
        """The ratio of the defects, larger over smaller."""
        value, low, high = self.ratio.value, self.ratio.low, self.ratio.high
        if self.smaller == "b":
            value, low, high = 1 / value, 1 / high, 1 / low
        return with_interval(value, low, high)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        return json_values(
            {
                "name": self.name,
                "a": self.a.to_dict(),
                "b": self.b.to_dict(),
                "measure": self.measure,
                "difference": self.difference,
                "paired": self.paired,
                "ratio": self.ratio,
                "paired_ratio": self.paired_ratio,
                "smaller": self.smaller,
                "remark": self.remark.to_dict(),
            }
        )


def largest_share(answer: Answer) -> float | None:
    """Share of samples whose largest output changes; None where that is not said beside the answer."""
    finite = answer.finite
    return None if finite is None or finite.largest is None else finite.largest.share.value


UNKNOWN_SHARE = Share(math.nan, math.nan, math.nan)
"""No difference is known."""
