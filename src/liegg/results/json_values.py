"""Records as JSON values, and back."""

import math
from collections.abc import Collection
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import torch
from jaxtyping import AbstractArray, Int
from torch import Tensor

from liegg._utils.diagnoses import Remark, remark_from_dict

PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Types that stand for themselves, in words."""


def json_values(value: Any) -> Any:
    """Records, tensors, tuples and numbers as JSON values; NaN and infinities become null.

    >>> import torch
    >>> json_values({"values": torch.tensor([1.0, torch.inf]), "pair": (1, "a")})
    {'values': [1.0, None], 'pair': [1, 'a']}
    """
    if isinstance(value, Tensor):
        return json_values(value.tolist())
    if isinstance(value, dict):
        return {key: json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, str):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def from_json(kind: Any, value: Any, *, infinite: Collection[str] = ()) -> Any:
    """What `json_values` wrote, as the type that an annotation names: a record, a tuple, a tensor, a remark, a number.

    A null in place of a number was NaN or infinite: in tensors it becomes infinity, elsewhere NaN. Tensors and records that
    are already made are taken as they are, other keys than a record's fields are ignored, and fields that are missing keep
    their defaults.

    Args:
        kind: the type.
        value: JSON values.
        infinite: fields of records in which a null was infinity.

    Raises:
        TypeError: there is something else in place of a record, a number or a text.

    Examples:
        >>> from liegg.results.tower import Level
        >>> stored = {
        ...     "grade": "weak",
        ...     "dimension": 1,
        ...     "name": "R",
        ...     "confident": True,
        ...     "largest": 0.1,
        ... }
        >>> from_json(tuple[Level, ...], [stored | {"effect": None}])[0].effect
        nan
    """
    if isinstance(value, Tensor):
        return value
    if get_origin(kind) in (Union, UnionType):
        inner = next(one for one in get_args(kind) if one is not NoneType)
        return None if value is None else from_json(inner, value, infinite=infinite)
    if get_origin(kind) is tuple:
        inner, *more = get_args(kind)  # all entries of a tuple have one type
        if isinstance(value, str) or (Ellipsis not in more and len(value) != 1 + len(more)):
            raise TypeError(f"{value!r}: expected {1 + len(more)} entries")
        return tuple(from_json(inner, entry, infinite=infinite) for entry in value)
    if kind in PLAIN:
        return _plain(kind, value)
    if kind is Remark:
        return remark_from_dict(value)
    if isinstance(kind, type) and issubclass(kind, AbstractArray):
        dtype = torch.int64 if kind.dtype is Int else torch.float64
        return torch.tensor(_filled(value), dtype=dtype)
    if not is_dataclass(kind) or is_dataclass(value):
        return value
    if not isinstance(value, dict):
        raise TypeError(f"{value!r}: expected the fields of a {getattr(kind, '__name__', kind)}")
    given = value | {name: _filled(value[name]) for name in infinite if name in value}
    record: Any = kind
    return record(
        **{
            name: from_json(hint, given[name], infinite=infinite)
            for name, hint in _hints(kind).items()
            if name in given
        }
    )


def _plain(kind: type[Any], value: Any) -> Any:
    """A number or a text of a kind."""
    if kind is float and value is None:
        return math.nan
    kinds = (int, float) if kind is float else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r}: expected {PLAIN[kind]}")
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of a record's fields."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _filled(value: Any) -> Any:
    """Numbers, or nested lists of them, with infinity for null."""
    if isinstance(value, list):
        return [_filled(entry) for entry in value]
    return math.inf if value is None else value
