r"""Cartan subalgebras, roots, Cartan matrix and Dynkin type, from structure constants."""

from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from liegg.algebra.bracket import adjoint, killing_form
from liegg.algebra.structure.series import (
    GENERIC_ELEMENTS,
    GENERIC_SEED,
    Constants,
    Rows,
    generic,
    null_rows,
    outside,
    scale,
)
from liegg.algebra.subspace import components

LARGEST_FRACTION = 0.02
"""Largest distance of a Cartan number from an integer; exact constants stay below 1e-6."""

EXCEPTIONAL_ROOTS = {
    (6, 72, 72): "E",
    (7, 126, 126): "E",
    (8, 240, 240): "E",
    (4, 48, 24): "F",
    (2, 12, 6): "G",
}
"""Letters of the exceptional types by rank, number of roots and number of long roots."""


@dataclass(frozen=True, eq=False)
class Roots:
    """Root system of a semisimple algebra over the complex numbers.

    Attributes:
        cartan: rows that span the Cartan subalgebra.
        coefficients: all roots as integer combinations of the simple ones, one row each, the simple
            ones first.
        matrix: Cartan matrix, 2(α, β)/(β, β) of the simple roots α, β.
        components: simple roots of each simple summand over the complex numbers, as indices.
        types: Dynkin type of each of them, such as `("A1", "B3")`.
    """

    cartan: Rows
    coefficients: Int[Tensor, "m r"]
    matrix: Int[Tensor, "r r"]
    components: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]


def cartan_subalgebra(constants: Constants, *, tolerance: float = 1e-8) -> Rows:
    r"""A Cartan subalgebra: what a power of $\operatorname{ad} x$ kills, for a generic $x$.

    Its dimension is the rank of the algebra.

    Args:
        constants: structure constants.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        Orthonormal coefficient rows.

    Examples:
        >>> from liegg.algebra.catalog import su
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(cartan_subalgebra(structure_constants(su(3))))
        2
    """
    kernels = [_kernel(element, tolerance * scale(constants)) for element in _generic(constants)]
    return min(kernels, key=len)


def _generic(constants: Constants) -> Float[Tensor, "m d d"]:
    """Adjoint matrices of random elements of unit length."""
    elements = torch.nn.functional.normalize(generic(GENERIC_ELEMENTS, len(constants)), dim=1)
    return torch.einsum("mi,iab->mab", elements, adjoint(constants))


def _kernel(matrix: Float[Tensor, "d d"], threshold: float) -> Rows:
    """Vectors that a power of the matrix kills: null space, null space modulo that, and so on."""
    kernel = matrix.new_zeros(0, len(matrix))
    rest = torch.eye(len(matrix), dtype=matrix.dtype)
    while len(rest) and len(more := null_rows(rest @ matrix @ rest.mT, threshold)):
        kernel = torch.cat([kernel, more @ rest])
        rest = outside(torch.eye(len(matrix), dtype=matrix.dtype), kernel)
    return kernel


def root_system(constants: Constants, *, tolerance: float = 1e-8) -> Roots | None:
    r"""Roots of a semisimple algebra, those of its complexification.

    Roots are the simultaneous eigenvalues of $\operatorname{ad} h$ for $h$ in a Cartan subalgebra.
    Only the Cartan integers $2(\alpha, \beta)/(\beta, \beta)$ are computed numerically, with the
    inner product of the Killing form; all the rest is exact.

    Args:
        constants: structure constants of a semisimple algebra.
        tolerance: as in `cartan_subalgebra`.

    Returns:
        The root system; None where these numbers are not integers, so that the constants are not
        those of a semisimple algebra or too inexact.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> root_system(structure_constants(so(5))).types
        ('B2',)
    """
    elements = _generic(constants)
    values, vectors = torch.linalg.eig(elements.to(torch.complex128))
    kernels = [null_rows(element, tolerance * scale(constants)) for element in elements]
    rank = min(len(kernel) for kernel in kernels)
    if rank == len(constants):
        return None
    order = values.abs().argsort(dim=1, descending=True)[:, : len(constants) - rank]
    best = int(_separation(values.gather(1, order)).argmax())
    integers = _cartan_integers(constants, kernels[best], vectors[best][:, order[best]])
    return None if integers is None else _from_integers(kernels[best], *integers)


