"""The paper's numbers: the spectrum of the network polarization matrix, symmetry variance and symmetry bias."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import fix_signs, right_singular, without_zero_rows
from liegg.actions import Action
from liegg.algebra.subspace import distance_to_span, principal_angles
from liegg.spectrum.equivariance import eliminate
from liegg.spectrum.smallest_singular import smallest_singular


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The paper's spectrum, in the Frobenius metric of the generators.

    Attributes:
        values: `σ²/|D|`, ascending: the symmetry variance of every direction, or of the smallest that were requested.
        basis: right singular vectors as rows, in the same order; of every direction complete even with fewer rows than columns.
    """

    values: Float[Tensor, " k"]
    basis: Float[Tensor, "k g"]


def paper_spectrum(
    factor: Float[Tensor, "p q"], candidates: int, samples: int, *, smallest: int | None = None
) -> Spectrum:
    r"""The spectrum of the polarization matrix, after the output generators are eliminated.

    The variance of a unit direction $h$ is $\frac{1}{|D|}\lVert E h \rVert^2$; on the $i$-th row of the basis it is
    $\sigma_i^2/|D|$.

    Args:
        factor: R factor of the columns `[−η | ξ]`.
        candidates: number of input generators.
        samples: number of samples $|D|$.
        smallest: solve only for this many of the smallest variances; None for all.

    Returns:
        Values ascending, with an orthonormal basis of deterministic signs.
    """
    rows = without_zero_rows(eliminate(factor, factor.shape[1] - candidates).r)
    if smallest is None:
        values, basis = right_singular(rows)
    else:
        values, basis, *_ = smallest_singular(rows, smallest)
    return Spectrum(values.square() / samples, fix_signs(basis.contiguous()))


def symmetry_variance(spectrum: Spectrum) -> float:
    r"""The paper's degree of invariance, $\sigma_{\min}(E)^2/|D|$: the smallest variance of any direction."""
    return float(spectrum.values[0])


def symmetry_bias(
    spectrum: Spectrum, action: Action, reference: Float[Tensor, "d n n"]
) -> Float[Tensor, " k"]:
    r"""The paper's symmetry bias of every direction, $\lVert v_i - \mathrm{proj}_{\mathfrak g} v_i \rVert_F$.

    Args:
        spectrum: directions in the action's coefficients.
        action: turns the reference's matrices into coefficients.
        reference: generators of the true algebra, such as `liegg.so(5)`; any basis of it.

    Returns:
        Between 0 (inside the algebra) and 1 (orthogonal to it), in the order of the spectrum.
    """
    return distance_to_span(
        spectrum.basis, action.as_coefficients(reference, "reference").to(spectrum.basis)
    )


def angles_to(
    coefficients: Float[Tensor, "d g"], action: Action, reference: Float[Tensor, "e n n"]
) -> Float[Tensor, " k"]:
    """Principal angles between found directions and a reference algebra, in radians, ascending."""
    return principal_angles(
        coefficients, action.as_coefficients(reference, "reference").to(coefficients)
    )
