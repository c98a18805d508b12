"""Nilpotent algebras: all shears along a flag, and the Heisenberg algebra."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import Member, conjugate, lowest


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
