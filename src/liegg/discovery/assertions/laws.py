"""The laws of an action, as an assertion."""

import json
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.checks import check_seed
from liegg._utils.forward_mode import jvp
from liegg._utils.one_at_a_time import one_at_a_time
from liegg.actions import Action, MatrixAction


@checked()
@one_at_a_time
def assert_is_action(
    action: Any, x: Float[Tensor, "b ..."], *, tolerance: float = 1e-6, seed: int = 0
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
        ArgumentError: the samples are not a tensor of real numbers.
    """
    check_seed(seed)
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
