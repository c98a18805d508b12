"""What a model returns for graphs that are joined to one, with one entry per graph again."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.inputs.structure.layout import Layout, Leaf
from liegg.inputs.structure.unpack import positions


def fold(
    layout: Layout,
    x: Float[Tensor, "b D"],
    y: Float[Tensor, "n ..."],
    leaf: Leaf,
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
            return fold(layout, x, y, leaf, size)
    return y


def joined_counts(layout: Layout, x: Float[Tensor, "b D"], leaf: Leaf) -> Tensor:
    """Entries of a leaf along the axis on which graphs are joined, for every graph."""
    if leaf.ragged is None:
        return torch.full((len(x),), largest(leaf), device=x.device)
    return layout.counts(x, leaf)


def largest(leaf: Leaf) -> int:
    """Most entries of a leaf along the axis on which graphs are joined."""
    return leaf.shape[leaf.joined or 0] if leaf.ragged is None else leaf.shape[0]
