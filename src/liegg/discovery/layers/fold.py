"""Sums of a layer from its outputs and derivatives: invariance, direction, equivariance."""

from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.actions import Action
from liegg.discovery.layers import block_squares
from liegg.discovery.layers.block_squares import BlockSquares
from liegg.polarization.gram import Gram
from liegg.polarization.output_sketch import combine
from liegg.polarization.plan import Plan
from liegg.polarization.r_factor import BLOCK_COLUMNS
from liegg.polarization.state import RowSums, fold, init_rows

NUMBERS_AT_ONCE = {"cpu": 2**20, "cuda": 2**26}
"""Numbers converted to float64 at once: 8 MB and 512 MB."""

CACHED = {"cpu": 2**18, "cuda": 2**26}
"""Numbers multiplied at once: on a CPU what fits its cache."""

COARSE_UNIT = 2.0**-11
"""Rounding unit of the model from which on products in float32 are accurate enough."""

MAX_PRODUCT_GENERATORS = 64
"""Most generators for which one product per sample gives both invariance problems."""

QR_ROWS = {"cpu": 4096, "cuda": 2**17}
"""Rows per QR: on a CPU as many as fit its cache."""


class FoldPlan(NamedTuple):
    """How the rows of a layer are folded.

    Attributes:
        rows: which outputs get rows.
        buffer: memory in float64 that is reused for every batch, from `buffer_for`.
        unit: rounding unit of the model's arithmetic, from `liegg._utils.precision`.
        shape: shape of one sample's output.
        output_action: action on the outputs, for equivariance; None without it.
    """

    rows: Plan
    buffer: Float[Tensor, " n"]
    unit: float = 0.0
    shape: tuple[int, ...] = ()
    output_action: Action | None = None


class LayerSums(NamedTuple):
    """Sums of a layer during the pass.

    Attributes:
        invariance: rows of the outputs.
        unit: rows of the outputs scaled to unit length.
        equivariance: rows `[−η | ξ]` if an action on the outputs fits them; else None.
        square: summed squared lengths of the outputs.
        nonzero: number of samples whose output is not exactly 0.
        blocks: rows of the outputs per block of samples; None without blocks.
        pair_blocks: rows `[−η | ξ]` per block of samples; None without blocks or without these rows.
    """

    invariance: RowSums
    unit: RowSums
    equivariance: RowSums | None
    square: Float[Tensor, ""]
    nonzero: Float[Tensor, ""]
    blocks: BlockSquares | None = None
    pair_blocks: BlockSquares | None = None


def init(columns: int, plan: FoldPlan, count: int = 1) -> LayerSums:
    """Sums over no samples.

    Args:
        columns: number of generators.
        plan: how rows are folded.
        count: number of blocks of samples; 1 for none.
    """
    device, action = plan.buffer.device, plan.output_action
    zero = torch.zeros((), dtype=torch.float64, device=device)
    both = columns + (0 if action is None else action.size)
    pair = None if action is None else init_rows(both, device)
    blocks = block_squares.init(count, columns, device) if count > 1 else None
    pair_blocks = block_squares.init(count, both, device) if count > 1 and pair else None
    own = init_rows(columns, device)
    return LayerSums(own, init_rows(columns, device), pair, zero, zero, blocks, pair_blocks)


