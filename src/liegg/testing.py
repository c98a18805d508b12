"""Assertions for other people's test suites: a model is invariant, an action is an action, two spans are one."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.forward_mode import jvp
from liegg.actions import Action, Linear
from liegg.algebra.subspace import orthonormal, principal_angles
from liegg.discovery.discover import discover
from liegg.inputs.batches import Data
from liegg.results.symmetries import Symmetries


def assert_invariant(
    model: Any,
    data: Data,
    generators: Float[Tensor, "d n n"],
    *,
    action: Action | None = None,
    copies: int = 1,
    tolerance: float = 1e-6,
) -> Symmetries:
    """Fail unless the model's output does not change under the given generators.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: such as `liegg.so(3)`; each must hold.
        action: how they act; by default linearly on `copies` vectors.
        copies: vectors to a sample, for the default action.
        tolerance: largest defect δ² allowed. 0 is exact, 1 an average direction; float32 models reach about 1e-12.

    Returns:
        The analysis, for further questions.

    Raises:
        AssertionError: a generator has a larger defect, or does not move the data; the message names it.
    """
    sym = discover(model, data, action or Linear(generators.shape[-1], copies=copies))
    _assert_small(sym, sym.defect(generators), tolerance, "invariant")
    return sym


def assert_equivariant(
    model: Any,
    data: Data,
    generators: Float[Tensor, "d n n"],
    output_generators: Float[Tensor, "d m m"],
    *,
    action: Action | None = None,
    output_action: Action | None = None,
    copies: int = 1,
    output_copies: int = 1,
    tolerance: float = 1e-6,
) -> Symmetries:
    """Fail unless moving the input by each generator moves the output by its output generator.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`.
        generators: input generators, one by one with `output_generators`.
        output_generators: what each does to the output.
        action: how the input generators act; by default linearly on `copies` vectors.
        output_action: how the output generators act; by default linearly on `output_copies` vectors.
        copies: vectors to a sample, for the default action.
        output_copies: vectors to an output, for the default action.
        tolerance: largest defect δ² allowed.

    Returns:
        The analysis, for further questions.

    Raises:
        AssertionError: a generator has a larger defect; the message names it.
    """
    action = action or Linear(generators.shape[-1], copies=copies)
    output_action = output_action or Linear(output_generators.shape[-1], copies=output_copies)
    sym = discover(model, data, action, output_action=output_action)
    _assert_small(sym, sym.defect(generators, output_generators), tolerance, "equivariant")
    return sym


def assert_same_span(
    one: Float[Tensor, "d n n"], other: Float[Tensor, "e n n"], *, tolerance: float = 1e-6
) -> None:
    """Fail unless two sets of generators span the same space.

    Args:
        one: generators, any basis.
        other: generators, any basis.
        tolerance: largest principal angle allowed, in radians.

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
    """Fail unless an action obeys the laws: identity at 0, one-parameter group, derivative equals field, closed forms agree.

    Args:
        action: the action to test.
        x: float64 samples to move.
        tolerance: largest relative error allowed (state more for actions that interpolate).
        seed: of the random directions.

    Raises:
        AssertionError: the message names the law that fails and by how much.
    """
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(action.size, generator=generator, dtype=torch.float64).to(x) / action.size**0.5
    slopes = torch.randn(
        (x.shape[0], 2, *x.shape[1:]), generator=generator, dtype=torch.float64
    ).to(x)
    by_jvp = jvp(lambda c: action.act(c, x), torch.zeros_like(h), h)[1]
    fields = action.fields(x)
    flat = fields.flatten(2)
    moment = action.displacement(action.moment(x), x.shape[0]).dense()
    checks = {
        "identity at t = 0": (action.act(torch.zeros_like(h), x), x),
        "one-parameter group": (
            action.act(0.3 * h, action.act(0.2 * h, x)),
            action.act(0.5 * h, x),
        ),
        "derivative equals field": (by_jvp, action.field(h, x)),
        "fields are linear in the coefficients": (
            torch.einsum("g,bg...->b...", h, fields),
            action.field(h, x),
        ),
        "contraction": (
            action.contract(slopes, x),
            torch.einsum("bkx,bgx->bkg", slopes.flatten(2), flat),
        ),
        "displacement": (moment, torch.einsum("bgx,bhx->gh", flat, flat) / x.shape[0]),
        "coefficients and matrices": (action.coefficients(action.matrices(h[None]))[0], h),
    }
    for law, (got, wanted) in checks.items():
        error = float((got - wanted).norm() / wanted.norm().clamp_min(torch.finfo(x.dtype).tiny))
        if not error <= tolerance:
            raise AssertionError(f"{law}: relative error {error:.3g}, above {tolerance:g}.")


def _assert_small(
    sym: Symmetries, defects: Float[Tensor, " d"], tolerance: float, what: str
) -> None:
    if not len(defects):
        raise AssertionError("no generator was given: nothing was checked.")
    bad = ~(defects <= tolerance)
    if bool(bad.any()):
        index = int(bad.to(torch.int8).argmax())
        value = float(defects[index])
        reason = (
            "it does not move the data, so nothing can be said"
            if math.isnan(value)
            else f"its defect is {value:.3g}"
        )
        raise AssertionError(
            f"{sym.model} is not {what} under generator {index}: {reason} (tolerance {tolerance:g})."
        )
