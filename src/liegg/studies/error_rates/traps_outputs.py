"""Traps of equivariance: outputs that move with the inputs, nearly, or not at all."""

import torch
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
    perceptron,
    pick,
    tanh_network,
    uniform,
)
from liegg.studies.error_rates.symmetric import inner_products


def vector_field(generator: torch.Generator, index: int) -> Trap:
    """A combination of vectors with invariant weights, exact or with a small other part."""
    n, copies = pick((2, 3), generator), 2
    strength = (0.0, 1e-3, 0.01, 0.05)[index % 4]
    products = inner_products(torch.ones(n))
    head = tanh_network((3, 24, copies), generator)
    other = tanh_network((n * copies, 24, 24, n), generator)

    def model(x: Tensor) -> Tensor:
        vectors = x.reshape(len(x), copies, n)
        weights = 1 + head(products(vectors) / n)
        return (weights[..., None] * vectors).sum(1) + strength * other(x)

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), n * copies, generator),
        action=Linear(n, copies=copies),
        output_action=Linear(n),
        algebra=nothing(n) if strength else catalog.so(n),
        broken=catalog.so(n) if strength else None,
        label=f"ε = {strength:g}",
        strict=False,
        population=more(n * copies, generator),
    )


def linear_equivariance(generator: torch.Generator, index: int) -> Trap:
    """gl(2): combinations of vectors with weights that no linear map changes, plus a small part."""
    copies = 4
    strength = (0.0, 0.1, 0.02)[index % 3]
    # With nearly constant weights and affine outputs, translations are close.
    close = bool(index % 2)
    gain = uniform(0.2, 0.8, generator) if close else 2.5
    head = perceptron((2, 24, copies), generator, gain=gain, activation="tanh")
    other = tanh_network((2 * copies, 24, 24, 2), generator)

    def model(x: Tensor) -> Tensor:
        vectors = x.reshape(len(x), copies, 2)
        one, two, three, four = vectors.unbind(1)

        def area(a: Tensor, b: Tensor) -> Tensor:
            return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]

        ratios = [
            torch.atan2(area(one, three), area(one, two)),
            torch.atan2(area(four, two), area(one, two)),
        ]
        weights = 1 + head(torch.stack([(2 * ratio).sin() for ratio in ratios], dim=1))
        return (weights[..., None] * vectors).sum(1) + strength * other(x)

    algebra = catalog.gl(2)
    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), 2 * copies, generator),
        action=Affine(2, copies=copies),
        output_action=Affine(2) if close else Linear(2),
        algebra=nothing(3) if strength else pad(algebra, (0, 1, 0, 1)),
        broken=pad(algebra, (0, 1, 0, 1)) if strength else None,
        label=f"ε = {strength:g}" + (", translations close" if close else ""),
        strict=False,
        population=more(2 * copies, generator),
    )


def two_bodies(generator: torch.Generator, index: int) -> Trap:
    """State of two bodies in the plane a step later, which rotates with the state."""
    step, softening = uniform(0.5, 1.5, generator), uniform(0.05, 0.2, generator)
    strength = (0.0, 0.02)[index % 2]
    other = tanh_network((8, 24, 24, 8), generator)

    def model(x: Tensor) -> Tensor:
        place, speed = x.reshape(len(x), 2, 2, 2).unbind(1)
        apart = place[:, 1] - place[:, 0]
        pull = apart / (apart.square().sum(1, keepdim=True) + softening) ** 1.5
        speed = speed + step * torch.stack([pull, -pull], dim=1)
        place = place + step * speed
        return torch.stack([place, speed], dim=1).flatten(1) + strength * other(x)

    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), 8, generator),
        action=Linear(2, copies=4),
        output_action=Linear(2, copies=4),
        algebra=nothing(2) if strength else catalog.so(2),
        broken=catalog.so(2) if strength else None,
        label=f"ε = {strength:g}",
        strict=False,
        population=more(8, generator),
    )


def pull_of_bodies(generator: torch.Generator, index: int) -> Trap:
    """The force between two bodies, a function of their difference, of all maps of the state.

    It does not depend on the speeds, nor on the centre: 12 of 16 candidates on a line, 48 of 64 in
    the plane.
    """
    axes = 2 if index % 8 == 7 else 1
    softening, strength = uniform(0.3, 1, generator), (0.0, 0.02, 0.005)[index % 3]
    state = 4 * axes
    other = tanh_network((state, 24, 24, axes), generator)

    def model(x: Tensor) -> Tensor:
        apart = x[:, axes : 2 * axes] - x[:, :axes]
        pull = apart / (apart.square().sum(1, keepdim=True) + softening) ** 1.5
        return pull + strength * other(x)

    rows = [
        torch.eye(state, dtype=torch.float64)[:, target, None] * source
        for target in range(2 * axes, state)
        for source in torch.eye(state, dtype=torch.float64)
    ]
    for axis in range(axes):
        both = torch.eye(state, dtype=torch.float64)[:, [axis, axis + axes]].sum(1, keepdim=True)
        rows += [both * source for source in torch.eye(state, dtype=torch.float64)]
    algebra = torch.stack(rows)
    return Trap(
        model=model,
        data=normal(pick(TRAP_SAMPLES, generator), state, generator),
        action=Linear(state),
        algebra=algebra[:0] if strength else algebra,
        broken=algebra if strength else None,
        label=f"{state**2} candidates, ε = {strength:g}",
        strict=False,
        population=more(state, generator),
    )


def no_equivariance(generator: torch.Generator, index: int) -> Trap:
    """Networks whose outputs do not move with the inputs."""
    n, copies = pick((2, 3), generator), pick((1, 2), generator)
    gain = pick((2.5, 4.0), generator)
    inner = perceptron((n * copies, 32, 32, n), generator, gain=gain, activation="tanh")
    return Trap(
        model=inner,
        data=normal(pick(TRAP_SAMPLES, generator), n * copies, generator),
        action=Linear(n, copies=copies),
        output_action=Linear(n),
        algebra=nothing(n),
        label=f"weights × {gain:g}",
        strict=False,
        population=more(n * copies, generator),
    )


OUTPUT_TRAPS: dict[str, Maker] = {
    "equivariant vectors": vector_field,
    "gl(2) equivariance": linear_equivariance,
    "two bodies": two_bodies,
    "pull of two bodies": pull_of_bodies,
    "no equivariance": no_equivariance,
}
