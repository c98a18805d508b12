"""Stage 7, verdict: how many directions are symmetries, and why."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._errors import ArgumentError
from liegg._linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.defect import Defects

FLOOR_FACTOR = 100.0
"""Rounding units of the model's dtype within which a direction's relative output change counts as zero."""

THRESHOLD = 0.03
"""Largest defect of a symmetry: the output moves by less than 17 % of what an average direction of equal displacement does."""

GAP = 10.0
"""Smallest ratio between the first defect that is not counted and the last one that is."""

RESOLUTION = 1e-4
"""Defects below this are alike when gaps are compared: an output that moves by 1 % of the average is as good as still."""

MIXED_UNITS = 30.0
"""Ratio of the features' sizes above which their motions are no longer comparable; a defect then differs by its square."""


@dataclass(frozen=True)
class Decision:
    """How many directions are symmetries, with the numbers that decided it.

    Attributes:
        nullity: number of directions judged to be symmetries; the first ones in ascending order of defect.
        exact: how many of them lie at the numerical floor.
        undecided: directions at the floor only because there are too few samples to constrain them; not counted.
        trivial: directions that do not move the data; not counted.
        gap: first defect not counted over the last one counted (or the floor); infinite if none is left.
        threshold: largest defect a symmetry may have.
        minimum_gap: smallest gap accepted.
        resolution: defects below this were alike when gaps were compared.
        floor: defect below which a direction is exact.
        reasons: the decision in sentences.
        warnings: what may make it wrong.
    """

    nullity: int
    exact: int
    undecided: int
    trivial: int
    gap: float
    threshold: float
    minimum_gap: float
    resolution: float
    floor: float
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


def numerical_floor(dtype: torch.dtype, *, factor: float = FLOOR_FACTOR) -> float:
    """Defect that rounding alone can produce in a model of this dtype: `(factor · eps)²`."""
    if not factor > 0:
        raise ArgumentError(f"floor_factor={factor}: expected a positive number of rounding units, for example {FLOOR_FACTOR:g}.")
    return (factor * torch.finfo(dtype).eps) ** 2


def decide(
    defects: Defects,
    *,
    samples: int,
    floor: float,
    threshold: float = THRESHOLD,
    minimum_gap: float = GAP,
    resolution: float = RESOLUTION,
    eliminated: int = 0,
    feature_sizes: Float[Tensor, " n"] | None = None,
) -> Decision:
    """Count the symmetries: defects below the threshold, set apart from the rest by a gap.

    A count `k` is possible if the `k`-th defect is at most `threshold` and at least `minimum_gap` times smaller than the next
    one. Of the possible counts the one with the widest gap is taken, where defects below `resolution` are alike: learned
    symmetries beside exact ones are then counted with them, and a direction that is merely less sensitive than most is not.

    Directions at the floor are symmetries only if there were more samples than independent constraints: as long as constraints
    are missing, each new sample brings one, so fewer constraints than samples means that none is missing. Otherwise data that
    was never asked for could still move them, and they are undecided.

    Args:
        defects: the solved pair.
        samples: number of samples seen.
        floor: from `numerical_floor`.
        threshold: largest defect of a symmetry.
        minimum_gap: smallest ratio to the next defect.
        resolution: defects below this are alike when gaps are compared.
        feature_sizes: summed squares of the features, to warn of mixed units.
        eliminated: constraints already used up on output generators (`Elimination.rank`); 0 for invariance.

    Returns:
        The decision with its reasons.
    """
    _check(threshold, minimum_gap, resolution)
    values = defects.values
    total, trivial = len(values), len(defects.trivial)
    at_floor = int((values <= min(floor, threshold)).sum())
    constraints = total - at_floor + eliminated
    nullity = _widest_gap(values, min(max(floor, resolution), threshold / minimum_gap), threshold, minimum_gap)
    gap = _gap_after(values, nullity, floor)
    reasons, warnings = [], []
    undecided = 0
    if total and defects.sensitivity == 0:
        warnings.append(
            "nothing but rounding moves the output in any candidate direction: it is constant on this data, or invariant under all"
        )
    elif at_floor and constraints >= samples:
        undecided, nullity, gap = at_floor, 0, 1.0
        warnings.append(
            f"{samples} samples cannot decide {total} directions: {undecided} are not constrained by any sample. "
            f"Use more than {total + eliminated} samples."
        )
    elif samples < 2 * total:
        warnings.append(f"only {samples} samples for {total} directions: small defects may be chance. Use {2 * total} or more.")
    if (ratio := _size_ratio(feature_sizes)) > MIXED_UNITS:
        warnings.append(
            f"the features' sizes differ by a factor of {ratio:.0f}: motions of different features are then not comparable, and "
            "directions along the larger ones look like symmetries. Standardise the data, and undo it in front of the model"
        )
    if floor > threshold:
        warnings.append(
            f"rounding alone can cause a defect of {floor:.2g} in this dtype, more than the threshold {threshold:g}: a symmetry "
            "may be missed. Run the model in float32 or float64."
        )
    if trivial:
        warnings.append(f"{trivial} directions do not move the data (a subspace, a constant feature, or rounding alone); nothing can be said of them")  # noqa: E501  # fmt: skip
    exact = min(at_floor, nullity)
    if nullity:
        where = f"all at the numerical floor {floor:.0e}" if exact == nullity else f"defects up to {float(values[nullity - 1]):.2g}"
        after = f"the next is {gap:.3g} times larger" if nullity < total else "no direction is left"
        reasons.append(f"{nullity} of {total} directions are symmetries: {where}, {after}")
    elif total and not undecided:
        reasons.append(_why_none(values, threshold, minimum_gap))
    return Decision(
        nullity, exact, undecided, trivial, gap, threshold, minimum_gap, resolution, floor, tuple(reasons), tuple(warnings)
    )


