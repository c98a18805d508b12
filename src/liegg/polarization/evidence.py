"""How the evidence is distributed over the samples: copies, clusters, few that carry everything."""

import math
from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

from liegg.polarization.diagnostics import DiagnosticSums, effective_count
from liegg.polarization.sample_sketch import SampleSketch, clusters, distinct

EFFECTIVE_PER_FREEDOM = 6.0
"""Effective samples per degree of freedom; measured, so that intervals cover as they should."""


class Unevenness(NamedTuple):
    """How unequally samples contribute, as far as their evidence depends on it; part of `DiagnosticSums`.

    Attributes:
        samples: number of samples.
        motion: sum of the squared sizes of their rows.
        concentration: sum of the squares of these.
        largest: the largest of these.
    """

    samples: int
    motion: Float[Tensor, ""]
    concentration: Float[Tensor, ""]
    largest: Float[Tensor, ""]


class SampleEvidence(NamedTuple):
    r"""How much evidence the samples are.

    Attributes:
        dominance: share of one sample, with its copies, in the variance of the mean sensitivity:
            $\max s^2 / \sum s^2$. It tends to 0 as samples are added if a mean of $s$ is normal in the
            end, and stays near 1 if single samples decide it.
        effective: number of different samples of equal sensitivity that would be as much evidence.
        clusters: number of tight clusters in which the samples lie; 0 for none, or if groups say
            which samples belong together.
    """

    dominance: float = 0.0
    effective: float = math.inf
    clusters: int = 0

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a variance between samples that are this unequal; may be infinite."""
        single = 1 / self.dominance if self.dominance > 0 else math.inf
        return min(single, self.effective / EFFECTIVE_PER_FREEDOM)


def sample_evidence(
    sums: DiagnosticSums | Unevenness, sketch: SampleSketch, groups: Int[Tensor, " n"] | None
) -> SampleEvidence:
    """How much evidence the samples of a pass are.

    Args:
        sums: sums over all samples.
        sketch: the sketch of all samples.
        groups: hash of the label of every sample; None for independent samples.
    """
    samples, squares, largest = sums.samples, float(sums.concentration), float(sums.largest)
    units = distinct(sketch, samples)
    share = effective_count(float(sums.motion), squares, samples) / samples
    dominance = 0.0
    if 0 < squares < math.inf:
        dominance = min(1.0, largest / squares * largest * max(1.0, samples / max(units, 1.0)))
    if groups is None:
        return SampleEvidence(dominance, share * units, clusters(sketch))
    # Groups are whole in their blocks, which shows how they differ.
    return SampleEvidence(dominance, min(share * units, float(len(groups.unique()))))
