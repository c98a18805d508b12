r"""How far a span of matrices is from closed, what noise explains, and the nearest closed span.

A span with orthonormal basis $B$ moves on the Grassmannian by $\Delta$, rows orthogonal to the
span. To first order, the parts of its brackets outside the span, $P_\perp[B_i, B_j]$, then change
by

$$(L\Delta)_{ij} = P_\perp([\Delta_i, B_j] + [B_i, \Delta_j]) - \textstyle\sum_k c_{ij}^k \Delta_k.$$

The same map says how much of the noise in the generators shows in their brackets, and where to move
to close them.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.bracket import bracket
from liegg.algebra.subspace import (
    canonical,
    checked_uncertainty,
    orthonormal,
    principal_angles,
    qr_rows,
)

ROUNDING_RESIDUAL = 1e-9
"""Root mean square residual that rounding explains, at condition numbers up to 100."""

NOISE_MOVES = 16
"""Number of random moves that estimate the size of the map L, to a few per cent."""

CONJUGATE_GRADIENT_STEPS = 200
"""Largest number of conjugate gradient steps for one move."""


@dataclass(frozen=True, eq=False)
class Closure:
    """How closed a span is.

    Attributes:
        residuals: distance of the bracket of generators i and j to the span, for the canonical
            orthonormal basis.
        largest: largest of them.
        rms: root mean square over the pairs i < j.
        explained: rms expected from the given uncertainty.
        noise: uncertainty that would explain the rms; zero up to rounding for an exact algebra. NaN
            where closure carries no information: every span of dimension 0, 1 or n² is closed.
            Infinite where no small error explains the rms.
        closed: whether the rms is at most 3 times what is explained, or rounding.
    """

    residuals: Float[Tensor, "d d"]
    largest: float
    rms: float
    explained: float
    noise: float
    closed: bool


@dataclass(frozen=True, eq=False)
class Refined:
    """A closed span near a given span.

    Attributes:
        generators: orthonormal, the canonical basis of the span.
        moved: largest principal angle to the given span, in radians.
        residual: remaining root mean square closure residual.
        converged: whether the residual is within the tolerance.
    """

    generators: Float[Tensor, "d n n"]
    moved: float
    residual: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Tangent:
    """Brackets of an orthonormal basis in coordinates inside and outside its span.

    Attributes:
        basis: orthonormal generators.
        outside: orthonormal basis of the complement, or of the affine matrices in it.
        constants: parts of the brackets `[B_i, B_j]` inside the span.
        residual: their parts outside it.
        actions: `actions[a, j]` is the part outside the span of the bracket of the a-th matrix of
            `outside` with `B_j`.
        inside: the parts of these brackets inside the span.
    """

    basis: Float[Tensor, "d g"]
    outside: Float[Tensor, "m g"]
    constants: Float[Tensor, "d d d"]
    residual: Float[Tensor, "d d m"]
    actions: Float[Tensor, "m d m"]
    inside: Float[Tensor, "m d d"]

    @classmethod
    def at(cls, generators: Float[Tensor, "d n n"], *, affine: bool = False) -> "Tangent":
        """The tangent at a span; with `affine`, its moves have a zero last row like the span."""
        n = generators.shape[1]
        basis = generators.flatten(1)
        free = basis[:, : n * (n - affine)]
        outside = torch.linalg.qr(free.mT, mode="complete").Q.mT[len(basis) :]
        outside = torch.nn.functional.pad(outside, (0, n * affine))
        pairs = bracket(generators[:, None], generators[None]).flatten(2)
        actions = bracket(
            outside.unflatten(1, generators.shape[1:])[:, None], generators[None]
        ).flatten(2)
        return cls(
            basis=basis,
            outside=outside,
            constants=pairs @ basis.mT,
            residual=pairs @ outside.mT,
            actions=actions @ outside.mT,
            inside=actions @ basis.mT,
        )

    def rms(self, residual: Float[Tensor, "*k d d m"]) -> float:
        """Root mean square over pairs i < j; the tensor holds every pair twice."""
        pairs = math.comb(len(self.basis), 2)
        return float(residual.norm()) / math.sqrt(2 * pairs) if pairs else 0.0

    def apply(self, move: Float[Tensor, "*k d m"]) -> Float[Tensor, "*k d d m"]:
        """Apply the map L to moves, given in coordinates of the complement."""
        first = torch.einsum("...ia,ajm->...ijm", move, self.actions)
        inside = torch.einsum("ijk,...km->...ijm", self.constants, move)
        return first - first.transpose(-3, -2) - inside

    def transpose(self, residual: Float[Tensor, "d d m"]) -> Float[Tensor, "d m"]:
        """Apply the transpose of L to residuals that are antisymmetric in i and j."""
        first = torch.einsum("ijm,ajm->ia", residual, self.actions)
        return 2 * first - torch.einsum("ijk,ijm->km", self.constants, residual)


def closure(
    generators: Num[Tensor, "d ..."], *, uncertainty: float = 0.0, affine: bool = False
) -> Closure:
    """Compute the distances of all brackets to the span, and whether noise explains them.

    Args:
        generators: matrices `[d, n, n]` in any basis.
        uncertainty: relative error of each unit generator.
        affine: the matrices and their errors are affine: last rows are zero. The bracket of a
            translation with any such matrix is a translation, so little of the noise in
            translations shows.

    Returns:
        Residuals, how much of them the uncertainty explains, and the noise that they suggest.

    Examples:
        >>> from liegg.algebra import sl, so
        >>> closure(so(4)).closed, closure(sl(2)[:2]).closed
        (True, False)
    """
    uncertainty = checked_uncertainty(uncertainty)
    basis = canonical(generators)
    tangent = Tangent.at(basis)
    residuals, rms = tangent.residual.norm(dim=2), tangent.rms(tangent.residual)
    gain = tangent.rms(tangent.apply(_noise(tangent, affine=affine))) / math.sqrt(NOISE_MOVES)
    # Where no small move shows in the brackets.
    unexplained = math.nan if rms <= ROUNDING_RESIDUAL else math.inf
    return Closure(
        residuals=residuals,
        largest=float(residuals.max()) if len(basis) else 0.0,
        rms=rms,
        explained=uncertainty * gain,
        noise=rms / gain if gain > ROUNDING_RESIDUAL else unexplained,
        closed=rms <= max(3 * uncertainty * gain, ROUNDING_RESIDUAL),
    )


def _noise(tangent: Tangent, *, affine: bool) -> Float[Tensor, "k d m"]:
    """Random moves of unit size: all free entries of a matrix have the same standard deviation."""
    (d, m), n = (len(tangent.basis), len(tangent.outside)), math.isqrt(tangent.basis.shape[1])
    columns, free = (n * (n - 1), n * (n - 1)) if affine else (m, n * n)
    shape = (NOISE_MOVES, d, columns)
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise = noise / max(math.sqrt(free), 1)
    if not affine:
        return noise
    return torch.nn.functional.pad(noise, (0, n)) @ tangent.outside.mT  # a last row of zeros


def generated(
    generators: Num[Tensor, "d ..."], *, tolerance: float = 1e-8
) -> Float[Tensor, "e n n"]:
    """The smallest Lie algebra that contains the generators, as orthonormal matrices.

    Adds brackets with the generators until nothing new comes. The largest new directions are added
    first: a direction known only by a small part of a bracket carries more rounding error, and may
    come out better from another bracket.

    Args:
        generators: matrices `[d, n, n]`.
        tolerance: part of a bracket of unit matrices outside the span below which it counts as
            inside.

    Returns:
        Orthonormal matrices that span the algebra, the generators' own span first.

    Examples:
        >>> from liegg.algebra import sl
        >>> generated(sl(2)[:2]).shape  # two shears generate the squeeze as well
        torch.Size([3, 2, 2])
    """
    start = algebra = orthonormal(generators)
    for _ in range(start.shape[1] ** 2):
        basis = algebra.flatten(1)
        rows = bracket(start[:, None], algebra[None]).flatten(0, 1).flatten(1)
        rows = rows - rows @ basis.mT @ basis
        if rows.shape[0] == 0:
            break
        _, values, right = torch.linalg.svd(torch.linalg.qr(rows, mode="r").R, full_matrices=False)
        new = right[values > max(tolerance, 0.1 * float(values[0]))]
        if len(new) == 0:
            break
        new = qr_rows(new - new @ basis.mT @ basis)  # orthogonal to rounding, however small it was
        algebra = torch.cat([algebra, new.unflatten(1, start.shape[1:])])
    return algebra


def nearest_closed(
    generators: Num[Tensor, "d ..."], *, tolerance: float = 1e-12, steps: int = 50
) -> Refined:
    r"""A Lie algebra of the same dimension near the given span, to first order the nearest.

    Gauss-Newton on the Grassmannian: each step is the smallest $\Delta$ with
    $L\Delta = -P_\perp[B_i, B_j]$, by conjugate gradients. $L$ sees moves along the nearby
    algebras, such as conjugations, only through the remaining error. Damping by the square of that
    error (Levenberg-Marquardt) keeps the step from following them and leaves the convergence
    quadratic.

    A semisimple algebra comes back as itself, conjugated. Others can have different algebras as
    near: noisy se(3) may come back as so(4), of which it is a limit.

    Args:
        generators: matrices `[d, n, n]`; dependent ones are reduced first.
        tolerance: root mean square residual of brackets of unit generators at which the span counts
            as closed.
        steps: largest number of steps.

    Returns:
        The closed span, how far it is from the given one, and whether it is closed.

    Examples:
        >>> from liegg.algebra import so
        >>> noisy = so(3) + 1e-3 * torch.arange(27.0, dtype=torch.float64).sin().reshape(3, 3, 3)
        >>> refined = nearest_closed(noisy)
        >>> refined.converged, refined.moved < 0.01
        (True, True)
    """
    if tolerance < 0 or steps < 0:
        raise ArgumentError(
            f"tolerance is {tolerance} and steps {steps}; expected neither negative, "
            "for example 1e-12 and 50."
        )
    start = orthonormal(generators)
    here, damping = Tangent.at(start), 1.0
    rms = here.rms(here.residual)
    for _ in range(steps):
        if rms <= tolerance:
            break
        move = _smallest_move(here, damping * rms**2)
        basis = qr_rows(here.basis + move @ here.outside)
        there = Tangent.at(basis.unflatten(1, start.shape[1:]))
        rms_there = there.rms(there.residual)
        if rms_there < rms:
            here, rms, damping = there, rms_there, damping / 4
        else:
            damping *= 16
    basis = canonical(here.basis.unflatten(1, start.shape[1:]))
    angles = principal_angles(basis.flatten(1), start.flatten(1))
    return Refined(basis, float(angles.max()) if len(angles) else 0.0, rms, rms <= tolerance)


def _smallest_move(here: Tangent, damping: float) -> Float[Tensor, "d m"]:
    r"""Minimise $|L\Delta + F|^2 + \lambda|\Delta|^2$ by conjugate gradients."""
    left = -here.residual
    move = here.basis.new_zeros(len(here.basis), len(here.outside))
    slope = here.transpose(left)
    direction, size = slope, float(slope.square().sum())
    target = 1e-16 * size
    for _ in range(CONJUGATE_GRADIENT_STEPS):
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
