"""Models with a part that derivatives do not see: the answer would be right for another function.

All of them are |x|² or a network of it, plus a part that breaks the rotations but has no derivative.
"""

import torch
from torch import Tensor

from liegg.actions import Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import (
    FEWER_SAMPLES,
    Function,
    Maker,
    Trap,
    normal,
    nothing,
    pick,
    tanh_network,
    uniform,
)


def _trap(
    model: Function, n: int, generator: torch.Generator, label: str, *, stays: int = 0
) -> Trap:
    """A hidden part that leaves the rotations of the last `stays` coordinates."""
    algebra = nothing(n)
    if stays > 1:
        algebra = torch.nn.functional.pad(catalog.so(stays), (n - stays, 0, n - stays, 0))
    return Trap(
        model=model,
        data=normal(pick(FEWER_SAMPLES, generator), n, generator),
        action=Linear(n),
        algebra=algebra,
        label=label,
        refused=True,
    )


def detached(generator: torch.Generator, index: int) -> Trap:
    """A coordinate, or its absolute value, after `detach`."""
    n, size = pick((2, 3, 4), generator), uniform(0.3, 5, generator, logarithmic=True)
    bent = bool(index % 2)

    def model(x: Tensor) -> Tensor:
        hidden = x[:, 0].detach()
        return x.square().sum(1) + size * (hidden.abs() if bent else hidden)

    return _trap(model, n, generator, f"{size:.2g}", stays=n - 1)


def rounded(generator: torch.Generator, index: int) -> Trap:
    """Floor or round of a coordinate."""
    n, size = pick((2, 3, 4), generator), uniform(0.5, 4, generator, logarithmic=True)
    step = torch.floor if index % 2 else torch.round
    return _trap(
        lambda x: x.square().sum(1) + size * step(2 * x[:, 0]),
        n,
        generator,
        f"{size:.2g}",
        stays=n - 1,
    )


def embedded(generator: torch.Generator, index: int) -> Trap:
    """A table of numbers for every value of a rounded coordinate."""
    n, size = pick((2, 3), generator), uniform(0.5, 3, generator, logarithmic=True)
    table = normal(9, 1, generator)[:, 0]

    def model(x: Tensor) -> Tensor:
        place = (x[:, 0].round().long() + 4).clamp(0, 8)
        return x.square().sum(1) + size * table[place]

    return _trap(model, n, generator, f"{size:.2g}", stays=n - 1)


def frozen(generator: torch.Generator, index: int) -> Trap:
    """A network evaluated under `no_grad`, beside one of the length."""
    n = pick((2, 3), generator)
    head = tanh_network((1, 16, 1), generator)
    branch = tanh_network((n, 16, 1), generator)

    def model(x: Tensor) -> Tensor:
        with torch.no_grad():
            hidden = branch(x)
        return head(x.square().sum(1, keepdim=True) / n) + hidden

    return _trap(model, n, generator, "network")


def straight_through(generator: torch.Generator, index: int) -> Trap:
    """A quantity that is rounded, with the derivative of another one."""
    n, size = pick((2, 3), generator), uniform(0.5, 3, generator, logarithmic=True)

    def model(x: Tensor) -> Tensor:
        length = x.square().sum(1)
        return length + (size * torch.sign(x[:, 0]) - length / 4).detach() + length / 4

    return _trap(model, n, generator, f"{size:.2g}", stays=n - 1)


def stepped(generator: torch.Generator, index: int) -> Trap:
    """A comparison: another constant on either side of a plane."""
    n, size = pick((2, 3, 4), generator), uniform(0.5, 3, generator, logarithmic=True)
    return _trap(
        lambda x: x.square().sum(1) + size * (x[:, 0] > 0.3).to(x.dtype),
        n,
        generator,
        f"{size:.2g}",
        stays=n - 1,
    )


HIDDEN_TRAPS: dict[str, Maker] = {
    "detached part": detached,
    "rounded part": rounded,
    "embedded part": embedded,
    "frozen branch": frozen,
    "straight-through part": straight_through,
    "step": stepped,
}
