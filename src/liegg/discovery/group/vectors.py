"""The search over matrices: structured elements first, then Levenberg–Marquardt from structured and random starts."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.polish import Residual, Solutions, polish
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.starts import (
    Starts,
    algebra_starts,
    axis_starts,
    random_starts,
    spectral_starts,
)
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rows import plan

LARGEST_POLISHED = 16
"""Largest dimension in which matrices are polished; above it only structured elements are tried."""

ROUNDS = 3
"""Most rounds of random starts."""

FIRST_STEPS, LAST_STEPS = 14, 60
"""Levenberg–Marquardt steps on a few samples, and on all of them for the starts that are left."""

SURVIVORS = 40
"""Starts that are polished to the end."""

FEW_SAMPLES, MOST_SAMPLES = 64, 256
"""Samples of the first and of the last steps; at least four equations per unknown."""

COMBINATIONS = 4
"""Random combinations of outputs whose residuals are taken where there are more outputs."""

LARGEST_CONDITION = 1e4
"""Largest condition number of an element in the data's own coordinates."""

FARTHEST = 4.0
"""Largest ratio of the size of moved samples and of samples, in the data's own coordinates, either way."""

PROMISING = 0.2
"""Squared residual over the variance up to which a solution is looked at."""

SAME = 0.02
"""Distance of moved samples, in multiples of the data's size, within which two solutions are one."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The data's own coordinates.

    Attributes:
        mean: mean of the vectors; zero for linear maps.
        moment: second moment about it.
        gradients: mean outer product of the gradients.
    """

    mean: Float[Tensor, " n"]
    moment: Float[Tensor, "n n"]
    gradients: Float[Tensor, "n n"]

    @property
    def rank(self) -> int:
        """Dimension that the vectors span."""
        values = torch.linalg.eigvalsh(self.moment)
        return int((values > 1e-10 * values[-1]).sum())


def frame_of(setting: Setting, space: VectorSpace) -> Frame:
    """Moments of the data and of the gradients, on the search samples."""
    question = setting.search
    x = question.x.clone().requires_grad_()
    with torch.enable_grad():
        y = question.model(x)
        generator = torch.Generator().manual_seed(setting.seed)
        slopes = []
        for _ in range(min(COMBINATIONS, y.shape[1])):
            weights = torch.randn(y.shape[1], generator=generator, dtype=torch.float64).to(y)
            if y.requires_grad:
                slope = torch.autograd.grad(
                    (y * weights).sum(), x, retain_graph=True, materialize_grads=True
                )[0]
                slopes.append(space.vectors(slope.double()).flatten(0, 1).cpu())
    vectors = space.vectors(question.x.double()).flatten(0, 1).cpu()
    mean = vectors.mean(0) if space.homogeneous else torch.zeros(vectors.shape[1]).double()
    centred = vectors - mean
    gradient = torch.cat(slopes) if slopes else torch.zeros_like(vectors)
    gradient = gradient.nan_to_num(0.0, 0.0, 0.0)
    return Frame(
        mean, centred.mT @ centred / len(centred), gradient.mT @ gradient / max(1, len(gradient))
    )


def structured(
    space: VectorSpace, frame: Frame, algebra: Float[Tensor, "d n n"], *, uncertainty: float
) -> list[Candidate]:
    """Elements that can be stated without a search: signs, swaps, cycles, eigenvectors, forms of the algebra.

    Args:
        space: what they act on.
        frame: the data's own coordinates.
        algebra: generators of the continuous symmetries, homogeneous for affine maps.
        uncertainty: relative error of each unit generator.
    """
    n = len(frame.moment)
    linear = algebra[:, :n, :n]
    linear = linear[linear.flatten(1).norm(dim=1) > 1e-6]
    starts: Starts = axis_starts(n)
    starts += spectral_starts(frame.moment, frame.gradients)
    starts += algebra_starts(linear, frame.moment, uncertainty=uncertainty)
    if space.homogeneous:
        centres = [frame.mean]
        if float(frame.mean.norm()) > 1e-3 * float(frame.moment.diagonal().sum().sqrt()):
            centres.append(torch.zeros_like(frame.mean))
        starts = [(words, about(h, centre)) for words, h in starts for centre in centres]
    return [Candidate(((space, h),), words) for words, h in starts]


def about(h: Float[Tensor, "n n"], centre: Float[Tensor, " n"]) -> Float[Tensor, "m m"]:
    """The homogeneous matrix of a linear map about a centre."""
    n = len(h)
    matrix = torch.eye(n + 1, dtype=torch.float64)
    matrix[:n, :n] = h
    matrix[:n, n] = centre - h @ centre
    return matrix


