"""A named algebra with concrete matrices, near a span that is to be identified."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Model:
    """An exact algebra that a span may be.

    Attributes:
        name: what it is called, by the way it acts.
        generators: its matrices, in the coordinates of the span.
        blocks: names and dimensions of what acts on separate subspaces; empty for one that is no sum.
        stretch: condition number of the coordinates in which it is standard; the larger, the nearer to a simpler algebra.
        copies: on how many subspaces it acts in the same way.
        dual: it acts as on covectors.
        whole: it acts as its name says on the whole space, not on a part of it, in copies or in a sum.
    """

    name: str
    generators: Float[Tensor, "d n n"]
    blocks: tuple[tuple[str, int], ...] = ()
    stretch: float = 1.0
    copies: int = 1
    dual: bool = False
    whole: bool = True


Proposer = Callable[[Float[Tensor, "d n n"], float], Iterator[Model]]
"""From a span and the noise in it, models of one kind near it: few, good, and exactly closed."""


def pair(p: int, q: int) -> str:
    """Arguments of a name with a signature, the smaller number first; one number if definite.

    >>> pair(3, 1), pair(0, 5)
    ('1,3', '5')
    """
    return f"{min(p, q)},{max(p, q)}" if min(p, q) else str(max(p, q))


def conjugate(
    generators: Float[Tensor, "d m m"], frame: Float[Tensor, "m m"]
) -> Float[Tensor, "d m m"]:
    """Matrices that act as `generators` do on the columns of a frame."""
    return torch.linalg.solve(frame.mT, (frame @ generators).mT).mT


def usable(frame: Float[Tensor, "m m"]) -> bool:
    """Whether the columns of a frame are independent, to six digits."""
    return bool(frame.isfinite().all()) and float(torch.linalg.cond(frame)) < 1e6


def lowest(square: Float[Tensor, "k k"], count: int) -> Float[Tensor, "c k"]:
    """Eigenvectors of the smallest eigenvalues of a symmetric matrix, as rows."""
    return torch.linalg.eigh(square)[1][:, :count].mT


def traceless(generators: Float[Tensor, "d n n"]) -> Float[Tensor, "d n n"]:
    """The matrices without their multiples of the identity."""
    n = generators.shape[1]
    trace = generators.diagonal(dim1=1, dim2=2).sum(1)
    return generators - trace[:, None, None] / n * torch.eye(n).to(generators)
