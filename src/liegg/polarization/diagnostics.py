"""Degenerate models (constant, piecewise constant, saturated, dead outputs), detected from sums."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg.polarization.output_sketch import Outputs

STILL_UNITS = 4.0
"""Rounding units within which nothing moves; constants that cancel stay below 3."""

CARRIED = 0.1
"""Fraction of samples that carry the sensitivity, below which a model may be saturated.

Random networks have 0.2 or more."""

EVENNESS = 0.2
"""Samples that carry the sensitivity over those that carry the output's variance.

Below it a model may be saturated. Data with heavy tails leaves few of both."""

STEEPNESS = 1e-3
"""Typical squared motion over the output's variance, below which a model may be saturated.

Random networks have 0.5 or more."""

IDLE = 0.5
"""Fraction of samples without any derivative from which on a warning is given."""

UNEVEN_OUTPUTS = 30.0
"""Ratio of the outputs' sensitivities above which the smaller ones no longer count."""

NAMED_OUTPUTS = 10
"""Most dead outputs that are listed."""


class DiagnosticSums(NamedTuple):
    r"""Sums over the samples so far, in float64 on the device; all but `shift` and `largest` are additive.

    $y_i$ are the outputs of sample $i$, $s_i$ the sum of squares of its polarization rows, $d_i$
    the squared distance of its outputs from `shift`.

    Attributes:
        samples: number of samples.
        shift: mean outputs of the first batch; sums of squares around it lose no digits.
        outputs: sums of `y - shift`.
        squares: sums of `(y - shift)²`.
        total: sum of squares of the summed outputs, shifted likewise.
        spread: sum of `dᵢ²`.
        motions: sums of squared rows for each output; None if rows are combinations of outputs.
        motion: sum of `sᵢ`.
        concentration: sum of `sᵢ²`.
        largest: largest `sᵢ`.
        logarithm: sum of `log sᵢ` over samples that move.
        still: number of samples with `sᵢ = 0`.
    """

    samples: int
    shift: Float[Tensor, " c"]
    outputs: Float[Tensor, " c"]
    squares: Float[Tensor, " c"]
    total: Float[Tensor, ""]
    spread: Float[Tensor, ""]
    motions: Float[Tensor, " c"] | None
    motion: Float[Tensor, ""]
    concentration: Float[Tensor, ""]
    largest: Float[Tensor, ""]
    logarithm: Float[Tensor, ""]
    still: Float[Tensor, ""]


@dataclass(frozen=True)
class Diagnostics:
    """Whether a model is degenerate, as far as its symmetries are concerned.

    Attributes:
        kind: `"ok"`; `"constant"`: nothing changes the output; `"flat"`: the output varies over the
            data but has no derivative.
        remarks: what this means and what to do; empty if the model is not degenerate.
        variance: of the outputs that had rows, together.
        active: samples whose output has any derivative along the candidates; None if not counted.
        carriers: samples that carry the sensitivity, as many equal ones as have its sum and its sum of squares.
    """

    kind: Literal["ok", "constant", "flat"]
    remarks: tuple[Remark, ...]
    variance: float = field(default=0.0, compare=False)
    active: int | None = field(default=None, compare=False)
    carriers: float = field(default=0.0, compare=False)


def init_sums(y: Float[Tensor, "b c"], *, each: bool = True) -> DiagnosticSums:
    """Sums over no samples.

    Args:
        y: outputs of the first batch, around which later outputs are summed; not counted yet.
        each: whether every output has a row of its own (`outputs="each"`).
    """
    shift = y.detach().double().mean(0)
    zeros, zero = torch.zeros_like(shift), shift.new_zeros(())
    return DiagnosticSums(
        samples=0,
        shift=shift,
        outputs=zeros,
        squares=zeros,
        total=zero,
        spread=zero,
        motions=zeros if each else None,
        motion=zero,
        concentration=zero,
        largest=zero,
        logarithm=zero,
        still=zero,
    )


def update_sums(
    sums: DiagnosticSums,
    rows: Float[Tensor, "b k g"],
    y: Float[Tensor, "b c"],
    *,
    split: int | None = None,
) -> DiagnosticSums:
    r"""Add the samples of a batch. Nothing is read back from the device.

    Args:
        sums: sums over the samples so far.
        rows: polarization rows of the input's generators, without the columns of an output action.
        y: outputs.
        split: columns of the first factor, if rows are given as the two factors of $l \otimes r$
            side by side (`Action.outer_factors`).
    """
    squares = (
        _squares(rows)
        if split is None
        else _squares(rows[..., :split]) * _squares(rows[..., split:])
    )
    motion = squares.sum(1)
    offset = y.detach().double() - sums.shift
    distance = offset.square().sum(1)
    return sums._replace(
        samples=sums.samples + y.shape[0],
        outputs=sums.outputs + offset.sum(0),
        squares=sums.squares + offset.square().sum(0),
        total=sums.total + offset.sum(1).square().sum(),
        spread=sums.spread + distance.square().sum(),
        motions=None if sums.motions is None else sums.motions + squares.sum(0),
        motion=sums.motion + motion.sum(),
        concentration=sums.concentration + motion.square().sum(),
        largest=torch.maximum(sums.largest, motion.max()) if len(motion) else sums.largest,
        logarithm=sums.logarithm + torch.where(motion > 0, motion, 1.0).log().sum(),
        still=sums.still + (motion == 0).sum(),
    )


