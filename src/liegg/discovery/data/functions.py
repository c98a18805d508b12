"""The test functions of a data set: the user's own, or random Fourier features that suit it."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.polarization.row_means import LARGEST_COVARIANCE
from liegg.polarization.test_functions import TestFunctions, as_test_functions, fourier_features

FUNCTIONS, FEWEST_FREE = 128, 8
"""Number of test functions, and how many of them there are beyond those that the candidates use up, at least."""

MOST_CANDIDATES = 60
"""Candidates for which there are as many functions as that."""


def is_own(functions: Any) -> bool:
    """Whether the user gave test functions, not only their number."""
    return functions is not None and (isinstance(functions, bool) or not isinstance(functions, int))


def choose_functions(
    functions: Any, action: Action, x: Float[Tensor, "b ..."], *, seed: int, classes: int
) -> TestFunctions:
    """The test functions that were given, or those that suit the data.

    Args:
        functions: what the user gave.
        action: the candidate generators.
        x: some samples.
        seed: of random functions.
        classes: number of classes.
    """
    columns = action.size
    most = LARGEST_COVARIANCE // (columns * classes)
    count = FUNCTIONS
    if isinstance(functions, int) and not isinstance(functions, bool) and functions > 0:
        count, functions = functions, None
    if functions is not None:
        chosen = as_test_functions(functions, x)
        if chosen.size > most:
            raise ArgumentError(
                f"functions gives {chosen.size} test functions for {columns} candidates; at most {most} can be tested together. "
                "Give fewer of them."
            )
        return chosen
    if most * classes < columns + FEWEST_FREE:
        smaller = "..."
        if isinstance(action, MatrixAction):
            n, rigid = action.ambient, action.homogeneous
            smaller = f"liegg.se({n - 1})" if rigid else f"liegg.so({n})"
        raise ArgumentError(
            f"the action has {columns} candidates; the symmetries of a data set are tested with at most {MOST_CANDIDATES}. Pass a smaller "
            f"family, for example action.restrict({smaller})."
        )
    return fourier_features(x, min(count, most), seed=seed, grid=grid_of(action, x))


def grid_of(action: Action, x: Float[Tensor, "b ..."]) -> tuple[int, ...] | None:
    """Channels and sides of samples that are drawn on a grid; None for others."""
    shape = tuple(action.staged(x[:1]).shape[1:])
    return shape if action.stage in ("grid", "colour") and len(shape) > 1 else None
