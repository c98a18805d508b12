"""Functions whose symmetry algebra is known by mathematics, with the argument beside each expected answer."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor

import liegg
from liegg import algebra
from liegg.actions import Action, Affine, Linear

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Case:
    """A function, the candidates, the data, and what must be found.

    Attributes:
        name: id in the test reports.
        function: batch of samples to batch of outputs.
        action: candidate generators.
        data: float64 samples.
        nullity: number of symmetries, by the argument given where the case is made.
        generators: a basis of the symmetries; one that spans `nullity` dimensions.
        trivial: number of directions that do not move the data.
        copies: vectors to a sample, for the oracle.
        vector_first: layout, for the oracle.
    """

    name: str
    function: Function
    action: Action
    data: Tensor
    nullity: int
    generators: Tensor
    trivial: int = 0
    copies: int = 1
    vector_first: bool = False

    def __str__(self) -> str:
        return self.name


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def regular(n: int, seed: int = 7, condition: float = 2.0) -> Tensor:
    """A matrix without structure, of the given condition number."""
    stretch = torch.linspace(1.0, condition, n, dtype=torch.float64)
    return (
        torch.linalg.qr(normal(n, n, seed=seed))[0]
        @ torch.diag(stretch)
        @ torch.linalg.qr(normal(n, n, seed=seed + 1))[0]
    )


def units(n: int, *places: tuple[int, int]) -> Tensor:
    """Unit matrices E_ij as generators."""
    out = torch.zeros(len(places), n, n, dtype=torch.float64)
    for k, (i, j) in enumerate(places):
        out[k, i, j] = 1
    return out


def sphere(samples: int, n: int, seed: int = 0) -> Tensor:
    """Points on |x| = 1."""
    return torch.nn.functional.normalize(normal(samples, n, seed=seed), dim=1)


def mlp(*widths: int, seed: int = 3, dtype: torch.dtype = torch.float64) -> torch.nn.Sequential:
    """Random network with smooth activations; the caller's random state is left alone."""
    layers: list[torch.nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        for inputs, outputs in pairwise(widths):
            layers += [torch.nn.Linear(inputs, outputs, dtype=dtype), torch.nn.SiLU()]
            with torch.no_grad():
                # Strongly non-linear: the default's small weights make a network nearly linear, which is nearly symmetric.
                layers[-2].weight.mul_(3)  # pyright: ignore[reportCallIssue]
    return torch.nn.Sequential(*layers[:-1])


class FromInnerProducts(torch.nn.Module):
    """Network of |x|², x·y, |y|² of two vectors: invariant under O(n) whatever its weights."""

    def __init__(self, n: int, *, dtype: torch.dtype = torch.float64, seed: int = 3) -> None:
        super().__init__()
        self.n = n
        self.head = mlp(3, 32, 32, 1, seed=seed, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        a, b = x[:, : self.n], x[:, self.n :]
        return self.head(
            torch.stack([(a * a).sum(1), (a * b).sum(1), (b * b).sum(1)], dim=1) / self.n
        )


def square(x: Tensor) -> Tensor:
    return x.square().sum(1)


def norm_case(n: int) -> Case:
    # ∇f·hx = 2 xᵀhx vanishes for all x exactly when h + hᵀ = 0: so(n), n(n-1)/2.
    return Case(f"norm-{n}", square, Linear(n), normal(200, n), n * (n - 1) // 2, algebra.so(n))


def sphere_case(n: int) -> Case:
    # The paper's example: F = |x|² - 1 on |x| = 1. A quadratic form xᵀhx that vanishes on the sphere vanishes everywhere: so(n).
    return Case(
        f"sphere-{n}",
        lambda x: square(x) - 1,
        Linear(n),
        sphere(200, n),
        n * (n - 1) // 2,
        algebra.so(n),
    )


def lorentz() -> Case:
    # xᵀGhx = 0 for all x exactly when Gh is antisymmetric, G = diag(1, -1, -1, -1): so(1,3), 6.
    metric = torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64)
    return Case(
        "lorentz",
        lambda x: (metric * x.square()).sum(1),
        Linear(4),
        normal(200, 4),
        6,
        algebra.so(1, 3),
    )


def conjugated_rotation(condition: float = 2.0) -> Case:
    # f(x) = |Px|² is invariant under P⁻¹AP for A in so(3), and as |Px|² is a regular quadratic form nothing else is: 3.
    p = regular(3, condition=condition)
    return Case(
        f"conjugated-so3-{condition:g}",
        lambda x: square(x @ p.mT),
        Linear(3),
        normal(200, 3),
        3,
        torch.linalg.inv(p) @ algebra.so(3) @ p,
    )


def determinant(n: int) -> Case:
    # d/dt det(e^{th}X) = tr(h) det X: one condition, sl(n), n² - 1.
    return Case(
        f"determinant-{n}",
        lambda x: torch.linalg.det(x),
        Linear(n, copies=n),
        normal(200, n, n),
        n * n - 1,
        algebra.sl(n),
        copies=n,
    )


def symplectic() -> Case:
    # ω(hx, y) + ω(x, hy) = 0 for all x, y defines sp(4, R); dimension m(2m + 1) = 10 for m = 2.
    def area(x: Tensor) -> Tensor:
        (q, p), (r, s) = x[:, 0].split(2, dim=1), x[:, 1].split(2, dim=1)
        return (q * s - p * r).sum(1)

    return Case(
        "symplectic", area, Linear(4, copies=2), normal(200, 2, 4), 10, algebra.sp(4), copies=2
    )


def hermitian() -> Case:
    # ⟨z, w⟩ of two vectors of C²: its real part asks for so(4), its imaginary part for sp(4, R); both together for u(2), 4.
    def product(x: Tensor) -> Tensor:
        (a, b), (c, d) = x[:, 0].split(2, dim=1), x[:, 1].split(2, dim=1)
        return torch.stack([(a * c + b * d).sum(1), (a * d - b * c).sum(1)], dim=1)

    return Case(
        "hermitian", product, Linear(4, copies=2), normal(200, 2, 4), 4, algebra.u(2), copies=2
    )


def complex_norm() -> Case:
    # |z|² of one vector of C² among the complex-linear maps (8 real dimensions): so(4) ∩ gl(2, C) = u(2), 4.
    real = torch.stack([torch.block_diag(e, e) for e in algebra.gl(2)])
    turn = torch.kron(
        torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64),
        torch.eye(2, dtype=torch.float64),
    )
    action = Linear(4).restrict(torch.cat([real, real @ turn]))
    return Case("complex-norm", square, action, normal(200, 4), 4, algebra.u(2))


def distances() -> Case:
    # Distances of four points: uᵀHu = 0 for every difference u makes H antisymmetric, translations are free: se(3), 6.
    def pairs(x: Tensor) -> Tensor:
        i, j = torch.triu_indices(4, 4, 1)
        return (x[:, i] - x[:, j]).norm(dim=2)

    return Case(
        "distances", pairs, Affine(3, copies=4), normal(200, 4, 3), 6, algebra.se(3), copies=4
    )


def tetrahedron() -> Case:
    # Signed volume: translations are free and the linear part must have trace 0: 3 + 8 = 11 of 12.
    def volume(x: Tensor) -> Tensor:
        return torch.linalg.det(x[:, 1:] - x[:, :1])

    linear = torch.nn.functional.pad(algebra.sl(3), (0, 1, 0, 1))
    found = torch.cat([linear, algebra.translation(3)])
    return Case("tetrahedron", volume, Affine(3, copies=4), normal(200, 4, 3), 11, found, copies=4)


def differences() -> Case:
    # Differences of three points of the plane, as vectors: Hu = 0 for every difference u, so only translations are left: 2.
    return Case(
        "differences",
        lambda x: (x[:, :, 1:] - x[:, :, :-1]).flatten(1),
        Affine(2, copies=3, layout="vector_first"),
        normal(200, 2, 3),
        2,
        algebra.translation(2),
        copies=3,
        vector_first=True,
    )


def direction() -> Case:
    # x/|x| stays where it is when hx is parallel to x for every x, so when h is a multiple of the identity: 1.
    return Case(
        "direction",
        lambda x: x / x.norm(dim=1, keepdim=True),
        Linear(3),
        normal(200, 3),
        1,
        algebra.scaling(3),
    )


def rayleigh() -> Case:
    # xᵀQx/|x|², Q with distinct eigenvalues. (xᵀQhx)|x|² = (xᵀQx)(xᵀhx), and |x|² has no factor, so xᵀhx = c|x|²; then
    # h = c + A with A antisymmetric and QA = AQ, so A = 0: scaling alone, 1.
    q = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    return Case(
        "rayleigh",
        lambda x: (q * x.square()).sum(1) / square(x),
        Linear(3),
        normal(300, 3),
        1,
        algebra.scaling(3),
    )


def opposite_outputs() -> Case:
    # (x₁, -x₁): the outputs' sum is blind, each alone asks for (hx)₁ = 0. The first row of h vanishes: 9 - 3 = 6.
    free = units(3, *[(i, j) for i in (1, 2) for j in range(3)])
    return Case(
        "opposite-outputs",
        lambda x: torch.stack([x[:, 0], -x[:, 0]], dim=1),
        Linear(3),
        normal(100, 3),
        6,
        free,
    )


def linear_function() -> Case:
    # a·hx = 0 for all x exactly when aᵀh = 0: every column of h is orthogonal to a, n² - n = 12.
    a = torch.tensor([1.0, 2.0, -1.0, 0.5], dtype=torch.float64)
    normals = torch.linalg.svd(a[None])[2][1:]
    eye = torch.eye(4, dtype=torch.float64)
    free = torch.stack([torch.outer(v, e) for v in normals for e in eye])
    return Case("linear", lambda x: x @ a, Linear(4), normal(100, 4), 12, free)


def two_norms() -> Case:
    # |x|² and |y|² of outer_factors of R⁶: each kills the block that mixes the other in and makes its own antisymmetric, so(3) ⊕ so(3).
    zero = torch.zeros(3, 3, dtype=torch.float64)
    both = [torch.block_diag(a, zero) for a in algebra.so(3)] + [
        torch.block_diag(zero, a) for a in algebra.so(3)
    ]
    outer_factors: Function = lambda x: torch.stack([square(x[:, :3]), square(x[:, 3:])], dim=1)  # noqa: E731
    return Case("two-norms", outer_factors, Linear(6), normal(200, 6), 6, torch.stack(both))


def hyperbola() -> Case:
    # x₁²x₂²: x₁x₂ changes by (h₁₁ + h₂₂)x₁x₂ + h₁₂x₂² + h₂₁x₁², which vanishes on diag(1, -1) alone: 1.
    boost = torch.tensor([[[1.0, 0.0], [0.0, -1.0]]], dtype=torch.float64)
    return Case(
        "hyperbola", lambda x: x[:, 0] ** 2 * x[:, 1] ** 2, Linear(2), normal(100, 2), 1, boost
    )


def product_of_three() -> Case:
    # log|x₁x₂x₃| changes by Σ hᵢⱼ xⱼ/xᵢ; the ratios are independent functions, so h is diagonal with trace 0: 2.
    found = algebra.diagonal(3)[:2] - algebra.diagonal(3)[1:]
    away_from_zero = torch.exp(0.5 * normal(200, 3))
    return Case("product-of-three", lambda x: x.log().sum(1), Linear(3), away_from_zero, 2, found)


def height() -> Case:
    # x₃ asked about rotations alone: (Ax)₃ = 0 leaves those about the third axis, 1.
    about = torch.tensor(
        [[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]], dtype=torch.float64
    )
    return Case(
        "height", lambda x: x[:, 2], Linear(3).restrict(algebra.so(3)), normal(100, 3), 1, about
    )


def plane() -> Case:
    # |x|² on a tilted plane of R³ with normal m. h m does not matter: 3 trivial directions, h = k mᵀ. Among the other six (h m = 0)
    # xᵀhx = 0 on the plane asks the plane's own 2×2 block to be antisymmetric (1); what moves the plane along m changes |x|²
    # in second order only (2): 3 symmetries.
    axes = torch.linalg.qr(regular(3))[0].mT
    one, two, m = axes
    found = torch.stack(
        [torch.outer(two, one) - torch.outer(one, two), torch.outer(m, one), torch.outer(m, two)]
    )
    return Case("plane", square, Linear(3), normal(200, 2) @ axes[:2], 3, found, trivial=3)


def network() -> Case:
    # A random network is constant along no linear field: 0.
    return Case(
        "network",
        mlp(3, 64, 64, 2),
        Linear(3),
        normal(300, 3),
        0,
        torch.zeros(0, 3, 3, dtype=torch.float64),
    )


def classifier() -> Case:
    # Softmax of a random network: its outputs sum to 1, which fools a sum over outputs; each alone has no symmetry: 0.
    model = torch.nn.Sequential(mlp(3, 64, 64, 4), torch.nn.Softmax(dim=1))
    return Case(
        "classifier", model, Linear(3), normal(300, 3), 0, torch.zeros(0, 3, 3, dtype=torch.float64)
    )


def by_construction() -> Case:
    # A network of the inner products of two vectors of R⁵ is invariant under so(5) and, with random weights, under no more: 10.
    return Case(
        "inner-products",
        FromInnerProducts(5),
        Linear(5, copies=2),
        normal(300, 10),
        10,
        algebra.so(5),
        copies=2,
    )


CASES = [
    norm_case(2),
    norm_case(5),
    sphere_case(4),
    lorentz(),
    conjugated_rotation(),
    determinant(2),
    determinant(3),
    symplectic(),
    hermitian(),
    complex_norm(),
    distances(),
    tetrahedron(),
    differences(),
    direction(),
    rayleigh(),
    opposite_outputs(),
    linear_function(),
    two_norms(),
    hyperbola(),
    product_of_three(),
    height(),
    plane(),
    network(),
    classifier(),
    by_construction(),
]


@cache
def analysed(case: Case) -> liegg.Symmetries:
    """What `discover` finds for a case; computed once for all tests that a process runs."""
    return liegg.discover(case.function, case.data, case.action)


@dataclass(frozen=True, eq=False)
class EquivariantCase:
    """A map, candidates on both sides, and the pairs that must be found: `generators[i]` goes with `output_generators[i]`."""

    name: str
    function: Function
    action: Linear | Affine
    output_action: Linear | Affine
    data: Tensor
    generators: Tensor
    output_generators: Tensor

    def __str__(self) -> str:
        return self.name


def conjugated_map() -> EquivariantCase:
    # f(x, y) = x(1 + |y|²) + y(1 + |x|²) + x × y from R⁶ to R³, seen through S on the input and P on the output.
    # Let h = [[a, b], [c, d]]. Each degree of f is equivariant by itself. Degree 1: a + c = b + d = k. Degree 2: x × cx = 0 and
    # by × y = 0 make b, c multiples of 1, and (tr k - kᵀ - b - c)(x × y) = k(x × y) leaves k antisymmetric + (b + c)·1.
    # Degree 3 has no |x|²x and no |y|²y, so b = c = 0: a = d = k in so(3), and nothing else.
    into, out = regular(6), regular(3, seed=8)

    def function(u: Tensor) -> Tensor:
        x, y = (u @ into.mT).split(3, dim=1)
        inner = x * (1 + y.square().sum(1, keepdim=True)) + y * (
            1 + x.square().sum(1, keepdim=True)
        )
        return (inner + torch.linalg.cross(x, y)) @ out.mT

    turns = algebra.so(3)
    double = torch.stack([torch.block_diag(a, a) for a in turns])
    return EquivariantCase(
        "conjugated-so3",
        function,
        Linear(6),
        Linear(3),
        normal(300, 6) / 2,
        torch.linalg.inv(into) @ double @ into,
        out @ turns @ torch.linalg.inv(out),
    )


def centroid() -> EquivariantCase:
    # The mean of three points of the plane goes along with every affine motion, and with nothing else asked of it: aff(2), 6.
    return EquivariantCase(
        "centroid",
        lambda x: x.mean(1),
        Affine(2, copies=3),
        Affine(2),
        normal(200, 3, 2) + 1,
        algebra.aff(2),
        algebra.aff(2),
    )


def degenerate_outputs() -> EquivariantCase:
    # (s, s, 0) with s = |x|⁴ on R³: rotations leave it (partner 0), scaling multiplies it by 4; as s is all there is, the output
    # generator is known only on (1, 1, 0), and least squares takes the smallest: 4·vvᵀ with v = (1, 1, 0)/√2.
    def function(x: Tensor) -> Tensor:
        s = square(x) ** 2
        return torch.stack([s, s, torch.zeros_like(s)], dim=1)

    v = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64) / math.sqrt(2)
    outer = torch.cat([torch.zeros(3, 3, 3, dtype=torch.float64), 4 * torch.outer(v, v)[None]])
    return EquivariantCase(
        "degenerate-outputs",
        function,
        Linear(3),
        Linear(3),
        normal(200, 3),
        torch.cat([algebra.so(3), algebra.scaling(3)]),
        outer,
    )


def no_equivariance() -> EquivariantCase:
    # A random network commutes with no pair of linear motions.
    none = torch.zeros(0, 3, 3, dtype=torch.float64)
    return EquivariantCase(
        "network", mlp(3, 64, 64, 3), Linear(3), Linear(3), normal(300, 3), none, none
    )


EQUIVARIANT = [conjugated_map(), centroid(), degenerate_outputs(), no_equivariance()]


def numbered(batches, first: int = 0):
    """Batches, each with the number of its first sample, as a pass reads them."""
    for batch in batches:
        yield first, batch
        first += len(batch)
