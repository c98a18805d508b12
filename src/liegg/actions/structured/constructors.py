"""Candidates for inputs too large for all n² matrices: diagonal blocks, bands, group weights."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, orthonormal_rows
from liegg.actions.base import MatrixAction
from liegg.actions.structured.sparse import Sparse, entries

Algebra = Float[Tensor, "_ _ _"]
"""Matrices `[r, k, k]`; those of different parts differ in number and size."""


MAX_NUMBERS = 10**7
"""Most numbers in a sample."""


@checked()
def Blocks(  # noqa: N802, one of the actions, which are named as classes are
    sizes: Sequence[int],
    algebra: Algebra | Sequence[Algebra | None] | None = None,
    *,
    order: Sequence[int] | Int[Tensor, " n"] | None = None,
    names: Sequence[str] | None = None,
) -> MatrixAction:
    r"""Block diagonal matrices: each part of a sample has its own linear map.

    $\sum k_i^2$ candidates instead of $n^2$, or fewer with an algebra. For one map that all parts share
    use `Linear(k, copies=...)`.

    Args:
        sizes: numbers in each part.
        algebra: candidates within a part, `[r, k, k]`, for all parts or one per part; None for all
            of gl(k).
        order: indices of a flat sample in the parts, part after part; by default in order.
        names: of the numbers of a flat sample, for words.

    Raises:
        ArgumentError: sizes that are not positive, an algebra of another size than its part, an
            order that is not a permutation.

    Examples:
        >>> from liegg.algebra import so
        >>> (
        ...     Blocks([4] * 196).size,
        ...     Blocks([3] * 1000, so(3)).size,
        ... )  # of 784 pixels; of 1000 points in space
        (3136, 3000)
        >>> colours = (
        ...     torch.arange(12).reshape(3, 4).mT.flatten()
        ... )  # the three colours of each of four pixels
        >>> Blocks([3] * 4, order=colours)
        Blocks(4 blocks of 3, ordered, size=36)
    """
    sides = _integers(sizes, "sizes")
    if not sides or min(sides) < 1:
        raise ArgumentError(
            f"sizes={_short(sides)}: expected positive numbers, for example Blocks([4] * 196)."
        )
    n = sum(sides)
    places = torch.arange(n) if order is None else torch.tensor(_integers(order, "order"))
    if not torch.equal(places.sort().values, torch.arange(n)):
        raise ArgumentError(
            f"order has {len(places)} entries; expected every index from 0 to {n - 1} once: the sizes add up to {n}."
        )
    each = list(algebra) if isinstance(algebra, Sequence) else [algebra] * len(sides)
    if len(each) != len(sides):
        raise ArgumentError(
            f"{len(each)} algebras were given for {len(sides)} blocks; give one per block, or one for all."
        )
    bases: dict[tuple[int, int], tuple[Tensor, Tensor, Tensor, Tensor]] = {}
    found, first, start = [], 0, 0
    for side, own in zip(sides, each, strict=True):
        if (side, id(own)) not in bases:
            bases[side, id(own)] = _block(own, side)
        matrix, row, column, value = bases[side, id(own)]
        found.append((matrix + first, places[row + start], places[column + start], value))
        first, start = first + int(matrix[-1]) + 1, start + side
    parts = (
        f"{len(sides)} blocks of {sides[0]}"
        if len(set(sides)) == 1
        else f"{len(sides)} blocks of {min(sides)} to {max(sides)}"
    )
    made = {
        "kind": "blocks",
        "sizes": sides,
        "algebra": algebra_as_list(algebra),
        "order": None if order is None else places.tolist(),
    }
    label = f"Blocks({parts}{'' if order is None else ', ordered'}, size={first})"
    *places, values = (torch.cat(part) for part in zip(*found, strict=True))
    return Sparse(entries(n, *places, value=values), made, label, names)


def algebra_as_list(algebra: Algebra | Sequence[Algebra | None] | None) -> list | None:
    """An algebra, or one for each of several parts, as JSON values."""
    if algebra is None:
        return None
    single = isinstance(algebra, Tensor)
    return algebra.tolist() if single else [algebra_as_list(own) for own in algebra]


def algebra_from_list(stored: list | None) -> Any:
    """What `algebra_as_list` stored.

    >>> algebra_from_list([None, [[[1.0]]]])
    [None, tensor([[[1.]]], dtype=torch.float64)]
    """
    if stored is None:
        return None
    several = any(own is None or isinstance(own[0][0], list) for own in stored)
    if several:
        return [algebra_from_list(own) for own in stored]
    return torch.tensor(stored, dtype=torch.float64)


@checked()
def Banded(  # noqa: N802
    n: int,
    width: int = 1,
    *,
    shared: bool = False,
    periodic: bool = False,
    names: Sequence[str] | None = None,
) -> MatrixAction:
    r"""Matrices with entries near the diagonal, $|i - j| \le$ `width`: neighbours move each number.

    About $(2w + 1) n$ candidates instead of $n^2$; with `shared` one per diagonal, $2w + 1$ in all:
    convolutions.

    Args:
        n: numbers in a sample.
        width: number of diagonals on either side.
        shared: the same weight along a diagonal.
        periodic: the last number is a neighbour of the first.
        names: of the numbers, for words.

    Raises:
        ArgumentError: a width that does not fit.

    Examples:
        >>> Banded(3000).size, Banded(3000, 2, shared=True).size
        (8998, 5)
    """
    widest = (n - 1) // 2 if periodic else n - 1
    if not 1 <= n <= MAX_NUMBERS or not 0 <= width <= widest:
        raise ArgumentError(
            f"Banded({n}, {width}): expected n from 1 to {MAX_NUMBERS} and a width from 0 to {max(widest, 0)}, "
            "for example Banded(784, 1)."
        )
    row = torch.arange(n).repeat_interleave(2 * width + 1)
    diagonal = torch.arange(2 * width + 1).repeat(n)
    column = row + diagonal - width
    inside = torch.ones_like(row, dtype=torch.bool) if periodic else (column >= 0) & (column < n)
    row, column, diagonal = row[inside], column[inside] % n, diagonal[inside]
    matrix = diagonal if shared else torch.arange(len(row))
    value = torch.bincount(matrix).double().rsqrt()[matrix]
    made = {"kind": "banded", "n": n, "width": width, "shared": shared, "periodic": periodic}
    words = "".join(
        f", {word}=True" for word, on in (("shared", shared), ("periodic", periodic)) if on
    )
    label = f"Banded({n}, {width}{words})"
    return Sparse(entries(n, matrix, row, column, value=value), made, label, names)


@checked()
def Weights(  # noqa: N802
    groups: Sequence[int] | Int[Tensor, " n"], *, names: Sequence[str] | None = None
) -> MatrixAction:
    """One factor per group of numbers: which matter, and which only in proportion to others?

    Args:
        groups: group of every number of a flat sample, from 0; negative for a number that stays.
        names: of the numbers, for words.

    Raises:
        ArgumentError: a group without members.

    Examples:
        >>> Weights([0, 0, 1, 1, -1])
        Weights(2 groups of 5 numbers)
    """
    label = torch.tensor(_integers(groups, "groups"), dtype=torch.int64)
    member = (label >= 0).nonzero()[:, 0]
    counts = torch.bincount(label[member])
    if not len(member) or not bool(counts.all()):
        raise ArgumentError(
            f"groups={_short(label.tolist())}: expected every index from 0, for example Weights([0, 0, 1, 1])."
        )
    made = {"kind": "weights", "groups": label.tolist()}
    value = counts.double().rsqrt()[label[member]]
    return Sparse(
        entries(len(label), label[member], member, member, value=value),
        made,
        f"Weights({len(counts)} groups of {len(label)} numbers)",
        names,
    )


def _block(given: Algebra | None, side: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Matrix, row, column and value of every entry of the candidates within one part."""
    if given is None:
        matrix = torch.arange(side**2)
        return matrix, matrix // side, matrix % side, torch.ones(side**2, dtype=torch.float64)
    basis = algebra_basis(given, side)
    matrix, row, column = basis.nonzero(as_tuple=True)
    return matrix, row, column, basis[matrix, row, column]


