"""Stage 7, verdict: how many directions are symmetries, how well, and why."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.decision.grades import Thresholds, count, evidence, grade, threshold_sensitivity
from liegg.spectrum.defects import Defects

OWN = 100.0
"""Rounding units of float64 that the solution itself may be off by."""

MIXED_UNITS = 30.0
"""Ratio of the features' sizes above which their motions are no longer comparable; a defect then differs by its square."""


CANONICAL = 2**31
"""Products that a canonical basis may take, d²g, which are seconds; of more directions the basis stays as it was solved for."""

NARROW = 0.75
"""Share of the data's squared size along one axis, above which it lies in a narrow cone."""


@dataclass(frozen=True)
class Decision:
    """How many directions are symmetries, how well, and the numbers that decided it.

    Attributes:
        nullity: number of directions judged to be symmetries: exact, strong or approximate; the first in ascending order of defect.
        exact: how many of them lie at the numerical floor.
        undecided: directions at the floor only because there are too few samples to constrain them, or because nothing moves the
            output; not counted.
        trivial: directions that do not move the data, or hardly; not counted.
        gap: first defect not counted over the last one counted (or the floor); infinite if none is left, 1 if not solved for.
        grades: of every direction that moves the data: exact, strong, approximate, weak, none; see `liegg.decision.grades`.
        borderline: for every direction the thresholds that its grade hangs on, by 15 %, and `interval` where its interval reaches another
            grade; empty where it is clear.
        threshold: largest defect a symmetry may have.
        minimum_gap: smallest gap accepted.
        resolution: defects below this were alike when gaps were compared.
        floor: defect below which a direction is exact.
        strong: largest defect of a strong symmetry.
        weak: largest defect of a weak one.
        control: defect that few random directions of equal displacement stay below; infinite if that was not asked.
        sentence: the verdict in plain words.
        reasons: the decision in sentences.
        warnings: what may make it wrong.
    """

    nullity: int
    exact: int
    undecided: int
    trivial: int
    gap: float
    grades: tuple[str, ...]
    borderline: tuple[str, ...]
    threshold: float
    minimum_gap: float
    resolution: float
    floor: float
    strong: float
    weak: float
    control: float
    sentence: str
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


def numerical_floor(
    unit: float, thresholds: Thresholds | None = None, *, conditioning: float = 1.0
) -> float:
    r"""Defect up to which a direction is taken for rounding unless it is measured: what rounding can do, and at most `strong`.

    Args:
        unit: rounding unit of the model's arithmetic.
        thresholds: what counts as a symmetry.
        conditioning: as for `rounding_bound`.
    """
    thresholds = thresholds or Thresholds()
    return min(
        rounding_bound(unit, thresholds, conditioning=conditioning), thresholds.strong or math.inf
    )


def trusted_floor(
    unit: float, thresholds: Thresholds | None = None, *, conditioning: float = 1.0
) -> float:
    r"""Defect up to which a direction is rounding unseen: so many units of what an average direction does, without conditioning.

    Rounding errors add up like random numbers, so that exact symmetries keep to it mostly, however the terms cancel. The error of
    the solution itself does grow with the conditioning.

    Args:
        unit: rounding unit of the model's arithmetic.
        thresholds: what counts as a symmetry.
        conditioning: as for `rounding_bound`.
    """
    own = (OWN * torch.finfo(torch.float64).eps) ** 2 * max(conditioning, 1.0)
    return min(
        max(numerical_floor(unit, thresholds), own),
        numerical_floor(unit, thresholds, conditioning=conditioning),
    )


def rounding_bound(
    unit: float, thresholds: Thresholds | None = None, *, conditioning: float = 1.0
) -> float:
    r"""Defect that rounding alone can produce: `(floor_factor · unit)² · conditioning`.

    At least what the solution in float64 is off by itself.

    Args:
        unit: rounding unit of the model's arithmetic, from `liegg._utils.precision`.
        thresholds: what counts as a symmetry.
        conditioning: squared length of the gradient over the mean sensitivity κ: how much larger the terms are that cancel in a
            symmetric direction than what is left of them along an average one.
    """
    thresholds = thresholds or Thresholds()
    thresholds.check()
    model = (thresholds.floor_factor * unit) ** 2 * max(conditioning, 1.0)
    return max(model, (OWN * torch.finfo(torch.float64).eps) ** 2)


