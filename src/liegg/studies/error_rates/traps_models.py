"""Traps of the function: broken, accidental and approximate symmetries, and precision."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates import broken as breaking
from liegg.studies.error_rates.asymmetric import asymmetric, confined, function, polynomial
from liegg.studies.error_rates.cases import (
    FEWER_SAMPLES,
    Case,
    Function,
    Maker,
    Trap,
    drawn,
    more,
    normal,
    nothing,
    perceptron,
    pick,
    tanh_network,
    uniform,
    unit,
)
from liegg.studies.error_rates.symmetric import exact, metric_invariants, of_invariants


def _seed(generator: torch.Generator) -> int:
    return int(torch.randint(1, 2000, (), generator=generator))


def _of_case(case: Case, population: Callable[[], Tensor] | None = None) -> Trap:
    """A case of the study of false discoveries as a trap."""
    return Trap(
        model=case.model,
        data=case.data,
        action=case.action,
        algebra=case.algebra,
        label=case.kind,
        strict=population is None,
        population=population,
    )


def _broken(
    kind: str, strength: float, samples: tuple[int, ...], generator: torch.Generator, *, label: str
) -> Trap:
    """An invariant network plus ε times another: the defects are proportional to ε²."""
    seed, draw = 100 + _seed(generator), int(torch.randint(10**6, (), generator=generator))
    case = breaking.broken(kind, strength, pick(samples, generator), seed=seed, draw=draw)
    trap = _of_case(case, more(case.data.shape[1], generator))
    return replace(trap, algebra=case.algebra[:0], broken=case.algebra, label=label)


def random_functions(generator: torch.Generator, index: int) -> Trap:
    """Random networks and polynomials without symmetry."""
    case = asymmetric(index, seed=100 + _seed(generator))
    population = more(case.data.shape[1], generator, 4000)
    return _of_case(case, lambda: population().to(case.data.dtype))


def confined_functions(generator: torch.Generator, index: int) -> Trap:
    """Random functions on data that fills only a part of space."""
    return _of_case(confined(index, seed=100 + _seed(generator)))


def invariant_networks(generator: torch.Generator, index: int) -> Trap:
    """Networks of the invariants of classical groups, every second in a random basis."""
    return _of_case(exact(index, seed=100 + _seed(generator)))


def planted(generator: torch.Generator, index: int) -> Trap:
    """An invariant network plus ε times another, for every base in turn."""
    kind = list(breaking.BASES)[index % len(breaking.BASES)]
    strength = uniform(1e-3, 0.15, generator, logarithmic=True)
    return _broken(kind, strength, FEWER_SAMPLES, generator, label=f"{kind}, ε = {strength:.1g}")


def weak_clusters(generator: torch.Generator, index: int) -> Trap:
    """so(3) broken by 15 to 40 %: a cluster of three defects near the threshold."""
    strength = uniform(0.15, 0.4, generator)
    return _broken("so(3)", strength, (500, 1000, 2000), generator, label=f"ε = {strength:.2f}")


def nearly_linear(generator: torch.Generator, index: int) -> Trap:
    """Networks that are linear up to a small part: nearly all symmetries of a linear function."""
    n, outputs = pick((2, 3, 4), generator), pick((1, 2), generator)
    size = uniform(0.02, 0.5, generator, logarithmic=True)
    inner = tanh_network((n, 24, 24, outputs), generator)
    slope = normal(n, outputs, generator)
    return Trap(
        model=lambda x: x @ slope + size * inner(x),
        data=normal(pick(FEWER_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"nonlinear part {size:.2g}",
        strict=False,
        population=more(n, generator),
    )


def saturated(generator: torch.Generator, index: int) -> Trap:
    """A saturated classifier: the derivative is nearly zero at most samples."""
    n, gain = pick((2, 3, 4), generator), uniform(5, 60, generator, logarithmic=True)
    inner = tanh_network((n, 24, 24, 2), generator)
    return Trap(
        model=lambda x: torch.softmax(gain * inner(x), dim=1),
        data=normal(pick(FEWER_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"gain {gain:.0f}",
        strict=False,
        population=more(n, generator, 20_000),
    )


def smooth_spectra(generator: torch.Generator, index: int) -> Trap:
    """Large families of candidates without symmetry: a long, smooth spectrum."""
    n = 6 + index % 5
    kind = pick(("weights × 2.5", "default weights", "weights × 4"), generator)
    outputs = pick((1, 4, 10), generator)
    inner = function(kind, n, outputs, generator)
    return Trap(
        model=inner,
        data=normal(pick((300, 1000, 2000), generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"gl({n}), {kind}",
        strict=False,
        population=more(n, generator),
    )


def insensitive(generator: torch.Generator, index: int) -> Trap:
    """A feature that matters little, and another that matters little for another reason.

    Directions that move only these features look like symmetries, but brackets leave their span.
    """
    n, small = pick((3, 4), generator), uniform(0.03, 0.25, generator, logarithmic=True)
    inner = tanh_network((n, 24, 24, 1), generator)
    sizes = torch.ones(n, dtype=torch.float64)
    sizes[: n - 1] = torch.linspace(small, 2 * small, n - 1, dtype=torch.float64)
    axes = torch.linalg.qr(normal(n, n, generator))[0]
    return Trap(
        model=lambda x: inner((x @ axes) * sizes),
        data=normal(pick(FEWER_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"{small:.2g}",
        strict=False,
        population=more(n, generator),
    )


def half_precision(generator: torch.Generator, index: int) -> Trap:
    """Rotations that are broken by less than half precision can show."""
    n, dtype = pick((2, 3), generator), (torch.bfloat16, torch.float16, torch.float32)[index % 3]
    chosen = metric_invariants(n, copies=2)
    strength = uniform(1e-3, 2e-2, generator, logarithmic=True)
    if dtype is torch.float32:
        strength /= 1000
    state = generator.get_state()

    def make(kind: torch.dtype) -> Function:
        generator.set_state(state)
        one = of_invariants(chosen, 2, generator, dtype=kind)
        other = tanh_network((2 * n, 24, 24, 2), generator, kind)
        return lambda x: one(x) + strength * other(x)

    model, reference = make(dtype), make(torch.float64)
    return Trap(
        model=model,
        data=normal(pick(FEWER_SAMPLES, generator), 2 * n, generator, dtype),
        action=Linear(n, copies=2),
        algebra=nothing(n),
        label=f"ε = {strength:.1g}, {str(dtype).removeprefix('torch.')}",
        strict=False,
        reference=reference,
        population=more(2 * n, generator),
        broken=catalog.so(n),
    )


def rectifiers(generator: torch.Generator, index: int) -> Trap:
    """Networks with rectifiers: no symmetry, or rotations by construction; nothing is hidden."""
    n = pick((2, 3), generator)
    layers = (n, 32, 32, 2) if index % 2 else (1, 32, 32, 2)
    weights = perceptron(layers, generator, gain=2.5).weights

    def model(x: Tensor) -> Tensor:
        x = x if index % 2 else x.norm(dim=1, keepdim=True)
        for weight in weights[:-1]:
            x = torch.relu(x @ weight + 0.1)
        return x @ weights[-1]

    return Trap(
        model=model,
        data=normal(pick(FEWER_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n) if index % 2 else catalog.so(n),
        label="plain" if index % 2 else "of the length",
        strict=False,
        population=more(n, generator),
    )


def trained(
    inner: Function, x: Tensor, generator: torch.Generator, *, steps: int = 400
) -> torch.nn.Module:
    """A network with one output trained on values of a function by Adam, with complete batches."""
    torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
    network = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 1),
    ).double()
    y = inner(x).detach().reshape(len(x), -1)[:, :1]
    y = (y - y.mean()) / y.std()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 1e-2 * (1 - step / steps)
        optimiser.zero_grad()
        (network(x) - y).square().mean().backward()
        optimiser.step()
    return network.eval()


def trained_asymmetric(generator: torch.Generator, index: int) -> Trap:
    """Networks trained on functions without symmetry."""
    n = pick((2, 3, 4), generator)
    x = normal(pick((200, 500), generator), n, generator)
    target = polynomial(3, n, 1, generator)
    network = trained(lambda x: 2 * torch.tanh(target(x)), x, generator, steps=250)
    return Trap(
        model=network,
        data=x,
        action=pick((Linear, Affine), generator)(n),
        algebra=nothing(n),
        label=f"n = {n}",
        strict=False,
        population=more(n, generator),
    )


def trained_peer(generator: torch.Generator, index: int) -> Trap:
    """A network trained on exp(x² + y²) in R³: five of twelve affine candidates, learned only."""
    reach = uniform(0.6, 2, generator)

    def draw(samples: int, own: torch.Generator) -> Tensor:
        return reach * (2 * torch.rand(samples, 3, generator=own, dtype=torch.float64) - 1)

    population, x = drawn(draw, generator, 4000), draw(800, generator)
    network = trained(lambda x: x[:, :2].square().sum(1).exp(), x, generator, steps=600)
    rotation = pad(catalog.so(2), (0, 2, 0, 2))
    return Trap(
        model=network,
        data=x,
        action=Affine(3),
        algebra=nothing(4),
        broken=torch.cat([rotation, unit(4, (2, 0), (2, 1), (2, 2), (2, 3))]),
        label=f"within ±{reach:.2f}",
        strict=False,
        population=population,
    )


def trained_molecules(generator: torch.Generator, index: int) -> Trap:
    """An energy learned from molecules in one orientation only: the motions hold badly, or not."""
    atoms, spread = 3, uniform(0.1, 0.5, generator, logarithmic=True)
    shape = normal(1, 3 * atoms, generator)

    def draw(samples: int, own: torch.Generator) -> Tensor:
        return shape + spread * normal(samples, 3 * atoms, own)

    def energy(x: Tensor) -> Tensor:
        points = x.reshape(len(x), atoms, 3)
        apart = (points - points.roll(1, 1)).square().sum(2)
        return torch.tanh(apart - 2).sum(1)

    population, x = drawn(draw, generator, 4000), draw(400, generator)
    network = trained(energy, x, generator, steps=200)
    return Trap(
        model=network,
        data=x,
        action=Affine(3, copies=atoms),
        algebra=nothing(4),
        broken=catalog.se(3),
        label=f"spread {spread:.2f}",
        strict=False,
        population=population,
    )


MODEL_TRAPS: dict[str, Maker] = {
    "random functions": random_functions,
    "confined data": confined_functions,
    "invariant networks": invariant_networks,
    "planted ε": planted,
    "weak clusters": weak_clusters,
    "nearly linear": nearly_linear,
    "saturated": saturated,
    "smooth spectra": smooth_spectra,
    "insensitive features": insensitive,
    "half precision": half_precision,
    "rectifiers": rectifiers,
    "trained, no symmetry": trained_asymmetric,
    "trained on exp(x² + y²)": trained_peer,
    "trained on molecules": trained_molecules,
}
