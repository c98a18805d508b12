"""The arguments of `verify`, checked and as coefficients."""

import math
from typing import Any

import torch

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.discovery.verification.measure import Directions
from liegg.results.symmetries import Symmetries


def actions_of(sym: Any, output_action: Any) -> tuple[Action, Action | None]:
    """The actions on input and output."""
    if isinstance(sym, Symmetries):
        if output_action is not None:
            raise ArgumentError(
                "output_action was given with a result of discover(), which has its own. "
                "Leave it out."
            )
        return sym.action, sym.output_action
    if not isinstance(sym, Action) or not isinstance(output_action, Action | None):
        raise ArgumentError(
            f"sym is a {type(sym).__name__}; expected a result of liegg.discover(), or an action with "
            "generators, for example verify(model, data, liegg.Linear(3), liegg.so(3)). "
            "output_action must be an action too."
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
            "output_generators given without generators or without an output action: they need both."
        )
    if generators is None:
        if not isinstance(sym, Symmetries):
            raise ArgumentError(
                "an action was given without generators: pass those to verify, for example "
                "liegg.so(3)."
            )
        return Directions(sym.coefficients, sym.output_coefficients)
    h = action.as_coefficients(generators).detach().to("cpu", torch.float64)
    if output_generators is None or output_action is None:
        return Directions(h, None)
    k = output_action.as_coefficients(output_generators, "output_generators")
    if len(k) != len(h):
        raise ArgumentError(
            f"{len(h)} generators and {len(k)} output_generators: expected one for each."
        )
    return Directions(h, k.detach().to("cpu", torch.float64))


def check_numbers(
    *, samples: Any, fraction: Any, points: Any, controls: Any, seed: Any, longest: Any
) -> None:
    """Raise `ArgumentError` for numbers out of range."""
    for name, value, smallest, usual in (
        ("samples", samples, 2, 256),
        ("points", points, 4, 25),
        ("controls", controls, 1, 8),
    ):
        if not isinstance(value, int) or value < smallest:
            raise ArgumentError(
                f"{name}={value!r}: expected an integer of at least {smallest}, for example "
                f"{name}={usual}."
            )
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed!r}: expected an integer from 0 to 2^63 - 1.")
    for name, value, what in (
        ("fraction", fraction, "a positive share of the variance, for example fraction=0.05"),
        (
            "longest",
            1.0 if longest is None else longest,
            "None or a positive multiple of the data's spread",
        ),
    ):
        if not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ArgumentError(f"{name}={value!r}: expected {what}.")