def decide(
    defects: Defects,
    *,
    samples: int,
    floor: float,
    thresholds: Thresholds | None = None,
    bounds: Float[Tensor, "r 2"] | None = None,
    control: float = math.inf,
    eliminated: int = 0,
    feature_sizes: Float[Tensor, " n"] | None = None,
    along_one: float = 0.0,
    nonlinearity: float | None = None,
    degenerate: bool = False,
    distinct: int | None = None,
    told: Sequence[str] = (),
    unsolved: int = 0,
) -> Decision:
    """Grade every direction and count the symmetries, see `liegg.decision.grades`; say why, and what may be wrong with it.

    Directions at the floor are symmetries only if there were more samples than independent constraints: as long as constraints
    are missing, each new sample brings one, so fewer constraints than samples means that none is missing. Otherwise data that
    was never asked for could still move them, and they are undecided.

    Where only the smallest defects were solved for, the next one is known to be no smaller than the last of them: that last one is
    set apart by a gap only if all lie at the floor, and then there may be more of the kind.

    Args:
        defects: the solved pair.
        samples: number of samples seen.
        floor: from `numerical_floor`.
        thresholds: what counts as a symmetry.
        bounds: interval of every defect, where known.
        control: defect that few random directions stay below.
        eliminated: constraints already used up on output generators (`Elimination.rank`); 0 for invariance.
        feature_sizes: summed squares of the features, to warn of mixed units.
        along_one: share of the data's squared size along one axis, to warn of data in a narrow cone.
        nonlinearity: squared relative nonlinearity between samples; None if not known.
        degenerate: nothing at all moves the output, so nothing can be said.
        distinct: number of samples that differ, where copies were among them; only these are evidence.
        told: further warnings.
        unsolved: directions that move the data, but were not solved for; their defects are no smaller than the others.

    Returns:
        The decision with its reasons.
    """
    thresholds = thresholds or Thresholds()
    thresholds.check()
    values = defects.values
    total, trivial = len(values) + unsolved, len(defects.trivial)
    different = samples if distinct is None else min(distinct, samples)
    copied = "" if different == samples or different >= 2 * total else " different"
    at_floor = int((values <= min(floor, thresholds.threshold)).sum())
    constraints = (
        total - at_floor + eliminated
    )  # at most, where more of them may lie at the floor than were solved for
    following = float(values[-1]) if unsolved and at_floor < len(values) else math.inf
    case = evidence(values, bounds, floor=floor, control=control, following=following)
    nullity, grades, borderline = (
        count(case, thresholds),
        grade(case, thresholds),
        threshold_sensitivity(case, thresholds),
    )
    gap, undecided = (
        1.0 if unsolved and nullity == len(values) else _gap_after(values, nullity, floor),
        0,
    )
    warnings = list(told)
    if degenerate:
        undecided, nullity, gap = len(values), 0, 1.0
    elif total and defects.sensitivity == 0:
        warnings.append(
            "no candidate direction moves the output beyond rounding, though other changes of the input do: the model is invariant "
            "under all that was asked"
        )
    elif at_floor and constraints >= different:
        undecided, nullity, gap = at_floor, 0, 1.0
        warnings.append(
            f"{plural(different, f'{copied} sample'.strip())} cannot decide {total} directions: "
            f"{'at least ' * (unsolved > 0)}{undecided} are not constrained by any sample. "
            f"Use more than {total + eliminated}{copied} samples."
        )
    elif different < 2 * total:
        warnings.append(
            f"only {plural(different, f'{copied} sample'.strip())} for {total} directions: small defects may be chance. Use "
            f"{2 * total} or more."
        )
    if undecided:
        grades, borderline = ("none",) * len(values), ("",) * len(values)
    open_end = unsolved > 0 and float(values[-1]) <= max(thresholds.threshold, floor)
    if open_end and not undecided:
        warnings.append(
            f"the largest of the {plural(len(values), 'defect')} solved for, {float(values[-1]):.2g}, is below the threshold: "
            f"there may be more symmetries. Pass bottom={2 * len(values)}"
        )
    warnings += _about_the_data(
        defects,
        feature_sizes,
        along_one,
        nonlinearity,
        thresholds,
        found=nullity > 0 or "weak" in grades,
    )
    exact = min(at_floor, nullity)
    reasons = (
        _reasons(values, nullity, exact, gap, floor, thresholds, unsolved)
        if total and not undecided
        else []
    )
    doubtful = [
        i + 1
        for i, mark in enumerate(borderline)
        if mark and (i < nullity or grades[i] == "weak" or "threshold" in mark)
    ]
    if doubtful:
        marks = sorted({name for i in doubtful for name in borderline[i - 1].split(", ")})
        reasons.append(
            f"direction{'s' * (len(doubtful) > 1)} {runs(doubtful)} near a boundary ({', '.join(marks)})"
        )
    return Decision(
        nullity,
        exact,
        undecided,
        trivial,
        gap,
        grades,
        borderline,
        thresholds.threshold,
        thresholds.minimum_gap,
        thresholds.resolution,
        floor,
        thresholds.strong,
        thresholds.weak,
        control,
        _sentence(
            values,
            grades,
            nullity,
            undecided,
            total,
            thresholds.threshold,
            n_output_generators=eliminated > 0,
            open_end=open_end,
        ),
        tuple(reasons),
        tuple(warnings),
    )