def algebra_basis(given: Algebra, side: int) -> Float[Tensor, "q k k"]:
    """Orthonormal matrices with the span of those given, with few entries each.

    Raises:
        ArgumentError: matrices of another size, not finite, or all zero.
    """
    fits = (
        isinstance(given, Tensor)
        and given.is_floating_point()
        and given.ndim == 3
        and given.shape[1:] == (side, side)
    )
    if not fits or not bool(torch.isfinite(given).all()):
        what = f"shape {tuple(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
        raise ArgumentError(
            f"an algebra was given as {what}; expected finite real matrices [r, {side}, {side}], such as liegg.so({side})."
        )
    span = orthonormal_rows(given.detach().to("cpu", torch.float64).flatten(1))
    if not len(span):
        raise ArgumentError("an algebra holds no matrix other than zero; give at least one.")
    basis = canonical_basis(span)
    return torch.where(basis.abs() > 1e-14, basis, 0.0).unflatten(1, (side, side))


def _integers(values: Sequence[int] | Int[Tensor, " n"], name: str) -> list[int]:
    """Integers as a list; raise `ArgumentError` for anything else."""
    listed = values.tolist() if isinstance(values, Tensor) else list(values)
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in listed):
        raise ArgumentError(f"{name}={_short(listed)}: expected a list of integers.")
    return listed


def _short(values: Sequence[object]) -> str:
    """The first of many values."""
    return str(list(values)) if len(values) <= 6 else f"[{', '.join(map(str, values[:6]))}, ...]"
