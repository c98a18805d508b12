"""The result: how far each symmetry holds, beside random directions that move the samples as much."""

import math
from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Curvature:
    r"""The start of a curve, $r(t) \approx \text{measured} \cdot t^2$, against what the derivatives predict.

    Attributes:
        measured: from central differences of small finite motions.
        standard_error: of `measured` (and of a prediction from other samples), by the scatter over the samples.
        numerical_error: of `measured`, by rounding and higher orders: what two step sizes disagree by.
        floor: value up to which `measured` may be rounding alone.
        predicted: from the polarization matrix, $h^\top A h$ over the variance of the output; None where there is none to compare.
        ratio: measured over predicted; None at the floor or without a prediction.
        agrees: whether both are equal within three standard errors and the numerical error; None without a prediction.
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
        """Whether nothing but rounding was measured."""
        return self.measured <= self.floor


@dataclass(frozen=True, eq=False)
class Curve:
    r"""Change of the output along a motion and its controls, $r(t) = \mathrm{mean}\,|f(e^{th}x) - e^{tk}f(x)|^2 / \mathrm{var} f$.

    Attributes:
        times: `t`, ascending; in units of the generator, for the group in multiples of the data's spread.
        change: `r(t)`, the larger of both senses where the motion was followed both ways; infinite where the output is not finite.
        control_mean: mean of the controls' `r(t)`.
        control_low: smallest of the controls'.
        control_high: largest of the controls'.
        class_changes: share of samples whose largest output is another one; None for one output or with an output action.
        control_class_changes: the same, mean over the controls.
        resampling: half of what moving there and back changes, in the units of `r`; None for actions that do not interpolate.
        period: time after which the samples are back; None if they do not come back.
        both_ways: whether `-t` was followed too, as it is unless the motion closes.
        speed: root mean square motion of the samples per unit of `t` at the start, in multiples of the data's spread.
        radius: time up to which `r` stays at or below the fraction; the last time if it does throughout.
        control_radius: the median of the controls'.
        curvature: the start of the curve against the prediction; None for the group.
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
        """Whether `r` stays at or below the fraction as far as it was followed."""
        return self.radius >= self.longest

    def extent(self, time: float) -> str:
        """A time in words a reader can picture: degrees of the period, or motion in multiples of the data's spread."""
        if self.period is not None:
            return f"{360 * time / self.period:.3g}°"
        return f"a motion of {self.speed * time:.2g} of the data's spread"

    def sentence(self) -> str:
        """How far it holds, and how far the controls do."""
        whole = self.period is not None and self.longest >= self.period
        end = (
            "over the whole period"
            if whole
            else f"up to {self.extent(self.longest)}, as far as it was followed"
        )
        change = float(self.change.max())
        words = (
            f"holds {end}, r at most {change:.2g}"
            if self.holds
            else f"holds up to {self.extent(self.radius)}, r up to {change:.2g}"
        )
        if self.control_radius >= self.longest:
            words += "; so do random directions of equal displacement: this is no contrast"
        else:
            words += f"; random directions of equal displacement up to {self.extent(self.control_radius)}"
        if self.class_changes is not None and self.control_class_changes is not None:
            words += (
                f"; classes change for up to {float(self.class_changes.max()):.1%} of the samples"
            )
            words += f" (random: {float(self.control_class_changes.max()):.1%})"
        if self.resampling is not None:
            words += f"; resampling alone makes r up to {float(self.resampling.max()):.2g}"
        return words + _of_curvature(self.curvature)


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """Finite verification of symmetries on samples.

    Attributes:
        curves: one to a generator.
        group: random elements of the whole group, of growing length; None for fewer than two generators.
        fraction: share of the output's variance up to which a symmetry counts as holding.
        variance: variance of the output over the samples; None if no sample was read.
        spread: root mean square distance of the samples from their mean; None if no sample was read.
        samples: number of samples.
        controls: number of random directions.
        seed: of the random directions.
        model: name of the model.
        action: the candidate generators, in words.
        notes: what a reader should know.
        others: curves of further motions: of the readable generators that are not those found, or of the nearest candidates if
            none was found. They decide nothing here.
        other_words: what each of these motions does.
        other_generators: their matrices; None if there are none.
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
    notes: tuple[str, ...] = ()
    others: tuple[Curve, ...] = ()
    other_words: tuple[str, ...] = ()
    other_generators: Float[Tensor, "k n n"] | None = None

    @property
    def holds(self) -> bool | None:
        """Whether every generator and the group hold as far as they were followed; None if there was nothing to follow."""
        every = [*self.curves, *([] if self.group is None else [self.group])]
        return all(curve.holds for curve in every) if every else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence to a generator and one for the group; the notes alone if there is no curve."""
        every = [
            f"generator {i}: {curve.sentence()}" for i, curve in enumerate(self.curves, start=1)
        ]
        if self.group is not None:
            every.append(f"the group: {self.group.sentence()}")
        return tuple(every)

    @property
    def other_sentences(self) -> tuple[str, ...]:
        """One sentence to a further motion."""
        return tuple(
            f"{words}: {curve.sentence()}"
            for words, curve in zip(self.other_words, self.others, strict=True)
        )

    @property
    def summary(self) -> str:
        """All generators in one sentence; the nearest candidate if none was found."""
        if not self.curves and self.others:
            return (
                f"no symmetry was found to verify; the nearest candidate, {self.other_sentences[0]}"
            )
        if not self.curves:
            return "; ".join(self.notes) or "nothing to verify"
        holding = sum(curve.holds for curve in self.curves)
        worst = max(float(curve.change.max()) for curve in self.curves)
        others = sorted(
            curve.control_radius / curve.radius for curve in self.curves if curve.radius > 0
        )
        beside = (
            f"; random directions hold to {100 * others[len(others) // 2]:.2g} % as far"
            if others
            else ""
        )
        return (
            f"{holding} of {len(self.curves)} generator{'' if len(self.curves) == 1 else 's'} hold as far as followed, on "
            f"{self.samples} held-out samples, "
            f"r at most {worst:.2g}{beside}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; infinities and NaN become null."""
        return _plain(self) | {
            "holds": self.holds,
            "sentences": list(self.sentences),
            "other_sentences": list(self.other_sentences),
        }

    def __str__(self) -> str:
        count = f"{len(self.curves)} generator{'' if len(self.curves) == 1 else 's'}"
        head = f"{self.model} under {self.action} at finite size: {count} on {self.samples} samples"
        rule = f"r = mean squared change over the output's variance; a motion holds while r is at most {self.fraction:g}"
        lines = [
            head,
            *([f"  {rule}"] if self.curves or self.others else []),
            *(f"  {line}" for line in self.sentences),
        ]
        kind = "readable" if self.curves else "candidate"
        lines += [f"  {kind} {i}, {line}" for i, line in enumerate(self.other_sentences, start=1)]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"Verification(curves={len(self.curves)}, holds={self.holds}, samples={self.samples}, model={self.model!r})"


def _of_curvature(curvature: Curvature | None) -> str:
    """The start of a curve in words, where there is something to say."""
    if curvature is None or curvature.agrees is None:
        return ""
    if curvature.ratio is None:
        return (
            "; the curvature is at the floor, as predicted"
            if curvature.agrees
            else "; the curvature is not what was predicted"
        )
    return f"; curvature {curvature.ratio:.3g} of the prediction, {'within' if curvature.agrees else 'beyond'} the error"


def _plain(value: Any) -> Any:
    """JSON values of records, tensors, tuples and numbers."""
    if isinstance(value, Tensor):
        return _plain(value.tolist())
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Curve | Curvature | Verification):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def verification_from_dict(record: dict[str, Any]) -> Verification:
    """What `Verification.to_dict` wrote down; a null among the changes is infinity again."""

    def curve(kept: dict[str, Any]) -> Curve:
        whole = {field.name: kept[field.name] for field in fields(Curve)}
        for name, value in whole.items():
            if isinstance(value, list):
                whole[name] = torch.tensor(
                    [math.inf if number is None else number for number in value],
                    dtype=torch.float64,
                )
        start = whole["curvature"]
        return Curve(**{**whole, "curvature": None if start is None else Curvature(**start)})

    whole = {
        field.name: record[field.name] for field in fields(Verification) if field.name in record
    }
    group, others = whole["group"], whole.get("other_generators")
    changed = {
        "curves": tuple(curve(kept) for kept in whole["curves"]),
        "group": None if group is None else curve(group),
        "notes": tuple(whole["notes"]),
        "others": tuple(curve(kept) for kept in whole.get("others", ())),
        "other_words": tuple(whole.get("other_words", ())),
        "other_generators": None if others is None else torch.tensor(others, dtype=torch.float64),
    }
    return Verification(**{**whole, **changed})
