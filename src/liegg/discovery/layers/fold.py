"""From a layer's outputs and their derivatives to folded rows: of the output, of its direction, and of the pair with an action."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions import Action
from liegg.polarization.gram import Gram
from liegg.polarization.output_sketch import combined
from liegg.polarization.r_factor import BLOCK_COLUMNS
from liegg.polarization.rows import Plan
from liegg.polarization.state import Folded, fold, folded

CHUNK = {"cpu": 2**20, "cuda": 2**26}
"""Numbers converted to float64 at once: 8 MB and 512 MB."""

CACHED = {"cpu": 2**18, "cuda": 2**26}
"""Numbers multiplied at once: on a CPU what stays in its cache."""

COARSE = 2.0**-11
"""Rounding unit from which products are summed in float32: its own rounding is then far below the square of the model's."""

PRODUCTS = 64
"""Generators up to which each sample's rows are squared on their own, which gives both invariance problems in one product."""

BLOCK = {"cpu": 4096, "cuda": 2**17}
"""Rows to a QR: on a CPU as many as stay in its cache."""


class Kept(NamedTuple):
    """What is kept of a layer while the data streams by.

    Attributes:
        invariance: rows of the outputs.
        unit: rows of the outputs scaled to unit length.
        equivariance: rows `[−η | ξ]` where an action on the outputs fits them; else None.
        square: summed squared lengths of the outputs.
        nonzero: number of samples whose output has a length, as a tensor.
    """

    invariance: Folded
    unit: Folded
    equivariance: Folded | None
    square: Float[Tensor, ""]
    nonzero: Float[Tensor, ""]


def keep(columns: int, n_output_generators: int, device: torch.device) -> Kept:
    """Nothing yet; `n_output_generators` is the number of output generators, 0 where there are none."""
    zero = torch.zeros((), dtype=torch.float64, device=device)
    pair = folded(n_output_generators + columns, device) if n_output_generators else None
    return Kept(folded(columns, device), folded(columns, device), pair, zero, zero)


