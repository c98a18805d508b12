"""Traps of everyday models and data: heads, features and samples as they come from practice."""

from collections.abc import Callable

import torch
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import Function, normal, perceptron, pick
from liegg.studies.error_rates.traps_record import (
    POPULATION,
    Maker,
    Trap,
    more,
    nothing,
    uniform,
    unit,
)

SAMPLES = (300, 500, 1000)

Draw = Callable[[int, torch.Generator], Tensor]
"""Draws samples of a distribution."""


def radial(n: int, outputs: int, generator: torch.Generator) -> Function:
    """A network of the squared length."""
    head = perceptron((1, 16, outputs), generator, gain=2.5, activation="tanh")
    return lambda x: head(x.square().sum(1, keepdim=True) / n)


def drawn(draw: Draw, generator: torch.Generator) -> Callable[[], Tensor]:
    """A population of a distribution, drawn when it is needed."""
    seed = int(torch.randint(2**31, (), generator=generator))
    return lambda: draw(POPULATION, torch.Generator().manual_seed(seed))


def _trap(
    model: Function,
    n: int,
    draw: Draw,
    generator: torch.Generator,
    *,
    symmetric: bool,
    broken: bool = False,
    label: str = "",
    samples: int | None = None,
    decidable: bool = True,
) -> Trap:
    """A function of one vector with so(n), nearly so, or without any."""
    return Trap(
        model=model,
        data=draw(samples or pick(SAMPLES, generator), generator),
        action=Linear(n),
        algebra=catalog.so(n) if symmetric else nothing(n),
        broken=catalog.so(n) if broken else None,
        label=label,
        strict=symmetric and not broken,
        decidable=decidable,
        population=drawn(draw, generator),
    )


def _normal(n: int) -> Draw:
    return lambda count, generator: normal(count, n, generator)


def _either(n: int, outputs: int, generator: torch.Generator, index: int) -> tuple[Function, bool]:
    """A function of the length, or a network without symmetry, in turns."""
    if index % 2:
        return perceptron((n, 24, 24, outputs), generator, gain=2.5, activation="tanh"), False
    return radial(n, outputs, generator), True


def probabilities(generator: torch.Generator, index: int) -> Trap:
    """Softmax probabilities, whose sum is constant."""
    n, classes = pick((3, 4), generator), pick((2, 3, 10), generator)
    inner, symmetric = _either(n, classes, generator, index)
    steep = (1.0, 4.0, 12.0)[index % 3]
    return _trap(
        lambda x: (steep * inner(x)).softmax(1),
        n,
        _normal(n),
        generator,
        symmetric=symmetric,
        label=f"{classes} classes, logits × {steep:g}",
    )


