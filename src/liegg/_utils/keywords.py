"""Keyword arguments that a function does not have are answered with the nearest one that it has."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

from liegg._utils.errors import ArgumentError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Record = TypeVar("Record")


def suggests_keywords(
    advice: Mapping[str, str], *, owner: str | None = None
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function so that an unknown keyword raises `ArgumentError` with what to type instead.

    Args:
        advice: for keywords of other libraries or versions, what to do instead.
        owner: name in the message; that of the function by default.

    Examples:
        >>> @suggests_keywords({"device": "Move the model: its device is used."})
        ... def f(x, *, held_out=None): ...
        >>> f(1, heldout=2)
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: f() has no argument 'heldout'. Did you mean held_out=?
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        known = [name for name in inspect.signature(function).parameters if name != "self"]
        called = owner or function.__name__

        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            for name in kwargs:
                if name not in known:
                    raise ArgumentError(
                        f"{called}() has no argument {name!r}. {_advice(name, known, advice)}"
                    )
            return function(*args, **kwargs)

        return checked

    return decorate


def suggests_fields(record: type[Record]) -> type[Record]:
    """Decorate a dataclass so that an unknown keyword of its constructor raises `ArgumentError` with the nearest field.

    Examples:
        >>> from dataclasses import dataclass
        >>> @suggests_fields
        ... @dataclass(kw_only=True)
        ... class Size:
        ...     height: int = 1
        >>> Size(hieght=2)
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: Size() has no argument 'hieght'. Did you mean height=?
    """
    setattr(record, "__init__", suggests_keywords({}, owner=record.__name__)(record.__init__))  # noqa: B010
    return record


def _advice(name: str, known: list[str], advice: Mapping[str, str]) -> str:
    """What to type instead of an unknown keyword."""
    nearest = get_close_matches(name.lower(), [*advice, *known], n=1, cutoff=0.7)
    if nearest and nearest[0] in advice:
        return advice[nearest[0]]
    if nearest:
        return f"Did you mean {nearest[0]}=?"
    return f"Its arguments are {', '.join(known)}."
