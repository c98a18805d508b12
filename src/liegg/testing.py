"""Assertions for test suites: a model is invariant, an action obeys its laws, two spans are equal."""

import json
import math
from collections.abc import Callable
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg._utils.forward_mode import jvp
from liegg.actions import Action, Linear, MatrixAction
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.subspace import orthonormal, principal_angles
from liegg.discovery.discover import discover
from liegg.discovery.group.element_effects import element_effects
from liegg.discovery.group.judge import STILL
from liegg.inputs.batches import Data
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.symmetries import Symmetries


@overload
def assert_invariant(  # noqa: D418
    model: Any,
    data: Data,
    generators: Float[Tensor, "d ..."],
    *,
    elements: Any = None,
    action: Action | None = None,
    copies: int = 1,
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
    action: Action | None = None,
    copies: int = 1,
    tolerance: float | None = None,
) -> None:
    """Elements alone."""


@checked()
def assert_invariant(
    model: Any,
    data: Data,
    generators: Float[Tensor, "d ..."] | None = None,
    *,
    elements: Any = None,
    action: Action | None = None,
    copies: int = 1,
    tolerance: float | None = None,
) -> Symmetries | None:
    """Fail unless the model's output is invariant under the given generators and finite elements.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: such as `liegg.so(3)`, or coefficients `[d, g]` of `action`; each must hold.
        elements: finite transformations, each of which must hold: matrices `[k, n, n]` such as `-torch.eye(3)[None]`
            (homogeneous ones for `Affine`), permutations of slots such as `[(1, 0, 2)]`, a group of `liegg.algebra.close`, or the result
            of `liegg.discover_group` for another model.
        action: how they act; by default linearly on `copies` vectors.
        copies: vectors per sample, for the default action.
        tolerance: largest relative change δ of the output along a generator, the root of its defect δ²: 0 is exact, 1 is what
            an average direction of equal displacement does; and largest effect of an element, the change of the output over its
            spread. By default a third of the root of the rounding unit of the model's
            arithmetic: 5e-9 in float64, 1.2e-4 in float32, 0.01 in float16, 0.03 in bfloat16. Exact models reach about one unit
            (5e-16, 1e-7, 4e-4, 3e-3).

    Returns:
        The analysis of the generators; None if there are only elements.

    Raises:
        AssertionError: the output changes more along a generator or by an element, or it does not move the data; the message
            names it.
        ArgumentError: neither generators nor elements, or elements of another size.
    """
    if generators is None and elements is None:
        raise ArgumentError(
            "neither generators nor elements: expected some, for example liegg.so(3) or elements=-torch.eye(3)[None]."
        )
    if elements is not None:
        _assert_elements(model, data, elements, action, copies, tolerance)
    if generators is None:
        return None
    sym = discover(model, data, action or Linear(generators.shape[-1], copies=copies))
    _assert_small(sym, sym.defect(generators), tolerance, "invariant")
    return sym


def _assert_elements(
    model: Any,
    data: Data,
    elements: Any,
    action: Action | None,
    copies: int,
    tolerance: float | None,
) -> None:
    """Fail unless the output stays under finite elements."""
    if action is None:
        first = elements.elements if isinstance(elements, FiniteGroup) else elements
        if isinstance(elements, GroupSymmetries) and elements.continuous is not None:
            action = elements.continuous.action
        elif isinstance(first, Tensor) and first.ndim >= 2:
            action = Linear(first.shape[-1], copies=copies)
        else:
            raise ArgumentError(
                "these elements need an action, for example action=liegg.Linear(3, copies=4)."
            )
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


