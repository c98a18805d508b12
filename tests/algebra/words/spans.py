"""Spans and matrices that the tests of words share."""

import torch

from cases import normal, regular
from liegg import algebra
from liegg.algebra import principal_angles, scaling, se, so, sp

CATALOGUE = {
    **{
        f"{name}({n})": getattr(algebra, name)(n)
        for name in (
            "so",
            "gl",
            "sl",
            "u",
            "su",
            "se",
            "aff",
            "translation",
            "scaling",
            "diagonal",
            "shear",
        )
        for n in range(1, 5)
    },
    **{f"sp({n})": sp(n) for n in (2, 4, 6)},
    **{f"so({p},{q})": so(p, q) for p, q in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3))},
    "so(5)": so(5),
    "so(8)": so(8),
    "so(3)+R": torch.cat([so(3), scaling(3)]),
    "conformal plane": torch.cat(
        [se(2), torch.diag(torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))[None]]
    ),
}


def mixed(generators, seed=0, condition=20.0):
    """Another basis of the same span, without structure."""
    if len(generators) == 0:
        return generators
    return torch.einsum(
        "ab,bij->aij", regular(len(generators), seed=seed, condition=condition), generators
    )


def disturbed(generators, uncertainty, seed=0):
    """Orthonormal generators, mixed, each off by a random matrix of Frobenius norm about `uncertainty`."""
    unit = algebra.orthonormal(mixed(generators, seed))
    return unit + uncertainty / unit.shape[1] * normal(*unit.shape, seed=seed + 50)


def angle(one, other):
    """Largest angle between two spans of the same dimension."""
    assert one.shape == other.shape
    return float(principal_angles(one.flatten(1), other.flatten(1)).max()) if len(one) else 0.0


def matrix(n, **entries):
    """Matrix from entries such as `_12=-1`, counted from one."""
    out = torch.zeros(n, n, dtype=torch.float64)
    for place, value in entries.items():
        out[int(place[1]) - 1, int(place[2]) - 1] = value
    return out


def diag(*values):
    return torch.diag(torch.tensor(values, dtype=torch.float64))
