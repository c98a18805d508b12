"""Input of `identify`: matrices and their uncertainty, checked and brought into one form."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import svd
from liegg._utils.readable import check_readable
from liegg.algebra.closure import Closure
from liegg.algebra.subspace import checked_generators, checked_uncertainty

EXACT_DOUBLE = 1e-9
"""Uncertainty of matrices that are exact up to rounding, at condition numbers up to 100."""

EXACT_SINGLE = 1e-5
"""The same for matrices in float32 or less."""

LARGEST_ESTIMATED_NOISE = 0.05
"""Largest uncertainty that is taken from brackets alone (3°), so that no other span passes."""

HIDDEN_FACTOR = 10.0
"""Error of a unit generator that brackets may hide, over the root of their residual.

An error towards another algebra leaves the brackets closed to first order. What remains is of
second order."""

ROUNDING_STEPS = 100.0
"""Rounding units by which exact matrices in well-conditioned coordinates are off."""

DEPENDENT_UNITS = 50.0
"""Rounding units up to which a singular value of the given generators is that of dependent ones."""

ROUNDING_ANGLE = 60.0
"""Largest angle to the nearest algebra, over the residual of the brackets, that rounding makes."""

LARGE_UNIT = 1e3
"""Ratio of the units of two coordinates below which the entries that rounding hides are rounding
themselves."""

BALANCING_SWEEPS = 20
"""Sweeps over the coordinates to balance matrices; one or two suffice for a single unit."""


@dataclass(frozen=True)
class Noise:
    """The error of a unit generator, in radians.

    Attributes:
        allowed: what may explain the distance to the algebra that is named.
        possible: what the name has to bear to be confident: as stated, or else the largest error
            that brackets may hide.
        angle: angle to the named algebra up to which the matrices are exactly that algebra; zero if
            their brackets are not closed to rounding.
        floor: uncertainty of exact matrices of this precision.
        rounding: what rounding explains.
        exact: whether the uncertainty is the rounding of what the matrices were computed from.
    """

    allowed: float
    possible: float
    angle: float
    floor: float
    rounding: float
    exact: bool = False

    @property
    def same(self) -> float:
        """Angle up to which the matrices are a known algebra, not one beside it."""
        return max(self.angle, self.possible) if self.exact else self.angle


class Span(NamedTuple):
    """Orthonormal generators of a span, and how exact they are.

    Attributes:
        generators: the generators.
        floor: uncertainty of exact matrices of this precision.
        rounding: error of the generators that rounding explains.
        smallest: smallest singular value of the given generators at unit size; 1 if they are orthonormal.
    """

    generators: Float[Tensor, "r n n"]
    floor: float
    rounding: float
    smallest: float = 1.0

    def growth(self, error: float) -> float:
        """Factor from the error of a given unit generator to that of an orthonormal one; 1 if they are orthonormal within the error.

        A small difference of nearly equal generators is divided by its size.
        """
        return 1 / min(1.0, self.smallest + error)


def span_of(tensor: Tensor) -> Span:
    """Orthonormal generators of the span of matrices."""
    matrices = checked_generators(tensor)
    if len(matrices) and float(size := matrices.abs().max()) > 0:
        matrices = matrices / size  # squares of very large or small numbers would overflow
    single = tensor.is_floating_point() and tensor.dtype != torch.float64
    floor = max(EXACT_SINGLE, torch.finfo(tensor.dtype).eps) if single else EXACT_DOUBLE
    # Every matrix counts the same, whatever its size.
    sizes = matrices.flatten(1).norm(dim=1)
    rows = matrices.flatten(1)[sizes > 0] / sizes[sizes > 0, None]
    unit = torch.finfo(tensor.dtype if single else torch.float64).eps
    if not len(rows):
        return Span(matrices[:0], floor, unit)
    _, values, right = svd(rows, full_matrices=False)
    kept = values > max(floor if single else 1e-10, unit) * values[0]
    # A direction that is left out although rounding does not explain it makes everything as uncertain as it is small.
    given = values > DEPENDENT_UNITS * unit * values[0]
    condition = float(values[0] / values[kept | given][-1])
    return Span(
        right[kept].unflatten(1, matrices.shape[1:]),
        floor,
        ROUNDING_STEPS * unit * condition,
        float(values[kept][-1]),
    )


def noise_of(
    error: float | None, closed: Closure, floor: float, rounding: float, *, exact: bool = False
) -> Noise:
    """The uncertainty to work with: at least the stated one, or an estimate from the brackets.

    Closure does not show errors towards other algebras, so that it does not lower what is stated.

    Args:
        error: the stated uncertainty; None where it is to be estimated.
        closed: how closed the span is.
        floor: as in `Span`.
        rounding: as in `Span`.
        exact: whether the stated uncertainty is rounding; not beyond that of float32.
    """
    shown = closed.rms
    if math.isnan(closed.noise):  # brackets that show no error show no rounding
        shown = rounding
    angle = max(rounding, ROUNDING_ANGLE * shown) if closed.rms <= 10 * rounding else 0.0
    if error is not None:
        stated = {"allowed": max(error, floor), "possible": max(error, rounding)}
        exact = exact and error <= EXACT_SINGLE
        return Noise(**stated, angle=angle, floor=floor, rounding=rounding, exact=exact)
    allowed = 0.0 if math.isnan(closed.noise) else 2 * closed.noise  # brackets give it only roughly
    hidden = HIDDEN_FACTOR * math.sqrt(max(closed.rms, rounding / ROUNDING_STEPS))
    return Noise(
        allowed=min(max(allowed, floor), LARGEST_ESTIMATED_NOISE),
        possible=min(max(allowed, hidden), LARGEST_ESTIMATED_NOISE),
        angle=angle,
        floor=floor,
        rounding=rounding,
    )


def as_tensor(generators: Tensor | Iterable[Any]) -> Tensor:
    """Matrices of any kind as one tensor."""
    if isinstance(generators, Tensor):
        return generators.detach()
    try:
        # Python numbers are exact, so that they are read as float64.
        matrices = [
            matrix.detach()
            if isinstance(matrix, Tensor)
            else torch.as_tensor(matrix, dtype=None if hasattr(matrix, "dtype") else torch.float64)
            for matrix in generators
        ]
        if matrices:
            return torch.stack(matrices)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = type(generators).__name__
        raise ArgumentError(
            f"generators of type {kind}; expected matrices of one size, [d, n, n]. ({error})"
        ) from error
    raise ArgumentError(
        "no generators given; expected matrices [d, n, n], for example liegg.identify(liegg.so(3))."
    )


def balanced(tensor: Tensor) -> Tensor | None:
    """The matrices in units in which entries (i, j) and (j, i) are about as large (Osborne 1960).

    None unless there are entries, other than zero, that the rounding of the largest one hides.
    """
    matrices = tensor.to(torch.float64)
    unit = torch.finfo(tensor.dtype if tensor.is_floating_point() else torch.float64).eps
    matrices = matrices / matrices.flatten(1).norm(dim=1).clamp_min(1e-300)[:, None, None]
    sizes = matrices.abs().amax(0)
    if not bool(((sizes > 0) & (sizes < ROUNDING_STEPS * unit)).any()):
        return None
    reached = (sizes > 0).double()
    for _ in range(len(sizes)):
        reached = ((reached + reached @ reached) > 0).double()
    coupled = sizes * reached * reached.mT  # what cannot be balanced is left out
    coupled.fill_diagonal_(0)
    units = torch.ones(len(sizes), dtype=torch.float64)
    for _ in range(BALANCING_SWEEPS):
        for i in range(len(sizes)):
            row, column = coupled[i] @ units / units[i], coupled[:, i] @ (1 / units) * units[i]
            if float(row) > 0 and float(column) > 0:
                units[i] = units[i] * (row / column).sqrt()
    if float(units.max() / units.min()) < LARGE_UNIT:
        return None
    inside = matrices * units / units[:, None]
    return inside / inside.flatten(1).norm(dim=1).clamp_min(1e-300)[:, None, None]


def stated_error(uncertainty: Any, count: int) -> float | None:
    """Root mean square of the stated uncertainty; None where it is to be estimated."""
    if uncertainty is None:
        return None
    check_readable("uncertainty", uncertainty)
    try:
        errors = torch.as_tensor(uncertainty, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        errors = torch.tensor(-1.0)
    if isinstance(uncertainty, bool) or bool((errors < 0).any()):
        raise ArgumentError(
            f"uncertainty={uncertainty!r}; expected the relative error of a unit generator, "
            "for example 0.01."
        )
    if errors.ndim and tuple(errors.shape) != (count,):
        raise ArgumentError(
            f"uncertainty has shape {tuple(errors.shape)}; expected one number, "
            f"or one for each of {count} generators."
        )
    error = checked_uncertainty(float(errors.square().mean().sqrt()))
    if error >= math.pi / 2:
        raise ArgumentError(
            f"uncertainty={uncertainty!r} is an angle in radians by which a generator is off; from "
            "π/2 on nothing is known about it. Expected less, for example 0.01."
        )
    return error


def is_affine(span: Float[Tensor, "d n n"], homogeneous: bool | None) -> bool:
    """Whether the matrices are affine: as stated, or if only their last rows are zero."""
    zero = bool((span[:, -1:].abs() <= 1e-12).all())
    if homogeneous is None:
        return zero and span.shape[1] > 1 and bool((span[:, :, -1:].abs() > 1e-12).any())
    if homogeneous and not zero:
        raise ArgumentError(
            "homogeneous=True, but a last row is not zero; affine generators are [[a, t], [0, 0]]."
        )
    return homogeneous
