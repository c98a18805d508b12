r"""Derivatives and smoothing of sampled signals, each a small matrix along one axis of the grid.

A separable filter on a side of `s` pixels is an `[s, s]` matrix that includes the border rule. It is
exact in float64, and applying it is one matrix product in any dimension, on any device.
"""

import functools
import math
from typing import Any, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import to_device
from liegg._utils.errors import ArgumentError, DtypeError

Scheme = Literal["secant", "spectral", "central", "gaussian", "paper"]
Border = Literal["replicate", "zeros", "periodic"]

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
BORDERS: tuple[Border, ...] = get_args(Border)

Filter = Literal["spline", "spectral", "central", "gaussian", "paper"]
"""Derivatives along one axis; `"spline"` is the slope of the cubic spline through the pixels."""

WIDEST = 1000.0
"""Largest width of a Gaussian in pixels; a wider one would need more memory than an image."""

TRUNCATE = 4.0
"""Standard deviations at which a Gaussian is cut off, which omits 6e-5 of it."""


def derivative_matrix(
    side: int, scheme: Filter, border: Border, sigma: float = 1.0
) -> Float[Tensor, "s s"]:
    r"""Derivative along one axis, per pixel.

    `"spectral"` differentiates the trigonometric interpolant of the signal, continued periodically, by
    its mirror image for `"replicate"`, or by zeros, as the border says. `"spline"` differentiates the
    cubic spline through the pixels. `"central"` is $(f_{i+1} - f_{i-1})/2$. `"gaussian"` differentiates
    the signal smoothed with a Gaussian of `sigma` pixels. `"paper"` is $f_{i+1} - f_i$, and 0 at the last pixel.

    Args:
        side: number of pixels.
        scheme: which derivative.
        border: what lies beyond the border.
        sigma: width of the Gaussian scheme, in pixels.

    Examples:
        >>> derivative_matrix(3, "central", "replicate")
        tensor([[-0.5000,  0.5000,  0.0000],
                [-0.5000,  0.0000,  0.5000],
                [ 0.0000, -0.5000,  0.5000]], dtype=torch.float64)
    """
    return torch.from_numpy(_derivative(side, scheme, border, sigma))


def smoothing_matrix(side: int, border: Border, sigma: float) -> Float[Tensor, "s s"]:
    """Gaussian smoothing along one axis; `sigma` in pixels, 0 for none."""
    return torch.from_numpy(_smoothing(side, border, sigma))


def knot_matrix(side: int, border: Border) -> Float[Tensor, "s s"]:
    """From the values at the pixels to the coefficients of the cubic spline through them."""
    return torch.from_numpy(_knots(side, border))


def along(
    matrix: Float[Tensor, "s s"],
    x: Float[Tensor, "..."],
    axis: int,
    out: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "..."]:
    """Apply a matrix along an axis, counted from the end: -1 is the last; into `out` if given."""
    matrix = to_device(matrix, x.device, x.dtype)
    if axis == -1:
        return torch.matmul(x, matrix.mT, out=out)
    flat = x.flatten(axis + 1)
    return torch.matmul(matrix, flat, out=None if out is None else out.view(flat.shape)).reshape(
        x.shape
    )


def smooth(
    images: Float[Tensor, "b ..."],
    sigma: float,
    *,
    dimension: int = 2,
    border: Border = "replicate",
) -> Float[Tensor, "b ..."]:
    """Gaussian smoothing over the last axes, which the paper applies before training.

    Args:
        images: `[b, h, w]` or `[b, c, h, w]`, or as many axes as `dimension` says.
        sigma: width in pixels; the paper's reference run used 1.5.
        dimension: number of spatial axes: 2 for images, 1 for sequences, 3 for volumes.
        border: what lies beyond the border.

    Raises:
        DtypeError: the images are not floating point.
        ArgumentError: a negative width, an unknown border, or too few axes.

    Examples:
        >>> dot = torch.zeros(1, 9, 9)
        >>> dot[0, 4, 4] = 1.0
        >>> blurred = smooth(dot, 1.0)
        >>> round(float(blurred.sum()), 3), bool(blurred[0, 4, 4] < 0.2)
        (1.0, True)
    """
    if not isinstance(images, Tensor) or not images.is_floating_point():
        given = images.dtype if hasattr(images, "dtype") else type(images).__name__
        raise DtypeError(
            f"images are {given}; smoothing needs a floating point tensor. Pass torch.as_tensor(images).float() / 255."
        )
    if not isinstance(sigma, int | float) or not 0 <= sigma <= WIDEST:
        raise ArgumentError(
            f"sigma={sigma!r}: expected a width in pixels from 0 to {WIDEST:g}, for example sigma=1.5."
        )
    if dimension not in (1, 2, 3):
        raise ArgumentError(
            f"dimension={dimension!r}: expected 1 for sequences, 2 for images or 3 for volumes."
        )
    if border not in BORDERS:
        raise ArgumentError(f"border={border!r}: expected one of {', '.join(map(repr, BORDERS))}.")
    if images.ndim < dimension + 1:
        raise ArgumentError(
            f"images have {images.ndim} axes; expected samples, perhaps channels, and {dimension} spatial axes."
        )
    for axis in range(-dimension, 0):
        images = along(smoothing_matrix(images.shape[axis], border, float(sigma)), images, axis)
    return images


