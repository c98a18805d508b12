"""One pass over the data: all that the later stages need to know of it."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg import accumulate, blocks, gram
from liegg._distinct import Distinct
from liegg._errors import NonFiniteError
from liegg.actions import Action
from liegg.blocks import Dealer, Parts
from liegg.health import Health, Pulse, diagnose, pulse_add, pulse_init
from liegg.model import Model
from liegg.polarization import ROW_ELEMENTS, Plan, polarize, rows_per_sample

COARSE_FLOOR = 1e-6
"""Share of the displacement below which nothing can be told apart where its sum is taken in float32: ten times its rounding."""


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


class Folded(NamedTuple):
    """Rows while they are being folded.

    Attributes:
        exact: those that went into an R factor.
        squared: those that were summed to a Gram matrix.
    """

    exact: accumulate.RFactor
    squared: gram.Gram


def stream(
    model: Model,
    action: Action,
    first: Float[Tensor, "b ..."],
    rest: Iterator[Float[Tensor, "b ..."]],
    how: Plan,
    *,
    output_action: Action | None = None,
    dealer: Dealer | None = None,
    progress: Callable[[int], object] | None = None,
) -> Streamed:
    """Take the rows of every batch and fold them; sum the moments of the samples and the squares of the outputs.

    A block of rows goes into a Gram matrix only if the model is coarse enough for it (`gram.allowed`), the question is
    invariance, and more samples than twice the columns were seen: with fewer, null directions exist that every row satisfies
    exactly, whatever the model's rounding, and only a QR keeps those exact.

    Args:
        model: the probed model.
        action: candidate generators.
        first: the first batch.
        rest: the batches after it.
        how: how rows are taken.
        output_action: action on the outputs, for equivariance.
        dealer: deals the samples out to blocks that are kept apart; None keeps no more than the sum.
        progress: called with the number of samples after each batch.

    Raises:
        NonFiniteError: a derivative is not finite; the message names the sample.
        ArgumentError: the dealer's groups do not fit the samples.
    """
    columns = action.size + (0 if output_action is None else output_action.size)
    squared = gram.allowed(first.dtype) and output_action is None
    whole = dealer is None or dealer.count == 1
    parts = action.halves(torch.empty_like(first[:1])[:, None], first[:1]) if squared and whole and how.route != "jvp" else None
    most = max(1, ROW_ELEMENTS // (columns * rows_per_sample(how.outputs, model)))
    signs = torch.Generator().manual_seed(how.seed)
    gathered = blocks.init(1 if dealer is None else dealer.count, 1 if whole else columns, first.device)
    room = torch.empty(0)
    squares = squared_inputs = torch.zeros((), dtype=torch.float64, device=first.device)
    samples = 0
    pulse: Pulse | None = None
    different = Distinct(4 * columns + 1)
    replies = 0 if output_action is None else output_action.size

    def pieces() -> Iterator[Float[Tensor, "_ g"]]:
        nonlocal gathered, samples, room, squares, squared_inputs, pulse
        derived = None
        for x in (part for batch in chain([first], rest) for part in batch.split(most)):
            derived = action.derive(x, derived)
            squared_inputs = squared_inputs + square_of(x)
            rows, y = polarize(
                model, action, x, how, output_action=output_action, signs=signs, halved=parts is not None, derived=derived
            )
            squares = squares + torch.linalg.vector_norm(y, dtype=torch.float64).square()
            samples += x.shape[0]
            _check_finite(rows, y, samples - x.shape[0], model.name)
            different.add(x)
            pulse = pulse or pulse_init(y, each=how.outputs == "each")
            pulse = pulse_add(pulse, rows[..., replies:], y, split=None if parts is None else parts[0].shape[2])
            block = torch.zeros(len(x), dtype=torch.int64) if dealer is None else dealer.deal(len(x))
            moments, room = moments_of(action, x, derived, room, block, len(gathered.samples))
            gathered = blocks.add_moments(gathered, moments)
            if whole:
                yield rows.flatten(0, 1)
            else:
                gathered = blocks.add(gathered, rows, block, squared=squared and samples > 2 * columns)
            if progress is not None:
                progress(x.shape[0])

    state = folded(columns, first.device)
    for block in accumulate.blocks(pieces(), columns):
        enough = samples > 2 * columns
        if parts is not None:
            left, right = block.split([part.shape[2] for part in parts], dim=1)
            if enough:
                state = state._replace(squared=gram.update_products(state.squared, left, right))
                continue
            block = torch.einsum("mp,mq->mpq", left, right).flatten(1)
        state = fold(state, block, squared=squared and enough)
    if dealer is not None:
        dealer.finish()
    dealt = None
    if whole:
        rows, name = settled(state)
        moment = gathered.moments
    else:
        rows, dealt, name = blocks.settled(gathered)
        moment = dealt.moments
    kept = torch.zeros(0, 0, dtype=torch.float64) if moment is None else moment.sum(0).cpu()
    trivial_floor, noise = roundings(action, first, kept, float(squared_inputs) / samples)
    health = None if pulse is None else diagnose(pulse, dtype=first.dtype, outputs=how.outputs)
    grouped = dealer is not None and dealer.groups is not None
    distinct = min(different.count, len(dealer.seen)) if dealer is not None and grouped else different.count
    return Streamed(rows, kept, samples, float(squares) / samples, name, trivial_floor, noise, dealt, health, distinct)


def folded(columns: int, device: torch.device | None = None) -> Folded:
    """No rows at all."""
    return Folded(accumulate.init(columns, device), gram.init(columns, device))


def fold(state: Folded, rows: Float[Tensor, "m g"], *, squared: bool) -> Folded:
    """Add rows: to the Gram matrix if they may be squared, else to the R factor."""
    if squared:
        return state._replace(squared=gram.update(state.squared, rows))
    return state._replace(exact=accumulate.update(state.exact, rows))


def settled(state: Folded) -> tuple[accumulate.RFactor | gram.Gram, str]:
    """All rows in one, on the CPU, and how they were kept: `"qr"`, `"gram"` or `"qr+gram"`."""
    exact, summed = state
    if summed.rows and not exact.rows:
        return gram.Gram(summed.matrix.cpu(), summed.rows), "gram"
    both = accumulate.merge(exact, gram.factor(summed)) if summed.rows else exact
    return accumulate.RFactor(both.r.cpu(), both.rows), "qr+gram" if summed.rows else "qr"


def moments_of(
    action: Action, x: Float[Tensor, "b ..."], derived: Any, room: Float[Tensor, "..."], block: Int[Tensor, " b"], count: int = 1
) -> tuple[Float[Tensor, "p s s"], Float[Tensor, "..."]]:
    """Moments of the blocks of one batch, and room in float64 to be used again for the next.

    Args:
        action: candidate generators.
        x: the batch.
        derived: what `Action.derive` said of it.
        room: what the call before returned; anything empty for the first.
        block: block of every sample.
        count: number of blocks.
    """
    if derived is None:
        if len(room) < len(x):
            room = torch.empty_like(x, dtype=torch.float64)
        x = room[: len(x)].copy_(x)  # into memory that is there: new pages cost more than the sum
    if count == 1:
        return (action.moment(x) if derived is None else action.moment(x, derived=derived))[None], room
    return action.moments(x, block, count, derived=derived), room


def roundings(
    action: Action, first: Float[Tensor, "b ..."], moment: Float[Tensor, "s s"], input_square: float
) -> tuple[float, float]:
    """What rounding alone may do: `Streamed.trivial_floor` and `Streamed.noise`.

    Args:
        action: candidate generators.
        first: the first batch.
        moment: summed moments of all samples.
        input_square: mean squared length of a sample.

    Raises:
        NonFiniteError: the moments overflow.
    """
    if not bool(torch.isfinite(moment).all()):
        raise NonFiniteError(
            "the squared motion of the data overflows: its numbers are too large for their precision. Divide them by their largest."
        )
    coarse = action.derive(first[:1]) is not None and first.dtype != torch.float64
    precision = torch.promote_types(first.dtype, torch.float32) if coarse else torch.float64
    return COARSE_FLOOR if coarse else 0.0, action.noise(precision, input_square, tuple(first.shape[1:]))


def _check_finite(rows: Float[Tensor, "b k g"], y: Float[Tensor, "b c"], first: int, name: str) -> None:
    """Raise `NonFiniteError` naming the first sample whose output or rows hold NaN or infinity."""
    if bool(torch.isfinite(rows.sum() + y.sum())):  # one reduction for the usual case; the exact search only on suspicion
        return
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


def square_of(x: Float[Tensor, "b ..."]) -> Float[Tensor, ""]:
    """Sum of squares, in the batch's own precision (float32 at least): a size is all that is asked of it."""
    return torch.linalg.vector_norm(x, dtype=torch.promote_types(x.dtype, torch.float32)).double().square()
