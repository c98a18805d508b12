"""Where the numbers of a structured sample are in a row of numbers.

The analysis works on one tensor `[b, D]`, a row per sample, in float64. A row holds the leaves that are moved,
then the context (integers, masks and other numbers that stay), then how many points each ragged leaf has.
Integers up to 2⁵³ are exact there, so that every leaf comes back as it was.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from liegg._utils.errors import DtypeError, ShapeError

EXACT_INTEGER = 2**53
"""Integers up to this are exact in float64."""

Chunk = Mapping[str, "Tensor | Sequence[Tensor]"]
"""Leaves of some samples by path: stacked along the first axis, or one tensor per sample."""


@dataclass(frozen=True)
class Leaf:
    """One tensor of a sample, and its place in a row.

    Attributes:
        path: where it is in the tree.
        shape: shape in a sample, with the axis that varies first and at its largest size.
        dtype: name of its type, such as `float32`.
        moved: whether an action moves it.
        ragged: axis whose size varies between samples; None for none.
        joined: axis along which graphs are concatenated; None if samples are stacked.
        indexes: whether its values number the points of the sample, as `edge_index` does.
        mask: path of the leaf that says which points exist; empty for all of them.
        padding: whether the mask is true for padding instead.
        start: first column.
        count: column with the size of the ragged axis; None if it does not vary.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    moved: bool = False
    ragged: int | None = None
    joined: int | None = None
    indexes: bool = False
    mask: str = ""
    padding: bool = False
    start: int = 0
    count: int | None = None

    @property
    def numbers(self) -> int:
        """Numbers in a sample, with padding."""
        return torch.Size(self.shape).numel()

    @property
    def stop(self) -> int:
        """Column after the last."""
        return self.start + self.numbers

    @property
    def torch_dtype(self) -> torch.dtype:
        """Its type."""
        return getattr(torch, self.dtype)

    @property
    def floating(self) -> bool:
        """Whether it holds real numbers."""
        return self.torch_dtype.is_floating_point


@dataclass(frozen=True)
class Layout:
    """The leaves of a sample in the order of their columns.

    Attributes:
        leaves: those that are moved, then the context.
        points: path of the leaf whose first axis counts the points (nodes, atoms) of a sample; None if
            samples have none.
    """

    leaves: tuple[Leaf, ...]
    points: str | None = None

    @classmethod
    def of(cls, leaves: Sequence[Leaf], points: str | None = None) -> "Layout":
        """Give every leaf its columns."""
        ordered = sorted(leaves, key=lambda leaf: not leaf.moved)  # stable
        placed, start = [], 0
        for leaf in ordered:
            placed.append(replace(leaf, start=start))
            start += leaf.numbers
        counted = []
        for leaf in placed:
            counted.append(replace(leaf, count=None if leaf.ragged is None else start))
            start += leaf.ragged is not None
        return cls(tuple(counted), points)

    def without(self, paths: Collection[str]) -> "Layout":
        """The layout without some of the leaves that stay."""
        needed = {self.points, *(leaf.path for leaf in self.moved)}
        kept = [leaf for leaf in self.leaves if leaf.path in needed or leaf.path not in paths]
        masks = {leaf.path for leaf in kept}
        shown = [leaf if leaf.mask in masks else replace(leaf, mask="") for leaf in kept]
        return Layout.of(shown, self.points)

    def masked_like(self, other: "Layout") -> "Layout":
        """The layout with the masks that the leaves of another one have."""
        masks = {leaf.path: (leaf.mask, leaf.padding) for leaf in other.leaves if leaf.mask}
        shown = []
        for leaf in self.leaves:
            mask, padding = masks.get(leaf.path, ("", False))
            known = mask in self.by_path
            shown.append(replace(leaf, mask=mask, padding=padding) if known else leaf)
        return replace(self, leaves=tuple(shown))

    def __deepcopy__(self, memo: Any) -> "Layout":
        return self

    @cached_property
    def width(self) -> int:
        """Number of columns."""
        return sum(leaf.numbers + (leaf.ragged is not None) for leaf in self.leaves)

    @cached_property
    def by_path(self) -> dict[str, Leaf]:
        """Leaves by path."""
        return {leaf.path: leaf for leaf in self.leaves}

    @property
    def point_leaf(self) -> Leaf | None:
        """The leaf that counts the points."""
        return None if self.points is None else self.by_path[self.points]

    @property
    def moved(self) -> tuple[Leaf, ...]:
        """Leaves that are moved."""
        return tuple(leaf for leaf in self.leaves if leaf.moved)

    @property
    def held(self) -> tuple[Leaf, ...]:
        """Leaves that stay."""
        return tuple(leaf for leaf in self.leaves if not leaf.moved)

    @property
    def ragged(self) -> bool:
        """Whether sizes vary between samples."""
        return any(leaf.ragged is not None for leaf in self.leaves)

    @property
    def moves_ragged(self) -> bool:
        """Whether what is moved has another number of points in other samples."""
        return any(leaf.ragged is not None or leaf.mask for leaf in self.moved)

    # Reading rows

    def values(self, x: Float[Tensor, "b D"], leaf: Leaf) -> Float[Tensor, "b ..."]:
        """The numbers of a leaf, with padding."""
        return x[:, leaf.start : leaf.stop].reshape(x.shape[0], *leaf.shape)

    def counts(self, x: Float[Tensor, "b D"], leaf: Leaf) -> Int[Tensor, " b"]:
        """Size of the first axis of a leaf in every sample."""
        if leaf.count is None:
            size = leaf.shape[0] if leaf.shape else 1
            return torch.full((x.shape[0],), size, device=x.device)
        return x[:, leaf.count].detach().round().long()

    def present(self, x: Float[Tensor, "b D"], leaf: Leaf) -> Bool[Tensor, "b n"] | None:
        """Which points of a leaf exist; None for all."""
        present = None
        if leaf.count is not None:
            places = torch.arange(leaf.shape[0], device=x.device)
            present = places < self.counts(x, leaf)[:, None]
        if leaf.mask:
            mask = self.values(x, self.by_path[leaf.mask]).detach().flatten(1) > 0.5
            mask = ~mask if leaf.padding else mask
            present = mask if present is None else present & mask
        return present

    def movable(self, x: Float[Tensor, "b D"], paths: Sequence[str]) -> Bool[Tensor, "b D"]:
        """Which numbers of the samples belong to points of some leaves that exist."""
        out = torch.zeros(x.shape, dtype=torch.bool, device=x.device)
        for path in paths:
            leaf = self.by_path[path]
            present = self.present(x, leaf)
            columns = out[:, leaf.start : leaf.stop].view(len(x), *leaf.shape)
            columns[...] = True if present is None else _spread(present, len(leaf.shape))
        return out

    def replaced(
        self, x: Float[Tensor, "b D"], values: Mapping[str, Float[Tensor, "b ..."]]
    ) -> Float[Tensor, "b D"]:
        """Rows with other numbers in some leaves, where their points exist."""
        pieces, end = [], 0
        for leaf in self.leaves:  # in the order of their columns
            if leaf.path not in values:
                continue
            old, new = self.values(x, leaf), values[leaf.path].to(x.dtype)
            present = self.present(x, leaf)
            if present is not None:
                new = torch.where(_spread(present, len(leaf.shape)), new, old)
            pieces += [x[:, end : leaf.start], new.reshape(x.shape[0], -1)]
            end = leaf.stop
        return torch.cat([*pieces, x[:, end:]], dim=1)

    # Making rows

    def pack(self, chunk: Chunk) -> Float[Tensor, "b D"]:
        """Rows of samples.

        Args:
            chunk: their leaves.

        Raises:
            ShapeError: a leaf has another shape than in the samples of the layout.
            DtypeError: another type, or an integer that float64 does not hold.
        """
        columns = [_padded(chunk[leaf.path], leaf) for leaf in self.leaves]
        sizes = [
            _sizes(chunk[leaf.path], leaf, like=columns[0])
            for leaf in self.leaves
            if leaf.ragged is not None
        ]
        return torch.cat([*columns, *sizes], dim=1)

    # On disk

    def settings(self) -> dict[str, Any]:
        """The layout as JSON values."""
        leaves = [asdict(leaf) | {"shape": list(leaf.shape)} for leaf in self.leaves]
        return {"leaves": leaves, "points": self.points}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "Layout":
        """The layout that `settings` described."""
        leaves = (Leaf(**leaf | {"shape": tuple(leaf["shape"])}) for leaf in settings["leaves"])
        return cls(tuple(leaves), settings["points"])


