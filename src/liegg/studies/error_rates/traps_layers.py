"""Traps of everyday layers: normalisation, gates, attention, half precision, the largest entry, a constant column."""

import torch
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import (
    TRAP_SAMPLES,
    Maker,
    Trap,
    drawn,
    more,
    normal,
    normal_draws,
    nothing,
    perceptron,
    pick,
    tanh_network,
    uniform,
    unit,
)
from liegg.studies.error_rates.traps_everyday import everyday, radial


def normalised(generator: torch.Generator, index: int) -> Trap:
    """A network of the direction of its input alone, with data of one length or of many."""
    n = pick((3, 4), generator)
    inner = tanh_network((n, 24, 24, 1 + index % 2), generator)
    on_sphere = index % 2 == 0

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        return torch.nn.functional.normalize(x, dim=1) if on_sphere else x

    return Trap(
        model=lambda x: inner(torch.nn.functional.normalize(x, dim=1)),
        data=draw(pick(TRAP_SAMPLES, generator), generator),
        action=Linear(n),
        algebra=torch.eye(n, dtype=torch.float64)[None],
        label="on a sphere" if on_sphere else "in space",
        strict=False,
        population=drawn(draw, generator),
    )


def layer_norm(generator: torch.Generator, index: int) -> Trap:
    """A network after a normalisation over the features, whose mean it removes."""
    n, regular = pick((3, 4), generator), (1e-12, 1e-5, 1e-2)[index % 3]
    inner = tanh_network((n, 24, 24, 1), generator)
    ones = torch.zeros(n + 1, n + 1, n + 1, dtype=torch.float64)
    for j in range(n + 1):
        ones[j, :n, j] = 1
    scaling = torch.zeros(1, n + 1, n + 1, dtype=torch.float64)
    scaling[0, :n, :n] = torch.eye(n, dtype=torch.float64)
    return Trap(
        model=lambda x: inner(torch.nn.functional.layer_norm(x, (n,), eps=regular)),
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=Affine(n),
        algebra=ones,
        broken=scaling,
        label=f"n = {n}, ε = {regular:g}",
        strict=False,
        population=more(n, generator),
    )


def gated(generator: torch.Generator, index: int) -> Trap:
    """Symmetric but for a gate that a share of the samples opens."""
    n, gate = 3, (0.0, 1.0, 2.0)[index % 3]
    inner = radial(n, 1, generator)
    return everyday(
        lambda x: inner(x) + 0.3 * torch.relu(x[:, :1] - gate) * x[:, 1:2],
        n,
        normal_draws(n),
        generator,
        symmetric=None,
        label=f"above {gate:g}",
        samples=500,
    )


def attention(generator: torch.Generator, index: int) -> Trap:
    """Points pooled with weights of a softmax of their distances: rigid motions."""
    n, points = pick((2, 3), generator), 4
    head = tanh_network((points, 16, 2), generator)
    dtype = (torch.float64, torch.float32)[index % 2]

    def model(x: Tensor) -> Tensor:
        cloud = x.reshape(len(x), points, n)
        square = (cloud[:, :, None] - cloud[:, None]).square().sum(3)
        pooled = ((-square).softmax(2) * square).sum(2)
        return head(pooled.double() / n).to(x.dtype)

    data = normal(pick(TRAP_SAMPLES, generator), n * points, generator)
    return Trap(
        model=model,
        data=data.to(dtype),
        action=Affine(n, copies=points),
        algebra=catalog.se(n),
        label=str(dtype).removeprefix("torch."),
    )


def half(generator: torch.Generator, index: int) -> Trap:
    """Functions in float16, symmetric, nearly so, or not at all."""
    n, strength = 3, (0.0, 0.03, 1.0)[index % 3]
    other = perceptron((n, 16, 1), generator, gain=2.5)

    def model(x: Tensor) -> Tensor:
        square = (x * x).sum(1, keepdim=True) / n
        return torch.sin(2 * square) + 0.5 * square + (strength * other(x.double())).to(x.dtype)

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), n, generator).half(),
        action=Linear(n),
        algebra=nothing(n) if strength else catalog.so(n),
        broken=catalog.so(n) if strength else None,
        label=f"ε = {strength:g}",
        strict=False,
        population=more(n, generator),
    )


def largest_entry(generator: torch.Generator, index: int) -> Trap:
    """The largest entry, a smooth maximum, or a sorted sum: kinks and permutations, no rotations."""
    n, kind = pick((3, 4), generator), index % 3
    weights = torch.rand(n, generator=generator, dtype=torch.float64) + 0.2

    def model(x: Tensor) -> Tensor:
        if kind == 0:
            return x.abs().amax(1)
        if kind == 1:
            return torch.logsumexp(3 * x.abs(), 1)
        return x.sort(1).values @ weights

    return everyday(
        model,
        n,
        normal_draws(n),
        generator,
        symmetric=False,
        label=("largest", "smooth", "sorted")[kind],
    )


def constant_column(generator: torch.Generator, index: int) -> Trap:
    """A feature that is the same in all samples, and that the function uses."""
    n, value = 3, uniform(0.5, 5, generator)
    inner = (
        radial(2, 1, generator) if index % 2 == 0 else perceptron((n, 24, 1), generator, gain=2.5)
    )

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        x[:, 2] = value
        return x

    algebra = unit(n, (0, 1)) - unit(n, (1, 0))
    return Trap(
        model=lambda x: inner(x[:, :2]) + x[:, 2:] ** 2 if index % 2 == 0 else inner(x),
        data=draw(pick(TRAP_SAMPLES, generator), generator),
        action=Linear(n),
        algebra=algebra if index % 2 == 0 else nothing(n),
        label="rotations" if index % 2 == 0 else "none",
        strict=False,
        population=drawn(draw, generator),
    )


LAYER_TRAPS: dict[str, Maker] = {
    "normalised inputs": normalised,
    "layer normalisation": layer_norm,
    "gates": gated,
    "attention over points": attention,
    "float16": half,
    "largest entry": largest_entry,
    "constant column": constant_column,
}
