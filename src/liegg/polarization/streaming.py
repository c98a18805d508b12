"""One pass over the data: all that the later stages need to know of it."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.device import Later, fitted
from liegg._utils.errors import DeviceMemoryError, NonFiniteError
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.model import Model
from liegg.polarization import gram
from liegg.polarization import r_factor as accumulate
from liegg.polarization import sample_blocks as blocks
from liegg.polarization import state as tallies
from liegg.polarization.diagnostics import Health, diagnose, pulse_add, pulse_init
from liegg.polarization.displacement import moments_of, roundings, square_of
from liegg.polarization.rows import Plan, polarize, samples_at_once
from liegg.polarization.sample_blocks import Dealer, Parts
from liegg.polarization.state import Tally

AROUND = 64
"""Samples whose mean output is where sums of squared outputs are taken around."""


class Streamed(NamedTuple):
    """What is kept of the data, on the CPU.

    Attributes:
        rows: all rows, folded to their R factor or summed to their Gram matrix.
        moment: summed moments, from which the action makes the displacement.
        samples: number of samples.
        output_square: mean over the samples of the squared length of the output.
        accumulator: `"qr"`, `"gram"`, or `"qr+gram"`.
        trivial_floor: share of the displacement that the rounding of its sum may reach; 0 for sums in float64.
        noise: squared motion that rounding may give a generator that does not move the data.
        parts: the same of every block of samples; None if the samples were not dealt out to blocks.
        health: what is wrong with the model, if anything; None if that was not asked.
        distinct: number of samples that differ (and of groups of them, if fewer), as far as it matters; None if not counted.
        fits: samples that fitted into the memory of the device at once, where those of a batch did not; else 0.
    """

    rows: accumulate.RFactor | gram.Gram
    moment: Float[Tensor, "s s"]
    samples: int
    output_square: float
    accumulator: str
    trivial_floor: float = 0.0
    noise: float = 0.0
    parts: Parts | None = None
    health: Health | None = None
    distinct: int | None = None
    fits: int = 0


class Pass(NamedTuple):
    """How a pass over the data is made; the same in every process that takes part, and when it is taken up again.

    Attributes:
        model: the probed model.
        action: candidate generators.
        how: how rows are taken.
        output_action: action on the outputs, for equivariance.
        dealer: deals the samples out to blocks that are kept apart; None keeps no more than the sum.
        first: a batch of the data, by which precision, device and sizes are known.
        outer_factors: widths of both factors of a row, where rows are kept as such; None where they are formed.
    """

    model: Model
    action: Action
    how: Plan
    output_action: Action | None
    dealer: Dealer | None
    first: Float[Tensor, "b ..."]
    outer_factors: tuple[int, int] | None

    @property
    def columns(self) -> int:
        """Generators, with those of the output action."""
        return self.action.size + self.n_output_generators

    @property
    def n_output_generators(self) -> int:
        """Generators of the output action."""
        return 0 if self.output_action is None else self.output_action.size

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return 1 if self.dealer is None else self.dealer.count

    @property
    def squares(self) -> bool:
        """Whether rows may be squared."""
        return gram.allowed(self.first.dtype) and self.output_action is None


def begin(
    model: Model,
    action: Action,
    first: Float[Tensor, "b ..."],
    how: Plan,
    *,
    output_action: Action | None = None,
    dealer: Dealer | None = None,
) -> Pass:
    """How the pass will be made.

    Args:
        model: the probed model.
        action: candidate generators.
        first: a batch of the data.
        how: how rows are taken.
        output_action: action on the outputs, for equivariance.
        dealer: deals the samples out to blocks that are kept apart.
    """
    made = Pass(model, action, how, output_action, dealer, first, None)
    if made.squares and made.blocks == 1 and how.route != "jvp":
        parts = action.outer_factors(torch.empty_like(first[:1])[:, None], first[:1])
        made = made._replace(
            outer_factors=None if parts is None else (parts[0].shape[2], parts[1].shape[2])
        )
    return made


def empty(made: Pass) -> Tally:
    """The record of no samples."""
    pulse = pulse_init(fitted(made.model, made.first[:AROUND]), each=made.how.outputs == "each")
    return tallies.init(made.columns, made.blocks, pulse, made.first.device)


def read(
    made: Pass,
    kept: Tally,
    numbered: Iterable[tuple[int, Float[Tensor, "_ ..."]]],
    *,
    progress: Callable[[int], object] | None = None,
    after: Callable[[Tally, int], object] | None = None,
    before: int = 0,
) -> Tally:
    """Take the rows of every batch and fold them; sum the moments of the samples and the squares of the outputs.

    A block of rows goes into a Gram matrix only if the model is coarse enough for it (`gram.allowed`), the question is
    invariance, and its samples are not among the first, of which there are twice as many as columns: with fewer, null directions
    exist that every row satisfies exactly, whatever the model's rounding, and only a QR keeps those exact.

    A GPU is never waited for, but for numbers that are not finite, one batch later. Samples that do not fit into its memory
    together are taken in outer_factors, from then on.

    Args:
        made: how the pass is made.
        kept: what is kept of the samples before.
        numbered: batches, each with the number of its first sample in the data.
        progress: called with the number of samples after each batch.
        after: called after each batch with what is kept, and the number of the next sample.
        before: number of the first sample to come, where none comes any more.

    Raises:
        NonFiniteError: a derivative is not finite; the message names the sample.
        ArgumentError: the dealer's groups do not fit the samples.
        DeviceMemoryError: not even one sample fits into the memory of the device.
    """
    most = samples_at_once(made.how.outputs, made.model, made.columns)
    late, precomputed, room, last = Later(), None, torch.empty(0), before
    for start, batch in numbered:
        number, stop = start, start + len(batch)
        while number < stop:
            x = batch[number - start : number - start + most]
            try:
                precomputed = made.action.precompute(x, precomputed)
                taken = _taken(made, kept, x, number, precomputed, room)
            except torch.OutOfMemoryError as error:
                most, precomputed, room, taken = (
                    fewer(len(x), made.first.device, error),
                    None,
                    torch.empty(0),
                    None,
                )
            if taken is None:  # now that nothing holds what was made on the way
                late.settle()  # which lets go of the rows before
                kept = kept._replace(fits=most)
                torch.cuda.empty_cache()
                continue
            late.put(
                taken.finite, partial(_check_finite, taken.rows, taken.y, number, made.model.name)
            )
            kept, room = _with(made, taken, number + len(x)), taken.room
            number += len(x)
            if progress is not None:
                progress(len(x))
        last = stop
        if after is not None:
            late.settle()
            after(kept, stop)
    late.settle()
    return _folded_in(made, kept, kept.waiting.rest(), last)


class _Taken(NamedTuple):
    """What some samples add, and the record with all of it but their rows."""

    rows: Float[Tensor, "b k g"]
    y: Float[Tensor, "b c"]
    finite: Bool[Tensor, ""]
    kept: Tally
    piece: blocks.Piece | None
    room: Float[Tensor, "..."]


def _taken(
    made: Pass,
    kept: Tally,
    x: Float[Tensor, "b ..."],
    number: int,
    precomputed: Any,
    room: Float[Tensor, "..."],
) -> _Taken:
    """Rows, moments and sums of some samples, the first of which has this number.

    Here the memory may run out, so nothing is changed but the room and which samples were seen, and both may be seen twice.
    """
    rows, y = polarize(
        made.model,
        made.action,
        x,
        made.how,
        output_action=made.output_action,
        first=number,
        halved=made.outer_factors is not None,
        precomputed=precomputed,
    )
    block = (
        torch.zeros(len(x), dtype=torch.int64)
        if made.dealer is None
        else made.dealer.deal(number, len(x))
    )
    moments, room = moments_of(made.action, x, precomputed, room, block, made.blocks)
    enough = made.squares and number + len(x) > 2 * made.columns
    piece = None if made.blocks == 1 else blocks.sort(rows, block, made.blocks, squared=enough)
    pulse = pulse_add(
        kept.pulse,
        rows[..., made.n_output_generators :],
        y,
        split=None if made.outer_factors is None else made.outer_factors[0],
    )
    more = kept._replace(
        gathered=blocks.add_moments(kept.gathered, moments),
        pulse=pulse,
        samples=kept.samples + len(x),
        squares=kept.squares + torch.linalg.vector_norm(y, dtype=torch.float64).square(),
        inputs=kept.inputs + square_of(x),
    )
    kept.distinct.add(x)
    return _Taken(rows, y, torch.isfinite(rows.sum() + y.sum()), more, piece, room)


def fewer(samples: int, device: torch.device, error: Exception) -> int:
    """How many samples to try next, where so many did not fit.

    Raises:
        DeviceMemoryError: it was only one.
    """
    if samples == 1:
        raise DeviceMemoryError(
            f"not even one sample fits into the memory of {device} ({str(error).splitlines()[0]}). Use a device with "
            "more memory, a model in half precision, or outputs='sum'."
        ) from error
    return (samples + 1) // 2


def _with(made: Pass, taken: _Taken, seen: int) -> Tally:
    """The record with some more samples; `seen` samples of the data come before the next."""
    kept = taken.kept
    if taken.piece is None:
        return _folded_in(made, kept, kept.waiting.put(taken.rows.flatten(0, 1)), seen)
    return kept._replace(gathered=blocks.add(kept.gathered, taken.piece))


def _folded_in(made: Pass, kept: Tally, full: Iterable[Float[Tensor, "m p"]], seen: int) -> Tally:
    """The record with blocks of rows folded in; `seen` samples of the data come before the end of the last."""
    state, enough = kept.rows, seen > 2 * made.columns
    for block in full:
        if made.outer_factors is None:
            state = tallies.fold(state, block, squared=made.squares and enough)
            continue
        left, right = block.split(list(made.outer_factors), dim=1)
        if enough:
            state = state._replace(squared=gram.update_products(state.squared, left, right))
        else:
            formed = torch.einsum("mp,mq->mpq", left, right).flatten(1)
            state = tallies.fold(state, formed, squared=False)
    return kept._replace(rows=state)


def finish(made: Pass, kept: Tally) -> Streamed:
    """What the later stages need of all the data.

    Args:
        made: how the pass was made.
        kept: what was kept of all samples; no rows wait.

    Raises:
        ArgumentError: there are more labels of groups than samples.
        NonFiniteError: the moments overflow.
    """
    dealt = None
    if made.dealer is not None:
        made.dealer.finish(kept.samples)
    if made.blocks == 1:
        rows, name = tallies.settled(kept.rows)
        moment = kept.gathered.moments
    else:
        rows, dealt, name = blocks.settled(kept.gathered)
        moment = dealt.moments
    moment = torch.zeros(0, 0, dtype=torch.float64) if moment is None else moment.sum(0).cpu()
    floor, noise = roundings(made.action, made.first, moment, float(kept.inputs) / kept.samples)
    health = diagnose(
        kept.pulse,
        dtype=coarsest(made.first.dtype, made.model.arithmetic),
        outputs=made.how.outputs,
    )
    groups = None if made.dealer is None else made.dealer.different
    distinct = kept.distinct.count if groups is None else min(kept.distinct.count, groups)
    return Streamed(
        rows,
        moment,
        kept.samples,
        float(kept.squares) / kept.samples,
        name,
        floor,
        noise,
        dealt,
        health,
        distinct,
        kept.fits,
    )


def _check_finite(
    rows: Float[Tensor, "b k g"], y: Float[Tensor, "b c"], first: int, name: str
) -> None:
    """Raise `NonFiniteError` naming the first sample whose output or rows hold NaN or infinity."""
    for values, sentence in (
        (y, "{} returned NaN or infinity for sample {}. Check it there, or remove the sample."),
        (
            rows,
            "the derivative of {} at sample {} is NaN or infinite. Remove the sample, or make the model smooth there: a square "
            "root or a norm has no derivative at 0.",
        ),
    ):
        finite = torch.isfinite(values).flatten(1).all(1)
        if not bool(finite.all()):
            raise NonFiniteError(sentence.format(name, first + int(finite.to(torch.int8).argmin())))
