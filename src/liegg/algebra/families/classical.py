"""Algebras of real matrices that preserve volume, a metric or an area form, also with scalings."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import Member, conjugate, traceless, usable
from liegg.algebra.families.starts import bilinear, signed_frames
from liegg.algebra.structure.real_forms import pair

STARTS = 3
"""Number of forms tried: under noise, the best start need not lead to the best fit."""

SMALL_SIDE = 8
"""Side of matrices up to which several starts are tried, as a fit takes milliseconds."""


def general(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """All matrices, all of trace zero, or the multiples of the identity."""
    d, n, _ = span.shape
    if d == n * n:
        yield Member(f"gl({n},R)" if n > 1 else "scaling(1)", catalog.gl(n))
    elif d == n * n - 1 and n > 1:
        yield Member(f"sl({n},R)", catalog.sl(n))
    if d == 1 and n > 1:
        yield Member(f"scaling({n})", catalog.scaling(n))


def orthogonal(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """so(p, q), and with scalings, in coordinates where the nearest metric is diag(±1)."""
    d, n, _ = span.shape
    scaled = d - n * (n - 1) // 2
    if n < 2 or scaled not in (0, 1):
        return
    for form in _forms(span, 1, scaled):
        for frame, p in signed_frames(form, flip=n <= SMALL_SIDE):
            if not (n == 2 and scaled and p == 1):  # two scalings: a sum of two blocks
                yield _scaled(f"so({pair(p, n - p)})", catalog.so(p, n - p), frame, scaled)


def symplectic(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """sp(2m, R), and with scalings, in coordinates where the nearest area form is standard."""
    d, n, _ = span.shape
    scaled = d - n * (n + 1) // 2
    if n < 4 or n % 2 or scaled not in (0, 1):
        return
    for form in _forms(span, -1, scaled):
        if usable(form):
            yield _scaled(f"sp({n},R)", catalog.sp(n), darboux(form), scaled)


def _forms(span: Float[Tensor, "d n n"], sign: int, scaled: int) -> Float[Tensor, "c n n"]:
    """The few forms that the matrices, without their scalings, come nearest to preserving."""
    count = STARTS if span.shape[1] <= SMALL_SIDE else 1
    return bilinear(traceless(span) if scaled else span, sign, count)


def darboux(form: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Frame in which an antisymmetric form is standard: q₁…q_m, p₁…p_m with form(q_i, p_i) = 1.

    >>> form = torch.tensor([[0.0, 4.0], [-4.0, 0.0]], dtype=torch.float64)
    >>> (darboux(form).mT @ form @ darboux(form)).round(decimals=9) + 0.0
    tensor([[ 0.,  1.],
            [-1.,  0.]], dtype=torch.float64)
    """
    # i·form is Hermitian with eigenvalues in pairs ±λ; real and imaginary part of an eigenvector of
    # +λ span one plane.
    values, vectors = torch.linalg.eigh(1j * form)
    half = len(form) // 2
    sizes = values[half:].clamp_min(1e-9 * float(values.max()))
    columns = vectors[:, half:] * (2 / sizes).sqrt()
    return torch.cat([columns.imag, columns.real], dim=1)


def _scaled(
    name: str, standard: Float[Tensor, "d n n"], frame: Float[Tensor, "n n"], scaled: int
) -> Member:
    """The standard algebra in the coordinates of a frame, with scalings if `scaled` is 1."""
    generators = conjugate(standard, frame)
    if scaled:
        name, generators = f"{name} ⊕ R", torch.cat([generators, catalog.scaling(len(frame))])
    return Member(name, generators, stretch=float(torch.linalg.cond(frame)))
