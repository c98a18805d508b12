"""Finite elements in assertions."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg._utils.readable import check_readable
from liegg.actions import Action, Linear
from liegg.algebra.finite.group import FiniteGroup
from liegg.discovery.group.element_effects import element_effects
from liegg.discovery.group.judge import STILL
from liegg.inputs.batches import Data
from liegg.inputs.output_field import Field
from liegg.results.group_symmetries import GroupSymmetries


@checked()
def default_tolerance(unit: float) -> float:
    """Largest relative change of an exact model whose arithmetic has a rounding unit, with room to spare.

    >>> [f"{default_tolerance(2.0**power):.1g}" for power in (-52, -23, -10, -7)]
    ['5e-09', '0.0001', '0.01', '0.03']
    """
    if not 0 <= unit < 1:
        raise ArgumentError(f"unit={unit}: expected the spacing of numbers near 1, such as 2**-23.")
    return math.sqrt(unit) / 3


def assert_elements(
    model: Any,
    data: Data,
    elements: Any,
    *,
    action: Action | Mapping[Any, Any] | None = None,
    copies: int = 1,
    tolerance: float | None = None,
    output: Field = None,
) -> None:
    """Fail unless the output stays under finite elements; see `assert_invariant`."""
    check_readable("elements", elements)
    if isinstance(elements, np.ndarray) and elements.ndim >= 2:
        elements = torch.from_numpy(elements)
    if isinstance(elements, Tensor) and not bool(torch.isfinite(elements).all()):
        raise ArgumentError("elements hold NaN or infinity; expected matrices of finite numbers.")
    action = action or _default_action(elements, copies)
    measured = element_effects(model, data, elements, action, output=output)
    allowed = default_tolerance(measured.unit) if tolerance is None else tolerance
    for words, effect, distance in zip(
        measured.words, measured.effect.tolist(), measured.displacement.tolist(), strict=True
    ):
        if not distance > STILL and words != "identity":
            raise AssertionError(
                f"{measured.model} cannot be checked under {words}: it does not move the samples."
            )
        if math.isnan(effect):
            raise AssertionError(
                f"the output of {measured.model} is the same for all samples, so nothing was checked."
            )
        if not effect <= allowed:
            raise AssertionError(
                f"{measured.model} is not invariant under {words}: the output changes by {effect:.3g} of its spread "
                f"(tolerance {allowed:.3g})."
            )


def _default_action(elements: Any, copies: int) -> Action:
    """The action of a result, or linear maps of the size of the matrices."""
    first = elements.elements if isinstance(elements, FiniteGroup) else elements
    if isinstance(elements, GroupSymmetries) and elements.continuous is not None:
        return elements.continuous.action
    if isinstance(first, Tensor) and first.ndim >= 2:
        return Linear(first.shape[-1], copies=copies)
    raise ArgumentError(
        "these elements need an action, for example action=liegg.Linear(3, copies=4)."
    )
