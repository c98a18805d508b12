"""Functions with less common algebras, and algebras beside which another name lies close."""

from collections.abc import Callable
from math import log

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import (
    TRAP_SAMPLES,
    Maker,
    Trap,
    more,
    normal,
    nothing,
    orthogonal,
    pick,
    tanh_network,
    uniform,
    unit,
)
from liegg.studies.error_rates.symmetric import (
    Invariants,
    change_of_basis,
    conjugated,
    determinants,
    differences,
    inner_products,
    joined,
    metric_invariants,
    metric_products,
    motion_invariants,
    of_invariants,
    symplectic_products,
)


def _complex_determinant(x: Tensor) -> Tensor:
    """Real and imaginary part of the determinant of two vectors of C², (Re, Im) each."""
    a, b, c, d = (torch.complex(x[:, k, i], x[:, k, i + 2]) for k in (0, 1) for i in (0, 1))
    found = a * d - b * c
    return torch.stack([found.real, found.imag], dim=1)


def _ratios(x: Tensor) -> Tensor:
    """Inner products relative to the length of the sample, which scaling does not change."""
    return metric_products(x.shape[2])(x) / x.square().sum((1, 2))[:, None]


def _jordan(x: Tensor) -> Tensor:
    """Invariants of two vectors (a, b, c) under N and N², N the nilpotent block of side 3."""
    (a, b, c), (a2, b2, c2) = x[:, 0].unbind(1), x[:, 1].unbind(1)
    area = b * c2 - b2 * c
    return torch.stack([c, c2, area, (a * c2 - a2 * c) * c - b * area], dim=1)


def _galilei(x: Tensor) -> Tensor:
    """Differences of time of three events (t, x), and the area that they span."""
    time, place = differences(x).unbind(2)
    area = time[:, 0] * place[:, 1] - time[:, 1] * place[:, 0]
    return torch.cat([time, area[:, None]], dim=1)


def _spiral(x: Tensor) -> Tensor:
    """The angle of a point of the plane less the logarithm of its length."""
    turned = torch.atan2(x[:, 0, 1], x[:, 0, 0]) - 0.5 * x[:, 0].square().sum(1).log()
    return torch.stack([turned.cos(), turned.sin()], dim=1)


def _affine_line(x: Tensor) -> Tensor:
    """Ratios of differences of the first coordinate of three points, and the second coordinates."""
    first = x[:, :, 0]
    ratio = torch.atan2(first[:, 2] - first[:, 0], first[:, 1] - first[:, 0])
    return torch.cat([(2 * ratio).cos()[:, None], (2 * ratio).sin()[:, None], x[:, :, 1]], dim=1)


def _shapes(x: Tensor) -> Tensor:
    """The same of differences: rotations, translations and scaling preserve them."""
    return _ratios(differences(x))


def _homogeneous(matrices: Tensor) -> Tensor:
    return pad(matrices, (0, 1, 0, 1))


_SL2 = catalog.sl(2)
_SPIRAL = (torch.eye(2, dtype=torch.float64) + catalog.so(2)[0])[None]
_JORDAN = torch.stack([unit(3, (0, 1), (1, 2)).sum(0), unit(3, (0, 2))[0]])


def _torus(n: int) -> Invariants:
    """Scalings of the coordinates that preserve their product."""
    axes = torch.eye(n, dtype=torch.float64)
    algebra = torch.diag_embed(axes[:-1] - axes[1:])
    return Invariants(n, 1, algebra, lambda x: x[:, 0].prod(1, keepdim=True))


