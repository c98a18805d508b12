"""Arguments of public functions, checked in one place against the function's own annotations.

Numbers of numpy and arrays become numbers and tensors; anything that does not fit raises `ArgumentError` with what was
given and what was expected; an unknown keyword is answered with the nearest one.
"""

import collections.abc
import inspect
import math
import numbers
import operator
import os
import reprlib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cached_property, reduce, wraps
from pathlib import Path
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.readable import check_readable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Record = TypeVar("Record")

NEAREST = 0.6
"""Similarity from which on a known keyword is suggested for an unknown one; unlike words have at most a half."""

UNION = (Union, UnionType)

CHECKED = "__liegg_checked__"
"""Attribute of functions whose arguments are checked."""


class MismatchError(Exception):
    """A value does not fit an annotation; the arguments list what was expected."""

    def __str__(self) -> str:
        *first, last = self.args
        return f"{', '.join(first)} or {last}" if first else last


def checked(
    advice: Mapping[str, str] | None = None,
    *,
    owner: str | None = None,
    types: Callable[[], dict[str, Any]] = dict,
    together: bool = False,
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a public function so that its arguments are checked and converted by their annotations.

    Args:
        advice: for keywords of other libraries or versions, what to do instead.
        owner: name in messages; that of the function by default.
        types: classes by name that annotations mention and the module imports for type checkers only.
        together: whether tensors are finite, of one type, and have axes of one name of one size.

    Examples:
        >>> @checked({"device": "Move the model: its device is used."})
        ... def f(x: int, *, held_out: float | None = None):
        ...     return x, held_out
        >>> import numpy as np
        >>> f(np.int64(3), held_out=1)
        (3, 1.0)
        >>> f("3")
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: x='3': expected a whole number.
        >>> f(1, heldout=2)
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: f() has no argument 'heldout'. Did you mean held_out=?
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = _Signature(function, owner or function.__name__, advice or {}, types)

        @wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            bound = signature.bind(args, kwargs)
            if together:
                _check_together(bound.arguments, signature.hints)
            return function(*bound.args, **bound.kwargs)

        setattr(call, CHECKED, True)
        return call

    return decorate


def check_functions(
    package: dict[str, Any],
    names: collections.abc.Iterable[str],
    types: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Check the arguments of the public functions of a package where they leave it: calls inside it cost nothing more.

    Args:
        package: its `globals()`.
        names: its public names; classes and functions that are checked already stay as they are.
        types: as for `checked`.
    """
    for name in names:
        if inspect.isfunction(package[name]) and not hasattr(package[name], CHECKED):
            package[name] = checked(types=types, together=True)(package[name])


def checked_fields(record: type[Record]) -> type[Record]:
    """Decorate a dataclass so that the arguments of its constructor are checked and converted by its annotations.

    Examples:
        >>> from dataclasses import dataclass
        >>> @checked_fields
        ... @dataclass(kw_only=True)
        ... class Size:
        ...     height: int = 1
        >>> Size(hieght=2)
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: Size() has no argument 'hieght'. Did you mean height=?
    """
    setattr(record, "__init__", checked(owner=record.__name__)(record.__init__))  # noqa: B010
    return record


class _Signature:
    """The parameters of a function, with their annotations resolved at the first call."""

    def __init__(
        self,
        function: Callable[..., Any],
        owner: str,
        advice: Mapping[str, str],
        types: Callable[[], dict[str, Any]],
    ):
        self.function, self.owner, self.advice, self.types = function, owner, advice, types
        self.signature = inspect.signature(function)
        self.names = [name for name in self.signature.parameters if name != "self"]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """Annotations by parameter, without those that allow anything."""
        hints = get_type_hints(self.function, localns=self.types() or None)
        return {
            name: hint for name, hint in hints.items() if name in self.names and hint is not Any
        }

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """The arguments by name, converted."""
        for name in kwargs:
            if name not in self.names and not self._takes_any_keyword:
                raise ArgumentError(
                    f"{self.owner}() has no argument {name!r}. {self._advice(name)}"
                )
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(
                f"{self.owner}(): {error}. Its arguments are {', '.join(self.names)}."
            ) from None
        for name, hint in self.hints.items():
            if name not in bound.arguments:
                continue
            kind = self.signature.parameters[name].kind
            value = bound.arguments[name]
            if kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[name] = tuple(_fitting(name, one, hint) for one in value)
            elif kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = _fitting(name, value, hint)
        return bound

    @cached_property
    def _takes_any_keyword(self) -> bool:
        kinds = [parameter.kind for parameter in self.signature.parameters.values()]
        return inspect.Parameter.VAR_KEYWORD in kinds

    def _advice(self, name: str) -> str:
        """Advice for an unknown keyword."""
        nearest = get_close_matches(name.lower(), [*self.advice, *self.names], n=1, cutoff=NEAREST)
        if nearest and nearest[0] in self.advice:
            return self.advice[nearest[0]]
        if nearest:
            return f"Did you mean {nearest[0]}=?"
        return f"Its arguments are {', '.join(self.names)}."


def _fitting(name: str, value: Any, hint: Any) -> Any:
    """A value as its annotation wants it, or `ArgumentError`."""
    check_readable(name, value)
    try:
        return convert(value, hint)
    except MismatchError as error:
        raise ArgumentError(f"{name}={shown(value)}: expected {error}.") from None


def _check_together(arguments: dict[str, Any], hints: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` for tensors that are not finite or do not fit each other; give them one type."""
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
    sizes: dict[str, tuple[str, int]] = {}
    for name, value in tensors.items():
        if not value.isfinite().all():
            raise ArgumentError(f"{name} holds NaN or infinity; expected finite numbers.")
        for axis, size in _axes(value, _dims_of(hints.get(name))):
            first, expected = sizes.setdefault(axis, (name, size))
            if size != expected:
                raise ArgumentError(
                    f"{name} is {shown(value)}; expected {expected} entries along an axis, as "
                    f"{first} has."
                )
    if len({value.dtype for value in tensors.values()}) > 1:
        widest = reduce(torch.promote_types, (value.dtype for value in tensors.values()))
        arguments.update({name: value.to(widest) for name, value in tensors.items()})


def _dims_of(hint: Any) -> list[str]:
    """Names of the axes in an annotation, or in the first of several that has any."""
    for one in (hint, *get_args(hint)):
        if hasattr(one, "dim_str"):
            return one.dim_str.split()
    return []


def _axes(value: Tensor, names: list[str]) -> list[tuple[str, int]]:
    """Named axes with their sizes, before and after those that `...` stands for."""
    variadic = [place for place, name in enumerate(names) if name == "..." or name[0] == "*"]
    stop = variadic[0] if variadic else len(names)
    pairs = list(zip(names[:stop], value.shape, strict=False))
    if after := len(names) - stop - 1 if variadic else 0:
        pairs += zip(names[-after:], value.shape[-after:], strict=False)
    return [pair for pair in pairs if pair[0] != "_"]


def shown(value: Any) -> str:
    """A value as a short text for a message.

    >>> shown("a" * 100), shown(torch.zeros(2, 3)), shown([1, 2])
    ("'aaaaaaaaaaaa...aaaaaaaaaaaaa'", 'a tensor of shape (2, 3)', '[1, 2]')
    """
    if isinstance(value, Tensor) and value.is_nested:
        return "a nested tensor"
    if isinstance(value, Tensor | np.ndarray) and value.ndim:
        kind = "a tensor" if isinstance(value, Tensor) else "an array"
        return f"{kind} of shape {tuple(value.shape)}"
    return reprlib.repr(value)


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
    sizes = _axes(value, names)
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


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
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
    "Symmetries": "what liegg.discover returns",
    "GroupSymmetries": "what liegg.discover_group returns",
    "LayerSymmetries": "what liegg.discover_layers returns",
    "Mapping": "a mapping, such as {'name': value}",
    "LayerErrors": "what liegg.layer_errors returns",
    "Verification": "what liegg.verify returns",
    "Thresholds": "thresholds=liegg.Thresholds(...)",
    "Run": "run=liegg.Run(...)",
    "Tensor": "a tensor",
    "ndarray": "an array",
}
"""Classes of the package in words."""