def assert_is_action(
    action: Action, x: Float[Tensor, "b ..."], *, tolerance: float = 1e-6, seed: int = 0
) -> None:
    """Fail unless an action is complete and obeys its laws.

    Checked are what it must define, the shapes that its methods return, and the laws: identity at
    0, one-parameter group, derivative equals field, and that all closed forms agree.

    Args:
        action: the action to test.
        x: float64 samples to move.
        tolerance: largest relative error (state more for actions that interpolate).
        seed: of the random directions.

    Raises:
        AssertionError: the message names what is missing, or the law that fails and by how much.
    """
    _assert_complete(action, x)
    b, g = len(x), action.size
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(g, generator=generator, dtype=torch.float64).to(x) / g**0.5
    slopes = torch.randn((b, 2, *x.shape[1:]), generator=generator, dtype=torch.float64).to(x)
    zero = torch.zeros_like(h)

    def moved(c: Float[Tensor, " g"], start: Tensor = x) -> Tensor:
        return _value(action, "act(h, x)", lambda: action.act(c, start), x.shape)

    start = moved(zero)
    field = _value(action, "field(h, x)", lambda: action.field(h, x), x.shape)
    fields = _value(action, "fields(x)", lambda: action.fields(x), (b, g, *x.shape[1:]))
    rows = _value(action, "contract(gradients, x)", lambda: action.contract(slopes, x), (b, 2, g))
    flat = fields.flatten(2)
    combined = torch.einsum("g,bg...->b...", h, fields)
    products = torch.einsum("bkx,bgx->bkg", slopes.flatten(2), flat)
    squares = torch.einsum("bgx,bhx->gh", flat, flat) / b
    moment = action.displacement(action.moment(x), b).dense()
    laws = {
        "identity at t = 0": (start, x, "act(0, x) must return x"),
        "one-parameter group": (
            moved(0.3 * h, moved(0.2 * h)),
            moved(0.5 * h),
            "act(0.3 h, act(0.2 h, x)) must equal act(0.5 h, x)",
        ),
        "derivative equals field": (
            jvp(moved, zero, h)[1],
            field,
            "field(h, x) must be the derivative of act(t h, x) at t = 0",
        ),
        "fields are linear in the coefficients": (
            combined,
            field,
            "field(h, x) must be the sum of h[a] times fields(x)[:, a]",
        ),
        "contraction": (rows, products, "contract must be the inner product with fields(x)"),
        "displacement": (moment, squares, "moment and displacement must be those of fields(x)"),
    }
    if isinstance(action, MatrixAction):
        again = action.coefficients(action.matrices(h[None]))[0]
        laws["coefficients and matrices"] = (again, h, "coefficients must invert matrices")
    for law, (value, expected, meaning) in laws.items():
        error = float(
            (value - expected).norm() / expected.norm().clamp_min(torch.finfo(x.dtype).tiny)
        )
        if not error <= tolerance:
            raise AssertionError(
                f"{law}: relative error {error:.3g}, above {tolerance:g}; {meaning}."
            )


def _assert_complete(action: Any, x: Tensor) -> None:
    """Fail unless an action defines what it must, in the right form."""
    if isinstance(action, type):
        raise AssertionError(
            f"{action.__name__} is a class; pass an instance, {action.__name__}()."
        )
    name = type(action).__name__
    if not isinstance(action, Action):
        raise AssertionError(f"{name} is not an action: write class {name}(liegg.Action).")
    methods = ("act", "field", "fields")
    for method in methods:
        if not callable(getattr(action, method)):
            kind = type(getattr(action, method)).__name__
            raise AssertionError(f"{name}.{method} is a {kind}; expected a method.")
    if all(getattr(type(action), method) is getattr(Action, method) for method in methods):
        raise AssertionError(
            f"{name} does not say how samples move: define {name}.act(h, x), {name}.field(h, x) or "
            f"{name}.fields(x)."
        )
    if not isinstance(action.size, int) or action.size < 1:
        raise AssertionError(
            f"{name}.size is {action.size!r}; expected the number of candidate generators."
        )
    if len(action.words) != action.size:
        raise AssertionError(
            f"{name}.words has {len(action.words)} entries; expected {action.size}, one per candidate."
        )
    try:
        json.dumps(action.settings())
    except TypeError as error:
        raise AssertionError(f"{name}.settings() must hold JSON values: {error}.") from error
    action.check(tuple(x.shape[1:]))


def _value(action: Action, call: str, compute: Callable[[], Any], shape: tuple[int, ...]) -> Tensor:
    """What a method returns; fail if it raises, or returns something else than a tensor of this shape."""
    name = f"{type(action).__name__}.{call}"
    try:
        value = compute()
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise AssertionError(f"{name} raised {type(error).__name__}: {error}") from error
    if not isinstance(value, Tensor) or value.shape != tuple(shape):
        given = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise AssertionError(f"{name} returned {given}; expected a tensor of shape {tuple(shape)}.")
    return value


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
