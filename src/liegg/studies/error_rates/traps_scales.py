"""Traps of scale: huge candidates, units, offsets, and outputs of different sizes.

A defect is relative to the average candidate. Where some candidate is huge, effects of order one look
small; where the units of inputs or outputs differ, one of them decides alone.
"""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.asymmetric import nonlinear_function
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
from liegg.studies.error_rates.symmetric import metric_invariants, metric_products, of_invariants


def quotient(generator: torch.Generator, index: int) -> Trap:
    """The logarithm of a quotient of products, with factors over decades: its scalings that cancel."""
    n, decades = pick((3, 4, 5), generator), uniform(2, 4, generator)
    signs = torch.where(torch.arange(n) < n - 1, 1.0, -1.0).double()
    exponents = torch.rand(
        pick(TRAP_SAMPLES, generator), n, generator=generator, dtype=torch.float64
    )
    ratios = torch.eye(n, dtype=torch.float64)[1:].clone()
    ratios[:, 0] = -signs[1:] / signs[0]
    return Trap(
        model=lambda x: (x.log() * signs.to(x)).sum(1),
        data=10 ** (decades * (exponents - 0.5)),
        action=Linear(n),
        algebra=torch.diag_embed(ratios),
        label=f"{decades:.1f} decades",
    )


def verified(generator: torch.Generator, index: int) -> Trap:
    """The same logarithms, with held-out samples on which finite transformations fail."""
    trap = (logarithmic_classifier if index % 2 else quotient)(generator, index // 2)
    return replace(trap, data=trap.data[:-24], held_out=trap.data[-24:])


def momenta(samples: int, copies: int, spread: float, generator: torch.Generator) -> Tensor:
    """Massive momenta (E, p) whose sizes differ by a log-normal factor."""
    space = normal(samples * copies, 3, generator)
    mass = 0.2 + torch.rand(samples * copies, 1, generator=generator, dtype=torch.float64)
    vectors = torch.cat([(space.square().sum(1, keepdim=True) + mass**2).sqrt(), space], dim=1)
    sizes = (spread * normal(samples * copies, 1, generator)).exp()
    return (sizes * vectors).reshape(samples, copies * 4)


def logarithmic_classifier(generator: torch.Generator, index: int) -> Trap:
    """Logits of the logarithms of Lorentz products: boosts preserve them, scaling adds a constant."""
    copies, outputs = pick((2, 3), generator), pick((1, 2), generator)
    spread = uniform(0.5, 1.5, generator)
    products = metric_products(1, 3)
    count = copies * (copies + 1) // 2
    weights = normal(count, outputs, generator)
    weights = weights - weights.mean(0) + torch.where(weights.mean(0) < 0, -0.6, 0.6)

    def model(x: Tensor) -> Tensor:
        found = products(x.reshape(len(x), copies, 4))
        return torch.tanh(found.log() / 3) @ weights if index % 2 else found.log() @ weights

    return Trap(
        model=model,
        data=momenta(pick(TRAP_SAMPLES, generator), copies, spread, generator),
        action=Linear(4, copies=copies),
        algebra=catalog.so(1, 3),
        label=f"spread {spread:.2f}",
        names=("so(1,3)",),
    )


def units(generator: torch.Generator, index: int) -> Trap:
    """A function without symmetry, one feature of which has a smaller unit."""
    n, factor = pick((2, 3, 4), generator), (5.8, 30.0, 3.0, 12.0)[index % 4]
    inner = nonlinear_function(n, pick((1, 2), generator), generator)
    scale = torch.ones(n, dtype=torch.float64)
    scale[: pick((1, n - 1), generator)] = factor
    return Trap(
        model=lambda x: inner(x / scale),
        data=normal(pick(TRAP_SAMPLES, generator), n, generator) * scale,
        action=pick((Linear, Affine), generator)(n),
        algebra=nothing(n),
        label=f"factor {factor:g}",
    )


def anisotropic(generator: torch.Generator, index: int) -> Trap:
    """A function without symmetry on data with one small principal size, not along an axis."""
    n, size = pick((2, 3, 4), generator), (1e-3, 1e-2, 0.03, 0.1)[index % 4]
    inner = nonlinear_function(n, pick((1, 2), generator), generator)
    sizes = torch.ones(n, dtype=torch.float64)
    sizes[0] = size
    axes = orthogonal(n, generator)
    return Trap(
        model=lambda x: inner((x @ axes) / sizes),
        data=(normal(pick(TRAP_SAMPLES, generator), n, generator) * sizes) @ axes.mT,
        action=Linear(n),
        algebra=nothing(n),
        label=f"size {size:g}",
    )


def offset(generator: torch.Generator, index: int) -> Trap:
    """A network of the distance to a far point: rotations about that point, of affine candidates."""
    n, far = pick((2, 3), generator), 10.0 ** pick((1, 2, 3, 4), generator)
    dtype = pick((torch.float64, torch.float32), generator)
    centre = far * torch.nn.functional.normalize(normal(1, n, generator), dim=1)
    head = of_invariants(metric_invariants(n), 2, generator, dtype=dtype)
    algebra = pad(catalog.so(n), (0, 1, 0, 1))
    algebra[:, :n, n] = -(catalog.so(n) @ centre[0])
    return Trap(
        model=lambda x: head(x - centre.to(x)),
        data=(centre + normal(pick(TRAP_SAMPLES, generator), n, generator)).to(dtype),
        action=Affine(n),
        algebra=algebra,
        label=f"offset {far:g}, {str(dtype).removeprefix('torch.')}",
        names=(f"so({n})", "R") if n == 2 else (f"so({n})",),
    )


def uneven_outputs(generator: torch.Generator, index: int) -> Trap:
    """An invariant output that is larger, or written more often, than one without symmetry."""
    n, factor = pick((2, 3), generator), (8, 64, 3, 16, 1000, 1_000_000)[index % 6]
    invariant = of_invariants(metric_invariants(n), 1, generator)
    other = tanh_network((n, 24, 24, 1), generator)
    often = bool(index // 6 % 2) and factor < 100

    def model(x: Tensor) -> Tensor:
        first = invariant(x).repeat(1, factor) if often else factor * invariant(x)
        return torch.cat([first, other(x)], dim=1)

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=nothing(n),
        label=f"{factor} times as {'often' if often else 'large'}",
    )


def mixed_outputs(generator: torch.Generator, index: int) -> Trap:
    """Outputs of an invariant function, duplicated and mixed by an ill-conditioned matrix."""
    n, copies = pick((2, 3, 4), generator), pick((1, 2), generator)
    inner = of_invariants(metric_invariants(n, copies=copies), 3, generator)
    sizes = torch.tensor([1.0, 0.1, 0.01], dtype=torch.float64)
    mixing = orthogonal(3, generator) * sizes @ normal(3, 6, generator)
    return Trap(
        model=lambda x: inner(x) @ mixing,
        data=normal(pick(TRAP_SAMPLES, generator), n * copies, generator),
        action=Linear(n, copies=copies),
        algebra=catalog.so(n),
    )


def unused_features(generator: torch.Generator, index: int) -> Trap:
    """Rotations, exact or broken a little, and features that nothing depends on."""
    n, unused = pick((2, 3), generator), pick((1, 2), generator)
    strength = (0.0, 0.03, 0.1, 0.01)[index % 4]
    one = of_invariants(metric_invariants(n), 2, generator)
    other = tanh_network((n, 24, 24, 2), generator)
    side = n + unused
    algebra = unit(side, *[(i, j) for i in range(n, side) for j in range(side)])
    rotations = pad(catalog.so(n), (0, unused, 0, unused))
    return Trap(
        model=lambda x: one(x[:, :n]) + strength * other(x[:, :n]),
        data=normal(pick(TRAP_SAMPLES, generator), side, generator),
        action=Linear(side),
        algebra=algebra if strength else torch.cat([rotations, algebra]),
        broken=rotations if strength else None,
        label=f"ε = {strength:g}",
        strict=False,
        population=more(side, generator),
    )


def unused_outputs(generator: torch.Generator, index: int) -> Trap:
    """An invariant function with outputs that never move, or only by rounding."""
    n, copies = pick((2, 3, 4), generator), pick((1, 2), generator)
    inner = of_invariants(metric_invariants(n, copies=copies), 2, generator)
    tiny = (0.0, 1e-14)[index % 2]
    return Trap(
        model=lambda x: torch.cat([inner(x), 1 + tiny * x[:, :2]], dim=1),
        data=normal(pick(TRAP_SAMPLES, generator), n * copies, generator),
        action=Linear(n, copies=copies),
        algebra=catalog.so(n),
        label=f"{tiny:g}",
    )


def candidate_basis(generator: torch.Generator, index: int) -> Trap:
    """All linear maps as candidates, given in a random basis, beside a feature of another size."""
    n = pick((2, 3), generator)
    inner = of_invariants(metric_invariants(n), 2, generator)
    basis = normal(n * n, n * n, generator).unflatten(1, (n, n))
    if index % 2:
        basis = basis * torch.logspace(0, 4, n * n, dtype=torch.float64)[:, None, None]
    return Trap(
        model=inner,
        data=normal(pick(TRAP_SAMPLES, generator), n, generator),
        action=Linear(n).restrict(basis),
        algebra=catalog.so(n),
    )


SCALE_TRAPS: dict[str, Maker] = {
    "logarithm of a quotient": quotient,
    "logarithms of Lorentz products": logarithmic_classifier,
    "verified on held-out samples": verified,
    "units": units,
    "rotated anisotropic data": anisotropic,
    "large offset": offset,
    "uneven outputs": uneven_outputs,
    "mixed outputs": mixed_outputs,
    "unused features": unused_features,
    "unused outputs": unused_outputs,
    "basis of the candidates": candidate_basis,
}
