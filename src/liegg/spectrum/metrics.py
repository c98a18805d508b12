"""Stage 6, metrics: the paper's symmetry variance and symmetry bias."""

from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.algebra.subspace import distance_to_span, principal_angles
from liegg.spectrum.spectrum import Spectrum


def symmetry_variance(spectrum: Spectrum) -> float:
    r"""The paper's degree of invariance, $\sigma_{\min}(E)^2/|D|$: the smallest variance of any direction."""
    return float(spectrum.values[0])


def symmetry_bias(
    spectrum: Spectrum, action: Action, reference: Float[Tensor, "d ..."]
) -> Float[Tensor, " k"]:
    r"""The paper's symmetry bias of every direction, $\lVert v_i - \mathrm{proj}_{\mathfrak g} v_i \rVert_F$.

    Args:
        spectrum: directions in the action's coefficients.
        action: turns the reference's matrices into coefficients.
        reference: generators of the true algebra, such as `liegg.so(5)`; any basis of it.

    Returns:
        Between 0 (inside the algebra) and 1 (orthogonal to it), in the order of the spectrum.
    """
    return distance_to_span(spectrum.basis, action.as_coefficients(reference).to(spectrum.basis))


def angles_to(
    coefficients: Float[Tensor, "d g"], action: Action, reference: Float[Tensor, "e ..."]
) -> Float[Tensor, " k"]:
    """Principal angles between found directions and a reference algebra, in radians, ascending."""
    return principal_angles(coefficients, action.as_coefficients(reference).to(coefficients))
