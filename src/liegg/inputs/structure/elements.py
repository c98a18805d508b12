"""Elements of structured data, each a sample, a batch or several graphs joined, as leaves of samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils.data import DataLoader, default_collate, default_convert

from liegg._utils.errors import ArgumentError, DataError, DtypeError, ShapeError
from liegg.inputs.structure.graphs import BATCH, numbers_nodes, split_graphs
from liegg.inputs.structure.layout import Chunk
from liegg.inputs.structure.tree import (
    as_path,
    check_no_columns,
    describe,
    find,
    is_array,
    is_graph,
    is_named_tuple,
    is_numeric,
    leaves,
    tensors,
)

Fit = Callable[[tuple[int, ...]], None]
"""Raises `ShapeError` unless an action can move a sample of this shape."""

Kind = Literal["sample", "batch", "graphs"]

MASK = "mask"
"""Part of the name of an argument that takes the mask of padded clouds."""


@dataclass(frozen=True)
class Reader:
    """How elements of the data are read.

    Attributes:
        kind: an element is a sample, a batch with samples along the first axis, or graphs joined to one.
        labelled: whether an element is a pair of a tree and labels, which are ignored.
        paths: leaves that are moved.
        listed: whether elements are lists of what the rest says.
    """

    kind: Kind
    labelled: bool
    paths: tuple[str, ...]
    listed: bool = False

    def tree(self, element: Any) -> Any:
        """The tree of an element, without labels; of the first one of a list."""
        element = element[0] if self.listed else element
        return element[0] if self.labelled else element

    def plain_values(self, element: Any) -> list[dict[str, Any]]:
        """The values of an element that are not tensors, for each of its trees; all samples must share them."""
        if self.listed:
            one = replace(self, listed=False)
            return [values for tree in element for values in one.plain_values(tree)]
        found = leaves(self.tree(element))
        return [{path: leaf for path, leaf in found if not is_numeric(leaf)}]

    def chunk(self, element: Any, number: int = 0) -> Chunk:
        """Leaves of the samples of an element.

        Args:
            element: of the data.
            number: its place there, for messages.

        Raises:
            DataError: leaves that do not belong together, or a sample without points.
        """
        if self.listed:
            chunks = list(map(replace(self, listed=False).chunk, element))
            return joined_samples([{p: v[0] for p, v in one.items()} for one in chunks])
        tree = self.tree(element)
        chunk = self._leaves(tree)
        for path in self.paths:
            values = chunk[path]
            sizes = [one.numel() for one in values] if not isinstance(values, Tensor) else []
            if 0 in sizes or (isinstance(values, Tensor) and not values.numel()):
                place = number if self.kind == "sample" else sizes.index(0) if 0 in sizes else 0
                raise _no_points(place, path, batch=self.kind != "sample")
        return chunk

    def _leaves(self, tree: Any) -> Chunk:
        if self.kind == "graphs":
            return joined_samples([tensors(one) for one in split_graphs(tree)])
        found = tensors(tree)
        for path in self.paths:
            if path not in found:
                find(tree, path)  # raises an error with those that there are
        for path, leaf in found.items():
            if leaf.is_nested and leaf.layout is torch.strided:
                raise DataError(
                    f"{path or 'data'!r} is a nested tensor of torch's old layout; expected the jagged one. Pass "
                    "torch.nested.nested_tensor(samples, layout=torch.jagged), or the list of samples."
                )
        if self.kind == "sample":
            return {path: [leaf] for path, leaf in found.items()}
        count = len(found[self.paths[0]])
        for path, leaf in found.items():
            if leaf.ndim and len(leaf) != count:
                raise ShapeError(
                    f"{path!r} has {len(leaf)} samples, {self.paths[0]!r} has {count}. All tensors of a batch need one "
                    "entry per sample along the first axis; keep what all samples share inside the model, or repeat it "
                    "with expand()."
                )
            if leaf.ndim == 0:
                raise ShapeError(
                    f"{path!r} is a single number in a batch; expected one entry per sample along the first "
                    "axis. Pass it as a Python number if all samples share it."
                )
        return {p: list(leaf.unbind()) if leaf.is_nested else leaf for p, leaf in found.items()}


def reader_for(
    element: Any, moves: Mapping[Any, Fit], *, complete: bool, clouds: bool = False
) -> Reader:
    """How to read data, from one of its elements.

    Args:
        element: the first one.
        moves: for every path, whether its action accepts a shape.
        complete: whether the element is all of the data.
        clouds: whether vectors along the first axis are points of one sample, where they might also be samples.

    Raises:
        ArgumentError: a path that does not exist.
        DtypeError: a leaf that is moved holds no real numbers.
        ShapeError: a leaf does not fit its action.
    """
    labelled = _is_labelled(element, moves)
    tree = element[0] if labelled else element
    paths = tuple(find(tree, path) for path in moves)
    found = tensors(tree)
    for path in paths:
        _check_real(path, found[path].dtype)
    kinds: list[Kind] = [
        _kind(tree, path, found, fit, complete=complete, clouds=clouds)
        for path, fit in zip(paths, moves.values(), strict=True)
    ]
    if len(set(kinds)) > 1:
        raise ShapeError(
            f"{paths[0]!r} looks like a {kinds[0]} and {paths[kinds.index(kinds[-1])]!r} like a {kinds[-1]}: the "
            f"tensors are {describe(tree)}. Give them the same leading axes."
        )
    return Reader(kinds[0], labelled, paths)


def is_list_of_samples(data: Any, element: Any) -> bool:
    """Whether the batches of a loader are lists of samples, because its own `collate_fn` leaves them so.

    A list of two may also be inputs and targets: two clouds are taken for samples only if they have different numbers of points. For the
    same reason pairs of a sample and its label are not taken where a batch has as many entries as they have.

    Args:
        data: the user's data.
        element: its first element.
    """
    if not isinstance(data, DataLoader) or data.collate_fn in (default_collate, default_convert):
        return False
    if not isinstance(element, list | tuple) or is_named_tuple(element) or not element:
        return False
    if data.batch_size is not None and len(element) > data.batch_size:
        return False
    if all(isinstance(one, tuple | list) and not is_named_tuple(one) for one in element):
        return all(one and len(one) != len(element) and _is_cloud(one[0]) for one in element)
    if all(map(_is_cloud, element)):
        return len({one.shape[1] for one in element}) == 1 and (
            len(element) > 2 or len({len(one) for one in element}) == len(element) == 2
        )
    return all(isinstance(one, Mapping) or is_graph(one) for one in element)


def _is_cloud(value: Any) -> bool:
    return is_array(value) and value.ndim == 2


def only_floating(tree: Any, fits: Callable[[tuple[int, ...]], bool], action: str) -> str:
    """The tensor of a tree that an action without a path moves: the only floating point one, or the only one that fits.

    Args:
        tree: a sample or a batch.
        fits: whether the action can move a tensor of a shape.
        action: the action as one would type it, for messages.

    Raises:
        ArgumentError: there is none, or several.
    """
    floating = {path: leaf for path, leaf in tensors(tree).items() if leaf.is_floating_point()}
    if len(floating) == 1:
        return next(iter(floating))
    if not floating:
        raise ArgumentError(
            f"a sample contains no floating point tensor ({describe(tree)}), so nothing can be moved. To ask about "
            "discrete inputs such as tokens or atomic numbers, ask at an inner point of the model, with at='embeddings' "
            "or the name of a layer."
        )
    fitting = [path for path, leaf in floating.items() if fits(_shape(leaf))]
    if len(fitting) == 1:
        return fitting[0]
    for path in fitting[:1]:
        check_no_columns(fitting, path.rpartition(".")[0])
    held = f"a sample holds {len(floating)} floating point tensors ({describe(tree)})"
    if not fitting:
        raise ArgumentError(
            f"{held}, and {action} fits none of them. Say which one moves, and how, for example "
            "action={'pos': liegg.Affine(3)} for points 'pos' [k, 3]."
        )
    raise ArgumentError(
        f"{held}, and {action} fits {', '.join(map(repr, fitting))}; say which one moves, for example "
        f"action={{{fitting[0]!r}: {action}}}. One action object for several of them moves these together."
    )


def fits_leaf(fit: Fit, shape: tuple[int, ...]) -> bool:
    """Whether an action can move a tensor, which is a sample or a batch of samples."""
    return _fits(fit, shape) or _fits(fit, shape[1:])


def _no_points(place: int, path: str, *, batch: bool) -> ShapeError:
    which = f"sample {place}{' of a batch' if batch else ''} has no points{f' in {path!r}' if path else ''}"
    return ShapeError(f"{which}: an empty cloud or graph has nothing to move. Remove such samples.")


def _shape(leaf: Tensor) -> tuple[int, ...]:
    """Shape of a tensor; one of any number of points has one point."""
    return (len(leaf), 1, *leaf.shape[2:]) if leaf.is_nested else tuple(leaf.shape)


def joined_samples(samples: Sequence[Mapping[str, Tensor]]) -> dict[str, list[Tensor]]:
    """Leaves of several samples, path by path.

    Raises:
        ShapeError: samples that do not have the same leaves.
    """
    paths = samples[0].keys() if samples else ()
    for number, sample in enumerate(samples):
        if sample.keys() != paths:
            other = sorted(set(sample) ^ set(paths))[0]
            raise ShapeError(
                f"sample {number} and sample 0 do not have the same tensors: {other!r} is in one of them only. "
                "Every sample needs the same ones."
            )
    return {path: [sample[path] for sample in samples] for path in paths}


def _is_labelled(element: Any, moves: Mapping[Any, Fit]) -> bool:
    """Whether an element is a tree with labels, as Datasets give them: the paths are inside its first entry."""
    if not isinstance(element, tuple | list) or hasattr(element, "_fields") or not element:
        return False
    inside, outside = dict(leaves(element[0])), dict(leaves(element))
    return all(path in inside and path not in outside for path in map(as_path, moves))


def _check_real(path: str, dtype: torch.dtype) -> None:
    """Raise `DtypeError` for a leaf that cannot be moved."""
    if dtype.is_floating_point and dtype.itemsize >= 2:
        return
    advice = "Split it into real and imaginary parts."
    if not dtype.is_complex:
        advice = (
            "Leave it to the context, where it stays. To ask about discrete inputs such as tokens or atomic numbers, "
            "ask at an inner point of the model, with at='embeddings' or the name of a layer."
        )
    raise DtypeError(f"{path!r} has dtype {dtype}, which cannot be moved. {advice}")


def _kind(
    tree: Any, path: str, found: Mapping[str, Tensor], fit: Fit, *, complete: bool, clouds: bool
) -> Kind:
    """What an element is, from one of the leaves that are moved."""
    leaf, batch = found[path], found.get(BATCH)
    if leaf.is_nested:
        return "batch"
    if batch is not None and batch.ndim == 1 and not batch.is_floating_point():
        edges = {one.shape[-1] for name, one in found.items() if numbers_nodes(tree, name, one)}
        if len(leaf) not in (len(batch), *edges):
            raise ShapeError(
                f"'batch' has {len(batch)} entries and {path!r} has shape {tuple(leaf.shape)}; expected one graph "
                "number per node."
            )
        return "graphs"
    if not leaf.numel():
        raise _no_points(0, path, batch=False)
    if hasattr(tree, "_slice_dict"):
        raise ShapeError(
            "the data holds graphs that were joined without the vector 'batch', as PyG does if it does not know how many nodes "
            "they have, because there are several sets of nodes. Pass the list of graphs, or a Dataset of them, and a model of "
            "one graph."
        )
    shape = tuple(leaf.shape)
    alone, either = _fits(fit, shape), _fits(fit, shape[1:])
    uneven = [other for other, one in found.items() if one.ndim and len(one) != len(leaf)]
    single = not complete and (clouds or any(one.ndim == 0 for one in found.values()))
    if is_graph(tree) or (alone and (not either or uneven or single)):
        if complete and either and uneven and not is_graph(tree):
            raise ShapeError(
                f"{path!r} has {len(leaf)} entries along the first axis, {uneven[0]!r} has {len(found[uneven[0]])}. Give "
                "every tensor one entry per sample; or pass a list of samples, or graphs joined with 'batch', the number "
                "of the graph of every node."
            )
        if complete:
            other = next(iter(uneven), None)
            lengths = (
                ""
                if other is None
                else f" ({len(leaf)} entries along the first axis of {path!r}, {len(found[other])} of {other!r})"
            )
            raise ShapeError(
                f"the data is one sample: {describe(tree)}{lengths}, without a vector 'batch'. Pass a list of samples, or "
                "several graphs joined with 'batch', the number of the graph of every node."
            )
        return "sample"
    if not either and uneven and not complete:
        fit(shape)
        return "sample"
    fit(shape[1:])
    return "batch"


def _fits(fit: Fit, shape: tuple[int, ...]) -> bool:
    try:
        fit(shape)
    except ShapeError:
        return False
    return True
