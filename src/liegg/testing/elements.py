"""Finite elements that must leave the output of a model as it is."""

import math
from typing import Any

from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, Linear
from liegg.algebra.finite.group import FiniteGroup
from liegg.discovery.group.element_effects import element_effects
from liegg.discovery.group.judge import STILL
from liegg.inputs.batches import Data
from liegg.results.group_symmetries import GroupSymmetries


def default_tolerance(unit: float) -> float:
    """Largest relative change of an exact model whose arithmetic has a rounding unit, with room to spare.

    >>> [f"{default_tolerance(2.0**power):.1g}" for power in (-52, -23, -10, -7)]
    ['5e-09', '0.0001', '0.01', '0.03']
    """
    return math.sqrt(unit) / 3


def assert_elements(
    model: Any, data: Data, elements: Any, action: Any, *, copies: int, tolerance: float | None
) -> None:
    """Fail unless the output stays under finite elements.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        elements: as for `assert_invariant`.
        action: how they act; None for linearly on `copies` vectors.
        copies: vectors per sample, for the default action.
        tolerance: largest change of the output over its spread; None for what rounding allows.

    Raises:
        AssertionError: an element changes the output by more, or does not move the samples.
        ArgumentError: an action is needed, or it is not one.
    """
    if action is not None and not isinstance(action, Action):
        raise ArgumentError(
            f"elements were given with action={action!r}; expected one action, for example liegg.Linear(3, copies=4)."
        )
    if action is None:
        action = _action_of(elements, copies)
    measured = element_effects(model, data, elements, action)
    allowed = default_tolerance(measured.unit) if tolerance is None else tolerance
    for words, effect, distance in zip(
        measured.words, measured.effect.tolist(), measured.displacement.tolist(), strict=True
    ):
        if not distance > STILL and words != "identity":
            raise AssertionError(
                f"{measured.model} cannot be checked under {words}: it does not move the samples."
            )
        if not effect <= allowed:
            raise AssertionError(
                f"{measured.model} is not invariant under {words}: the output changes by {effect:.3g} of its spread "
                f"(tolerance {allowed:.3g})."
            )


def _action_of(elements: Any, copies: int) -> Action:
    """The action of given elements: that of a result, or linear on vectors."""
    first = elements.elements if isinstance(elements, FiniteGroup) else elements
    if isinstance(elements, GroupSymmetries) and elements.continuous is not None:
        return elements.continuous.action
    if isinstance(first, Tensor) and first.ndim >= 2:
        return Linear(first.shape[-1], copies=copies)
    raise ArgumentError(
        "these elements need an action, for example action=liegg.Linear(3, copies=4)."
    )
