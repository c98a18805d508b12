r"""The finite group that nearly exact matrices generate, enumerated and then made exact.

Matrices of a finite group preserve a positive form. In coordinates where it is the identity, elements are
orthogonal, and distances do not depend on how the given coordinates are sheared. Each product carries
the error of its factors, and one that is neither clearly new nor clearly known ends the
enumeration: no order is claimed then. When the table is known, the map
$\rho(g) \leftarrow \frac1m \sum_h \rho(gh)\,\rho(h)^{-1}$ converges quadratically to the exact group nearby.
"""

import math

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.algebra.finite.multiplication import Table, element_orders
from liegg.algebra.finite.products import Closed, NotClosed, Products, breadth_first

LARGEST_FORM_CONDITION = 1e8
"""Condition number of the preserved form above which the matrices are not those of a finite group."""

LARGEST_DENSE = 20
"""Side of matrices up to which the form and the frame are solved for as systems of n² unknowns."""

MOST_AVERAGES = 2000
"""Means for the form of larger matrices."""

SAME_PRODUCT = 2.0
"""Distance of two equal elements over the sum of their expected errors."""

LARGEST_CHANGE = 1.5
"""Root mean square relative distance of the given matrices to their elements of the exact group, over the tolerance."""

DISTINCT_RATIO = 3.0
"""Least ratio of the distances of unequal and of equal elements."""

LARGEST_DISTANCE = 0.5
"""Largest distance at which two elements may still count as equal."""

EXACT_AVERAGES = 12
"""Averages over the group that make it exact; three or four suffice."""

FRAME_STEPS = 8
"""Gauss–Newton steps for the frame."""

BELIEVED_SHARES = ((6, 1.0), (12, 0.1), (math.inf, 0.02))
r"""An element of order k is believed if k² times the error of its angle is at most a share, by the order: every angle is within
$2\pi/(\sqrt5\,k^2)$ of some multiple of $2\pi/k$, so that a closer fit has to be shown; less so for usual orders. Of random angles
about one in a hundred passes."""


def positive_form(
    matrices: Float[Tensor, "k n n"], tolerance: float
) -> Float[Tensor, "n n"] | None:
    r"""A positive form that the matrices nearly preserve; None if there is none.

    The mean of $h^\top Q h$ over the matrices, their inverses and the identity is repeated by squaring the map,
    as often as the tolerance allows, starting from $Q = 1$.

    >>> swap = torch.tensor([[[0.0, 2.0], [0.5, 0.0]]], dtype=torch.float64)
    >>> form = positive_form(swap, 1e-9)
    >>> float(form[1, 1] / form[0, 0])
    4.0...
    """
    n = matrices.shape[1]
    one = torch.eye(n).to(matrices)
    every = torch.cat([matrices, torch.linalg.inv(matrices), one[None]])
    if n > LARGEST_DENSE:
        return _averaged_form(every)
    # vec(hᵀ Q h) = (hᵀ ⊗ hᵀ) vec Q
    power = torch.einsum("kac,kbd->cdab", every, every).reshape(n * n, n * n) / len(every)
    steps = min(max(0.1 / max(tolerance, 1e-12), 64.0), 2.0**20)
    for _ in range(int(math.log2(steps))):
        power = power @ power
        power = power * (n / float(torch.linalg.matrix_norm(power, 1)))
    form = (power @ one.flatten()).unflatten(0, (n, n))
    return _positive((form + form.mT) / 2)


def _averaged_form(every: Float[Tensor, "k n n"]) -> Float[Tensor, "n n"] | None:
    """The same for large matrices, one mean after the other."""
    form = torch.eye(every.shape[1]).to(every)
    for _ in range(MOST_AVERAGES):
        mean = (every.mT @ form @ every).mean(0)
        mean = mean * (len(form) / mean.diagonal().sum())
        change = float((mean - form).abs().max())
        form = (mean + mean.mT) / 2
        if not change > 1e-13:
            break
    return _positive(form)


def _positive(form: Float[Tensor, "n n"]) -> Float[Tensor, "n n"] | None:
    """The form if it is clearly positive, else None."""
    if not bool(form.isfinite().all()):
        return None
    values = torch.linalg.eigvalsh(form)
    return form if float(values[0]) * LARGEST_FORM_CONDITION > float(values[-1]) else None


def roots(form: Float[Tensor, "n n"]) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    """The square root of a positive form and its inverse; directions with hardly any of it count as 1e-8 of the largest."""
    values, axes = torch.linalg.eigh(form)
    values = values.clamp_min(1e-8 * (float(values[-1]) or 1.0)).sqrt()
    return (axes * values) @ axes.mT, (axes / values) @ axes.mT