def _spread(present: Bool[Tensor, "b n"], axes: int) -> Bool[Tensor, "b n ..."]:
    """A mask of points with further axes of size 1."""
    return present.reshape(*present.shape, *[1] * (axes - present.ndim + 1))


def _padded(values: Tensor | Sequence[Tensor], leaf: Leaf) -> Float[Tensor, "b m"]:
    """The numbers of a leaf of several samples, each padded with zeros."""
    stacked = isinstance(values, Tensor)
    pieces = [values] if stacked else list(values)
    if leaf.ragged is not None:  # the axis that varies comes first
        pieces = [one.movedim(leaf.ragged + stacked, int(stacked)) for one in pieces]
    for one in pieces:
        _check(tuple(one.shape[stacked:]), one.dtype, leaf)
    if leaf.ragged is None:
        front = pieces[0] if stacked else torch.stack(pieces)
    else:
        front = pieces[0] if stacked else pad_sequence(pieces, True)
        front = pad(front, (0, 0) * (front.ndim - 2) + (0, leaf.shape[0] - front.shape[1]))
    if front.dtype is torch.int64 and front.numel() and int(front.abs().max()) > EXACT_INTEGER:
        raise DtypeError(
            f"{leaf.path!r} holds an integer above 2⁵³, which is not kept exactly. Leave it out of the samples."
        )
    return front.reshape(len(front), -1).double()


def _check(shape: tuple[int, ...], dtype: torch.dtype, leaf: Leaf) -> None:
    """Raise an error for a leaf of another shape or type than that of the layout."""
    fixed, wanted = (size if leaf.ragged is None else size[1:] for size in (shape, leaf.shape))
    too_many = leaf.ragged is not None and shape[:1] > leaf.shape[:1]
    if fixed != wanted or too_many:
        raise ShapeError(
            f"{leaf.path!r} has shape {shape} in a sample; expected {leaf.shape}"
            f"{' at most' if leaf.ragged is not None else ', as in the samples before it'}. "
            "Pad it in all samples, or pass samples one by one in a list."
        )
    if dtype is not leaf.torch_dtype:
        raise DtypeError(
            f"{leaf.path!r} has dtype {dtype} in a sample, and {leaf.dtype} in those before it. Every sample needs "
            "the same types."
        )


def _sizes(values: Tensor | Sequence[Tensor], leaf: Leaf, *, like: Tensor) -> Float[Tensor, "b 1"]:
    """How many points a leaf has in every sample."""
    axis = leaf.ragged or 0
    if isinstance(values, Tensor):
        return like.new_full((len(values), 1), values.shape[axis + 1])
    return like.new_tensor([one.shape[axis] for one in values])[:, None]
