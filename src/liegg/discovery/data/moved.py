"""Held-out samples moved by finite transformations, compared with others that were not."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Action
from liegg.decision.two_sample import MovedTest, energy_test
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import squared_motion

MOST_COMPARED, MOST_MOTIONS = 1000, 12
"""Samples in each of the two that are compared, and motions that are tried."""

FEWEST_HALVES = 20
"""Samples in each half, at least."""

SINGULAR = 1e-12
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
    spread, displacement = _spread(x), sym.accumulated.displacement
    rows, words = sym.coefficients, list(sym.account.words)
    if sym.account.readable:
        rows = torch.stack([each.coefficients for each in sym.account.readable])
        words = [each.words for each in sym.account.readable]
    words += [f"generator {i + 1}" for i in range(len(words), len(rows))]

    def follow(h: Tensor, batch: Tensor) -> Tensor:
        speed = math.sqrt(float(squared_motion(h[None], displacement)[0]))
        return sym.action.act(h * (spread / speed), batch) if speed > 0 else batch

    moves = [(word, partial(follow, h)) for h, word in zip(rows, words, strict=False)]
    return _tests(moves[:MOST_MOTIONS], x, seed=seed)


def move_by_elements(
    elements: Mapping[str, Any],
    action: Action,
    x: Float[Tensor, "b ..."],
    *,
    seed: int,
    label: Int[Tensor, " b"] | None = None,
) -> tuple[MovedTest, ...]:
    """Samples moved by given transformations, such as reflections, compared with others.

    Args:
        elements: invertible matrices on samples that are vectors, or callables on batches, by names.
        action: the candidate generators, for the layout of samples.
        x: samples.
        seed: of the halves and the permutations.
        label: class of every sample, which the transformations leave; None without classes.
    """
    moves = [
        (name, partial(_applied, name, element, action=action))
        for name, element in elements.items()
    ]
    return _tests(moves, x, seed=seed, label=label)


def _applied(name: str, element: Any, x: Float[Tensor, "b ..."], action: Action) -> Tensor:
    """A transformation of a batch."""
    if callable(element) and not isinstance(element, Tensor):
        moved = element(x)
        if not isinstance(moved, Tensor) or moved.shape != x.shape:
            raise ShapeError(
                f"elements[{name!r}] must return a batch of the shape {tuple(x.shape)}."
            )
        return moved
    matrix = torch.as_tensor(element).to(x)
    n = x.shape[-1]
    if matrix.shape != (n, n) or action.stage == "grid":
        raise ShapeError(
            f"elements[{name!r}] has the shape {tuple(matrix.shape)}; expected a matrix {(n, n)}, or a callable on batches."
        )
    singular = torch.linalg.svdvals(matrix)
    if not bool(matrix.isfinite().all()) or float(singular[-1]) <= SINGULAR * float(singular[0]):
        raise ArgumentError(
            f"elements[{name!r}] has no inverse, so that it is not a transformation."
        )
    return x @ matrix.mT


def _spread(x: Float[Tensor, "b ..."]) -> float:
    """Root mean square distance of samples from their mean."""
    return float((x - x.mean(0)).flatten(1).square().sum(1).mean().sqrt())


def _tests(
    moves: Sequence[tuple[str, Callable[[Tensor], Tensor]]],
    x: Float[Tensor, "b ..."],
    *,
    seed: int,
    label: Int[Tensor, " b"] | None = None,
) -> tuple[MovedTest, ...]:
    """One half of the samples, moved, against the other half; one test per motion.

    Samples of different classes are farther apart by the spread of the data, so that the joint distribution is compared.
    """
    if len(x) < 2 * FEWEST_HALVES:
        raise ArgumentError(
            f"{len(x)} samples cannot be compared with each other; at least {2 * FEWEST_HALVES} are needed."
        )
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    half, spread = min(len(x) // 2, MOST_COMPARED), _spread(x)
    chosen, rest = order[:half], order[half : 2 * half]
    one, other = x[chosen], x[rest]
    classes = x.new_zeros(len(x), 0)
    if label is not None:
        classes = spread * torch.nn.functional.one_hot(label).to(x) / math.sqrt(2)
    tests = []
    for place, (name, move) in enumerate(moves):
        moved = move(one)
        finite = moved.flatten(1).isfinite().all(1)
        if not bool(finite.any()):
            raise ArgumentError(f"{name}: no moved sample is finite.")
        length = float((moved - one)[finite].flatten(1).square().sum(1).mean().sqrt())
        distance, p_value = energy_test(
            torch.cat([moved[finite].flatten(1), classes[chosen][finite]], 1),
            torch.cat([other.flatten(1), classes[rest]], 1),
            seed=seed + place,
        )
        tests.append(
            MovedTest(
                name=name,
                displacement=length / spread if spread > 0 else 0.0,
                distance=distance,
                p_value=p_value,
                samples=len(other),
            )
        )
    return tuple(tests)
