"""A first look at an action of the user's own, so that its faults are not taken for faults of the model."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions.base import Action

CHECK = "liegg.testing.assert_is_action(action, x) checks all of it."


def check_own_motion(action: Action, x: Float[Tensor, "b ..."]) -> None:
    """Move one sample by every part of an action that is not defined by liegg.

    Raises:
        ArgumentError: the action does not say how samples move, fails, or returns something else than velocities.
    """
    for part in action.parts:
        if part is action and not type(part).__module__.startswith("liegg."):
            _check(part, x[:1])


def _check(action: Action, x: Float[Tensor, "1 ..."]) -> None:
    name = type(action).__name__
    try:
        velocity = action.field(torch.ones(action.size, dtype=x.dtype, device=x.device), x)
    except NotImplementedError as error:
        raise ArgumentError(str(error)) from error
    except Exception as error:
        raise ArgumentError(
            f"{name} fails for a sample of shape {tuple(x.shape[1:])}: {type(error).__name__}: {error}. {CHECK}"
        ) from error
    if not isinstance(velocity, Tensor) or velocity.shape != x.shape:
        given = (
            f"shape {tuple(velocity.shape)}"
            if isinstance(velocity, Tensor)
            else type(velocity).__name__
        )
        raise ArgumentError(
            f"{name} returns velocities of {given} for samples of shape {tuple(x.shape)}; expected the same shape. {CHECK}"
        )
