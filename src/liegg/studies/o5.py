"""The paper's section 5.1: does a network trained on an O(5)-invariant function learn so(5)?"""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Linear
from liegg.algebra.catalog import so
from liegg.discovery.discover import discover
from liegg.results.symmetries import Symmetries
from liegg.studies import ensemble

SIZES = (10, 32, 32, 32, 32, 1)
"""Widths of the paper's network: 10→32, three 32→32, 32→1."""

O5_SCHEDULE = ensemble.Schedule(batch_size=500, rate=1e-3)
"""The paper does not state the batch size; with 500 the variance is that of its published code."""

TRAINING_SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000)
SEEDS = tuple(range(1, 9))
MAIN = 10_000
"""Training-set size of the spectrum, the bias and the sample-complexity study."""

SO5_DIMENSION = 10
"""Dimension of so(5): the number of values of the spectrum that should vanish."""

DATA_SEED = 1000
"""Added to a network's seed for its samples, so that they are independent of its weights."""

HELD_OUT_SEED = 2000
"""The same for held-out samples."""


def target(x: Float[Tensor, "... 10"]) -> Float[Tensor, "..."]:
    """The paper's function of two vectors of R⁵: sin|x₁| − |x₂|³/2 + cosine of the angle between them."""
    one, two = x[..., :5], x[..., 5:]
    first, second = one.norm(dim=-1), two.norm(dim=-1)
    return first.sin() - 0.5 * second**3 + (one * two).sum(-1) / (first * second)


