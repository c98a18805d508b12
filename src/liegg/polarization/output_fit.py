"""Whether an output action fits the outputs of a model."""

import torch

from liegg._utils.errors import ShapeError
from liegg.actions import Action
from liegg.inputs.model import Model


def check_output_action(action: Action, model: Model) -> None:
    """Raise `ShapeError` unless the output action fits the model's output."""
    try:
        action.check(model.output_shape)
    except ShapeError as error:
        raise ShapeError(f"output_action does not fit the model's output: {error}") from error


def fitted_output_action(
    output_action: Action | None, action: Action, model: Model
) -> Action | None:
    """The output action for outputs of structured samples: one vector becomes one per point.

    Args:
        output_action: the action on the outputs; None for none.
        action: on the samples.
        model: the probed model.

    Raises:
        ShapeError: it does not fit; or it moves zeros, such as those of points that a sample does not have.
    """
    if output_action is None:
        return None
    layout = action.structure
    if layout is not None:
        output_action = output_action.fitted(model.output_shape)
    check_output_action(output_action, model)
    points = None if layout is None else layout.point_leaf
    if points is None or points.ragged is None or model.output_shape[:1] != points.shape[:1]:
        return output_action
    zeros = torch.zeros(1, *model.output_shape, dtype=torch.float64)
    if bool((output_action.fields(zeros) != 0).any()):
        raise ShapeError(
            f"{output_action!r} moves outputs of zero, which stand for points that a sample does not have. Outputs with "
            "one entry per point of samples of different sizes need a linear action, such as liegg.Linear(3)."
        )
    return output_action
