"""Assertions for test suites: a model is invariant, an action obeys its laws, two spans are equal."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg.actions import Action, Linear
from liegg.algebra.subspace import orthonormal, principal_angles
from liegg.discovery.discover import discover
from liegg.inputs.batches import Data
from liegg.results.symmetries import Symmetries


@checked()
def assert_invariant(
    model: Any,
    data: Data,
    generators: Float[Tensor, "d ..."],
    *,
    action: Action | None = None,
    copies: int = 1,
    tolerance: float | None = None,
) -> Symmetries:
    """Fail unless the model's output is invariant under the given generators.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: such as `liegg.so(3)`, or coefficients `[d, g]` of `action`; each must hold.
        action: how they act; by default linearly on `copies` vectors.
        copies: vectors per sample, for the default action.
        tolerance: largest relative change δ of the output along a generator, the root of its defect δ²: 0 is exact, 1 is what
            an average direction of equal displacement does. By default a third of the root of the rounding unit of the model's
            arithmetic: 5e-9 in float64, 1.2e-4 in float32, 0.01 in float16, 0.03 in bfloat16. Exact models reach about one unit
            (5e-16, 1e-7, 4e-4, 3e-3).

    Returns:
        The analysis.

    Raises:
        AssertionError: the output changes more along a generator, or it does not move the data; the message names it.
    """
    sym = discover(model, data, action or Linear(generators.shape[-1], copies=copies))
    _assert_small(sym, sym.defect(generators), tolerance, "invariant")
    return sym


@checked()
def assert_equivariant(
    model: Any,
    data: Data,
    generators: Float[Tensor, "d ..."],
    output_generators: Float[Tensor, "d ..."],
    *,
    action: Action | None = None,
    output_action: Action | None = None,
    copies: int = 1,
    output_copies: int = 1,
    tolerance: float | None = None,
) -> Symmetries:
    """Fail unless each generator on the input acts on the output as its output generator.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: input generators, as many as `output_generators`.
        output_generators: what each does to the output.
        action: how the input generators act; by default linearly on `copies` vectors.
        output_action: how the output generators act; by default linearly on `output_copies` vectors.
        copies: vectors per sample, for the default action.
        output_copies: vectors per output, for the default action.
        tolerance: largest relative difference δ between how the output moves and how it should, the root of the defect δ²; by
            default as for `assert_invariant`: 5e-9 in float64, 1.2e-4 in float32, 0.01 in float16, 0.03 in bfloat16.

    Returns:
        The analysis.

    Raises:
        AssertionError: the output moves otherwise along a generator; the message names it.
    """
    action = action or Linear(generators.shape[-1], copies=copies)
    output_action = output_action or Linear(output_generators.shape[-1], copies=output_copies)
    sym = discover(model, data, action, output_action=output_action)
    _assert_small(sym, sym.defect(generators, output_generators), tolerance, "equivariant")
    return sym


@checked()
def assert_same_span(
    one: Float[Tensor, "d n n"], other: Float[Tensor, "e n n"], *, tolerance: float = 1e-6
) -> None:
    """Fail unless two sets of generators span the same space.

    Args:
        one: generators, any basis.
        other: generators, any basis.
        tolerance: largest principal angle, in radians.

    Raises:
        AssertionError: dimensions differ, or the largest angle exceeds the tolerance.
    """
    first, second = orthonormal(one), orthonormal(other)
    if len(first) != len(second):
        raise AssertionError(f"the spans have dimensions {len(first)} and {len(second)}.")
    if (
        len(first)
        and (angle := float(principal_angles(first.flatten(1), second.flatten(1)).max()))
        > tolerance
    ):
        raise AssertionError(
            f"the largest principal angle is {angle:.3g} rad, above {tolerance:g}."
        )


def default_tolerance(unit: float) -> float:
    """Largest relative change of an exact model whose arithmetic has a rounding unit, with room to spare.

    >>> [f"{default_tolerance(2.0**power):.1g}" for power in (-52, -23, -10, -7)]
    ['5e-09', '0.0001', '0.01', '0.03']
    """
    return math.sqrt(unit) / 3


def _assert_small(
    sym: Symmetries, defects: Float[Tensor, " d"], tolerance: float | None, what: str
) -> None:
    if not len(defects):
        raise AssertionError("no generator was given: nothing was checked.")
    tolerance = default_tolerance(sym.settings["unit"]) if tolerance is None else tolerance
    changes = defects.sqrt()
    bad = ~(changes <= tolerance)
    if bool(bad.any()):
        index = int(bad.to(torch.int8).argmax())
        value = float(changes[index])
        reason = (
            "it does not move the data, so it cannot be checked"
            if math.isnan(value)
            else f"its relative change is {value:.3g}"
        )
        raise AssertionError(
            f"{sym.model} is not {what} under generator {index}: {reason} (tolerance {tolerance:.3g})."
        )