def epochs(samples: int) -> int:
    """The paper's schedule, min(900 000 / N, 1000)."""
    return min(900_000 // samples, 1000)


def samples_of(member: ensemble.Member) -> Float[Tensor, "n 10"]:
    """Training inputs of a network, from a seed that is not used for weights."""
    return _normal(member.samples, DATA_SEED + member.seed)


def members(sizes: Sequence[int], seeds: Sequence[int]) -> list[ensemble.Member]:
    """The networks for some training-set sizes, each with all seeds."""
    return [ensemble.Member(SIZES, seed, size, epochs(size)) for size in sizes for seed in seeds]


def regression(networks: Sequence[ensemble.Member], device: str) -> ensemble.Regression:
    """The problem of some networks, each with its own samples."""
    inputs = [samples_of(member) for member in networks]
    return ensemble.Regression(inputs, [target(x) for x in inputs], device)


def train_all(
    networks: Sequence[ensemble.Member],
    describe: Callable[[ensemble.Member, nn.Module], dict[str, Any]],
    how: ensemble.Work,
) -> list[dict[str, Any]]:
    """Train networks and describe each."""

    def describe_some(
        some: list[ensemble.Member], trained: ensemble.Trained
    ) -> list[dict[str, Any]]:
        return [describe(member, trained.stack.network(i)) for i, member in enumerate(some)]

    problem = partial(regression, device=how.device)
    return ensemble.work(networks, problem, describe_some, O5_SCHEDULE, how=how)


def train(
    samples: int,
    seed: int = 1,
    *,
    device: str = "cpu",
    progress: Callable[[int], object] = lambda done: None,
) -> tuple[nn.Sequential, Float[Tensor, "n 10"], float]:
    """Train one network.

    Args:
        samples: training-set size.
        seed: seed of data, weights and order.
        device: device of the training.
        progress: called with 1 after each epoch.

    Returns:
        Network, its training inputs, its final mean squared error.
    """
    networks = members([samples], [seed])
    problem = regression(networks, device)
    trained = ensemble.train(networks, problem, O5_SCHEDULE, device=device, progress=progress)
    network, inputs = trained.stack.network(0), samples_of(networks[0]).to(device)
    return network, inputs, mean_squared_error(network, inputs)


def mean_squared_error(network: nn.Module, inputs: Float[Tensor, "n 10"]) -> float:
    """Mean squared error of a network on samples."""
    with torch.no_grad():
        return float((network(inputs)[:, 0] - target(inputs)).square().mean())


class InvariantNetwork(nn.Module):
    """O(5)-invariant by construction: a random perceptron of |x₁|², x₁·x₂ and |x₂|², in float64."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.head = ensemble.initialise([(3, 32, 32, 1)], [seed]).network(0).double()

    def forward(self, x: Tensor) -> Tensor:
        """Outputs `[b, 1]` of samples `[b, 10]`."""
        one, two = x[:, :5], x[:, 5:]
        products = [(one * one).sum(1), (one * two).sum(1), (two * two).sum(1)]
        return self.head(torch.stack(products, dim=1))


def held_out(seed: int) -> Float[Tensor, "n 10"]:
    """Samples that are not used to train a network of the study."""
    return _normal(1_000, HELD_OUT_SEED + seed)


def _normal(count: int, seed: int) -> Float[Tensor, "n 10"]:
    return torch.randn(count, 10, generator=torch.Generator().manual_seed(seed))


def extract(network: nn.Module, inputs: Float[Tensor, "n 10"]) -> Symmetries:
    """The analysis of the study: gl(5) on two vectors."""
    return discover(network, inputs, Linear(5, copies=2))


def describe(sym: Symmetries) -> dict[str, Any]:
    """The study's numbers of one network, spectrum ascending."""
    algebra = so(5)
    values, biases = sym.spectrum.values, sym.bias(algebra)
    return {
        "nullity": sym.nullity,
        "spectrum": values.tolist(),
        "bias": biases.tolist(),
        "defects": sym.defects.tolist(),
        "variance": float(sym.spectrum.values[0]),
        "mean_variance_of_ten": float(values[:10].mean()),
        "largest_bias_of_ten": float(biases[:10].max()),
        "gap": float(values[10] / values[9]),
        "angle_degrees": float(sym.angles(algebra).max().rad2deg()) if sym.nullity else None,
    }


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results; networks of all training-set sizes and seeds are trained at once.

    Args:
        how: where the networks are trained.
        quick: two seeds and small training sets only; takes seconds.

    Returns:
        The results to be stored.
    """
    seeds, sizes, main = (
        (SEEDS[:2], (300, 1_000), 1_000) if quick else (SEEDS, TRAINING_SIZES, MAIN)
    )
    new = _normal(main, 0).to(how.device)  # seed 0 is not used for training

    def describe_one(member: ensemble.Member, network: nn.Module) -> dict[str, Any]:
        inputs = samples_of(member).to(how.device)
        return describe(extract(network, inputs)) | {
            "fresh_mean_variance_of_ten": float(extract(network, new).spectrum.values[:10].mean()),
            "mean_squared_error": mean_squared_error(network, inputs),
        }

    rows = train_all(members(sizes, seeds), describe_one, how)
    control = extract(InvariantNetwork().to(how.device), new.double())
    return {
        "seeds": list(seeds),
        "main_size": main,
        "networks": {
            str(size): rows[i * len(seeds) : (i + 1) * len(seeds)] for i, size in enumerate(sizes)
        },
        "invariant_by_construction": describe(control),
    }


def table(results: dict[str, Any]) -> str:
    """One line per training-set size, as text for a terminal."""
    lines = [
        "       N   nullity of each network   variance of ten   largest bias   largest angle to so(5)"
    ]
    for size, networks in results["networks"].items():
        nullities = " ".join(str(net["nullity"]) for net in networks)
        angles = [net["angle_degrees"] for net in networks if net["angle_degrees"] is not None]
        angle = f"{max(angles):.2f}°" if len(angles) == len(networks) else "-"
        lines.append(
            f"{int(size):>8,}   {nullities:<23}   {mean(net['mean_variance_of_ten'] for net in networks):>15.4f}"
            f"   {max(net['largest_bias_of_ten'] for net in networks):>12.4f}   {angle:>22}"
        )
    return "\n".join(lines)
