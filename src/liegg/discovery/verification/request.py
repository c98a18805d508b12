"""What is to be verified: the arguments, checked and as coefficients."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.discovery.verification.measure import Directions
from liegg.results.symmetries import Symmetries


def actions_of(sym: Any, output_action: Any) -> tuple[Action, Action | None]:
    """The actions on input and output."""
    if isinstance(sym, Symmetries):
        if output_action is not None:
            raise ArgumentError(
                "output_action was given with a result of discover(), which has its own. Leave it out."
            )
        return sym.action, sym.output_action
    if not isinstance(sym, Action) or not isinstance(output_action, Action | None):
        raise ArgumentError(
            f"sym is a {type(sym).__name__}; expected what liegg.discover() returned, or an action with generators, for example "
            "verify(model, data, liegg.Linear(3), liegg.so(3)). output_action must be an action too."
        )
    return sym, output_action


def directions_of(
    sym: Symmetries | Action,
    action: Action,
    output_action: Action | None,
    generators: Any,
    output_generators: Any,
) -> Directions:
    """Coefficients of what is to be verified; those of the output may still be missing."""
    if output_generators is not None and (output_action is None or generators is None):
        raise ArgumentError(
            "output_generators given without generators or without an output action: they go with both."
        )
    if generators is None:
        if not isinstance(sym, Symmetries):
            raise ArgumentError(
                "an action was given without generators: pass those to verify, for example liegg.so(3)."
            )
        return Directions(sym.coefficients, sym.output_coefficients)
    h = _coefficients(action, generators, "generators")
    if output_generators is None:
        return Directions(h, None)
    k = _coefficients(output_action or action, output_generators, "output_generators")
    if len(k) != len(h):
        raise ArgumentError(
            f"{len(h)} generators and {len(k)} output_generators: expected one for each."
        )
    return Directions(h, k)


def _coefficients(action: Action, matrices: Any, name: str) -> Float[Tensor, "d g"]:
    if (
        not isinstance(matrices, Tensor)
        or not matrices.is_floating_point()
        or not bool(torch.isfinite(matrices).all())
    ):
        given = str(matrices.dtype) if isinstance(matrices, Tensor) else type(matrices).__name__
        raise ArgumentError(
            f"{name} were given as {given}; expected a real floating point tensor [d, n, n] of finite numbers."
        )
    return action.coefficients(matrices.detach().to("cpu", torch.float64))


def check_numbers(
    samples: Any, fraction: Any, points: Any, controls: Any, seed: Any, longest: Any
) -> None:
    """Raise `ArgumentError` for numbers out of range."""
    for name, value, least, usual in (
        ("samples", samples, 2, 256),
        ("points", points, 4, 25),
        ("controls", controls, 1, 8),
    ):
        if not isinstance(value, int) or value < least:
            raise ArgumentError(
                f"{name}={value!r}: expected a whole number of {least} or more, for example {name}={usual}."
            )
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed!r}: expected a whole number from 0 to 2^63 - 1.")
    if not isinstance(fraction, int | float) or not 0 < fraction < math.inf:
        raise ArgumentError(
            f"fraction={fraction!r}: expected a positive share of the variance, for example fraction=0.05."
        )
    if longest is not None and (not isinstance(longest, int | float) or not 0 < longest < math.inf):
        raise ArgumentError(
            f"longest={longest!r}: expected None or a positive multiple of the data's spread, for example 1.0."
        )
