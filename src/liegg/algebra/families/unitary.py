r"""Algebras of complex matrices, as real ones that commute with a $J$, $J^2 = -1$."""

from collections.abc import Iterator

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import (
    Member,
    commuting,
    complex_structure,
    conjugate,
    hermitian,
    signed_frames,
    traceless,
    usable,
)
from liegg.algebra.structure.real_forms import pair

STARTS = 2
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
    for form in hermitian(matrices, STARTS):
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