def polished(
    setting: Setting,
    space: VectorSpace,
    frame: Frame,
    candidates: list[Candidate],
    generator: torch.Generator,
    count: int,
) -> tuple[list[Candidate], Float[Tensor, " s"], int]:
    """Solutions near structured and random starts, best first and without repeats.

    Args:
        setting: model and samples.
        space: what the matrices act on.
        frame: the data's own coordinates.
        candidates: structured elements, from which the search starts too; none after the first round.
        generator: of the random starts.
        count: number of random starts.

    Returns:
        The solutions, their squared residuals over the variance, and the number of random starts.
    """
    n = len(frame.moment)
    identity = torch.eye(n, dtype=torch.float64)
    scale = float(frame.moment.diagonal().mean())
    metrics = [identity * scale, frame.moment]
    values = torch.linalg.eigvalsh(frame.gradients)
    if float(values[0]) > 1e-6 * float(values[-1]):
        metrics.append(torch.linalg.inv(frame.gradients))
    random = random_starts(count, metrics, generator)
    if space.homogeneous:
        random = torch.stack([about(h, frame.mean) for h in random])
    starts = (
        torch.cat([torch.stack([c.factors[0][1] for c in candidates]), random])
        if candidates
        else random
    )
    outputs: Outputs = "each"
    if not setting.equivariance and setting.search.y.shape[1] > COMBINATIONS:
        outputs = COMBINATIONS
    made = plan(setting.search.model, space.action, setting.search.x, outputs=outputs)
    rows = setting.search.y.shape[1] if outputs == "each" else COMBINATIONS
    needed = 4 * space.action.size // rows
    total = len(setting.search.x)
    first = Residual(setting, space, made, min(total, max(FEW_SAMPLES, needed // 2)))
    early = polish(first, starts, FIRST_STEPS)
    places = _inside(early, frame, space)
    places = places[early.cost[places].argsort()]
    places = places[_distinct(early.h[places], frame, space)][:SURVIVORS]
    if not len(places):
        return [], torch.zeros(0).double(), len(random)
    last = Residual(setting, space, made, min(total, max(MOST_SAMPLES, needed)))
    late = polish(last, early.h[places], LAST_STEPS)
    places = _inside(late, frame, space)
    places = places[late.cost[places].argsort()]
    places = places[_distinct(late.h[places], frame, space)]
    found = [Candidate(((space, late.h[i]),), "search", structured=False) for i in places.tolist()]
    return found, late.cost[places], len(random)


def _inside(solutions: Solutions, frame: Frame, space: VectorSpace) -> Tensor:
    """Solutions that keep the data where the model was seen and do not lose a dimension."""
    n = len(frame.moment)
    values, axes = torch.linalg.eigh(frame.moment)
    values = values.clamp_min(1e-8 * float(values[-1])).sqrt()
    h = solutions.h[:, :n, :n]
    own = (axes / values).mT @ h @ (axes * values)
    sizes = torch.linalg.svdvals(own.nan_to_num(0.0, 0.0, 0.0))
    grown = sizes.square().mean(1).sqrt()
    shift = torch.zeros(len(h)).double()
    if space.homogeneous:
        gap = (solutions.h[:, :n, :n] @ frame.mean + solutions.h[:, :n, n]) - frame.mean
        shift = (gap @ (axes / values)).norm(dim=1) / n**0.5
    good = (
        torch.isfinite(solutions.cost)
        & (solutions.cost < PROMISING)
        & (sizes[:, 0] < LARGEST_CONDITION * sizes[:, -1])
        & (sizes[:, -1] > 1e-3)
        & (grown < FARTHEST)
        & (shift < FARTHEST)
    )
    return good.nonzero()[:, 0]


def _distinct(h: Float[Tensor, "s n n"], frame: Frame, space: VectorSpace) -> Tensor:
    """Places of matrices that move the data differently from all earlier ones; the identity is left out."""
    if not len(h):
        return torch.zeros(0, dtype=torch.int64)
    n = len(frame.moment)
    values, axes = torch.linalg.eigh(frame.moment)
    root = axes * values.clamp_min(0).sqrt()
    moved = (h[:, :n, :n] @ root).flatten(1)
    still = root.flatten()[None]
    if space.homogeneous:
        ends = h[:, :n, :n] @ frame.mean + h[:, :n, n]
        moved = torch.cat([moved, ends], dim=1)
        still = torch.cat([still, frame.mean[None]], dim=1)
    size = float(frame.moment.diagonal().sum().sqrt())
    kept: list[int] = []
    known = still
    for i in range(len(h)):
        if float((known - moved[i]).norm(dim=1).min()) > SAME * size:
            kept.append(i)
            known = torch.cat([known, moved[i : i + 1]])
    return torch.tensor(kept, dtype=torch.int64)
