r"""Ideals of a Lie algebra: direct summands, radical, nilradical; and the Levi factor.

Decompositions into a direct sum are idempotents of the centroid: the matrices $T$ with
$T[x, y] = [x, Ty]$, which commute with the adjoint representation. Its indecomposable summands are
ideals, simple ones if the algebra is semisimple.

Levi's theorem: every algebra is a semidirect sum $\mathfrak{s} \ltimes \mathfrak{r}$ of a
semisimple subalgebra and the radical, its largest solvable ideal.
"""

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import adjoint, bracket, intertwiner_gram, killing_form
from liegg.algebra.forms.commutant import Summand, indecomposable
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    derived_series,
    generic,
    identity,
    null_rows,
    outside,
    scale,
)
from liegg.algebra.subspace import qr_rows


def centroid(constants: Constants, *, tolerance: float = 1e-8) -> Float[Tensor, "k d d"]:
    r"""Orthonormal basis of the matrices that commute with the adjoint representation.

    Contains the identity.

    Args:
        constants: structure constants.
        tolerance: commutators of unit matrices below this share of the largest constant are zero.

    Returns:
        Orthonormal matrices `[k, d, d]` that act on coefficient columns.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> constants = structure_constants(so(1, 3))
        >>> len(centroid(constants))  # real and imaginary multiples: so(1,3) is sl(2,C)
        2
    """
    d, ad = len(constants), adjoint(constants)
    # The Gram matrix of d² unknowns: the map itself has d³ equations, and the gap is wide.
    values, vectors = torch.linalg.eigh(intertwiner_gram(ad, ad))
    matrices = vectors[:, values <= tolerance * float(values[-1])].mT.reshape(-1, d, d)
    # What squaring cannot resolve is decided on the map itself.
    images = bracket(ad, matrices[:, None]).flatten(1)
    _, sizes, right = torch.linalg.svd(images.mT, full_matrices=False)
    return torch.einsum("ab,bij->aij", right[sizes <= tolerance * scale(constants)], matrices)


def direct_summands(constants: Constants, *, tolerance: float = 1e-8) -> tuple[Summand, ...]:
    """Indecomposable ideals whose direct sum is the algebra, largest first.

    They are unique up to isomorphism; as subspaces they are unique if the algebra is semisimple.
    Central summands come one dimension at a time and in no special position: split them off first.

    Args:
        constants: structure constants.
        tolerance: as in `centroid`.

    Returns:
        One record for each ideal, with orthonormal coefficient rows.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> [len(ideal.basis) for ideal in direct_summands(structure_constants(so(4)))]
        [3, 3]
    """
    if constants.shape[0] == 0:
        return ()
    parts = indecomposable(centroid(constants, tolerance=tolerance), 2 * tolerance)
    ideals = [part._replace(basis=qr_rows(part.basis)) for part in parts]
    return tuple(sorted(ideals, key=lambda ideal: -len(ideal.basis)))


def radical(constants: Constants, *, tolerance: float = 1e-8) -> Rows:
    r"""The largest solvable ideal, $\{x : K(x, [\mathfrak{g}, \mathfrak{g}]) = 0\}$.

    Args:
        constants: structure constants.
        tolerance: singular values below this share of the largest constant (or its square) count as
            zero.

    Returns:
        Orthonormal coefficient rows.

    Examples:
        >>> from liegg.algebra.catalog import se
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(radical(structure_constants(se(3))))  # the translations
        3
    """
    space = identity(constants)
    derived = brackets(constants, space, space, tolerance=tolerance)
    return null_rows(derived @ killing_form(constants), tolerance * scale(constants) ** 2)


