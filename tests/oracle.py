"""Dense float64 reference, from the mathematics of the design in numpy and scipy: all rows stored, nothing shared with `liegg`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[np.float64]


def jacobians(function: Callable[[Tensor], Tensor], x: Tensor) -> Array:
    """Derivatives `[b, c, p]` of every output by every input, one sample at a time."""

    def one(sample: Tensor) -> Tensor:
        return function(sample[None])[0].reshape(-1)

    return np.stack(
        [
            np.asarray(torch.autograd.functional.jacobian(one, s)).reshape(-1, s.numel())
            for s in x.double()
        ]
    )


def vectors(x: Array, copies: int, vector_first: bool) -> Array:
    """Samples as `[b, copies, n]`."""
    flat = x.reshape(len(x), -1)
    n = flat.shape[1] // copies
    return (
        flat.reshape(-1, n, copies).transpose(0, 2, 1)
        if vector_first
        else flat.reshape(-1, copies, n)
    )


def fields(x: Array, generators: Array, *, copies: int = 1, vector_first: bool = False) -> Array:
    """Velocities `[b, g, p]`: each matrix times each vector; matrices one larger than the vectors are homogeneous."""
    moved = vectors(x, copies, vector_first)
    n = moved.shape[2]
    if generators.shape[1] == n + 1:
        moved = np.concatenate([moved, np.ones((*moved.shape[:2], 1))], axis=2)
    out = np.einsum("gij,bcj->bgci", generators, moved)[..., :n]
    return (out.swapaxes(2, 3) if vector_first else out).reshape(len(x), len(generators), -1)


def polarization(jacobian: Array, xi: Array) -> Array:
    """All rows `[b c, g]`."""
    return np.einsum("bcp,bgp->bcg", jacobian, xi).reshape(-1, xi.shape[1])


def spectrum(e: Array, samples: int) -> tuple[Array, Array]:
    """Values σ²/|D| ascending and the right singular vectors as rows, of the whole matrix."""
    _, values, right = np.linalg.svd(e, full_matrices=True)
    values = np.concatenate([values, np.zeros(e.shape[1] - len(values))])
    return values[::-1] ** 2 / samples, right[::-1]


class Solution(NamedTuple):
    """Defects ascending, their directions as rows, the number of trivial directions, the mean sensitivity."""

    values: Array
    directions: Array
    trivial: int
    sensitivity: float


def defects(e: Array, xi: Array, *, sensitivity: float | None = None) -> Solution:
    """Generalised problem (A, M) on the range of M."""
    samples = len(xi)
    a, m = e.T @ e / samples, np.einsum("bgp,bhp->gh", xi, xi) / samples
    squares, axes = np.linalg.eigh(m)
    span = axes[:, squares > 1e-12 * squares[-1]]
    a, m = span.T @ a @ span, span.T @ m @ span
    values, inner = scipy.linalg.eigh(a, m)
    if sensitivity is None:
        sensitivity = float(np.trace(np.linalg.solve(m, a))) / len(a)
    return Solution(
        values / (sensitivity or 1.0), (span @ inner).T, len(squares) - len(a), sensitivity
    )


def defect(e: Array, xi: Array, h: Array, sensitivity: float) -> float:
    """Defect of one direction."""
    moved = np.einsum("bgp,g->bp", xi, h)
    return float(np.sum((e @ h) ** 2) / np.sum(moved**2)) / sensitivity


def eliminate(e: Array, eta: Array) -> tuple[Array, Array]:
    """Minimise |[-η | ξ] (k, h)| over k for every h: what is left of the rows `e`, and the map from h to k."""
    partner = np.asarray(np.linalg.lstsq(eta, e, rcond=1e-10)[0], dtype=np.float64)
    return e - eta @ partner, partner


def angle(one: Array, other: Array) -> float:
    """Largest principal angle between two row spans of one dimension."""
    if len(one) != len(other):
        raise ValueError(f"dimensions {len(one)} and {len(other)}")
    if not len(one):
        return 0.0
    return float(
        np.max(
            scipy.linalg.subspace_angles(
                one.reshape(len(one), -1).T, other.reshape(len(other), -1).T
            )
        )
    )
