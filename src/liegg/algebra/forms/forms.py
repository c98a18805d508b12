r"""What a span of matrices preserves: bilinear forms, vectors, covectors, volume, and the matrices that commute with it.

Each is the null space of a linear map, stacked over orthonormal generators $A$; motions $e^{tA}$ preserve a form $Q$ when
$A^\top Q + QA = 0$. Generators off by a matrix with entries of standard deviation $u/n$ give a true answer of unit length a
residual whose expected square, per generator, is $u^2$ times

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

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, fix_signs
from liegg.algebra.subspace import checked_uncertainty, orthonormal

FLOOR = 1e-9
"""Residual that rounding explains: matrices exact to 1e-12 in a basis of condition number up to 100."""

SIGNATURE = 1e-8
"""Eigenvalue of a form that counts as zero, relative to the largest: condition number 100 spreads a metric over 1e-4."""


@dataclass(frozen=True, eq=False)
class Forms:
    """What a span preserves; bases are orthonormal and depend on the span alone.

    The dictionaries have the keys symmetric, antisymmetric, vectors, covectors, commutant and trace.

    Attributes:
        symmetric: forms `Q` with `AᵀQ + QA = 0`, symmetric.
        antisymmetric: the same, antisymmetric.
        fixed_vectors: `v` with `Av = 0`, as rows.
        fixed_covectors: `l` with `Aᵀl = 0`, as rows.
        commutant: `T` with `AT = TA`; the identity is among them.
        traceless: volume is preserved.
        residuals: singular values of each map, ascending, divided by the root of the number of generators.
        gap: first singular value that is not zero over the last that is; where there is no such value the threshold stands for it.
        errors: error expected in each answer of unit length, to first order in the uncertainty.
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

    @property
    def metric(self) -> Float[Tensor, "n n"] | None:
        """The regular symmetric form that is preserved, where there is one up to scale; else None.

        Scaled to determinant ±1; positive if definite, else with fewer positive than negative eigenvalues: (1, 3) for Lorentz.
        """
        if len(self.symmetric) != 1:
            return None
        form = oriented(self.symmetric[0])
        if signature(form, max(SIGNATURE, 3 * self.errors["symmetric"]))[2]:
            return None
        return form / torch.linalg.det(form).abs() ** (1 / len(form))


@dataclass(frozen=True, eq=False)
class _Null:
    rows: Float[Tensor, "k c"]
    values: Float[Tensor, " c"]
    gap: float
    error: float


def preserved_forms(generators: Num[Tensor, "d ..."], *, uncertainty: float = 0.0) -> Forms:
    """Forms, vectors, covectors and commuting matrices that a span of matrices leaves as they are.

    Args:
        generators: matrices `[d, n, n]` in any basis.
        uncertainty: relative error of each unit generator; a singular value up to 3 times what it explains counts as zero.

    Returns:
        Orthonormal bases of each kind, with the singular values that decided.

    Examples:
        >>> from liegg.algebra import so
        >>> found = preserved_forms(so(1, 3))
        >>> found.metric.diag()
        tensor([ 1.000..., -1.000..., -1.000..., -1.000...], dtype=torch.float64)
        >>> (
        ...     len(found.antisymmetric),
        ...     len(found.fixed_vectors),
        ...     len(found.commutant),
        ...     found.traceless,
        ... )
        (0, 0, 1, True)
    """
    uncertainty = checked_uncertainty(uncertainty)
    basis = orthonormal(generators)
    n = basis.shape[1]
    found = {
        "symmetric": _null(
            _form_map(basis, symmetric_units(n, 1)), uncertainty * math.sqrt(2 * n + 2) / n
        ),
        "antisymmetric": _null(
            _form_map(basis, symmetric_units(n, -1)), uncertainty * math.sqrt(2 * n - 2) / n
        ),
        "vectors": _null(basis, uncertainty / math.sqrt(n)),
        "covectors": _null(basis.mT, uncertainty / math.sqrt(n)),
        "commutant": _null(_commutator_map(basis), uncertainty * math.sqrt(2 / n)),
        "trace": _null(
            basis.diagonal(dim1=1, dim2=2).sum(1)[:, None, None], uncertainty / math.sqrt(n)
        ),
    }
    return Forms(
        symmetric=_matrices(found["symmetric"].rows @ symmetric_units(n, 1).flatten(1), n),
        antisymmetric=_matrices(found["antisymmetric"].rows @ symmetric_units(n, -1).flatten(1), n),
        fixed_vectors=canonical_basis(found["vectors"].rows),
        fixed_covectors=canonical_basis(found["covectors"].rows),
        commutant=_matrices(found["commutant"].rows, n),
        traceless=len(found["trace"].rows) == 1,
        residuals={kind: null.values for kind, null in found.items()},
        gap={kind: null.gap for kind, null in found.items()},
        errors={kind: null.error for kind, null in found.items()},
        uncertainty=uncertainty,
    )