def _separation(values: Complex[Tensor, "m k"]) -> Float[Tensor, " m"]:
    """Smallest distance between two eigenvalues, or of one to zero."""
    values = torch.cat([values, values.new_zeros(len(values), 1)], dim=1)
    first, second = torch.triu_indices(values.shape[1], values.shape[1], 1)
    return (values[:, first] - values[:, second]).abs().amin(1)


def _cartan_integers(
    constants: Constants, cartan: Rows, vectors: Complex[Tensor, "d m"]
) -> tuple[Int[Tensor, "m m"], Float[Tensor, " m"]] | None:
    """2(a, b)/(b, b) for all roots a, b, linear in a; and (a, a). None where these are not integers."""
    count, frame = vectors.shape[1], torch.cat([vectors, cartan.mT.to(vectors)], dim=1)
    if frame.shape[0] != frame.shape[1]:
        return None
    actions = torch.einsum("ri,iab->rab", cartan, adjoint(constants)).to(vectors)
    roots = (
        (torch.linalg.pinv(frame)[:count] @ actions @ vectors).diagonal(dim1=1, dim2=2).mT
    )  # [m, r]
    form = (cartan @ killing_form(constants) @ cartan.mT).to(vectors)
    inner = roots @ torch.linalg.pinv(form) @ roots.mT
    integers = 2 * inner / inner.diagonal()
    if not bool(((integers - integers.real.round()).abs() < LARGEST_FRACTION).all()):
        return None
    return integers.real.round().to(torch.int64), inner.diagonal().abs()


def _from_integers(
    cartan: Rows, table: Int[Tensor, "m m"], squares: Float[Tensor, " m"]
) -> Roots | None:
    """Simple roots are the positive ones that are not a sum of two.

    The others are combinations of them.
    """
    # A generic linear function separates positive from negative roots, and every root from every
    # other.
    weights = torch.randint(
        -(2**40), 2**40, (len(table),), generator=torch.Generator().manual_seed(GENERIC_SEED)
    )
    heights = (table * weights).sum(1)
    positive = heights[heights > 0]
    sums = positive[:, None] + positive[None]
    simple = (heights > 0) & ~torch.isin(heights, sums)
    matrix = table[simple][:, simple]
    if len(matrix) != len(cartan) or int(torch.linalg.matrix_rank(matrix.double())) < len(cartan):
        return None
    if not torch.equal(matrix != 0, matrix.mT != 0):
        return None
    coefficients = table[:, simple].double() @ torch.linalg.inv(matrix.double())
    coefficients = coefficients.round().to(torch.int64)
    parts = tuple(map(tuple, components(matrix != 0)))
    types = tuple(_dynkin(len(part), squares[coefficients[:, part].any(1)]) for part in parts)
    if "" in types:
        return None
    coefficients = torch.cat([coefficients[simple], coefficients[~simple]])
    return Roots(
        cartan=cartan, coefficients=coefficients, matrix=matrix, components=parts, types=types
    )


def _dynkin(n: int, squares: Float[Tensor, " m"]) -> str:
    """Type of a connected diagram from its rank and the squared lengths of all its roots.

    Empty if none fits.
    """
    # Short roots are shorter by a factor of at least √2.
    count, long = len(squares), int((squares > 0.8 * squares.max()).sum())
    classical = {
        (2 * n * (n - 1), 2 * n * (n - 1)): "D",
        (2 * n * n, 2 * n): "C",
        (2 * n * n, 2 * n * (n - 1)): "B",  # also C2
        (n * (n + 1), n * (n + 1)): "A",  # also B1, C1 and D3
    }
    letter = EXCEPTIONAL_ROOTS.get((n, count, long)) or classical.get((count, long))
    return f"{letter}{n}" if letter else ""
