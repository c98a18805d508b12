"""How time grows with samples, outputs, candidates and numbers per sample, and memory with samples; results/bench-growth.json.

Each table varies one of them and leaves the rest as it is. Beside the product stand, in the same run, what it is to be held
against: one plain forward and backward pass, the dense formula, one reverse pass for every output.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import liegg
from dense import dense_rows, dense_spectrum
from liegg.actions import Action
from liegg.inputs.model import eval_view
from liegg.inputs.pieces import BATCH_SIZE
from liegg.inputs.probe import probe
from liegg.polarization.rows import plan, polarize, samples_at_once
from measure import alternating, in_process
from perceptrons import perceptron
from result_files import options, store

HERE = Path(__file__).parent
DENSE_SAMPLES = 100_000
"""Samples up to which the dense formula is run: its rows take a kilobyte each."""


def normal(*shape: int) -> Tensor:
    """Normal samples."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def plain(model: nn.Module, x: Tensor) -> None:
    """One forward and backward pass in batches of our size, with the gradients of the weights."""
    for batch in x.split(BATCH_SIZE):
        model.zero_grad()
        model(batch).square().mean().backward()


def extract(model: nn.Module, x: Tensor, action: Action, outputs: Any = "sum") -> None:
    """The product, without intervals and controls."""
    liegg.discover(model, x, action, outputs=outputs, controls="none")


def by_samples(counts: tuple[int, ...], repeats: int) -> list[dict[str, float]]:
    """gl(16), the outputs summed, against a plain pass and the dense formula."""
    model, rows = perceptron(16, 64, 64, 1), []
    for count in counts:
        x = normal(count, 16)
        works: dict[str, Callable[[], object]] = {
            "pass": lambda x=x: plain(model, x),
            "liegg": lambda x=x: extract(model, x, liegg.Linear(16)),
        }
        if count <= DENSE_SAMPLES:
            works["dense"] = lambda x=x: dense_spectrum(dense_rows(model, x, 16))
        rows.append({"samples": count, **_seconds(works, repeats)})
    return rows


def by_candidates(sizes: tuple[int, ...], samples: int, repeats: int) -> list[dict[str, float]]:
    """Linear maps of vectors of n of the 96 numbers of a sample, all vectors alike: n² candidates, the model and data the same."""
    model, x, rows = perceptron(96, 64, 64, 1), normal(samples, 96), []
    for n in sizes:
        action = liegg.Linear(n, copies=96 // n)
        works = {
            "pass": lambda: plain(model, x),
            "liegg": lambda action=action: extract(model, x, action),
            "dense": lambda n=n: dense_spectrum(dense_rows(model, x, n)),
        }
        rows.append({"candidates": n**2, "samples": samples, **_seconds(works, repeats)})
    return rows


def by_inputs(sizes: tuple[int, ...], samples: int, repeats: int) -> list[dict[str, float]]:
    """Six affine maps of the plane, applied to all points of samples with ever more numbers."""
    rows = []
    for numbers in sizes:
        model, x, action = (
            perceptron(numbers, 64, 64, 1),
            normal(samples, numbers),
            liegg.Affine(2, copies=numbers // 2),
        )
        works = {
            "pass": lambda model=model, x=x: plain(model, x),
            "liegg": lambda model=model, x=x, action=action: extract(model, x, action),
        }
        rows.append({"numbers": numbers, "samples": samples, **_seconds(works, repeats)})
    return rows


def by_outputs(
    widths: tuple[int, ...], samples: int, repeats: int, most_reverse: int
) -> list[dict[str, float]]:
    """Six candidates and ever more outputs: each by itself, 16 random combinations, the derivatives alone, a reverse pass for each.

    Args:
        widths: numbers of outputs.
        samples: how many.
        repeats: times that each is measured.
        most_reverse: outputs up to which one reverse pass for every output is run, once.
    """
    action, x, rows = liegg.Affine(2, copies=32), normal(samples, 64), []
    for width in widths:
        model = perceptron(64, 256, 256, width)
        works = {
            "pass": lambda model=model: plain(model, x),
            "derivatives": lambda model=model: derivatives(model, x, action),
            "each": lambda model=model: extract(model, x, action, "each"),
            "combined": lambda model=model: extract(model, x, action, 16),
        }
        row: dict[str, float] = {"outputs": width, "samples": samples, **_seconds(works, repeats)}
        if width <= most_reverse:
            begin = time.perf_counter()
            one_by_one(model, x, action)
            row["reverse_seconds"] = time.perf_counter() - begin
        rows.append(row)
    return rows


def derivatives(model: nn.Module, x: Tensor, action: Action) -> None:
    """Forward derivatives of all outputs along all candidates, then thrown away: what each output costs without the folding."""
    with torch.no_grad(), eval_view(model) as function:
        function = probe(function, x[:BATCH_SIZE])
        how = plan(function, action, x[:BATCH_SIZE], route="jvp")
        for batch in x.split(min(BATCH_SIZE, samples_at_once("each", function, action.size))):
            polarize(function, action, batch, how)


def one_by_one(model: nn.Module, x: Tensor, action: Action) -> list[Tensor]:
    """Rows of every output in the plainest way: one reverse pass for each."""
    rows = []
    for batch in x.split(BATCH_SIZE):
        leaf = batch.clone().requires_grad_()
        y = model(leaf)
        slopes = (
            torch.autograd.grad(y[:, i].sum(), leaf, retain_graph=True)[0]
            for i in range(y.shape[1])
        )
        rows.append(torch.cat([action.contract(slope[:, None], batch) for slope in slopes], dim=1))
    return rows


def memory(counts: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """Peak extra memory by the number of samples, which are made on the fly; each in a new process; gl(16)."""
    script = HERE / "memory.py"
    return {
        way: {str(count): in_process(script, way, str(count))["extra_bytes"] for count in counts}
        for way in ("streamed", "default")
    }


def _seconds(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    return {f"{name}_seconds": value for name, value in alternating(dict(works), repeats).items()}


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-growth.json", quick="small sizes, for a look")
    quick, out = (chosen := parser.parse_args()).quick, chosen.out
    begin, repeats = time.perf_counter(), 1 if quick else 5
    results: dict[str, Any] = {
        "samples": by_samples(
            (1_000, 2_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000), repeats
        ),
        "outputs": by_outputs(
            (1, 20) if quick else (1, 10, 100, 1_000, 10_000),
            100 if quick else 4_096,
            repeats,
            20 if quick else 1_000,
        ),
        "candidates": by_candidates(
            (2, 4) if quick else (2, 4, 8, 16, 32, 48), 500 if quick else 10_000, repeats
        ),
        "inputs": by_inputs(
            (16, 32) if quick else (64, 256, 1_024, 4_096), 500 if quick else 20_000, repeats
        ),
        "memory": memory((2_000,) if quick else (10_000, 100_000, 1_000_000)),
    }
    for name, rows in results.items():
        print(name, rows, flush=True)
    store(results, out, "python benchmarks/growth.py", begin=begin)


if __name__ == "__main__":
    main()
