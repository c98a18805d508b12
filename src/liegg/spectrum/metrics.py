"""The paper's numbers: spectrum, symmetry variance and symmetry bias."""

from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import without_zero_rows
from liegg.actions import Action
from liegg.algebra.subspace import distance_to_span, principal_angles
from liegg.spectrum.equivariance import eliminate
from liegg.spectrum.smallest_defects import bottom_spectrum
from liegg.spectrum.spectrum import Spectrum, spectrum


def paper_spectrum(
    factor: Float[Tensor, "p q"], candidates: int, samples: int, *, smallest: int | None = None
) -> Spectrum:
    """The paper's spectrum after the output generators are eliminated.

    Args:
        factor: R factor of the columns `[−η | ξ]`.
        candidates: number of input generators.
        samples: number of samples.
        smallest: solve only for this many of the smallest variances; None for all.
    """
    remaining = eliminate(factor, factor.shape[1] - candidates).r
    if smallest is not None:
        return bottom_spectrum(without_zero_rows(remaining), samples, smallest)
    return spectrum(remaining, samples)


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