TRAP_ALGEBRAS: dict[str, Callable[[], Invariants]] = {
    "su(2)": lambda: Invariants(
        4, 2, catalog.su(2), joined(metric_products(4), symplectic_products, _complex_determinant)
    ),
    "u(1, 1)": lambda: Invariants(
        4,
        2,
        catalog.u(1, 1),
        joined(inner_products(torch.tensor([1.0, -1, 1, -1])), _indefinite_area),
    ),
    "so(3) ⊕ scaling": lambda: Invariants(
        3, 2, torch.cat([catalog.so(3), catalog.scaling(3)]), _ratios
    ),
    "so(4) ⊕ scaling": lambda: Invariants(
        4, 3, torch.cat([catalog.so(4), catalog.scaling(4)]), _ratios
    ),
    "similarities of the plane": lambda: Invariants(
        2, 3, torch.cat([catalog.se(2), _homogeneous(catalog.scaling(2))]), _shapes, affine=True
    ),
    "similarities of space": lambda: Invariants(
        3, 4, torch.cat([catalog.se(3), _homogeneous(catalog.scaling(3))]), _shapes, affine=True
    ),
    "torus of three": lambda: _torus(3),
    "torus of four": lambda: _torus(4),
    "boost": lambda: _torus(2),
    "Galilei": lambda: Invariants(
        2, 3, torch.cat([unit(3, (1, 0)), catalog.translation(2)]), _galilei, affine=True
    ),
    "heis(3)": lambda: Invariants(3, 3, catalog.heis(3), _flags),
    "N and N²": lambda: Invariants(3, 2, _JORDAN, _jordan),
    "shear": lambda: Invariants(2, 2, unit(2, (0, 1)), joined(lambda x: x[:, :, 1], determinants)),
    "area-preserving affine maps": lambda: Invariants(
        2,
        4,
        torch.cat([_homogeneous(_SL2), catalog.translation(2)]),
        lambda x: determinants(differences(x)),
        affine=True,
    ),
    "Poincaré": lambda: motion_invariants(1, 3, copies=3),
    "spiral": lambda: Invariants(2, 1, _SPIRAL, _spiral),
    "aff(1)": lambda: Invariants(2, 3, unit(3, (0, 0), (0, 2)), _affine_line, affine=True),
    "so(3) ⊕ sl(2)": lambda: Invariants(
        5,
        2,
        catalog.direct_sum(catalog.so(3), _SL2),
        joined(lambda x: metric_products(3)(x[:, :, :3]), lambda x: determinants(x[:, :, 3:])),
    ),
    "so(2) ⊕ so(2)": lambda: Invariants(
        4,
        1,
        catalog.direct_sum(catalog.so(2), catalog.so(2)),
        lambda x: torch.stack([x[:, 0, :2].square().sum(1), x[:, 0, 2:].square().sum(1)], dim=1),
    ),
    "sp(4) ⊕ so(2)": lambda: Invariants(
        6,
        2,
        catalog.direct_sum(catalog.sp(4), catalog.so(2)),
        joined(
            lambda x: symplectic_products(x[:, :, :4]), lambda x: metric_products(2)(x[:, :, 4:])
        ),
    ),
    "sl(2) on two planes": lambda: Invariants(
        4,
        2,
        catalog.direct_sum(_SL2, _SL2),
        joined(lambda x: determinants(x[:, :, :2]), lambda x: determinants(x[:, :, 2:])),
    ),
    "so(1, 4)": lambda: metric_invariants(1, 4, copies=2),
    "translations along a plane": lambda: Invariants(
        3,
        2,
        unit(4, (0, 3), (1, 3)),
        joined(lambda x: differences(x).flatten(1), lambda x: x[:, :, 2]),
        affine=True,
    ),
}
"""Sets of invariants with the complete algebra that preserves them."""


def _indefinite_area(x: Tensor) -> Tensor:
    """Imaginary part of the Hermitian product of signature (1, 1)."""
    signs = torch.tensor([1.0, -1.0]).to(x)
    (q, p), (q2, p2) = x[:, 0].chunk(2, dim=1), x[:, 1].chunk(2, dim=1)
    return (signs * (q * p2 - p * q2)).sum(1, keepdim=True)


def _flags(x: Tensor) -> Tensor:
    """Last coordinates, areas of the last two, and the volume, of three vectors."""
    return torch.cat([x[:, :, 2], determinants(x[:, :, 1:]), determinants(x)], dim=1)


def exact_algebras(generator: torch.Generator, index: int) -> Trap:
    """A network of invariants, every second in a random basis, one in three in float32."""
    kind = list(TRAP_ALGEBRAS)[index % len(TRAP_ALGEBRAS)]
    chosen = TRAP_ALGEBRAS[kind]()
    basis = torch.eye(chosen.n, dtype=torch.float64)
    if index // len(TRAP_ALGEBRAS) % 2:
        basis = change_of_basis(chosen.n, generator)
    dtype = pick((torch.float64, torch.float64, torch.float32), generator)
    outputs = pick((3, 5), generator)
    model = of_invariants(chosen, outputs, generator, basis=basis, dtype=dtype)
    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), chosen.n * chosen.copies, generator, dtype),
        action=(Affine if chosen.affine else Linear)(chosen.n, copies=chosen.copies),
        algebra=conjugated(chosen.algebra, basis),
        label=kind,
    )


