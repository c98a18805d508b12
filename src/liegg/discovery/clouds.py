"""Lists and loaders that may hold clouds of points, or batches of vectors."""

from dataclasses import is_dataclass, replace
from typing import Any

from torch.utils.data import DataLoader, Dataset

from liegg._utils.errors import BatchMixingError, DataError, ModelError, RaggedDataError, ShapeError
from liegg.actions import Action
from liegg.inputs.batches import Data
from liegg.inputs.structure.elements import is_list_of_samples
from liegg.inputs.structure.tree import is_array

LISTED_SIZES = 3
"""Most shapes of tensors listed in a message."""


def with_advice(error: DataError | ModelError, data: Data, action: Any) -> Exception | None:
    """The error of a list that was read as batches, with what to write if it holds clouds of points; None if it does not."""
    if type(error) not in (ModelError, BatchMixingError, ShapeError):
        return None
    any_number = _action_on_clouds(data, action)
    if any_number is None and not _fit_alone(data, action):
        return None
    sizes = [tuple(one.shape) for one in data]
    stack = " For samples of one shape pass torch.stack(data)." if len(set(sizes)) == 1 else ""
    advice = f"one sample, a cloud of points, pass {any_number}."
    if any_number is None:
        advice = "one sample, pass torch.stack(data), after all have one shape: resize or pad them."
        stack = ""
    return type(error)(
        f"the data is a list of tensors, {', '.join(map(str, sizes[:LISTED_SIZES]))} and so on, which were read as batches of "
        f"samples. If each of its tensors is {advice}{stack} As batches: {error}"
    )


def _fit_alone(data: Data, action: Any) -> bool:
    """Whether the tensors of a list fit an action as samples, such as images, and not as batches of one shape."""
    if not isinstance(data, list) or not isinstance(action, Action) or not all(map(is_array, data)):
        return False
    try:
        for one in data[:2]:
            action.check(tuple(one.shape))
    except ShapeError:
        return False
    return len(data) > 1


def _action_on_clouds(data: Data, action: Any) -> str | None:
    """An action on any number of points, as one would type it, for a list that may hold clouds; None if it does not."""
    if not isinstance(data, list) or not data or not all(map(_is_cloud, data)):
        return None
    if not isinstance(action, Action) or getattr(action, "copies", None) is None:
        return None
    if not is_dataclass(action):
        return None
    any_number: Any = replace(action, copies=None)
    try:
        any_number.check(tuple(data[0].shape))
    except ShapeError:
        return None
    return any_number.code()


def clouds_in(data: Data, action: Any, error: DataError) -> bool:
    """Whether data that could not be read are clouds of any number of points.

    Raises:
        ShapeError: each batch is a list of clouds.
    """
    if getattr(action, "copies", 1) is not None or not isinstance(data, DataLoader | Dataset):
        return False
    if isinstance(error, RaggedDataError) or not isinstance(data, DataLoader):
        return isinstance(error, RaggedDataError)
    first: Any = next(iter(data), None)
    if is_list_of_samples(data, first) or not isinstance(error, ShapeError):
        return is_list_of_samples(data, first)
    if isinstance(first, list) and len(first) > 1 and all(map(_is_cloud, first)):
        raise ShapeError(
            f"{error} The batches are lists of tensors, of which the first one is read, and the others as labels. Pass "
            "the samples themselves, as a list or a Dataset, for example loader.dataset."
        ) from error
    return _is_cloud(first)


def _is_cloud(value: Any) -> bool:
    return is_array(value) and value.ndim == 2