def merge_sums(one: DiagnosticSums, other: DiagnosticSums) -> DiagnosticSums:
    """Sums over the samples of both, which must have started from the same `init_sums`."""
    sums = {
        name: None if value is None else value + getattr(other, name)
        for name, value in one._asdict().items()
        if name not in ("shift", "largest")
    }
    return one._replace(**sums, largest=torch.maximum(one.largest, other.largest))


def diagnose(sums: DiagnosticSums, *, dtype: torch.dtype, outputs: Outputs = "each") -> Diagnostics:
    """Detect degenerate models, and verdicts that rest on few samples or outputs.

    An output never moves if its rows are zero or smaller than the smallest number of the model's
    precision, or if both its rows and its variance are within rounding of its size; data on one
    orbit also leaves an output constant, but not without derivative.

    Args:
        sums: sums over all samples.
        dtype: precision of the model.
        outputs: which outputs had rows, as for `liegg.discover`.

    Examples:
        >>> y = torch.ones(50, 2)
        >>> diagnose(update_sums(init_sums(y), torch.zeros(50, 2, 9), y), dtype=y.dtype).kind
        'constant'
    """
    n = sums.samples
    floor, lost = (STILL_UNITS * torch.finfo(dtype).eps) ** 2, torch.finfo(dtype).tiny ** 2
    means = (sums.outputs / n).cpu()
    variances = (sums.squares.cpu() / n - means.square()).clamp_min(0)
    sizes = (sums.shift.cpu() + means).square() + variances
    dead = same = variances <= floor * sizes
    variance, unchanged, size = float(variances.sum()), bool(same.all()), float(sizes.sum())
    if outputs == "sum":
        size = float(sizes.sqrt().sum()) ** 2  # the rounding of a sum is that of its terms
        variance = max(float(sums.total) / n - float(means.sum()) ** 2, 0.0)
        unchanged = variance <= floor * size
    if sums.motions is not None:
        motions = sums.motions.cpu()
        dead = (motions <= n * lost) | (same & (motions <= n * floor * sizes))
        quiet = bool(dead.all())
    else:
        motion = float(sums.motion)
        quiet = motion <= n * lost or (unchanged and motion <= n * floor * size)
    if not quiet:
        active = n - int(sums.still)
        carriers = effective_count(float(sums.motion), float(sums.concentration), active)
        warnings = tuple(_warnings(sums, dead, variance))
        return Diagnostics("ok", warnings, variance, active, carriers)
    if not unchanged:
        return Diagnostics("flat", (Diagnosis.PIECEWISE_CONSTANT(),))
    constant = Diagnosis.CONSTANT_OUTPUT if bool(same.all()) else Diagnosis.CONSTANT_SUM
    where = f"all {plural(n, 'sample')}" if n > 1 else "the only sample"
    return Diagnostics("constant", (constant(where=where),))


def _warnings(sums: DiagnosticSums, dead: Bool[Tensor, " c"], variance: float) -> Iterator[Remark]:
    """Outputs and samples on which the verdict does not rest, for a model that is not degenerate.

    A model is saturated if few samples carry the sensitivity, many carry the spread of the output,
    and the typical sample hardly moves the output.
    """
    n, still = sums.samples, int(sums.still)
    effective = effective_count(float(sums.motion), float(sums.concentration), n - still)
    spread = effective_count(float(sums.squares.sum()), float(sums.spread), n)
    typical = math.exp(float(sums.logarithm) / (n - still)) if 2 * still < n else 0.0
    few = effective < CARRIED * n
    if outputs := dead.nonzero().flatten().tolist():
        more = ["…"] if len(outputs) > NAMED_OUTPUTS else []
        names = ", ".join([*map(str, outputs[:NAMED_OUTPUTS]), *more])
        count, total = len(outputs), len(dead)
        yield Diagnosis.DEAD_OUTPUTS(n=count, total=total, outputs=names, rest=total - count)
    if sums.motions is not None and not few:
        alive = sums.motions.cpu()[~dead]
        factor = float((alive.max() / alive.min()).sqrt())
        if factor > UNEVEN_OUTPUTS:
            yield Diagnosis.UNEVEN_OUTPUTS(factor=factor)
    if few and effective < EVENNESS * spread and typical < STEEPNESS * variance:
        yield Diagnosis.SATURATED(n=max(1, round(effective)), total=n)
    elif still >= IDLE * n and still:
        yield Diagnosis.ZERO_DERIVATIVES(n=still, total=n, rest=n - still)


def _squares(rows: Float[Tensor, "b k p"]) -> Float[Tensor, "b k"]:
    rows = rows.detach()
    # Forward derivatives are not contiguous; a norm is twenty times slower there on a CPU.
    if rows.device.type == "cpu" and not rows.is_contiguous():
        return torch.einsum("bkp,bkp->bk", rows.double(), rows.double())
    return torch.linalg.vector_norm(rows, dim=2, dtype=torch.float64).square()


def effective_count(total: float, squares: float, count: int) -> float:
    """Number of equal terms with this sum and sum of squares; `count` if the squares overflow."""
    return total / squares * total if 0 < squares < math.inf else float(count)
