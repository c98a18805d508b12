"""Groups of signed permutations that are too large to list: their order and name without a table."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.catalog import label
from liegg.algebra.finite.slots import permutation_group


def signed_permutations(
    matrices: Float[Tensor, "k n n"], *, tolerance: float
) -> tuple[int, str] | None:
    """Order and name of the group that signed permutation matrices generate; None if a matrix is another one.

    A signed permutation of n axes is a permutation of the 2n half axes, whose group a chain of stabilisers counts.

    Examples:
        >>> swap, sign = torch.eye(3)[[1, 0, 2]], torch.diag(torch.tensor([1.0, 1.0, -1.0]))
        >>> cycle = torch.eye(3)[[1, 2, 0]]
        >>> signed_permutations(torch.stack([swap, cycle, sign]), tolerance=1e-6)
        (48, 'Z₂ ≀ S₃')
        >>> signed_permutations(torch.stack([swap, cycle]), tolerance=1e-6)
        (6, 'S₃')
    """
    n = matrices.shape[1]
    whole = matrices.round()
    single = bool((whole.abs().sum(1) == 1).all()) and bool((whole.abs().sum(2) == 1).all())
    if not single or float((matrices - whole).abs().max()) > tolerance:
        return None
    place = whole.abs().argmax(2)
    if bool((whole >= 0).all()):
        found = permutation_group(place.tolist(), n)
        return found.order, found.name.replace(f"on {n} slots", f"on {n} axes")
    negative = whole.gather(2, place[..., None])[..., 0] < 0
    halves = torch.cat([place + n * negative, place + n * ~negative], 1)
    order = permutation_group(halves.tolist(), 2 * n).order
    if order == 2**n * math.factorial(n):
        return order, f"Z₂ ≀ {label('S', n)}"
    return order, f"group of order {order}"