def signature(form: Float[Tensor, "n n"], tolerance: float = SIGNATURE) -> tuple[int, int, int]:
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
            f"a form of shape {tuple(form.shape)} that is not symmetric; expected a symmetric matrix [n, n]."
        )
    values = torch.linalg.eigvalsh(form)
    cut = tolerance * float(values.abs().max()) if values.numel() else 0.0
    positive, negative = int((values > cut).sum()), int((values < -cut).sum())
    return positive, negative, len(values) - positive - negative


def oriented(form: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """A symmetric form or its negative: definite ones positive, else fewer positive than negative eigenvalues.

    With as many of both the first of the largest entries is positive.
    """
    positive, negative, _ = signature(form)
    if positive == negative:
        return fix_signs(form.reshape(1, -1)).reshape(form.shape)
    wanted = negative == 0 or 0 < positive < negative
    return form if wanted else -form


def _null(maps: Float[Tensor, "d r c"], expected: float) -> _Null:
    """Null space of maps stacked over the generators; `expected` is the residual of a true answer, per generator."""
    d, _, unknowns = maps.shape
    threshold = max(3 * expected, FLOOR)
    if d == 0:
        return _Null(torch.eye(unknowns).to(maps), maps.new_zeros(unknowns), math.inf, 0.0)
    # Squaring would lose the digits below 1e-8; a QR keeps them and leaves a small SVD.
    _, values, right = torch.linalg.svd(
        torch.linalg.qr(maps.flatten(0, 1), mode="r").R / math.sqrt(d), full_matrices=True
    )
    values = values.flip(0)
    count = int((values <= threshold).sum())
    last = float(values[count - 1]) if count else threshold
    first = float(values[count]) if count < unknowns else threshold
    # First order: noise spreads evenly over the independent equations, to each generator as many as unknowns, and each singular
    # direction divides its share by its value.
    error = (
        expected / math.sqrt(max(d * unknowns, 1)) * math.sqrt(float((values[count:] ** -2).sum()))
    )
    return _Null(right.flip(0)[:count], values, first / last if last > 0 else math.inf, error)


def symmetric_units(n: int, sign: int) -> Float[Tensor, "c n n"]:
    """Orthonormal basis of the symmetric (`sign` 1) or antisymmetric (-1) matrices."""
    i, j = torch.triu_indices(n, n, 0 if sign > 0 else 1)
    basis = torch.zeros(len(i), n, n, dtype=torch.float64)
    basis[range(len(i)), i, j] += 1
    basis[range(len(i)), j, i] += sign
    return basis / basis.flatten(1).norm(dim=1)[:, None, None]


def _form_map(
    basis: Float[Tensor, "d n n"], forms: Float[Tensor, "c n n"]
) -> Float[Tensor, "d r c"]:
    """`AᵀQ + QA` for each form; it is symmetric or antisymmetric as they are."""
    right = torch.einsum("cij,djk->dcik", forms, basis)
    left = torch.einsum("dji,cjk->dcik", basis, forms)
    return (left + right).flatten(2).mT


def _commutator_map(basis: Float[Tensor, "d n n"]) -> Float[Tensor, "d r c"]:
    n = basis.shape[1]
    units = torch.eye(n * n, dtype=torch.float64).unflatten(1, (n, n))
    return (
        (torch.einsum("dij,cjk->dcik", basis, units) - torch.einsum("cij,djk->dcik", units, basis))
        .flatten(2)
        .mT
    )


def _matrices(rows: Float[Tensor, "k g"], n: int) -> Float[Tensor, "k n n"]:
    return canonical_basis(rows).unflatten(1, (n, n))
