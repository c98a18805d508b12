"""The state of a pass over the data: it can be updated, merged and stored."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.inputs.distinct import DistinctSamples, merge_distinct
from liegg.polarization import displacement, gram, r_factor, sample_blocks
from liegg.polarization.diagnostics import DiagnosticSums, merge_sums
from liegg.polarization.displacement import InputSums
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor, block_rows
from liegg.polarization.sample_blocks import BlockRows


class RowSums(NamedTuple):
    r"""All rows so far.

    Attributes:
        exact: rows folded into an R factor.
        squared: rows summed to a Gram matrix.
        pending: rows, or both factors of rows $l \otimes r$, that wait for a block to fill.
    """

    exact: RFactor
    squared: Gram
    pending: tuple[Float[Tensor, "_ p"], ...] = ()


class PassState(NamedTuple):
    """Everything that is kept of the samples seen so far; some tensors are updated in place.

    Attributes:
        rows: all rows; None if the samples are assigned to blocks.
        blocks: rows of each block; None if the samples are not assigned to blocks.
        inputs: sums over the samples.
        output_square: sum of the squared lengths of the outputs.
        diagnostics: sums that reveal degenerate models.
        distinct: which of the samples differ.
        fits: samples that fitted into device memory, where a batch did not; else 0.
    """

    rows: RowSums | None
    blocks: BlockRows | None
    inputs: InputSums
    output_square: Float[Tensor, ""]
    diagnostics: DiagnosticSums
    distinct: DistinctSamples
    fits: int = 0


def init(columns: int, blocks: int, inputs: InputSums, diagnostics: DiagnosticSums) -> PassState:
    """The state of no samples.

    Args:
        columns: number of generators, including those of an output action.
        blocks: number of blocks; 1 if the samples are not assigned to blocks.
        inputs: sums over no samples.
        diagnostics: sums over no samples.
    """
    device = inputs.square.device
    return PassState(
        rows=init_rows(columns, device) if blocks == 1 else None,
        blocks=None if blocks == 1 else sample_blocks.init(blocks, columns, device),
        inputs=inputs,
        output_square=torch.zeros((), dtype=torch.float64, device=device),
        diagnostics=diagnostics,
        distinct=DistinctSamples(4 * columns + 1),
    )


def init_rows(columns: int, device: torch.device | None = None) -> RowSums:
    """No rows."""
    return RowSums(r_factor.init(columns, device), gram.init(columns, device))


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
        return state._replace(squared=gram.extend(state.squared, rows))
    return state._replace(exact=r_factor.extend(state.exact, rows))


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
    pending = (*state.pending, rows)
    if sum(map(len, pending)) < size:
        return state._replace(pending=pending)
    for block in torch.cat(pending).split(size):
        if len(block) < size:
            return state._replace(pending=(block.clone(),))  # a view would keep all blocks alive
        state = fold(state, block, squared=squared, widths=widths)
    return state._replace(pending=())


def flush(state: RowSums, *, squared: bool, widths: tuple[int, int] | None = None) -> RowSums:
    """Fold the rows that still wait."""
    if not state.pending:
        return state
    rows = torch.cat(state.pending)
    return fold(state._replace(pending=()), rows, squared=squared, widths=widths)


def finalise_rows(state: RowSums) -> tuple[RFactor | Gram, str]:
    """All rows on the CPU, and how they were accumulated: `"qr"`, `"gram"` or `"qr+gram"`."""
    exact, squared, _ = state
    if squared.rows and not exact.rows:
        return Gram(squared.matrix.cpu(), squared.rows), "gram"
    both = r_factor.merge(exact, gram.factor(squared)) if squared.rows else exact
    return RFactor(both.r.cpu(), both.rows), "qr+gram" if squared.rows else "qr"


def merge(one: PassState, other: PassState) -> PassState:
    """The state of the samples of both; no rows may be pending in either.

    Commutative and associative up to rounding, so processes may merge in any order.
    """
    rows, blocks = one.rows, one.blocks
    if rows is not None and other.rows is not None:
        squared, more = rows.squared, other.rows.squared
        rows = RowSums(
            r_factor.merge(rows.exact, other.rows.exact),
            Gram(squared.matrix + more.matrix, squared.rows + more.rows),
        )
    if blocks is not None and other.blocks is not None:
        blocks = sample_blocks.merge(blocks, other.blocks)
    return PassState(
        rows,
        blocks,
        displacement.merge(one.inputs, other.inputs),
        one.output_square + other.output_square,
        merge_sums(one.diagnostics, other.diagnostics),
        merge_distinct(one.distinct, other.distinct),
        min(one.fits or other.fits, other.fits or one.fits),
    )


def to_tensors(state: Any, prefix: str = "") -> dict[str, Tensor]:
    """A state as named tensors on the CPU; `from_tensors` restores it bit for bit.

    Args:
        state: a record of tensors, numbers, tuples of tensors (stacked along their rows) and
            records.
        prefix: put before the names.
    """
    tensors: dict[str, Tensor] = {}
    for name, value in _entries(state):
        if isinstance(value, Tensor):
            tensors[prefix + name] = value.detach().cpu().contiguous()
        elif isinstance(value, int):
            tensors[prefix + name] = torch.tensor(value)
        elif _is_record(value):
            tensors |= to_tensors(value, f"{prefix}{name}.")
        elif value:
            tensors[prefix + name] = torch.cat(value, dim=-2).cpu()
    return tensors


def from_tensors(
    tensors: dict[str, Tensor], like: Any, device: torch.device, prefix: str = ""
) -> Any:
    """Restore what `to_tensors` returned.

    Args:
        tensors: the named tensors.
        like: a state of no samples with the same columns, blocks and outputs.
        device: device of the rows; other tensors go where they are in `like`.
        prefix: what stands before the names.

    Raises:
        KeyError: a tensor is missing.
        ValueError: a tensor has another shape than this analysis needs.
    """
    values: dict[str, Any] = {}
    for name, value in _entries(like):
        key = prefix + name
        if isinstance(value, Tensor):
            if value.numel() and tensors[key].shape != value.shape:
                raise ValueError(
                    f"{key} has shape {tuple(tensors[key].shape)}; "
                    f"this analysis needs {tuple(value.shape)}"
                )
            values[name] = tensors[key].clone().to(value.device)
        elif isinstance(value, int):
            values[name] = int(tensors[key])
        elif _is_record(value):
            values[name] = from_tensors(tensors, value, device, f"{key}.")
        elif key in tensors:
            values[name] = (tensors[key].clone().to(device),)
        else:
            values[name] = value
    return type(like)(**values)


def _is_record(value: Any) -> bool:
    return hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__")


def _entries(record: Any) -> list[tuple[str, Any]]:
    """Names and values of the fields of a record."""
    fields = record._fields if hasattr(record, "_fields") else record.__dataclass_fields__
    return [(name, getattr(record, name)) for name in fields]
