"""Can the data tell an element from the continuous symmetries? A mirror image of a planar molecule is a rotated one."""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.levenberg_marquardt import Schedule, descend

ALONG_ORBIT = Schedule(steps=40, longest=1.0, damping=1e-2, less=0.3, more=4.0, stuck=1e14)
"""Steps of the descent to the moved sample."""

ORBIT_STARTS, MORE_ORBIT_STARTS = 12, 60
"""Random starts per sample, and further ones for samples that were not reached."""

ORBIT_SAMPLES = 16
"""Samples that are looked at."""

ORBITS_AT_ONCE = 4
"""Samples that are looked at before others, which are not needed where these are out of reach."""

FEWEST_OUT_OF_REACH, SHARE_IN_REACH = 3, 0.8
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
    frame: Float[Tensor, "n n"] | None = None,
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
        frame: coordinates as columns in which distances are measured; those of the samples by default.
    """
    if not len(algebra):
        return "by the data"
    into = torch.eye(algebra.shape[1]).to(algebra) if frame is None else frame.to(algebra)
    inverse = torch.linalg.inv(into)
    algebra = inverse @ algebra @ into
    unit = algebra / torch.linalg.matrix_norm(algebra, 2)[:, None, None]
    generator = torch.Generator().manual_seed(seed)

    def reached(samples: Tensor, starts: int) -> Bool[Tensor, " b"]:
        """Whether the identity component takes each sample to where the element takes it."""
        points = space.factors(samples) @ inverse.mT
        goal = space.factors(space.apply(element, samples)) @ inverse.mT
        return _reached(points, goal, unit, starts, generator=generator) <= tolerance

    x = x[:ORBIT_SAMPLES].double().cpu()
    needed, out = min(FEWEST_OUT_OF_REACH, len(x)), 0
    for few in x.split(ORBITS_AT_ONCE):
        inside = reached(few, ORBIT_STARTS)
        if not bool(inside.all()):
            inside[~inside] = reached(few[~inside], MORE_ORBIT_STARTS)
        out += int((~inside).sum())
        if out >= needed:
            return "by the data"
    noise = torch.randn(x.shape, generator=generator, dtype=torch.float64)
    size = space.vectors(x).square().mean().sqrt()
    generic = x + size * space.action.moving(x, noise)
    share = float(reached(generic, ORBIT_STARTS).double().mean())
    return "by no data" if share >= SHARE_IN_REACH else "not by this data"


def _reached(
    points: Float[Tensor, "b k n"],
    goal: Float[Tensor, "b k n"],
    algebra: Float[Tensor, "d n n"],
    starts: int,
    *,
    generator: torch.Generator,
) -> Float[Tensor, " b"]:
    """Distance of each goal from the orbit of its points, relative to the goal's size."""
    points, goal = (part.repeat_interleave(starts, 0) for part in (points, goal))
    coefficients = torch.randn(len(points), len(algebra), generator=generator, dtype=torch.float64)
    coefficients[::starts] = 0
    h = torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", 1.5 * coefficients, algebra))

    def residual(current: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        moved = points[places] @ current.mT
        rows = torch.einsum("dij,skj->skid", algebra, moved).flatten(1, 2)
        return (moved - goal[places]).flatten(1), rows

    def move(current: Tensor, step: Tensor) -> Tensor:
        return torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", step, algebra)) @ current

    _, cost = descend(h, residual, move, ALONG_ORBIT)
    distances = (cost / goal.square().mean((1, 2)).clamp_min(1e-300)).sqrt()
    return distances.unflatten(0, (-1, starts)).amin(1)
