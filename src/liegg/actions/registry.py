"""Rebuild actions from the settings that are stored with a result."""

from collections.abc import Callable
from typing import Any

import torch

from liegg._utils.errors import ArgumentError, RecordError
from liegg.actions.base import Action
from liegg.actions.grid.color import Channels
from liegg.actions.grid.grid import Grid
from liegg.actions.linear import Affine, Linear, Vectors
from liegg.actions.placed import Placed
from liegg.actions.product import Product
from liegg.actions.representations.irrep import Irrep
from liegg.actions.representations.tensor import Tensor
from liegg.actions.restricted import Restricted
from liegg.actions.slots import Slots
from liegg.actions.structured.constructors import Banded, Blocks, Weights, algebra_from_list
from liegg.actions.structured.kronecker import KroneckerSum
from liegg.inputs.structure.layout import Layout


def _restricted(parent: dict[str, Any], basis: list[list[float]], label: str = "") -> Restricted:
    rows = torch.tensor(basis, dtype=torch.float64)
    return Restricted(action_from_settings(parent), rows, label)


_FACTORIES: dict[str, Callable[..., Action]] = {
    "linear": Linear,
    "affine": Affine,
    "vectors": Vectors,
    "tensor": Tensor,
    "irrep": Irrep,
    "grid": Grid,
    "channels": Channels,
    "blocks": lambda algebra, **others: Blocks(algebra=algebra_from_list(algebra), **others),
    "banded": Banded,
    "weights": Weights,
    "kronecker": lambda sizes, algebras: KroneckerSum(sizes, algebra_from_list(algebras)),
    "slots": Slots,
    "restricted": _restricted,
    "placed": lambda places, structure: Placed(
        tuple((path, action_from_settings(inner)) for path, inner in places),
        Layout.from_settings(structure),
    ),
    "product": lambda parts: Product(*map(action_from_settings, parts)),
}


def register(kind: str, factory: Callable[..., Action]) -> None:
    """Let `liegg.load` rebuild actions of your own kind.

    Args:
        kind: what `Action.settings` of your class gives as `"kind"`.
        factory: called with the other settings as keywords; usually the class itself.

    Raises:
        ArgumentError: the kind is taken by another factory, or is "custom", which has no settings.

    Examples:
        >>> class Tilt(Action):
        ...     size = 1
        ...
        ...     def act(self, h, x):
        ...         return x + h
        ...
        ...     def settings(self):
        ...         return {"kind": "tilt"}
        >>> register("tilt", Tilt)
        >>> action_from_settings({"kind": "tilt"}).size
        1
    """
    if kind == "custom" or _FACTORIES.get(kind, factory) is not factory:
        raise ArgumentError(
            f"kind={kind!r} is taken; choose another one, and return it from settings() of your action."
        )
    _FACTORIES[kind] = factory


def action_from_settings(settings: dict[str, Any]) -> Action:
    """The action that `Action.settings` described.

    Raises:
        RecordError: an unknown kind, such as that of an action of your own.

    Examples:
        >>> action_from_settings(Linear(3, copies=2).settings())
        Linear(n=3, copies=2, layout='copies_first')
    """
    values = dict(settings)
    kind = values.pop("kind", None)
    if kind not in _FACTORIES:
        named = f" ({values['class']})" if "class" in values else ""
        raise RecordError(
            f"the stored action is of kind {kind!r}{named}; known are {', '.join(_FACTORIES)}. For an "
            "action of your own pass it, liegg.load(folder, action=...), or register its kind with "
            "liegg.actions.register(kind, factory)."
        )
    return _FACTORIES[kind](**values)
