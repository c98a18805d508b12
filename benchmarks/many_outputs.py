"""Do intervals hold the error of random combinations? Stored as results/outputs-coverage.json; nothing is timed.

A function of two vectors in space whose rotations are slightly broken has many outputs of different sizes. Its defects for each
output and very many samples are the truth; counted is how often the intervals of analyses with few samples, by k random
combinations of the outputs, hold it.
"""

import time
from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

import liegg
from liegg.polarization.output_sketch import Outputs
from result_files import options, store

ACTION = liegg.Linear(3, copies=2)
BROKEN = 3
"""Directions of smallest defect: the rotations."""

STRENGTH = 0.3
"""Size of the part that breaks the rotations."""


def normal(*shape: int, seed: int) -> Tensor:
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def function(outputs: int, *, folded: bool = False) -> Callable[[Tensor], Tensor]:
    """Features of inner products, `STRENGTH` times features of the numbers themselves, mixed to `outputs` outputs.

    With `folded` the mixture is replaced by its R factor: at most 48 outputs with the same squares in sum, and so the same defects.
    """
    one, two = normal(3, 24, seed=1) / 2, normal(6, 24, seed=2) / 2
    mix = normal(48, outputs, seed=3) * normal(1, outputs, seed=4).exp()
    mix = torch.linalg.qr(mix.mT, mode="r").R.mT if folded else mix

    def called(x: Tensor) -> Tensor:
        p = x.unflatten(1, (2, 3))
        products = (
            torch.stack(
                [p[:, 0].square().sum(1), p[:, 1].square().sum(1), (p[:, 0] * p[:, 1]).sum(1)],
                dim=1,
            )
            / 3
        )
        return torch.cat([torch.tanh(products @ one), STRENGTH * torch.tanh(x @ two)], dim=1) @ mix

    return called


def truth(outputs: int, samples: int) -> list[float]:
    """Defects of the rotations by each output, for a number of samples."""
    return (
        liegg.discover(
            function(outputs, folded=True), normal(samples, 6, seed=5), ACTION, controls="none"
        )
        .defects[:BROKEN]
        .tolist()
    )


def cover(
    outputs: int, taken: Outputs, samples: int, repeats: int, defects: list[float]
) -> dict[str, object]:
    """How often intervals hold the given defects: of the smallest, and of all rotations; and how wide they are.

    Args:
        outputs: outputs of the function.
        taken: which of them get rows, as for `liegg.discover`.
        samples: samples to an analysis.
        repeats: analyses, each with samples and combinations of its own.
        defects: from `truth`.
    """
    model, held, width = function(outputs, folded=taken == "each"), torch.zeros(BROKEN), 0.0
    for draw in range(repeats):
        found = liegg.discover(
            model,
            normal(samples, 6, seed=1000 + draw),
            ACTION,
            outputs=taken,
            run=liegg.Run(seed=draw),
        ).intervals[:BROKEN]
        limits = torch.tensor(defects, dtype=torch.float64)
        held += (found[:, 0] <= limits) & (limits <= found[:, 1])
        width += float((found[0, 1] / found[0, 0]).log()) / repeats
    return {
        "outputs": outputs,
        "taken": taken,
        "samples": samples,
        "repeats": repeats,
        "smallest": float(held[0]) / repeats,
        "all": float(held.mean()) / repeats,
        "log_width": width,
    }


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "outputs-coverage.json", quick="few repetitions, for a look")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    widths, sizes, repeats = (
        ((50,), (200,), 10) if chosen.quick else ((50, 500, 2000), (200, 1000), 300)
    )
    rows = []
    for outputs in widths:
        defects = truth(outputs, 20_000 if chosen.quick else 400_000)
        for samples, taken in product(sizes, (1, 4, 16, "each")):
            rows.append({**cover(outputs, taken, samples, repeats, defects), "defects": defects})
            print(rows[-1], flush=True)
    results = {"level": 0.95, "strength": STRENGTH, "coverage": rows}
    store(results, chosen.out, "python benchmarks/many_outputs.py", begin=begin)


if __name__ == "__main__":
    main()
