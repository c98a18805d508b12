"""Slots: permutations of the places along an axis, without any continuous motion."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ShapeError
from liegg.actions.base import Action
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.names import check_noun
from liegg.actions.settings import field_settings


@checked_fields
@dataclass(frozen=True, repr=False)
class Slots(Action):
    """Permutations of the places along one axis of a sample; for `liegg.discover_group`.

    It has no candidate generator, so it is alone or a factor of a `Product` there.

    Attributes:
        axis: the axis whose places are permuted, counted from 0 without the batch axis; negative from the end.
        noun: what a place is called in words, such as "atom".

    Examples:
        >>> Slots().size, Slots(axis=1).spaces((4, 3))[0].side
        (0, 3)
    """

    axis: int = 0
    noun: str = "slot"

    def __post_init__(self) -> None:
        check_noun(self.noun)

    @property
    def size(self) -> int:
        """No candidate generator."""
        return 0

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples have the axis, with at least two places."""
        if not -len(shape) <= self.axis < len(shape):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; Slots(axis={self.axis}) expects an axis {self.axis} in it."
            )
        if shape[self.axis] < 2:
            raise ShapeError(
                f"a sample has shape {tuple(shape)}: axis {self.axis} has {shape[self.axis]} place; a permutation needs 2."
            )

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The samples as they are: there is no continuous motion."""
        return x.clone()

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """No velocity."""
        return x.new_zeros(len(h), *x.shape)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k 0"]:
        """No column."""
        return gradients.new_zeros(*gradients.shape[:2], 0)

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """The slots."""
        return (SlotSpace(tuple(shape), self.axis % len(shape), self.noun),)

    def settings(self) -> dict[str, Any]:
        """Kind and axis; and the noun, if it is another one."""
        return field_settings(self, optional=("noun",))

    def code(self) -> str:
        """The constructor call."""
        return f"liegg.actions.{self!r}"

    def __repr__(self) -> str:
        noun = "" if self.noun == "slot" else f", noun={self.noun!r}"
        return f"Slots(axis={self.axis}{noun})"
