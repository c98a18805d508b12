"""Arguments of public functions, checked in one place against the function's own annotations.

Numbers of numpy and arrays become numbers and tensors; anything that does not fit raises `ArgumentError` with what was
given and what was expected; an unknown keyword is answered with the nearest one.
"""

import collections.abc
import inspect
import reprlib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cached_property, reduce, wraps
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

import numpy as np
import torch
from torch import Tensor

from liegg._utils.conversion import MismatchError, axes_of, convert
from liegg._utils.errors import ArgumentError
from liegg._utils.readable import check_readable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Record = TypeVar("Record")

NEAREST = 0.6
"""Similarity from which on a known keyword is suggested for an unknown one; unlike words have at most a half."""

CHECKED = "__liegg_checked__"
"""Attribute of functions whose arguments are checked."""


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
        for axis, size in axes_of(value, _dims_of(hints.get(name))):
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
