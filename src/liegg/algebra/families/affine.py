"""Affine algebras in homogeneous matrices, in any coordinates: a linear algebra together with all translations."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.record import Model, Proposer, lowest
from liegg.algebra.structure.real_forms import abelian

LOOSE = 6.0
"""What a covector may lose to unit matrices before a fit, in multiples of what noise alone makes it lose."""


def affine(
    span: Float[Tensor, "d n n"], noise: float, linear: Proposer, *, dual: bool = False
) -> Iterator[Model]:
    """Models h ⋉ Rᵐ for every model h that `linear` proposes for the linear parts.

    The matrices leave a covector alone; with that covector last they are `[[a, t], [0, 0]]`.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator.
        linear: what proposes models for the span of the linear parts.
        dual: the matrices leave a vector alone instead: minus their transposes are affine.
    """
    if dual:
        for model in affine(-span.mT, noise, linear):
            yield replace(model, generators=-model.generators.mT, dual=not model.dual)
        return
    d, n, _ = span.shape
    m = n - 1
    if m < 1 or d - m > m * m:
        return
    square = torch.einsum("aij,akj->ik", span, span)
    covector = lowest(square, 1)[0]
    if float(covector @ square @ covector) > (LOOSE * noise) ** 2 * d / n:
        return
    # Columns: an orthonormal basis of the plane on which the covector vanishes, then the covector itself.
    frame = torch.cat([torch.linalg.svd(covector[None])[2][1:], covector[None]]).mT
    inside = frame.mT @ span @ frame
    parts = inside[:, :m, :m]
    if d > m:
        h = torch.linalg.svd(parts.flatten(1), full_matrices=False)[2][: d - m].unflatten(1, (m, m))
        for model in linear(h, noise):
            yield _joined(model, torch.eye(m).to(span), frame)
    else:  # translations alone, perhaps along fewer directions than there are
        along = torch.linalg.svd(inside[:, :m, m], full_matrices=False)[2]
        yield _joined(Model("", parts[:0]), along, frame)


def _joined(model: Model, along: Float[Tensor, "k m"], frame: Float[Tensor, "n n"]) -> Model:
    """The linear model and translations, in the coordinates of the frame."""
    k, m = along.shape
    translations = torch.zeros(k, m + 1, m + 1).to(along)
    translations[:, :m, m] = along
    padded = torch.nn.functional.pad(model.generators.to(along), (0, 1, 0, 1))
    name = semidirect(model.name, k, whole=model.whole and not model.dual)
    return Model(name, frame @ torch.cat([padded, translations]) @ frame.mT, stretch=model.stretch)


def semidirect(linear: str, k: int, *, whole: bool = True) -> str:
    """Name of a linear algebra with translations along k axes; names of their own only where the algebra acts on all axes.

    >>> (
    ...     semidirect("so(3)", 3),
    ...     semidirect("so(1,3)", 4),
    ...     semidirect("gl(2,R)", 2),
    ...     semidirect("", 2),
    ... )
    ('se(3)', 'e(1,3)', 'aff(2)', 'translation(2)')
    >>> semidirect("u(2)", 4), semidirect("so(2) ⊕ so(2)", 4), semidirect("so(2)", 3, whole=False)
    ('u(2) ⋉ R⁴', '(so(2) ⊕ so(2)) ⋉ R⁴', 'so(2) ⋉ R³')
    """
    if not linear:
        return f"translation({k})"
    if not whole:
        return (
            f"({linear}) ⋉ {abelian(k)}"
            if "⊕" in linear or "⋉" in linear
            else f"{linear} ⋉ {abelian(k)}"
        )
    if linear == "scaling(1)":
        return "aff(1)"
    kind, _, rest = linear.partition("(")
    inside, _, tail = rest.partition(")")
    if kind == "so" and tail in ("", " ⊕ R"):
        inside = inside if "," in inside else f"{k}"
        return f"sim({inside})" if tail else f"e({inside})" if "," in inside else f"se({inside})"
    if kind in ("sl", "gl") and inside.endswith(",R") and not tail:
        return f"{'saff' if kind == 'sl' else 'aff'}({k})"
    return semidirect("R" if kind == "scaling" else linear, k, whole=False)
