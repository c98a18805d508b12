"""Spans, in any coordinates and with noise, that the tests of forms share."""

import torch

from cases import normal, regular
from liegg.algebra import orthonormal, u


def conjugation(n, condition, seed):
    """A matrix without structure whose singular values spread evenly in size, or by even ratios for odd seeds."""
    if seed % 2 == 0:
        return regular(n, seed=seed, condition=condition)
    one, other = (
        torch.linalg.qr(normal(n, n, seed=seed))[0],
        torch.linalg.qr(normal(n, n, seed=seed + 1))[0],
    )
    return one @ torch.diag(condition ** torch.linspace(0, 1, n, dtype=torch.float64)) @ other


def conjugated(generators, condition, seed=7):
    p = conjugation(generators.shape[1], condition, seed)
    return p @ generators @ torch.linalg.inv(p)


def noisy(generators, size, seed=0):
    """Unit generators off by matrices of Frobenius norm about `size`."""
    basis = orthonormal(generators)
    return basis + size * normal(*basis.shape, seed=seed) / basis.shape[1]


def as_given(generators, condition, size, seed):
    generators = conjugated(generators, condition, seed)
    return noisy(generators, size, seed) if size else generators


GIVEN_AS = [(1.0, 0.0, 7), (100.0, 0.0, 7), (100.0, 0.0, 20), (3.0, 1e-2, 20)]


def blocks(one, other):
    """Direct sum: each algebra acts on its own coordinates."""
    return torch.cat(
        [
            torch.nn.functional.pad(one, (0, other.shape[1]) * 2),
            torch.nn.functional.pad(other, (one.shape[1], 0) * 2),
        ]
    )


def copies(generators, k):
    return torch.stack([torch.block_diag(*[a] * k) for a in generators])


def turn(n):
    """Multiplication by i on C^n."""
    return u(n)[-1]


def su_pq(p, q):
    """Complex traceless matrices that preserve diag(+1 × p, −1 × q) on C^(p+q): the form times the antihermitian ones."""
    sign = torch.tensor(([1.0] * p + [-1.0] * q) * 2, dtype=torch.float64)
    all_of_u = torch.diag(sign) @ u(p + q)
    imaginary_trace = torch.einsum("aij,ji->a", all_of_u, turn(p + q))
    kernel = torch.linalg.svd(imaginary_trace[None])[2][1:]
    return torch.einsum("ka,aij->kij", kernel, all_of_u)
