"""Traps of everyday models and data: heads, features and samples as they come from practice."""

import torch
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import (
    TRAP_SAMPLES,
    Draw,
    Function,
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
    unit,
)


def radial(n: int, outputs: int, generator: torch.Generator) -> Function:
    """A network of the squared length."""
    head = tanh_network((1, 16, outputs), generator)
    return lambda x: head(x.square().sum(1, keepdim=True) / n)


def everyday(
    model: Function,
    n: int,
    draw: Draw,
    generator: torch.Generator,
    *,
    symmetric: bool | None,
    label: str = "",
    samples: int | None = None,
    decidable: bool = True,
) -> Trap:
    """A function of one vector with so(n), without any symmetry, or (None) nearly with so(n)."""
    return Trap(
        model=model,
        data=draw(samples or pick(TRAP_SAMPLES, generator), generator),
        action=Linear(n),
        algebra=catalog.so(n) if symmetric else nothing(n),
        broken=catalog.so(n) if symmetric is None else None,
        label=label,
        strict=symmetric is True,
        decidable=decidable,
        population=drawn(draw, generator),
    )


def either(n: int, outputs: int, generator: torch.Generator, index: int) -> tuple[Function, bool]:
    """A function of the length, or a network without symmetry, in turns."""
    if index % 2:
        return tanh_network((n, 24, 24, outputs), generator), False
    return radial(n, outputs, generator), True


def probabilities(generator: torch.Generator, index: int) -> Trap:
    """Softmax probabilities, whose sum is constant."""
    n, classes = pick((3, 4), generator), pick((2, 3, 10), generator)
    inner, symmetric = either(n, classes, generator, index)
    steep = (1.0, 4.0, 12.0)[index % 3]
    return everyday(
        lambda x: (steep * inner(x)).softmax(1),
        n,
        normal_draws(n),
        generator,
        symmetric=symmetric,
        label=f"{classes} classes, logits × {steep:g}",
    )


def saturating(generator: torch.Generator, index: int) -> Trap:
    """A head that saturates: the output is flat at most samples."""
    n, steep = pick((3, 4), generator), (2.0, 8.0, 30.0)[index % 3]
    inner, symmetric = either(n, 1, generator, index)
    head = torch.sigmoid if index % 4 < 2 else torch.tanh
    return everyday(
        lambda x: head(steep * inner(x)),
        n,
        normal_draws(n),
        generator,
        symmetric=symmetric,
        label=f"× {steep:g}",
    )


def common_mode(generator: torch.Generator, index: int) -> Trap:
    """Outputs that share a large symmetric part, and differ by a small one without symmetry."""
    n, outputs, size = (
        pick((3, 4), generator),
        pick((2, 5), generator),
        (3.0, 30.0, 1000.0)[index % 3],
    )
    shared, own = radial(n, 1, generator), perceptron((n, 24, 24, outputs), generator, gain=2.5)
    return everyday(
        lambda x: size * shared(x) + own(x),
        n,
        normal_draws(n),
        generator,
        symmetric=None,
        label=f"common part × {size:g}",
    )


def integers(generator: torch.Generator, index: int) -> Trap:
    """Features that are whole numbers: counts, grades, pixel values."""
    n, most = 3, (2, 5, 255)[index % 3]
    inner, symmetric = either(n, 1, generator, index)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return torch.randint(-most, most + 1, (count, n), generator=drawn).double()

    return everyday(
        lambda x: inner(x / most * 1.5),
        n,
        draw,
        generator,
        symmetric=symmetric,
        label=f"−{most} to {most}",
    )


def lattice(generator: torch.Generator, index: int) -> Trap:
    """Samples on a regular grid, which has many symmetries of its own."""
    n, side = 3, (3, 5, 8)[index % 3]
    inner, symmetric = either(n, 1, generator, index)
    axis = torch.linspace(-2, 2, side, dtype=torch.float64)
    grid = torch.cartesian_prod(*[axis] * n)
    return Trap(
        model=inner,
        data=grid,
        action=Linear(n),
        algebra=catalog.so(n) if symmetric else nothing(n),
        label=f"{len(grid)} points",
        strict=symmetric,
        decidable=side > 3,
        population=lambda: grid,
    )


def windows(generator: torch.Generator, index: int) -> Trap:
    """Overlapping windows of one series: neighbours share all numbers but one."""
    width, count = 4, pick((300, 1000), generator)
    inner, symmetric = either(width, 1, generator, index)
    memory = (0.0, 0.9, 0.99)[index % 3]

    def draw(samples: int, drawn: torch.Generator) -> Tensor:
        noise, series = normal(samples + width + 50, 1, drawn)[:, 0], []
        value = noise[0]
        for step in noise:
            value = memory * value + (1 - memory**2) ** 0.5 * step
            series.append(value)
        return torch.stack(series)[50:].unfold(0, width, 1)[:samples]

    return everyday(
        inner,
        width,
        draw,
        generator,
        symmetric=symmetric,
        label=f"memory {memory:g}",
        samples=count,
    )