def found_directions(defects: Defects, decision: Decision) -> Float[Tensor, "d g"]:
    """Orthonormal coefficients of the directions judged symmetries, smallest defect first, with deterministic signs.

    Directions that tie at the numerical floor have no order of their own; they get the basis of `canonical_basis`, which depends on
    their span alone.
    """
    chosen = defects.directions[: decision.nullity]
    exact = _settled(chosen[: decision.exact])
    if decision.exact == decision.nullity:
        return exact
    q, r = torch.linalg.qr(torch.cat([exact, chosen[decision.exact :]]).mT)
    return fix_signs((q * torch.where(r.diagonal() < 0, -1.0, 1.0)).mT.contiguous())


def _settled(rows: Float[Tensor, "e g"]) -> Float[Tensor, "e g"]:
    """Orthonormal basis of directions that tie, which depends on their span alone where that is not too much work."""
    if len(rows) == rows.shape[1]:
        return torch.eye(len(rows), dtype=rows.dtype)
    if len(rows) * rows.numel() > CANONICAL:
        return fix_signs(torch.linalg.qr(rows.mT).Q.mT.contiguous())
    return canonical_basis(orthonormal_rows(rows))


def _about_the_data(
    defects: Defects,
    feature_sizes: Float[Tensor, " n"] | None,
    along_one: float,
    nonlinearity: float | None,
    thresholds: Thresholds,
    *,
    found: bool,
) -> list[str]:
    """What the data does not cover, and what data would."""
    said = []
    if (ratio := _size_ratio(feature_sizes)) > MIXED_UNITS:
        said.append(
            f"the features' sizes differ by a factor of {ratio:.0f}: motions of different features are then not comparable, and "
            "directions along the larger ones look like symmetries. Standardise the data, and undo it in front of the model"
        )
    elif found and along_one > NARROW:
        said.append(
            f"{100 * along_one:.0f} % of the data's squared size lies along one axis: what is found holds in that narrow cone. Add "
            "samples in other directions to know more"
        )
    if still := len(defects.trivial) - defects.barely:
        moving = (
            "it without data that it moves" if still == 1 else "them without data that they move"
        )
        said.append(
            f"{plural(still, 'direction')} {'does' if still == 1 else 'do'} not move the data (a subspace, a constant feature, or "
            f"rounding alone); nothing can be said of {moving}"
        )
    if defects.barely:
        share = f"{100 * math.sqrt(thresholds.coverage):.2g} %"
        said.append(
            f"{plural(defects.barely, 'direction')} {'moves' if defects.barely == 1 else 'move'} the data by less than {share} of "
            "the possible: it covers too little there to say anything. Add samples that vary more along them"
        )
    if found and nonlinearity is not None and nonlinearity < thresholds.linear:
        said.append(
            f"the model is nearly linear on this data (it bends by {100 * math.sqrt(nonlinearity):.2g} % between samples), and a linear "
            "function has many symmetries of its own. Data that spreads further would tell learned ones from these"
        )
    return said


