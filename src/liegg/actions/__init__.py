"""How candidate generators move a sample: one file per kind of input."""

from typing import Any

import torch

from liegg._errors import RecordError
from liegg.actions._base import Action, Displacement, Restricted
from liegg.actions.affine import Affine
from liegg.actions.linear import Linear

__all__ = ["Action", "Affine", "Displacement", "Linear", "Restricted", "action_from_settings"]


def action_from_settings(settings: dict[str, Any]) -> Action:
    """The action that `Action.settings` described.

    >>> action_from_settings(Linear(3, copies=2).settings())
    Linear(n=3, copies=2, layout='copies_first')
    """
    kinds = {"linear": Linear, "affine": Affine}
    values = dict(settings)
    kind = values.pop("kind", None)
    if kind == "restricted":
        return Restricted(action_from_settings(values["parent"]), torch.tensor(values["basis"], dtype=torch.float64))
    if kind not in kinds:
        raise RecordError(f"the stored action is of kind {kind!r}; this version knows {', '.join([*kinds, 'restricted'])}.")
    return kinds[kind](**values)