def commuting_shears(generator: torch.Generator, index: int) -> Trap:
    """Two commuting shears beside two scalings, in a rotated basis: close to aff(1), but abelian."""
    turn = orthogonal(4, generator)
    dtype = (torch.float32, torch.float64, torch.bfloat16)[index % 3]
    frequency = uniform(1, 3, generator)

    def model(x: Tensor) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        _, second, _, fourth = (x.to(wide) @ turn.mT.to(x.dtype).to(wide)).unbind(1)
        return (torch.sin(frequency * second) + fourth**3 + second * fourth).to(x.dtype)

    candidates = turn.mT @ unit(4, (0, 1), (2, 3), (1, 1), (3, 3)) @ turn
    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), 4, generator, dtype),
        action=Linear(4).restrict(candidates),
        algebra=candidates[:2],
        label=str(dtype).removeprefix("torch."),
    )


def stretched(generator: torch.Generator, index: int) -> Trap:
    """Rotations in coordinates of different size, learned up to a small part: se(2) lies close."""
    n, stretch = 3, 10.0 ** uniform(0.5, 2, generator)
    sizes = torch.tensor([1.0, 1.0, stretch], dtype=torch.float64)
    basis = (1 / sizes).diag()
    strength = (0.0, 1e-4, 1e-3)[index % 3]
    one = of_invariants(metric_invariants(n, copies=2), 2, generator)
    other = tanh_network((2 * n, 24, 24, 2), generator)
    matrix = torch.block_diag(basis, basis)

    def model(x: Tensor) -> Tensor:
        x = x @ matrix
        return one(x) + strength * other(x)

    data = normal(pick(TRAP_SAMPLES, generator), 2 * n, generator) * sizes.repeat(2)
    algebra, population = conjugated(catalog.so(n), basis), more(2 * n, generator)
    return Trap(
        model=model,
        data=data,
        action=Linear(n, copies=2),
        algebra=nothing(n) if strength else algebra,
        broken=algebra if strength else None,
        label=f"{stretch:.0f} : 1, ε = {strength:g}",
        population=lambda: population() * sizes.repeat(2),
        names=("so(3)",),
    )


def spirals(rate: float) -> Float[Tensor, "3 3 3"]:
    """A rotation of the plane with a scaling, and the translations."""
    turn = rate * torch.eye(2, dtype=torch.float64) + catalog.so(2)[0]
    return torch.cat([_homogeneous(turn[None]), catalog.translation(2)])


def scaled_rotation(generator: torch.Generator, index: int) -> Trap:
    """A rotation with a tiny scaling, beside translations: not a rotation of the plane."""
    rate = 10.0 ** uniform(-7, -1, generator)

    def invariant(x: Tensor) -> Tensor:
        x = x.reshape(len(x), 3, 2)
        apart = differences(x)
        length = apart.square().sum(2)
        angle = torch.atan2(apart[:, 0, 1], apart[:, 0, 0]) - length[:, 0].log() / (2 * rate)
        ratio = (length[:, 1] / (length[:, 0] + length[:, 1])).unsqueeze(1)
        cross = apart[:, 0, 0] * apart[:, 1, 1] - apart[:, 0, 1] * apart[:, 1, 0]
        turn = torch.atan2(cross, (apart[:, 0] * apart[:, 1]).sum(1)).unsqueeze(1)
        # The angle is fast where the rate is small; its weight keeps the derivative of order one.
        return torch.cat([ratio, turn.sin(), min(1.0, rate) * angle.unsqueeze(1)], dim=1)

    data = normal(pick(TRAP_SAMPLES, generator), 6, generator)
    data[:, 2] = data[:, 0] + 0.3 + data[:, 2].abs()  # the angle of the difference never jumps
    return Trap(
        model=invariant,
        data=data,
        action=Affine(2, copies=3),
        algebra=spirals(rate),
        label=f"rate {rate:.1g}",
        names=("Bianchi VII (h = *)",),
    )


def speed_of_light(generator: torch.Generator, index: int) -> Trap:
    """Lorentz products in units where light is fast: so(1,3), close to the Galilei group."""
    light, copies = 10.0 ** uniform(0, 3, generator), 2
    basis = torch.diag(torch.tensor([1.0, 1 / light, 1 / light, 1 / light], dtype=torch.float64))
    inner = of_invariants(metric_invariants(1, 3, copies=copies), 3, generator)
    matrix = torch.block_diag(basis, basis)
    return Trap(
        model=lambda x: inner(x @ matrix),
        data=normal(pick(TRAP_SAMPLES, generator), 8, generator) @ torch.linalg.inv(matrix),
        action=Linear(4, copies=copies),
        algebra=conjugated(catalog.so(1, 3), basis),
        label=f"10^{log(light, 10):.1f}",
        names=("so(1,3)",),
    )


ALGEBRA_TRAPS: dict[str, Maker] = {
    "less common algebras": exact_algebras,
    "commuting shears": commuting_shears,
    "stretched rotations": stretched,
    "rotation with a tiny scaling": scaled_rotation,
    "fast light": speed_of_light,
}