def close_compact(matrices: Float[Tensor, "k n n"], *, tolerance: float, limit: int) -> Closed:
    """The finite group that matrices generate.

    Args:
        matrices: invertible.
        tolerance: relative error of each matrix.
        limit: largest order.

    Raises:
        NotClosed: they do not clearly generate one.
    """
    one = torch.eye(matrices.shape[1]).to(matrices)
    if not len(matrices):
        return Closed(one[None], np.zeros((1, 1), dtype=np.int64), (), one)
    form = positive_form(matrices, tolerance)
    if form is None:
        raise NotClosed(Diagnosis.GROUP_UNBOUNDED())
    root, frame = roots(form)
    inside = root @ matrices @ frame
    skew = float(torch.linalg.matrix_norm(inside.mT @ inside - one, 2).max())
    error = max(tolerance, skew, 1e-13)
    if 2 * SAME_PRODUCT * error > LARGEST_DISTANCE:
        raise NotClosed(Diagnosis.GROUP_INACCURATE(distance=error))
    left, _, right = torch.linalg.svd(inside)
    polar = left @ right  # the nearest orthogonal matrices

    def locate(
        products: Tensor, known: Tensor, lengths: Int[Tensor, " m"], length: int
    ) -> Int[Tensor, " k"]:
        allowed = SAME_PRODUCT * error * (length + lengths).to(known)
        apart = distances(products, known) / allowed
        nearest, places = apart.min(1)
        if (
            bool(((nearest > 1) & (nearest < DISTINCT_RATIO)).any())
            or length * SAME_PRODUCT * error > LARGEST_DISTANCE
        ):
            raise NotClosed(Diagnosis.GROUP_INACCURATE(distance=error))
        return torch.where(nearest <= 1, places, -1)

    products = breadth_first(polar, locate, limit=limit)
    check_angles(products)
    elements = exact(products.elements, products.table)
    places = distances(polar, elements).argmin(1)
    change, frame = fit_frame(matrices, elements[places], frame)
    if change > LARGEST_CHANGE * max(tolerance, 1e-11):
        raise NotClosed(Diagnosis.GROUP_INACCURATE(distance=change))
    elements = frame @ elements @ torch.linalg.inv(frame)
    elements[0] = one
    return Closed(elements, products.table, tuple(places.tolist()), frame)


def fit_frame(
    matrices: Float[Tensor, "k n n"],
    orthogonal: Float[Tensor, "k n n"],
    frame: Float[Tensor, "n n"],
) -> tuple[float, Float[Tensor, "n n"]]:
    r"""The frame $S$ in which exact elements $S O S^{-1}$ are nearest to the given matrices.

    Groups near a finite one are its conjugates, so that nothing else is left to fit. Gauss–Newton steps
    $S \leftarrow e^X S$ with $h \approx g + Xg - gX$.

    Returns:
        The root mean square relative distance that remains, and the frame.
    """
    n = matrices.shape[1]
    sizes = torch.linalg.matrix_norm(matrices)
    one = torch.eye(n).to(matrices)
    best = math.inf, frame
    for _ in range(FRAME_STEPS if n <= LARGEST_DENSE else 1):
        inverse, singular = torch.linalg.inv_ex(frame)
        if singular:  # a step too far: the matrices are not those of a group near this one
            break
        elements = frame @ orthogonal @ inverse
        rest = (matrices - elements) / sizes[:, None, None]
        size = float(torch.linalg.matrix_norm(rest).square().mean().sqrt())
        if not size < best[0]:
            break
        best = size, frame
        if n > LARGEST_DENSE:
            break
        scaled = elements / sizes[:, None, None]
        left = torch.einsum("ia,kbj->kijab", one, scaled)  # derivative of Xg by X_ab
        right = torch.einsum("kia,bj->kijab", scaled, one)
        map_ = (left - right).reshape(-1, n * n)
        step = torch.linalg.lstsq(map_, rest.reshape(-1, 1), rcond=1e-12, driver="gelsd").solution
        frame = torch.linalg.matrix_exp(step.reshape(n, n)) @ frame
    return best


def distances(one: Float[Tensor, "k n n"], other: Float[Tensor, "m n n"]) -> Float[Tensor, "k m"]:
    """Frobenius distances of matrices, accurate for near ones too."""
    return torch.cdist(
        one.flatten(1), other.flatten(1), compute_mode="donot_use_mm_for_euclid_dist"
    )


def exact(elements: Float[Tensor, "m n n"], table: Table) -> Float[Tensor, "m n n"]:
    r"""The exact group near approximate orthogonal matrices with a known table.

    Means $\rho(g) \leftarrow \frac1m \sum_h \rho(gh)\,\rho(h)^\top$, each brought back to the nearest orthogonal
    matrix.
    """
    m, n, _ = elements.shape
    index = torch.from_numpy(table)
    for _ in range(EXACT_AVERAGES):
        inverse = elements.mT.reshape(m * n, n)
        mean = torch.stack(
            [elements[row].permute(1, 0, 2).reshape(n, m * n) @ inverse for row in index]
        )
        left, _, right = torch.linalg.svd(mean / m)
        change = float((left @ right - elements).abs().max())
        elements = left @ right
        if change < 1e-13:
            break
    return elements


def believed_share(order: int) -> float:
    """Largest square of an order times the error of its angle that is believed.

    >>> believed_share(4), believed_share(8), believed_share(100)
    (1.0, 0.1, 0.02)
    """
    return next(share for largest, share in BELIEVED_SHARES if order <= largest)


def check_angles(products: Products) -> None:
    """Refuse a group if the angle of some element may be of its order by chance."""
    angles = torch.linalg.eigvals(products.elements).angle() / (2 * math.pi)
    orders = torch.from_numpy(element_orders(products.table)).to(angles)
    turns = angles * orders[:, None]
    lengths = products.lengths.clamp_min(1)
    error = (turns - turns.round()).abs().amax(1) / orders * (2 * math.pi) / lengths
    allowed = torch.tensor([believed_share(int(order)) for order in orders]).to(error)
    worst = (orders.square() * error / allowed).argmax()
    order, size = int(orders[worst]), float(error[worst])
    if order**2 * size > float(allowed[worst]):
        raise NotClosed(Diagnosis.GROUP_BY_CHANCE(order=order, error=math.degrees(size)))
