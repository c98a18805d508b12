r"""A sketch of the samples: how many differ, and whether they lie in clusters.

It keeps the samples with the smallest hashes, so that it is a random part of the different samples
that depends neither on their order nor on the batches, and two sketches can be merged.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import to_device
from liegg._utils.random import WORD, rademacher

SIZE = 192
"""Samples in a sketch."""

PROJECTIONS = 8
"""Numbers that are kept of each sample: random projections, or the sample if it has no more."""

FEWEST = 24
"""Fewest samples among which clusters are looked for."""

TIGHT = 4.0
"""Ratio of the distances to the next cluster and within a cluster, above which there are clusters.

Among samples of a smooth distribution more than half have no such jump, in any dimension."""

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
    sketch: SampleSketch, hashes: Int[Tensor, " b"], x: Float[Tensor, "b ..."]
) -> SampleSketch:
    """Add the samples of a batch; soon hardly any of them has a hash that is small enough.

    Args:
        sketch: the sketch so far.
        hashes: hash of every sample, on the CPU.
        x: the batch.
    """
    small = hashes
    if len(sketch.hashes) == SIZE:
        small = hashes[hashes < sketch.hashes[-1]]
    new = small.unique()[:SIZE]
    new = new[~torch.isin(new, sketch.hashes)]
    if not len(new):
        return sketch
    order = hashes.argsort()
    chosen = order[torch.searchsorted(hashes[order], new)]
    return merge(sketch, SampleSketch(new, _projections(x[to_device(chosen, x.device)])))


def merge(one: SampleSketch, other: SampleSketch) -> SampleSketch:
    """The sketch of the samples of both."""
    if not len(one.hashes) or not len(other.hashes):
        return one if len(one.hashes) else other
    hashes, inverse = torch.cat([one.hashes, other.hashes]).unique(return_inverse=True)
    places = torch.cat([one.places, other.places])
    first = torch.zeros(len(hashes), dtype=torch.int64).scatter_(
        0, inverse, torch.arange(len(inverse))
    )
    return SampleSketch(hashes[:SIZE], places[first[:SIZE]])


def distinct(sketch: SampleSketch) -> float:
    """Number of different samples; estimated to 7 % where there are more than the sketch holds.

    Hashes are uniform, so the largest of the smallest ones says how many there are.
    """
    count = len(sketch.hashes)
    if count < SIZE:
        return float(count)
    share = (int(sketch.hashes[-1]) + 2**63) / 2**64
    return max(float(count), (count - 1) / share)


def clusters(sketch: SampleSketch) -> int:
    """Number of tight clusters in which most samples lie; 0 if there are none.

    For every sample the distances to all others are sorted. A sample in a cluster has a jump from
    the last neighbour in the cluster to the first outside. There are clusters if at least half of
    the samples have a jump by a factor of `TIGHT` within the nearest quarter of the others.
    """
    samples = len(sketch.hashes)
    if samples < FEWEST:
        return 0
    places = sketch.places - sketch.places.mean(0)
    spread = places.square().mean(0).sqrt()
    places = places[:, spread > 0] / spread[spread > 0]
    if not places.shape[1]:
        return 0
    reach = max(2, math.floor(LARGEST_CLUSTER * samples)) + 1
    near = torch.cdist(places, places).topk(reach + 1, largest=False).values[:, 1:]
    logs = near.clamp_min(torch.finfo(torch.float64).tiny).log()
    jumps, place = logs.diff(dim=1).max(1)
    inside = jumps > math.log(TIGHT)
    if 2 * int(inside.sum()) < samples:
        return 0
    sizes = place[inside].double() + 2.0  # a jump after the first neighbour: a cluster of two
    # A cluster of m samples is counted m times, by 1/m.
    return max(1, round(float((1 / sizes).sum()) * samples / int(inside.sum())))


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
