"""A named algebra with concrete matrices near a span, and helpers that build such algebras."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Inexact
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Member:
    """An exact algebra that a span may be: a member of the family of all algebras of its name.

    Attributes:
        name: name of the algebra, by the way it acts.
        generators: its matrices, in the coordinates of the span.
        blocks: names and dimensions of the parts that act on separate subspaces; empty if it is not
            a sum.
        stretch: condition number of the coordinates in which it is standard; the larger, the nearer
            to a simpler algebra.
        copies: number of subspaces on which it acts in the same way.
        dual: whether it acts as on covectors.
        whole: whether it acts as its name says on the complete space, not on a part of it, in
            copies or in a sum.
    """

    name: str
    generators: Float[Tensor, "d n n"]
    blocks: tuple[tuple[str, int], ...] = ()
    stretch: float = 1.0
    copies: int = 1
    dual: bool = False
    whole: bool = True


Proposer = Callable[[Float[Tensor, "d n n"], float], Iterator[Member]]
"""From a span and its noise, algebras of one kind near it: few, good, and exactly closed."""


def conjugate(
    generators: Float[Tensor, "d m m"], frame: Float[Tensor, "m m"]
) -> Float[Tensor, "d m m"]:
    """Matrices that act on the columns of a frame as `generators` do on the axes."""
    return torch.linalg.solve(frame.mT, (frame @ generators).mT).mT


def usable(frame: Float[Tensor, "m m"]) -> bool:
    """Whether the columns of a frame are independent, to six digits."""
    return bool(frame.isfinite().all()) and float(torch.linalg.cond(frame)) < 1e6


def lowest(square: Float[Tensor, "k k"], count: int) -> Float[Tensor, "c k"]:
    """Eigenvectors of the smallest eigenvalues of a symmetric matrix, as rows."""
    return torch.linalg.eigh(square)[1][:, :count].mT


def traceless(matrices: Inexact[Tensor, "d n n"]) -> Inexact[Tensor, "d n n"]:
    """The matrices without their multiples of the identity."""
    n = matrices.shape[1]
    trace = matrices.diagonal(dim1=1, dim2=2).sum(1)
    return matrices - trace[:, None, None] / n * torch.eye(n).to(matrices)
