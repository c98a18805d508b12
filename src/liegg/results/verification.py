"""The result of `verify`: how far each symmetry holds, and how far random directions do."""

import math
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark, as_remark, remark_from_dict
from liegg.results.json_values import from_json, json_values
from liegg.results.tables import table_width, wrapped


@dataclass(frozen=True)
class Curvature:
    r"""The start of a curve, $r(t) \approx \text{measured} \cdot t^2$, and its prediction.

    Attributes:
        measured: from central differences of small finite motions.
        standard_error: of `measured` (and of a prediction from other samples), over the samples.
        numerical_error: of `measured`, by rounding and higher orders: what two step sizes differ by.
        floor: value up to which `measured` may be rounding alone.
        predicted: from the polarization matrix, $h^\top A h$ over the variance of the output; None
            without a prediction.
        ratio: measured over predicted; None at the floor or without a prediction.
        agrees: whether both are equal within three standard errors and the numerical error; None
            without a prediction.
    """

    measured: float
    standard_error: float
    numerical_error: float
    floor: float
    predicted: float | None = None
    ratio: float | None = None
    agrees: bool | None = None

    @property
    def exact(self) -> bool:
        """Whether the measured value may be rounding alone."""
        return self.measured <= self.floor

    @property
    def remark(self) -> Remark | None:
        """Comparison with the prediction; None without one."""
        if self.agrees is None:
            return None
        if self.ratio is None:
            return (
                Diagnosis.CURVATURE_AT_FLOOR if self.agrees else Diagnosis.CURVATURE_UNPREDICTED
            )()
        member = Diagnosis.CURVATURE_AGREES if self.agrees else Diagnosis.CURVATURE_DIFFERS
        return member(ratio=self.ratio)


