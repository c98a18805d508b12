r"""What a span preserves: forms, vectors, covectors and volume; and its commutant.

Each is the null space of a linear map, stacked over orthonormal generators $A$; the maps $e^{tA}$
preserve a form $Q$ when $A^\top Q + QA = 0$. If the generators are off by a matrix with entries of
standard deviation $u/n$, a true answer of unit length has a residual whose expected square, per
generator, is $u^2$ times

| kind | map | constant |
|---|---|---|
| symmetric | $A^\top Q + QA$ | $2(n + 1)/n^2$ |
| antisymmetric | $A^\top Q + QA$ | $2(n - 1)/n^2$ |
| vectors, covectors | $Av$, $A^\top\ell$ | $1/n$ |
| commutant | $AT - TA$, $T$ traceless | $2/n$ |
| trace | $\operatorname{tr} A$ | $1/n$ |
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float, Inexact, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, fix_signs, svd
from liegg.algebra.bracket import bracket
from liegg.algebra.subspace import checked_uncertainty, orthonormal

FORM_RESIDUAL = 1e-9
"""Residual that rounding explains, at condition numbers up to 100."""

FORM_SIGNS = {"symmetric": 1, "antisymmetric": -1}
"""Kinds of forms."""

PRESERVED_KINDS = (*FORM_SIGNS, "vectors", "covectors", "commutant", "trace")
"""What a span may preserve, as in the table above."""

ZERO_EIGENVALUE = 1e-8
"""Eigenvalue of a form that counts as zero, relative to the largest.

