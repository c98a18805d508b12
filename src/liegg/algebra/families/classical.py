"""Classical algebras: what preserves volume, a metric, an area form, a complex structure or a flag."""

from collections.abc import Iterator

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import (
    Member,
    bilinear,
    commuting,
    complex_structure,
    conjugate,
    hermitian,
    lowest,
    signed_frames,
    traceless,
    usable,
)
from liegg.algebra.structure.real_forms import abelian, pair

FORM_STARTS = 3
"""Number of forms tried: under noise, the best start need not lead to the best fit."""

SMALL_SIDE = 8
"""Side of matrices up to which several starts are tried, as a fit takes milliseconds."""


def general(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """All matrices, all of trace zero, the multiples of the identity, or these with a shear of the plane."""
    d, n, _ = span.shape
    if d == n * n:
        yield Member(f"gl({n},R)" if n > 1 else "scaling(1)", catalog.gl(n))
    elif d == n * n - 1 and n > 1:
        yield Member(f"sl({n},R)", catalog.sl(n))
    if d == 1 and n > 1:
        yield Member(f"scaling({n})", catalog.scaling(n))
    if d == n == 2:  # the limit of scalings with a rotation, and with a boost
        frame = flag(traceless(span))
        sheared = torch.cat([catalog.scaling(2), catalog.shear(2)])
        yield Member(abelian(2), frame @ sheared @ frame.mT)


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
    count = FORM_STARTS if span.shape[1] <= SMALL_SIDE else 1
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


HERMITIAN_STARTS = 2
"""Number of Hermitian forms tried, each also with one sign changed."""


def complex_linear(span: Float[Tensor, "d n n"]) -> Iterator[Member]:
    """gl(m, C), sl(m, C) and what lies between, u(p, q), su(p, q), and u(1) as a common phase."""
    d, n, _ = span.shape
    m = n // 2
    dimensions = {1, m * m - 1, m * m, m * m + 1, *range(2 * m * m - 2, 2 * m * m + 1)} - {0}
    if n % 2 or d not in dimensions:
        return
    counts = (1, 3) if n > 2 else (1,)
    for near in [traceless(span)] if d == 1 else [commuting(span, count) for count in counts]:
        structure = complex_structure(near)
        if structure is not None and usable(frame := complex_frame(structure)):
            yield from _in_frame(span, d, m, frame)


def complex_frame(structure: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Well-conditioned frame in which J is [[0, −1], [1, 0]]: m vectors, then J times them.

    >>> structure = torch.tensor([[0.0, -2.0], [0.5, 0.0]], dtype=torch.float64)
    >>> frame = complex_frame(structure)
    >>> torch.linalg.solve(frame, structure @ frame).round(decimals=9) + 0.0
    tensor([[ 0., -1.],
            [ 1.,  0.]], dtype=torch.float64)
    """
    # J is orthogonal in the metric 1 + JᵀJ, which it preserves; there it has orthonormal frames.
    one = torch.eye(len(structure)).to(structure)
    values, vectors = torch.linalg.eigh(one + structure.mT @ structure)
    root, inverse = ((vectors * values**power) @ vectors.mT for power in (0.5, -0.5))
    orthogonal = root @ structure @ inverse
    columns = structure.new_zeros(len(structure), 0)
    for _ in range(len(structure) // 2):
        outside = one - columns @ columns.mT
        column = outside[:, int(outside.norm(dim=0).argmax())]
        column = (column / column.norm())[:, None]
        columns = torch.cat([columns, column, orthogonal @ column], 1)
    return inverse @ torch.cat([columns[:, ::2], columns[:, 1::2]], 1)


def _in_frame(
    span: Float[Tensor, "d n n"], d: int, m: int, frame: Float[Tensor, "n n"]
) -> Iterator[Member]:
    one = torch.eye(m, dtype=torch.complex128)[None]

    def member(name: str, *standard: Tensor, inside: Tensor = one) -> Member:
        stretch = float(torch.linalg.cond(frame @ _real(inside)[0]))
        return Member(name, conjugate(torch.cat(standard), frame), stretch=stretch)

    phase, scaling = _real(1j * one), _real(one)
    if m == 1:
        yield member("so(2)", phase) if d == 1 else member("so(2) ⊕ R", phase, scaling)
        return
    special = catalog.sl(m, "C")
    linear = (
        ("u(1)", phase),
        (f"sl({m},C)", special),
        (f"sl({m},C) ⊕ R", special, scaling),
        (f"sl({m},C) ⊕ u(1)", special, phase),
        (f"gl({m},C)", special, phase, scaling),
    )
    yield from (member(name, *parts) for name, *parts in linear if sum(map(len, parts)) == d)
    if not m * m - 1 <= d <= m * m + 1:
        return
    matrices = traceless(complexified(torch.linalg.solve(frame, span @ frame)))
    for form in hermitian(matrices, HERMITIAN_STARTS):
        for inside, p in signed_frames(form, flip=True):
            standard = complexified(catalog.su(p, m - p))
            inner = _real(inside @ standard @ torch.linalg.inv(inside))
            name = pair(p, m - p)
            unitary = (
                (f"su({name})", inner),
                (f"u({name})", inner, phase),
                (f"su({name}) ⊕ R", inner, scaling),
                (f"u({name}) ⊕ R", inner, phase, scaling),
            )
            # su(1,1) acts on C² as sl(2,R) does on two copies of R², and is proposed as that.
            yield from (
                member(name, *parts, inside=inside[None])
                for name, *parts in unitary
                if sum(map(len, parts)) == d and not name.startswith("su(1,1)")
            )


def complexified(matrices: Float[Tensor, "d n n"]) -> Complex[Tensor, "d m m"]:
    """The complex-linear part of real matrices: A + iB from [[A, −B], [B, A]]."""
    m = matrices.shape[1] // 2
    a, b, c, e = matrices[:, :m, :m], matrices[:, :m, m:], matrices[:, m:, :m], matrices[:, m:, m:]
    return torch.complex((a + e) / 2, (c - b) / 2)


def _real(matrices: Complex[Tensor, "d m m"]) -> Float[Tensor, "d n n"]:
    return catalog.realify(matrices.real, matrices.imag)
