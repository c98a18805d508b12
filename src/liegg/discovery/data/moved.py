"""Held-out samples moved by finite transformations, compared with others that were not."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Action
from liegg.decision.two_sample import MovedTest, energy_test
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import squared_motion

MOST_SAMPLES, MOST_MOTIONS = 1000, 12
"""Samples in each of the two that are compared, and motions that are tried."""

FEWEST_HALVES = 20
"""Samples in each half, at least."""

ENTRIES = 1e-12
"""Singular value of a matrix, as a share of the largest, below which it has no inverse."""


def move_held_out(
    sym: Symmetries, x: Float[Tensor, "b ..."], *, seed: int
) -> tuple[MovedTest, ...]:
    """Every symmetry followed until samples have moved about as far as their spread.

    Args:
        sym: the symmetries of a data set.
        x: samples that were not analysed.
        seed: of the halves and the permutations.
    """
    one, other = _halves(x, seed)
    spread = float((x - x.mean(0)).flatten(1).square().sum(1).mean().sqrt())
    rows, words = sym.coefficients, list(sym.account.words)
    if sym.account.readable:
        rows = torch.stack([each.coefficients for each in sym.account.readable])
        words = [each.words for each in sym.account.readable]
    rows = rows[:MOST_MOTIONS]
    words += [f"generator {i + 1}" for i in range(len(words), len(rows))]
    tests = []
    for place, (h, name) in enumerate(zip(rows, words, strict=False)):
        speed = math.sqrt(float(squared_motion(h[None], sym.accumulated.displacement)[0]))
        moved = sym.action.act(h * (spread / speed), one) if speed > 0 else one
        tests.append(_compared(name, one, moved, other, spread=spread, seed=seed + place))
    return tuple(tests)


def move_by_elements(
    elements: Mapping[str, Any], action: Action, x: Float[Tensor, "b ..."], *, seed: int
) -> tuple[MovedTest, ...]:
    """Samples moved by given transformations, such as reflections, compared with others.

    Args:
        elements: invertible matrices on samples that are vectors, or callables on batches, by names.
        action: the candidate generators, for the layout of samples.
        x: samples.
        seed: of the halves and the permutations.
    """
    one, other = _halves(x, seed)
    spread = float((x - x.mean(0)).flatten(1).square().sum(1).mean().sqrt())
    tests = []
    for place, (name, element) in enumerate(elements.items()):
        moved = _applied(name, element, one, action)
        tests.append(_compared(name, one, moved, other, spread=spread, seed=seed + place))
    return tuple(tests)


def _applied(name: str, element: Any, x: Float[Tensor, "b ..."], action: Action) -> Tensor:
    """A transformation of a batch."""
    if callable(element) and not isinstance(element, Tensor):
        moved = element(x)
        if not isinstance(moved, Tensor) or moved.shape != x.shape:
            raise ShapeError(
                f"elements[{name!r}] must return a batch of the shape {tuple(x.shape)}."
            )
        return moved
    matrix = torch.as_tensor(element, dtype=x.dtype)
    n = x.shape[-1]
    if matrix.shape != (n, n) or action.stage == "grid":
        raise ShapeError(
            f"elements[{name!r}] has the shape {tuple(matrix.shape)}; expected a matrix {(n, n)}, or a callable on batches."
        )
    singular = torch.linalg.svdvals(matrix)
    if not bool(matrix.isfinite().all()) or float(singular[-1]) <= ENTRIES * float(singular[0]):
        raise ArgumentError(
            f"elements[{name!r}] has no inverse, so that it is not a transformation."
        )
    return x @ matrix.mT


def _halves(x: Float[Tensor, "b ..."], seed: int) -> tuple[Tensor, Tensor]:
    """Two disjoint halves of the samples."""
    if len(x) < 2 * FEWEST_HALVES:
        raise ArgumentError(
            f"{len(x)} samples cannot be compared with each other; at least {2 * FEWEST_HALVES} are needed."
        )
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    half = min(len(x) // 2, MOST_SAMPLES)
    return x[order[:half]], x[order[half : 2 * half]]


def _compared(
    name: str, x: Tensor, moved: Tensor, other: Tensor, *, spread: float, seed: int
) -> MovedTest:
    """One test."""
    finite = moved.flatten(1).isfinite().all(1)
    length = float((moved - x)[finite].flatten(1).square().sum(1).mean().sqrt())
    distance, p_value = energy_test(moved[finite], other, seed=seed)
    return MovedTest(
        name=name,
        displacement=length / spread if spread > 0 else 0.0,
        distance=distance,
        p_value=p_value,
        samples=len(other),
    )
