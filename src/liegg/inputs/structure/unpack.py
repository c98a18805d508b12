"""Rows as the tensors that a model takes, in the ways in which models take samples together; joined graphs as one entry per graph again."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.inputs.structure.elements import MASK
from liegg.inputs.structure.graphs import BATCH, POINTER, beyond_nodes
from liegg.inputs.structure.layout import Layout, Leaf


class Call(NamedTuple):
    """One call of a model.

    Attributes:
        leaves: what it takes, by path.
        rows: which samples these are; None for all.
        samples: their number.
    """

    leaves: dict[str, Any]
    rows: Int[Tensor, " k"] | None
    samples: int


def restore(values: Float[Tensor, "b ..."], leaf: Leaf, dtype: torch.dtype | None) -> Tensor:
    """Numbers of a leaf in its own type; only a leaf that is moved has derivatives.

    Args:
        values: as they are in rows.
        leaf: the leaf.
        dtype: floating point type of the model; None keeps that of the data.
    """
    if leaf.moved:
        return values.to(dtype or leaf.torch_dtype)
    values = values.detach()
    if leaf.floating:
        return values.to(dtype or leaf.torch_dtype)
    return values > 0.5 if leaf.dtype == "bool" else values.round().to(leaf.torch_dtype)


def stacked(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """Samples along a first axis; those of different sizes in calls of their own."""
    if not layout.ragged:
        values = {leaf.path: restore(layout.values(x, leaf), leaf, dtype) for leaf in layout.leaves}
        return [Call(values, None, len(x))]
    ragged = [leaf for leaf in layout.leaves if leaf.ragged is not None]
    sizes = torch.stack([layout.counts(x, leaf) for leaf in ragged], dim=1).tolist()
    groups: dict[tuple[int, ...], list[int]] = {}
    for row, size in enumerate(sizes):
        groups.setdefault(tuple(size), []).append(row)
    calls = []
    for size, members in groups.items():
        rows = torch.tensor(members, device=x.device)
        some, each = (
            x.index_select(0, rows),
            dict(zip((leaf.path for leaf in ragged), size, strict=True)),
        )
        leaves = {
            leaf.path: restore(_cut(layout.values(some, leaf), leaf, each), leaf, dtype)
            for leaf in layout.leaves
        }
        calls.append(Call(leaves, rows, len(members)))
    return calls


def single(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """One sample at a time, without an axis of samples."""
    calls = []
    for row in range(len(x)):
        (call,) = stacked(layout, x[row : row + 1], dtype)
        leaves = {path: leaf[0] for path, leaf in call.leaves.items()}
        calls.append(Call(leaves, torch.tensor([row], device=x.device), 1))
    return calls


def listed(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """Every leaf as a list with one tensor per sample."""
    calls = single(layout, x, dtype)
    leaves = {leaf.path: [call.leaves[leaf.path] for call in calls] for leaf in layout.leaves}
    return [Call(leaves, None, len(x))]


def nested(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """Ragged leaves as jagged tensors, the others stacked."""
    (lists,) = listed(layout, x, dtype)
    leaves = {
        leaf.path: torch.stack(lists.leaves[leaf.path])
        if leaf.ragged is None
        else torch.nested.as_nested_tensor(lists.leaves[leaf.path], layout=torch.jagged)
        for leaf in layout.leaves
    }
    return [Call(leaves, None, len(x))]


def padded(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """Ragged leaves padded with zeros, with a mask that is true where points exist."""
    leaves: dict[str, Any] = {}
    for leaf in layout.leaves:
        values = layout.values(x, leaf)
        values = values if leaf.ragged is None else values.movedim(1, 1 + leaf.ragged)
        leaves[leaf.path] = restore(values, leaf, dtype)
    points = layout.point_leaf
    if points is not None:
        present = layout.present(x, points)
        full = torch.ones(len(x), points.shape[0], dtype=torch.bool, device=x.device)
        leaves[MASK] = full if present is None else present
    return [Call(leaves, None, len(x))]


def joined(layout: Layout, x: Float[Tensor, "b D"], dtype: torch.dtype | None) -> list[Call]:
    """Graphs joined to one: nodes follow each other, `batch` numbers the graph of every node."""
    nodes = layout.counts(x, layout.point_leaf or layout.leaves[0])
    ends = nodes.cumsum(0)
    leaves: dict[str, Any] = {}
    for leaf in layout.leaves:
        values = layout.values(x, leaf)
        if leaf.joined is None:
            leaves[leaf.path] = restore(values, leaf, dtype)
            continue
        counts = joined_counts(layout, x, leaf)
        if leaf.ragged is None:
            flat = values.movedim(1 + leaf.joined, 1).flatten(0, 1)
        else:
            flat = values.flatten(0, 1).index_select(0, positions(counts, leaf.shape[0]))
        flat = restore(flat, leaf, dtype)
        if leaf.indexes:
            _check_numbers(layout, x, leaf, nodes)
            first = (ends - nodes).repeat_interleave(counts)
            flat = flat + first.reshape(-1, *[1] * (flat.ndim - 1)).to(flat.dtype)
        leaves[leaf.path] = flat.movedim(0, leaf.joined)
    numbers = torch.arange(len(x), device=x.device)
    leaves[BATCH] = numbers.repeat_interleave(nodes)
    leaves[POINTER] = torch.cat([ends.new_zeros(1), ends])
    return [Call(leaves, None, len(x))]


def _check_numbers(
    layout: Layout, x: Float[Tensor, "b D"], leaf: Leaf, nodes: Int[Tensor, " b"]
) -> None:
    """Raise `DataError` for a graph whose edges join nodes that it does not have: they would be those of another graph."""
    values = layout.values(x, leaf).detach().flatten(1)
    if not values.shape[1]:
        return
    low, high = values.aminmax(dim=1)
    bad = ((low < 0) | (high >= nodes)).nonzero().flatten().tolist()
    if bad:
        raise beyond_nodes(leaf.path, values[bad[0]], int(nodes[bad[0]]))


def positions(counts: Int[Tensor, " b"], size: int) -> Int[Tensor, " n"]:
    """Where the points of all samples are among `size` places per sample.

    >>> positions(torch.tensor([1, 3]), 4)
    tensor([0, 4, 5, 6])
    """
    present = torch.arange(size, device=counts.device) < counts[:, None]
    return present.flatten().nonzero().flatten()


def fold(
    layout: Layout,
    x: Float[Tensor, "b D"],
    y: Float[Tensor, "n ..."],
    leaf: Leaf,
    *,
    size: int | None = None,
) -> Float[Tensor, "b m ..."]:
    """Entries per node or per edge as one entry per graph, padded with zeros.

    Args:
        layout: where the leaves are in a row.
        x: the graphs as rows.
        y: one entry per point of a leaf, of all graphs.
        leaf: the leaf.
        size: entries per graph, with padding; by default the largest number of points.

    Raises:
        ShapeError: another number of entries.
    """
    counts = joined_counts(layout, x, leaf)
    size = size or largest(leaf)
    if y.ndim == 0 or y.shape[0] != int(counts.sum()):
        raise ShapeError(
            f"the model returned shape {tuple(y.shape)} for {len(x)} graphs with {int(counts.sum())} points together; "
            "expected one entry per point, as for the graphs before."
        )
    out = y.new_zeros(len(x) * size, *y.shape[1:]).index_copy(0, positions(counts, size), y)
    return out.unflatten(0, (len(x), size))


def fold_any(layout: Layout, x: Float[Tensor, "b D"], y: Tensor) -> Tensor:
    """The output of a layer with one entry per graph: it has entries per graph, per node or per edge.

    All are padded to the same size, because a graph with as many edges as nodes does not tell them apart.
    """
    if y.ndim == 0 or y.shape[0] == len(x):
        return y
    joined = [leaf for leaf in layout.leaves if leaf.joined is not None and leaf.shape]
    size = max(map(largest, joined))
    for leaf in (layout.point_leaf or joined[0], *joined):
        if y.shape[0] == int(joined_counts(layout, x, leaf).sum()):
            return fold(layout, x, y, leaf, size=size)
    return y


def joined_counts(layout: Layout, x: Float[Tensor, "b D"], leaf: Leaf) -> Tensor:
    """Entries of a leaf along the axis on which graphs are joined, for every graph."""
    if leaf.ragged is None:
        return torch.full((len(x),), largest(leaf), device=x.device)
    return layout.counts(x, leaf)


def largest(leaf: Leaf) -> int:
    """Most entries of a leaf along the axis on which graphs are joined."""
    return leaf.shape[leaf.joined or 0] if leaf.ragged is None else leaf.shape[0]


def _cut(
    values: Float[Tensor, "b ..."], leaf: Leaf, sizes: dict[str, int]
) -> Float[Tensor, "b ..."]:
    """A leaf of samples of one size, without padding and with its axes in their own order."""
    if leaf.ragged is None:
        return values
    return values[:, : sizes[leaf.path]].movedim(1, 1 + leaf.ragged)


MODES = {
    "stacked": stacked,
    "joined": joined,
    "single": single,
    "listed": listed,
    "nested": nested,
    "padded": padded,
}
"""Ways in which models take samples together."""
