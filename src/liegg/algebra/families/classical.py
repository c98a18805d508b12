"""Real matrices that preserve volume, a metric or an area form, or shear along a flag."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import (
    Member,
    bilinear,
    conjugate,
    lowest,
    signed_frames,
    traceless,
    usable,
)
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


def shears(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """Strictly upper triangular matrices, in coordinates of the flag nearest to preserved."""
    d, n, _ = span.shape
    if n >= 3 and d == n * (n - 1) // 2:
        frame = flag(span)
        yield Member(f"shear({n})" if n > 3 else "heis(3)", frame @ catalog.shear(n) @ frame.mT)


def heisenberg(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """The matrices `[[0, r, z], [0, 0, c], [0, 0, 0]]`, r and c with at least two entries."""
    d, n, _ = span.shape
    m = n - 2
    if m < 2 or d != 2 * m + 1:
        return
    vector = lowest(torch.einsum("aji,ajk->ik", span, span), 1)[0]
    covector = lowest(torch.einsum("aij,akj->ik", span, span), 1)[0]
    covector = covector - (covector @ vector) * vector
    if float(covector.norm()) < 1e-3:  # vector and covector must differ
        return
    covector = covector / covector.norm()
    between = torch.linalg.svd(torch.stack([vector, covector]))[2][2:]
    frame = torch.cat([vector[None], between, covector[None]]).mT
    yield Member(f"heis({2 * m + 1})", conjugate(catalog.heis(d), frame))


def flag(span: Float[Tensor, "d n n"]) -> Float[Tensor, "n n"]:
    """Orthonormal frame in which nilpotent matrices are strictly upper triangular."""
    columns = torch.zeros(span.shape[1], 0).to(span)
    for _ in range(span.shape[1]):
        inside = columns @ columns.mT
        outside = torch.eye(len(columns)).to(span) - inside
        square = torch.einsum("aji,jk,akl->il", span, outside, span)
        # Among the directions outside the columns so far, the one that is least mapped outside
        # them.
        weight = float(square.diagonal().sum() + 1)
        following = lowest(square + weight * inside, 1).mT
        # Noise leaves it a little inside the others.
        columns = torch.linalg.qr(torch.cat([columns, following], 1)).Q
    return columns