Condition number 100 spreads a metric over 1e-4."""


@dataclass(frozen=True, eq=False)
class Forms:
    """What a span preserves; bases are orthonormal and depend on the span alone.

    The dictionaries have the keys symmetric, antisymmetric, vectors, covectors, commutant and
    trace.

    Attributes:
        symmetric: forms `Q` with `AᵀQ + QA = 0`, symmetric.
        antisymmetric: the same, antisymmetric.
        fixed_vectors: `v` with `Av = 0`, as rows.
        fixed_covectors: `l` with `Aᵀl = 0`, as rows.
        commutant: `T` with `AT = TA`; the identity is among them.
        traceless: whether volume is preserved.
        residuals: singular values of each map, ascending, divided by the root of the number of
            generators.
        gap: first nonzero singular value over the last zero one; where there is no such value, the
            threshold replaces it.
        errors: expected error of each answer of unit length, to first order in the uncertainty.
        uncertainty: relative error of the generators that the decisions allow for.
    """

    symmetric: Float[Tensor, "s n n"]
    antisymmetric: Float[Tensor, "a n n"]
    fixed_vectors: Float[Tensor, "v n"]
    fixed_covectors: Float[Tensor, "c n"]
    commutant: Float[Tensor, "t n n"]
    traceless: bool
    residuals: dict[str, Float[Tensor, "..."]]
    gap: dict[str, float]
    errors: dict[str, float]
    uncertainty: float

    @cached_property
    def metric(self) -> Float[Tensor, "n n"] | None:
        """The regular symmetric form that is preserved, if there is exactly one up to scale.

        Else None.

        It is scaled to determinant ±1. It is positive if definite, else it has fewer positive than
        negative eigenvalues: (1, 3) for the Lorentz algebra.
        """
        if len(self.symmetric) != 1:
            return None
        form = oriented(self.symmetric[0])
        if signature(form, max(ZERO_EIGENVALUE, 3 * self.errors["symmetric"]))[2]:
            return None
        return form / torch.linalg.det(form).abs() ** (1 / len(form))


class Null(NamedTuple):
    """Answers of one kind.

    Attributes:
        answers: orthonormal matrices or vectors, flattened, one per row.
        values: singular values of the map, ascending.
        gap: first nonzero value over the last zero one.
        error: expected error of an answer of unit length.
    """

    answers: Float[Tensor, "k g"]
    values: Float[Tensor, " c"]
    gap: float
    error: float


def preserved_forms(generators: Num[Tensor, "d ..."], *, uncertainty: float = 0.0) -> Forms:
    """Forms, vectors and covectors that a span preserves, and the matrices that commute with it.

    Args:
        generators: matrices `[d, n, n]` in any basis.
        uncertainty: relative error of each unit generator; a singular value up to 3 times what it
            explains counts as zero.

    Returns:
        Orthonormal bases of each kind, with the singular values that decide.

    Examples:
        >>> from liegg.algebra import so
        >>> forms = preserved_forms(so(1, 3))
        >>> forms.metric.diag()
        tensor([ 1.000..., -1.000..., -1.000..., -1.000...], dtype=torch.float64)
        >>> len(forms.antisymmetric), len(forms.commutant), forms.traceless
        (0, 1, True)
    """
    uncertainty = checked_uncertainty(uncertainty)
    basis = orthonormal(generators)
    null = {kind: preserved(kind, basis, uncertainty) for kind in PRESERVED_KINDS}
    bases = {kind: canonical_basis(space.answers) for kind, space in null.items()}
    sides = basis.shape[1:]
    return Forms(
        symmetric=bases["symmetric"].unflatten(1, sides),
        antisymmetric=bases["antisymmetric"].unflatten(1, sides),
        fixed_vectors=bases["vectors"],
        fixed_covectors=bases["covectors"],
        commutant=bases["commutant"].unflatten(1, sides),
        traceless=len(bases["trace"]) == 1,
        residuals={kind: space.values for kind, space in null.items()},
        gap={kind: space.gap for kind, space in null.items()},
        errors={kind: space.error for kind, space in null.items()},
        uncertainty=uncertainty,
    )


def preserved(kind: str, basis: Float[Tensor, "d n n"], uncertainty: float = 0.0) -> Null:
    """Answers of one of the `PRESERVED_KINDS`, the null space of its map stacked over generators.

    Args:
        kind: which.
        basis: orthonormal generators.
        uncertainty: relative error of each of them.
    """
    maps, units, constant = _equations(kind, basis)
    d, _, unknowns = maps.shape
    expected = uncertainty * constant  # the residual of a true answer, per generator
    threshold = max(3 * expected, FORM_RESIDUAL)
    if d == 0:
        return Null(units, maps.new_zeros(unknowns), math.inf, 0.0)
    # Squaring would lose the digits below 1e-8; a QR factorisation keeps them and leaves a small
    # SVD.
    reduced = torch.linalg.qr(maps.flatten(0, 1), mode="r").R / math.sqrt(d)
    _, values, right = svd(reduced)
    values = values.flip(0)
    count = int((values <= threshold).sum())
    last = float(values[count - 1]) if count else threshold
    first = float(values[count]) if count < unknowns else threshold
    # To first order, noise spreads evenly over the independent equations, one per unknown and
    # generator, and each singular direction divides its share by its value.
    error = expected * math.sqrt(float((values[count:] ** -2).sum()) / max(d * unknowns, 1))
    answers = right.flip(0)[:count] @ units
    return Null(answers, values, first / last if last > 0 else math.inf, error)


def _equations(
    kind: str, basis: Float[Tensor, "d n n"]
) -> tuple[Float[Tensor, "d r c"], Float[Tensor, "c g"], float]:
    """The map of a kind, the unit answers its columns stand for, and the constant of its noise."""
    n = basis.shape[1]
    if kind in FORM_SIGNS:
        units = symmetric_units(n, FORM_SIGNS[kind])
        return form_map(basis, units), units.flatten(1), math.sqrt(2 * n + 2 * FORM_SIGNS[kind]) / n
    if kind == "commutant":
        one = torch.eye(n * n).to(basis)
        maps = bracket(basis[:, None], one.unflatten(1, (n, n)))
        return maps.flatten(2).mT, one, math.sqrt(2 / n)
    trace = basis.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    maps = {"vectors": basis, "covectors": basis.mT, "trace": trace}[kind]
    return maps, torch.eye(maps.shape[2]).to(basis), 1 / math.sqrt(n)


def signature(
    form: Float[Tensor, "n n"], tolerance: float = ZERO_EIGENVALUE
) -> tuple[int, int, int]:
    """Numbers of positive, negative and zero eigenvalues of a symmetric form.

    Args:
        form: symmetric matrix.
        tolerance: eigenvalue that counts as zero, relative to the largest in magnitude.

    Returns:
        Positive, negative, zero.

    Examples:
        >>> signature(torch.diag(torch.tensor([2.0, -1.0, 0.0, -3.0])))
        (1, 2, 1)
    """
    form = form.to(torch.float64)
    square = form.ndim == 2 and form.shape[0] == form.shape[1]
    if not square or float((form - form.mT).norm()) > 1e-8 * float(form.norm()):
        raise ArgumentError(
            f"a form of shape {tuple(form.shape)} that is not symmetric; "
            "expected a symmetric matrix [n, n]."
        )
    values = torch.linalg.eigvalsh(form)
    cut = tolerance * float(values.abs().max()) if values.numel() else 0.0
    positive, negative = int((values > cut).sum()), int((values < -cut).sum())
    return positive, negative, len(values) - positive - negative


def oriented(form: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """A symmetric form or its negative: positive if definite, else with fewer positive eigenvalues.

    With as many of both, the first of the largest entries is positive.
    """
    positive, negative, _ = signature(form)
    if positive == negative:
        return fix_signs(form.reshape(1, -1)).reshape(form.shape)
    return form if negative == 0 or 0 < positive < negative else -form


def symmetric_units(n: int, sign: int) -> Float[Tensor, "c n n"]:
    """Orthonormal basis of the symmetric (`sign` 1) or antisymmetric (-1) matrices."""
    i, j = torch.triu_indices(n, n, 0 if sign > 0 else 1)
    basis = torch.zeros(len(i), n, n, dtype=torch.float64)
    every = torch.arange(len(i))
    basis[every, i, j] = 1
    basis[every, j, i] = sign
    return basis / basis.flatten(1).norm(dim=1)[:, None, None]


def form_map(
    matrices: Inexact[Tensor, "d n n"], forms: Inexact[Tensor, "c n n"]
) -> Inexact[Tensor, "d r c"]:
    """`AᴴQ + QA` for each matrix and form, as columns; for real matrices `AᵀQ + QA`."""
    left = torch.einsum("dji,cjk->dcik", matrices.conj(), forms)
    right = torch.einsum("cij,djk->dcik", forms, matrices)
    return (left + right).flatten(2).mT
