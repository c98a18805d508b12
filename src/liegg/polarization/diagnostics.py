"""Degenerate models (constant, piecewise constant, saturated, dead outputs), told from sums kept while the data streams by."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.polarization.output_sketch import Outputs

ROUNDING = 4.0
"""Rounding units of the model's dtype within which nothing moves: constants that cancel (unit lengths, softmax sums) keep to 3."""

CARRIED = 0.1
"""Share of the samples that carry the sensitivity, below which a model may be saturated; random networks have 0.2 or more."""

EVENNESS = 0.2
"""Samples that carry the sensitivity over those that carry the output's variance: below it a model may be saturated, not
merely fed with heavy tails, which leave few of both."""

STEEPNESS = 1e-3
"""Typical squared motion over the output's variance, below which a model may be saturated; random networks have 0.5 or more."""

IDLE = 0.5
"""Share of samples without any derivative from which on it is said."""

UNEVEN = 30.0
"""Ratio of the outputs' sensitivities above which the smaller ones no longer count."""

NAMED = 10
"""Dead outputs that are named."""


class Pulse(NamedTuple):
    r"""Sums over the samples seen so far, in float64 on the model's device; all but `shift` are additive.

    $y_i$ are the outputs of sample $i$, $s_i$ the sum of squares of its polarization rows, $d_i$ the squared distance of
    its outputs from `shift`.

    Attributes:
        samples: number of samples.
        shift: mean outputs of the first batch, near which sums of squares lose nothing.
        outputs: sums of `y - shift`.
        squares: sums of `(y - shift)²`.
        total: sum of squares of the summed outputs, shifted likewise.
        spread: sum of `dᵢ²`.
        motions: sums of squared rows for each output; None where rows are combinations of outputs.
        motion: sum of `sᵢ`.
        concentration: sum of `sᵢ²`.
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
    logarithm: Float[Tensor, ""]
    still: Float[Tensor, ""]


@dataclass(frozen=True)
class Health:
    """What is wrong with a model, if anything, as far as its symmetries are asked for.

    Attributes:
        kind: `"ok"`; `"constant"`: nothing changes the output; `"flat"`: it varies over the data, but has no derivative.
        dead: number of outputs that never move.
        dead_outputs: the first of them.
        still: share of samples at which every derivative is exactly zero.
        effective: number of samples that carry the sensitivity, `(Σ s)² / Σ s²`.
        saturated: whether they are few although the output varies over many.
        sentences: all this in words, with what to do; empty if all is well.
    """

    kind: Literal["ok", "constant", "flat"]
    dead: int
    dead_outputs: tuple[int, ...]
    still: float
    effective: float
    saturated: bool
    sentences: tuple[str, ...]


def pulse_init(y: Float[Tensor, "b c"], *, each: bool = True) -> Pulse:
    """Sums of no samples at all.

    Args:
        y: outputs of the first batch, near which later ones are summed; they are not counted yet.
        each: whether every output has a row of its own (`outputs="each"`).
    """
    outputs = torch.zeros(y.shape[1], dtype=torch.float64, device=y.device)
    number = outputs.new_zeros(())
    shift = y.detach().double().mean(0)
    return Pulse(
        0,
        shift,
        outputs,
        outputs,
        number,
        number,
        outputs if each else None,
        number,
        number,
        number,
        number,
    )


def pulse_add(
    pulse: Pulse, rows: Float[Tensor, "b k g"], y: Float[Tensor, "b c"], *, split: int | None = None
) -> Pulse:
    r"""Add the samples of a batch. Nothing is read back from the device.

    Args:
        pulse: sums of the samples before.
        rows: polarization rows of the input's generators (without the columns of an output action), any float dtype.
        y: outputs, any float dtype.
        split: columns of the first factor, where rows are given as the two factors of $l \otimes r$ side by side (`Action.outer_factors`).
    """
    squares = (
        _squares(rows)
        if split is None
        else _squares(rows[..., :split]) * _squares(rows[..., split:])
    )
    if pulse.motions is not None and squares.shape[1] != y.shape[1]:
        raise ArgumentError(
            f"{squares.shape[1]} rows to a sample for {y.shape[1]} outputs: expected pulse_init(y, each=False)."
        )
    moved = squares.sum(1)
    away = y.detach().double() - pulse.shift
    distance = away.square().sum(1)
    return pulse._replace(
        samples=pulse.samples + y.shape[0],
        outputs=pulse.outputs + away.sum(0),
        squares=pulse.squares + away.square().sum(0),
        total=pulse.total + away.sum(1).square().sum(),
        spread=pulse.spread + distance.square().sum(),
        motions=None if pulse.motions is None else pulse.motions + squares.sum(0),
        motion=pulse.motion + moved.sum(),
        concentration=pulse.concentration + moved.square().sum(),
        logarithm=pulse.logarithm + torch.where(moved > 0, moved, 1.0).log().sum(),
        still=pulse.still + (moved == 0).sum(),
    )


def pulse_merge(one: Pulse, other: Pulse) -> Pulse:
    """Sums of the samples of both, which must have started from the same `pulse_init`."""
    if not torch.equal(one.shift, other.shift) or (one.motions is None) != (other.motions is None):
        raise ArgumentError(
            "the two sums were started from different outputs; start both from one pulse_init."
        )
    sums = {
        name: None if value is None else value + getattr(other, name)
        for name, value in one._asdict().items()
        if name != "shift"
    }
    return one._replace(**sums)


def diagnose(
    pulse: Pulse,
    *,
    dtype: torch.dtype,
    outputs: Outputs = "each",
    rounding: float = ROUNDING,
    carried: float = CARRIED,
    evenness: float = EVENNESS,
    steepness: float = STEEPNESS,
    idle: float = IDLE,
) -> Health:
    """Say what the sums show: a model without symmetries to speak of, or one that few samples or outputs speak for.

    An output never moves if its rows are exactly zero, or if both its rows and its variance are within rounding of its size; data
    on one orbit leaves an output constant too, but not without derivative. A model is saturated if few samples carry the
    sensitivity, many the spread of the output, and the typical sample moves it by next to nothing.

    Args:
        pulse: sums of all samples.
        dtype: precision of the model.
        outputs: which outputs had rows, as for `liegg.discover`.
        rounding: rounding units of the dtype within which nothing moves.
        carried: largest share of samples that carry the sensitivity of a saturated model.
        evenness: largest ratio of their number to that of samples that carry the variance of its output.
        steepness: largest ratio of the typical (geometric mean) squared motion to the variance of its output.
        idle: share of samples without derivative from which on that is said.

    Raises:
        ArgumentError: there are no samples.

    Examples:
        >>> y = torch.ones(50, 2)
        >>> diagnose(pulse_add(pulse_init(y), torch.zeros(50, 2, 9), y), dtype=y.dtype).kind
        'constant'
    """
    n = pulse.samples
    if n == 0:
        raise ArgumentError("no samples were added: nothing can be diagnosed.")
    floor = (rounding * torch.finfo(dtype).eps) ** 2
    means = (pulse.outputs / n).cpu()
    variances = (pulse.squares.cpu() / n - means.square()).clamp_min(0)
    sizes = (pulse.shift.cpu() + means).square() + variances
    same = variances <= floor * sizes
    variance, unchanged, size = float(variances.sum()), bool(same.all()), float(sizes.sum())
    if outputs == "sum":
        size = float(sizes.sqrt().sum()) ** 2  # rounding of a sum is that of what is summed
        variance = max(float(pulse.total) / n - float(means.sum()) ** 2, 0.0)
        unchanged = variance <= floor * size
    motion, still = float(pulse.motion), int(pulse.still)
    if pulse.motions is not None:
        motions = pulse.motions.cpu()
        dead = (motions == 0) | (same & (motions <= n * floor * sizes))
        quiet = bool(dead.all())
    else:
        dead = same
        quiet = motion == 0 or (unchanged and motion <= n * floor * size)
    uneven = 1.0
    if pulse.motions is not None and not bool(dead.all()):
        alive = pulse.motions.cpu()[~dead]
        uneven = float((alive.max() / alive.min()).sqrt())
    kind = "ok" if not quiet else "constant" if unchanged else "flat"
    effective = _effective(motion, float(pulse.concentration), n - still)
    typical = math.exp(float(pulse.logarithm) / (n - still)) if 2 * still < n else 0.0
    saturated = (
        kind == "ok"
        and effective < carried * n
        and effective < evenness * _effective(float(pulse.squares.sum()), float(pulse.spread), n)
        and typical < steepness * variance
    )
    names = tuple(dead.nonzero().flatten().tolist())
    told = _cause(kind, n, softmax=outputs == "sum" and not bool(same.all()))
    if kind == "ok":
        told = _warnings(
            n,
            len(same),
            names,
            still if still >= idle * n else 0,
            effective if saturated else None,
            uneven if effective >= carried * n else 1.0,
        )
    return Health(kind, len(names), names[:NAMED], still / n, effective, saturated, tuple(told))


def _squares(rows: Float[Tensor, "b k p"]) -> Float[Tensor, "b k"]:
    rows = rows.detach()
    if (
        rows.device.type == "cpu" and not rows.is_contiguous()
    ):  # as forward derivatives lie: a norm is twenty times slower there
        return torch.einsum("bkp,bkp->bk", rows.double(), rows.double())
    return torch.linalg.vector_norm(rows, dim=2, dtype=torch.float64).square()


def _effective(total: float, squares: float, most: int) -> float:
    """Number of equal terms with the same sum and sum of squares; all of them where the squares leave the range of float64."""
    return total / squares * total if 0 < squares < math.inf else float(most)


def _cause(kind: str, n: int, *, softmax: bool) -> list[str]:
    """Why nothing can be said."""
    where = f"for all {n} samples" if n > 1 else "for the only sample"
    if kind == "constant" and softmax:
        return [
            f"the sum of the outputs is the same {where} although each varies (a softmax head?). Use outputs='each'."
        ]
    if kind == "constant":
        return [
            f"the output is the same {where}, and nothing moves it: nothing can be said about its symmetries. Check the model's "
            "weights and the scale of the data."
        ]
    return [
        "the output varies over the data, but its derivative is zero at every sample in every candidate direction: either the "
        "model is piecewise constant (rounding, argmax, step), and a derivative cannot see its symmetries (analyse the layer "
        "before), or no candidate moves what it reads."
    ]


def _warnings(
    n: int, c: int, dead: tuple[int, ...], idle: int, effective: float | None, uneven: float
) -> list[str]:
    """What the verdict rests on, where that is less than it seems."""
    told = []
    if dead:
        shown = ", ".join(map(str, dead[:NAMED])) + (", …" if len(dead) > NAMED else "")
        told.append(
            f"{len(dead)} of {c} outputs never move on this data ({shown}): the verdict rests on the other {c - len(dead)}."
        )
    if uneven > UNEVEN:
        told.append(
            f"the outputs' sensitivities differ by a factor of {uneven:.0f}: the verdict rests on the largest. Scale the outputs, "
            "or analyse them one by one."
        )
    if effective is not None:
        told.append(
            f"the sensitivity rests on {max(1, round(effective))} of {n} samples; at the others next to nothing moves the output "
            "(a saturated softmax or sigmoid?). Analyse the logits, or samples near the places where the output changes."
        )
    elif idle:
        told.append(
            f"the derivative is exactly zero at {idle} of {n} samples (dead units, or rounding): the verdict rests on the other "
            f"{n - idle}."
        )
    return told
