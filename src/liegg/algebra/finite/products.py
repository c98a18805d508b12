"""Products of given matrices, enumerated breadth first until nothing new appears."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.finite.multiplication import Table

Locate = Callable[[Tensor, Tensor, Int[Tensor, " m"], int], Int[Tensor, " k"] | Remark]
"""Numbers of products `[k, n, n]` among known elements, -1 for new ones, or why that is not clear.

The other arguments are the known elements, the lengths of their words, and the length of the products' words."""


@dataclass(frozen=True, eq=False)
class Products:
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
    steps: Float[Tensor, "k n n"],
    locate: Locate,
    *,
    limit: int,
    represent: Callable[[Float[Tensor, "k n n"]], Float[Tensor, "k n n"]] = lambda new: new,
) -> Products | Remark:
    """Enumerate the products of matrices.

    Args:
        steps: matrices that are distinct from one another and from the identity.
        locate: tells known products from new ones.
        limit: largest number of elements.
        represent: the matrices to store for new products.

    Returns:
        The products; or a remark if there are too many, or if `locate` cannot tell.
    """
    known = torch.eye(steps.shape[1]).to(steps)[None]
    lengths, parents, factors = torch.zeros(1, dtype=torch.long), [0], [0]
    images: list[Int[Tensor, " k"]] = []  # of each element under multiplication from the left
    while len(images) < len(known):
        front = len(images)
        length = int(lengths[front]) + 1
        places = locate(steps @ known[front], known, lengths, length)
        if isinstance(places, Remark):
            return places
        new = (places < 0).nonzero().flatten()
        if len(known) + len(new) > limit:
            return Diagnosis.GROUP_BEYOND_LIMIT(limit=limit)
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


def distinct(matrices: Float[Tensor, "k n n"], locate: Locate) -> Float[Tensor, "j n n"] | Remark:
    """The matrices that differ from the identity and from one another."""
    known = torch.eye(matrices.shape[1]).to(matrices)[None]
    for matrix in matrices:
        lengths = torch.ones(len(known), dtype=torch.long)
        places = locate(matrix[None], known, lengths, 1)
        if isinstance(places, Remark):
            return places
        if int(places[0]) < 0:
            known = torch.cat([known, matrix[None]])
    return known[1:]