@dataclass(frozen=True, eq=False)
class Curve:
    r"""Change of the output along a motion, $r(t) = \mathrm{mean}\,|f(e^{th}x) - e^{tk}f(x)|^2 / \mathrm{var} f$.

    Attributes:
        times: `t`, ascending; in units of the generator, for the group in multiples of the spread.
        change: `r(t)`, the larger of both senses if both were followed; infinite where the output
            is not finite.
        control_mean: mean of the random directions' `r(t)`.
        control_low: smallest of the random directions'.
        control_high: largest of the random directions'.
        class_changes: share of samples whose largest output is another one; None for one output or
            with an output action.
        control_class_changes: the same, mean over the random directions.
        resampling: half of what moving there and back changes, in the units of `r`; None for
            actions that do not interpolate.
        period: time after which the samples are back; None if they do not return.
        both_ways: whether `-t` was followed too, as it is unless the motion is closed.
        speed: root mean square motion of the samples per unit of `t` at the start, in multiples of
            the data's spread.
        radius: time up to which `r` is at most the fraction; the last time if it always is.
        control_radius: the median of the random directions'.
        curvature: the start of the curve and its prediction; None for the group.
    """

    times: Float[Tensor, " t"]
    change: Float[Tensor, " t"]
    control_mean: Float[Tensor, " t"]
    control_low: Float[Tensor, " t"]
    control_high: Float[Tensor, " t"]
    class_changes: Float[Tensor, " t"] | None
    control_class_changes: Float[Tensor, " t"] | None
    resampling: Float[Tensor, " t"] | None
    period: float | None
    both_ways: bool
    speed: float
    radius: float
    control_radius: float
    curvature: Curvature | None = None

    @property
    def longest(self) -> float:
        """The last time."""
        return float(self.times[-1])

    @property
    def holds(self) -> bool:
        """Whether `r` is at most the fraction as far as the motion was followed."""
        return self.radius >= self.longest

    def change_within(self, motion: float) -> tuple[float, float]:
        r"""Largest change while the samples move by at most this, beyond what resampling alone makes.

        The root of a mean square is a norm, so that the model's part is at least
        $(\sqrt r - \sqrt{\text{resampling}})^2$. Between two times the root of the change is interpolated.

        Args:
            motion: in multiples of the data's spread, at the initial speed.

        Returns:
            The change; and the motion, which is smaller if the curve ends before.
        """
        end = min(motion / self.speed, self.longest)
        roots = self.change.clamp_min(0).sqrt()
        if self.resampling is not None:
            roots = (roots - self.resampling.clamp_min(0).sqrt()).clamp_min(0)
        before = self.times <= end * (1 + 1e-9)
        largest = float(roots[before].max()) if bool(before.any()) else 0.0
        place = int(before.sum())
        if place < len(self.times) and math.isfinite(after := float(roots[place])):
            start, low = (
                (float(self.times[place - 1]), float(roots[place - 1])) if place else (0.0, 0.0)
            )
            share = (end - start) / (float(self.times[place]) - start)
            largest = max(largest, low + share * (after - low))
        return largest**2, end * self.speed

    def extent(self, time: float) -> str:
        """A time as degrees of the period, or as motion in multiples of the data's spread."""
        if self.period is not None:
            return f"{360 * time / self.period:.3g}°"
        return f"a motion of {self.speed * time:.2g} of the data's spread"

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """How far the motion holds, how far random directions do, and what else was measured."""
        change = float(self.change.max())
        if not self.holds:
            remarks = [Diagnosis.HOLDS_UP_TO(extent=self.extent(self.radius), change=change)]
        elif self.period is not None and self.longest >= self.period:
            remarks = [Diagnosis.HOLDS_FOR_PERIOD(change=change)]
        else:
            extent = self.extent(self.longest)
            remarks = [Diagnosis.HOLDS_THROUGHOUT(extent=extent, change=change)]
        if self.control_radius >= self.longest:
            remarks.append(Diagnosis.CONTROLS_HOLD_TOO())
        else:
            remarks.append(Diagnosis.CONTROLS_FAIL(extent=self.extent(self.control_radius)))
        if self.class_changes is not None and self.control_class_changes is not None:
            share, control = (
                float(c.max()) for c in (self.class_changes, self.control_class_changes)
            )
            remarks.append(Diagnosis.CLASSES_CHANGE(share=share, control=control))
        if self.resampling is not None:
            remarks.append(Diagnosis.RESAMPLING_CHANGE(change=float(self.resampling.max())))
        if self.curvature is not None and self.curvature.remark is not None:
            remarks.append(self.curvature.remark)
        return tuple(remarks)

    def sentence(self) -> str:
        """The remarks in one sentence."""
        return "; ".join(self.remarks)


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """Finite verification of symmetries on samples.

    Attributes:
        curves: one per generator.
        group: random elements of the group, of growing length; None for fewer than two generators.
        fraction: share of the output's variance up to which a symmetry holds.
        variance: variance of the output over the samples; None if no sample was read.
        spread: root mean square distance of the samples from their mean; None if none was read.
        samples: number of samples.
        controls: number of random directions.
        seed: of the random directions.
        model: name of the model.
        action: the candidate generators, in words.
        notes: what a reader should know.
        others: curves of further motions: of a readable basis that differs from the symmetries, or
            of the nearest candidates if there is no symmetry. They decide nothing here.
        other_words: what each of these motions does.
        other_generators: their matrices, or coefficients of an action without matrices; None if
            there are none.
        floor: change that rounding, and the rounding of the generators, may make; 0 if not known.
        of_symmetries: whether the curves are those of the symmetries of a result, one by one.
        subject: the part of what the model returns that was measured, in words; empty if it is not known.
    """

    curves: tuple[Curve, ...]
    group: Curve | None
    fraction: float
    variance: float | None
    spread: float | None
    samples: int
    controls: int
    seed: int
    model: str
    action: str
    notes: tuple[Remark, ...] = ()
    others: tuple[Curve, ...] = ()
    other_words: tuple[str, ...] = ()
    other_generators: Float[Tensor, "k ..."] | None = None
    floor: float = 0.0
    of_symmetries: bool = False
    subject: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether every generator and the group hold as far as they were followed; None for none."""
        curves = [*self.curves, *([] if self.group is None else [self.group])]
        return all(curve.holds for curve in curves) if curves else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per generator and one for the group."""
        sentences = [f"generator {i}: {curve.sentence()}" for i, curve in enumerate(self.curves, 1)]
        if self.group is not None:
            sentences.append(f"the group: {self.group.sentence()}")
        return tuple(sentences)

    @property
    def other_sentences(self) -> tuple[str, ...]:
        """One sentence per further motion."""
        return tuple(
            f"{words}: {curve.sentence()}"
            for words, curve in zip(self.other_words, self.others, strict=True)
        )

    @property
    def summary(self) -> str:
        """All generators in one sentence; the nearest candidate if there is no symmetry."""
        if not self.curves and self.others:
            return Diagnosis.NEAREST_VERIFIED(sentence=self.other_sentences[0])
        if not self.curves:
            return "; ".join(self.notes)
        ratios = sorted(c.control_radius / c.radius for c in self.curves if c.radius > 0)
        verified = Diagnosis.VERIFIED(
            holding=sum(curve.holds for curve in self.curves),
            count=len(self.curves),
            samples=self.samples,
            change=max(float(curve.change.max()) for curve in self.curves),
        )
        if not ratios:
            return verified
        percent = 100 * ratios[len(ratios) // 2]
        return f"{verified}; {Diagnosis.CONTROLS_FAIL_AFTER(percent=percent)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; infinities and NaN become null."""
        return json_values(self) | {
            "holds": self.holds,
            "sentences": list(self.sentences),
            "other_sentences": list(self.other_sentences),
            "remarks": [note.to_dict() for note in self.notes if isinstance(note, Remark)],
        }

    @checked()
    def table(self, *, width: int | None = None) -> str:
        """What `print` shows: how many motions hold, then one sentence for each.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
        """
        lines = [f"{self.subject or self.model} under finite transformations: {self.summary}"]
        if self.curves or self.others:
            lines.append(
                f"{self.action}; r = mean squared change over the output's variance; a motion holds while r is at most "
                f"{self.fraction:g}"
            )
        kind = "readable" if self.curves else "candidate"
        lines += [f"  {line}" for line in self.sentences]
        lines += [f"  {kind} {i}, {line}" for i, line in enumerate(self.other_sentences, 1)]
        lines += [f"  note: {note}" for note in self.notes if note not in lines[0]]
        return "\n".join(wrapped(lines, table_width(width)))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return (
            f"Verification(curves={len(self.curves)}, holds={self.holds}, samples={self.samples}, "
            f"model={self.model!r})"
        )


def verification_from_dict(record: dict[str, Any]) -> Verification:
    """Read what `Verification.to_dict` wrote; notes of earlier versions are plain text."""
    remarks = {str(remark): remark for remark in map(remark_from_dict, record.get("remarks", ()))}
    notes = [remarks.get(note, as_remark(note)) for note in record["notes"]]
    return replace(from_json(Verification, record), notes=tuple(notes))
