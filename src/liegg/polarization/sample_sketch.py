r"""A sketch of the samples: how many differ, and whether they lie in clusters.

It keeps the samples with the smallest hashes, so that it is a random part of the different samples
that depends neither on their order nor on the batches, and two sketches can be merged.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import to_device
from liegg._utils.random import WORD, rademacher

SKETCH_SIZE = 128
"""Samples in a sketch."""

PROJECTIONS = 8
"""Numbers that are kept of each sample: random projections, or the sample if it has no more."""

CLEARLY_FEWER = 0.75
"""Estimated share of different samples below which there are copies: three standard errors."""

FEWEST_CLUSTERED = 48
"""Fewest samples among which clusters are looked for."""

TIGHT = 2.0
"""Least ratio of the distances to the nearest sample outside a cluster and to the last one inside."""

CHANCE = 8.0
"""In m dimensions a jump after the k-th neighbour has a chance of this to the power -m, for k up to 3; less beyond."""

MORE_THAN_CHANCE = 0.2
"""Share of the samples with a jump, above what chance makes, from which on there are clusters.

For smooth distributions on a line, a curve, or in 2 to 30 dimensions it stayed below 0.15 in 450
trials, for clusters a twentieth as wide as their distances above 0.35."""

LARGEST_CLUSTER = 0.25
"""Largest share of the samples in one of several clusters."""


class SampleSketch(NamedTuple):
    """The samples with the smallest hashes, on the CPU.

    Attributes:
        hashes: ascending, each once.
        places: projections of these samples.
    """

    hashes: Int[Tensor, " k"]
    places: Float[Tensor, "k d"]


def init() -> SampleSketch:
    """No samples."""
    return SampleSketch(torch.zeros(0, dtype=torch.int64), torch.zeros(0, 0, dtype=torch.float64))


def update(
    sketch: SampleSketch,
    hashes: Int[Tensor, " b"],
    x: Float[Tensor, "b ..."],
    moving: Callable[[Tensor], Tensor] | None = None,
) -> SampleSketch:
    """Add the samples of a batch; soon hardly any of them has a hash that is small enough.

    Args:
        sketch: the sketch so far.
        hashes: hash of every sample, on the CPU.
        x: the batch.
        moving: gives the part of samples that lies in clusters or not; None for all of their numbers.
    """
    small = hashes
    if len(sketch.hashes) == SKETCH_SIZE:
        small = hashes[hashes < sketch.hashes[-1]]
    new = _smallest(small)
    new = new[~torch.isin(new, sketch.hashes)]
    if not len(new):
        return sketch
    places = (hashes <= new[-1]).nonzero().flatten()
    places = places[hashes[places].argsort()]
    chosen = places[torch.searchsorted(hashes[places], new)]
    some = x[to_device(chosen, x.device)]
    return merge(sketch, SampleSketch(new, _projections(some if moving is None else moving(some))))


def _smallest(hashes: Int[Tensor, " b"]) -> Int[Tensor, " k"]:
    """The smallest hashes in ascending order, each once; all are sorted only if there are many copies."""
    if len(hashes) > 4 * SKETCH_SIZE:
        few = hashes.topk(4 * SKETCH_SIZE, largest=False).values.unique()
        if len(few) >= SKETCH_SIZE:
            return few[:SKETCH_SIZE]
    return hashes.unique()[:SKETCH_SIZE]


def merge(one: SampleSketch, other: SampleSketch) -> SampleSketch:
    """The sketch of the samples of both."""
    if not len(one.hashes) or not len(other.hashes):
        return one if len(one.hashes) else other
    hashes, inverse = torch.cat([one.hashes, other.hashes]).unique(return_inverse=True)
    places = torch.cat([one.places, other.places])
    first = torch.zeros(len(hashes), dtype=torch.int64).scatter_(
        0, inverse, torch.arange(len(inverse))
    )
    return SampleSketch(hashes[:SKETCH_SIZE], places[first[:SKETCH_SIZE]])


def distinct(sketch: SampleSketch, samples: int) -> float:
    """Number of different samples; estimated to 9 % where there are more than the sketch holds.

    Hashes are uniform, so the largest of the smallest ones says how many there are.

    Args:
        sketch: the sketch of all samples.
        samples: their number, which is returned where the estimate does not clearly differ from it.
    """
    count = len(sketch.hashes)
    if count < SKETCH_SIZE:
        return float(count)
    share = (int(sketch.hashes[-1]) + 2**63) / 2**64
    estimate = max(float(count), (count - 1) / share)
    return estimate if estimate < CLEARLY_FEWER * samples else float(samples)


def clusters(sketch: SampleSketch) -> int:
    """Number of tight clusters in which most samples lie; 0 if there are none.

    For every sample the distances to its neighbours are sorted. A sample in a cluster has a jump
    from the last neighbour inside to the first outside. In m dimensions a smooth distribution has
    $d_{k+1}/d_k > r$ with probability $r^{-km}$, so that jumps by a factor of `TIGHT`, and more for
    the nearest neighbours, are rare. The dimension is that of the first two neighbours (Facco et
    al. 2017).
    """
    samples = len(sketch.hashes)
    if samples < FEWEST_CLUSTERED:
        return 0
    places = sketch.places - sketch.places.mean(0)
    spread = places.square().mean(0).sqrt()
    places = places[:, spread > 0] / spread[spread > 0]
    if not places.shape[1]:
        return 0
    reach = max(2, math.floor(LARGEST_CLUSTER * samples)) + 1
    near = torch.cdist(places, places).topk(reach + 1, largest=False).values[:, 1:]
    steps = near.clamp_min(torch.finfo(torch.float64).tiny).log().diff(dim=1)
    needed = math.log(CHANCE) / torch.arange(1.0, reach, dtype=torch.float64)
    excess, place = (steps - needed.clamp_min(math.log(TIGHT))).max(1)
    inside = excess > 0
    dimension = 1 / max(float(steps[:, 0].mean()), 1e-3)
    chance = 3 * CHANCE**-dimension + TIGHT ** (-4 * dimension) / (1 - TIGHT**-dimension)
    if float(inside.double().mean()) < min(chance, 1 - 2 * MORE_THAN_CHANCE) + MORE_THAN_CHANCE:
        return 0
    # A cluster of m samples is counted m times, by 1/m.
    return max(1, round(samples * float((1 / (place[inside] + 2.0)).mean())))


def _projections(x: Float[Tensor, "b ..."]) -> Float[Tensor, "b d"]:
    """The numbers of each sample if they are few, else random combinations of them."""
    flat = x.detach().reshape(len(x), -1).double()
    numbers = flat.shape[1]
    if numbers <= PROJECTIONS:
        return flat.cpu()
    width = -(-numbers // WORD)
    words = torch.arange(PROJECTIONS * width, device=x.device).reshape(PROJECTIONS, width)
    signs = rademacher(0, words, size=numbers**-0.5).flatten(1)[:, :numbers]
    return (flat @ signs.mT).cpu()
