"""Functions and networks whose complete symmetry group is known, for `groups.py` and the tests."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

import liegg
from liegg.actions import Action, Slots

SHEAR = torch.tensor([[1.0, 0.5], [0.0, 1.2]], dtype=torch.float64)
"""Coordinates of the plane in which its symmetries are neither orthogonal nor of equal scale."""


class Case(NamedTuple):
    """A function with a known group.

    Attributes:
        name: of the case.
        model: the function.
        data: samples.
        action: what may move.
        group: name of the whole group.
        order: elements, or components of a continuous group; permutations of slots are not counted.
    """

    name: str
    model: Callable[[Tensor], Tensor]
    data: Tensor
    action: Action
    group: str
    order: int


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def polygon(k: int, *, mirrors: bool) -> Callable[[Tensor], Tensor]:
    """A polynomial of the plane, in sheared coordinates, with the rotations of a polygon and maybe its mirrors."""

    def function(x: Tensor) -> Tensor:
        u, v = torch.linalg.solve(SHEAR, x.mT)
        radius, power = u.square() + v.square(), (u + 1j * v) ** k
        odd = 0.0 if mirrors else 0.3 * power.imag * radius
        return radius + 0.3 * power.real + odd

    return function


def network(n: int, *, seed: int = 0, gain: float = 3.0, outputs: int = 1) -> nn.Sequential:
    """A random network without symmetry."""
    torch.manual_seed(seed)
    layers = nn.Sequential(nn.Linear(n, 32), nn.Tanh(), nn.Linear(32, outputs)).double()
    with torch.no_grad():
        next(layers.parameters()).mul_(gain)
    return layers


def symmetrised(base: nn.Module, elements: Tensor) -> Callable[[Tensor], Tensor]:
    """The mean of a network over a group of matrices."""
    return lambda x: torch.stack([base(x @ h.mT) for h in elements]).mean(0)


def rotations_of_order(k: int) -> Tensor:
    """Rotations of the plane by multiples of 360°/k."""
    angles = 2 * math.pi * torch.arange(k, dtype=torch.float64) / k
    return torch.stack(
        [
            torch.stack([angles.cos(), -angles.sin()], 1),
            torch.stack([angles.sin(), angles.cos()], 1),
        ],
        1,
    )


class SetNetwork(nn.Module):
    """A mean over the members of a set: permutations change nothing."""

    def __init__(self, features: int, *, seed: int = 0):
        super().__init__()
        torch.manual_seed(seed)
        self.each = nn.Sequential(nn.Linear(features, 24), nn.Tanh(), nn.Linear(24, 16)).double()
        self.whole = nn.Sequential(nn.Tanh(), nn.Linear(16, 1)).double()

    def forward(self, x: Tensor) -> Tensor:
        """Output of a batch of sets."""
        return self.whole(3 * self.each(x).mean(1))


GOLDEN = (1 + 5**0.5) / 2
"""The golden ratio."""

SIXFOLD = torch.tensor(
    [
        turned
        for s in (1, -1)
        for turned in ([0, 1, s * GOLDEN], [1, s * GOLDEN, 0], [s * GOLDEN, 0, 1])
    ],
    dtype=torch.float64,
)
"""The six axes through the vertices of an icosahedron."""


def icosahedral(x: Tensor) -> Tensor:
    """A polynomial with the symmetries of the icosahedron, by its six axes."""
    return (x @ SIXFOLD.mT).pow(6).sum(1) / 20 + x.square().sum(1)


def mirror_planes() -> Tensor:
    """Unit normals of the 15 mirror planes of the icosahedron."""
    normals = [[1.0, 0.0, 0.0]]
    normals += [[1.0, s / GOLDEN, t * GOLDEN] for s in (1, -1) for t in (1, -1)]
    turned = torch.tensor(normals, dtype=torch.float64)
    every = torch.cat([turned.roll(k, 1) for k in range(3)])
    return every / every.norm(dim=1, keepdim=True)


MIRRORS = mirror_planes()


def sphere(x: Tensor) -> tuple[Tensor, Tensor]:
    """Squared length and direction: polynomials of directions have no large values far out."""
    size = x.norm(dim=1, keepdim=True)
    return size[:, 0].square(), x / size


def planes_of_cube(u: Tensor) -> Tensor:
    """The product over the six mirror planes through opposite edges of the cube, which every one of them reverses."""
    a, b, c = u.square().unbind(1)
    return (a - b) * (b - c) * (c - a)


def chiral_cases() -> list[Case]:
    """The rotations of tetrahedron, cube and icosahedron: each function has a term that mirror images reverse."""

    def tetrahedral(x: Tensor) -> Tensor:
        square, u = sphere(x)
        return square * (1 + 3 * u.prod(1) + 5 * planes_of_cube(u))

    def cubic(x: Tensor) -> Tensor:
        square, u = sphere(x)
        return square * (1 + u.pow(4).sum(1) + 30 * u.prod(1) * planes_of_cube(u))

    def icosahedron(x: Tensor) -> Tensor:
        square, u = sphere(x)
        return square * (1 + 0.02 * (u @ SIXFOLD.mT).pow(6).sum(1) + 3e4 * (u @ MIRRORS.mT).prod(1))

    named = (("T", tetrahedral, 12), ("O", cubic, 24), ("I", icosahedron, 60))
    return [
        Case(f"rotations, {name}", function, normal(600, 3), liegg.Linear(3), name, order)
        for name, function, order in named
    ]


def swapped(x: Tensor) -> Tensor:
    """Signs of x and y, and the swap of x and √2 y."""
    a, b, c = x.unbind(1)
    return a**2 + 2 * b**2 + 3 * c**2 + a**2 * b**2 + 0.3 * (c - 0.1) ** 3


def exact_cases() -> list[Case]:
    """Finite groups of exact functions and of networks, with their names and orders."""
    plane, space = normal(600, 2), normal(600, 3)
    two, three = liegg.Linear(2), liegg.Linear(3)
    found = [
        Case(
            f"polygon {k}{' with mirrors' * m}",
            polygon(k, mirrors=m),
            plane,
            two,
            f"{'CD'[m]}{'₀₁₂₃₄₅₆'[k]}",
            k * (1 + m),
        )
        for m in (True, False)
        for k in (3, 4, 5, 6)
    ]
    found += [
        Case("|x| + |y|", lambda x: x.abs().sum(1), plane, two, "D₄", 8),
        Case("x⁴ + y⁴ + z⁴", lambda x: x.pow(4).sum(1), space, three, "O_h", 48),
        Case(
            "xyz + 0.1 Σ x⁴", lambda x: x.prod(1) + 0.1 * x.pow(4).sum(1), space, three, "T_d", 24
        ),
        Case("icosahedron", icosahedral, space, three, "I_h", 120),
        *chiral_cases(),
        Case("swap of x and √2 y", swapped, space, three, "D₄", 8),
        Case("random network", network(3), space, three, "trivial", 1),
        Case(
            "network, three rotations",
            symmetrised(network(2), rotations_of_order(3)),
            plane,
            two,
            "C₃",
            3,
        ),
        Case(
            "network, parity",
            symmetrised(network(3), torch.stack([torch.eye(3), -torch.eye(3)]).double()),
            space,
            three,
            "C₂",
            2,
        ),
    ]
    return found


def slot_cases(sizes: tuple[int, ...] = (10, 100)) -> list[Case]:
    """Permutations of the members of sets."""
    small = "₀₁₂₃₄₅₆₇₈₉"
    found = [
        Case(
            f"set of {n}",
            SetNetwork(2),
            normal(240, n, 2),
            Slots(),
            "S" + "".join(small[int(d)] for d in str(n)),
            1,
        )
        for n in sizes
    ]
    one, other = SetNetwork(2), SetNetwork(2, seed=1)
    pair = lambda x: one(x[:, :3]) + other(x[:, 3:]).tanh()  # noqa: E731
    return [*found, Case("sets of 3 and 2", pair, normal(400, 5, 2), Slots(), "S₃ × S₂", 1)]


def gram(x: Tensor) -> Tensor:
    """Bounded inner products of the vectors of a sample."""
    return (x @ x.mT).flatten(1).tanh()


def near(x: Tensor) -> Tensor:
    """Bounded functions of the distances between points."""
    return (-(x[:, :, None] - x[:, None]).square().sum(-1)).exp().flatten(1)


def lorentz_cases() -> list[Case]:
    """Functions of four Lorentz vectors, by which of parity and time reversal they keep.

    The determinant of the vectors changes sign under either. The direction of time of a time-like vector changes under time
    reversal alone.
    """
    x, action = normal(500, 4, 4), liegg.Linear(4, copies=4)
    metric = torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64)
    weights = normal(16, seed=1)

    def products(x: Tensor) -> Tensor:
        return (0.3 * (x * metric) @ x.mT).flatten(1).tanh() @ weights

    def volume(x: Tensor) -> Tensor:
        return (0.2 * torch.linalg.det(x)).tanh()

    def direction(x: Tensor) -> Tensor:
        first = x[:, 0]
        square = (first * first @ metric).clamp_min(0)
        return first[:, 0].sign() * square.square().tanh()

    return [
        Case("Lorentz, parity and time reversal", products, x, action, "O(1,3)", 4),
        Case(
            "Lorentz, parity",
            lambda x: products(x) + direction(x),
            x,
            action,
            "SO⁺(1,3) with parity",
            2,
        ),
        Case(
            "Lorentz, time reversal",
            lambda x: products(x) + direction(x) * volume(x),
            x,
            action,
            "SO⁺(1,3) with time reversal",
            2,
        ),
        Case(
            "Lorentz, both together only",
            lambda x: products(x) + volume(x),
            x,
            action,
            "SO(1,3)",
            2,
        ),
        Case(
            "Lorentz, neither",
            lambda x: products(x) + direction(x) + volume(x),
            x,
            action,
            "SO⁺(1,3)",
            1,
        ),
    ]


def automorphism_cases() -> list[Case]:
    """Functions that keep outer automorphisms of their algebra: exchanges of isomorphic parts, complex conjugation.

    Invariants of the parts enter alike, in rotated coordinates; a function of Hermitian products is even in their imaginary parts, in
    sheared coordinates.
    """
    frames = {n: torch.linalg.qr(normal(n, n, seed=2)).Q for n in (9, 10)}
    shear = torch.eye(6).double() + 0.3 * normal(6, 6, seed=5)
    back, weights, others = torch.linalg.inv(shear).mT, normal(9, seed=1), normal(9, seed=3)

    def parts(x: Tensor, size: int) -> list[Tensor]:
        """An invariant of the inner products of each part."""
        inside = (x @ frames[x.shape[2]]).split(size, 2)
        used = weights[: x.shape[1] ** 2]
        return [(0.3 * part @ part.mT).flatten(1).tanh() @ used for part in inside]

    def three(x: Tensor) -> Tensor:
        a, b, c = parts(x, 3)
        return a + b + c + 0.2 * a * b * c

    def two(x: Tensor) -> Tensor:
        a, b = parts(x, 5)
        return a + b + 0.2 * a * b

    def hermitian(x: Tensor) -> Tensor:
        real, imaginary = (x @ back).split(3, 2)
        z = torch.complex(real, imaginary)
        products = 0.2 * (z.conj() @ z.mT).flatten(1)
        return products.real.tanh() @ weights + products.imag.square().tanh() @ others

    x = normal(400, 3, 9)
    return [
        Case(
            "three equal parts",
            three,
            x,
            liegg.Linear(9, copies=3),
            "so(3) ⊕ so(3) ⊕ so(3) with a component group S₄ × Z₂",
            48,
        ),
        Case(
            "two equal parts",
            two,
            normal(400, 2, 10),
            liegg.Linear(10, copies=2),
            "so(5) ⊕ so(5) with a component group D₄",
            8,
        ),
        Case(
            "complex conjugation",
            hermitian,
            x[:, :, :6] @ shear.mT,
            liegg.Linear(6, copies=3),
            "u(3) with a component group C₂",
            2,
        ),
    ]


def continuous_cases() -> list[Case]:
    """Continuous groups with and without reflections."""
    x, five = normal(500, 4, 3), normal(500, 2, 5)
    weights = normal(16, seed=1)

    def volume(x: Tensor) -> Tensor:
        return torch.linalg.det(x[:, :3])

    def paper(x: Tensor) -> Tensor:
        one, other = x[:, 0].norm(dim=1), x[:, 1].norm(dim=1)
        return one.sin() - other.pow(3) / 2 + (x[:, 0] * x[:, 1]).sum(1) / (one * other)

    linear, affine = liegg.Linear(3, copies=4), liegg.Affine(3, copies=4)
    return [
        Case("inner products", lambda x: gram(x) @ weights, x, linear, "O(3)", 2),
        Case(
            "inner and triple products",
            lambda x: gram(x) @ weights + 0.5 * volume(x),
            x,
            linear,
            "SO(3)",
            1,
        ),
        Case("distances", lambda x: near(x) @ weights, x, affine, "E(3)", 2),
        Case(
            "distances and volume",
            lambda x: near(x) @ weights + 0.1 * volume(x[:, :3] - x[:, 3:]),
            x,
            affine,
            "SE(3)",
            1,
        ),
        Case("sum over distances", lambda x: near(x).sum(1), x, affine, "E(3) × S₄", 2),
        *lorentz_cases(),
        Case("the paper's function", paper, five, liegg.Linear(5, copies=2), "O(5)", 2),
        *automorphism_cases(),
    ]
