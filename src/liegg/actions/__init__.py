"""How candidate generators move a sample: one file per kind of input."""

from typing import Any

import torch

from liegg._utils.errors import RecordError
from liegg.actions.affine import Affine
from liegg.actions.base import Action, Displacement, Restricted
from liegg.actions.grid.color import Channels, Color
from liegg.actions.grid.grid import Grid
from liegg.actions.grid.image import Image, Sequence, Volume
from liegg.actions.grid.stencils import smooth
from liegg.actions.linear import Linear
from liegg.actions.product import Product
from liegg.actions.structured.constructors import Banded, Blocks, Weights, blocks_from_settings
from liegg.actions.structured.kronecker import KroneckerSum, kronecker_from_settings
from liegg.actions.structured.sparse import Sparse

__all__ = [
    "Action",
    "Affine",
    "Banded",
    "Blocks",
    "Channels",
    "Color",
    "Displacement",
    "Grid",
    "Image",
    "KroneckerSum",
    "Linear",
    "Product",
    "Restricted",
    "Sequence",
    "Sparse",
    "Volume",
    "Weights",
    "action_from_settings",
    "smooth",
]


def action_from_settings(settings: dict[str, Any]) -> Action:
    """The action that `Action.settings` described.

    >>> action_from_settings(Linear(3, copies=2).settings())
    Linear(n=3, copies=2, layout='copies_first')
    """
    kinds = {
        "linear": Linear,
        "affine": Affine,
        "grid": Grid,
        "channels": Channels,
        "blocks": blocks_from_settings,
        "banded": Banded,
        "weights": Weights,
        "kronecker": kronecker_from_settings,
    }
    values = dict(settings)
    kind = values.pop("kind", None)
    if kind == "restricted":
        return Restricted(
            action_from_settings(values["parent"]),
            torch.tensor(values["basis"], dtype=torch.float64),
            values.get("label", ""),
        )
    if kind == "product":
        return Product(*(action_from_settings(part) for part in values["parts"]))
    if kind not in kinds:
        known = ", ".join([*kinds, "restricted", "product"])
        raise RecordError(f"the stored action is of kind {kind!r}; this version knows {known}.")
    if values.get("shape") is not None:
        values["shape"] = tuple(values["shape"])
    return kinds[kind](**values)
