"""Can the data tell an element from the continuous symmetries? A mirror image of a planar molecule is a rotated one."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions.finite.vectors import VectorSpace

STARTS = 12
"""Random starts per sample."""

STEPS = 40
"""Levenberg–Marquardt steps."""

MORE_STARTS = 60
"""Further starts for samples that were not reached."""

SAMPLES = 16
"""Samples that are looked at."""

FEWEST, SHARE = 3, 0.8
"""Samples out of reach that tell an element apart; share of noisy samples that must be reached if no data can tell."""

Told = Literal["by the data", "by no data", "not by this data"]


def told_apart(
    space: VectorSpace,
    element: Float[Tensor, "n n"],
    algebra: Float[Tensor, "d n n"],
    x: Float[Tensor, "b ..."],
    *,
    tolerance: float,
    seed: int,
) -> Told:
    """Whether data can tell an element from the identity component.

    If an element takes every sample to where some element of the identity component takes it, another one for each sample, the output
    cannot change whether or not the element is a symmetry. Then samples with random noise decide whether that is a property of
    this data or of all data.

    Args:
        space: what the matrices act on.
        element: the element.
        algebra: generators of the identity component.
        x: samples.
        tolerance: distance, relative to a sample's size, within which two samples are equal.
        seed: of the starts and of the noise.
    """
    if not len(algebra):
        return "by the data"
    x = x[:SAMPLES].double().cpu()
    generator = torch.Generator().manual_seed(seed)
    reached = _reached(space, element, algebra, x, tolerance, generator, STARTS)
    open_ = ~reached
    if bool(open_.any()):
        reached[open_] = _reached(
            space, element, algebra, x[open_], tolerance, generator, MORE_STARTS
        )
    if int((~reached).sum()) >= min(FEWEST, len(x)):
        return "by the data"
    noise = torch.randn(x.shape, generator=generator, dtype=torch.float64)
    size = x.flatten(1).square().mean().sqrt()
    generic = x + size * noise
    own = _reached(space, element, algebra, generic, tolerance, generator, STARTS)
    return "by no data" if float(own.double().mean()) >= SHARE else "not by this data"


def _reached(
    space: VectorSpace,
    element: Tensor,
    algebra: Tensor,
    x: Tensor,
    tolerance: float,
    generator: torch.Generator,
    starts: int,
) -> Tensor:
    """Whether the identity component takes each sample to where the element takes it."""
    points, goal = space.vectors(x), space.vectors(space.apply(element, x))
    if space.homogeneous:
        points, goal = (pad(part, (0, 1), value=1.0) for part in (points, goal))
    b, d, _n = len(x), len(algebra), algebra.shape[1]
    z = torch.randn(b * starts, d, generator=generator, dtype=torch.float64)
    z[::starts] = 0
    unit = algebra / torch.linalg.matrix_norm(algebra, 2)[:, None, None]
    g = torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", 1.5 * z, unit))
    points, goal = (part.repeat_interleave(starts, 0) for part in (points, goal))
    damping = torch.full((b * starts,), 1e-2, dtype=torch.float64)
    moved = points @ g.mT
    cost = (moved - goal).square().sum((1, 2))
    for _ in range(STEPS):
        rows = torch.einsum("dij,skj->sdki", unit, moved).flatten(2)
        square = rows @ rows.mT
        right = (rows @ (goal - moved).flatten(1)[..., None])[..., 0]
        scale = square.diagonal(dim1=1, dim2=2).mean(1).clamp_min(1e-290)
        shifted = square + (damping * scale)[:, None, None] * torch.eye(d).double()
        step = torch.linalg.solve_ex(shifted, right[..., None])[0][..., 0].nan_to_num(0.0, 0.0, 0.0)
        step = step * (1.0 / step.norm(dim=1).clamp_min(1e-300)).clamp(max=1.0)[:, None]
        trial = torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", step, unit)) @ g
        moved_trial = points @ trial.mT
        new = (moved_trial - goal).square().sum((1, 2))
        better = new < cost
        g = torch.where(better[:, None, None], trial, g)
        moved = torch.where(better[:, None, None], moved_trial, moved)
        cost = torch.where(better, new, cost)
        damping = torch.where(better, damping * 0.3, damping * 4).clamp(1e-14, 1e14)
    size = goal.square().sum((1, 2)).clamp_min(1e-300)
    return ((cost / size).sqrt() <= tolerance).unflatten(0, (b, starts)).any(1)
