"""Everything that a pass over the data keeps, as one record: it can be added to, merged with that of other samples, and stored."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.inputs.distinct import Distinct, distinct_merge
from liegg.polarization import gram
from liegg.polarization import r_factor as accumulate
from liegg.polarization import sample_blocks as blocks
from liegg.polarization.diagnostics import Pulse, pulse_merge
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor, Waiting
from liegg.polarization.sample_blocks import Gathered


class Folded(NamedTuple):
    """Rows while they are being folded.

    Attributes:
        exact: those that went into an R factor.
        squared: those that were summed to a Gram matrix.
    """

    exact: RFactor
    squared: Gram


class Tally(NamedTuple):
    """What is kept of the samples seen so far; its tensors are added to in place.

    Attributes:
        rows: all rows, where samples are not dealt out to blocks.
        waiting: rows that wait to be folded with others.
        gathered: rows of the blocks, and the moments.
        squares: sum of the squared lengths of the outputs.
        inputs: the same of the samples.
        samples: number of samples.
        pulse: sums that tell what is wrong with the model.
        distinct: which of the samples differ.
        fits: samples that fitted into the memory of the device at once, where those of a batch did not; else 0.
    """

    rows: Folded
    waiting: Waiting
    gathered: Gathered
    squares: Float[Tensor, ""]
    inputs: Float[Tensor, ""]
    samples: int
    pulse: Pulse
    distinct: Distinct
    fits: int = 0


def init(columns: int, count: int, pulse: Pulse, device: torch.device) -> Tally:
    """Nothing yet.

    Args:
        columns: generators, with those of an output action.
        count: number of blocks; 1 if the samples are not dealt out.
        pulse: sums of no samples, as `pulse_init` begins them.
        device: where rows are.
    """
    zero = torch.zeros((), dtype=torch.float64, device=device)
    gathered = blocks.init(count, 1 if count == 1 else columns, device)
    whole = folded(columns if count == 1 else 1, device)
    return Tally(whole, Waiting(columns), gathered, zero, zero, 0, pulse, Distinct(4 * columns + 1))


def folded(columns: int, device: torch.device | None = None) -> Folded:
    """No rows at all."""
    return Folded(accumulate.init(columns, device), gram.init(columns, device))


def fold(state: Folded, rows: Float[Tensor, "m g"], *, squared: bool) -> Folded:
    """Add rows, which must be finite: to the Gram matrix if they may be squared, else to the R factor."""
    if squared:
        return state._replace(squared=gram.extend(state.squared, rows))
    return state._replace(exact=accumulate.extend(state.exact, rows))


def settled(state: Folded) -> tuple[RFactor | Gram, str]:
    """All rows in one, on the CPU, and how they were kept: `"qr"`, `"gram"` or `"qr+gram"`."""
    exact, summed = state
    if summed.rows and not exact.rows:
        return Gram(summed.matrix.cpu(), summed.rows), "gram"
    both = accumulate.merge(exact, gram.factor(summed)) if summed.rows else exact
    return RFactor(both.r.cpu(), both.rows), "qr+gram" if summed.rows else "qr"


def merge(one: Tally, other: Tally) -> Tally:
    """What is kept of the samples of both; no rows may be waiting in either.

    Commutative and associative up to rounding, so that many processes may merge in any order.
    """
    exact, squared = one.rows.exact, one.rows.squared
    rows = Folded(
        accumulate.merge(exact, other.rows.exact),
        Gram(squared.matrix + other.rows.squared.matrix, squared.rows + other.rows.squared.rows),
    )
    return Tally(
        rows,
        one.waiting,
        blocks.merge(one.gathered, other.gathered),
        one.squares + other.squares,
        one.inputs + other.inputs,
        one.samples + other.samples,
        pulse_merge(one.pulse, other.pulse),
        distinct_merge(one.distinct, other.distinct),
        min(one.fits or other.fits, other.fits or one.fits),
    )


def to_tensors(tally: Tally) -> dict[str, Tensor]:
    """The record as named tensors on the CPU, from which `from_tensors` makes it again, bit for bit."""
    gathered, pulse = tally.gathered, tally.pulse
    kept: dict[str, Tensor | None] = {
        "rows.r": tally.rows.exact.r,
        "rows.matrix": tally.rows.squared.matrix,
        "waiting": tally.waiting.rows,
        "blocks.factors": gathered.factors,
        "blocks.squares": gathered.squares,
        "blocks.exact": gathered.exact,
        "blocks.squared": gathered.squared,
        "blocks.moments": gathered.moments,
        "blocks.samples": gathered.samples,
        "squares": tally.squares,
        "inputs": tally.inputs,
        "distinct": tally.distinct.seen,
    }
    counts = [
        tally.rows.exact.rows,
        tally.rows.squared.rows,
        tally.samples,
        len(gathered.pending),
        pulse.samples,
        tally.fits,
    ]
    kept["counts"] = torch.tensor(counts)
    kept |= {f"pending.{i}": part for i, part in enumerate(gathered.pending)}
    kept |= {
        f"pulse.{name}": value
        for name, value in pulse._asdict().items()
        if isinstance(value, Tensor)
    }
    found: dict[str, Tensor] = {}
    for name, value in kept.items():
        if value is not None:
            here = value.detach().cpu().contiguous()
            shared = any(
                here.data_ptr() == other.data_ptr() for other in found.values()
            )  # zeros begin as one
            part = (
                here.untyped_storage().nbytes() > here.nbytes
            )  # what is sent would carry all of the buffer
            found[name] = here.clone() if shared or part else here
    return found


def from_tensors(kept: dict[str, Tensor], empty: Tally) -> Tally:
    """What `to_tensors` wrote down.

    Args:
        kept: the named tensors.
        empty: a record of no samples with the same columns, blocks and outputs, on the device to go on with.

    Raises:
        KeyError: a tensor is missing.
        ValueError: one has another shape than this analysis needs, or more rows wait than this device lets wait.
    """
    device = empty.squares.device
    exact, squared, samples, pending, seen, fits = kept["counts"].tolist()
    for name, like in to_tensors(empty).items():
        if name not in ("waiting", "distinct") and name in kept and kept[name].shape != like.shape:
            raise ValueError(
                f"{name} has shape {tuple(kept[name].shape)}; this analysis needs {tuple(like.shape)}"
            )

    def there(name: str) -> Any:
        return kept[name].clone().to(device) if name in kept else None

    rows = Folded(RFactor(there("rows.r"), exact), Gram(there("rows.matrix"), squared))
    gathered = Gathered(
        there("blocks.factors"),
        there("blocks.squares"),
        tuple(there(f"pending.{i}") for i in range(pending)),
        kept["blocks.exact"].clone(),
        kept["blocks.squared"].clone(),
        there("blocks.moments"),
        kept["blocks.samples"].clone(),
    )
    values = {
        name: there(f"pulse.{name}")
        for name, value in empty.pulse._asdict().items()
        if isinstance(value, Tensor)
    }
    waiting = Waiting(empty.waiting.columns)
    if "waiting" in kept and len(kept["waiting"]) and list(waiting.put(there("waiting"))):
        raise ValueError(
            f"{len(kept['waiting'])} rows wait, which is more than a block of this device"
        )
    return Tally(
        rows,
        waiting,
        gathered,
        there("squares"),
        there("inputs"),
        samples,
        empty.pulse._replace(samples=seen, **values),
        Distinct(empty.distinct.most, kept["distinct"].clone()),
        fits,
    )