def _reasons(
    values: Float[Tensor, " r"],
    nullity: int,
    exact: int,
    gap: float,
    floor: float,
    thresholds: Thresholds,
    unsolved: int,
) -> list[str]:
    if not nullity:
        return [_why_none(values, thresholds.threshold, thresholds.minimum_gap)]
    where = (
        f"all at the numerical floor {floor:.0e}"
        if exact == nullity
        else f"defects up to {float(values[nullity - 1]):.2g}"
    )
    left = "the next was not solved for" if unsolved else "no direction is left"
    after = f"the next is {gap:.3g} times larger" if nullity < len(values) else left
    are = "is a symmetry" if nullity == 1 else "are symmetries"
    return [f"{nullity} of {plural(len(values) + unsolved, 'direction')} {are}: {where}, {after}"]


def _sentence(
    values: Float[Tensor, " r"],
    grades: tuple[str, ...],
    nullity: int,
    undecided: int,
    total: int,
    threshold: float,
    *,
    n_output_generators: bool,
    open_end: bool = False,
) -> str:
    """The verdict for someone who reads nothing else.

    `n_output_generators` if the output may move along, by an action of its own; `open_end` if further directions may be symmetries, too.
    """
    strays = "strays from that" if n_output_generators else "moves"
    if not total:
        return "Nothing can be said: no candidate direction moves the data."
    if undecided:
        return (
            f"Nothing can be said about {undecided} of {total} directions; no symmetry is claimed."
        )
    if not nullity:
        weak = grades.count("weak")
        moves = f"{100 * math.sqrt(float(values[0])):.{2 if values[0] < 0.98 else 3}g} %"
        below = int((values <= threshold).sum())
        if below:
            lie = f"{plural(below, 'direction')} {'lies' if below == 1 else 'lie'} below the threshold"
            which = "it" if below == 1 else "them"
            return f"No clear count: {lie} (the output moves by {moves} of an average one or more), but nothing sets {which} apart."
        nearest = (
            f"the nearest candidate moves the output by {moves} of what an average direction does"
        )
        return f"No symmetry: {nearest}" + (
            f" ({weak} weak candidate{'s' * (weak > 1)})." if weak else "."
        )
    kinds = Counter(grades[:nullity])
    parts = [
        f"{number} {name}" for name in ("exact", "strong", "approximate") if (number := kinds[name])
    ]
    last = float(values[nullity - 1])
    symmetries = "symmetry" if nullity == 1 else "symmetries"
    least = "At least " if open_end else ""
    if len(kinds) == 1 and kinds["exact"]:
        if n_output_generators:
            return f"{least}{nullity} exact {symmetries}: the output moves along as its action does, to rounding."
        return f"{least}{nullity} exact {symmetries}: nothing but rounding moves the output along {'it' if nullity == 1 else 'them'}."
    along = (
        "the output moves along as its action does, and " if n_output_generators else "the output "
    )
    return (
        f"{least}{' + '.join(parts)} {symmetries}: {along}{strays} by at most {100 * math.sqrt(last):.2g} % of what it "
        f"{'moves' if n_output_generators else 'does'} along an average direction."
    )


def plural(number: int, word: str) -> str:
    """A number with its noun: 1 sample, 2 samples."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def runs(places: Sequence[int]) -> str:
    """Whole numbers with runs drawn together: 1–3, 7."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][-1] == place - 1:
            found[-1].append(place)
        else:
            found.append([place])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in found)


def _size_ratio(squares: Float[Tensor, " n"] | None) -> float:
    """Largest over smallest size of the features that are not zero throughout."""
    sizes = squares[squares > 0].sqrt() if squares is not None else torch.zeros(0)
    return float(sizes.max() / sizes.min()) if len(sizes) else 1.0


def _gap_after(values: Float[Tensor, " r"], count: int, floor: float) -> float:
    """First defect not counted over the last one counted, or over the floor."""
    if count == len(values):
        return float("inf")
    return max(float(values[count]), floor) / max(float(values[count - 1]) if count else 0.0, floor)


def _why_none(values: Float[Tensor, " r"], threshold: float, minimum_gap: float) -> str:
    smallest = float(values[0])
    if smallest > threshold:
        return (
            f"no symmetry: the smallest defect is {smallest:.2g}, above the threshold {threshold:g}"
        )
    below = int((values <= threshold).sum())
    lie = f"{plural(below, 'defect')} {'lies' if below == 1 else 'lie'} below the threshold {threshold:g} (from {smallest:.2g})"
    apart = f"by a gap of {minimum_gap:g} times (more before a small one) and by its interval"
    return f"no symmetry: {lie}, but none is set apart from the rest {apart}"
