"""The surface on which data lies: polynomials that vanish there, and the motions along it."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import symmetric_eigen
from liegg.polarization.test_functions import SHORTEST_AXIS, Monomials, monomials

HIGHEST_DEGREE = 4
"""Degree of polynomials up to which they are tried."""

MOST_MONOMIALS = 1000
"""Monomials that are tried together."""

THICKNESS = 0.05
"""Largest root mean square distance of held-out samples from a surface, as a share of the size of the data."""

TIES, ROUNDING = 3.0, 1e-6
"""Distances up to this many times the smallest belong to the same surface; and the distance below which they are rounding."""

LOWER_DEGREE = 1.2
"""Distances up to this many times the smallest are those of the same surface, even if they are above the thickness."""

MOST_SLOPES = 2**25
"""Derivatives of monomials on the samples that fit, at most, unless there are too few samples then."""

NEW_SHARE = 0.1
"""Share of the slope of a polynomial that lies along the surface of the others, if it is not a multiple of these."""

DEPENDENT = 0.05
"""Singular value of the normals at a sample, as a share of the largest, below which they are dependent."""


NEIGHBOURHOOD, FLATNESS = 6.0, 1.5
"""Radius of a neighbourhood in multiples of the thickness, and how many times as far samples extend there along the surface, squared
and per dimension, as across it: 1 in a blob, 2.5 to 6 on spheres and circles of 2 to 4 dimensions."""

MOST_PLACES, MOST_NEIGHBOURS, FEWEST_NEIGHBOURS = 300, 4000, 200
"""Places at which neighbourhoods are looked at, samples among which neighbours are sought, and pairs of neighbours, at least."""


@dataclass(frozen=True, eq=False)
class Surface:
    r"""Polynomials $F$ with $F = 0$ on the data.

    Attributes:
        features: monomials of degree 1 and more; the constant comes first in `coefficients`.
        coefficients: `[q, k + 1]`.
        distances: `[q]`, root mean square distance of held-out samples from each zero set, as a share of the size of the data.
        degree: largest of the polynomials.
    """

    features: Monomials
    coefficients: Float[Tensor, "q k"]
    distances: Float[Tensor, " q"]
    degree: int

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b q"]:
        """One plus the distance from the surface, to first order: rounding is small beside it, which it is not beside 0."""
        weights = self.coefficients.to(x)
        return 1 + self.features.values(x) @ weights[:, 1:].mT + weights[:, 0]

    @property
    def thickness(self) -> float:
        """Largest of the distances; 0 if they are rounding."""
        largest = float(self.distances.max())
        return largest if largest > TIES * ROUNDING else 0.0


def fit_surface(x: Float[Tensor, "b ..."], *, seed: int) -> Surface:
    r"""Polynomials that vanish on held-out samples, of the lowest degrees that do.

    Taubin's problem: the smallest $\mathrm{mean}\,F^2$ for $\mathrm{mean}\,|\nabla F|^2 = 1$; the root is a distance. Of the degrees
    whose distance is about the smallest the lowest is taken. Further polynomials must vanish where these do, so that only their
    slope along the surface counts, compared with the extent of the data in each direction.

    Args:
        x: the samples.
        seed: of the split into samples that fit and samples that judge.

    Raises:
        ArgumentError: no polynomial vanishes.
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    half, numbers = len(x) // 2, x[0].numel()
    degrees = [
        degree
        for degree in range(1, HIGHEST_DEGREE + 1)
        if math.comb(numbers + degree, degree) <= min(MOST_MONOMIALS, half // 2)
    ]
    if not degrees:
        raise ArgumentError(
            f"{len(x)} samples are too few for a surface in {numbers} dimensions; at least {4 * (numbers + 1)} are needed."
        )
    features = monomials(x, degrees[-1])
    sizes = features.exponents.sum(1)
    half = min(half, max(2 * len(sizes), MOST_SLOPES // (len(sizes) * numbers)))
    parts = order[:half], order[len(x) // 2 :][:half]
    fitted, judged = (_Sampled.of(features, x[part]) for part in parts)
    coefficients = fitted.values.new_zeros(0, len(sizes) + 1)
    distances, highest, nearest = fitted.values.new_zeros(0), 0, math.inf
    while len(distances) < numbers * HIGHEST_DEGREE:
        tried = [_vanishing(fitted, judged, sizes <= degree, coefficients) for degree in degrees]
        nearest = min(float(one.min()) if len(one) else math.inf for _, one in tried)
        if nearest > THICKNESS:
            break
        limit = TIES * max(nearest, ROUNDING)
        limit = min(limit, max(THICKNESS, LOWER_DEGREE * nearest))
        place = next(i for i, (_, one) in enumerate(tried) if bool((one <= limit).any()))
        found, away = tried[place]
        coefficients = torch.cat([coefficients, found[away <= limit]])
        distances = torch.cat([distances, away[away <= limit]])
        highest = max(highest, degrees[place])
    if not len(distances):
        raise ArgumentError(
            f"no polynomial up to degree {degrees[-1]} vanishes on the data: the nearest surface is {100 * nearest:.2g} % of the "
            f"data's size away, and {100 * THICKNESS:.2g} % are allowed. The data does not lie on a surface, or there are too few "
            "samples; ask question='density' for the symmetries of its distribution."
        )
    surface = Surface(features, coefficients, distances, highest)
    if surface.thickness and _flatness(surface, x[order]) < FLATNESS:
        raise ArgumentError(
            f"the samples lie in clusters that are as wide along the nearest surface as across it, {100 * surface.thickness:.2g} % of the "
            "data's size: polynomials pass through the clusters, but the data does not lie on a surface. Ask question='density' for the "
            "symmetries of its distribution."
        )
    return surface


def _flatness(surface: Surface, x: Float[Tensor, "b ..."]) -> float:
    """How far neighbours are apart along the surface, squared and per dimension, over the same across it.

    Infinite if there are too few neighbours to tell.
    """
    flat = x.flatten(1) / surface.features.unit
    places, others = flat[:MOST_PLACES], flat[:MOST_NEIGHBOURS]
    gradients = surface.features.gradients(x[:MOST_PLACES])
    normals = torch.einsum("qk,bkm->bmq", surface.coefficients[:, 1:], gradients)
    u, sizes, _ = torch.linalg.svd(normals, full_matrices=False)
    u = u * (sizes > DEPENDENT * sizes[:, :1])[:, None]
    ranks = (sizes > DEPENDENT * sizes[:, :1]).sum(1)
    near = torch.cdist(places, others) < NEIGHBOURHOOD * surface.thickness
    near &= ~torch.eye(len(places), len(others), dtype=torch.bool)
    one, other = near.nonzero(as_tuple=True)
    if len(one) < FEWEST_NEIGHBOURS:
        return math.inf
    apart = others[other] - places[one]
    across = torch.einsum("pm,pmq->pq", apart, u[one]).square().sum(1)
    along = apart.square().sum(1) - across
    freedom, fixed = (flat.shape[1] - ranks[one]).sum(), ranks[one].sum()
    if not freedom:
        return 0.0
    return float((along.sum() / freedom) / (across.sum() / fixed))


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Monomials on some samples.

    Attributes:
        values: `[b, k + 1]`, with 1 in front.
        gradients: `[b, k, m]`, in units of the size of the data.
        extents: `[m, m]`, principal axes of the data as columns, each as long as the data is along it, in the same units; 1 along
            axes along which it does not vary.
    """

    values: Float[Tensor, "b p"]
    gradients: Float[Tensor, "b k m"]
    extents: Float[Tensor, "m m"]

    @staticmethod
    def of(features: Monomials, x: Float[Tensor, "b ..."]) -> "_Sampled":
        """Monomials on these samples."""
        values, flat = features.values(x), x.flatten(1) / features.unit
        squares, axes = symmetric_eigen((flat - flat.mean(0)).mT @ (flat - flat.mean(0)) / len(x))
        varies = squares > SHORTEST_AXIS**2 * squares[-1]
        lengths = torch.where(varies, squares.clamp_min(0).sqrt(), 1.0)
        values = torch.cat([torch.ones_like(values[:, :1]), values], 1)
        return _Sampled(values, features.gradients(x), axes * lengths)

    def slopes(self, given: Float[Tensor, "q p"]) -> tuple[Tensor, Tensor]:
        """`[b, k, m]`, gradients along the zero set of given polynomials, and complete ones.

        If any polynomial is given they are relative to the data's extents.
        """
        if not len(given):
            return self.gradients, self.gradients
        gradients = self.gradients @ self.extents
        normals = torch.einsum("qk,bkm->bmq", given[:, 1:], gradients)
        u, sizes, _ = torch.linalg.svd(normals, full_matrices=False)
        u = u * (sizes > DEPENDENT * sizes[:, :1])[:, None]
        return gradients - (gradients @ u) @ u.mT, gradients


def _vanishing(
    fitted: _Sampled, judged: _Sampled, chosen: Tensor, given: Float[Tensor, "q p"]
) -> tuple[Float[Tensor, "r p"], Float[Tensor, " r"]]:
    """Polynomials in the order of their distance on the samples that fit, with the distance on the others.

    Args:
        fitted: samples that fit.
        judged: samples that judge.
        chosen: the monomials that are used.
        given: polynomials that vanish on the data already, of which the others are no multiples.
    """
    slopes = fitted.slopes(given)[0][:, chosen]
    sizes, axes = symmetric_eigen(torch.einsum("bkm,blm->kl", slopes, slopes) / len(slopes))
    kept = sizes > max(1e-10 * float(sizes[-1]), torch.finfo(sizes.dtype).tiny)
    whiten = axes[:, kept] / sizes[kept].sqrt()
    full = fitted.values.new_zeros(len(chosen), whiten.shape[1])
    full[chosen] = whiten
    # The constant that suits each polynomial best is minus its mean.
    lift = torch.cat([-(fitted.values[:, 1:].mean(0, keepdim=True) @ full), full])
    factor = torch.linalg.qr(fitted.values @ lift, mode="r").R
    coefficients = (lift @ torch.linalg.svd(factor).Vh.mT.flip(1)).mT
    values = (judged.values @ coefficients.mT).square().mean(0)
    along, complete = (
        torch.einsum("rk,bkm->brm", coefficients[:, 1:], part).square().sum(2).mean(0)
        for part in judged.slopes(given)
    )
    is_new = along > NEW_SHARE**2 * complete
    distances = (values / along.clamp_min(torch.finfo(values.dtype).tiny)).sqrt()
    return coefficients[is_new], distances[is_new]
