"""Permutations that keep a table of pairs: automorphisms of a graph whose edges have values, by backtracking."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float

Order = tuple[int, ...]

MOST_ENTRIES, MOST_NODES = 5e7, 20_000
"""Comparisons of rows, times the square of their number, after which the search stops; and most comparisons."""

BASE, PER_ROW, PER_IMAGE = 8, 24, 2
"""Rows that are fixed one after the other, images of each row that are listed, and automorphisms for each image."""


def table_automorphisms(
    values: Float[np.ndarray, "n n c"], tolerance: float, *, movable: Sequence[int] | None = None
) -> Iterator[Order]:
    r"""Permutations p with $v_{p(i)p(j)} = v_{ij}$ up to a tolerance: some for every image of a row, then with that row fixed.

    Args:
        values: numbers of every pair.
        tolerance: difference of numbers that count as equal.
        movable: rows whose images are listed, and the only such images; all by default.

    Examples:
        >>> ring = np.roll(np.eye(5), 1, 0)[:, :, None]
        >>> sorted(table_automorphisms(ring, 0.1))[0]
        (1, 2, 3, 4, 0)
    """
    search = _Search(values, tolerance)
    rows = list(range(len(values))) if movable is None else list(movable)
    allowed = search.first()
    for _ in range(BASE):
        open_ = [row for row in rows if allowed[row, rows].sum() > 1]
        if not open_:
            return
        row = open_[0]
        images = (k for k in rows if k != row and allowed[row, k])
        listed = (search.some(allowed, row, image) for image in images)
        for orders in itertools.islice(filter(None, listed), PER_ROW):
            yield from orders
        allowed = search.assigned(allowed, row, row)


class _Search:
    """Backtracking over what each row may become.

    Attributes:
        left: comparisons of rows that are left.
    """

    def __init__(self, values: Float[np.ndarray, "n n c"], tolerance: float):
        self.values, self.tolerance = values, tolerance
        self.left = min(MOST_NODES, MOST_ENTRIES / len(values) ** 2)

    def first(self) -> Bool[np.ndarray, "n n"]:
        """Rows with the same numbers in some order, and the same number on the diagonal."""
        n = len(self.values)
        profiles = [np.sort(self.values, 1), np.sort(self.values, 0).swapaxes(0, 1)]
        profiles.append(self.values[range(n), range(n)][:, None])
        allowed = np.ones((n, n), dtype=bool)
        for one in profiles:
            for row in range(n):
                allowed[row] &= (np.abs(one - one[row]) <= self.tolerance).all((1, 2))
        return allowed

    def assigned(
        self, allowed: Bool[np.ndarray, "n n"], row: int, image: int
    ) -> Bool[np.ndarray, "n n"]:
        """What is left when a row becomes another."""
        self.left -= 1
        now = allowed.copy()
        now[row], now[:, image] = False, False
        for one, other in (
            (self.values[row], self.values[image]),
            (self.values[:, row], self.values[:, image]),
        ):
            now &= (np.abs(one[:, None] - other[None]) <= self.tolerance).all(2)
        now[row, image] = True
        return now

    def some(self, allowed: Bool[np.ndarray, "n n"], row: int, image: int) -> list[Order]:
        """A few automorphisms that take a row to another."""
        found = self.extended(self.assigned(allowed, row, image), frozenset([row]))
        return list(itertools.islice(found, PER_IMAGE))

    def extended(self, allowed: Bool[np.ndarray, "n n"], done: frozenset[int]) -> Iterator[Order]:
        """Automorphisms among what is allowed, with the rows that are assigned already."""
        counts = allowed.sum(1)
        if self.left <= 0 or not counts.all():
            return
        if (counts == 1).all():
            order = allowed.argmax(1)
            moved = self.values[order][:, order]
            if (
                len(set(order.tolist())) == len(order)
                and (np.abs(moved - self.values) <= self.tolerance).all()
            ):
                yield tuple(order.tolist())
            return
        counts[list(done)] = len(counts) + 1
        row = int(counts.argmin())
        for image in np.flatnonzero(allowed[row]).tolist():
            yield from self.extended(self.assigned(allowed, row, image), done | {row})
