"""One pass over the data: plan it, update the state batch by batch, finalise."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.checks import check_finite
from liegg._utils.device import DeferredCheck, call_within_memory
from liegg._utils.errors import DeviceMemoryError
from liegg._utils.precision import coarsest
from liegg._utils.threads import SMALL_PRODUCTS, one_if, threads
from liegg.actions import Action
from liegg.inputs import spot_check
from liegg.inputs.batches import affordable
from liegg.inputs.model import Model
from liegg.polarization import displacement, gram, sample_blocks, sample_sketch
from liegg.polarization import state as pass_state
from liegg.polarization.diagnostics import Diagnostics, diagnose, init_sums, update_sums
from liegg.polarization.displacement import Workspace
from liegg.polarization.evidence import sample_evidence
from liegg.polarization.gram import Gram
from liegg.polarization.plan import Plan
from liegg.polarization.r_factor import RFactor
from liegg.polarization.rows import polarize, samples_at_once
from liegg.polarization.sample_blocks import BlockAssigner, BlockRows, Parts
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.sample_sketch import SampleSketch
from liegg.polarization.state import PassState, RowSums, init_rows

OUTPUT_CENTRE_SAMPLES = 64
"""Samples whose mean output is the centre of sums of squared outputs."""


class PassSums(NamedTuple):
    """What later stages need of all the data, on the CPU.

    Attributes:
        rows: all rows, as an R factor or a Gram matrix.
        moment: summed moments, from which the action computes the displacement.
        samples: number of samples.
        output_square: mean over the samples of the squared length of the output.
        accumulator: `"qr"`, `"gram"`, or `"qr+gram"`.
        trivial_floor: fraction of the displacement that is rounding of its sum; 0 in float64.
        noise: squared motion that rounding may give a generator that does not move the data.
        parts: the same for every block of samples; None without blocks.
        diagnostics: whether the model is degenerate; None if not checked.
        distinct: number of distinct samples (and of groups, if fewer), as far as it matters; None
            if not counted.
        fits: samples that fitted into device memory, where a batch did not; else 0.
        spread: mean squared distance of the samples from their mean; None if not summed.
    """

    rows: RFactor | Gram
    moment: Float[Tensor, "s s"]
    samples: int
    output_square: float
    accumulator: str
    trivial_floor: float = 0.0
    noise: float = 0.0
    parts: Parts | None = None
    diagnostics: Diagnostics | None = None
    distinct: int | None = None
    fits: int = 0
    spread: float | None = None


class PassPlan(NamedTuple):
    """How a pass is made; equal in every process that takes part, and when a pass is resumed.

    Attributes:
        model: the probed model.
        action: candidate generators.
        row_plan: how rows are computed.
        output_action: action on the outputs, for equivariance.
        assigner: assigns the samples to blocks; None keeps only the sum.
        first: a batch of the data, for precision, device and sizes.
        widths: widths of both factors of a row, if rows are kept as factors; None if they are
            formed.
    """

    model: Model
    action: Action
    row_plan: Plan
    output_action: Action | None
    assigner: BlockAssigner | None
    first: Float[Tensor, "b ..."]
    widths: tuple[int, int] | None

    @property
    def columns(self) -> int:
        """Number of generators, including those of the output action."""
        return self.action.size + self.n_output_generators

    @property
    def n_output_generators(self) -> int:
        """Number of generators of the output action."""
        return 0 if self.output_action is None else self.output_action.size

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return 1 if self.assigner is None else self.assigner.count

    def squares(self, samples: int) -> bool:
        """Whether rows may be squared, after a number of samples.

        The model must be coarse enough (`gram.allowed`), the question must be invariance, and there
        must be twice as many samples as columns: with fewer, null directions exist that every row
        satisfies exactly, whatever the model's rounding, and only a QR keeps those exact.
        """
        coarse = gram.allowed(self.first.dtype) and self.output_action is None
        return coarse and samples > 2 * self.columns


def plan_pass(
    model: Model,
    action: Action,
    first: Float[Tensor, "b ..."],
    row_plan: Plan,
    *,
    output_action: Action | None = None,
    assigner: BlockAssigner | None = None,
) -> PassPlan:
    """Plan a pass.

    Args:
        model: the probed model.
        action: candidate generators.
        first: a batch of the data.
        row_plan: how rows are computed.
        output_action: action on the outputs, for equivariance.
        assigner: assigns the samples to blocks.
    """
    plan = PassPlan(model, action, row_plan, output_action, assigner, first, None)
    squares = gram.allowed(first.dtype) and output_action is None
    if not squares or plan.blocks > 1 or row_plan.forward:
        return plan
    factors = action.outer_factors(torch.empty_like(first[:1])[:, None], first[:1])
    if factors is None:
        return plan
    return plan._replace(widths=(factors[0].shape[2], factors[1].shape[2]))


def init(plan: PassPlan) -> PassState:
    """The state of no samples."""
    one, columns, blocks, device = plan.blocks == 1, plan.columns, plan.blocks, plan.first.device
    centre = plan.model.centre  # any place near the outputs will do
    if centre is None:
        some = plan.first[: affordable(plan.first, OUTPUT_CENTRE_SAMPLES)]
        centre = call_within_memory(plan.model, some).double().mean(0)
    return PassState(
        rows=init_rows(columns, device) if one else sample_blocks.init(blocks, columns, device),
        inputs=displacement.init(plan.action, plan.first, blocks),
        output_square=torch.zeros((), dtype=torch.float64, device=device),
        diagnostics=init_sums(centre[None], each=plan.row_plan.outputs == "each"),
        distinct=torch.zeros(0, dtype=torch.float64),
        sketch=sample_sketch.init(),
    )


def update(
    plan: PassPlan,
    state: PassState,
    numbered: Iterable[tuple[int, Float[Tensor, "_ ..."]]],
    *,
    progress: Callable[[int], object] | None = None,
    after: Callable[[PassState, int], object] | None = None,
    start: int = 0,
) -> PassState:
    """Add batches: fold their rows, sum the moments of the samples and the squares of the outputs.

    A GPU is never waited for; what is wrong in a batch is detected one batch later.

    Args:
        plan: how the pass is made.
        state: state of the samples so far.
        numbered: batches, each with the position of its first sample in the data.
        progress: called with the number of samples after each batch.
        after: called after each batch with the state and the position of the next sample.
        start: position of the first sample to come, in case none comes.

    Raises:
        NonFiniteError: a derivative is not finite; the message names the sample.
        RandomModelError: two calls of a sample differ, of those that `spot_check` calls again.
        BatchMixingError: a sample's output depends on the others; as above.
        ArgumentError: the groups do not fit the samples.
        DeviceMemoryError: not even one sample fits into device memory.
    """
    check, workspace, end, pieces = DeferredCheck(), Workspace(plan.action), start, 0

    def prepare(x: Tensor, number: int) -> Callable[[], None]:
        batch = _read_batch(plan, state.sketch, x, workspace, first=number)
        sums, add_rows = _batch_sums(plan, state, batch, workspace)
        passed, look_closer = _checks(plan.model, batch, pieces)

        def commit() -> None:
            nonlocal state, pieces
            check.submit(passed, look_closer)
            pieces += 1
            with threads(one_if(batch.rows.numel() * plan.columns <= SMALL_PRODUCTS)):
                state = sums._replace(rows=add_rows(state.rows))

        return commit

    def recover(samples: int) -> None:
        nonlocal state
        check.resolve()  # frees the rows of the last batch
        workspace.clear()
        state = state._replace(fits=samples)

    def batch_done(position: int) -> None:
        nonlocal end
        end = position
        if after is not None:
            check.resolve()
            after(state, position)

    size = samples_at_once(plan.row_plan.outputs, plan.model, plan.columns)
    run_in_pieces(numbered, size, prepare, recover=recover, progress=progress, after=batch_done)
    check.resolve()
    if isinstance(state.rows, BlockRows):
        return state
    rows = pass_state.flush(state.rows, squared=plan.squares(end), widths=plan.widths)
    return state._replace(rows=rows)


class _Batch(NamedTuple):
    """Some samples at consecutive positions, with their blocks, the sketch of all samples up to them, rows and outputs."""

    x: Float[Tensor, "b ..."]
    first: int
    block: Int[Tensor, " b"] | None
    sketch: SampleSketch
    rows: Float[Tensor, "b k p"]
    y: Float[Tensor, "b c"]


def _read_batch(
    plan: PassPlan, sketch: SampleSketch, x: Tensor, workspace: Workspace, *, first: int
) -> _Batch:
    """The rows and outputs of a batch, and what is read of the samples themselves."""
    block = None
    # All that waits for a GPU comes before the rows: behind them it would idle while what follows is launched.
    if plan.assigner is not None:
        hashes = sample_hashes(x).cpu()
        block = plan.assigner.assign(first, hashes)
        sketch = sample_sketch.update(sketch, hashes, x, plan.action.moving)
    workspace.prepare(x)
    rows, y = polarize(
        plan.model,
        plan.action,
        x,
        plan.row_plan,
        output_action=plan.output_action,
        first=first,
        halved=plan.widths is not None,
        precomputed=workspace.precomputed,
    )
    return _Batch(x, first, block, sketch, rows, y)


def _checks(
    model: Model, batch: _Batch, number: int
) -> tuple[Bool[Tensor, ""], Callable[[], None]]:
    """Whether rows and outputs of a piece are as they should be, on the device; and what raises if not."""
    x, first, *_, rows, y = batch
    again = spot_check.of_piece(model, x, first, number)
    passed = torch.isfinite(rows.sum() + y.sum()) & again.agrees(x, y)

    def look_closer() -> None:
        check_finite(rows, y, first, model.name)
        again.confirm(x, first)

    return passed, look_closer


def _batch_sums(
    plan: PassPlan, state: PassState, batch: _Batch, workspace: Workspace
) -> tuple[PassState, Callable[[Any], RowSums | BlockRows]]:
    """The state with all sums of a batch but its rows, and the function that adds these."""
    x, first, block, sketch, rows, y = batch
    squared = plan.squares(first + len(x))
    if block is not None and plan.blocks > 1:
        arranged = sample_blocks.arrange(rows, block, plan.blocks, squared=squared)
        add_rows = partial(sample_blocks.update, batch=arranged)
    else:
        flat = rows.flatten(0, 1)
        add_rows = partial(pass_state.append, rows=flat, squared=squared, widths=plan.widths)
    square = torch.linalg.vector_norm(y, dtype=torch.float64).square()
    input_rows = rows[..., plan.n_output_generators :]
    split = None if plan.widths is None else plan.widths[0]
    sums = state._replace(
        inputs=displacement.update(state.inputs, x, workspace, block),
        output_square=state.output_square + square,
        diagnostics=update_sums(state.diagnostics, input_rows, y, split=split),
        distinct=displacement.add_samples(state.distinct, x, enough=4 * plan.columns + 1),
        sketch=sketch,
    )
    return sums, add_rows


def run_in_pieces(
    numbered: Iterable[tuple[int, Float[Tensor, "_ ..."]]],
    size: int,
    prepare: Callable[[Tensor, int], Callable[[], None]],
    *,
    recover: Callable[[int], None],
    progress: Callable[[int], object] | None = None,
    after: Callable[[int], None] | None = None,
) -> None:
    """Process batches in pieces; when the device runs out of memory, in smaller ones from then on.

    Args:
        numbered: batches, each with the position of its first sample in the data.
        size: most samples per piece.
        prepare: does the work for a piece at a position, and returns what adds the result to the
            state. It may run out of memory and is then repeated, so it must not change the state.
        recover: called with the new size after memory ran out; frees memory.
        progress: called with the number of samples after each piece.
        after: called after each batch with the position of the next sample.

    Raises:
        DeviceMemoryError: not even one sample fits.
    """
    for start, batch in numbered:
        number, stop = start, start + len(batch)
        while number < stop:
            x, commit = batch[number - start : number - start + size], None
            try:
                commit = prepare(x, number)
            except torch.OutOfMemoryError as error:
                if len(x) == 1:
                    reason = str(error).splitlines()[0]
                    raise DeviceMemoryError(
                        f"not even one sample fits into the memory of {x.device} ({reason}). Use "
                        "a device with more memory, a model in half precision, or outputs='sum'."
                    ) from error
                size = (len(x) + 1) // 2
            # Outside of `except`, so that the tensors of the failed attempt are freed.
            if commit is None:
                recover(size)
                torch.cuda.empty_cache()
                continue
            commit()
            number += len(x)
            if progress is not None:
                progress(len(x))
        if after is not None:
            after(stop)


def finalise(plan: PassPlan, state: PassState) -> PassSums:
    """What later stages need of all the data.

    Args:
        plan: how the pass was made.
        state: state of all samples; no rows are pending.

    Raises:
        ArgumentError: there are more labels of groups than samples.
        NonFiniteError: the moments overflow.
    """
    samples, distinct, parts = state.inputs.samples, len(state.distinct), None
    groups = None if plan.assigner is None else plan.assigner.groups
    if plan.assigner is not None and groups is not None:
        plan.assigner.check_count(samples)
        distinct = min(distinct, len(groups.unique()))
    moment, floor, noise = displacement.finalise(state.inputs, plan.action, plan.first)
    if isinstance(state.rows, BlockRows):
        rows, parts, accumulator = sample_blocks.finalise(state.rows, state.inputs.moments)
        parts = parts._replace(evidence=sample_evidence(state.diagnostics, state.sketch, groups))
    else:
        rows, accumulator = pass_state.finalise_rows(state.rows)
    return PassSums(
        rows=rows,
        moment=moment,
        samples=samples,
        output_square=float(state.output_square) / samples,
        accumulator=accumulator,
        trivial_floor=floor,
        noise=noise,
        parts=parts,
        diagnostics=diagnose(
            state.diagnostics,
            dtype=coarsest(plan.first.dtype, plan.model.arithmetic),
            outputs=plan.row_plan.outputs,
        ),
        distinct=distinct,
        fits=state.fits,
        spread=displacement.spread(state.inputs),
    )
