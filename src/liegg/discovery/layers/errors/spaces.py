"""How a motion of the input moves the tensors inside a network: as feature maps, or not at all."""

from dataclasses import dataclass, field

from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import PixelMotion


@dataclass(frozen=True)
class Space:
    """A tensor per sample: a feature map, or a vector, which the motion does not move.

    Attributes:
        view: shape with channels first, `(c, *sides)`; empty for a vector.
        pitch: pixels of the network's input per pixel, per axis.
    """

    view: tuple[int, ...] = ()
    pitch: tuple[float, ...] = ()

    @property
    def is_map(self) -> bool:
        """Whether it has places."""
        return bool(self.view)

    @property
    def sides(self) -> tuple[int, ...]:
        """Sides of the map."""
        return self.view[1:]

    def move(self, motion: PixelMotion, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Move tensors of this space; vectors stay."""
        if not self.is_map:
            return x
        return motion.move(x.reshape(len(x), *self.view), self.pitch).reshape(x.shape)

    def is_exact(self, motion: PixelMotion) -> bool:
        """Whether the motion takes pixels to pixels."""
        return not self.is_map or motion.is_exact(self.sides, self.pitch)

    def inside(self, motion: PixelMotion) -> Bool[Tensor, " p"] | None:
        """Pixels of a moved map whose content comes from inside; None for a vector."""
        return motion.inside(self.sides, self.pitch) if self.is_map else None


@dataclass(frozen=True)
class Spaces:
    """The spaces of a network: maps of equal sides have equal pitch.

    Attributes:
        sample: shape of a sample.
        view: the same with channels first.
        pitches: pitch of the maps that were met, by their sides; grows as layers are met.
        latest: sides of the map that was met last, in a list of one.
    """

    sample: tuple[int, ...]
    view: tuple[int, ...]
    pitches: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict)
    latest: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pitches[self.view[1:]] = (1.0,) * len(self.view[1:])
        self.latest.append(self.view[1:])

    def of(
        self, shape: tuple[int, ...], before: Space | None = None, step: tuple[float, ...] = ()
    ) -> Space | None:
        """The space of tensors of a shape; None if they have places whose pitch is not known.

        Args:
            shape: shape of one sample's tensor.
            before: space of the input of the layer that returns them; None if it is not known.
            step: pixels of that input per pixel, where the class of the layer tells.
        """
        if shape == self.sample:
            return Space(self.view, self.pitches[self.view[1:]])
        d = len(self.view) - 1
        bare = len(shape) == d == len(self.sample)  # maps without channels, as the samples are
        view = (1, *shape) if bare else shape
        if len(view) != d + 1 or max(view[1:]) < 2:
            return Space()
        sides = view[1:]
        if sides not in self.pitches:
            old = self.latest[-1] if before is None or not before.is_map else before.sides
            step = step or _ratios(old, sides)
            if not step:
                return None
            self.pitches[sides] = tuple(p * s for p, s in zip(self.pitches[old], step, strict=True))
        self.latest[:] = [sides]
        return Space(view, self.pitches[sides])


def _ratios(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[float, ...]:
    """How many pixels of one map make one of another; empty if that differs between the axes.

    >>> _ratios((32, 32), (15, 15)), _ratios((8, 8), (16, 16)), _ratios((56, 56), (56, 96))
    ((2.0, 2.0), (0.5, 0.5), ())
    """
    steps = tuple(
        float(max(1, round(a / b))) if a >= b else 1 / max(1, round(b / a))
        for a, b in zip(old, new, strict=True)
    )
    return steps if len(set(steps)) == 1 else ()
