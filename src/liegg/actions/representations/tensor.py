"""Tensors of a vector space, such as stress and polarisability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Literal

import torch
from jaxtyping import Float

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ArgumentError
from liegg.actions.representations.representation import LARGEST_IMAGES, Representation

Form = Literal["full", "voigt"]

LARGEST_TENSOR_RANK = 8
"""Largest rank: every slot of a tensor needs a letter and n times the memory."""


@checked_fields
@dataclass(frozen=True, repr=False)
class Tensor(Representation):
    r"""Every linear map of $\mathbb{R}^n$ on tensors: each slot is moved as a vector.

    For rank 2 a value $T$ moves as $e^h\, T\, e^{h^\top}$; its generator is $h \otimes 1 + 1 \otimes h$.
    The candidates are the unit matrices $E_{ij}$, row by row, as for `Linear(n)`. To ask about rotations
    only, restrict it: `liegg.actions.Tensor(3).restrict(liegg.so(3))`.

    Attributes:
        n: dimension of space.
        rank: number of slots: 1 for vectors, 2 for matrices such as stress.
        symmetric: the values are symmetric in all slots. Only their symmetric part is moved, so that an
            antisymmetric part counts as an error.
        antisymmetric: the values change sign when two slots are swapped, and only that part is moved.
        form: `"full"` for values `[n, n]` (`[n] * rank`); `"voigt"` for the n (n + 1) / 2 different
            components of symmetric matrices, in the order xx, yy, zz, yz, xz, xy for n = 3 and xx, yy, xy
            for n = 2, without factors of 2.
        copies: values per sample: `[copies, n, n]`, or flat; None for any number of them.
        names: of the n coordinates of space, as for `Linear`.

    Examples:
        >>> stress = torch.diag(torch.tensor([1.0, 0.0, 0.0]))[None]
        >>> turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> moved = Tensor(3, symmetric=True).act(torch.pi / 2 * turn, stress)
        >>> moved[0].diag().round(decimals=5).abs()
        tensor([0., 1., 0.])
    """

    n: int
    rank: int = 2
    symmetric: bool = False
    antisymmetric: bool = False
    form: Form = "full"
    copies: int | None = 1
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        call = f"Tensor({self.n}, rank={self.rank})"
        if self.n < 1 or not 1 <= self.rank <= LARGEST_TENSOR_RANK:
            raise ArgumentError(
                f"{call}: n must be positive and the rank between 1 and {LARGEST_TENSOR_RANK}, for example "
                "Tensor(3, rank=2)."
            )
        if self.symmetric and self.antisymmetric:
            raise ArgumentError(f"{call}: symmetric and antisymmetric. Choose one of them.")
        if (self.symmetric or self.antisymmetric) and self.rank == 1:
            raise ArgumentError(f"{call}: a vector has one slot, so leave symmetric out.")
        if self.antisymmetric and self.rank > self.n:
            raise ArgumentError(
                f"{call}, antisymmetric: only 0 is antisymmetric in more slots than there are dimensions."
            )
        if self.form == "voigt" and (self.rank != 2 or not self.symmetric):
            raise ArgumentError(
                f"{call}: form='voigt' is for symmetric matrices: Tensor({self.n}, symmetric=True, "
                "form='voigt')."
            )
        if self.n**2 * self.n ** (2 * self.rank) > LARGEST_IMAGES:
            raise ArgumentError(
                f"{call} has values of {self.n**self.rank} numbers, too many to be moved by matrices. Write "
                "an action with fields of its own, see liegg.Action."
            )
        self._check_numbers(call)

    @property
    def value_shape(self) -> tuple[int, ...]:
        """`[n] * rank`, or the number of different components."""
        full = self.form == "full"
        return (self.n,) * self.rank if full else (self.n * (self.n + 1) // 2,)

    @property
    def basis(self) -> Float[torch.Tensor, "g n n"]:
        """The unit matrices, row by row."""
        return torch.eye(self.n**2, dtype=torch.float64).reshape(-1, self.n, self.n)

    @property
    def images(self) -> Float[torch.Tensor, "g m m"]:
        """The sum over the slots of the matrix there and the identity elsewhere."""
        sign = int(self.symmetric) - int(self.antisymmetric)
        return _images(self.n, self.rank, sign, self.form)


@lru_cache(maxsize=16)
def _images(n: int, rank: int, sign: int, form: Form) -> Float[torch.Tensor, "g m m"]:
    """Images of the unit matrices; the tensor is shared, and must not be written into."""
    units = torch.eye(n**2, dtype=torch.float64).reshape(-1, n, n)
    images = torch.zeros(n**2, n**rank, n**rank, dtype=torch.float64)
    for slot in range(rank):
        before, after = torch.eye(n**slot), torch.eye(n ** (rank - 1 - slot))
        images += torch.stack(
            [torch.kron(torch.kron(before.to(unit), unit), after.to(unit)) for unit in units]
        )
    if sign:
        images = images @ _projection(n, rank, sign)
    if form == "voigt":
        spread, gather = _voigt(n)
        images = gather @ images @ spread
    return images


def _projection(n: int, rank: int, sign: int) -> Float[torch.Tensor, "m m"]:
    """Projection on the symmetric or the antisymmetric tensors: the mean over all orders of the slots."""
    entries = torch.eye(n**rank, dtype=torch.float64).reshape((n,) * rank + (n**rank,))
    total = torch.zeros_like(entries)
    for order in permutations(range(rank)):
        swaps = sum(order[i] > order[j] for i in range(rank) for j in range(i + 1, rank))
        total += (sign if swaps % 2 else 1) * entries.permute(*order, rank)
    return total.reshape(n**rank, n**rank) / math.factorial(rank)


def _voigt(n: int) -> tuple[Float[torch.Tensor, "m v"], Float[torch.Tensor, "v m"]]:
    """From different components to the full matrix, and back."""
    off = [(i, j) for i in range(n) for j in range(i + 1, n)]
    places = [(i, i) for i in range(n)] + off[::-1]
    spread = torch.zeros(n, n, len(places), dtype=torch.float64)
    gather = torch.zeros(len(places), n, n, dtype=torch.float64)
    for place, (i, j) in enumerate(places):
        spread[i, j, place] = spread[j, i, place] = 1.0
        gather[place, i, j] = 1.0
    return spread.flatten(0, 1), gather.flatten(1)
