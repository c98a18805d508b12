"""Permutations of the points of structured samples."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.slots import SlotSpace
from liegg.inputs.structure.layout import Layout


@dataclass(frozen=True)
class PlacedSlots(SlotSpace):
    """The same permutation of the slots of one or several leaves: positions and velocities of atoms are exchanged together.

    Attributes:
        places: paths, and the slots of the leaf there.
        columns: where the leaves are in a row.
    """

    places: tuple[tuple[str, SlotSpace], ...] = field(kw_only=True)
    columns: Layout = field(kw_only=True)

    def slots(self, x: Float[Tensor, "b D"]) -> Float[Tensor, "b n m"]:
        """What is in each slot, of all leaves."""
        return torch.cat([space.slots(leaf).flatten(2) for _, space, leaf in self._leaves(x)], 2)

    def filled(self, slots: Float[Tensor, "b n m"], x: Float[Tensor, "b D"]) -> Tensor:
        """Rows with other contents of their slots; the context stays."""
        moved, start = {}, 0
        for path, space, leaf in self._leaves(x):
            own = space.slots(leaf)
            size = own[0, 0].numel()
            moved[path] = space.filled(slots[:, :, start : start + size].reshape(own.shape), leaf)
            start += size
        return self.columns.replaced(x, moved)

    def _leaves(self, x: Float[Tensor, "b D"]) -> list[tuple[str, SlotSpace, Tensor]]:
        values = (self.columns.values(x, self.columns.by_path[path]) for path, _ in self.places)
        return [(*place, leaf) for place, leaf in zip(self.places, values, strict=True)]
