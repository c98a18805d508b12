"""Maps of the values of an image: its channels, brightness and contrast."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked, checked_fields
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions.base import MatrixAction
from liegg.actions.displacement import Displacement
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.grid.maps import MapAction
from liegg.actions.linear import Affine, Linear
from liegg.actions.motion import Motion
from liegg.actions.settings import field_settings

ColorGroup = Literal["affine", "linear", "gains", "tone"]


@checked_fields
@dataclass(frozen=True, repr=False)
class Channels(MapAction):
    """Linear or affine maps of the channels, the same at every pixel.

    Attributes:
        channels: number of channels, first in a sample; 1 also fits samples without that axis.
        offsets: whether the maps are affine; otherwise they are linear.
        shape: shape of a sample before it was flattened, `(channels, ...)`; needed only for flat
            samples of several channels.
    """

    channels: int = 3
    offsets: bool = True
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.channels < 1:
            raise ArgumentError(
                f"channels={self.channels}: expected a positive number, for example channels=3."
            )

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples have their channels first, or are flat with `shape=` stated."""
        whole = self._whole_shape(shape, "Color")
        if self.channels > 1 and (len(whole) < 2 or whole[0] != self.channels):
            hint = (
                f" For grey images pass Color(channels=1); for {whole[0]} channels Color(channels={whole[0]})."
                if whole
                else ""
            )
            if len(whole) == 1 and whole[0] % self.channels == 0:
                hint = f" For flat samples state their shape: Color(channels={self.channels}, shape=({self.channels}, ...))."
            if len(whole) > 1 and whole[-1] == self.channels:
                hint = " The channels are last: move them first, data.movedim(-1, 1)."
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; Color(channels={self.channels}) expects [{self.channels}, ...], channels "
                f"first.{hint}"
            )

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential to the channels of every pixel."""
        return self._on(x).act(self._vector(h), x.flatten(1)).reshape(x.shape)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the generator itself."""
        return self._on(x).field(h, x.flatten(1)).reshape(x.shape)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        """Outer products of gradients and values, summed over the pixels."""
        return self._on(x).contract(gradients.flatten(2), x.flatten(1))

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "s s"]:
        """Second moment of the channels."""
        return self._on(x).moment(x.flatten(1))

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """Identity ⊗ mean second moment of the channels."""
        return self.source.displacement(moment, samples)

    @property
    def axes(self) -> tuple[str, ...] | None:
        """Red, green and blue of three channels."""
        return ("R", "G", "B") if self.channels == 3 else None

    def settings(self) -> dict[str, Any]:
        """Kind and every field."""
        return field_settings(self)

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """Brightness, contrast, hue and saturation."""
        from liegg.actions.grid.named import motions_of_channels

        return motions_of_channels(self, spread)

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """Matrices on the channels."""
        copies = math.prod(shape) // self.channels
        return (VectorSpace(self, replace(self.source, copies=copies), "channels"),)

    @property
    def stage(self) -> str:
        """Colours."""
        return "colour"

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c ..."]:
        """Channels first, in the shape before samples were flattened."""
        whole = x.reshape(len(x), *(self.shape or x.shape[1:]))
        return whole if self.channels > 1 else whole.reshape(len(x), 1, *whole.shape[1:])

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f", shape={self.shape}"
        return f"Color(group={'affine' if self.offsets else 'linear'!r}, channels={self.channels}{shape})"

    @property
    def source(self) -> Linear | Affine:
        """Maps of the channels of one pixel."""
        return (Affine if self.offsets else Linear)(self.channels, layout="vector_first")

    def _on(self, x: Float[Tensor, "b ..."]) -> Linear | Affine:
        """The same maps of flat samples: one vector per pixel, component after component."""
        return replace(self.source, copies=math.prod(x.shape[1:]) // self.channels)


@checked()
def Color(  # noqa: N802, one of the actions, which are named as classes are
    group: ColorGroup = "affine", *, channels: int = 3, shape: tuple[int, ...] | None = None
) -> MatrixAction:
    """Maps of the values of an image, the same at every pixel.

    Args:
        group: `"affine"`: every affine map of the channels (12 generators for 3 channels);
            `"linear"`: every linear one (9); `"gains"`: one factor per channel (3); `"tone"`:
            contrast and brightness, one factor and one offset for all channels (2). Defects of the
            last two are relative to all affine maps, see `Action.restrict`.
        channels: number of channels, first in a sample; 1 for grey images, with or without that axis.
        shape: shape of a flat sample, such as `(3, 32, 32)`.

    Raises:
        ArgumentError: an unknown group, or no channels.

    Examples:
        >>> Color().size, Color("linear").size, Color("gains").size, Color("tone").size
        (12, 9, 3, 2)
        >>> brighter = torch.tensor([[0.0, 0.1], [0.0, 0.0]])
        >>> Color("tone", channels=1).act(brighter, torch.zeros(1, 2, 2))
        tensor([[[0.1000, 0.1000],
                 [0.1000, 0.1000]]])
    """
    whole = Channels(channels, group != "linear", shape)
    if group in ("affine", "linear"):
        return whole
    unit = torch.zeros(channels + 1, channels + 1, channels + 1, dtype=torch.float64)
    for i in range(channels):
        unit[i, i, i] = 1.0  # the gain of one channel
        unit[channels, i, channels] = 1.0  # the offset of all
    tone = torch.stack([unit[:channels].sum(0), unit[channels]])
    return whole.subgroup(group, unit[:channels] if group == "gains" else tone)
