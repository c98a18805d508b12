r"""Stage 4'', blocks: the samples dealt out to a bounded number of blocks, the rows and moments of each kept apart.

What is kept of all the data is the sum over the blocks; how the blocks differ tells how sure it is. Memory is that of one factor
and one moment per block, whatever the number of samples.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import arranged
from liegg.polarization import gram
from liegg.polarization import r_factor as accumulate
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import BLOCK_COLUMNS, RFactor

COUNT, FEWEST = 32, 12
"""Blocks where the candidates are few, and below which an interval would mean little."""

COLUMNS = 2048
"""Columns of all blocks up to which there are more than the fewest: each block costs as many rows in the end as it has columns."""

NUMBERS = 2**22
"""Numbers kept in the factors of all blocks, at most: 32 MB, which 591 candidates fill."""

PENDING = 256
"""Fewest rows of a block to a QR."""

TALL = 4
"""Rows of one sample, in multiples of the columns, from which on they are folded by themselves, before they are sorted to blocks:
few samples of many rows would fill a fraction of the room that all blocks take side by side."""


class Parts(NamedTuple):
    """What is kept of every block, on the CPU.

    Attributes:
        rows: rows of each block, folded to an R factor or summed to a Gram matrix with both triangles.
        moments: summed moments of each.
        samples: number of samples in each.
    """

    rows: tuple[RFactor | Gram, ...]
    moments: Float[Tensor, "p s s"]
    samples: tuple[int, ...]


def count_for(columns: int) -> int:
    """Blocks that so many columns allow; 1 if they are too many to keep enough of them."""
    columns = max(1, columns)
    count = min(COUNT, max(FEWEST, COLUMNS // columns))
    return count if count * columns**2 <= NUMBERS else 1


@dataclass(frozen=True, eq=False)
class Dealer:
    """Deals samples out to blocks: one after the other, or those of a group together.

    Attributes:
        count: number of blocks.
        groups: label of every sample, numbered in the order in which they come; None for samples that are independent.
    """

    count: int
    groups: Int[Tensor, " n"] | None = None

    def deal(self, first: int, samples: int) -> Int[Tensor, " b"]:
        """Block of each of some samples, by their numbers in the data alone: it does not matter who reads them, or when.

        Args:
            first: number of the first of them.
            samples: how many there are.

        Raises:
            ArgumentError: there are fewer labels than samples.
        """
        if self.groups is None:
            return torch.arange(first, first + samples) % self.count
        labels = self.groups[first : first + samples]
        if len(labels) < samples:
            raise ArgumentError(
                f"groups has {len(self.groups)} labels, but the data has more samples. Give one to each sample."
            )
        return labels % self.count

    def finish(self, samples: int) -> None:
        """Raise `ArgumentError` unless every label had its sample."""
        if self.groups is not None and samples < len(self.groups):
            raise ArgumentError(
                f"groups has {len(self.groups)} labels for {samples} samples. Give one to each sample."
            )

    @property
    def different(self) -> int | None:
        """Number of groups; None for samples that are independent."""
        return None if self.groups is None else len(self.groups.unique())


def as_groups(groups: Any) -> Int[Tensor, " n"] | None:
    """Labels as whole numbers; anything that can be told apart will do as a label.

    >>> as_groups(["a", "b", "a"])
    tensor([0, 1, 0])
    """
    if groups is None:
        return None
    if isinstance(groups, str) or not hasattr(groups, "__len__") or getattr(groups, "ndim", 1) != 1:
        raise ArgumentError(
            "groups must be a list or an array with one label for every sample, for example [0, 0, 1, 1]."
        )
    labels = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    labels = [
        label.tolist() if isinstance(label, Tensor) else label for label in labels
    ]  # tensors of equal value are no equal keys
    if any(label != label for label in labels):
        raise ArgumentError(
            "groups holds a label that is not a number (NaN), which equals no other. Give every sample a label."
        )
    numbers: dict[Any, int] = {}
    try:
        return torch.tensor(
            [numbers.setdefault(label, len(numbers)) for label in labels], dtype=torch.int64
        )
    except TypeError as error:
        raise ArgumentError(
            f"groups holds a label that cannot be compared ({error}). Use numbers or strings."
        ) from error


class Gathered(NamedTuple):
    """What is kept of the blocks while the data streams by; its tensors are added to in place.

    Attributes:
        factors: R factor of each block.
        squares: Gram matrix of each block.
        pending: rows that wait for a QR.
        exact: number of rows in `factors` and `pending`, by block.
        squared: number of rows in `squares`, by block.
        moments: summed moments of each block, None before the first.
        samples: number of samples, by block.
    """

    factors: Float[Tensor, "p g g"]
    squares: Float[Tensor, "p g g"]
    pending: tuple[Float[Tensor, "p _ g"], ...]
    exact: Int[Tensor, " p"]
    squared: Int[Tensor, " p"]
    moments: Float[Tensor, "p s s"] | None
    samples: Int[Tensor, " p"]


def init(count: int, columns: int, device: torch.device) -> Gathered:
    """Nothing yet."""
    zeros = torch.zeros(count, dtype=torch.int64)
    factors = torch.zeros(count, columns, columns, dtype=torch.float64, device=device)
    return Gathered(factors, torch.zeros_like(factors), (), zeros, zeros, None, zeros)


class Piece(NamedTuple):
    """Rows of some samples, sorted to their blocks.

    Attributes:
        rows: rows of each block, filled up with zeros; or their Gram matrices, where `summed`.
        dealt: number of samples, by block.
        each: rows to a sample.
        squared: whether they go into Gram matrices.
        summed: whether they have done so already.
    """

    rows: Float[Tensor, "p _ g"]
    dealt: Int[Tensor, " p"]
    each: int
    squared: bool
    summed: bool = False


def sort(
    rows: Float[Tensor, "b k g"], block: Int[Tensor, " b"], count: int, *, squared: bool
) -> Piece:
    """Rows of some samples sorted to their blocks; most of the memory that adding them takes is taken here.

    Args:
        rows: their rows.
        block: block of each.
        count: number of blocks.
        squared: whether the rows may be squared.
    """
    dealt, each = torch.bincount(block, minlength=count), rows.shape[1]
    tall = each >= TALL * rows.shape[2]
    if squared and tall:
        return Piece(
            arranged(rows.mT @ rows, block, count).sum(1), dealt, each, squared, summed=True
        )
    return Piece(
        arranged(torch.linalg.qr(rows, mode="r").R if tall else rows, block, count).flatten(1, 2),
        dealt,
        each,
        squared,
    )


def add(state: Gathered, piece: Piece) -> Gathered:
    """Add rows of some samples to their blocks."""
    rows = piece.dealt * piece.each
    state = state._replace(samples=state.samples + piece.dealt)
    if piece.squared:
        _ = (
            state.squares.add_(piece.rows)
            if piece.summed
            else state.squares.baddbmm_(piece.rows.mT, piece.rows)
        )
        return state._replace(squared=state.squared + rows)
    state = state._replace(pending=(*state.pending, piece.rows), exact=state.exact + rows)
    waiting = sum(part.shape[1] for part in state.pending)
    return (
        folded(state) if waiting >= max(BLOCK_COLUMNS * state.factors.shape[2], PENDING) else state
    )


def folded(state: Gathered) -> Gathered:
    """The same with no rows waiting."""
    if not state.pending:
        return state
    r = torch.linalg.qr(torch.cat([state.factors, *state.pending], dim=1), mode="r").R
    columns = r.shape[2]
    factors = torch.zeros_like(state.factors)
    factors[:, : r.shape[1]] = r[:, :columns]
    return state._replace(factors=factors, pending=())


def merge(one: Gathered, other: Gathered) -> Gathered:
    """What is kept of the samples of both."""
    one, other = folded(one), folded(other)
    both = folded(one._replace(pending=(other.factors,)))
    moments = (
        one.moments
        if other.moments is None
        else other.moments
        if one.moments is None
        else one.moments + other.moments
    )
    return both._replace(
        squares=one.squares + other.squares,
        exact=one.exact + other.exact,
        squared=one.squared + other.squared,
        moments=moments,
        samples=one.samples + other.samples,
    )


def add_moments(state: Gathered, moments: Float[Tensor, "p s s"]) -> Gathered:
    """Add the moments of some samples to those of their blocks."""
    return state._replace(moments=moments if state.moments is None else state.moments + moments)


def settled(state: Gathered) -> tuple[RFactor | Gram, Parts, str]:
    """All rows in one, those of every block that has samples, both on the CPU; and how they were kept."""
    state = folded(state)
    used = [number for number, samples in enumerate(state.samples.tolist()) if samples]
    factors, squares = state.factors.cpu(), state.squares.cpu()
    exact, squared = state.exact.tolist(), state.squared.tolist()
    moments = (
        torch.zeros(len(state.samples), 0, 0, dtype=torch.float64)
        if state.moments is None
        else state.moments.cpu()
    )
    if not any(exact):
        whole: RFactor | Gram = Gram(squares.sum(0), sum(squared))
        rows: tuple[RFactor | Gram, ...] = tuple(Gram(squares[i], squared[i]) for i in used)
        kept = "gram"
    else:
        folds = accumulate.update(
            accumulate.init(factors.shape[2]), factors.flatten(0, 1)
        )._replace(rows=sum(exact))
        whole = (
            accumulate.merge(folds, gram.factor(Gram(squares.sum(0), sum(squared))))
            if any(squared)
            else folds
        )
        rows = tuple(RFactor(factors[i], exact[i]) for i in used)
        kept = "qr"
    if any(exact) and any(squared):
        rows = tuple(
            accumulate.merge(
                RFactor(factors[i], exact[i]), gram.factor(Gram(squares[i], squared[i]))
            )
            for i in used
        )
        kept = "qr+gram"
    return whole, Parts(rows, moments[used], tuple(state.samples[used].tolist())), kept