def add(
    kept: Kept,
    y: Float[Tensor, "b c"],
    slopes: Float[Tensor, "g b c"],
    how: Plan,
    *,
    squared: bool,
    room: Float[Tensor, " n"],
    unit: float = 0.0,
    shape: tuple[int, ...] = (),
    output_action: Action | None = None,
    first: int = 0,
) -> tuple[Kept, Bool[Tensor, " b"]]:
    r"""Fold the rows of one batch.

    With $T$ the derivatives and $u = y/|y|$, the rows of the unit output are $(T - u\,u^\top T)/|y|$. Where every output has a row
    of its own and rows may be squared, one product $[y\ T]^\top [y\ T]$ per sample holds what both problems need. A sample whose
    output is exactly 0 has no direction; its rows are 0.

    Args:
        kept: what was kept of the batches before.
        y: outputs.
        slopes: their derivatives along each generator.
        how: which outputs get rows.
        squared: whether rows may be squared, see `liegg.polarization.streaming.read`.
        room: memory in float64 that is used again for every batch, from `room_for`.
        unit: rounding unit of the model's arithmetic, from `liegg._utils.precision`.
        shape: shape of one sample's output.
        output_action: action on the outputs, if `kept` has room for it.
        first: number of the first sample in the data, by which its random combinations are drawn.

    Returns:
        What is kept now, and for every sample whether all its numbers are finite.
    """
    g, _, c = slopes.shape
    whole = squared and how.outputs == "each" and g <= PRODUCTS
    finite = torch.ones(len(y), dtype=torch.bool, device=y.device)
    if whole:
        products = _coarse_products(y, slopes) if unit >= COARSE else _products(y, slopes, room)
        finite = torch.isfinite(products[:, 0]).all(1)
        kept = _add_products(kept, products, c)
    if whole and kept.equivariance is None:
        return kept, finite  # nothing was read back from the device
    if (
        squared and how.outputs == "sum"
    ):  # rows in the precision of the model, as reverse mode takes them
        precise = torch.promote_types(y.dtype, torch.float32)
        return _add_sums(kept, y.to(precise), slopes.to(precise))
    step = max(1, CHUNK.get(y.device.type, CHUNK["cpu"]) // ((1 + g) * c))
    for start in range(0, len(y), step):
        values = y[start : start + step]
        both = _together(values, slopes[:, start : start + step], room)
        along = (both @ both[:, :1].mT)[:, :, 0]
        finite[start : start + step] = torch.isfinite(along).all(1)
        if not bool(finite.all()):
            break
        rows = combined(
            both.transpose(0, 1), how.outputs, seed=how.seed, first=first + start
        ).permute(1, 2, 0)
        kept = kept if whole else _add_rows(kept, rows, along, squared=squared)
        if kept.equivariance is not None and output_action is not None:
            eta = output_action.fields(values.double().reshape(-1, *shape)).reshape(
                len(values), output_action.size, c
            )
            n_output_generators = combined(
                eta.transpose(0, 1), how.outputs, seed=how.seed, first=first + start
            ).permute(1, 2, 0)
            pair = torch.cat([-n_output_generators, rows[:, :, 1:]], dim=2)
            kept = kept._replace(equivariance=_fold(kept.equivariance, pair, squared=False))
    return kept, finite


def room_for(columns: int, widest: int, samples: int, device: torch.device) -> Float[Tensor, " n"]:
    """Room for every layer of up to `widest` outputs, in batches of up to so many samples."""
    numbers = (1 + columns) * widest
    most = max(numbers, min(CHUNK.get(device.type, CHUNK["cpu"]), samples * numbers))
    return torch.empty(most, dtype=torch.float64, device=device)


def _together(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"], room: Float[Tensor, " n"]
) -> Float[Tensor, "b p c"]:
    """Each sample's output and its derivatives in float64, in memory that is there."""
    g, b, c = slopes.shape
    both = room[: b * (1 + g) * c].view(b, 1 + g, c)
    both[:, 0], both[:, 1:] = y, slopes.transpose(0, 1)
    return both


def _products(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"], room: Float[Tensor, " n"]
) -> Float[Tensor, "b p p"]:
    """Products between each sample's output and its derivatives."""
    g, b, c = slopes.shape
    products = torch.empty(b, 1 + g, 1 + g, dtype=torch.float64, device=y.device)
    step = max(1, CACHED.get(y.device.type, CACHED["cpu"]) // ((1 + g) * c))
    for start in range(0, b, step):
        some = slice(start, start + step)
        both = _together(y[some], slopes[:, some], room)
        torch.bmm(both, both.mT, out=products[some])
    return products


def _coarse_products(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"]
) -> Float[Tensor, "b p p"]:
    """The same where float32 is fine enough, read where they lie."""
    y, slopes = y.float(), slopes.float()
    g, b, _ = slopes.shape
    products = torch.empty(b, 1 + g, 1 + g, dtype=torch.float64, device=y.device)
    products[:, 1:, 1:] = torch.bmm(slopes.transpose(0, 1), slopes.permute(1, 2, 0))
    products[:, 0, 1:] = torch.bmm(slopes.transpose(0, 1), y[:, :, None])[:, :, 0]
    products[:, 0, 0] = y.square().sum(1)
    return products  # its first column is not asked for


def _add_products(kept: Kept, products: Float[Tensor, "b p p"], outputs: int) -> Kept:
    """Add the squared rows of both invariance problems, from the products between a sample's output and its derivatives."""
    count = len(products) * outputs
    weight = _inverse(products[:, 0, 0])
    lean = products[:, 0, 1:] * weight[:, None]
    squares = products[:, 1:, 1:]
    return _add_lengths(kept, products[:, 0, 0])._replace(
        invariance=_add_square(kept.invariance, squares.sum(0), count),
        unit=_add_square(
            kept.unit, (weight[:, None, None] * squares).sum(0) - lean.mT @ lean, count
        ),
    )


def _add_sums(
    kept: Kept, y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"]
) -> tuple[Kept, Bool[Tensor, " b"]]:
    """Add the rows of the summed outputs in the precision of the model, nothing read back from the device."""
    squares = y.square().sum(1).double()
    along = (
        torch.bmm(slopes.transpose(0, 1), y[:, :, None])[:, :, 0].double()
        * _inverse(squares)[:, None]
    )
    plain = slopes.sum(2).double().mT  # by pairs, so that its rounding is that of a few additions
    unit = (plain - y.sum(1).double()[:, None] * along) * _inverse(squares).sqrt()[:, None]
    kept = _add_lengths(kept, squares)._replace(
        invariance=_add_square(kept.invariance, plain.mT @ plain, len(y)),
        unit=_add_square(kept.unit, unit.mT @ unit, len(y)),
    )
    return kept, torch.isfinite(squares) & torch.isfinite(plain).all(1)


def _add_rows(
    kept: Kept, rows: Float[Tensor, "b k p"], along: Float[Tensor, "b p"], *, squared: bool
) -> Kept:
    """Add rows whose first column is the output itself; `along` are the products of the output with it and its derivatives."""
    weight = _inverse(along[:, 0])[:, None, None]
    plain = rows[:, :, 1:]
    unit = (plain - rows[:, :, :1] * (along[:, None, 1:] * weight)) * weight.sqrt()
    return _add_lengths(kept, along[:, 0])._replace(
        invariance=_fold(kept.invariance, plain, squared=squared),
        unit=_fold(kept.unit, unit, squared=squared),
    )


def _add_lengths(kept: Kept, squares: Float[Tensor, " b"]) -> Kept:
    return kept._replace(
        square=kept.square + squares.sum(), nonzero=kept.nonzero + (squares > 0).sum()
    )


def _add_square(state: Folded, square: Float[Tensor, "g g"], rows: int) -> Folded:
    """Add rows that are known by their Gram matrix; rounding may have left a zero on its diagonal below 0."""
    matrix = state.squared.matrix + square
    matrix.diagonal().clamp_min_(0)
    return state._replace(squared=Gram(matrix, state.squared.rows + rows))


def _fold(state: Folded, rows: Float[Tensor, "b k g"], *, squared: bool) -> Folded:
    """Add rows block by block; what is kept before stays as it is, so that a batch that does not fit can be taken back."""
    columns = rows.shape[2]
    if squared:
        state = state._replace(squared=Gram(state.squared.matrix.clone(), state.squared.rows))
    for block in rows.reshape(-1, columns).split(
        max(BLOCK_COLUMNS * columns, BLOCK.get(rows.device.type, BLOCK["cpu"]))
    ):
        state = fold(state, block, squared=squared)
    return state


def _inverse(squares: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """Inverse of squared lengths, 0 where there is none."""
    return torch.where(squares > 0, 1 / torch.where(squares > 0, squares, 1.0), 0.0)
