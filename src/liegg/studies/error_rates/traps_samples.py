"""Traps in the data: samples that add no evidence, or that cover only part of the space."""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.asymmetric import function, nonlinear_function
from liegg.studies.error_rates.cases import (
    TRAP_SAMPLES,
    Maker,
    Trap,
    drawn,
    normal,
    nothing,
    orthogonal,
    pick,
    tanh_network,
    uniform,
    unit,
)
from liegg.studies.error_rates.symmetric import metric_invariants, of_invariants


def idle(generator: torch.Generator, index: int) -> Trap:
    """A function that depends on the input for a few samples only: at the others nearly nothing."""
    n, alive = pick((3, 4), generator), pick((4, 8, 12), generator)
    leak = (0.0, 1e-7, 1e-3)[index % 3]
    inner = nonlinear_function(n, 1, generator)
    samples = 300
    data = normal(samples, n, generator)
    data[:, 0] = -data[:, 0].abs() - 0.1
    data[torch.randperm(samples, generator=generator)[:alive], 0] *= -1
    return Trap(
        model=lambda x: torch.nn.functional.leaky_relu(x[:, :1], leak) * (2 + torch.tanh(inner(x))),
        data=data,
        action=Linear(n),
        algebra=nothing(n),
        label=f"{alive} of {samples}, others {leak:g}",
        decidable=False,
    )


def corners(generator: torch.Generator, index: int) -> Trap:
    """Binary samples: a few corners of a cube, each repeated many times."""
    n, samples = pick((2, 3, 4), generator), pick((100, 300, 1000), generator)
    inner = nonlinear_function(n, 1, generator)
    data = torch.randint(2, (samples, n), generator=generator).double()
    if index % 2:
        data = 2 * data - 1
    return Trap(
        model=inner,
        data=data,
        action=Linear(n),
        algebra=nothing(n),
        label=f"{2**n} corners",
        decidable=False,
    )


