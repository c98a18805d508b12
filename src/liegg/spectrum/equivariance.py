"""Equivariance: eliminate the output generators, and pair them with the input generators found."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import rank

RANK_TOLERANCE = 1e-10
"""Singular values of the output columns below this share of the largest count as zero (an output that never moves)."""


@dataclass(frozen=True, eq=False)
class Elimination:
    r"""The equivariance problem $J\xi_h = \eta_k$ with $k$ solved for.

    Attributes:
        r: factor `[m + g, g]` of what is left for the input generators.
        partner: `[m, g]`; the output generator that goes with `h` is `partner @ h`.
        rank: number of independent output columns that were eliminated.
    """

    r: Float[Tensor, "p g"]
    partner: Float[Tensor, "m g"]
    rank: int


def eliminate(r: Float[Tensor, "p q"], outputs: int) -> Elimination:
    r"""Eliminate the first `outputs` columns of the factor of $[-\eta \mid \xi]$ by least squares.

    With $R = [R_\eta \mid R_\xi]$ and $U$ an orthonormal basis of the columns of $R_\eta$, what no output generator can explain is
    $(I - UU^\top) R_\xi$; for independent columns this is the lower right block $R_{22}$. Taking $U$ by SVD keeps it right
    when output columns depend on each other, where the block of an unpivoted QR would lose rows.

    Args:
        r: R factor of rows ordered $[-\eta \mid \xi]$.
        outputs: number `m` of output generators; 0 for invariance.

    Returns:
        The remaining problem and the map from input to output generators.
    """
    left, right = r[:, :outputs], r[:, outputs:]
    if outputs == 0:
        return Elimination(right, right.new_zeros(0, right.shape[1]), 0)
    u, values, v = torch.linalg.svd(left, full_matrices=False)
    kept = rank(values, RANK_TOLERANCE) if float(values[0]) > 0 else 0
    u, values, v = u[:, :kept], values[:kept], v[:kept]
    inside = u.mT @ right
    return Elimination(right - u @ inside, -v.mT @ (inside / values[:, None]), kept)
