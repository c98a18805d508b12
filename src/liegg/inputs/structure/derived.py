"""Held leaves that were computed from points that move: copies of them, differences and distances.

They do not follow the points, so that the model is asked about samples that do not occur.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.unpack import single

CLOSE = 1e-4
"""Difference, relative to the largest number, up to which numbers are those computed from the points."""

FEWEST_ENTRIES = 6
"""Entries of a leaf in all samples that agree not by chance."""


class Form(NamedTuple):
    """What may have been computed from points.

    Attributes:
        what: its name.
        turns: whether it rotates with the points and does not follow translations, as differences do.
        values: the numbers.
    """

    what: str
    turns: bool
    values: Float[Tensor, "... k"]


class Derived(NamedTuple):
    """A held leaf that was computed from points.

    Attributes:
        leaf: its path.
        moved: path of the points.
        what: what it holds.
        turns: as for `Form`.
    """

    leaf: str
    moved: str
    what: str
    turns: bool


def derived_leaves(layout: Layout, rows: Float[Tensor, "b D"]) -> list[Derived]:
    """Held leaves that were computed from points that move.

    Args:
        layout: where the leaves are in a row.
        rows: a few samples.

    Examples:
        >>> from liegg.inputs.structure.layout import Leaf
        >>> points, other = Leaf("pos", (3, 2), "float64", moved=True), Leaf("x", (3, 2), "float64")
        >>> pos = torch.randn(4, 3, 2)
        >>> rows = torch.cat([pos, pos - pos.mean(1, keepdim=True)], 1).flatten(1)
        >>> derived_leaves(Layout.of([points, other], "pos"), rows.double())
        [Derived(leaf='x', moved='pos', what='centred points', turns=True)]
    """
    samples = [call.leaves for call in single(layout, rows, None)]
    found = []
    for moved in layout.moved:
        if len(moved.shape) != 2 or moved.shape[1] < 2:
            continue
        for leaf in layout.held:
            entries = sum(len(sample[leaf.path]) for sample in samples if leaf.shape)
            if not leaf.floating or entries < FEWEST_ENTRIES:
                continue
            fitting = [_fitting(layout, sample, leaf.path, moved.path) for sample in samples]
            both = [what for what in fitting[0] if all(what in other for other in fitting[1:])]
            if both:
                found.append(Derived(leaf.path, moved.path, both[0], fitting[0][both[0]]))
    return found


def derived_remarks(
    layout: Layout, rows: Float[Tensor, "b D"], unused: Collection[str]
) -> list[Remark]:
    """Warnings about leaves that were held, although they were computed from what moves.

    Args:
        layout: where the leaves are in a row.
        rows: a few samples.
        unused: leaves that the model does not take.
    """
    remarks = []
    for one in derived_leaves(layout, rows):
        follows = f"{{{one.moved!r}: A, {one.leaf!r}: {'A.vectors' if one.turns else 'A'}}}"
        advice = f", or move it too: action={follows} with A = liegg.Affine(...)"
        if one.leaf not in unused:
            remarks.append(
                Diagnosis.DERIVED_LEAF(
                    leaf=repr(one.leaf),
                    what=one.what,
                    moved=repr(one.moved),
                    advice="" if "distances" in one.what else advice,
                )
            )
    return remarks


def _fitting(
    layout: Layout, sample: Mapping[str, Tensor], path: str, moved: str
) -> dict[str, bool]:
    """What a leaf of one sample may hold, and whether that turns with the points."""
    values, points = sample[path].double(), sample[moved].double()
    return {
        form.what: form.turns
        for form in _forms(layout, sample, values, points)
        if _inside(values, form.values)
    }


def _forms(
    layout: Layout, sample: Mapping[str, Tensor], values: Tensor, points: Tensor
) -> Iterator[Form]:
    """What may have been computed from the points of a sample, with as many entries as a leaf has."""
    count = len(points)
    if len(values) == count:
        yield Form("points", False, points)
        yield Form("centred points", True, points - points.mean(0))
    if values.shape[:2] == (count, count):
        yield from _between(points[:, None] - points)
        yield from _between(points - points[:, None])
    for leaf in layout.leaves:
        edges = sample[leaf.path]
        if leaf.indexes and edges.ndim == 2 and len(edges) == 2 and edges.shape[1] == len(values):
            if not 0 <= int(edges.min()) <= int(edges.max()) < count:
                continue
            yield from _between(points[edges[0]] - points[edges[1]])
            yield from _between(points[edges[1]] - points[edges[0]])


def _between(differences: Float[Tensor, "... k"]) -> Iterator[Form]:
    lengths = differences.norm(dim=-1, keepdim=True)
    yield Form("differences", True, differences)
    yield Form("directions", True, differences / lengths.clamp_min(torch.finfo(lengths.dtype).tiny))
    yield Form("distances", False, lengths)
    yield Form("squared distances", False, lengths.square())


def _inside(values: Float[Tensor, "... c"], form: Float[Tensor, "... k"]) -> bool:
    """Whether a form is among the columns of a leaf, side by side."""
    if values.ndim == form.ndim - 1 and form.shape[-1] == 1:
        values = values[..., None]
    if values.ndim != form.ndim or not form.numel():
        return not form.numel()
    size = form.abs().max()
    width = form.shape[-1]
    return bool(size > 0) and any(
        bool((values[..., start : start + width] - form).abs().max() <= CLOSE * size)
        for start in range(values.shape[-1] - width + 1)
    )