def clusters(generator: torch.Generator, index: int) -> Trap:
    """Tight clusters: hardly more evidence than their centres."""
    n, width = pick((3, 4), generator), (0.01, 0.001, 0.03, 0.0)[index % 4]
    count = pick((5, 8), generator)
    inner = nonlinear_function(n, 1, generator)
    centres = normal(count, n, generator)
    chosen = torch.randint(count, (500,), generator=generator)
    return Trap(
        model=inner,
        data=centres[chosen] + width * normal(500, n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"{count} of width {width:g}",
        decidable=False,
    )


def carriers(generator: torch.Generator, index: int) -> Trap:
    """A few samples carry nearly all of the sensitivity: a steep exponential, or a peak."""
    return (_peak, _exponential, _power)[index % 3](generator)


def _exponential(generator: torch.Generator) -> Trap:
    """The exponential of a function of the height and the distance to an axis."""
    steepness = uniform(2, 8, generator)
    tilt = uniform(0.3, 1, generator)
    return Trap(
        model=lambda x: torch.exp(steepness * (x[:, 0] + tilt * x[:, 1:].square().sum(1) / 2) / 2),
        data=normal(500, 3, generator),
        action=Linear(3),
        algebra=pad(catalog.so(2), (1, 0, 1, 0)),
        label=f"exponential, {steepness:.1f}",
        decidable=False,
    )


def _power(generator: torch.Generator) -> Trap:
    """A homogeneous polynomial of the height and the distance to an axis, of sizes over decades."""
    spread = uniform(1, 2, generator)
    slopes = normal(1, 2, generator)[0]

    def model(x: Tensor) -> Tensor:
        far = x[:, 1:].square().sum(1)
        return x[:, 0] ** 3 + slopes[0] * x[:, 0] * far + slopes[1] * x[:, 0] ** 2

    return Trap(
        model=model,
        data=normal(500, 3, generator) * (spread * normal(500, 1, generator)).exp(),
        action=Linear(3),
        algebra=pad(catalog.so(2), (1, 0, 1, 0)),
        label=f"power, spread {spread:.1f}",
        decidable=False,
    )


def _peak(generator: torch.Generator) -> Trap:
    """A high peak that a few samples are near."""
    n, near = pick((2, 3), generator), pick((3, 5, 8), generator)
    inner = nonlinear_function(n, 1, generator)
    data = normal(500, n, generator)
    peak = 6 * orthogonal(n, generator)[0]
    data[:near] = peak + 0.3 * normal(near, n, generator)

    def model(x: Tensor) -> Tensor:
        close = torch.exp(-(x - peak).square().sum(1, keepdim=True))
        return 100 * close * (2 + torch.tanh(inner(x))) + 0.05 * inner(x)

    return Trap(
        model=model,
        data=data,
        action=Linear(n),
        algebra=nothing(n),
        label=f"peak, {near} of 500",
        decidable=False,
    )


def rare(generator: torch.Generator, index: int) -> Trap:
    """Rotations that only rare samples violate: |x|² + 50 relu(x₀ − 2.8)²."""
    samples, border = (100, 100, 300, 1000)[index % 4], uniform(2.5, 3.0, generator)
    n = pick((3, 3, 2), generator)
    return Trap(
        model=lambda x: x.square().sum(1) + 50 * torch.relu(x[:, 0] - border).square(),
        data=normal(samples, n, generator),
        action=Linear(n),
        algebra=pad(catalog.so(n - 1), (1, 0, 1, 0)) if n > 2 else nothing(n),
        label=f"N = {samples}",
        decidable=False,
        violating=math.erfc(border / math.sqrt(2)) / 2,
    )


def repeated(generator: torch.Generator, index: int) -> Trap:
    """A few different samples, each copied many times."""
    n, different = pick((3, 4), generator), pick((6, 10, 20), generator)
    few = normal(different, n, generator)
    data = few.repeat(400 // different, 1)
    noise = (0.0, 1e-9)[index % 2]
    return Trap(
        model=nonlinear_function(n, 1, generator),
        data=data + noise * normal(len(data), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"{different} different",
        decidable=False,
    )


def few(generator: torch.Generator, index: int) -> Trap:
    """Hardly more samples than candidates."""
    n = pick((2, 3, 4), generator)
    samples = n * n + pick((0, 1, 2, 5), generator)
    return Trap(
        model=nonlinear_function(n, 1, generator),
        data=normal(samples, n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"{samples} for {n * n}",
        decidable=False,
    )


def tails(samples: int, width: int, kind: str, generator: torch.Generator) -> Tensor:
    """Samples with heavy tails, outliers, or of a mixture."""
    x = normal(samples, width, generator)
    if kind == "lognormal":
        return x * (1.2 * normal(samples, 1, generator)).exp()
    if kind == "Student":
        return (
            x
            / (normal(3 * samples, 1, generator).square().reshape(samples, 3).mean(1)).sqrt()[
                :, None
            ]
        )
    if kind == "outliers":
        rare = torch.rand(samples, 1, generator=generator) < 0.02
        return torch.where(rare, 10 * x, x)
    return torch.where(torch.rand(samples, 1, generator=generator) < 0.5, 0.2 * x + 1, x)


TAILS = ("lognormal", "Student", "outliers", "mixture")


def heavy_asymmetric(generator: torch.Generator, index: int) -> Trap:
    """Functions without symmetry on data with heavy tails."""
    n, kind = pick((2, 3, 4), generator), TAILS[index % len(TAILS)]
    inner = function("weights × 2.5", n, pick((1, 2), generator), generator)
    return Trap(
        model=inner,
        data=tails(pick((100, 300, 1000), generator), n, kind, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=kind,
    )


def heavy_symmetric(generator: torch.Generator, index: int) -> Trap:
    """Exact rotations on data with heavy tails."""
    n, kind, copies = pick((2, 3, 4), generator), TAILS[index % len(TAILS)], pick((1, 2), generator)
    inner = of_invariants(metric_invariants(n, copies=copies), 2, generator)
    return Trap(
        model=inner,
        data=tails(pick((100, 300, 1000), generator), n * copies, kind, generator),
        action=Linear(n, copies=copies),
        algebra=catalog.so(n),
        label=kind,
    )


def heavy_broken(generator: torch.Generator, index: int) -> Trap:
    """Rotations that are broken a little, on data with outliers or of a mixture."""
    n, kind = pick((2, 3), generator), ("outliers", "mixture")[index % 2]
    strength = uniform(3e-3, 0.1, generator, logarithmic=True)
    one = of_invariants(metric_invariants(n, copies=2), 2, generator)
    other = tanh_network((2 * n, 24, 24, 2), generator)
    population = drawn(lambda count, own: tails(count, 2 * n, kind, own), generator, 20_000)
    return Trap(
        model=lambda x: one(x) + strength * other(x),
        data=tails(pick((100, 300, 1000), generator), 2 * n, kind, generator),
        action=Linear(n, copies=2),
        algebra=nothing(n),
        broken=catalog.so(n),
        label=f"{kind}, ε = {strength:.1g}",
        strict=False,
        population=population,
    )


def distances(x: Tensor) -> Tensor:
    """Squared distances of all pairs of points `[b, k, n]`."""
    left, right = torch.triu_indices(x.shape[1], x.shape[1], 1)
    return (x[:, left] - x[:, right]).square().sum(2)


def planar(generator: torch.Generator, index: int) -> Trap:
    """Molecules in a plane, and a function of their distances: a rotation out of it is a shear, too."""
    atoms, tilted = pick((3, 4), generator), bool(index % 2)
    pairs = atoms * (atoms - 1) // 2
    head = tanh_network((pairs, 24, 24, 2), generator)
    points = normal(pick(TRAP_SAMPLES, generator) * atoms, 3, generator)
    points[:, 2] = 0
    if tilted:
        points = points @ orthogonal(3, generator)
    return Trap(
        model=lambda x: head(distances(x.reshape(len(x), atoms, 3)) / 2 - 2),
        data=points.reshape(-1, atoms * 3),
        action=Affine(3, copies=atoms),
        algebra=catalog.se(3),
        label="tilted" if tilted else "z = 0",
        names=("se(3)",),
    )


def subspace(generator: torch.Generator, index: int) -> Trap:
    """Rotations of R^n, seen on data in a subspace."""
    n, copies = pick((3, 4), generator), pick((2, 3), generator)
    inner = of_invariants(metric_invariants(n, copies=copies), 3, generator)
    data = normal(pick(TRAP_SAMPLES, generator) * copies, n, generator)
    data[:, -1] = 0
    if index % 2:
        data = data @ orthogonal(n, generator)
    return Trap(
        model=inner,
        data=data.reshape(-1, n * copies),
        action=Linear(n, copies=copies),
        algebra=catalog.so(n),
        names=(f"so({n})",),
        label=f"{n - 1} of {n}",
    )


def many_rows(generator: torch.Generator, index: int) -> Trap:
    """Few molecules, many force components: every sample is many constraints.

    Forces rotate with the molecule, and translations do not change them.
    """
    atoms, samples = 9, pick((14, 20, 30), generator)
    pull = 1 + torch.rand(atoms, atoms, generator=generator, dtype=torch.float64)
    pull = (pull + pull.mT) / 2
    equivariance = index % 2 == 0

    def model(x: Tensor) -> Tensor:
        points = x.reshape(len(x), atoms, 3)
        apart = points[:, :, None] - points[:, None]
        size = pull.to(x) * torch.exp(-apart.square().sum(3) / 4)
        return (size[..., None] * apart).sum(2).flatten(1)

    return Trap(
        model=model,
        data=normal(samples, atoms * 3, generator),
        action=Affine(3, copies=atoms),
        output_action=Linear(3, copies=atoms) if equivariance else None,
        algebra=catalog.se(3) if equivariance else catalog.translation(3),
        label=f"{samples} samples of {3 * atoms} forces",
    )


def many_outputs(generator: torch.Generator, index: int) -> Trap:
    """Few samples with many outputs, which depend on half of the features only."""
    n, samples = pick((4, 6), generator), pick((8, 12, 20, 40), generator)
    used = n // 2
    inner = tanh_network((used, 24, 40), generator)
    return Trap(
        model=lambda x: inner(x[:, :used]),
        data=normal(samples, n, generator),
        action=Linear(n),
        algebra=unit(n, *[(i, j) for i in range(used, n) for j in range(n)]),
        label=f"{samples} samples of 40 outputs for gl({n})",
    )


SAMPLE_TRAPS: dict[str, Maker] = {
    "idle samples": idle,
    "binary corners": corners,
    "tight clusters": clusters,
    "few samples carry the sensitivity": carriers,
    "rare violations": rare,
    "copied samples": repeated,
    "few samples": few,
    "heavy tails, no symmetry": heavy_asymmetric,
    "heavy tails, rotations": heavy_symmetric,
    "heavy tails, broken rotations": heavy_broken,
    "planar molecules": planar,
    "data in a subspace": subspace,
    "many rows per sample": many_rows,
    "many outputs per sample": many_outputs,
}