def saturating(generator: torch.Generator, index: int) -> Trap:
    """A head that saturates: the output is flat at most samples."""
    n, steep = pick((3, 4), generator), (2.0, 8.0, 30.0)[index % 3]
    inner, symmetric = _either(n, 1, generator, index)
    head = torch.sigmoid if index % 4 < 2 else torch.tanh
    return _trap(
        lambda x: head(steep * inner(x)),
        n,
        _normal(n),
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
    return _trap(
        lambda x: size * shared(x) + own(x),
        n,
        _normal(n),
        generator,
        symmetric=False,
        broken=True,
        label=f"common part × {size:g}",
    )


def integers(generator: torch.Generator, index: int) -> Trap:
    """Features that are whole numbers: counts, grades, pixel values."""
    n, most = 3, (2, 5, 255)[index % 3]
    inner, symmetric = _either(n, 1, generator, index)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return torch.randint(-most, most + 1, (count, n), generator=drawn).double()

    return _trap(
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
    inner, symmetric = _either(n, 1, generator, index)
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
    inner, symmetric = _either(width, 1, generator, index)
    memory = (0.0, 0.9, 0.99)[index % 3]

    def draw(samples: int, drawn: torch.Generator) -> Tensor:
        noise, series = normal(samples + width + 50, 1, drawn)[:, 0], []
        value = noise[0]
        for step in noise:
            value = memory * value + (1 - memory**2) ** 0.5 * step
            series.append(value)
        return torch.stack(series)[50:].unfold(0, width, 1)[:samples]

    return _trap(
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

    def model(x: Tensor) -> Tensor:
        return torch.cos(order * (x[:, 0] - x[:, 1])) + strength * torch.sin(x[:, 0])

    algebra = unit(3, (0, 0), (0, 1), (0, 2)) + unit(3, (1, 0), (1, 1), (1, 2))

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return width * (2 * torch.rand(count, 2, generator=drawn, dtype=torch.float64) - 1)

    return Trap(
        model=model,
        data=draw(pick(SAMPLES, generator), generator),
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
    head = perceptron((3, 16, 1), generator, gain=2.5, activation="tanh")
    other = perceptron((n, 16, 1), generator, gain=2.5, activation="tanh")

    def model(x: Tensor) -> Tensor:
        large, small = x[:, :n], x[:, n:] / ratio
        products = [(a * b).sum(1) for a, b in ((large, large), (large, small), (small, small))]
        value = head(torch.stack(products, dim=1) / n)
        return value if symmetric else value + other(small)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        return normal(count, 2 * n, drawn) * torch.tensor([1.0] * n + [ratio] * n).double()

    return Trap(
        model=model,
        data=draw(pick(SAMPLES, generator), generator),
        action=Linear(n, copies=2),
        algebra=catalog.so(n) if symmetric else nothing(n),
        label=f"1 : {ratio:g}",
        strict=symmetric,
        population=drawn(draw, generator),
    )


def one_bad_component(generator: torch.Generator, index: int) -> Trap:
    """A vector that rotates with the input, but for an error in one component."""
    n, strength = 3, (0.0, 0.01, 0.1, 1.0)[index % 4]
    head = perceptron((1, 16, 1), generator, gain=2.5, activation="tanh")
    other = perceptron((n, 16, 1), generator, gain=2.5, activation="tanh")
    last = torch.tensor([0.0, 0.0, 1.0]).double()

    def model(x: Tensor) -> Tensor:
        weight = 1 + head(x.square().sum(1, keepdim=True) / n)
        return weight * x + strength * other(x) * last

    return Trap(
        model=model,
        data=normal(pick(SAMPLES, generator), n, generator),
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
    inner, symmetric = _either(n, outputs, generator, index)
    return _trap(
        inner,
        n,
        _normal(n),
        generator,
        symmetric=symmetric,
        label=f"{samples} samples, {outputs} outputs",
        samples=samples,
        decidable=False,
    )


def wide_samples(generator: torch.Generator, index: int) -> Trap:
    """Fewer samples than candidates."""
    n = pick((5, 6), generator)
    inner, symmetric = _either(n, 1 + index % 3, generator, index)
    samples = (n * n) // (2 - index % 2) - index % 5
    return _trap(
        inner,
        n,
        _normal(n),
        generator,
        symmetric=symmetric,
        label=f"{samples} samples, {n * n} candidates",
        samples=samples,
        decidable=False,
    )


def correlated(generator: torch.Generator, index: int) -> Trap:
    """Two features that are nearly equal."""
    n, apart = 3, (0.3, 0.03, 1e-3)[index % 3]
    inner, symmetric = _either(n, 1, generator, index)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        x[:, 1] = x[:, 0] + apart * x[:, 1]
        return x

    return _trap(inner, n, draw, generator, symmetric=symmetric, label=f"apart by {apart:g}")


def normalised(generator: torch.Generator, index: int) -> Trap:
    """A network of the direction of its input alone, with data of one length or of many."""
    n = pick((3, 4), generator)
    inner = perceptron((n, 24, 24, 1 + index % 2), generator, gain=2.5, activation="tanh")
    on_sphere = index % 2 == 0

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        return torch.nn.functional.normalize(x, dim=1) if on_sphere else x

    return Trap(
        model=lambda x: inner(torch.nn.functional.normalize(x, dim=1)),
        data=draw(pick(SAMPLES, generator), generator),
        action=Linear(n),
        algebra=torch.eye(n, dtype=torch.float64)[None],
        label="on a sphere" if on_sphere else "in space",
        strict=False,
        population=drawn(draw, generator),
    )


def layer_norm(generator: torch.Generator, index: int) -> Trap:
    """A network after a normalisation over the features, whose mean it removes."""
    n, regular = pick((3, 4), generator), (1e-12, 1e-5, 1e-2)[index % 3]
    inner = perceptron((n, 24, 24, 1), generator, gain=2.5, activation="tanh")
    ones = torch.zeros(n + 1, n + 1, n + 1, dtype=torch.float64)
    for j in range(n + 1):
        ones[j, :n, j] = 1
    scaling = torch.zeros(1, n + 1, n + 1, dtype=torch.float64)
    scaling[0, :n, :n] = torch.eye(n, dtype=torch.float64)
    return Trap(
        model=lambda x: inner(torch.nn.functional.layer_norm(x, (n,), eps=regular)),
        data=normal(pick(SAMPLES, generator), n, generator),
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
    return _trap(
        lambda x: inner(x) + 0.3 * torch.relu(x[:, :1] - gate) * x[:, 1:2],
        n,
        _normal(n),
        generator,
        symmetric=False,
        broken=True,
        label=f"above {gate:g}",
        samples=500,
    )


def attention(generator: torch.Generator, index: int) -> Trap:
    """Points pooled with weights of a softmax of their distances: rigid motions."""
    n, points = pick((2, 3), generator), 4
    head = perceptron((points, 16, 2), generator, gain=2.5, activation="tanh")
    dtype = (torch.float64, torch.float32)[index % 2]

    def model(x: Tensor) -> Tensor:
        cloud = x.reshape(len(x), points, n)
        square = (cloud[:, :, None] - cloud[:, None]).square().sum(3)
        pooled = ((-square).softmax(2) * square).sum(2)
        return head(pooled.double() / n).to(x.dtype)

    data = normal(pick(SAMPLES, generator), n * points, generator)
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
        data=normal(pick(SAMPLES, generator), n, generator).half(),
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

    return _trap(
        model,
        n,
        _normal(n),
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

    def model(x: Tensor) -> Tensor:
        return inner(x[:, :2]) + x[:, 2:] ** 2 if index % 2 == 0 else inner(x)

    def draw(count: int, drawn: torch.Generator) -> Tensor:
        x = normal(count, n, drawn)
        x[:, 2] = value
        return x

    algebra = unit(n, (0, 1)) - unit(n, (1, 0))
    return Trap(
        model=model,
        data=draw(pick(SAMPLES, generator), generator),
        action=Linear(n),
        algebra=algebra if index % 2 == 0 else nothing(n),
        label="rotations" if index % 2 == 0 else "none",
        strict=False,
        population=drawn(draw, generator),
    )


EVERYDAY: dict[str, Maker] = {
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
    "normalised inputs": normalised,
    "layer normalisation": layer_norm,
    "gates": gated,
    "attention over points": attention,
    "float16": half,
    "largest entry": largest_entry,
    "constant column": constant_column,
}
