"""The components of a Lie group: matrices closed under multiplication, modulo the identity component."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.finite.compact import APART, SAME, believed_share
from liegg.algebra.finite.membership import distance, nearest_to_identity, polished, violation
from liegg.algebra.finite.multiplication import Table, element_orders
from liegg.algebra.finite.products import Products, breadth_first, distinct
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import Forms, preserved_forms
from liegg.algebra.forms.frame import standard_frame
from liegg.algebra.subspace import orthonormal

ROUNDING = 1e-7
"""Distance at which a coset is that of the identity, for exact matrices."""

MOST_SUBSPACES = 5
"""Invariant subspaces whose signs are tried in all combinations."""


@dataclass(frozen=True, eq=False)
class Components:
    """The components of a group.

    Attributes:
        elements: one element of each component, the identity first.
        table: numbers of the products.
        sources: number of the component of each given matrix.
    """

    elements: Float[Tensor, "m n n"]
    table: Table
    sources: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cosets:
    """The cosets of an identity component.

    Attributes:
        algebra: orthonormal generators.
        forms: what they preserve.
        candidates: simple matrices, the most usual first.
        error: expected error of a given matrix.
    """

    algebra: Float[Tensor, "d n n"]
    forms: Forms
    candidates: Float[Tensor, "c n n"]
    error: float

    def locate(
        self, products: Tensor, known: Tensor, lengths: Int[Tensor, " m"], length: int
    ) -> Int[Tensor, " k"] | Remark:
        """Which of the known components products are in; -1 for new ones."""
        places = []
        for product in products:
            allowed = self.allowed(length + int(lengths.max()))
            apart = self.distances(torch.linalg.inv(known) @ product, allowed)
            nearest, place = apart.min(0)
            if allowed < float(nearest) < APART * allowed:
                return Diagnosis.GROUP_INACCURATE(distance=float(nearest))
            places.append(int(place) if float(nearest) <= allowed else -1)
        return torch.tensor(places, dtype=torch.long)

    def allowed(self, length: int) -> float:
        """Distance of a product of some matrices to its component."""
        return max(SAME * self.error * length, ROUNDING)

    def distances(self, matrices: Float[Tensor, "k n n"], allowed: float) -> Float[Tensor, " k"]:
        """Distances of matrices to the identity component; infinite where invariants rule it out."""
        apart = torch.full((len(matrices),), torch.inf).to(matrices)
        possible = (violation(matrices, self.forms) <= APART * allowed).nonzero().flatten()
        for starts in ({"starts": 0}, {}):
            if not len(possible):
                break
            near = nearest_to_identity(matrices[possible], self.algebra, goal=allowed / 2, **starts)
            apart[possible] = distance(near)
            if float(apart.min()) <= allowed:
                break
        return apart

    def represent(self, matrices: Float[Tensor, "k n n"]) -> Float[Tensor, "k n n"]:
        """A simple element of the component of each matrix, or else the one nearest the identity."""
        chosen = []
        for matrix in matrices:
            allowed = self.allowed(2)
            apart = self.distances(torch.linalg.inv(self.candidates) @ matrix, allowed)
            inside = (apart <= allowed).nonzero().flatten()
            chosen.append(
                self.candidates[int(inside[0])]
                if len(inside)
                else polished(matrix[None], self.algebra)[0]
            )
        return torch.stack(chosen)


def close_components(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    *,
    tolerance: float,
    limit: int,
    homogeneous: bool = False,
) -> Components | Remark:
    """The group of components that matrices generate; a remark that says why if that is not clear.

    Args:
        matrices: invertible.
        algebra: generators of the identity component.
        tolerance: relative error of each matrix.
        limit: largest number of components.
        homogeneous: whether the matrices are affine maps in homogeneous form.
    """
    span = orthonormal(algebra)
    condition = float(torch.linalg.cond(matrices).max()) if len(matrices) else 1.0
    cosets = Cosets(
        span,
        preserved_forms(span, uncertainty=tolerance),
        simple_elements(span, homogeneous=homogeneous),
        tolerance * condition,
    )
    outside = leaves_algebra(matrices, span, cosets.allowed(2) * condition)
    if outside is not None:
        return outside
    own = cosets.represent(matrices) if len(matrices) else matrices
    steps = distinct(own, cosets.locate)
    if isinstance(steps, Remark):
        return steps
    products = breadth_first(steps, cosets.locate, limit=limit, represent=cosets.represent)
    if isinstance(products, Remark):
        return products
    chance = _coincidence(products, cosets)
    sources = cosets.locate(own, products.elements, products.lengths, 1)
    if chance is not None:
        return chance
    if isinstance(sources, Remark):
        return sources
    return Components(products.elements, products.table, tuple(sources.tolist()))


def leaves_algebra(
    matrices: Float[Tensor, "k n n"], span: Float[Tensor, "d n n"], allowed: float
) -> Remark | None:
    """A remark on the first matrix that does not take the algebra to itself by conjugation."""
    basis = span.flatten(1)
    for place, matrix in enumerate(matrices):
        moved = (matrix @ span @ torch.linalg.inv(matrix)).flatten(1)
        rest = moved - moved @ basis.mT @ basis
        sine = float((rest.norm(dim=1) / moved.norm(dim=1)).max())
        if sine > allowed:
            degrees = float(torch.rad2deg(torch.asin(torch.tensor(min(sine, 1.0)))))
            return Diagnosis.GROUP_LEAVES_ALGEBRA(element=place + 1, degrees=degrees)
    return None


def _coincidence(products: Products, cosets: Cosets) -> Remark | None:
    """Whether some component may have its order by chance: its power is not near enough the identity component."""
    orders = element_orders(products.table).tolist()
    for element, order, length in zip(
        products.elements, orders, products.lengths.tolist(), strict=True
    ):
        if order <= 2:
            continue
        power = torch.linalg.matrix_power(element, order)[None]
        error = float(cosets.distances(power, cosets.allowed(order * length))) / (order * length)
        if order**2 * error > believed_share(order):
            degrees = float(torch.rad2deg(torch.tensor(min(error, 2.0))))
            return Diagnosis.GROUP_BY_CHANCE(order=order, error=degrees)
    return None


def simple_elements(
    span: Float[Tensor, "d n n"], *, homogeneous: bool = False
) -> Float[Tensor, "c n n"]:
    """Simple matrices that may stand for a component, the most usual first.

    The identity; parity, time reversal and −1 on invariant subspaces; reflections of one axis and of two; swaps of
    two axes. In the given coordinates, and in those where the preserved form is standard.
    """
    n = span.shape[1] - homogeneous
    linear = orthonormal(span[:, :n, :n])
    one = torch.eye(n).to(span)
    frame = standard_frame(linear)
    elements = [one, *_subspace_signs(linear)]
    frames = [one]
    if frame is not None:
        if frame.form is not None:
            standard = (frame.frame.mT @ frame.form @ frame.frame).diagonal().sign()
            inverse = torch.linalg.inv(frame.frame)
            elements += [frame.frame @ (sign * standard).diag() @ inverse for sign in (1, -1)]
        frames.append(frame.frame)
    for axes in frames:
        inverse = torch.linalg.inv(axes)
        elements += [axes @ simple @ inverse for simple in _axis_elements(one)]
    matrices = torch.stack(elements)
    if not homogeneous:
        return matrices
    extended = torch.eye(n + 1).to(span).repeat(len(matrices), 1, 1)
    extended[:, :n, :n] = matrices
    return extended


def _subspace_signs(linear: Float[Tensor, "d n n"]) -> Iterator[Float[Tensor, "n n"]]:
    """±1 on the invariant subspaces of an algebra, in all combinations."""
    minus = -torch.eye(linear.shape[1]).to(linear)
    subspaces = invariant_subspaces(linear) if len(linear) else ()
    if not 1 < len(subspaces) <= MOST_SUBSPACES:
        yield minus
        return
    basis = torch.cat(list(subspaces), 1)
    inverse = torch.linalg.inv(basis)
    for count in range(1, len(subspaces)):
        for chosen in combinations(range(len(subspaces)), count):
            signs = [
                (-1.0 if i in chosen else 1.0) * torch.ones(space.shape[1])
                for i, space in enumerate(subspaces)
            ]
            yield basis @ torch.cat(signs).to(basis).diag() @ inverse
    yield minus


def _axis_elements(one: Float[Tensor, "n n"]) -> Iterator[Float[Tensor, "n n"]]:
    """Reflections of one axis and of two, and swaps of two axes."""
    n = len(one)
    for axes in (*combinations(range(n), 1), *combinations(range(n), 2)):
        signs = torch.ones(n).to(one)
        signs[list(axes)] = -1
        yield signs.diag()
    for i, j in combinations(range(n), 2):
        order = list(range(n))
        order[i], order[j] = j, i
        yield one[order]
