r"""Algebras of complex matrices, as real ones of twice the size: they commute with a $J$, $J^2 = -1$."""

from collections.abc import Iterator

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import Model, conjugate, pair, traceless, usable
from liegg.algebra.families.starts import commuting, complex_structure, hermitian

STARTS = 2
"""Hermitian forms tried, and each with one sign changed."""


def complex_linear(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """gl(m, C), sl(m, C) and what lies between, u(p, q), su(p, q), and u(1) as a common phase."""
    d, n, _ = span.shape
    m = n // 2
    if (
        n % 2
        or d not in {1, m * m - 1, m * m, m * m + 1, *range(2 * m * m - 2, 2 * m * m + 1)}
        or d == 0
    ):
        return
    for near in (
        [traceless(span)]
        if d == 1
        else [commuting(span, count) for count in ((1, 3) if n > 2 else (1,))]
    ):
        turn = complex_structure(near)
        if turn is not None and usable(frame := complex_frame(turn)):
            yield from _in_frame(span, d, m, frame)


def complex_frame(turn: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Frame in which J is [[0, −1], [1, 0]]: m vectors, then J times them, as little stretched as can be.

    >>> turn = torch.tensor([[0.0, -2.0], [0.5, 0.0]], dtype=torch.float64)
    >>> frame = complex_frame(turn)
    >>> torch.linalg.solve(frame, turn @ frame).round(decimals=9) + 0.0
    tensor([[ 0., -1.],
            [ 1.,  0.]], dtype=torch.float64)
    """
    # J is orthogonal in the metric 1 + JᵀJ, which it preserves; there it has orthonormal frames.
    values, vectors = torch.linalg.eigh(torch.eye(len(turn)).to(turn) + turn.mT @ turn)
    root, back = (vectors * values.sqrt()) @ vectors.mT, (vectors / values.sqrt()) @ vectors.mT
    straight = root @ turn @ back
    columns = turn.new_zeros(len(turn), 0)
    for _ in range(len(turn) // 2):
        outside = torch.eye(len(turn)).to(turn) - columns @ columns.mT
        column = outside[:, int(outside.norm(dim=0).argmax())]
        column = column / column.norm()
        columns = torch.cat([columns, column[:, None], (straight @ column)[:, None]], 1)
    return back @ torch.cat([columns[:, ::2], columns[:, 1::2]], 1)


def _in_frame(
    span: Float[Tensor, "d n n"], d: int, m: int, frame: Float[Tensor, "n n"]
) -> Iterator[Model]:
    one = torch.eye(m, dtype=torch.complex128)[None]

    def model(name: str, *standard: Tensor, inside: Tensor = one) -> Model:
        return Model(
            name,
            conjugate(torch.cat(standard), frame),
            stretch=float(torch.linalg.cond(frame @ _real(inside)[0])),
        )

    phase, scaling = _real(1j * one), _real(one)
    if d == 1:
        yield model("u(1)" if m > 1 else "so(2)", phase)
    if d == 2 * m * m:
        yield model(f"gl({m},C)" if m > 1 else "so(2) ⊕ R", catalog.gl(m, "C"))
    if m == 1:
        return
    if d == 2 * m * m - 2:
        yield model(f"sl({m},C)", catalog.sl(m, "C"))
    if d == 2 * m * m - 1:
        yield model(f"sl({m},C) ⊕ R", catalog.sl(m, "C"), scaling)
        yield model(f"sl({m},C) ⊕ u(1)", catalog.sl(m, "C"), phase)
    if m * m - 1 <= d <= m * m + 1:
        for matrices, positive, inside in _unitary(
            complexified(torch.linalg.solve(frame, span @ frame)), m
        ):
            inner, name = _real(matrices), pair(positive, m - positive)
            real = (m, positive) == (
                2,
                1,
            )  # su(1,1) acts on C² as sl(2,R) does on two copies of R², and is proposed as that
            if d == m * m - 1 and not real:
                yield model(f"su({name})", inner, inside=inside)
            elif d == m * m:
                yield model(f"u({name})", inner, phase, inside=inside)
                if not real:
                    yield model(f"su({name}) ⊕ R", inner, scaling, inside=inside)
            elif d == m * m + 1:
                yield model(f"u({name}) ⊕ R", inner, phase, scaling, inside=inside)


def _unitary(matrices: Complex[Tensor, "d m m"], m: int) -> Iterator[tuple[Tensor, int, Tensor]]:
    """su(p, q) near complex matrices, in their coordinates, for the Hermitian forms nearest to preserved."""
    trace = matrices.diagonal(dim1=1, dim2=2).sum(1) / m
    special = matrices - trace[:, None, None] * torch.eye(m).to(matrices)
    for form in hermitian(special, STARTS):
        values, vectors = torch.linalg.eigh(form)
        flipped = values.clone()
        flipped[values.abs().argmin()] *= -1
        for signs in (values, flipped):
            order, p = torch.argsort(signs, descending=True), int((signs > 0).sum())
            frame = (
                vectors[:, order]
                / signs[order].abs().clamp_min(1e-6 * float(values.abs().max())).sqrt()
            )
            yield (
                frame @ complexified(catalog.su(p, m - p)) @ torch.linalg.inv(frame),
                p,
                frame[None],
            )


def complexified(matrices: Float[Tensor, "d n n"]) -> Complex[Tensor, "d m m"]:
    """The complex-linear part of real matrices: A + iB from [[A, −B], [B, A]]."""
    m = matrices.shape[1] // 2
    a, b, c, e = matrices[:, :m, :m], matrices[:, :m, m:], matrices[:, m:, :m], matrices[:, m:, m:]
    return torch.complex((a + e) / 2, (c - b) / 2)


def _real(matrices: Complex[Tensor, "d m m"]) -> Float[Tensor, "d n n"]:
    return catalog.realify(matrices.real, matrices.imag)
