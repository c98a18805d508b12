"""Algebras beside others that an error can turn them into, and those errors."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

import liegg
from cases import normal, units
from liegg import algebra

ROTATION = liegg.so(2)[0]


@dataclass(frozen=True, eq=False)
class Neighbour:
    """An algebra, the names that are right for it, and the matrices that its errors are made of.

    Attributes:
        label: id in the test reports.
        generators: exact generators.
        names: right names; a name ending in a space is a beginning, such as "Bianchi VI ".
        errors: matrices that span the possible errors; all matrices if None.
    """

    label: str
    generators: Tensor
    names: tuple[str, ...]
    errors: Tensor | None = None

    def right(self, name: str) -> bool:
        return any(name == one or (one[-1] == " " and name.startswith(one)) for one in self.names)


def diagonal(*values: float) -> Tensor:
    return torch.diag(torch.tensor(values, dtype=torch.float64))


def stretched(generators: Tensor, *values: float) -> Tensor:
    return diagonal(*values) @ generators @ torch.linalg.inv(diagonal(*values))


def planar(*rows: tuple[float, float]) -> Tensor:
    """One linear map of the plane, with translations."""
    linear = torch.tensor(rows, dtype=torch.float64)[None]
    return torch.cat([torch.nn.functional.pad(linear, (0, 1, 0, 1)), liegg.translation(2)])


def affine(n: int) -> Tensor:
    """All matrices of side n with a zero last row."""
    return units(n, *((i, j) for i in range(n - 1) for j in range(n)))


def offsets(k: int) -> Tensor:
    """Offsets of k quantities, one block [[a, t], [0, 0]] each."""
    return units(2 * k, *((2 * i, 2 * i + 1) for i in range(k)))


def offset_errors(k: int) -> Tensor:
    """Each offset may come with a scaling of any of the quantities."""
    return torch.cat([offsets(k), units(2 * k, *((2 * i, 2 * i) for i in range(k)))])


def abelian() -> list[Neighbour]:
    nilpotent = torch.diag(torch.ones(2, dtype=torch.float64), 1)
    one = torch.eye(2, dtype=torch.float64)
    flat = ("R²", "translation(2)")
    first, second = offsets(2)
    slow = units(4, (2, 2))[0]
    slopes = [
        Neighbour(f"slope {s:g}", torch.stack([first + s * slow, second]), ("aff(1)",))
        for s in (1e-7, 1e-4)
    ]
    return [
        *slopes,
        Neighbour("two offsets", offsets(2), flat, offset_errors(2)),
        Neighbour("three offsets", offsets(3), ("R³", "translation(3)"), offset_errors(3)),
        Neighbour("powers", torch.stack([nilpotent, nilpotent @ nilpotent]), flat),
        Neighbour("scaled shear", torch.stack([one, units(2, (0, 1))[0]]), flat),
        Neighbour(
            "scaled rotation", stretched(torch.stack([one, ROTATION]), 1, 100), ("so(2) ⊕ R", "R²")
        ),
        Neighbour("translations", liegg.translation(2), flat, affine(3)),
        Neighbour("diagonal", algebra.diagonal(3), ("diagonal(3)", "R³")),
    ]


def contractions() -> list[Neighbour]:
    found = []
    for s in (1.0, 30.0, 100.0, 1e3, 1e5):
        found += [
            Neighbour(f"so(3), {s:g}", stretched(liegg.so(3), 1, 1, s), ("so(3)",)),
            Neighbour(f"so(3) twice, {s:g}", stretched(liegg.so(3), 1, s, s * s), ("so(3)",)),
            Neighbour(f"so(1,2), {s:g}", stretched(liegg.so(2, 1), 1, 1, s), ("so(1,2)",)),
            Neighbour(f"se(2), {s:g}", stretched(liegg.se(2), 1, s, 1), ("se(2)",), affine(3)),
            Neighbour(f"so(1,3), {s:g}", stretched(liegg.so(1, 3), 1, s, s, s), ("so(1,3)",)),
        ]
    heisenberg = Neighbour("heis(3)", algebra.heis(3), ("heis(3)",))
    poincare = stretched(liegg.se(1, 3), 1, 1e5, 1e5, 1e5, 1)
    return [*found, heisenberg, Neighbour("Poincaré", poincare, ("e(1,3)",), affine(5))]


def bianchi() -> list[Neighbour]:
    found = []
    for h in (0.0, 1e-9, 1e-7, 1e-5, 1e-3):
        special = h == 0
        found += [
            Neighbour(f"spiral {h:g}", planar((h, -1), (1, h)),
                      ("se(2)",) if special else ("Bianchi VII ",), affine(3)),
            Neighbour(f"Jordan {h:g}", planar((1, h), (0, 1)),
                      ("R ⋉ R²", "Bianchi V") if special else ("Bianchi IV",), affine(3)),
            Neighbour(f"two rates {h:g}", planar((1, 0), (0, 1 + h)),
                      ("R ⋉ R²", "Bianchi V") if special else ("Bianchi VI ",), affine(3)),
            Neighbour(f"squeeze {h:g}", planar((1, 0), (0, h - 1)),
                      ("e(1,1)",) if special else ("Bianchi VI ",), affine(3)),
            Neighbour(f"shear {h:g}", planar((0, 1), (-h, 0)),
                      ("heis(3)",) if special else ("se(2)",), affine(3)),
        ]  # fmt: skip
    return found


def rigid() -> list[Neighbour]:
    """Algebras that no small error turns into others."""
    named = {
        "so(3)": liegg.so(3),
        "so(5)": liegg.so(5),
        "so(1,3)": liegg.so(1, 3),
        "sl(3,R)": liegg.algebra.sl(3),
        "sp(4,R)": liegg.algebra.sp(4),
        "su(3)": liegg.algebra.su(3),
        "sl(2,C)": liegg.algebra.sl(2, "C"),
        "so(3) ⊕ so(3)": algebra.direct_sum(liegg.so(3), liegg.so(3)),
        "diagonal(4)": algebra.diagonal(4),
    }
    linear = [Neighbour(name, generators, (name,)) for name, generators in named.items()]
    return [*linear, Neighbour("se(3)", liegg.se(3), ("se(3)",), affine(4))]


def with_error(case: Neighbour, error: float, seed: int) -> Tensor:
    """A random orthonormal basis of an algebra, each generator off by `error`."""
    d, n, _ = case.generators.shape
    rows = torch.linalg.qr(case.generators.flatten(1).mT)[0].mT
    rows = torch.linalg.qr(normal(d, d, seed=seed))[0] @ rows
    free = (liegg.algebra.gl(n) if case.errors is None else case.errors).flatten(1)
    free = torch.linalg.qr(free.mT)[0].mT
    noise = normal(d, len(free), seed=seed + 1) @ free / math.sqrt(len(free))
    return (rows + error * noise).unflatten(1, (n, n))
