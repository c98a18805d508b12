r"""The Lie bracket of matrices, the structure constants it gives, and the Killing form.

Structure constants are `constants[i, j, k]` with $[B_i, B_j] = \sum_k c_{ij}^k B_k$.
"""

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.subspace import checked_generators, distance_to_span, orthonormal

INDEPENDENT_SHARE = 1e-10
"""Share of the largest singular value above which generators count as independent.

`orthonormal` cuts at the same."""

COMMUTING_RESIDUAL = 1e-11
"""Size of brackets of unit matrices that rounding explains, at condition numbers up to 100."""


def bracket(a: Float[Tensor, "... n n"], b: Float[Tensor, "... n n"]) -> Float[Tensor, "... n n"]:
    """Commutator `ab - ba`; leading axes broadcast."""
    return a @ b - b @ a


def closure_residual(generators: Float[Tensor, "d n n"]) -> float:
    """Largest distance of a bracket of orthonormal generators to their span; 0 for a Lie algebra.

    >>> from liegg.algebra import sl
    >>> closure_residual(sl(2)[:2])  # E12 and E21 without their bracket, which is diagonal
    1.414...
    """
    basis = orthonormal(generators)
    pairs = bracket(basis[:, None], basis[None]).flatten(0, 1).flatten(1)
    return float(distance_to_span(pairs, basis.flatten(1)).max()) if len(basis) else 0.0


def structure_constants(generators: Num[Tensor, "d ..."]) -> Float[Tensor, "d d d"]:
    r"""Coefficients $c_{ij}^k$ of the brackets $[B_i, B_j] = \sum_k c_{ij}^k B_k$.

    By least squares: for a span that is not closed they describe the part of each bracket inside
    it. Where all brackets are rounding the constants are exactly zero.

    Args:
        generators: independent matrices `[d, n, n]`, not necessarily orthogonal or of unit length.

    Returns:
        Constants, antisymmetric in the first two axes.

    Raises:
        ArgumentError: the generators depend on each other.

    Examples:
        >>> from liegg.algebra import so
        >>> structure_constants(so(3))[0, 1, 2]  # the bracket of the first two is the third
        tensor(1.000..., dtype=torch.float64)
    """
    matrices = checked_generators(generators)
    d = len(matrices)
    if d == 0:
        return matrices.new_zeros(0, 0, 0)
    left, values, right = torch.linalg.svd(matrices.flatten(1), full_matrices=False)
    rank = int((values > INDEPENDENT_SHARE * values[0]).sum()) if float(values[0]) > 0 else 0
    if rank < d:
        raise ArgumentError(
            f"{d} generators span {rank} dimensions; expected independent ones, "
            "for example algebra.orthonormal(generators)."
        )
    pairs = bracket(matrices[:, None], matrices[None]).flatten(2)
    sizes = matrices.flatten(1).norm(dim=1)
    if bool((pairs.norm(dim=2) <= COMMUTING_RESIDUAL * sizes[:, None] * sizes).all()):
        return matrices.new_zeros(d, d, d)
    constants = ((pairs @ right.mT) / values) @ left.mT
    return (constants - constants.transpose(0, 1)) / 2


def intertwiner_gram(
    one: Float[Tensor, "d n n"], other: Float[Tensor, "d n n"]
) -> Float[Tensor, "g g"]:
    """Gram matrix of the maps T ↦ B_i T − T A_i on the entries of T; A is `one`, B `other`."""
    n = one.shape[1]
    eye = torch.eye(n).to(one)
    mixed = torch.einsum("iab,icd->acbd", other, one).reshape(n * n, n * n)
    outer = torch.kron((other.mT @ other).sum(0), eye) + torch.kron(eye, (one @ one.mT).sum(0))
    return outer - mixed - mixed.mT


def adjoint(constants: Float[Tensor, "d d d"]) -> Float[Tensor, "d d d"]:
    """Adjoint representation: `adjoint[i] @ x` are the coefficients of [B_i, x]."""
    return constants.to(torch.float64).mT


def jacobi_residual(constants: Float[Tensor, "d d d"]) -> float:
    r"""Largest violation of the Jacobi identity, over the square of the largest constant.

    Zero for a Lie algebra, of order one for constants without structure; zero for an abelian
    algebra.

    >>> from liegg.algebra import sl
    >>> jacobi_residual(structure_constants(sl(3))) < 1e-14
    True
    """
    constants = constants.to(torch.float64)
    scale = float(constants.abs().max()) if constants.numel() else 0.0
    if scale == 0:
        return 0.0
    double = torch.einsum("ijk,klm->ijlm", constants / scale, constants / scale)
    return float((double + double.permute(1, 2, 0, 3) + double.permute(2, 0, 1, 3)).abs().max())


def killing_form(constants: Float[Tensor, "d d d"]) -> Float[Tensor, "d d"]:
    r"""Killing form $K_{ij} = \operatorname{tr}(\operatorname{ad}_i \operatorname{ad}_j)$.

    Regular for a semisimple algebra; negative definite for a compact one.

    >>> from liegg.algebra import so
    >>> killing_form(structure_constants(so(3))).diag()
    tensor([-2.000..., -2.000..., -2.000...], dtype=torch.float64)
    """
    constants = constants.to(torch.float64)
    form = torch.einsum("ikl,jlk->ij", constants, constants)
    return (form + form.mT) / 2


def killing_eigenvalues(constants: Float[Tensor, "d d d"]) -> Float[Tensor, " d"]:
    """Eigenvalues of the Killing form, ascending.

    Their signs do not depend on the basis, their sizes do.
    """
    return torch.linalg.eigvalsh(killing_form(constants))
