"""Invariants of a Lie algebra from its structure constants: series, radical, simple ideals."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import killing_form
from liegg.algebra.forms.commutant import Summand
from liegg.algebra.structure.ideals import direct_summands, levi, nilradical, radical
from liegg.algebra.structure.real_forms import UNKNOWN, aliases, real_form
from liegg.algebra.structure.roots import Roots, cartan_subalgebra, root_system
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    centre,
    checked_constants,
    derived_series,
    lower_central_series,
    restricted,
    scale,
)
from liegg.algebra.subspace import qr_rows


@dataclass(frozen=True, eq=False)
class Simple:
    """A simple ideal of the Levi factor.

    Attributes:
        basis: orthonormal coefficient rows over the basis of the algebra.
        dimension: real dimension.
        rank: dimension of a Cartan subalgebra, over the reals; twice the rank of the Dynkin type
            for a complex algebra.
        dynkin: type of the complexification, such as `"B2"`; of the complex algebra itself if
            `complex`; `"unknown"` if the computed roots are not a root system.
        complex: whether it is a complex simple algebra seen as a real one.
        killing_signature: numbers of positive and negative eigenvalues of its Killing form.
        real_form: its commonest name, such as `"so(2,3)"`; `"unknown"` if the table has none.
        aliases: all names, `real_form` first.
        roots: root system of the complexification; None if `dynkin` is unknown.
    """

    basis: Rows
    dimension: int
    rank: int
    dynkin: str
    complex: bool
    killing_signature: tuple[int, int]
    real_form: str
    aliases: tuple[str, ...]
    roots: Roots | None


@dataclass(frozen=True, eq=False)
class Invariants:
    """Invariants of a Lie algebra. Subspaces are orthonormal coefficient rows.

    Attributes:
        dimension: of the algebra.
        rank: dimension of a Cartan subalgebra.
        centre: elements that commute with all others.
        derived_series: dimensions, from the algebra down to where they stay.
        lower_central_series: the same for the lower central series.
        radical: largest solvable ideal.
        nilradical: largest nilpotent ideal.
        levi: a semisimple subalgebra, complement of the radical.
        simple: simple ideals of the Levi factor, largest first.
        killing_signature: numbers of positive, negative and zero eigenvalues of the Killing form.
    """

    dimension: int
    rank: int
    centre: Rows
    derived_series: tuple[int, ...]
    lower_central_series: tuple[int, ...]
    radical: Rows
    nilradical: Rows
    levi: Rows
    simple: tuple[Simple, ...]
    killing_signature: tuple[int, int, int]

    @property
    def abelian(self) -> bool:
        """All brackets vanish."""
        return len(self.centre) == self.dimension

    @property
    def nilpotent(self) -> bool:
        """The lower central series ends at zero."""
        return self.lower_central_series[-1] == 0

    @property
    def solvable(self) -> bool:
        """The derived series ends at zero."""
        return self.derived_series[-1] == 0

    @property
    def semisimple(self) -> bool:
        """There is no solvable ideal but zero; an algebra of dimension zero does not count."""
        return self.dimension > 0 and len(self.radical) == 0

    @property
    def reductive(self) -> bool:
        """The radical is the centre: a sum of a semisimple and an abelian algebra."""
        return len(self.radical) == len(self.centre)

    @property
    def compact(self) -> bool:
        """The Killing form is negative semidefinite and vanishes only on the centre."""
        positive, _, zero = self.killing_signature
        return positive == 0 and zero == len(self.centre)


def invariants(constants: Constants, *, tolerance: float = 1e-8) -> Invariants:
    """Invariants of the algebra with the given structure constants.

    Args:
        constants: `constants[i, j, k]` are the coefficients of `[B_i, B_j]`; of an orthonormal
            basis of matrices for the best accuracy, exact to about 1e-12.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        The record; the same for any basis, up to the coordinates of the subspaces.

    Examples:
        >>> from liegg.algebra.catalog import se
        >>> from liegg.algebra.bracket import structure_constants
        >>> rigid = invariants(structure_constants(se(3)))
        >>> rigid.derived_series, len(rigid.radical), rigid.simple[0].aliases
        ((6,), 3, ('so(3)', 'su(2)', 'sp(1)'))
    """
    constants = checked_constants(constants)
    factor = levi(constants, tolerance=tolerance)
    eigenvalues = torch.linalg.eigvalsh(killing_form(constants))
    threshold = tolerance * scale(constants) ** 2
    positive, negative = int((eigenvalues > threshold).sum()), int((eigenvalues < -threshold).sum())
    return Invariants(
        dimension=len(constants),
        rank=len(cartan_subalgebra(constants, tolerance=tolerance)),
        centre=centre(constants, tolerance=tolerance),
        derived_series=tuple(len(rows) for rows in derived_series(constants, tolerance=tolerance)),
        lower_central_series=tuple(
            len(rows) for rows in lower_central_series(constants, tolerance=tolerance)
        ),
        radical=radical(constants, tolerance=tolerance),
        nilradical=nilradical(constants, tolerance=tolerance),
        levi=factor,
        simple=simple_ideals(constants, factor, tolerance=tolerance),
        killing_signature=(positive, negative, len(constants) - positive - negative),
    )


def simple_ideals(
    constants: Constants, factor: Rows, *, tolerance: float = 1e-8
) -> tuple[Simple, ...]:
    """Simple ideals of a semisimple subalgebra, largest first, then compact ones first.

    Args:
        constants: structure constants of the algebra.
        factor: rows that span the subalgebra.
        tolerance: as in `invariants`.

    Returns:
        One record for each.
    """
    if len(factor) == 0:
        return ()
    basis = killing_basis(restricted(constants, factor)) @ factor
    inner = restricted(constants, basis)
    ideals = [
        _simple(inner, ideal, basis, tolerance)
        for ideal in direct_summands(inner, tolerance=tolerance)
    ]
    return tuple(
        sorted(ideals, key=lambda one: (-one.dimension, one.killing_signature[0], one.real_form))
    )


def killing_basis(constants: Constants) -> Float[Tensor, "s s"]:
    """Basis of a semisimple algebra, as rows, in which the Killing form is diag(±1).

    A conjugation by a matrix of condition number 100 spreads its eigenvalues over four decades;
    this removes the spread.
    """
    values, vectors = torch.linalg.eigh(killing_form(constants))
    sizes = values.abs()
    # Exact constants stay far above this floor; the form of inexact ones may be singular.
    return (vectors / sizes.clamp_min(max(1e-12 * float(sizes.max()), 1e-300)).sqrt()).mT


def _simple(
    inner: Float[Tensor, "s s s"], ideal: Summand, basis: Float[Tensor, "s d"], tolerance: float
) -> Simple:
    """Record of an ideal over a basis of the semisimple subalgebra that `inner` describes."""
    rows = killing_basis(restricted(inner, ideal.basis)) @ ideal.basis
    own = restricted(inner, rows)
    positive = int((torch.linalg.eigvalsh(killing_form(own)) > 0).sum())
    roots = root_system(own, tolerance=tolerance)
    dynkin = name = UNKNOWN
    if roots and len(roots.types) == 1 + ideal.complex and len(set(roots.types)) == 1:
        dynkin = roots.types[0]
        name = real_form(dynkin, positive, complex_type=ideal.complex)
    return Simple(
        basis=qr_rows(rows @ basis),
        dimension=len(rows),
        rank=len(roots.cartan) if roots else len(cartan_subalgebra(own, tolerance=tolerance)),
        dynkin=dynkin,
        complex=ideal.complex,
        killing_signature=(positive, len(rows) - positive),
        real_form=name,
        aliases=(name,) if name == UNKNOWN or " or " in name else aliases(name),
        roots=roots if dynkin != UNKNOWN else None,
    )
