"""Permutations of the slots of a sample: of atoms, of the members of a set, of the places along an axis."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.space import Space


@dataclass(frozen=True)
class SlotSpace(Space):
    """All permutations of the places along one axis.

    Attributes:
        shape: shape of a sample with that axis, if it is flat otherwise.
        axis: counted from 0, without the batch axis.
        noun: what a slot is called in words, such as "atom".
    """

    shape: tuple[int, ...]
    axis: int
    noun: str = "slot"
    kind = "slots"

    @property
    def side(self) -> int:
        """Number of slots."""
        return self.shape[self.axis]

    def slots(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b n ..."]:
        """What is in each slot."""
        return x.reshape(len(x), *self.shape).movedim(self.axis + 1, 1)

    def filled(self, slots: Float[Tensor, "b n ..."], x: Float[Tensor, "b ..."]) -> Tensor:
        """Samples with other contents of their slots."""
        return slots.movedim(1, self.axis + 1).reshape(x.shape)

    def permute(self, order: Sequence[int], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Put slot `order[i]` into place i."""
        places = torch.as_tensor(list(order), device=x.device)
        return self.filled(self.slots(x).index_select(1, places), x)

    def matrix(self, order: Sequence[int]) -> Float[Tensor, "n n"]:
        """The matrix of a permutation."""
        return torch.eye(self.side, dtype=torch.float64)[list(order)]

    def apply(
        self, element: Float[Tensor, "n n"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Samples with their slots permuted."""
        return self.permute(element.argmax(1).tolist(), x)
