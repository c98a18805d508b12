"""Values as annotations want them: numbers of numpy and arrays become numbers and tensors."""

import collections.abc
import inspect
import math
import numbers
import operator
import os
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
import torch
from torch import Tensor

UNION = (Union, UnionType)


class MismatchError(Exception):
    """A value does not fit an annotation; the arguments list what was expected."""

    def __str__(self) -> str:
        *first, last = self.args
        return f"{', '.join(first)} or {last}" if first else last


def convert(value: Any, hint: Any) -> Any:
    """Convert a value to the type of an annotation; raise `MismatchError` if it does not fit.

    >>> convert(2, float), convert("sum", Literal["each", "sum"]), convert(None, int | None)
    (2.0, 'sum', None)
    """
    if hint is Any or isinstance(hint, TypeVar):
        return value
    if hint is None or hint is type(None):
        if value is None:
            return None
        raise MismatchError("None")
    if get_origin(hint) in UNION:
        return _convert_union(value, get_args(hint))
    if get_origin(hint) is Literal:
        if any(
            value is choice or (type(value) is type(choice) and value == choice)
            for choice in get_args(hint)
        ):
            return value
        raise MismatchError(*map(repr, get_args(hint)))
    if hasattr(hint, "dims") and hasattr(hint, "dim_str"):
        return _convert_tensor(value, hint)
    if hint in _CONVERTERS:
        return _CONVERTERS[hint](value)
    return _convert_object(value, hint)


def _convert_union(value: Any, hints: tuple[Any, ...]) -> Any:
    """The first of several annotations that the value fits."""
    expected = []
    for hint in (one for one in hints if not (one is str and Path in hints)):  # a text names a path
        try:
            return convert(value, hint)
        except MismatchError as error:
            expected += error.args
    raise MismatchError(*dict.fromkeys(expected))


def _convert_int(value: Any) -> int:
    try:
        number = operator.index(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise MismatchError("a whole number") from error
    if isinstance(value, bool) or getattr(value, "dtype", None) in (bool, torch.bool):
        raise MismatchError("a whole number")
    return number


def _convert_float(value: Any) -> float:
    if isinstance(value, Tensor | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        if not math.isnan(number):
            return number
    raise MismatchError("a number")


def _convert_bool(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise MismatchError("True or False")


def _convert_str(value: Any) -> str:
    if isinstance(value, str):
        try:
            value.encode()
            return value
        except UnicodeEncodeError:
            raise MismatchError("a text in Unicode, without lone surrogates") from None
    raise MismatchError("a text")


def _convert_path(value: Any) -> Path:
    if isinstance(value, str | os.PathLike) and isinstance(text := os.fspath(value), str):
        if text and text.isprintable():
            return Path(text)
        raise MismatchError("a path without control characters")
    raise MismatchError("a path, for example 'run'")


def _convert_tensor(value: Any, hint: Any) -> Tensor:
    """An array as a tensor with the number of axes and the kind of numbers of a jaxtyping annotation."""
    axes = f"a tensor [{', '.join(hint.dim_str.split())}]"
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        value = torch.from_numpy(np.ascontiguousarray(value))
    if not isinstance(value, Tensor) or value.layout is not torch.strided or value.is_nested:
        raise MismatchError(axes)
    if value.is_meta:
        raise MismatchError(f"{axes} with values, not on the device 'meta'")
    if "float64" in hint.dtypes and not (value.is_complex() or value.dtype is torch.bool):
        value = value if value.is_floating_point() else value.double()
    names = hint.dim_str.split()
    sizes = axes_of(value, names)
    variadic = any(name == "..." or name.startswith("*") for name in names)
    fits = value.ndim >= len(names) - 1 if variadic else value.ndim == len(names)
    if not fits or len(dict(sizes)) != len(set(sizes)):  # one name on two axes is one size
        raise MismatchError(axes)
    return value


def _convert_object(value: Any, hint: Any) -> Any:
    """Sequences, mappings, callables and instances of classes."""
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin is collections.abc.Callable:
        return _convert_callable(value, inner)
    if origin is type:
        if isinstance(value, type):
            return value
        raise MismatchError("a class")
    if origin in (collections.abc.Sequence, list, tuple) and inner:
        fixed = origin is tuple and inner[-1] is not Ellipsis
        return _convert_sequence(value, origin, inner[0], count=len(inner) if fixed else None)
    if not isinstance(origin, type):
        return value
    if isinstance(value, origin):
        return value
    raise MismatchError(CLASSES_IN_WORDS.get(origin.__name__, f"a {origin.__name__}"))


def _convert_callable(value: Any, inner: tuple[Any, ...]) -> Any:
    """A function that takes the arguments, where it says what it takes."""
    if not callable(value):
        raise MismatchError("a function")
    if inner and isinstance(inner[0], list):
        count = len(inner[0])
        words = f"a function of {count} argument{'s'[: count != 1]}"
        try:
            inspect.signature(value).bind(*range(count))
        except TypeError:
            raise MismatchError(words) from None
        except ValueError:  # written in C, without a signature
            if isinstance(value, type):
                raise MismatchError(words) from None
    return value


def _convert_sequence(value: Any, origin: Any, inner: Any, *, count: int | None) -> Any:
    """A sequence whose members fit, as many as there must be."""
    if isinstance(value, Tensor | np.ndarray) and value.ndim:
        value = list(value)
    if not isinstance(value, collections.abc.Sequence) or isinstance(value, str | bytes):
        raise MismatchError("a list")
    try:
        members = [convert(member, inner) for member in value]
    except MismatchError as error:
        raise MismatchError(f"a list, each member {error}") from None
    if count is not None and len(members) != count:
        raise MismatchError(f"a list of {count}")
    return tuple(members) if origin is tuple else members


_CONVERTERS: dict[Any, collections.abc.Callable[[Any], Any]] = {
    int: _convert_int,
    float: _convert_float,
    bool: _convert_bool,
    str: _convert_str,
    Path: _convert_path,
}

CLASSES_IN_WORDS = {
    "Action": "an action, for example liegg.Linear(3)",
    "Axes": "axes of matplotlib, or None for a new figure",
    "Figure": "a figure of matplotlib",
    "Symmetries": "a result of liegg.discover",
    "GroupSymmetries": "a result of liegg.discover_group",
    "LayerSymmetries": "a result of liegg.discover_layers",
    "Mapping": "a mapping, such as {'name': value}",
    "LayerErrors": "what liegg.layer_errors returns",
    "Verification": "what liegg.verify returns",
    "Thresholds": "thresholds=liegg.Thresholds(...)",
    "Run": "run=liegg.Run(...)",
    "Tensor": "a tensor",
    "ndarray": "an array",
}
"""Classes of the package in words."""


def axes_of(value: Tensor, names: list[str]) -> list[tuple[str, int]]:
    """Named axes with their sizes, before and after those that `...` stands for."""
    variadic = [place for place, name in enumerate(names) if name == "..." or name[0] == "*"]
    stop = variadic[0] if variadic else len(names)
    pairs = list(zip(names[:stop], value.shape, strict=False))
    if after := len(names) - stop - 1 if variadic else 0:
        pairs += zip(names[-after:], value.shape[-after:], strict=False)
    return [pair for pair in pairs if pair[0] != "_"]
