"""Stage 7, verdict: how many directions are symmetries, and why."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.defect import Defects

FLOOR_FACTOR = 100.0
"""Rounding units of the model's dtype within which a direction's relative output change counts as zero."""

THRESHOLD = 0.03
"""Largest defect of a symmetry: the output moves by less than 17 % of what an average direction of equal displacement does."""

GAP = 10.0
"""Smallest ratio between the first defect that is not counted and the last one that is."""


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
    floor: float
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


def numerical_floor(dtype: torch.dtype, *, factor: float = FLOOR_FACTOR) -> float:
    """Defect that rounding alone can produce in a model of this dtype: `(factor · eps)²`."""
    return (factor * torch.finfo(dtype).eps) ** 2


def decide(defects: Defects, *, samples: int, floor: float, threshold: float = THRESHOLD, minimum_gap: float = GAP) -> Decision:
    """Count the symmetries: defects below the threshold, set apart from the rest by a gap.

    The count is the largest `k` whose `k`-th defect is at most `threshold` and at least `minimum_gap` times smaller than the next
    one. Directions at the floor are symmetries only if there were more samples than independent constraints; otherwise data
    that was never asked for could still move them, and they are undecided.

    Args:
        defects: the solved pair.
        samples: number of samples seen.
        floor: from `numerical_floor`.
        threshold: largest defect of a symmetry.
        minimum_gap: smallest ratio to the next defect.

    Returns:
        The decision with its reasons.
    """
    values = defects.values
    total, trivial = len(values), len(defects.trivial)
    exact = int((values <= floor).sum())
    nullity, gap = _last_gap(values, floor, threshold, minimum_gap)
    reasons, warnings = [], []
    undecided = 0
    if total and defects.sensitivity == 0:
        warnings.append("the output is constant on this data: every direction is a symmetry of a constant")
    elif exact and total - exact >= samples:
        undecided, nullity, exact = exact, 0, 0
        warnings.append(
            f"{samples} samples cannot decide {total} directions: {undecided} are not constrained by any sample. "
            f"Use more than {total} samples."
        )
    elif samples < 2 * total:
        warnings.append(f"only {samples} samples for {total} directions: small defects may be chance. Use {2 * total} or more.")
    if trivial:
        warnings.append(f"{trivial} directions do not move the data (it lies on a subspace, or a feature is constant at zero); nothing can be said of them")  # noqa: E501  # fmt: skip
    if nullity:
        where = f"all at the numerical floor {floor:.0e}" if exact == nullity else f"defects up to {float(values[nullity - 1]):.2g}"
        after = f"the next is {gap:.3g} times larger" if nullity < total else "no direction is left"
        reasons.append(f"{nullity} of {total} directions are symmetries: {where}, {after}")
    elif total and not undecided:
        reasons.append(_why_none(values, threshold, minimum_gap))
    return Decision(nullity, exact, undecided, trivial, gap, threshold, minimum_gap, floor, tuple(reasons), tuple(warnings))


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


def _last_gap(values: Float[Tensor, " r"], floor: float, threshold: float, minimum_gap: float) -> tuple[int, float]:
    """Largest count that the threshold and the gap both allow, and the gap after it."""
    lifted = values.clamp_min(floor)
    following = torch.cat([lifted[1:], lifted.new_full((1,), torch.inf)]) if len(lifted) else lifted
    allowed = ((values <= threshold) & (following >= minimum_gap * lifted)).nonzero()
    if len(allowed):
        last = int(allowed[-1])
        return last + 1, float(following[last] / lifted[last])
    return 0, float("nan") if not len(lifted) else float(lifted[0] / floor)


def _why_none(values: Float[Tensor, " r"], threshold: float, minimum_gap: float) -> str:
    smallest = float(values[0])
    if smallest > threshold:
        return f"no symmetry: the smallest defect is {smallest:.2g}, above the threshold {threshold:g}"
    below = int((values <= threshold).sum())
    return (
        f"no symmetry: {below} defects lie below the threshold {threshold:g} (from {smallest:.2g}), but none is followed by a gap "
        f"of {minimum_gap:g} times"
    )
