"""The paper's spectrum: singular values and directions of the network polarization matrix."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import fix_signs, right_singular, without_zero_rows


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The paper's spectrum, in the Frobenius metric of the generators.

    Attributes:
        values: `σ²/|D|`, ascending: the symmetry variance of every direction, or of the smallest that were requested.
        basis: right singular vectors as rows, in the same order; of every direction complete even with fewer rows than columns.
    """

    values: Float[Tensor, " k"]
    basis: Float[Tensor, "k g"]


def spectrum(r: Float[Tensor, "m g"], samples: int) -> Spectrum:
    r"""Spectrum of the polarization matrix from its R factor.

    The variance of a unit direction $h$ is $\frac{1}{|D|}\lVert E h \rVert^2$; on the $i$-th row of the basis it is
    $\sigma_i^2/|D|$.

    Args:
        r: the R factor.
        samples: number of samples $|D|$.

    Returns:
        Values ascending, with a complete orthonormal basis of deterministic signs.
    """
    values, basis = right_singular(without_zero_rows(r))
    return Spectrum(values.square() / samples, fix_signs(basis.contiguous()))
