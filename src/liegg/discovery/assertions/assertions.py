"""Assertions for test suites: a model is invariant, an action obeys its laws, two spans are equal."""

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError, BatchMixingError, LieggError, RandomModelError
from liegg._utils.one_at_a_time import one_at_a_time, outside_transformations
from liegg._utils.unwrap_compiled import original
from liegg.actions import Action, Affine, Linear
from liegg.algebra.subspace import orthonormal, principal_angles
from liegg.discovery.assertions.causes import likely_causes
from liegg.discovery.assertions.elements import assert_elements, default_tolerance
from liegg.discovery.assertions.error import Case, question, reflection_error
from liegg.discovery.assertions.groups import Group, action_on, as_group, on_outputs
from liegg.discovery.discover import discover
from liegg.inputs.batches import Data
from liegg.inputs.output_field import Field
from liegg.results.symmetries import Symmetries

FINITE_ELEMENTS = 4
"""Finite elements that an assertion tries."""

FINITE_FACTOR = 10.0
"""Tolerances of derivatives by which finite elements may change the output: these accumulate rounding."""


@overload
def assert_invariant(  # noqa: D418
    model: Any,
    data: Data,
    generators: str | Float[Tensor, "d ..."],
    *,
    elements: Any = None,
    action: Action | Mapping[Any, Any] | None = None,
    copies: int = 1,
    output: Field = None,
    tolerance: float | None = None,
) -> Symmetries:
    """Generators, and elements if there are any."""


@overload
def assert_invariant(  # noqa: D418
    model: Any,
    data: Data,
    generators: None = None,
    *,
    elements: Any = None,
    action: Action | Mapping[Any, Any] | None = None,
    copies: int = 1,
    output: Field = None,
    tolerance: float | None = None,
) -> None:
    """Elements alone."""


@checked()
@one_at_a_time
def assert_invariant(
    model: Any,
    data: Data,
    generators: str | Float[Tensor, "d ..."] | None = None,
    *,
    elements: Any = None,
    action: Action | Mapping[Any, Any] | None = None,
    copies: int = 1,
    output: Field = None,
    tolerance: float | None = None,
) -> Symmetries | None:
    """Fail unless the model's output is invariant under the given generators and finite elements.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: a group such as `"se(3)"`, of which `"o(3)"` and `"e(3)"` also try a reflection; or matrices such as
            `liegg.so(3)`, or coefficients `[d, g]` of `action`; each must hold.
        elements: finite transformations, each of which must hold: matrices `[k, n, n]` such as `-torch.eye(3)[None]`
            (homogeneous ones for `Affine`), permutations of slots such as `[(1, 0, 2)]`, a group of `liegg.algebra.close`, or the
            result of `liegg.discover_group` for another model. The tolerance is then the largest change of the output over its
            spread.
        action: how they act, as for `liegg.discover`; by default linearly on `copies` vectors, for a group by name as
            `equivariance_error` finds it.
        copies: vectors per sample, for the default action.
        output: the field of what the model returns, as for `liegg.discover`.
        tolerance: largest relative change δ of the output along a generator, the root of its defect δ²: 0 is exact, 1 is what
            an average direction of equal displacement does. By default a third of the root of the rounding unit of the model's
            arithmetic: 5e-9 in float64, 1.2e-4 in float32, 0.01 in float16, 0.03 in bfloat16. Exact models reach about one unit
            (5e-16, 1e-7, 4e-4, 3e-3).

    Returns:
        The analysis of the generators; None if there are only elements.

    Raises:
        AssertionError: the output changes more along a generator or by an element, or it does not move the data; the message
            names it, and for generators the likely cause with the evidence for it.
        ArgumentError: neither generators nor elements, or elements of another size.
    """
    if generators is None and elements is None:
        raise ArgumentError(
            "neither generators nor elements: expected some, for example liegg.so(3) or elements=-torch.eye(3)[None]."
        )
    if elements is not None:
        assert_elements(
            model, data, elements, action=action, copies=copies, tolerance=tolerance, output=output
        )
    if generators is None:
        return None
    group = as_group(generators)
    action = _action_on(group, data, action, copies)
    case = Case(model, data, group, action, output)
    sym = _discovered(case)
    _assert_small(case, sym, sym.defect(group.generators), tolerance, what="invariant")
    return sym


