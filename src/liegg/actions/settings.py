"""Settings of an action: those that say which motions it has, and others."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

NAME_SETTINGS = ("names", "noun")
"""Settings that say how coordinates and slots are called."""

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


def field_settings(
    action: Any, *, optional: Collection[str] = (), omitted: Collection[str] = ()
) -> dict[str, Any]:
    """The settings of an action that is a dataclass: its kind, which is the name of its class, and its fields.

    Args:
        action: the action.
        optional: fields that are left out where they have their defaults.
        omitted: fields that are always left out.
    """
    settings: dict[str, Any] = {"kind": type(action).__name__.lower()}
    for field in fields(action):
        value = getattr(action, field.name)
        if field.name in omitted or (field.name in optional and value == field.default):
            continue
        settings[field.name] = list(value) if isinstance(value, tuple) else value
    return settings


def without(settings: Any, keys: Collection[str]) -> Any:
    """Settings without some keys, in actions that are made of others as well.

    >>> without({"kind": "product", "parts": [{"kind": "linear", "names": ["a"]}]}, NAME_SETTINGS)
    {'kind': 'product', 'parts': [{'kind': 'linear'}]}
    """
    if isinstance(settings, dict):
        return {key: without(value, keys) for key, value in settings.items() if key not in keys}
    return [without(value, keys) for value in settings] if isinstance(settings, list) else settings


def motions(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that say which motions an action has."""
    return without(settings, (*NUMERICAL_SETTINGS, *NAME_SETTINGS))
