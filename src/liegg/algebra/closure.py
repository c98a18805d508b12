r"""How far a span of matrices is from a Lie algebra, what noise explains of it, and the nearest span that is one.

A span with orthonormal basis $B$ moves on the Grassmannian by $\Delta$, rows orthogonal to the span. To first order what its
brackets leave outside, $P_\perp[B_i, B_j]$, then changes by

$$(L\Delta)_{ij} = P_\perp([\Delta_i, B_j] + [B_i, \Delta_j]) - \textstyle\sum_k c_{ij}^k \Delta_k.$$

The same map says how much noise in the generators shows in their brackets, and where to move to close them.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.bracket import bracket
from liegg.algebra.subspace import canonical, checked_uncertainty, orthonormal, principal_angles

FLOOR = 1e-9
"""Root mean square residual that rounding explains: matrices exact to 1e-12 in a basis of condition number up to 100."""

DRAWS = 16
"""Random motions for the size of the map L; 16 give it to a few per cent, much less than the factor of 3 asks for."""

SOLVES = 200
"""Conjugate gradient steps to one move."""


@dataclass(frozen=True, eq=False)
class Closure:
    """How closed a span is.

    Attributes:
        residuals: distance of the bracket of generators i and j to the span, for the canonical orthonormal basis.
        largest: largest of them.
        rms: root mean square over the pairs i < j.
        explained: rms expected from the uncertainty given.
        noise: uncertainty that would explain the rms; zero up to rounding for an exact algebra. NaN where closure says nothing:
            every span of dimension 0, 1 or n² is closed. Infinite where no small error explains it.
        closed: the rms is at most 3 times what is explained, or rounding.
    """

    residuals: Float[Tensor, "d d"]
    largest: float
    rms: float
    explained: float
    noise: float
    closed: bool


@dataclass(frozen=True, eq=False)
class Refined:
    """A closed span near a span given.

    Attributes:
        generators: orthonormal, the canonical basis of the span.
        moved: largest principal angle to the span given, in radians.
        residual: root mean square closure residual that is left.
        converged: the residual is within the tolerance.
    """

    generators: Float[Tensor, "d n n"]
    moved: float
    residual: float
    converged: bool


@dataclass(frozen=True, eq=False)
class _Tangent:
    """Brackets of an orthonormal basis in coordinates inside and outside its span.

    `outside` is an orthonormal basis of the complement; `turned[a, j]` the part there of its a-th matrix bracketed with `B_j`.
    """

    basis: Float[Tensor, "d g"]
    outside: Float[Tensor, "m g"]
    constants: Float[Tensor, "d d d"]
    residual: Float[Tensor, "d d m"]
    turned: Float[Tensor, "m d m"]

    @classmethod
    def at(cls, generators: Float[Tensor, "d n n"]) -> "_Tangent":
        basis = generators.flatten(1)
        outside = torch.linalg.qr(basis.mT, mode="complete").Q.mT[len(basis) :]
        pairs = bracket(generators[:, None], generators[None]).flatten(2)
        turned = bracket(
            outside.unflatten(1, generators.shape[1:])[:, None], generators[None]
        ).flatten(2)
        return cls(basis, outside, pairs @ basis.mT, pairs @ outside.mT, turned @ outside.mT)

    @property
    def pairs(self) -> int:
        return math.comb(len(self.basis), 2)

    def rms(self, residual: Float[Tensor, "d d m"]) -> float:
        """Root mean square over pairs i < j; every pair is there twice."""
        return (
            float(residual.norm()) / math.sqrt(2 * self.pairs)
            if residual.numel() and self.pairs
            else 0.0
        )

    def apply(self, move: Float[Tensor, "d m"]) -> Float[Tensor, "d d m"]:
        """The map L, for a motion in coordinates outside the span."""
        one = torch.einsum("ia,ajm->ijm", move, self.turned)
        return one - one.transpose(0, 1) - torch.einsum("ijk,km->ijm", self.constants, move)

    def transpose(self, residual: Float[Tensor, "d d m"]) -> Float[Tensor, "d m"]:
        """Its transpose, for residuals antisymmetric in i and j."""
        one = torch.einsum("ijm,ajm->ia", residual, self.turned)
        return 2 * one - torch.einsum("ijk,ijm->km", self.constants, residual)


def closure(
    generators: Num[Tensor, "d ..."], *, uncertainty: float = 0.0, affine: bool = False
) -> Closure:
    """Distances of all brackets to the span, and whether noise of a given size explains them.

    Args:
        generators: matrices `[d, n, n]` in any basis.
        uncertainty: relative error of each unit generator.
        affine: the matrices are affine, and so are their errors: last rows are zero. Brackets of translations with any such
            matrix are translations, so that little of the noise in translations shows.

    Returns:
        Residuals, what the uncertainty explains of them, and the noise they suggest by themselves.

    Examples:
        >>> from liegg.algebra import sl, so
        >>> closure(so(4)).closed, closure(sl(2)[:2]).closed
        (True, False)
    """
    uncertainty = checked_uncertainty(uncertainty)
    basis = canonical(generators)
    tangent = _Tangent.at(basis)
    residuals, rms = tangent.residual.norm(dim=2), tangent.rms(tangent.residual)
    gain = math.sqrt(
        sum(tangent.rms(tangent.apply(move)) ** 2 for move in _noise(tangent, affine=affine))
        / DRAWS
    )
    unseen = math.nan if rms <= FLOOR else math.inf  # where no small motion shows in the brackets
    return Closure(
        residuals=residuals,
        largest=float(residuals.max()) if len(basis) else 0.0,
        rms=rms,
        explained=uncertainty * gain,
        noise=rms / gain if gain > FLOOR else unseen,
        closed=rms <= max(3 * uncertainty * gain, FLOOR),
    )


def _noise(tangent: _Tangent, *, affine: bool) -> Float[Tensor, "k d m"]:
    """Random motions of unit size: with n² free entries each has a standard deviation of 1/n, in any orthonormal coordinates."""
    (d, m), n = (len(tangent.basis), len(tangent.outside)), math.isqrt(tangent.basis.shape[1])
    generator = torch.Generator().manual_seed(0)
    if not affine:
        return torch.randn(DRAWS, d, m, generator=generator, dtype=torch.float64) / max(n, 1)
    entries = torch.randn(DRAWS, d, n * (n - 1), generator=generator, dtype=torch.float64) / max(
        math.sqrt(n * (n - 1)), 1
    )
    return (
        torch.nn.functional.pad(entries, (0, n)) @ tangent.outside.mT
    )  # the last n entries are the last row


def generated(
    generators: Num[Tensor, "d ..."], *, tolerance: float = 1e-8
) -> Float[Tensor, "e n n"]:
    """The smallest Lie algebra that contains the generators, as orthonormal matrices.

    Brackets with the generators are added until nothing new comes. What is new by much is added first: a direction known only by a
    small part of a bracket carries that much more rounding, and may come out better from another.

    Args:
        generators: matrices `[d, n, n]`.
        tolerance: part of a bracket of unit matrices outside the span below which it counts as inside.

    Returns:
        Orthonormal matrices that span the algebra, the generators' own span first.

    Examples:
        >>> from liegg.algebra import sl
        >>> generated(sl(2)[:2]).shape  # two shears generate the squeeze as well
        torch.Size([3, 2, 2])
    """
    first = found = orthonormal(generators)
    for _ in range(first.shape[1] ** 2):
        rows, known = (
            bracket(first[:, None], found[None]).flatten(0, 1).flatten(1),
            found.flatten(1),
        )
        rows = rows - rows @ known.mT @ known
        if rows.shape[0] == 0:
            break
        _, values, right = torch.linalg.svd(torch.linalg.qr(rows, mode="r").R, full_matrices=False)
        new = right[values > max(tolerance, 0.1 * float(values[0]))]
        if len(new) == 0:
            break
        new = torch.linalg.qr(
            (new - new @ known.mT @ known).mT
        ).Q.mT  # orthogonal to rounding, however small it was
        found = torch.cat([found, new.unflatten(1, first.shape[1:])])
    return found


def nearest_closed(
    generators: Num[Tensor, "d ..."], *, tolerance: float = 1e-12, steps: int = 50
) -> Refined:
    r"""A Lie algebra of the same dimension near the span given, to first order the nearest.

    Gauss-Newton on the Grassmannian: the smallest $\Delta$ with $L\Delta = -P_\perp[B_i, B_j]$, by conjugate gradients. Motions
    along the algebras nearby, such as conjugations, are seen by $L$ only through the error that is left; damping by that error
    squared (Levenberg-Marquardt) keeps the step from following them and leaves the convergence quadratic.

    A semisimple algebra comes back as itself, conjugated. Others can have different algebras as near: noisy se(3) may come back as
    so(4), of which it is a limit.

    Args:
        generators: matrices `[d, n, n]`; dependent ones are reduced first.
        tolerance: root mean square residual of brackets of unit generators at which the span counts as closed.
        steps: largest number of moves.

    Returns:
        The span found, how far it is from the one given, and whether it is closed.

    Examples:
        >>> from liegg.algebra import so
        >>> off = so(3) + 1e-3 * torch.arange(27.0, dtype=torch.float64).sin().reshape(3, 3, 3)
        >>> found = nearest_closed(off)
        >>> found.converged, found.moved < 0.01
        (True, True)
    """
    if tolerance < 0 or steps < 0:
        raise ArgumentError(
            f"tolerance is {tolerance} and steps {steps}; expected neither negative, for example 1e-12 and 50."
        )
    start = orthonormal(generators)
    here, damping = _Tangent.at(start), 1.0
    rms = here.rms(here.residual)
    for _ in range(steps):
        if rms <= tolerance:
            break
        move = _smallest_move(here, damping * rms**2)
        there = _Tangent.at(
            _orthonormalised(here.basis + move @ here.outside).unflatten(1, start.shape[1:])
        )
        reached = there.rms(there.residual)
        if reached < rms:
            here, rms, damping = there, reached, damping / 4
        else:
            damping *= 16
    found = canonical(here.basis.unflatten(1, start.shape[1:]))
    angles = principal_angles(found.flatten(1), start.flatten(1))
    return Refined(found, float(angles.max()) if len(angles) else 0.0, rms, rms <= tolerance)


def _smallest_move(here: _Tangent, damping: float) -> Float[Tensor, "d m"]:
    r"""Minimiser of $|L\Delta + F|^2 + \lambda|\Delta|^2$ by conjugate gradients on the normal equations, started at zero."""
    left = -here.residual
    move = here.basis.new_zeros(len(here.basis), len(here.outside))
    slope = here.transpose(left)
    direction, size = slope, float(slope.square().sum())
    target = 1e-16 * size
    for _ in range(SOLVES):
        if size <= target:
            break
        image = here.apply(direction)
        length = size / (float(image.square().sum()) + damping * float(direction.square().sum()))
        move = move + length * direction
        left = left - length * image
        slope = here.transpose(left) - damping * move
        previous, size = size, float(slope.square().sum())
        direction = slope + size / previous * direction
    return move


def _orthonormalised(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    return torch.linalg.qr(rows.mT).Q.mT
