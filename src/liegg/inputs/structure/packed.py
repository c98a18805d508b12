"""Structured data as batches of rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import DataError, ShapeError
from liegg.inputs.checked_batch import check_reiterable, no_samples
from liegg.inputs.every_element import every_element, is_map_style
from liegg.inputs.structure.elements import (
    Fit,
    Reader,
    is_list_of_samples,
    joined_samples,
    reader_for,
)
from liegg.inputs.structure.graphs import EDGE, node_leaf, numbers_nodes
from liegg.inputs.structure.layout import Chunk, Layout, Leaf
from liegg.inputs.structure.tree import (
    as_path,
    is_graph,
    is_numeric,
    is_tree,
    leaves,
    rebuild,
    tensors,
)
from liegg.inputs.structure.varying import varying, varying_in_lists

FEW_SAMPLES = 0.1
"""Share of the samples up to which another number of entries than points is taken for a mistake."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Structured data whose batches are rows `[b, D]`.

    Attributes:
        data: the user's data.
        reader: how its elements are read.
        layout: where the leaves are in a row.
        chunk: all of the data, if it is one tree.
        start: position of the first sample, if samples can be indexed.
        stop: position after the last.
    """

    data: Any
    reader: Reader
    layout: Layout
    chunk: Chunk | None = None
    start: int = 0
    stop: int | None = None

    @property
    def indexed(self) -> bool:
        """Whether samples can be indexed."""
        return self.chunk is not None or (self.reader.kind == "sample" and _is_indexed(self.data))

    def __len__(self) -> int:
        if not self.indexed:
            raise TypeError("the number of samples is not known")
        stop = self.stop
        if stop is None:
            stop = len(self.data) if self.chunk is None else len(next(iter(self.chunk.values())))
        return stop - self.start

    def select(self, places: slice | list[int]) -> "Packed":
        """Some of the samples, as data of their own."""
        if isinstance(places, slice):
            first, last, _ = places.indices(len(self))
            return replace(self, start=self.start + first, stop=self.start + max(first, last))
        places = [self.start + place for place in places]
        if self.chunk is None:
            some = [self.data[place] for place in places]
            return replace(self, data=some, start=0, stop=None)
        chunk = {
            path: leaf[places] if isinstance(leaf, Tensor) else [leaf[place] for place in places]
            for path, leaf in self.chunk.items()
        }
        return replace(self, chunk=chunk, start=0, stop=None)

    def rows(self, start: int, stop: int) -> Float[Tensor, "b D"]:
        """The rows of a range of samples."""
        start, stop = self.start + start, self.start + min(stop, len(self))
        if self.chunk is not None:
            return self.layout.pack({path: leaf[start:stop] for path, leaf in self.chunk.items()})
        chunks = (self.reader.chunk(self.data[i]) for i in range(start, stop))
        samples = [{path: one[0] for path, one in chunk.items()} for chunk in chunks]
        return self.layout.pack(joined_samples(samples))

    def __iter__(self) -> Iterator[Float[Tensor, "b D"]]:
        for element in every_element(self.data):
            yield self.layout.pack(self.reader.chunk(element))


def first_element(data: Any, paths: Iterable[Any] = ()) -> tuple[Any, bool]:
    """The first element of structured data, and whether it is all of it.

    Args:
        data: the user's data.
        paths: leaves that are moved; they tell a list that is a sample from a list of samples.

    Raises:
        DataError: data that cannot be read again, or is empty.
    """
    check_reiterable(data)
    if isinstance(data, Tensor) or is_tree(data) or _is_sample(data, tuple(map(as_path, paths))):
        return data, True
    if not isinstance(data, Iterable) and not _is_indexed(data):
        raise DataError(
            f"data is a {type(data).__name__}; expected a tree of tensors, a list of samples, a Dataset or a DataLoader."
        )
    for element in every_element(data):
        return element, False
    raise no_samples(data)


def pack_data(data: Any, moves: Mapping[Any, Fit], *, clouds: bool = False) -> tuple[Packed, Any]:
    """Structured data as rows, and its first element, which shows how the model is called.

    All of the data is looked at first, because sizes may vary.

    Args:
        data: the user's data.
        moves: for every path that is moved, whether its action accepts a shape.
        clouds: as for `reader_for`.
    """
    element, complete = first_element(data, moves)
    listed = not complete and is_list_of_samples(data, element)
    # A list of samples holds no batches.
    one = element[0] if listed else element
    reader = reader_for(one, moves, complete=complete, clouds=clouds or listed)
    reader = replace(reader, listed=listed)
    first, shapes = reader.chunk(element), {}
    shared, differ = reader.plain_values(element)[0], {}
    lengths: dict[str, list[int]] = {path: [] for path in first}
    for number, one in enumerate([element] if complete else every_element(data)):
        for values in reader.plain_values(one):
            differ = varying(shared, values, number, first) | differ
        chunk = first if complete else reader.chunk(one, number)
        _note_shapes(shapes, chunk, number)
        if reader.kind == "sample":
            for path, values in chunk.items():
                lengths[path] += [one.shape[0] if one.ndim else 0 for one in values]
    samples = len(first[reader.paths[0]])
    if reader.kind != "sample":
        differ |= varying_in_lists(shared, samples, first)
    tree = reader.tree(element)
    tree = rebuild(tree, differ, samples) if differ else tree
    points = reader.paths[0] if first[reader.paths[0]][0].ndim > 1 else None
    if points is not None and reader.kind != "batch":
        points = node_leaf(tree, reader.paths)
    layout = Layout.of(
        [_leaf(path, values, shapes[path], reader, tree=tree) for path, values in first.items()],
        points,
    )
    _check_lengths(layout, lengths)
    return Packed(data, reader, layout, first if complete else None), tree


def _note_shapes(shapes: dict[str, set[tuple[int, ...]]], chunk: Chunk, number: int) -> None:
    """Add the shapes of the samples of an element."""
    if shapes and shapes.keys() != chunk.keys():
        other = sorted(set(shapes) ^ set(chunk))[0]
        raise ShapeError(
            f"element {number} of the data and those before it do not have the same tensors: {other!r} is in some "
            "of them only. Every sample needs the same ones."
        )
    for path, values in chunk.items():
        samples = values[:1] if isinstance(values, Tensor) else values  # stacked ones are alike
        shapes.setdefault(path, set()).update(tuple(one.shape) for one in samples)


def _check_lengths(layout: Layout, lengths: Mapping[str, list[int]]) -> None:
    """Raise `ShapeError` where a leaf has one entry per point in nearly all samples, and another number in a few.

    Joined graphs would mix their nodes. Entries of edges are as many as the nodes in some graphs.
    """
    points = layout.point_leaf
    if points is None:
        return
    for leaf in layout.leaves:
        name = leaf.path.rpartition(".")[2]
        if leaf.ragged != 0 or leaf.joined != 0 or leaf.indexes or name.startswith(EDGE):
            continue
        pairs = list(zip(lengths[leaf.path], lengths[points.path], strict=True))
        other = [number for number, (one, count) in enumerate(pairs) if one != count]
        if other and len(other) <= FEW_SAMPLES * len(pairs):
            one, count = pairs[other[0]]
            raise ShapeError(
                f"sample {other[0]} has {one} entries in {leaf.path!r} and {count} in {points.path!r}; {len(pairs) - len(other)} of "
                f"{len(pairs)} samples have equally many. Correct it, or leave it out."
            )


def _leaf(
    path: str,
    values: Tensor | Sequence[Tensor],
    shapes: set[tuple[int, ...]],
    reader: Reader,
    *,
    tree: Any,
) -> Leaf:
    """One leaf of the layout, without its columns."""
    one = values[0]
    if one.is_complex():
        raise DataError(
            f"{path!r} is complex; expected real numbers. Pass torch.view_as_real of it."
        )
    axes = {len(shape) for shape in shapes}
    vary = [a for a in range(one.ndim) if len({s[a] for s in shapes}) > 1] if len(axes) == 1 else []
    if len(axes) > 1 or len(vary) > 1:
        what = "numbers of axes" if len(axes) > 1 else "sizes along several axes"
        raise ShapeError(
            f"{path or 'the data'!r} has different {what} in different samples: {sorted(shapes)[:3]} and others. One axis may vary; "
            "pad the others."
        )
    largest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    ragged = vary[0] if vary else None
    if ragged is not None:
        largest.insert(0, largest.pop(ragged))
    joined, indexes = _join(path, one, reader, tree)
    return Leaf(
        path=path,
        shape=tuple(largest),
        dtype=str(one.dtype).removeprefix("torch."),
        moved=path in reader.paths,
        ragged=ragged,
        joined=joined,
        indexes=indexes,
    )


def _join(path: str, one: Tensor, reader: Reader, tree: Any) -> tuple[int | None, bool]:
    """Axis along which samples are joined to one graph, and whether values number points."""
    indexes = numbers_nodes(tree, path, tensors(tree)[path])
    axis: int | None = one.ndim - 1 if indexes and one.ndim > 1 else 0
    if is_graph(tree) and "." not in path:
        axis = tree.__cat_dim__(path, one)
        indexes = indexes and axis is not None
    if axis is None or one.ndim == 0:
        return None, indexes
    return axis % one.ndim, indexes


def _is_indexed(data: Any) -> bool:
    """Whether elements can be indexed."""
    return isinstance(data, list | tuple) or is_map_style(data)


def _is_sample(data: Any, paths: tuple[str, ...]) -> bool:
    """Whether a tuple or list is a tree with these paths, or a pair of one and labels."""
    if not isinstance(data, tuple | list) or not data:
        return False
    if any(path[:1].isdigit() for path in paths):
        inside = dict(leaves(data))
        return all(is_numeric(inside.get(path)) for path in paths)
    return isinstance(data, tuple) and is_tree(data[0]) and all(map(is_numeric, data[1:]))
