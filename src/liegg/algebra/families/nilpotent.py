"""Nilpotent algebras: all shears along a flag, and the Heisenberg algebra."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra import catalog
from liegg.algebra.families.record import Model, conjugate, lowest


def shears(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """Strictly upper triangular matrices in the coordinates of the flag nearest to preserved."""
    d, n, _ = span.shape
    if n >= 3 and d == n * (n - 1) // 2:
        frame = flag(span)
        yield Model(f"shear({n})" if n > 3 else "heis(3)", frame @ catalog.shear(n) @ frame.mT)


def heisenberg(span: Float[Tensor, "d n n"]) -> Iterator[Model]:
    """The matrices `[[0, r, z], [0, 0, c], [0, 0, 0]]`, r and c with m entries, in the coordinates nearest to it; m ≥ 2."""
    d, n, _ = span.shape
    m = n - 2
    if m < 2 or d != 2 * m + 1:
        return
    vector = lowest(torch.einsum("aji,ajk->ik", span, span), 1)[0]
    covector = lowest(torch.einsum("aij,akj->ik", span, span), 1)[0]
    covector = covector - (covector @ vector) * vector
    if float(covector.norm()) < 1e-3:  # one and the same: nothing like it
        return
    covector = covector / covector.norm()
    between = torch.linalg.svd(torch.stack([vector, covector]))[2][2:]
    frame = torch.cat([vector[None], between, covector[None]]).mT
    yield Model(f"heis({2 * m + 1})", conjugate(catalog.heis(d), frame))


def flag(span: Float[Tensor, "d n n"]) -> Float[Tensor, "n n"]:
    """Orthonormal frame in which nilpotent matrices are strictly upper triangular: each column is sent into the ones before it."""
    columns = torch.zeros(span.shape[1], 0).to(span)
    for _ in range(span.shape[1]):
        outside = torch.eye(len(columns)).to(span) - columns @ columns.mT
        square = torch.einsum("aji,jk,akl->il", span, outside, span)
        # Among the directions outside the columns so far, the one that is sent least outside them.
        weight = float(square.diagonal().sum() + 1)
        following = lowest(square + weight * columns @ columns.mT, 1).mT
        columns = torch.linalg.qr(torch.cat([columns, following], 1))[
            0
        ]  # noise leaves it a little inside the others
    return columns