def found_directions(defects: Defects, decision: Decision) -> Float[Tensor, "d g"]:
    """Orthonormal coefficients of the directions judged symmetries, smallest defect first, with deterministic signs.

    Directions that tie at the numerical floor have no order of their own; they get the basis of `canonical_basis`, which depends on
    their span alone.
    """
    chosen = defects.directions[: decision.nullity]
    exact = canonical_basis(orthonormal_rows(chosen[: decision.exact]))
    if decision.exact == decision.nullity:
        return exact
    q, r = torch.linalg.qr(torch.cat([exact, chosen[decision.exact :]]).mT)
    return fix_signs((q * torch.where(r.diagonal() < 0, -1.0, 1.0)).mT.contiguous())


def _check(threshold: float, minimum_gap: float, resolution: float) -> None:
    if not 0 < threshold < math.inf:
        raise ArgumentError(f"threshold={threshold}: expected a positive defect, for example threshold={THRESHOLD}.")
    if not 1 <= minimum_gap < math.inf:
        raise ArgumentError(f"minimum_gap={minimum_gap}: expected a ratio of 1 or more, for example minimum_gap={GAP:g}.")
    if not 0 <= resolution < math.inf:
        raise ArgumentError(f"resolution={resolution}: expected 0 or a small defect, for example resolution={RESOLUTION}.")


def _size_ratio(squares: Float[Tensor, " n"] | None) -> float:
    """Largest over smallest size of the features that are not zero throughout."""
    sizes = squares[squares > 0].sqrt() if squares is not None else torch.zeros(0)
    return float(sizes.max() / sizes.min()) if len(sizes) else 1.0


def _widest_gap(values: Float[Tensor, " r"], resolution: float, threshold: float, minimum_gap: float) -> int:
    """The count with the widest gap after it among those that threshold and gap allow; of equals the larger."""
    lifted = values.clamp_min(max(resolution, torch.finfo(values.dtype).tiny))
    gaps = torch.cat([lifted[1:], lifted.new_full((1,), torch.inf)])[: len(lifted)] / lifted
    allowed = (values <= threshold) & (gaps >= minimum_gap)
    return int((allowed & (gaps == gaps[allowed].max())).nonzero()[-1]) + 1 if bool(allowed.any()) else 0


def _gap_after(values: Float[Tensor, " r"], count: int, floor: float) -> float:
    """First defect not counted over the last one counted, or over the floor."""
    if count == len(values):
        return float("inf")
    return max(float(values[count]), floor) / max(float(values[count - 1]) if count else 0.0, floor)


def _why_none(values: Float[Tensor, " r"], threshold: float, minimum_gap: float) -> str:
    smallest = float(values[0])
    if smallest > threshold:
        return f"no symmetry: the smallest defect is {smallest:.2g}, above the threshold {threshold:g}"
    below = int((values <= threshold).sum())
    return (
        f"no symmetry: {below} defects lie below the threshold {threshold:g} (from {smallest:.2g}), but none is followed by a gap "
        f"of {minimum_gap:g} times"
    )
