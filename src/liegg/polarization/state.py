"""The state of a pass over the data: it can be updated, merged and stored."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.polarization import displacement, gram, r_factor, sample_blocks, sample_sketch
from liegg.polarization.diagnostics import DiagnosticSums, merge_sums
from liegg.polarization.displacement import InputSums
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor, block_rows
from liegg.polarization.sample_blocks import BlockRows
from liegg.polarization.sample_sketch import SampleSketch


class RowSums(NamedTuple):
    r"""All rows so far.

    Attributes:
        exact: rows folded into an R factor.
        squared: rows summed to a Gram matrix.
        pending: rows, or both factors of rows $l \otimes r$, that wait for a block to fill.
    """

    exact: RFactor
    squared: Gram
    pending: Float[Tensor, "..."]


class PassState(NamedTuple):
    """Everything that is kept of the samples seen so far; some tensors are updated in place.

    Attributes:
        rows: all rows; those of each block if the samples are assigned to blocks.
        inputs: sums over the samples.
        output_square: sum of the squared lengths of the outputs.
        diagnostics: sums that reveal degenerate models.
        distinct: projections of the samples that differ, see `displacement.add_samples`.
        sketch: some of the samples, for how many differ and whether they lie in clusters; empty
            without blocks.
        fits: samples that fitted into device memory, where a batch did not; else 0.
    """

    rows: RowSums | BlockRows
    inputs: InputSums
    output_square: Float[Tensor, ""]
    diagnostics: DiagnosticSums
    distinct: Float[Tensor, " k"]
    sketch: SampleSketch
    fits: int = 0


def init_rows(columns: int, device: torch.device | None = None) -> RowSums:
    """No rows."""
    exact = r_factor.init(columns, device)
    return RowSums(exact, gram.init(columns, device), exact.r.new_zeros(0))


def fold(
    state: RowSums,
    rows: Float[Tensor, "m p"],
    *,
    squared: bool,
    widths: tuple[int, int] | None = None,
) -> RowSums:
    r"""Add finite rows: to the Gram matrix if they may be squared, else to the R factor.

    Args:
        state: the rows so far.
        rows: new rows, or both factors of rows $l \otimes r$ side by side.
        squared: whether the rows may be squared.
        widths: widths of both factors; None if the rows are complete.
    """
    if widths is not None:
        left, right = rows.split(list(widths), dim=1)
        if squared:
            return state._replace(squared=gram.update_products(state.squared, left, right))
        rows = torch.einsum("mp,mq->mpq", left, right).flatten(1)
    if squared:
        return state._replace(squared=gram.update(state.squared, rows))
    return state._replace(exact=r_factor.update(state.exact, rows))


def append(
    state: RowSums,
    rows: Float[Tensor, "m p"],
    *,
    squared: bool,
    widths: tuple[int, int] | None = None,
) -> RowSums:
    """Add rows in blocks of one size, large enough for an efficient QR.

    The blocks do not depend on the batches, so the same rows in the same order give the same bits.

    Args:
        state: the rows so far.
        rows: new rows; as for `fold`.
        squared: whether the rows may be squared.
        widths: as for `fold`.
    """
    size = block_rows(state.exact.r.shape[1], rows.device)
    for block in torch.cat([state.pending, rows]).split(size):
        if len(block) < size:
            return state._replace(pending=block.clone())  # a view would keep all blocks alive
        state = fold(state, block, squared=squared, widths=widths)
    return state._replace(pending=rows.new_zeros(0))


def flush(state: RowSums, *, squared: bool, widths: tuple[int, int] | None = None) -> RowSums:
    """Fold the rows that still wait."""
    rows, state = state.pending, state._replace(pending=state.pending.new_zeros(0))
    return fold(state, rows, squared=squared, widths=widths) if len(rows) else state


def finalise_rows(state: RowSums) -> tuple[RFactor | Gram, str]:
    """All rows on the CPU, and how they were accumulated: `"qr"`, `"gram"` or `"qr+gram"`."""
    exact, squared, _ = state
    return gram.join(RFactor(exact.r.cpu(), exact.rows), Gram(squared.matrix.cpu(), squared.rows))


def merge(one: PassState, other: PassState) -> PassState:
    """The state of the samples of both; no rows may be pending in either.

    Commutative and associative up to rounding, so processes may merge in any order.
    """
    return PassState(
        _merge_rows(one.rows, other.rows),
        displacement.merge(one.inputs, other.inputs),
        one.output_square + other.output_square,
        merge_sums(one.diagnostics, other.diagnostics),
        displacement.distinct(torch.cat([one.distinct, other.distinct])),
        sample_sketch.merge(one.sketch, other.sketch),
        min(one.fits or other.fits, other.fits or one.fits),
    )


def _merge_rows(one: Any, other: Any) -> RowSums | BlockRows:
    """Rows of both, which are of one kind."""
    if isinstance(one, BlockRows):
        return sample_blocks.merge(one, other)
    matrix, count = one.squared.matrix + other.squared.matrix, one.squared.rows + other.squared.rows
    return RowSums(r_factor.merge(one.exact, other.exact), Gram(matrix, count), one.pending)


def to_tensors(state: Any, prefix: str = "") -> dict[str, Tensor]:
    """A state as named tensors on the CPU; `from_tensors` restores it bit for bit.

    Args:
        state: a record of tensors, numbers and records; what is empty or None is left out.
        prefix: put before the names.
    """
    tensors: dict[str, Tensor] = {}
    for name in state.__match_args__:
        value = getattr(state, name)
        if _is_record(value):
            tensors |= to_tensors(value, f"{prefix}{name}.")
        elif value is not None and torch.as_tensor(value).numel():
            tensors[prefix + name] = torch.as_tensor(value).detach().cpu().contiguous()
    return tensors


def from_tensors(tensors: dict[str, Tensor], like: Any, prefix: str = "") -> Any:
    """Restore what `to_tensors` returned.

    Args:
        tensors: the named tensors.
        like: a state with the same columns, blocks, outputs and devices.
        prefix: what stands before the names.

    Raises:
        KeyError: a tensor is missing.
        ValueError: a tensor has another shape than this analysis needs.
    """
    values: dict[str, Any] = {}
    for name in like.__match_args__:
        key, value = prefix + name, getattr(like, name)
        if _is_record(value):
            value = from_tensors(tensors, value, f"{key}.")
        elif isinstance(value, int):
            value = int(tensors[key])
        elif value is not None and (value.numel() or key in tensors):
            if value.numel() and tensors[key].shape != value.shape:
                raise ValueError(
                    f"{key} has shape {tuple(tensors[key].shape)}; "
                    f"this analysis needs {tuple(value.shape)}"
                )
            value = tensors[key].clone().to(value.device)
        values[name] = value
    return type(like)(**values)


def _is_record(value: Any) -> bool:
    """Whether a value is a named tuple or a dataclass."""
    return hasattr(value, "__match_args__")
