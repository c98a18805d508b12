"""The components of a Lie group: matrices closed under multiplication, modulo the identity component."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.algebra.finite.compact import DISTINCT_RATIO, SAME_PRODUCT, believed_share
from liegg.algebra.finite.membership import distance, nearest_to_identity, polished, violation
from liegg.algebra.finite.multiplication import element_orders
from liegg.algebra.finite.products import Closed, NotClosed, Products, breadth_first
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import Forms, preserved_forms
from liegg.algebra.forms.frame import standard_frame
from liegg.algebra.subspace import linear_part, orthonormal

SAME_COSET = 1e-7
"""Distance at which a coset is that of the identity, for exact matrices."""

MOST_PATTERNS = 6
"""Largest number of signs of which all patterns are tried; above it one sign, all but one, and all."""


@dataclass(frozen=True, eq=False)
class Cosets:
    """The cosets of an identity component.

    Attributes:
        algebra: orthonormal generators.
        forms: what they preserve.
        subspaces: bases of what they leave invariant.
        candidates: simple matrices, the most usual first.
        error: expected error of a given matrix.
    """

    algebra: Float[Tensor, "d n n"]
    forms: Forms
    subspaces: Sequence[Float[Tensor, "n _"]]
    candidates: Float[Tensor, "c n n"]
    error: float

    def locate(
        self, products: Tensor, known: Tensor, lengths: Int[Tensor, " m"], length: int
    ) -> Int[Tensor, " k"]:
        """Which of the known components products are in; -1 for new ones."""
        places = []
        for product in products:
            allowed = self.allowed(length + int(lengths.max()))
            apart = self.distances(torch.linalg.inv(known) @ product, allowed)
            nearest, place = apart.min(0)
            if allowed < float(nearest) < DISTINCT_RATIO * allowed:
                raise NotClosed(Diagnosis.GROUP_INACCURATE(distance=float(nearest)))
            places.append(int(place) if float(nearest) <= allowed else -1)
        return torch.tensor(places, dtype=torch.long)

    def allowed(self, length: int) -> float:
        """Distance of a product of some matrices to its component."""
        return max(SAME_PRODUCT * self.error * length, SAME_COSET)

    def distances(self, matrices: Float[Tensor, "k n n"], allowed: float) -> Float[Tensor, " k"]:
        """Distances of matrices to the identity component; infinite where invariants rule it out."""
        apart = torch.full((len(matrices),), torch.inf).to(matrices)
        broken = violation(matrices, self.forms, self.subspaces)
        possible = (broken <= DISTINCT_RATIO * allowed).nonzero().flatten()
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
) -> Closed:
    """The group of components that matrices generate.

    Args:
        matrices: invertible.
        algebra: generators of the identity component.
        tolerance: relative error of each matrix.
        limit: largest number of components.
        homogeneous: whether the matrices are affine maps in homogeneous form.

    Raises:
        NotClosed: the group is not clear.
    """
    span = orthonormal(algebra)
    condition = float(torch.linalg.cond(matrices).max()) if len(matrices) else 1.0
    cosets = Cosets(
        span,
        preserved_forms(span, uncertainty=tolerance),
        _parts(span, tolerance),
        simple_elements(span, homogeneous=homogeneous, uncertainty=tolerance),
        tolerance * condition,
    )
    _check_normalises(matrices, span, cosets.allowed(2) * condition)
    own = cosets.represent(matrices) if len(matrices) else matrices
    products = breadth_first(own, cosets.locate, limit=limit, represent=cosets.represent)
    _check_powers(products, cosets)
    sources = cosets.locate(own, products.elements, products.lengths, 1)
    return Closed(products.elements, products.table, tuple(sources.tolist()))


def _check_normalises(
    matrices: Float[Tensor, "k n n"], span: Float[Tensor, "d n n"], allowed: float
) -> None:
    """Refuse matrices that do not take the algebra to itself by conjugation."""
    basis = span.flatten(1)
    for place, matrix in enumerate(matrices):
        moved = (matrix @ span @ torch.linalg.inv(matrix)).flatten(1)
        rest = moved - moved @ basis.mT @ basis
        sine = float((rest.norm(dim=1) / moved.norm(dim=1)).max())
        if sine > allowed:
            degrees = math.degrees(math.asin(min(sine, 1.0)))
            raise NotClosed(Diagnosis.GROUP_LEAVES_ALGEBRA(element=place + 1, degrees=degrees))


def _check_powers(products: Products, cosets: Cosets) -> None:
    """Refuse components that may have their order by chance: the power is not near enough the identity component."""
    orders = element_orders(products.table).tolist()
    for element, order, length in zip(
        products.elements, orders, products.lengths.tolist(), strict=True
    ):
        if order <= 2:
            continue
        power = torch.linalg.matrix_power(element, order)[None]
        error = float(cosets.distances(power, cosets.allowed(order * length))) / (order * length)
        if order**2 * error > believed_share(order):
            degrees = math.degrees(min(error, 2.0))
            raise NotClosed(Diagnosis.GROUP_BY_CHANCE(order=order, error=degrees))


def simple_elements(
    span: Float[Tensor, "d n n"], *, homogeneous: bool = False, uncertainty: float = 0.0
) -> Float[Tensor, "c n n"]:
    """Simple matrices that may stand for a component, the most usual first.

    The identity; parity, time reversal and −1 on invariant subspaces; reflections of one axis and of two; swaps of
    two axes. In the given coordinates, and in those where the preserved form is standard.
    """
    n = span.shape[1] - homogeneous
    linear = linear_part(span, n)
    one = torch.eye(n).to(span)
    frame = standard_frame(linear, uncertainty=uncertainty)
    elements = [one, *sign_changes(_parts(linear, uncertainty) if len(linear) else [one])]
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


def _parts(linear: Float[Tensor, "d n n"], uncertainty: float) -> Sequence[Float[Tensor, "n _"]]:
    return invariant_subspaces(linear, uncertainty=uncertainty)


def sign_changes(subspaces: Sequence[Float[Tensor, "n _"]]) -> list[Float[Tensor, "n n"]]:
    """±1 on subspaces that together span the space, fewest signs first; −1 alone where they do not span it."""
    basis = torch.cat(list(subspaces), 1)
    minus = -torch.eye(len(basis)).to(basis)
    if basis.shape[1] != len(basis) or float(torch.linalg.cond(basis)) > 1e6:
        return [minus]
    inverse = torch.linalg.inv(basis)
    sizes = torch.tensor([space.shape[1] for space in subspaces])
    patterns = sorted(sign_patterns(len(subspaces)).tolist(), key=lambda p: (-sum(p), p))[:-1]
    signs = torch.tensor(patterns).to(basis).reshape(-1, len(sizes)).repeat_interleave(sizes, 1)
    return [*(basis @ sign.diag() @ inverse for sign in signs), minus]


def sign_patterns(n: int) -> Float[Tensor, "p n"]:
    """Patterns of n signs but the one without a minus; of many, one sign, all but one, and all.

    >>> sign_patterns(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    """
    if n <= MOST_PATTERNS:
        patterns = itertools.product((1.0, -1.0), repeat=n)
        return torch.tensor(list(patterns)[1:], dtype=torch.float64)
    single = 1 - 2 * torch.eye(n, dtype=torch.float64)
    return torch.cat([-torch.ones(1, n, dtype=torch.float64), single, -single])


def _axis_elements(one: Float[Tensor, "n n"]) -> Iterator[Float[Tensor, "n n"]]:
    """Reflections of one axis and of two, and swaps of two axes."""
    pairs = list(itertools.combinations(range(len(one)), 2))
    for axes in (*((i,) for i in range(len(one))), *pairs):
        reflection = one.clone()
        reflection[axes, axes] = -1
        yield reflection
    for i, j in pairs:
        order = list(range(len(one)))
        order[i], order[j] = j, i
        yield one[order]
