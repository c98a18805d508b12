"""Candidate matrices with few entries each: all work is done on the entries."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.actions.base import MatrixAction
from liegg.actions.displacement import Displacement
from liegg.actions.generators import check_inside, check_side
from liegg.actions.names import checked_names, with_names

Map = Callable[[Tensor], Tensor]
"""A map of flat samples `[b, n]`."""

SERIES_TERMS = 20
"""Terms of the exponential series of a matrix of norm at most 1: the rest is below 1/21!."""

MAX_TEMPORARY = 2**23
"""Maximum size of a temporary; larger batches are processed in parts."""


class StructuredAction(MatrixAction):
    """Linear maps of all $n$ numbers of a sample, whose matrices are not formed.

    The base of `Sparse` and `KroneckerSum`. Their candidates are orthonormal as matrices.
    """

    @abstractmethod
    def _maps(self, h: Float[Tensor, "t g"]) -> list[tuple[Map, Float[Tensor, ""]]]:
        """Generators as maps of flat samples, each with a bound on how much it lengthens a vector."""

    @abstractmethod
    def _coordinates(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Inner products of matrices with the candidates."""

    @abstractmethod
    def _displaced(self, numbers: Float[Tensor, "b n"], *, samples: bool) -> Float[Tensor, "g g"]:
        """Displacement, summed, from samples `[b, n]` or from their second moment `[n, n]`."""

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential by its series, in steps of norm at most 1.

        `torch.linalg.matrix_exp` would need the matrix, and can be off by 1e-11.
        """
        wide = torch.promote_types(x.dtype, torch.float32)
        ((apply, norm),) = self._maps(self._vector(h).to(x.device, wide)[None])
        steps = max(1, math.ceil(float(norm.detach())))
        moved = x.reshape(-1, self.ambient).to(wide)
        for _ in range(steps):
            term = moved
            for order in range(1, SERIES_TERMS + 1):
                term = apply(term) / (steps * order)
                moved = moved + term
        return moved.to(x.dtype).reshape(x.shape)

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Apply several generators."""
        wide = torch.promote_types(x.dtype, torch.float32)
        flat = x.reshape(-1, self.ambient).to(wide)
        moved = [apply(flat).to(x.dtype) for apply, _ in self._maps(h.to(x.device, wide))]
        return torch.stack(moved).reshape(len(h), *x.shape)

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "s s"]:
        """Second moment of the numbers; the displacement if there are fewer candidates."""
        flat = x.reshape(-1, self.ambient)
        many = self.size > self.ambient
        return flat.mT @ flat if many else self._displaced(flat, samples=True)

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """The mean, from what `moment` gave."""
        many = self.size > self.ambient
        whole = self._displaced(moment, samples=False).div_(samples) if many else moment / samples
        return Displacement(whole)

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coordinates in the candidates; raise `ArgumentError` for a matrix outside their span."""
        check_side(matrices, self)
        found = self._coordinates(matrices)
        pairs = zip(found, matrices, strict=True)  # one at a time, to save memory
        outside = [float((self.matrices(h[None])[0] - matrix).norm()) for h, matrix in pairs]
        check_inside(matrices.new_tensor(outside), matrices.flatten(1).norm(dim=1), self)
        return found


@dataclass(frozen=True, eq=False)
class Entries:
    r"""The entries of $g$ candidate matrices $[n, n]$ that are orthonormal in the Frobenius inner product.

    Stored twice: matrix by matrix, for rows and sums over samples; and row by row of $[n, n]$, padded
    with zeros, for fields and the displacement.

    Attributes:
        n: side of the matrices.
        size: number of matrices.
        counts: entries of each matrix.
        row: row of every entry, matrix after matrix.
        column: column of every entry.
        value: value of every entry.
        line_matrix: matrix of the entries in each row.
        line_column: column of the entries in each row.
        line_value: value of the entries in each row; 0 where there is none.
    """

    n: int
    size: int
    counts: Int[Tensor, " g"]
    row: Int[Tensor, " e"]
    column: Int[Tensor, " e"]
    value: Float[Tensor, " e"]
    line_matrix: Int[Tensor, "n l"]
    line_column: Int[Tensor, "n l"]
    line_value: Float[Tensor, "n l"]

    @cached_property
    def _moved(self) -> dict[tuple[torch.device, torch.dtype], "Entries"]:
        return {}

    def on(self, device: torch.device, dtype: torch.dtype) -> "Entries":
        """A copy on this device in this precision, made once."""
        if (device, dtype) not in self._moved:
            self._moved[device, dtype] = replace(
                self,
                **{
                    one.name: part.to(device, dtype if part.is_floating_point() else part.dtype)
                    for one in fields(self)
                    if isinstance(part := getattr(self, one.name), Tensor)
                },
            )
        return self._moved[device, dtype]


def entries(
    n: int,
    matrix: Int[Tensor, " e"],
    row: Int[Tensor, " e"],
    column: Int[Tensor, " e"],
    *,
    value: Float[Tensor, " e"],
) -> Entries:
    """Arrange entries `value` of the candidate `matrix` at `row`, `column`; at least one for each."""
    order = torch.argsort(matrix, stable=True)
    matrix, row, column, value = matrix[order], row[order], column[order], value[order].double()
    counts = torch.bincount(matrix)
    by_row = torch.argsort(row, stable=True)
    lengths = torch.bincount(row, minlength=n)
    slot = torch.arange(len(row)) - (lengths.cumsum(0) - lengths)[row[by_row]]
    at = (row[by_row], slot)
    width = int(lengths.max())
    line_matrix, line_column = torch.zeros(2, n, width, dtype=torch.int64)
    line_value = torch.zeros(n, width, dtype=torch.float64)
    line_matrix[at], line_column[at], line_value[at] = matrix[by_row], column[by_row], value[by_row]
    return Entries(n, len(counts), counts, row, column, value, line_matrix, line_column, line_value)


@dataclass(frozen=True, eq=False, repr=False)
class Sparse(StructuredAction):
    r"""Linear maps of all $n$ numbers of a sample by candidate matrices with few entries each.

    Made by `Blocks`, `Banded` and `Weights`. A row costs one product per entry, the displacement a few
    times as many. The mean sensitivity $\kappa$ is that of the candidates, not of all of
    $\mathfrak{gl}(n)$, so defects are those of `Linear(n).restrict(...)` times a common factor.

    Attributes:
        entries: the candidate matrices.
        made: settings that make it again.
        label: how it is written.
        names: of the numbers of a sample; None for x₁, x₂, ...
    """

    entries: Entries
    made: dict[str, Any]
    label: str
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        names = checked_names(self.names, self.ambient, self.label, "number of a flat sample")
        object.__setattr__(self, "names", names)

    @property
    def axes(self) -> tuple[str, ...] | None:
        """The names of the numbers."""
        return None if self.names is None else tuple(self.names)

    def named(self, names: Sequence[Any]) -> "Sparse":
        """The action with these names, if it has none and they are names of its numbers."""
        return with_names(self, names, self.ambient)

    @property
    def size(self) -> int:
        """Number of candidate matrices."""
        return self.entries.size

    @property
    def ambient(self) -> int:
        """Numbers in a sample."""
        return self.entries.n

    def check(self, shape: tuple[int, ...]) -> None:
        """Any shape with `n` numbers."""
        if math.prod(shape) != self.ambient:
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; {self.label} expects {self.ambient} numbers, in any shape."
            )

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        """Products of slope and number at the entries, summed for each candidate."""
        own = self.entries.on(x.device, x.dtype)
        slopes, flat = gradients.flatten(2), x.flatten(1)
        some = max(1, MAX_TEMPORARY // (max(1, slopes.shape[1]) * len(own.value)))
        return torch.cat(
            [
                self._sums(part[..., own.row] * (own.value * numbers[:, own.column])[:, None], own)
                for part, numbers in zip(slopes.split(some), flat.split(some), strict=True)
            ]
        )

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """Summed squares of the numbers, if they are known."""
        return moment.diagonal() if self.size > self.ambient else moment.new_zeros(0)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Dense matrices, meant for few generators."""
        n, own = self.ambient, self.entries.on(coefficients.device, coefficients.dtype)
        weights = coefficients.repeat_interleave(own.counts, dim=1) * own.value
        out = coefficients.new_zeros(len(coefficients), n * n)
        return out.index_add_(1, own.row * n + own.column, weights).unflatten(1, (n, n))

    def settings(self) -> dict[str, Any]:
        """What it was made of; and the names, if there are any."""
        return self.made if self.names is None else self.made | {"names": list(self.names)}

    def __repr__(self) -> str:
        names = "" if self.names is None else f", names={self.names!r}"
        return f"{self.label[:-1]}{names})" if names else self.label

    def _maps(self, h: Float[Tensor, "t g"]) -> list[tuple[Map, Float[Tensor, ""]]]:
        """Entries of the generators, row by row."""
        own = self.entries.on(h.device, h.dtype)
        weights = h[:, own.line_matrix] * own.line_value
        return [(partial(_apply, own, weight), weight.abs().sum(1).max()) for weight in weights]

    def _coordinates(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Sums over the entries."""
        own = self.entries.on(matrices.device, matrices.dtype)
        return self._sums((matrices[:, own.row, own.column] * own.value)[:, None], own)[:, 0]

    def _displaced(self, numbers: Float[Tensor, "b n"], *, samples: bool) -> Float[Tensor, "g g"]:
        r"""$M_{ab} = \sum_i \sum_{jl} G_a(i, j)\, G_b(i, l)\, \langle x_j x_l \rangle$, over the entries in each row."""
        own = self.entries.on(numbers.device, numbers.dtype)
        if samples:
            pairs = numbers.new_zeros(*own.line_value.shape, own.line_value.shape[1])
            for part in numbers.split(max(1, MAX_TEMPORARY // own.line_value.numel())):
                terms = (part[:, own.line_column] * own.line_value).transpose(0, 1)
                pairs += terms.mT @ terms
        else:
            pairs = numbers[own.line_column[:, :, None], own.line_column[:, None]]
            pairs *= own.line_value[:, :, None] * own.line_value[:, None]
        first = own.line_matrix[:, :, None].expand_as(pairs)
        second = own.line_matrix[:, None].expand_as(pairs)
        out = pairs.new_zeros(self.size, self.size)
        return out.index_put_((first, second), pairs, accumulate=True)

    def _sums(self, terms: Float[Tensor, "b k e"], own: Entries) -> Float[Tensor, "b k g"]:
        """Sum over the entries of each candidate; always in the same order."""
        if len(own.value) == own.size:
            return terms
        lines = terms.flatten(0, 1).mT.contiguous()
        return torch.segment_reduce(
            lines, "sum", lengths=own.counts, axis=0, unsafe=True
        ).mT.unflatten(0, terms.shape[:2])


def _apply(
    own: Entries, weight: Float[Tensor, "n l"], flat: Float[Tensor, "b n"]
) -> Float[Tensor, "b n"]:
    """Matrix times vectors, one entry of every row at a time, to save memory."""
    columns = zip(weight.unbind(1), own.line_column.unbind(1), strict=True)
    return sum((w * flat[:, places] for w, places in columns), torch.zeros_like(flat))
