"""Graphs that are joined to one, as PyG does it: which leaves number the nodes, and what belongs to which graph."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from liegg._utils.errors import DataError, ShapeError
from liegg.inputs.structure.tree import is_graph, tensors

BATCH, POINTER = "batch", "ptr"
"""Leaves of joined graphs: the graph of every node, and where each graph begins."""

EDGE = "edge"
"""How names of leaves with one entry per edge begin."""


def numbers_nodes(tree: Any, path: str, leaf: Tensor) -> bool:
    """Whether the values of a leaf number the nodes of a graph, so that they grow when graphs are joined.

    A graph of PyG says so itself (`__inc__`). Elsewhere the name decides, as it does there by default; but an
    entry for every node is a number of its own, such as `residue_index`, unless it stays within the graph.

    Args:
        tree: a sample, or graphs joined to one.
        path: of the leaf.
        leaf: its values in that tree.
    """
    if leaf.is_floating_point() or leaf.is_complex() or leaf.ndim == 0 or leaf.dtype is torch.bool:
        return False
    if is_graph(tree) and hasattr(tree, "__inc__") and "." not in path:
        step = tree.__inc__(path, leaf)
        return isinstance(step, int) and step == tree.num_nodes and step > 0
    name = path.rpartition(".")[2]
    if "index" not in name and name != "face":
        return False
    return leaf.ndim > 1 or not _per_entry(tensors(tree), leaf)


def _per_entry(found: Mapping[str, Tensor], leaf: Tensor) -> bool:
    """Whether a leaf with an index in its name is a number of every node or graph instead."""
    batch = found.get(BATCH)
    if batch is None:
        others = (one for one in found.values() if one is not leaf and one.is_floating_point())
        return any(one.ndim > 1 and len(one) == len(leaf) for one in others)
    inside = not len(leaf) or (int(leaf.min()) >= 0 and int(leaf.max()) < len(batch))
    if len(leaf) == len(batch):
        return not inside or not torch.equal(batch[leaf], batch)
    graphs = int(batch.max()) + 1
    own = torch.arange(graphs, device=leaf.device)
    return len(leaf) == graphs and not (inside and torch.equal(batch[leaf], own))


def split_graphs(tree: Any) -> list[Any]:
    """The graphs of a batch in which they are joined: as PyG splits them, or by the `batch` vector."""
    if is_graph(tree) and hasattr(tree, "to_data_list") and hasattr(tree, "_slice_dict"):
        return list(tree.to_data_list())
    found = tensors(tree)
    batch = found[BATCH]
    if bool((batch.diff() < 0).any()):
        raise DataError(
            "'batch' is not in ascending order: nodes of a graph must follow each other. Sort them; or give it another "
            "name, if it is not the number of the graph of every node."
        )
    if int(batch[0]) < 0:
        raise DataError(
            f"'batch' begins with {int(batch[0])}; expected the number of the graph of every node, from 0."
        )
    graphs = int(batch.max()) + 1
    nodes = torch.bincount(batch, minlength=graphs)
    if bool((nodes == 0).any()):
        empty = int((nodes == 0).nonzero()[0])
        raise ShapeError(
            f"graph {empty} of 'batch' has no nodes: an empty graph has nothing to move. Remove it."
        )
    starts = nodes.cumsum(0) - nodes
    edges = {
        path: _owners(path, leaf, batch, graphs)
        for path, leaf in found.items()
        if path not in (BATCH, POINTER) and numbers_nodes(tree, path, leaf)
    }
    parts: dict[str, list[Tensor]] = {}
    for path, leaf in found.items():
        if path in (BATCH, POINTER):
            continue
        if path in edges:
            pieces = leaf.split(edges[path], dim=-1)
            parts[path] = [piece - start for piece, start in zip(pieces, starts, strict=True)]
        else:
            parts[path] = list(leaf.split(_entries(path, leaf, nodes, edges)))
    return [{path: pieces[i] for path, pieces in parts.items()} for i in range(graphs)]


def beyond_nodes(path: str, numbers: Tensor, nodes: int) -> DataError:
    """The error of a leaf that numbers nodes which a graph does not have.

    Args:
        path: of the leaf.
        numbers: its values.
        nodes: how many there are.
    """
    return DataError(
        f"{path!r} holds {int(numbers.min())} to {int(numbers.max())}; expected numbers of the {nodes} nodes, from 0. Rename "
        "it, without 'index', if it does not number nodes."
    )


def _owners(path: str, index: Tensor, batch: Int[Tensor, " n"], graphs: int) -> list[int]:
    """How many entries of a leaf that numbers nodes belong to every graph."""
    flat = index.reshape(-1, index.shape[-1])
    if flat.numel() and not 0 <= int(flat.min()) <= int(flat.max()) < len(batch):
        raise beyond_nodes(path, flat, len(batch))
    owner = batch[flat]
    if bool((owner != owner[0]).any()) or bool((owner[0].diff() < 0).any()):
        raise DataError(
            f"edges of different graphs are mixed in {path!r}: those of a graph must follow each other, in the order "
            "of 'batch', and join nodes of one graph. Sort them; or rename it, without 'index', if it does not number "
            "nodes."
        )
    return torch.bincount(owner[0], minlength=graphs).tolist()


def _entries(
    path: str, leaf: Tensor, nodes: Int[Tensor, " g"], edges: Mapping[str, list[int]]
) -> list[int]:
    """How many entries of a leaf belong to every graph: one per edge, node or graph.

    Raises:
        ShapeError: none of these; or edges of several kinds that belong to different graphs.
    """
    length = len(leaf) if leaf.ndim else 0
    name = path.rpartition(".")[2]
    fitting = {index: counts for index, counts in edges.items() if sum(counts) == length}
    alike = {
        index: counts
        for index, counts in fitting.items()
        if name.partition("_")[0] == index.rpartition(".")[2].partition("_")[0]
    }
    total, graphs = int(nodes.sum()), len(nodes)
    if alike and length:
        return next(iter(alike.values()))
    if length == total:
        return nodes.tolist()
    if length == graphs:
        return [1] * graphs
    if fitting and length:
        if len({tuple(counts) for counts in fitting.values()}) == 1:
            return next(iter(fitting.values()))
        listed = ", ".join(map(repr, fitting))
        raise ShapeError(
            f"{path!r} has {length} entries, as {listed} have, which belong to different graphs. Begin its name with "
            "that of the one to which it belongs, for example 'edge_shift' for 'edge_index'."
        )
    raise ShapeError(
        f"{path!r} has shape {tuple(leaf.shape)}; expected one entry per node ({total}), per graph "
        f"({graphs}) or per edge along the first axis."
    )


def node_leaf(tree: Any, paths: tuple[str, ...]) -> str:
    """The leaf whose first axis counts the points of a sample: one that is moved, unless these have other entries.

    Args:
        tree: a sample, or graphs joined to one.
        paths: leaves that are moved.
    """
    found = tensors(tree)
    batch = found.get(BATCH)
    known = getattr(tree, "num_nodes", None) if is_graph(tree) else None
    count = len(batch) if batch is not None and batch.ndim == 1 else known
    held = (path for path in found if path not in paths and path not in (BATCH, POINTER))
    for path in (*paths, *held):
        leaf, name = found[path], path.rpartition(".")[2]
        if leaf.ndim == 0 or numbers_nodes(tree, path, leaf):
            continue
        several = path in paths or len(leaf) > 1
        if len(leaf) == count if count is not None else several and not name.startswith(EDGE):
            return path
    return paths[0]