@checked()
@one_at_a_time
def assert_equivariant(
    model: Any,
    data: Data,
    generators: str | Float[Tensor, "d ..."],
    output_generators: Float[Tensor, "d ..."] | None = None,
    *,
    action: Action | Mapping[Any, Any] | None = None,
    output_action: Action | None = None,
    copies: int = 1,
    output_copies: int = 1,
    output: Field = None,
    tolerance: float | None = None,
) -> Symmetries:
    """Fail unless each generator on the input acts on the output as its output generator.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: a group such as `"se(3)"`, or input generators, as many as `output_generators`.
        output_generators: what each does to the output; by default the same matrix, without its translation where outputs have
            none.
        action: how the input generators act, as for `assert_invariant`.
        output_action: how the output generators act; by default linearly on `output_copies` vectors.
        copies: vectors per sample, for the default action.
        output_copies: vectors per output, for the default action.
        output: the field of what the model returns, as for `liegg.discover`.
        tolerance: largest relative difference δ between how the output moves and how it should, the root of the defect δ²; by
            default as for `assert_invariant`: 5e-9 in float64, 1.2e-4 in float32, 0.01 in float16, 0.03 in bfloat16.

    Returns:
        The analysis.

    Raises:
        AssertionError: the output moves otherwise along a generator; the message names it, and the likely cause with the
            evidence for it.
    """
    group = as_group(generators)
    action = _action_on(group, data, action, copies)
    side = group.dimension if output_generators is None else output_generators.shape[-1]
    output_action = output_action or Linear(side, copies=output_copies)
    if output_generators is None:
        output_generators = on_outputs(output_action, group)
    case = Case(model, data, group, action, output, output_action, output_generators)
    sym = _discovered(case)
    defects = sym.defect(group.generators, output_generators)
    _assert_small(case, sym, defects, tolerance, what="equivariant")
    return sym


@checked()
@outside_transformations
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


def _action_on(group: Group, data: Data, action: Any, copies: int) -> Any:
    """The action that was given; else on `copies` vectors, or for a name the only one that fits."""
    if action is not None:
        return action
    if group.name and copies == 1:
        return action_on(group, data, None)
    return (Affine if group.affine else Linear)(group.dimension, copies=copies)


def _discovered(case: Case) -> Symmetries:
    """The analysis; a model that cannot be analysed because it is random or mixes samples fails the assertion."""
    try:
        return discover(
            case.model, case.data, case.action, output_action=case.output_action, output=case.output
        )
    except RandomModelError as error:
        raise AssertionError(
            f"{error} Likely cause: randomness, such as dropout or sampling."
        ) from error
    except BatchMixingError as error:
        raise AssertionError(f"{error} Likely cause: batch statistics.") from error


def _assert_small(
    case: Case, sym: Symmetries, defects: Float[Tensor, " d"], tolerance: float | None, *, what: str
) -> None:
    if not len(defects):
        raise AssertionError("no generators were given, so nothing was checked.")
    tolerance = default_tolerance(sym.settings["unit"]) if tolerance is None else tolerance
    changes = defects.sqrt()
    bad = ~(changes <= tolerance)
    if bool(bad.any()):
        index = int(bad.to(torch.int8).argmax())
        value = float(changes[index])
        still = math.isnan(value)
        reason = (
            "it does not move the data, so it cannot be checked"
            if still
            else f"its relative change is {value:.3g}"
        )
        named = f" of {case.group.name}" if case.group.name else ""
        raise AssertionError(
            f"{sym.model} is not {what} under generator {index}{named}: {reason} (tolerance {tolerance:.3g})."
            f"{'' if still else _causes(case)}"
        )
    _assert_finite(case, sym, default_tolerance(sym.settings["unit"]), what)
    if case.group.reflects:
        with question(case) as asked:
            error, causes = reflection_error(asked), likely_causes(asked)
        if not error <= tolerance:
            raise AssertionError(
                f"{sym.model} is not {what} under a reflection of {case.group.name}: the output changes by {error:.3g} of its "
                f"spread (tolerance {tolerance:.3g}).{causes}"
            )


def _assert_finite(case: Case, sym: Symmetries, tolerance: float, what: str) -> None:
    """Fail if finite elements change the output where derivatives show nothing: steps, rounding and detached parts hide a change.

    Only directions that are exact by their derivatives are tried; images interpolate.
    """
    defects = sym.defect(case.group.generators, case.output_generators)
    if not bool((defects.sqrt() <= tolerance).all()):
        return
    try:
        with question(case) as asked:
            if asked.action.interpolates:
                return
            error = max(asked.change(weights) for weights in asked.elements(FINITE_ELEMENTS, 0))
    except (LieggError, RuntimeError, TypeError, ValueError):
        return  # finite elements cannot be tried
    if error > FINITE_FACTOR * tolerance:
        raise AssertionError(
            f"{sym.model} is not {what} under finite elements, although its derivative is: they change the output by {error:.3g} "
            f"of its spread (tolerance {FINITE_FACTOR * tolerance:.3g}). Likely cause: a step, rounding or a detached part that "
            "the derivative does not show, or data that does not reach where the symmetry ends."
        )


def _causes(case: Case) -> str:
    """The likely cause, as a sentence; empty if finite elements cannot be tried."""

    def in_float64(weights: Tensor) -> float:
        wide = copy.deepcopy(original(case.model)).double()
        with question(replace(case, model=wide)) as asked:
            return asked.change(weights)

    is_module = isinstance(original(case.model), nn.Module)
    try:
        with question(case) as asked:
            return likely_causes(asked, repeat=in_float64 if is_module else None)
    except (LieggError, RuntimeError, TypeError, ValueError):
        return ""
