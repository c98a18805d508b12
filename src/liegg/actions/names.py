"""Names of the components of a vector, such as the columns of a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError

NamedAction = TypeVar("NamedAction")


def checked_names(
    names: Sequence[str] | None, count: int, owner: str, what: str = "component"
) -> tuple[str, ...] | None:
    """Names as a tuple; None stays None.

    Args:
        names: one per component.
        count: number of components.
        owner: the action, for the message.
        what: what is named, for the message.

    Raises:
        ArgumentError: another number of names, or what `problem_with` finds.

    Examples:
        >>> checked_names(["m1", "r"], 2, "Linear(2)")
        ('m1', 'r')
    """
    if names is None:
        return None
    texts = tuple(names)
    problem = problem_with(texts)
    if isinstance(names, str) or len(texts) != count:
        problem = f"{len(texts)} {'letters' if isinstance(names, str) else 'names'}"
    if problem:
        example = ", ".join(f'"{name}"' for name in ("m1", "m2", "r", "t")[:count])
        example += ", ..." if count > 4 else ""
        raise ArgumentError(
            f"names={shown(names)}: {problem}; {owner} expects {count} different names, one per "
            f"{what}, for example names=[{example}]."
        )
    return tuple(map(str, texts))  # those of numpy are written otherwise


def check_noun(noun: str) -> None:
    """Raise `ArgumentError` unless a noun can be put into words.

    >>> check_noun("atom")
    """
    if not noun.strip() or not noun.isprintable():
        raise ArgumentError(
            f"noun={shown(noun)}: expected what one slot is called, for example noun='atom'."
        )


def with_names(action: NamedAction, names: Sequence[Any], count: int) -> NamedAction:
    """An action with a field `names` under these names, if it has none and they are names of its `count` coordinates."""
    named: Any = action
    unfit = named.names is not None or len(names) != count or problem_with(names)
    return action if unfit else replace(named, names=tuple(names))


def problem_with(names: Sequence[Any]) -> str:
    """Why labels cannot be names: not text, empty, numbers, control characters or duplicates; empty if they can.

    Formulas multiply names by numbers, so that a number is not a name.

    >>> problem_with(["m1", "r"]), problem_with(["m1", "m1"]), problem_with(["0", "1"])
    ('', "'m1' occurs twice", "'0' is a number")
    """
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            return f"{shown(name)} is not a text"
        if not name.strip() or not name.isprintable():
            return f"{shown(name)} is empty or has control characters"
        if _is_number(name):
            return f"{shown(name)} is a number"
        if name in seen:
            return f"{shown(name)} occurs twice"
        seen.add(name)
    return ""


def _is_number(name: str) -> bool:
    """Whether a name reads as a number; "1 (offset)" is the constant of a product."""
    try:
        float(name)
    except ValueError:
        return name == "1 (offset)"
    return True
