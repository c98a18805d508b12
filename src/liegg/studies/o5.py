"""The paper's section 5.1: does a network trained on an O(5)-invariant function learn so(5)?"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Linear
from liegg.algebra.catalog import so
from liegg.discovery import discover
from liegg.studies import ensemble
from liegg.studies.provenance import provenance, write_json
from liegg.symmetries import Symmetries

SIZES = (10, 32, 32, 32, 32, 1)
"""Widths of the paper's network: 10→32, three 32→32, 32→1."""

BATCH = 500
"""Samples to a step. The paper does not state it; with 500 the variance lands on that of the paper's published code."""

TRAINING_SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000)
FRACTIONS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
SEEDS = tuple(range(1, 9))
MAIN = 10_000
"""Training-set size of the spectrum, the bias and the sample-complexity study."""


def target(x: Float[Tensor, "... 10"]) -> Float[Tensor, "..."]:
    """The paper's function of two vectors of R⁵: sin|x₁| − |x₂|³/2 + cosine of the angle between them."""
    one, two = x[..., :5], x[..., 5:]
    lengths = one.norm(dim=-1), two.norm(dim=-1)
    return lengths[0].sin() - 0.5 * lengths[1] ** 3 + (one * two).sum(-1) / (lengths[0] * lengths[1])


def epochs(samples: int) -> int:
    """The paper's schedule, min(900 000 / N, 1000)."""
    return min(900_000 // samples, 1000)


def train(
    samples: int, seeds: Sequence[int] = SEEDS, *, device: str = "cpu", progress: Callable[[int], object] | None = None
) -> list[tuple[nn.Sequential, Float[Tensor, "n 10"], float]]:
    """Train one network per seed, all at once.

    Args:
        samples: training-set size.
        seeds: one network each; a seed decides data, weights and order.
        device: where to train.
        progress: called with 1 after each epoch.

    Returns:
        Network, its training inputs, its final mean squared error; one triple per seed.
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    inputs = torch.stack([torch.randn(samples, 10, generator=generator) for generator in generators]).to(device)
    stack = ensemble.initialise(SIZES, generators).to(device)
    errors = ensemble.train(stack, inputs, target(inputs), generators, epochs=epochs(samples), batch_size=BATCH, progress=progress)
    return [(stack.network(i).to(device), inputs[i], float(errors[i])) for i in range(len(seeds))]


def invariant_network(seed: int = 0) -> nn.Module:
    """A network that is O(5)-invariant by construction, with random float64 weights: a perceptron of the inner products."""
    return InnerProducts(seed)


class InnerProducts(nn.Module):
    """Perceptron of |x₁|², x₁·x₂ and |x₂|²."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.head = ensemble.initialise((3, 32, 32, 1), [torch.Generator().manual_seed(seed)]).network(0).double()

    def forward(self, x: Tensor) -> Tensor:
        """Outputs `[b, 1]` of samples `[b, 10]`."""
        one, two = x[:, :5], x[:, 5:]
        return self.head(torch.stack([(one * one).sum(1), (one * two).sum(1), (two * two).sum(1)], dim=1))


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
        "variance": sym.variance,
        "mean_variance_of_ten": float(values[:10].mean()),
        "largest_bias_of_ten": float(biases[:10].max()),
        "gap": float(values[10] / values[9]),
        "angle_degrees": float(sym.angles(algebra).max().rad2deg()) if sym.nullity else None,
    }


def sample_complexity(network: nn.Module, inputs: Float[Tensor, "n 10"], fractions: Sequence[float]) -> list[dict[str, Any]]:
    """Mean variance and largest bias of the last ten directions from only a fraction of the samples."""
    algebra, rows = so(5), []
    for fraction in fractions:
        part = inputs[: max(1, round(fraction * len(inputs)))]
        sym = extract(network, part)
        rows.append(
            {
                "fraction": fraction,
                "samples": len(part),
                "mean_variance_of_ten": float(sym.spectrum.values[:10].mean()),
                "mean_bias_of_ten": float(sym.bias(algebra)[:10].mean()),
                "nullity": sym.nullity,
            }
        )
    return rows


def run(
    out: str | Path, *, quick: bool = False, device: str = "cpu", progress: Callable[[str, int, int], object] | None = None
) -> dict[str, Any]:
    """The whole study; writes `o5.json`, `o5.png/.svg` and `o5-sample-complexity.png/.svg`.

    Args:
        out: folder for results and figures.
        quick: two seeds and small training sets only, for a look in seconds.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as stored.
    """
    from liegg.studies.o5_figures import draw

    begin = time.perf_counter()
    seeds, sizes, main = (SEEDS[:2], (300, 1_000), 1_000) if quick else (SEEDS, TRAINING_SIZES, MAIN)
    total = sum(epochs(size) for size in sizes)
    fresh = torch.randn(main, 10, generator=torch.Generator().manual_seed(0)).to(device)  # seed 0 trains no network
    by_size: dict[str, list[dict[str, Any]]] = {}
    complexity: list[list[dict[str, Any]]] = []
    for size in sizes:
        step = None if progress is None else lambda done, size=size: progress(f"{len(seeds)} networks, N = {size}", done, total)
        trained = train(size, seeds, device=device, progress=step)
        by_size[str(size)] = [
            describe(extract(net, x))
            | {"fresh_mean_variance_of_ten": float(extract(net, fresh).spectrum.values[:10].mean()), "mean_squared_error": error}
            for net, x, error in trained
        ]
        if size == main:
            fractions = [f for f in FRACTIONS if f * size >= 2]
            complexity = [sample_complexity(net, x, fractions) for net, x, _ in trained]
    results = {
        "study": "o5",
        "quick": quick,
        "seeds": list(seeds),
        "main_size": main,
        "networks": by_size,
        "sample_complexity": complexity,
        "invariant_by_construction": describe(extract(invariant_network().to(device), fresh.double())),
        "provenance": provenance(
            "liegg reproduce o5" + (" --quick" if quick else ""), seconds=time.perf_counter() - begin, device=device
        ),
    }
    out = Path(out)
    draw(results, out)
    write_json(results, out / "o5.json")
    return results


def table(results: dict[str, Any]) -> str:
    """One line per training-set size, to be read on a terminal."""
    lines = ["       N   nullity of each network   variance of ten   largest bias   largest angle to so(5)"]
    for size, networks in results["networks"].items():
        nullities = " ".join(str(net["nullity"]) for net in networks)
        angles = [net["angle_degrees"] for net in networks if net["angle_degrees"] is not None]
        angle = f"{max(angles):.2f}°" if len(angles) == len(networks) else "-"
        lines.append(
            f"{int(size):>8,}   {nullities:<23}   {mean(net['mean_variance_of_ten'] for net in networks):>15.4f}"
            f"   {max(net['largest_bias_of_ten'] for net in networks):>12.4f}   {angle:>22}"
        )
    return "\n".join(lines)
