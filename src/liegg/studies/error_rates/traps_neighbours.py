"""Functions next to a symmetry: discrete groups, other norms, almost equal axes, slow particles."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.asymmetric import function
from liegg.studies.error_rates.cases import (
    TRAP_SAMPLES,
    Maker,
    Trap,
    more,
    normal,
    nothing,
    perceptron,
    pick,
    uniform,
    unit,
)
from liegg.studies.error_rates.symmetric import metric_invariants, of_invariants


def discrete(generator: torch.Generator, index: int) -> Trap:
    """Even functions and sums over coordinates: large finite groups, and not a single generator."""
    n = pick((2, 3, 4), generator)
    shared = perceptron((1, 16, 16, 1), generator, gain=4.0, activation="tanh")
    inner = function("weights × 2.5", n, 1, generator)

    def model(x: Tensor) -> Tensor:
        if index % 3 == 0:
            return (x**4).sum(1)
        if index % 3 == 1:
            return inner(x) + inner(-x)
        return shared(x.reshape(-1, 1)).reshape(len(x), n).sum(1)

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=pick((Linear, Affine), generator)(n),
        algebra=nothing(n),
        label=("fourth powers", "even", "sum over coordinates")[index % 3],
        strict=False,
        population=more(n, generator),
    )


def other_norms(generator: torch.Generator, index: int) -> Trap:
    """Powers of p-norms with p near 2: rotations, broken by the exponent."""
    n = pick((2, 3), generator)
    power = 2 + uniform(0.01, 1, generator, logarithmic=True) * (1, -1)[index % 2] / 2
    return Trap(
        model=lambda x: torch.tanh((x.square() + 1e-3).pow(power / 2).sum(1) / n - 1),
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        broken=catalog.so(n),
        label=f"p = {power:.2f}",
        strict=False,
        population=more(n, generator),
    )


def almost_equal_axes(generator: torch.Generator, index: int) -> Trap:
    """Only rotations as candidates, of a quadratic form with two equal axes and one a bit longer."""
    longer = uniform(0.005, 0.5, generator, logarithmic=True)
    sizes = torch.tensor([1.0, 1.0, 1 + longer], dtype=torch.float64)
    rotations = catalog.so(3)
    return Trap(
        model=lambda x: torch.tanh((sizes * x.square()).sum(1) / 3),
        data=normal(pick(TRAP_SAMPLES, generator), 3, generator),
        action=Linear(3).restrict(rotations),
        algebra=pad(catalog.so(2), (0, 1, 0, 1)),
        broken=rotations[1:],
        label=f"longer by {longer:.2g}",
        strict=False,
        population=more(3, generator),
    )


def slow_particles(generator: torch.Generator, index: int) -> Trap:
    """Lorentz products of particles that hardly move: nearly all vectors are (m, 0, 0, 0)."""
    speed, copies = uniform(0.01, 0.3, generator, logarithmic=True), 2
    head = of_invariants(metric_invariants(1, 3, copies=copies), 3, generator)
    samples = pick(TRAP_SAMPLES, generator)
    mass = 1 + 0.3 * torch.rand(samples * copies, 1, generator=generator, dtype=torch.float64)
    space = speed * normal(samples * copies, 3, generator)
    energy = (mass.square() + space.square().sum(1, keepdim=True)).sqrt()
    return Trap(
        model=head,
        data=torch.cat([energy, space], dim=1).reshape(samples, 4 * copies),
        action=Linear(4, copies=copies),
        algebra=catalog.so(1, 3),
        label=f"speed {speed:.2g}",
        names=("so(1,3)",),
    )


def copied_feature(generator: torch.Generator, index: int) -> Trap:
    """A feature that is a copy of another, of which the function reads one or the sum."""
    n = pick((2, 3), generator)
    inner = function("weights × 2.5", n, 2, generator)
    both = bool(index % 2)

    def model(x: Tensor) -> Tensor:
        first = (x[:, :1] + x[:, n:]) / 2 if both else x[:, :1]
        return inner(torch.cat([first, x[:, 1:n]], dim=1))

    data = normal(pick(TRAP_SAMPLES, generator), n, generator)
    rows = unit(n + 1, *[(n, j) for j in range(n + 1)])
    if both:
        rows = rows - unit(n + 1, *[(0, j) for j in range(n + 1)])
    return Trap(
        model=model,
        data=torch.cat([data, data[:, :1]], dim=1),
        action=Linear(n + 1),
        algebra=rows,
        label="sum" if both else "one of them",
    )


NEIGHBOUR_TRAPS: dict[str, Maker] = {
    "discrete symmetries": discrete,
    "other norms": other_norms,
    "almost equal axes": almost_equal_axes,
    "slow particles": slow_particles,
    "copied feature": copied_feature,
}