def update(
    state: LayerSums,
    y: Float[Tensor, "b c"],
    slopes: Float[Tensor, "g b c"],
    plan: FoldPlan,
    *,
    squared: bool,
    first: int = 0,
    block: Int[Tensor, " b"] | None = None,
) -> tuple[LayerSums, Bool[Tensor, " b"]]:
    r"""Fold the rows of one batch.

    With $T$ the derivatives and $u = y/|y|$, the rows of the unit output are
    $(T - u\,u^\top T)/|y|$. If every output has a row of its own and rows may be squared, one
    product $[y\ T]^\top [y\ T]$ per sample gives both problems. A sample whose output is exactly 0
    has no direction; its rows are 0.

    Args:
        state: sums over the batches so far.
        y: outputs.
        slopes: their derivatives along each generator.
        plan: how rows are folded.
        squared: whether rows may be squared, see `liegg.polarization.streaming.PassPlan.squares`.
        first: position of the first sample in the data, which determines its random combinations.
        block: block of each sample, on the CPU, if `state` has blocks.

    Returns:
        The new sums, and for every sample whether all its numbers are finite.
    """
    (g, _, c), outputs, buffer = slopes.shape, plan.rows.outputs, plan.buffer
    in_products = squared and outputs == "each" and g <= MAX_PRODUCT_GENERATORS
    finite = torch.ones(len(y), dtype=torch.bool, device=y.device)
    if in_products:
        coarse = plan.unit >= COARSE_UNIT
        products = _products(y, slopes, buffer.view(torch.float32) if coarse else buffer)
        finite = torch.isfinite(products[:, 0]).all(1)
        state = _add_products(state, products, c)
        if state.blocks is not None and block is not None:
            more = block_squares.add_squares(state.blocks, products[:, 1:, 1:], block)
            state = state._replace(blocks=more)
    if in_products and state.equivariance is None:
        return state, finite  # nothing was read back from the device
    if squared and outputs == "sum":  # in the precision of the model, as reverse mode
        precise = torch.promote_types(y.dtype, torch.float32)
        rows, along = _summed(y.to(precise), slopes.to(precise))
        finite = torch.isfinite(along[:, 0]) & torch.isfinite(rows[:, 0]).all(1)
        return _add_rows(state, rows, along, squared=True, block=block), finite
    step = max(1, _on(y.device, NUMBERS_AT_ONCE) // ((1 + g) * c))
    for start in range(0, len(y), step):
        some = slice(start, start + step)
        both = _stack(y[some], slopes[:, some], buffer)
        along = (both @ both[:, :1].mT)[:, :, 0]
        finite[some] = torch.isfinite(along).all(1)
        if not bool(finite.all()):
            break
        combined = partial(combine, outputs=outputs, seed=plan.rows.seed, first=first + start)
        rows = combined(both.transpose(0, 1)).permute(1, 2, 0)
        of_some = None if block is None else block[some]
        if not in_products:
            state = _add_rows(state, rows, along, squared=squared, block=of_some)
        if state.equivariance is not None and plan.output_action is not None:
            shaped = y[some].double().reshape(-1, *plan.shape)
            eta = plan.output_action.fields(shaped).flatten(2)
            eta = combined(eta.transpose(0, 1)).permute(1, 2, 0)
            pair = torch.cat([-eta, rows[:, :, 1:]], dim=2)
            state = state._replace(equivariance=_fold(state.equivariance, pair, squared=False))
            if state.pair_blocks is not None and of_some is not None:
                more = block_squares.add_rows(state.pair_blocks, pair, of_some, eta.shape[2])
                state = state._replace(pair_blocks=more)
    return state, finite


def buffer_for(
    columns: int, widest: int, samples: int, device: torch.device
) -> Float[Tensor, " n"]:
    """Memory for every layer of up to `widest` outputs, in batches of up to `samples` samples."""
    numbers = (1 + columns) * widest
    most = max(numbers, min(_on(device, NUMBERS_AT_ONCE), samples * numbers))
    return torch.empty(most, dtype=torch.float64, device=device)


def _on(device: torch.device, numbers: dict[str, int]) -> int:
    """A number of a kind of device; that of a CPU for other kinds."""
    return numbers.get(device.type, numbers["cpu"])


def _stack(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"], buffer: Float[Tensor, " n"]
) -> Float[Tensor, "b p c"]:
    """Each sample's output and its derivatives, in the buffer and its precision."""
    g, b, c = slopes.shape
    both = buffer[: b * (1 + g) * c].view(b, 1 + g, c)
    both[:, 0], both[:, 1:] = y, slopes.transpose(0, 1)
    return both


def _products(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"], buffer: Float[Tensor, " n"]
) -> Float[Tensor, "b p p"]:
    """Products between each sample's output and its derivatives, in the precision of the buffer."""
    g, _, c = slopes.shape
    step = max(1, _on(y.device, CACHED) // ((1 + g) * c))
    stacks = (
        _stack(*pieces, buffer) for pieces in zip(y.split(step), slopes.split(step, 1), strict=True)
    )
    return torch.cat([torch.bmm(both, both.mT) for both in stacks]).double()


def _add_products(state: LayerSums, products: Float[Tensor, "b p p"], outputs: int) -> LayerSums:
    """Add the squared rows of both invariance problems, from the products of `_products`."""
    count = len(products) * outputs
    weight = _inverse(products[:, 0, 0])
    along = products[:, 0, 1:] * weight[:, None]
    squares = products[:, 1:, 1:]
    return _add_lengths(state, products[:, 0, 0])._replace(
        invariance=_add_square(state.invariance, squares.sum(0), count),
        unit=_add_square(
            state.unit, (weight[:, None, None] * squares).sum(0) - along.mT @ along, count
        ),
    )


def _summed(
    y: Float[Tensor, "b c"], slopes: Float[Tensor, "g b c"]
) -> tuple[Float[Tensor, "b 1 p"], Float[Tensor, "b p"]]:
    """Sums of each sample's output and of its derivatives, and their products with the output."""
    rows = torch.cat([y.sum(1, keepdim=True), slopes.sum(2).mT], dim=1)  # torch sums pairwise
    products = torch.bmm(slopes.transpose(0, 1), y[:, :, None])[:, :, 0]
    along = torch.cat([y.square().sum(1, keepdim=True), products], dim=1)
    return rows[:, None].double(), along.double()


def _add_rows(
    state: LayerSums,
    rows: Float[Tensor, "b k p"],
    along: Float[Tensor, "b p"],
    *,
    squared: bool,
    block: Int[Tensor, " b"] | None,
) -> LayerSums:
    """Add rows whose first column is the output; `along` are its products with the columns."""
    weight = _inverse(along[:, 0])[:, None, None]
    plain = rows[:, :, 1:]
    unit = (plain - rows[:, :, :1] * (along[:, None, 1:] * weight)) * weight.sqrt()
    if state.blocks is not None and block is not None:
        state = state._replace(blocks=block_squares.add_rows(state.blocks, plain, block))
    return _add_lengths(state, along[:, 0])._replace(
        invariance=_fold(state.invariance, plain, squared=squared),
        unit=_fold(state.unit, unit, squared=squared),
    )


def _add_lengths(state: LayerSums, squares: Float[Tensor, " b"]) -> LayerSums:
    return state._replace(
        square=state.square + squares.sum(), nonzero=state.nonzero + (squares > 0).sum()
    )


def _add_square(state: RowSums, square: Float[Tensor, "g g"], rows: int) -> RowSums:
    """Add rows by their Gram matrix; rounding may leave its diagonal below 0."""
    matrix = state.squared.matrix + square
    matrix.diagonal().clamp_min_(0)
    return state._replace(squared=Gram(matrix, state.squared.rows + rows))


def _fold(state: RowSums, rows: Float[Tensor, "b k g"], *, squared: bool) -> RowSums:
    """Add rows block by block; the old state is not changed, because the batch may be repeated."""
    columns = rows.shape[2]
    if squared:
        state = state._replace(squared=Gram(state.squared.matrix.clone(), state.squared.rows))
    for block in rows.reshape(-1, columns).split(
        max(BLOCK_COLUMNS * columns, _on(rows.device, QR_ROWS))
    ):
        state = fold(state, block, squared=squared)
    return state


def _inverse(squares: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """Inverse of squared lengths, 0 for length 0."""
    return torch.where(squares > 0, 1 / torch.where(squares > 0, squares, 1.0), 0.0)
