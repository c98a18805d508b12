"""The surface on which data lies: polynomials that vanish there, and the motions along it."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import symmetric_eigen
from liegg.polarization.test_functions import Monomials, monomials

HIGHEST_DEGREE = 4
"""Degree of polynomials up to which they are tried."""

MOST_MONOMIALS = 1000
"""Monomials that are tried together."""

THICKNESS = 0.05
"""Largest root mean square distance of held-out samples from a surface, as a share of the size of the data."""

TIES = 3.0
"""Distances up to this many times the smallest belong to the same surface, if they are below the thickness."""


@dataclass(frozen=True, eq=False)
class Surface:
    r"""Polynomials $F$ with $F = 0$ on the data.

    Attributes:
        features: monomials of degree 1 and more; the constant comes first in `coefficients`.
        coefficients: `[q, k + 1]`.
        distances: `[q]`, root mean square distance of held-out samples from each zero set, as a share of the size of the data.
        degree: of the polynomials.
    """

    features: Monomials
    coefficients: Float[Tensor, "q k"]
    distances: Float[Tensor, " q"]
    degree: int

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b q"]:
        """One plus the distance from the surface, to first order: rounding is small beside it, which it is not beside 0."""
        weights = self.coefficients.to(x)
        return 1 + self.features.values(x) @ weights[:, 1:].mT + weights[:, 0]


def fit_surface(x: Float[Tensor, "b ..."], *, seed: int) -> Surface:
    r"""Polynomials of the lowest degree that vanish on held-out samples.

    Taubin's problem: the smallest $\mathrm{mean}\,F^2$ for $\mathrm{mean}\,|\nabla F|^2 = 1$; the root is a distance.

    Args:
        x: the samples.
        seed: of the split into samples that fit and samples that judge.

    Raises:
        ArgumentError: no polynomial vanishes.
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    half = len(x) // 2
    fitted, judged = x[order[:half]], x[order[half:]]
    numbers, nearest = x[0].numel(), math.inf
    for degree in range(1, HIGHEST_DEGREE + 1):
        size = math.comb(numbers + degree, degree)
        if size > min(MOST_MONOMIALS, half // 2):
            break
        features = monomials(x, degree)
        found = _vanishing(features, fitted, judged)
        if found is None:
            continue
        coefficients, distances = found
        nearest = min(nearest, float(distances.min()))
        zero = (distances <= THICKNESS) & (distances <= TIES * max(float(distances[0]), 1e-6))
        if bool(zero.any()):
            return Surface(features, coefficients[zero], distances[zero], degree)
    raise ArgumentError(
        f"no polynomial up to degree {HIGHEST_DEGREE} vanishes on the data: the nearest surface is {100 * nearest:.0f} % of the "
        f"data's size away, and {100 * THICKNESS:.0f} % are allowed. The data does not lie on a surface, or there are too few "
        "samples; ask question='density' for the symmetries of its distribution."
    )


def _vanishing(
    features: Monomials, fitted: Tensor, judged: Tensor
) -> tuple[Float[Tensor, "q k"], Float[Tensor, " q"]] | None:
    """Polynomials in the order of their distance on the samples that fit, with the distance on the others."""
    square, slope = _moments(features, fitted)
    sizes, axes = symmetric_eigen(slope)
    kept = sizes > 1e-10 * sizes[-1]  # the constant has no slope
    if not bool(kept.any()):
        return None
    whiten = axes[:, kept] / sizes[kept].sqrt()
    # The constant that suits each polynomial best is minus its mean.
    lift = torch.cat([-(square[:1, 1:] @ whiten), whiten])
    _, places = symmetric_eigen(lift.mT @ square @ lift)
    coefficients = (lift @ places).mT
    other_square, other_slope = _moments(features, judged)
    values = torch.einsum("qi,ij,qj->q", coefficients, other_square, coefficients)
    slopes = torch.einsum("qi,ij,qj->q", coefficients[:, 1:], other_slope, coefficients[:, 1:])
    tiny = torch.finfo(values.dtype).tiny
    return coefficients, (values.clamp_min(0) / slopes.clamp_min(tiny)).sqrt()


def _moments(features: Monomials, x: Tensor) -> tuple[Float[Tensor, "p p"], Float[Tensor, "k k"]]:
    """Mean products of the values, with 1 in front, and of the gradients, in units of the size of the data."""
    values = features.values(x)
    values = torch.cat([torch.ones_like(values[:, :1]), values], 1)
    gradients = features.gradients(x)
    slope = torch.einsum("bkm,blm->kl", gradients, gradients) / len(x)
    return values.mT @ values / len(x), slope
