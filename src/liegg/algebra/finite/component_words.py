"""Words for the components of a Lie group: parity, time reversal, mirror image."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.element_words import element_words
from liegg.algebra.forms.frame import Standard, standard_frame
from liegg.algebra.subspace import linear_part, orthonormal

LORENTZ = {
    (True, False): "parity",
    (False, True): "time reversal",
    (True, True): "parity and time reversal",
}
"""Components of the Lorentz group, by whether space and time are reversed."""


def component_words(
    elements: Float[Tensor, "m n n"],
    algebra: Float[Tensor, "d n n"],
    *,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    uncertainty: float = 0.0,
) -> tuple[str, ...]:
    """Words for one element of each component, with what the whole component does where that has a name.

    Args:
        elements: one matrix of each component.
        algebra: generators of the identity component.
        coordinates: names of the coordinates.
        homogeneous: whether the matrices are affine maps.
        uncertainty: relative error of each unit generator.

    Examples:
        >>> from liegg.algebra import so
        >>> one = torch.eye(4, dtype=torch.float64)
        >>> reflection = torch.diag(torch.tensor([1.0, -1.0, 1.0, 1.0], dtype=torch.float64))
        >>> component_words(torch.stack([one, reflection]), so(1, 3))
        ('identity', 'parity (reflection x₂ → −x₂)')
    """
    n = elements.shape[1] - homogeneous
    linear = linear_part(orthonormal(algebra), n)
    standard = standard_frame(linear, uncertainty=uncertainty) if len(linear) else None
    words = []
    for element in elements:
        own = element_words(
            element,
            coordinates=coordinates,
            homogeneous=homogeneous,
            frame=None if standard is None else standard.frame,
        )
        kind = component_kind(element[:n, :n], linear, standard)
        words.append(own if not kind or own == "identity" else f"{kind} ({own})")
    return tuple(words)


def component_kind(
    element: Float[Tensor, "n n"], linear: Float[Tensor, "d n n"], standard: Standard | None
) -> str:
    """What a component does by name: mirror image of a rotation group, parity or time reversal; else empty."""
    if standard is None or standard.form is None or not has_components(linear, standard):
        return ""
    inside = torch.linalg.inv(standard.frame) @ element @ standard.frame
    signs = (standard.frame.mT @ standard.form @ standard.frame).diagonal().sign()
    if bool((signs == signs[0]).all()):
        return "mirror image" if float(torch.linalg.det(inside)) < 0 else ""
    for sign in (1, -1):
        time, space = (signs == sign).nonzero().flatten(), (signs != sign).nonzero().flatten()
        if len(time) == 1 and len(space) > 1:
            backwards = float(inside[time[0], time[0]]) < 0
            mirrored = float(torch.linalg.det(inside[space][:, space])) < 0
            return LORENTZ.get((mirrored, backwards), "")
    return ""


def has_components(linear: Float[Tensor, "d n n"], standard: Standard | None) -> bool:
    """Whether an algebra is all of so(p, q), of two dimensions at least, whose components have names."""
    n = linear.shape[1]
    return (
        standard is not None
        and standard.form is not None
        and n > 1
        and len(linear) == n * (n - 1) // 2
    )


def preserves_form(
    element: Float[Tensor, "n n"], standard: Standard | None, *, tolerance: float
) -> bool:
    """Whether a matrix preserves the form of a frame, entry by entry up to a tolerance."""
    if standard is None or standard.form is None:
        return False
    inside = torch.linalg.inv(standard.frame) @ element @ standard.frame
    signs = (standard.frame.mT @ standard.form @ standard.frame).diagonal().sign().diag()
    return float((inside.mT @ signs @ inside - signs).abs().max()) <= tolerance
