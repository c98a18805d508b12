"""Products of given matrices, enumerated breadth first until nothing new appears."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.finite.multiplication import Table

Locate = Callable[[Tensor, Tensor, Int[Tensor, " m"], int], Int[Tensor, " k"]]
"""Numbers of products `[k, n, n]` among known elements, -1 for new ones; raises `NotClosed` if that is not clear.

The other arguments are the known elements, the lengths of their words, and the length of the products' words."""


class NotClosed(Exception):  # noqa: N818 -- an outcome, not an error: `close` returns it as a record
    """Matrices that do not clearly generate a finite group.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: Remark):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Closed:
    """A finite group of matrices, or one matrix of each component of a Lie group.

    Attributes:
        elements: float64, the identity first.
        table: numbers of the products.
        sources: number of the element that each given matrix is.
        frame: coordinates as columns in which the elements are orthogonal; None for components.
    """

    elements: Float[Tensor, "m n n"]
    table: Table
    sources: tuple[int, ...]
    frame: Float[Tensor, "n n"] | None = None


class Products(NamedTuple):
    """All products of some matrices.

    Attributes:
        elements: the identity first, then in the order in which they were reached.
        table: numbers of the products of elements.
        lengths: number of given matrices in the word that first reached each element.
    """

    elements: Float[Tensor, "m n n"]
    table: Table
    lengths: Int[Tensor, " m"]


def breadth_first(
    matrices: Float[Tensor, "k n n"],
    locate: Locate,
    *,
    limit: int,
    represent: Callable[[Float[Tensor, "k n n"]], Float[Tensor, "k n n"]] = lambda new: new,
) -> Products:
    """Enumerate the products of matrices.

    Args:
        matrices: the generators; the identity and repeats are left out.
        locate: tells known products from new ones.
        limit: largest number of elements.
        represent: the matrices to store for new products.

    Raises:
        NotClosed: there are too many products, or `locate` cannot tell.
    """
    steps = _distinct(matrices, locate)
    known = torch.eye(steps.shape[1]).to(steps)[None]
    lengths, parents, factors = torch.zeros(1, dtype=torch.long), [0], [0]
    images: list[Int[Tensor, " k"]] = []  # of each element under multiplication from the left
    while len(images) < len(known):
        front = len(images)
        length = int(lengths[front]) + 1
        places = locate(steps @ known[front], known, lengths, length)
        new = (places < 0).nonzero().flatten()
        if len(known) + len(new) > limit:
            raise NotClosed(Diagnosis.GROUP_BEYOND_LIMIT(limit=limit))
        # Distinct steps take one element to distinct elements.
        places[new] = torch.arange(len(new)) + len(known)
        if len(new):
            known = torch.cat([known, represent(steps[new] @ known[front])])
        lengths = torch.cat([lengths, torch.full((len(new),), length)])
        parents += [front] * len(new)
        factors += new.tolist()
        images.append(places)
    left = torch.stack(images).numpy()
    table = np.zeros((len(known), len(known)), dtype=np.int64)
    table[0] = np.arange(len(known))
    for i in range(1, len(known)):  # (step · parent) · j = step · (parent · j)
        table[i] = left[table[parents[i]], factors[i]]
    return Products(known, table, lengths)


def _distinct(matrices: Float[Tensor, "k n n"], locate: Locate) -> Float[Tensor, "j n n"]:
    """The matrices that differ from the identity and from one another."""
    known = torch.eye(matrices.shape[1]).to(matrices)[None]
    for matrix in matrices:
        lengths = torch.ones(len(known), dtype=torch.long)
        if int(locate(matrix[None], known, lengths, 1)[0]) < 0:
            known = torch.cat([known, matrix[None]])
    return known[1:]