def outside(positions: Any, side: int, border: Border) -> tuple[Any, Any]:
    """Pixels for integer positions, of torch or numpy, under a border rule; which of them count."""
    pixels = positions % side if border == "periodic" else positions.clip(0, side - 1)
    return pixels, (positions == pixels) if border == "zeros" else pixels >= 0


# The caches hold numpy arrays: a tensor keeps the mode it was created in (inference, a transform).


@functools.lru_cache(maxsize=32)
def _derivative(side: int, scheme: Filter, border: Border, sigma: float) -> np.ndarray:
    if side == 1:
        return np.zeros((1, 1))
    if scheme == "spline":
        return _spline(side, border)
    if scheme == "spectral":
        return _spectral(side, border)
    if scheme == "paper":
        matrix = stencil_array(np.array([0.0, -1.0, 1.0]), side, "replicate")
        matrix[-1] = 0.0
        return matrix
    if scheme == "central":
        return stencil_array(np.array([-0.5, 0.0, 0.5]), side, border)
    offsets, bell = _bell(sigma)
    slope = offsets * bell
    return stencil_array(slope / (slope * offsets).sum(), side, border)  # exact on a ramp


@functools.lru_cache(maxsize=32)
def _smoothing(side: int, border: Border, sigma: float) -> np.ndarray:
    return stencil_array(_bell(sigma)[1], side, border) if sigma > 0 else np.eye(side)


@functools.lru_cache(maxsize=32)
def _knots(side: int, border: Border) -> np.ndarray:
    return np.linalg.inv(stencil_array(np.array([1.0, 4.0, 1.0]) / 6, side, border))


def stencil_array(weights: np.ndarray, side: int, border: Border) -> np.ndarray:
    """Matrix of a centred stencil of an odd number of weights."""
    reach = len(weights) // 2
    row = np.arange(side)[:, None]
    pixels, counts = outside(row + np.arange(-reach, reach + 1), side, border)
    matrix = np.zeros((side, side))
    np.add.at(matrix, (row, pixels), weights * counts)
    return matrix


def _bell(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Offsets in pixels and a Gaussian over them with sum 1."""
    reach = max(1, math.ceil(TRUNCATE * sigma))
    offsets = np.arange(-reach, reach + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        bell = np.exp(-np.square(offsets / sigma) / 2)
    return offsets, bell / bell.sum()


def _spectral(side: int, border: Border) -> np.ndarray:
    r"""Derivative of the trigonometric interpolant of the signal, continued as the border says.

    Over a period of $n$ pixels the weight at distance $k$ is $\frac{\pi}{n} (-1)^k \cot(\pi k / n)$, with
    the cosecant for odd $n$.
    """
    period = side if border == "periodic" else 2 * side
    away = np.arange(period)
    away[0] = 1  # its own weight is 0, set below
    angle = np.pi * away / period
    weights = np.pi / period * (-1.0) ** away / (np.sin(angle) if period % 2 else np.tan(angle))
    weights[0] = 0.0
    i, j = np.arange(side)[:, None], np.arange(side)
    matrix = weights[(i - j) % period]
    if border == "zeros":
        return matrix
    if border == "replicate":
        matrix = matrix + weights[(i + j + 1) % period]
    return _flat_on_constants(matrix)


def _spline(side: int, border: Border) -> np.ndarray:
    """Slopes at the pixels of the cubic spline through them; the mean of both sides at an end.

    Beyond a replicated border nothing changes, so the slope on that side is 0.
    """
    matrix = stencil_array(np.array([-0.5, 0.0, 0.5]), side, border) @ _knots(side, border)
    if border == "replicate":
        matrix[[0, -1]] /= 2
    return matrix if border == "zeros" else _flat_on_constants(matrix)


def _flat_on_constants(matrix: np.ndarray) -> np.ndarray:
    """A constant has no slope: remove what rounding left over."""
    matrix[np.diag_indices(len(matrix))] -= matrix.sum(1)
    return matrix