def nilradical(constants: Constants, *, tolerance: float = 1e-8) -> Rows:
    r"""The largest nilpotent ideal: the $x$ of the radical with $\operatorname{ad} x$ nilpotent.

    On the radical $\mathfrak{r}$ let $V_0 = \mathfrak{r}$ and $V_{i+1} = [[\mathfrak{r},
    \mathfrak{r}], V_i]$. On $V_i / V_{i+1}$ the radical acts by commuting matrices, so $x$ is
    nilpotent there exactly when $\operatorname{tr}(x\, y^k) = 0$ for all $k$ and a generic $y$.

    Args:
        constants: structure constants.
        tolerance: as in `radical`.

    Returns:
        Orthonormal coefficient rows.

    Examples:
        >>> from liegg.algebra.catalog import aff
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(nilradical(structure_constants(aff(3))))  # the translations, without the scaling
        3
    """
    rows = radical(constants, tolerance=tolerance)
    derived = brackets(constants, rows, rows, tolerance=tolerance)
    element = generic(1, len(rows))[0]
    threshold = tolerance * scale(constants)
    conditions, upper = [rows.new_zeros(0, len(rows))], rows
    while len(upper):
        lower = brackets(constants, derived, upper, tolerance=tolerance)
        if len(lower) >= len(upper):  # inexact constants: brackets of the radical are not nilpotent
            lower = lower[:0]
        quotient = outside(upper, lower)
        actions = torch.einsum("ai,bj,ijk,ck->acb", rows, quotient, constants, quotient)
        conditions.append(_traces(actions, element, threshold))
        upper = lower
    return null_rows(torch.cat(conditions), threshold) @ rows


def _traces(
    actions: Float[Tensor, "r m m"], element: Float[Tensor, " r"], floor: float
) -> Float[Tensor, "_ r"]:
    """The functionals tr(x yᵏ), k below the size of the matrices, with y scaled to norm one."""
    one = torch.einsum("i,iab->ab", element, actions)
    size = float(torch.linalg.matrix_norm(one, 2))
    if size <= floor:
        return actions.new_zeros(0, len(actions))
    powers = [torch.eye(len(one), dtype=one.dtype)]
    for _ in range(len(one) - 1):
        powers.append(powers[-1] @ one / size)
    return torch.einsum("iab,kba->ki", actions, torch.stack(powers))


def levi(constants: Constants, *, tolerance: float = 1e-8) -> Rows:
    r"""A semisimple subalgebra that is a complement of the radical.

    Starts from any complement $x_i$ of the radical $R_1$, with $[x_i, x_j] = \sum_k q_{ij}^k x_k$
    up to $R_1$, and corrects it along the derived series $R_1 \supset R_2 \supset \dots$ by
    elements $u_i$ of $R_t$ with $[x_i, u_j] + [u_i, x_j] - \sum_k q_{ij}^k u_k = \sum_k q_{ij}^k
    x_k - [x_i, x_j]$ up to $R_{t+1}$: a linear system, which has a solution by Whitehead's lemma.

    Args:
        constants: structure constants.
        tolerance: as in `radical`.

    Returns:
        Orthonormal coefficient rows, closed under the bracket.

    Examples:
        >>> from liegg.algebra.catalog import aff
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(levi(structure_constants(aff(3))))  # a copy of sl(3)
        8
    """
    rows = radical(constants, tolerance=tolerance)
    x = outside(identity(constants), rows)
    if len(x) == 0 or len(rows) == 0:
        return x
    q = torch.einsum("ai,bj,ijk,ck->abc", x, x, constants, x)
    for upper, lower in pairwise(derived_series(constants, start=rows, tolerance=tolerance)):
        layer = outside(upper, lower)
        x = x + _correction(constants, x, q, layer) @ layer
    return qr_rows(x)


def _correction(
    constants: Constants, x: Rows, q: Float[Tensor, "s s s"], layer: Float[Tensor, "m d"]
) -> Float[Tensor, "s m"]:
    """Coefficients over `layer` that, added to `x`, close it modulo the next layer."""
    s, m = len(x), len(layer)
    residual = torch.einsum("abk,kd->abd", q, x) - torch.einsum("ai,bj,ijk->abk", x, x, constants)
    action = torch.einsum("ai,bj,ijk,ck->acb", x, layer, constants, layer)  # ad x_a on the layer
    system = torch.zeros(s, s, m, s, m, dtype=x.dtype)
    every, eye = torch.arange(s), torch.arange(m)
    system[:, every, :, every, :] += action[None]  # [x_i, u_j]
    system[every, :, :, every, :] -= action[None]  # [u_i, x_j] = -[x_j, u_i]
    system[:, :, eye, :, eye] -= q[None]
    first, second = torch.triu_indices(s, s, 1)
    left = system[first, second].reshape(-1, s * m)
    right = (residual @ layer.mT)[first, second].reshape(-1, 1)
    return (torch.linalg.pinv(left, rtol=1e-10) @ right).reshape(s, m)