def phases(generator: torch.Generator, index: int) -> Trap:
    """A periodic function of a difference of two phases, with or without one phase alone."""
    strength = (0.0, 0.01, 0.3)[index % 3]
    order, width = 1 + index % 4, pick((0.5, 3.0, 30.0), generator)
    algebra = unit(3, (0, 0), (0, 1), (0, 2)) + unit(3, (1, 0), (1, 1), (1, 2))

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return width * (2 * torch.rand(count, 2, generator=drawn, dtype=torch.float64) - 1)

    return Trap(
        model=lambda x: torch.cos(order * (x[:, 0] - x[:, 1])) + strength * torch.sin(x[:, 0]),
        data=draw(pick(TRAP_SAMPLES, generator), generator),
        action=Affine(2),
        algebra=nothing(3) if strength else algebra,
        broken=algebra if strength == 0.01 else None,
        label=f"ε = {strength:g}, ±{width:g}",
        strict=not strength,
        population=drawn(draw, generator),
    )


def scales_of_copies(generator: torch.Generator, index: int) -> Trap:
    """Two vectors of very different lengths; the small one alone may break the rotations."""
    n, ratio = 3, (1e-1, 1e-2, 1e-3)[index % 3]
    symmetric = index % 2 == 0
    head = tanh_network((3, 16, 1), generator)
    other = tanh_network((n, 16, 1), generator)

    def model(x: Tensor) -> Tensor:
        large, small = x[:, :n], x[:, n:] / ratio
        products = [(a * b).sum(1) for a, b in ((large, large), (large, small), (small, small))]
        value = head(torch.stack(products, dim=1) / n)
        return value if symmetric else value + other(small)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return normal(count, 2 * n, drawn) * torch.tensor([1.0] * n + [ratio] * n).double()

    return Trap(
        model=model,
        data=draw(pick(TRAP_SAMPLES, generator), generator),
        action=Linear(n, copies=2),
        algebra=catalog.so(n) if symmetric else nothing(n),
        label=f"1 : {ratio:g}",
        strict=symmetric,
        population=drawn(draw, generator),
    )


def one_bad_component(generator: torch.Generator, index: int) -> Trap:
    """A vector that rotates with the input, but for an error in one component."""
    n, strength = 3, (0.0, 0.01, 0.1, 1.0)[index % 4]
    head = tanh_network((1, 16, 1), generator)
    other = tanh_network((n, 16, 1), generator)
    last = torch.tensor([0.0, 0.0, 1.0]).double()

    def model(x: Tensor) -> Tensor:
        weight = 1 + head(x.square().sum(1, keepdim=True) / n)
        return weight * x + strength * other(x) * last

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=Linear(n),
        output_action=Linear(n),
        algebra=nothing(n) if strength else catalog.so(n),
        broken=catalog.so(n) if strength else None,
        label=f"ε = {strength:g}",
        strict=False,
        population=more(n, generator),
    )


def tiny_sets(generator: torch.Generator, index: int) -> Trap:
    """Two to twelve samples, of one output or of many."""
    n, outputs, samples = 3, (1, 1, 12)[index % 3], 2 + index % 11
    inner, symmetric = either(n, outputs, generator, index)
    return everyday(
        inner,
        n,
        normal_draws(n),
        generator,
        symmetric=symmetric,
        label=f"{samples} samples, {outputs} outputs",
        samples=samples,
        decidable=False,
    )


def wide_samples(generator: torch.Generator, index: int) -> Trap:
    """Fewer samples than candidates."""
    n = pick((5, 6), generator)
    inner, symmetric = either(n, 1 + index % 3, generator, index)
    samples = (n * n) // (2 - index % 2) - index % 5
    return everyday(
        inner,
        n,
        normal_draws(n),
        generator,
        symmetric=symmetric,
        label=f"{samples} samples, {n * n} candidates",
        samples=samples,
        decidable=False,
    )


def correlated(generator: torch.Generator, index: int) -> Trap:
    """Two features that are nearly equal."""
    n, apart = 3, (0.3, 0.03, 1e-3)[index % 3]
    inner, symmetric = either(n, 1, generator, index)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        x[:, 1] = x[:, 0] + apart * x[:, 1]
        return x

    return everyday(inner, n, draw, generator, symmetric=symmetric, label=f"apart by {apart:g}")


EVERYDAY_TRAPS: dict[str, Maker] = {
    "softmax probabilities": probabilities,
    "saturating heads": saturating,
    "large common part": common_mode,
    "whole numbers": integers,
    "regular grids": lattice,
    "windows of a series": windows,
    "phases": phases,
    "copies of different scales": scales_of_copies,
    "one bad component": one_bad_component,
    "tiny sets": tiny_sets,
    "fewer samples than candidates": wide_samples,
    "nearly equal features": correlated,
}
