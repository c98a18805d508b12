"""Which leaf says which points of a sample are padding: by its name, and as the model treats these points.

A name alone does not tell padding from a feature of points. What is called padding must not change the output
when it is moved; or all of it is the same point, such as zeros, on which a model may rely.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ShapeError
from liegg.inputs.structure.layout import Layout, Leaf
from liegg.inputs.structure.tree import leaves

EXISTS = (
    "mask",
    "attention_mask",
    "node_mask",
    "atom_mask",
    "point_mask",
    "valid_mask",
    "token_mask",
    "valid",
)
"""Names of leaves that are true where points exist, the most telling first."""

ABSENT = ("padding_mask", "key_padding_mask", "src_key_padding_mask", "pad_mask", "padding")
"""Names of leaves that are true for padding."""

NAMES = EXISTS + ABSENT
"""Names of masks."""

TRIED_PADDED = 128
"""Samples with padding on which the output is compared."""

AT_ONCE = 16
"""Samples of one call."""

UNCHANGED_UNITS = 1000
"""Rounding units of the output up to which it is the same."""

NOISES = 3.0
"""Differences between two calls on the same samples up to which it is the same."""

Run = Callable[[Float[Tensor, "b D"]], Any]
"""What the model returns for rows."""


class Candidate(NamedTuple):
    """A leaf that may be a mask of the points of another one.

    Attributes:
        mask: the leaf.
        padding: whether it is true for padding instead.
        named: whether it has the name of a mask.
        alike: whether it has one entry per point.
    """

    mask: Leaf
    padding: bool
    named: bool
    alike: bool


def candidates(leaf: Leaf, layout: Layout) -> list[Candidate]:
    """Leaves that may say which points of a leaf exist, the most likely first.

    These are leaves beside it that have the name of a mask; and those without a name, in a tuple, that are boolean.
    """
    if not leaf.moved or len(leaf.shape) < 2:
        return []
    parent, found = leaf.path.rpartition(".")[0], []
    for mask in layout.held:
        above, _, name = mask.path.rpartition(".")
        if above != parent:
            continue
        alike = (
            mask.shape[:1] == leaf.shape[:1]
            and mask.numbers == leaf.shape[0]
            and (mask.ragged is None) == (leaf.ragged is None)
        )
        named = name.lower() in NAMES
        if named or (alike and name.isdigit() and mask.dtype == "bool"):
            found.append(Candidate(mask, name.lower() in ABSENT, named, alike))
    return sorted(found, key=_rank)


def _rank(one: Candidate) -> int:
    name = one.mask.path.rpartition(".")[2].lower()
    return NAMES.index(name) if one.named else len(NAMES)


def check_mask_shapes(layout: Layout) -> None:
    """Raise `ShapeError` for a mask of another number of points."""
    for leaf in layout.moved:
        for one in candidates(leaf, layout):
            if not one.alike:
                raise ShapeError(
                    f"the mask {one.mask.path!r} has shape {one.mask.shape} in a sample, and {leaf.path!r} has "
                    f"{leaf.shape}; expected one entry per point, {leaf.shape[:1]}. Rename it if it is not a mask of "
                    "these points."
                )


def with_masks(
    layout: Layout, run: Run, batches: Iterator[Float[Tensor, "b D"]], given: Callable[[str], bool]
) -> tuple[Layout, list[Remark]]:
    """The layout with the masks of the leaves that are moved, and why some were not taken.

    Args:
        layout: where the leaves are in a row.
        run: the model, as a function of rows.
        batches: the data, read until there is enough padding to try.
        given: whether the model receives a leaf.
    """
    asked = {leaf.path: candidates(leaf, layout) for leaf in layout.leaves}
    asked = {
        path: [one for one in some if given(one.mask.path)] for path, some in asked.items() if some
    }
    if not any(asked.values()):
        return layout, []
    trials = [
        _masked(layout.by_path[path], one)
        for path, some in asked.items()
        for one in some
        if one.alike
    ]
    rows = _some_padded(layout, trials, batches)
    decided, remarks = list(layout.leaves), []
    for place, leaf in enumerate(decided):
        reasons = []
        for one in asked.get(leaf.path, []):
            masked = _masked(leaf, one)
            reason = f"it has shape {one.mask.shape}, and not one entry per point"
            if one.alike:
                reason = _why_not(layout, masked, run, rows, named=one.named)
            if reason is None:
                decided[place], reasons = masked, []
                break
            reasons.append((one, reason))
        remarks += [
            Diagnosis.MASK_NOT_TAKEN(leaf=repr(leaf.path), mask=repr(one.mask.path), reason=reason)
            for one, reason in reasons
        ]
    return replace(layout, leaves=tuple(decided)), remarks


def _masked(leaf: Leaf, one: Candidate) -> Leaf:
    return replace(leaf, mask=one.mask.path, padding=one.padding)


def _absent(layout: Layout, leaf: Leaf, x: Float[Tensor, "b D"]) -> Bool[Tensor, "b n"]:
    """Points that are there, and that the mask calls padding."""
    there = layout.present(x, replace(leaf, mask=""))
    absent = (layout.values(x, layout.by_path[leaf.mask]).flatten(1) > 0.5) == leaf.padding
    return absent if there is None else absent & there


def _odd(layout: Layout, leaf: Leaf, x: Float[Tensor, "b D"]) -> Bool[Tensor, "b n"]:
    """Where a mask is neither 0 nor 1."""
    values = layout.values(x, layout.by_path[leaf.mask]).flatten(1)
    return (values != 0) & (values != 1)


def _some_padded(
    layout: Layout, trials: list[Leaf], batches: Iterator[Float[Tensor, "b D"]]
) -> Float[Tensor, "b D"]:
    """A few samples with padding by every mask that may be one; all data is read where there are none."""
    kept: list[list[Tensor]] = [[] for _ in trials]
    for x in batches:
        for leaf, rows in zip(trials, kept, strict=True):
            padded = _absent(layout, leaf, x).any(1) | _odd(layout, leaf, x).any(1)
            rows += list(x[padded][: TRIED_PADDED - len(rows)])
        if all(len(rows) == TRIED_PADDED for rows in kept):
            break
    found = [row for rows in kept for row in rows]
    return torch.stack(found) if found else torch.zeros(0, layout.width)


def _why_not(
    layout: Layout, leaf: Leaf, run: Run, rows: Float[Tensor, "b D"], *, named: bool
) -> str | None:
    """Why a mask does not say what is padding; None if it does."""
    if bool(_odd(layout, leaf, rows).any()):
        return "it holds other numbers than 0 and 1"
    absent = _absent(layout, leaf, rows)
    points = layout.values(rows, leaf)[absent]
    if not len(points):
        return None if named else "it is True everywhere"
    if named and len(points) > 1 and bool((points == points[0]).all()):
        return None  # the same point everywhere, such as zeros: the model may rely on that
    parts = zip(rows.split(AT_ONCE), absent.split(AT_ONCE), strict=True)
    if any(_changes(layout, leaf, run, some, absent=where) for some, where in parts):
        return f"the output changes when points move where it is {leaf.padding}"
    return None


def _changes(
    layout: Layout, leaf: Leaf, run: Run, rows: Float[Tensor, "b D"], *, absent: Bool[Tensor, "b n"]
) -> bool:
    """Whether moving the points that are called padding changes the output, beyond its noise."""
    old = layout.values(rows, leaf)
    draw = torch.Generator().manual_seed(0)
    noise = torch.randn(old.shape, generator=draw, dtype=torch.float64).to(old)
    where = absent.reshape(*absent.shape, *[1] * (old.ndim - absent.ndim))
    moved = rows.clone()
    moved[:, leaf.start : leaf.stop] = torch.where(where, old + noise * old.std(), old).flatten(1)
    before, again, after = (_outputs(run(x.clone())) for x in (rows, rows, moved))
    for path, y in before.items():
        size = float(y.abs().max()) + torch.finfo(y.dtype).tiny
        rounding = UNCHANGED_UNITS * torch.finfo(y.dtype).eps * size
        own = float((again[path] - y).abs().max())
        if not float((after[path] - y).abs().max()) <= rounding + NOISES * own:
            return True
    return False


def _outputs(returned: Any) -> dict[str, Tensor]:
    """Floating point tensors in what a model returned, by path."""
    return {
        path: y
        for path, y in leaves(returned)
        if isinstance(y, Tensor) and y.is_floating_point() and y.numel()
    }
