"""Values beside the tensors that are not the same in all samples, such as names and lists of symbols.

Models are called with many samples at once, in a tree like the first one, so that such a value would be that of another
sample. A model that does not look at it gets a stand-in; one that does is refused.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from types import NoneType
from typing import Any, NoReturn

import numpy as np

from liegg._utils.arguments import shown
from liegg._utils.errors import DataError, VaryingValueError

COUNT_OF_NODES = "num_nodes"
"""Attribute of graphs of PyG that they count by themselves."""

ADVICE = (
    "Only tensors may differ between samples: pass it as one, for example with a number for every kind, or leave it "
    "out if the model does not need it."
)

NUMBERS = (int, float, complex, np.number, np.bool_)
"""Numbers that are not tensors."""

BY_IDENTITY = (NoneType, Enum, type)
"""What models compare by `is`, which no stand-in can answer."""


class Varying:
    """Stands for a value that differs between samples; whoever uses it gets `VaryingValueError`.

    Attributes:
        reason: what differs, and what to write.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def _used(self, *_: Any) -> NoReturn:
        raise VaryingValueError(vars(self).get("reason", "a value differs between samples"))

    __getattr__ = __eq__ = __ne__ = __hash__ = __str__ = __bool__ = _used
    __len__ = __iter__ = __getitem__ = __contains__ = __call__ = __index__ = __float__ = _used

    def __repr__(self) -> str:
        return "a value that differs between samples"


def varying(
    first: Mapping[str, Any], other: Mapping[str, Any], number: int, tensors: Collection[str]
) -> dict[str, Varying]:
    """Stand-ins for the values that are not the same in another element of the data.

    Args:
        first: values of the first element that are not tensors, by path.
        other: those of another one.
        number: its place in the data.
        tensors: paths of the tensors.

    Raises:
        DataError: a number differs, or a value that models compare by `is`, such as None.
    """
    found = {}
    for path in {**first, **other}:
        if path == COUNT_OF_NODES or (
            path in first and path in other and _same(first[path], other[path])
        ):
            continue
        value, another = (shown(one[path]) if path in one else "missing" for one in (first, other))
        both = [one[path] for one in (first, other) if path in one]
        if len(both) > 1 and all(isinstance(one, NUMBERS) for one in both):
            raise DataError(
                f"{path!r} is {value} in the first sample and {another} in element {number}: a Python number must be "
                f"the same in all samples. Pass it as a tensor, torch.tensor({another}), or leave it out if the model "
                "does not use it."
            )
        said = f"{path!r}, which is {value} in the first element of the data and {another} in element {number}. {ADVICE}"
        if any(isinstance(one, BY_IDENTITY) for one in both):
            raise DataError(f"the data holds {said}")
        found.setdefault(_container(path, tensors), Varying(f"the model uses {said}"))
    return found


def varying_in_lists(
    values: Mapping[str, Any], samples: int, tensors: Collection[str]
) -> dict[str, Varying]:
    """Stand-ins for lists with one value per sample in a batch, unless these are equal.

    Args:
        values: values of the batch that are not tensors, by path.
        samples: their number.
        tensors: paths of the tensors.

    Raises:
        DataError: a list of numbers.

    Examples:
        >>> varying_in_lists({"name.0": "a", "name.1": "b", "unit": "eV"}, 2, ["pos"])
        {'name': a value that differs between samples}
    """
    lists: dict[str, list[Any]] = {}
    for path, value in values.items():
        if (parent := path.rpartition(".")[0]) == _container(path, tensors):
            lists.setdefault(parent, []).append(value)
    found = {}
    for parent, listed in lists.items():
        if len(listed) != samples or all(_same(listed[0], value) for value in listed):
            continue
        if all(isinstance(value, NUMBERS) for value in listed):
            raise DataError(
                f"{parent!r} is a list of {samples} numbers, one per sample; expected a tensor. Pass "
                f"torch.tensor({parent})."
            )
        found[parent] = Varying(
            f"the model uses {parent!r}, a list with one value per sample, such as {shown(listed[0])}. {ADVICE}"
        )
    return found


def _container(path: str, tensors: Collection[str]) -> str:
    """The list that holds a value, if it holds no tensors; else the path of the value.

    >>> _container("species.0", ["pos"]), _container("1", ["0"]), _container("unit", ["pos"])
    ('species', '1', 'unit')
    """
    parent, _, place = path.rpartition(".")
    if not parent or not place.isdigit() or any(one.startswith(f"{parent}.") for one in tensors):
        return path
    return _container(parent, tensors)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; what cannot be compared is not. NaN is equal to itself here."""
    try:
        return one is other or bool(one == other) or bool(one != one and other != other)
    except Exception:  # whatever a value of another library does
        return False
