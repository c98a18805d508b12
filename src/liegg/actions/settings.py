"""Settings of an action: those that say which motions it has, and others."""

from collections.abc import Collection
from typing import Any

NAMES = ("names",)
"""Settings that say how coordinates are called."""

NUMERICAL_SETTINGS = (
    "layout",
    "derivative",
    "border",
    "sigma",
    "shape",
    "frame",
    "step",
    "label",
    "structure",
)
"""Settings that say how an action is computed, and not which motions it has."""


def without(settings: Any, keys: Collection[str]) -> Any:
    """Settings without some keys, in actions that are made of others as well.

    >>> without({"kind": "product", "parts": [{"kind": "linear", "names": ["a"]}]}, NAMES)
    {'kind': 'product', 'parts': [{'kind': 'linear'}]}
    """
    if isinstance(settings, dict):
        return {key: without(value, keys) for key, value in settings.items() if key not in keys}
    return [without(value, keys) for value in settings] if isinstance(settings, list) else settings


def motions(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that say which motions an action has."""
    return without(settings, (*NUMERICAL_SETTINGS, *NAMES))
