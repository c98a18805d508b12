r"""Complex structures, Hermitian forms and invariant subspaces, from the commutant of a span.

The commutant is an algebra under the matrix product. Its trace form $\operatorname{tr}(ST)$ shows
what it contains: nilpotent ideals are its kernel, a complex structure $J$ is negative, and a
projection onto an invariant summand is positive once its trace is removed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Complex, Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.algebra.forms.forms import ZERO_EIGENVALUE, oriented, preserved, signature
from liegg.algebra.subspace import checked_uncertainty, orthonormal

RANDOM_ELEMENTS = 64
"""Number of random elements of the commutant that are tried as complex structures."""

SMALLEST_IMAGINARY_PART = 0.05
"""Smallest imaginary part, over the largest eigenvalue, of eigenvalues that count as not real."""

ROUNDING_FORM = 1e-8
"""Size of compressed matrices and of the trace form that rounding explains."""


@dataclass(frozen=True, eq=False)
class HermitianForms:
    """Preserved Hermitian forms, by their real parts.

    Attributes:
        forms: orthonormal symmetric `Q` with `AᵀQ + QA = 0` and `JᵀQJ = Q`; the Hermitian form is
            `Q(x, y) + i Q(x, Jy)`.
        signatures: numbers of positive, negative and zero directions over the complex numbers, for
            each form. Definite forms are positive, others have fewer positive than negative
            directions. With several forms they depend on the basis.
    """

    forms: Float[Tensor, "k n n"]
    signatures: tuple[tuple[int, int, int], ...]


def complex_structures(
    commutant: Num[Tensor, "k ..."], *, tolerance: float = ROUNDING_FORM
) -> Float[Tensor, "n n"] | None:
    r"""A complex structure $J$, $J^2 = -1$, among the matrices that commute with a span.

    None if there is none.

    Every $T$ of the commutant without real eigenvalues gives one, $J = T(-T^2)^{-1/2}$, which as a
    function of $T$ is in the commutant too. $T$ is the most negative direction of
    $\operatorname{tr}(T^2)$ if its eigenvalues are clearly not real, else the random element whose
    eigenvalues are farthest from real. The first largest entry of $J$, column by column, is
    positive.

    Args:
        commutant: basis `[k, n, n]` of all matrices that commute with the span.
        tolerance: trace form of unit matrices that counts as zero; under noise
            `2 * forms.errors["commutant"]`.

    Returns:
        The matrix, or None.

    Examples:
        >>> from liegg.algebra import preserved_forms, u
        >>> complex_structures(preserved_forms(u(1)).commutant).round(decimals=12) + 0.0
        tensor([[ 0., -1.],
                [ 1.,  0.]], dtype=torch.float64)
    """
    inside = _traceless(orthonormal(commutant))
    n = inside.shape[1]
    if len(inside) == 0 or n % 2:
        return None
    values, vectors = torch.linalg.eigh(torch.einsum("aij,bji->ab", inside, inside))
    nonzero = values.abs() > tolerance  # the others are nilpotent, and their eigenvalues are error
    values, rows = values[nonzero], vectors[:, nonzero].mT
    if len(values) == 0 or float(values[0]) >= 0:
        return None
    weights = torch.randn(
        RANDOM_ELEMENTS,
        len(values),
        generator=torch.Generator().manual_seed(0),
        dtype=torch.float64,
    )
    # In a compact frame all eigenvalues of the negative elements are imaginary.
    negative = weights * (values < 0)
    elements = torch.einsum(
        "da,aij->dij", torch.cat([rows[:1], negative @ rows, weights @ rows]), inside
    )
    spectra = _eigenvalues(elements)
    off_real = spectra.imag.abs().amin(1) / spectra.abs().amax(1)
    best = int(off_real.argmax()) if float(off_real[0]) < 0.5 else 0
    if float(off_real[best]) < SMALLEST_IMAGINARY_PART:
        return None
    structure = _newton(elements[best] / spectra[best].abs().log().mean().exp(), -1)
    return fix_signs(structure.mT.reshape(1, -1)).reshape(n, n).mT


def hermitian_forms(
    generators: Num[Tensor, "d ..."], structure: Float[Tensor, "m m"], *, uncertainty: float = 0.0
) -> HermitianForms:
    """Hermitian forms that a span preserves, for a complex structure that commutes with it.

    Args:
        generators: matrices `[d, n, n]`.
        structure: `J` with `J² = -1`, from `complex_structures`.
        uncertainty: relative error of each unit generator.

    Returns:
        Their real parts, with complex signatures.

    Examples:
        >>> from liegg.algebra import preserved_forms, su
        >>> J = complex_structures(preserved_forms(su(3)).commutant)
        >>> hermitian_forms(su(3), J).signatures
        ((3, 0, 0),)
    """
    structure = structure.to(torch.float64)
    basis = orthonormal(generators)
    n = basis.shape[1]
    null = preserved("symmetric", basis, checked_uncertainty(uncertainty))
    symmetric = null.answers.unflatten(1, (n, n))
    one = torch.eye(n).to(structure)
    if structure.shape != (n, n) or float((structure @ structure + one).norm()) > 1e-6 * n:
        raise ArgumentError(
            f"a structure of shape {tuple(structure.shape)} for matrices {n} × {n} whose square "
            "should be minus the identity; expected one from complex_structures(commutant)."
        )
    images = structure.mT @ symmetric @ structure
    # Q ↦ JᵀQJ is an involution of the preserved forms, so its eigenvalues are 1 and -1 and any cut
    # between them is safe.
    involution = torch.einsum("aij,bij->ab", images, symmetric)
    left, values, _ = torch.linalg.svd(involution - torch.eye(len(involution)).to(involution))
    rows = torch.einsum("ka,aij->kij", left.mT[values < 1], symmetric + images)
    forms = canonical_basis(orthonormal_rows(rows.flatten(1))).unflatten(1, (n, n))
    forms = torch.stack([oriented(form) for form in forms]) if len(forms) else forms
    tolerance = max(ZERO_EIGENVALUE, 3 * null.error)
    real = [signature(form, tolerance) for form in forms]
    return HermitianForms(forms, tuple((p // 2, q // 2, zero // 2) for p, q, zero in real))


def invariant_subspaces(
    generators: Num[Tensor, "d ..."], *, uncertainty: float = 0.0
) -> list[Float[Tensor, "n _"]]:
    r"""A decomposition of $\mathbb{R}^n$ into indecomposable invariant subspaces.

    A space splits exactly when its commutant contains a projection, which is when the trace form is
    positive on some traceless $T$: with $\sum\operatorname{Re}\lambda = 0$ and
    $\sum\operatorname{Re}\lambda^2 > 0$ the real parts of its eigenvalues differ. The space is cut
    at the widest gap between them, into sums of generalised eigenspaces, and the parts are split in
    turn. Subspaces without an invariant complement, such as the plane that se(2) moves in its
    homogeneous form, do not split off.

    Args:
        generators: matrices `[d, n, n]`.
        uncertainty: relative error of each unit generator.

    Returns:
        Orthonormal bases `[n, m]`, one per subspace, largest first, then by the position of their
        coordinates. Several copies of one representation can be split in many ways, of which this
        is one.

    Examples:
        >>> from liegg.algebra import diagonal, se
        >>> [part.shape[1] for part in invariant_subspaces(se(3))]
        [4]
        >>> [part.shape[1] for part in invariant_subspaces(diagonal(3))]
        [1, 1, 1]
    """
    basis = orthonormal(generators)
    null = preserved("commutant", basis, checked_uncertainty(uncertainty))
    n = basis.shape[1]
    commutant = canonical_basis(null.answers).unflatten(1, (n, n))
    parts = indecomposable(commutant, 2 * null.error)
    bases = [canonical_basis(orthonormal_rows(part.basis)).mT for part in parts]
    position = torch.arange(n, dtype=torch.float64)
    return sorted(
        bases,
        key=lambda b: (-b.shape[1], round(float(position @ b.square().sum(1)) / b.shape[1], 6)),
    )


class Summand(NamedTuple):
    """An indecomposable summand of a space.

    Attributes:
        basis: independent rows.
        complex: whether a complex structure of the summand is in the commutant, so that it is a
            complex space seen as a real one of twice the dimension.
    """

    basis: Float[Tensor, "m n"]
    complex: bool


def indecomposable(commutant: Float[Tensor, "k n n"], error: float) -> list[Summand]:
    """Split a space into the indecomposable summands whose projections are in the commutant.

    Args:
        commutant: orthonormal basis of the matrices that commute with a representation.
        error: error of the trace form of unit matrices.
    """
    space = torch.eye(commutant.shape[1]).to(commutant)
    return _split(space, space, commutant, max(ROUNDING_FORM, error))


def _split(
    into: Float[Tensor, "n m"],
    onto: Float[Tensor, "m n"],
    commutant: Float[Tensor, "k n n"],
    cut: float,
) -> list[Summand]:
    """Split the range of `into`.

    `onto @ into` is the identity, and `onto` vanishes on the rest of the space.
    """
    _, sizes, right = torch.linalg.svd((onto @ commutant @ into).flatten(1), full_matrices=False)
    m = into.shape[1]
    inside = _traceless(right[sizes > cut].unflatten(1, (m, m)))
    if len(inside) == 0:
        return [Summand(into.mT, False)]
    values, vectors = torch.linalg.eigh(torch.einsum("aij,bji->ab", inside, inside))
    if float(values[-1]) <= cut:
        return [Summand(into.mT, float(values[0]) < -cut)]
    element, one = torch.einsum("a,aij->ij", vectors[:, -1], inside), torch.eye(m).to(into)
    real = _eigenvalues(element).real.sort().values
    widest = int(real.diff().argmax())
    middle, scale = float(real[widest] + real[widest + 1]) / 2, float(real.diff()[widest]) / 2
    sign = _newton((element - middle * one) / scale, 1)
    # Each half is the kernel of the other's projection, so the two together are a basis.
    high, low = m - widest - 1, widest + 1
    halves = ((one + sign, high), (one - sign, low))
    frame = torch.cat([torch.linalg.svd(half).U[:, :count] for half, count in halves], 1)
    dual = torch.linalg.inv(frame)
    return [
        *_split(into @ frame[:, :high], dual[:high] @ onto, commutant, cut),
        *_split(into @ frame[:, high:], dual[high:] @ onto, commutant, cut),
    ]


def _traceless(basis: Float[Tensor, "k n n"]) -> Float[Tensor, "j n n"]:
    """Orthonormal basis of the traceless part of a span that contains the identity."""
    n = basis.shape[1]
    unit = torch.eye(n).to(basis) / math.sqrt(n)
    rest = basis - torch.einsum("aij,ij->a", basis, unit)[:, None, None] * unit
    _, values, right = torch.linalg.svd(rest.flatten(1), full_matrices=False)
    return right[values > 0.5].unflatten(1, (n, n))  # all values are 1, except 0 for the identity


def _eigenvalues(matrix: Float[Tensor, "*b n n"]) -> Complex[Tensor, "*b n"]:
    """Eigenvalues by the complex algorithm.

    The real one can fail to converge if all are repeated, as for `J`.
    """
    return torch.linalg.eigvals(matrix.to(torch.complex128))


def _newton(matrix: Float[Tensor, "n n"], square: int) -> Float[Tensor, "n n"]:
    """The function of a matrix whose square is `square`, 1 or -1, by Newton's iteration.

    Eigenvalues go to the sign of their real part, or to ±i by the sign of their imaginary part. The
    matrix may be defective.
    """
    for _ in range(100):
        following = (matrix + square * torch.linalg.inv(matrix)) / 2
        if float((following - matrix).norm()) <= 1e-14 * float(following.norm()):
            return following
        matrix = following
    return matrix
