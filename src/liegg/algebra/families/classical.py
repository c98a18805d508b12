"""Algebras of real matrices that preserve a volume, a metric or an area form, with or without scalings."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import Model, conjugate, pair, traceless, usable
from liegg.algebra.families.starts import bilinear

STARTS = 3
"""Forms tried, and metrics with a sign changed: under noise the best start need not be the best fit."""

SMALL = 8
"""Size of matrices up to which more than the best start is tried: a fit takes milliseconds there, seconds beyond."""


def general(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """All matrices, all of trace zero, or the multiples of the identity."""
    d, n, _ = span.shape
    if d == n * n:
        yield Model(f"gl({n},R)" if n > 1 else "scaling(1)", catalog.gl(n))
    elif d == n * n - 1 and n > 1:
        yield Model(f"sl({n},R)", catalog.sl(n))
    if d == 1 and n > 1:
        yield Model(f"scaling({n})", catalog.scaling(n))


def orthogonal(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """so(p, q), and with scalings, in coordinates where the metric nearest to preserved is diag(±1)."""
    d, n, _ = span.shape
    scaled = d - n * (n - 1) // 2
    if n < 2 or scaled not in (0, 1):
        return
    small = n <= SMALL
    for form in bilinear(traceless(span) if scaled else span, 1, STARTS if small else 1):
        values, vectors = torch.linalg.eigh(form)
        flipped = values.clone()
        flipped[values.abs().argmin()] *= -1
        for signs in (values, flipped) if small else (values,):
            order = torch.argsort(signs, descending=True)
            frame = (
                vectors[:, order]
                / signs[order].abs().clamp_min(1e-6 * float(values.abs().max())).sqrt()
            )
            positive = int((signs > 0).sum())
            name = f"so({pair(positive, n - positive)})"
            if not (n == 2 and scaled and positive == 1):  # two scalings: a sum of two blocks
                yield _scaled(name, catalog.so(positive, n - positive), frame, scaled)


def symplectic(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """sp(2m, R), and with scalings, in coordinates where the area form nearest to preserved is standard."""
    d, n, _ = span.shape
    scaled = d - n * (n + 1) // 2
    if n < 4 or n % 2 or scaled not in (0, 1):
        return
    for form in bilinear(traceless(span) if scaled else span, -1, STARTS if n <= SMALL else 1):
        if usable(form):
            yield _scaled(f"sp({n},R)", catalog.sp(n), darboux(form), scaled)


def darboux(form: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Frame in which an antisymmetric form is standard: columns q₁…q_m, p₁…p_m with form(q_i, p_i) = 1, all others 0.

    >>> turn = torch.tensor([[0.0, 4.0], [-4.0, 0.0]], dtype=torch.float64)
    >>> (darboux(turn).mT @ turn @ darboux(turn)).round(decimals=9) + 0.0
    tensor([[ 0.,  1.],
            [-1.,  0.]], dtype=torch.float64)
    """
    # i·form is Hermitian with eigenvalues in pairs ±λ; the parts of an eigenvector of +λ span one plane.
    values, vectors = torch.linalg.eigh(1j * form)
    chosen = (
        vectors[:, len(form) // 2 :]
        * (2 / values[len(form) // 2 :].clamp_min(1e-9 * float(values.max()))).sqrt()
    )
    return torch.cat([chosen.imag, chosen.real], dim=1)


def _scaled(
    name: str, standard: Float[Tensor, "d n n"], frame: Float[Tensor, "n n"], scaled: int
) -> Model:
    generators, stretch = conjugate(standard, frame), float(torch.linalg.cond(frame))
    if not scaled:
        return Model(name, generators, stretch=stretch)
    return Model(
        f"{name} ⊕ R", torch.cat([generators, catalog.scaling(len(frame))]), stretch=stretch
    )
