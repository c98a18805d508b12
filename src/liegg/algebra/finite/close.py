"""Close given matrices under multiplication: the finite group, or the components of a Lie group."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.finite.compact import close_compact, roots
from liegg.algebra.finite.component_words import component_words
from liegg.algebra.finite.components import close_components
from liegg.algebra.finite.element_words import element_words
from liegg.algebra.finite.group import NOT_CLOSED, FiniteGroup
from liegg.algebra.finite.multiplication import conjugacy_classes, element_orders
from liegg.algebra.finite.names import table_name
from liegg.algebra.finite.point_groups import WITH_INVERSION, schoenflies
from liegg.algebra.finite.products import Closed, NotClosed
from liegg.algebra.subspace import linear_part, orthonormal, translations
from liegg.algebra.words.wording import coordinate_names

POLYHEDRA = {"T", "T_d", "O", "I", *WITH_INVERSION.values()}
"""Point groups that are better known than their abstract groups."""


@checked()
def close(
    elements: Float[Tensor, "k n n"],
    *,
    algebra: Float[Tensor, "d p p"] | None = None,
    tolerance: float = 1e-6,
    limit: int = 2000,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    frame: Float[Tensor, "n n"] | None = None,
) -> FiniteGroup:
    """The group that matrices generate, modulo the identity component that an algebra generates.

    Args:
        elements: invertible matrices, linear or affine in homogeneous form; none for the trivial group.
        algebra: generators of the continuous part; products of their exponentials count as the identity.
        tolerance: relative error of each matrix, in the Frobenius norm.
        limit: largest number of elements or components.
        coordinates: names of the coordinates, for words.
        homogeneous: whether the matrices are affine maps `[[L, t], [0, 1]]`.
        frame: coordinates as columns in which errors are measured; those of the matrices by default. For affine
            maps the unit of length and the origin matter.

    Returns:
        The group with its table, name and words. If the products do not close, or not clearly at this
        tolerance, `closed` is False, `order` is None, and `reason` says why: no order is guessed.

    Raises:
        ArgumentError: not square, not finite or singular matrices, or of different sizes.

    Examples:
        >>> quarter = torch.tensor([[[0.0, -1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, -1.0]]])
        >>> print(close(quarter, coordinates=["x", "y"]))
        D₄ (order 8)
           order  element
               1  identity
               2  rotation by 180°
               4  rotation by 90°
               4  rotation by −90°
               2  reflection y → −y
               2  swaps x and y
               2  swaps x and −y
               2  reflection x → −x
        >>> from liegg.algebra import so
        >>> close(quarter, algebra=so(2)).order
        2
    """
    matrices = _checked_elements(elements, homogeneous)
    n = matrices.shape[1]
    if not 0 < tolerance < 0.25:
        raise ArgumentError(
            f"tolerance is {tolerance}; expected the relative error of the elements, for example 1e-6."
        )
    if limit < 1:
        raise ArgumentError(f"limit is {limit}; expected at least 1.")
    names = coordinate_names(n - homogeneous, coordinates) if coordinates is not None else None
    span = matrices[:0] if algebra is None else orthonormal(algebra)
    if span.shape[1:] != matrices.shape[1:]:
        raise ArgumentError(
            f"the algebra has matrices of size {span.shape[1]}, the elements of size {n}; "
            "expected the same."
        )
    about = {
        "dimension": len(span),
        "coordinates": names,
        "homogeneous": homogeneous,
        "tolerance": tolerance,
    }
    try:
        closed = _closed_in(matrices, span, frame, about, limit=limit)
    except NotClosed as failure:
        return FiniteGroup(
            elements=matrices,
            table=torch.zeros(0, 0, dtype=torch.long),
            name=NOT_CLOSED,
            abstract="",
            schoenflies="",
            words=_words(matrices, None, about, tolerance),
            sources=(),
            frame=None,
            reason=failure.reason,
            **about,
        )
    return _named(_sorted(closed), span, about)


def _closed_in(
    matrices: Float[Tensor, "k n n"],
    span: Float[Tensor, "d n n"],
    frame: Float[Tensor, "n n"] | None,
    about: dict[str, Any],
    *,
    limit: int,
) -> Closed:
    """The group closed in the coordinates of a frame, with elements in those of the matrices."""
    into = torch.eye(matrices.shape[1]).to(matrices) if frame is None else frame.to(matrices)
    out, homogeneous = torch.linalg.inv(into), about["homogeneous"]
    tolerance, inside = about["tolerance"], out @ matrices @ into
    if len(span):
        own = orthonormal(out @ span @ into)
        closed = close_components(
            inside, own, tolerance=tolerance, limit=limit, homogeneous=homogeneous
        )
    else:
        own, closed = span, close_compact(inside, tolerance=tolerance, limit=limit)
        closed = _affine(closed) if homogeneous else closed
    elements = into @ closed.elements @ out
    if homogeneous and len(own):
        n = len(into) - 1
        directions = orthonormal_rows(translations(own, n) @ into[:n, :n].mT)
        shifts = elements[:, :n, n]
        elements[:, :n, n] = shifts - shifts @ directions.mT @ directions
    own_frame = None if closed.frame is None else into @ closed.frame
    return replace(closed, elements=elements, frame=own_frame)


def _affine(closed: Closed) -> Closed:
    """The same group in coordinates in which all elements are affine, up to rounding.

    Elements that were fitted to inaccurate matrices preserve a row near (0, ..., 0, 1): the last one of their mean.
    """
    change = torch.eye(closed.elements.shape[1], dtype=torch.float64)
    change[-1] = closed.elements.mean(0)[-1]
    elements = change @ closed.elements @ torch.linalg.inv(change)
    elements[:, -1] = torch.eye(len(change)).to(elements)[-1]
    frame = None if closed.frame is None else change @ closed.frame
    return replace(closed, elements=elements, frame=frame)


def _named(closed: Closed, span: Tensor, about: dict[str, Any]) -> FiniteGroup:
    """The record of a closed group, with its name and words."""
    abstract, point = table_name(closed.table), ""
    n = closed.elements.shape[1] - about["homogeneous"]
    # Modulo translations alone, the linear parts are a finite group themselves.
    if closed.frame is not None or not len(linear_part(span, n)):
        linear = closed.elements[:, :n, :n]
        _, axes = roots((linear.mT @ linear).mean(0))  # coordinates in which they are orthogonal
        words = _words(closed.elements, axes, about, max(1e-6, 2 * about["tolerance"]))
        if n == 3:
            inside = torch.linalg.inv(axes) @ linear @ axes
            point = schoenflies(inside.numpy(), closed.table)
    else:
        words = component_words(
            closed.elements,
            span,
            coordinates=about["coordinates"],
            homogeneous=about["homogeneous"],
            uncertainty=about["tolerance"],
        )
    return FiniteGroup(
        elements=closed.elements,
        table=torch.from_numpy(np.ascontiguousarray(closed.table)),
        name=point if point in POLYHEDRA else abstract,
        abstract=abstract,
        schoenflies=point,
        words=words,
        sources=closed.sources,
        frame=closed.frame,
        **about,
    )


def _sorted(closed: Closed) -> Closed:
    """The same group with its elements in an order that does not depend on the generators.

    The identity, then rotations before reflections, each by order, size of class, trace and entries.
    """
    flat = closed.elements.mT.flatten(1)
    classes = conjugacy_classes(closed.table)
    trace = closed.elements.diagonal(dim1=1, dim2=2).sum(1)
    keys = [
        *(-flat.round(decimals=4).numpy().T[::-1] + 0.0),
        -trace.round(decimals=4).numpy(),
        np.bincount(classes)[classes],
        element_orders(closed.table),
        (torch.linalg.det(closed.elements) < 0).numpy(),
        np.arange(len(flat)) > 0,
    ]
    order = np.lexsort(keys)
    place = np.argsort(order)
    return replace(
        closed,
        elements=closed.elements[torch.from_numpy(order)],
        table=place[closed.table[np.ix_(order, order)]],
        sources=tuple(place[list(closed.sources)].tolist()) if closed.sources else (),
    )


def _words(
    elements: Float[Tensor, "m n n"], frame: Tensor | None, about: dict[str, Any], tolerance: float
) -> tuple[str, ...]:
    how = {name: about[name] for name in ("coordinates", "homogeneous")}
    return tuple(element_words(h, frame=frame, tolerance=tolerance, **how) for h in elements)


def _checked_elements(elements: Tensor, homogeneous: bool) -> Float[Tensor, "k n n"]:
    """The matrices in float64, or an error that says what is wrong with them."""
    if elements.is_complex() or elements.shape[1] != elements.shape[2] or not elements.shape[1]:
        raise ArgumentError(
            f"elements have shape {tuple(elements.shape)} and are {elements.dtype}; "
            "expected real matrices [k, n, n]."
        )
    matrices = elements.detach().to("cpu", torch.float64)
    for place, matrix in enumerate(matrices):
        if not bool(matrix.isfinite().all()):
            raise ArgumentError(f"element {place} contains NaN or infinity; expected finite ones.")
        if not float(torch.linalg.cond(matrix)) < 1e12:
            raise ArgumentError(f"element {place} is singular; expected invertible matrices.")
        last = torch.eye(len(matrix)).to(matrix)[-1]
        if homogeneous and float((matrix[-1] - last).abs().max()) > 1e-9:
            raise ArgumentError(
                f"the last row of element {place} is {matrix[-1].tolist()}; expected zeros and a "
                "final 1, as homogeneous matrices have."
            )
    return matrices
