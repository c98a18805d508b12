"""Cost of calls compared with another checkout of liegg, measured in one run.

Subprocesses of this script run in turns with either checkout on the path. Only names that both
checkouts have are used. Each reports the median time of every call; the ratio is the median of this
checkout over the median of the other one.

    python benchmarks/before_after.py --other ../base/src
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

Call = tuple[Callable[[], Any], Callable[[Any], object]]
"""What is prepared before each repeat, and the call that is measured."""


def calls(folder: Path, *, quick: bool) -> dict[str, Call]:
    """The measured calls, by name.

    Args:
        folder: folder for saved results.
        quick: fewer samples.
    """
    import torch
    from torch import Tensor, nn

    import fixed_cost
    import liegg
    from liegg.actions import smooth
    from scale import residual as resnet50

    torch.manual_seed(0)

    def perceptron(*widths: int) -> nn.Sequential:
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.SiLU()]
        return nn.Sequential(*layers[:-1])

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(10, 32), nn.Linear(32, 1)
            self.blocks = nn.ModuleList(perceptron(32, 32, 32) for _ in range(4))

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            for block in self.blocks:
                x = x + block(x)
            return self.last(x)

    convolutional = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.SiLU(),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
    share = 20 if quick else 1
    vectors = torch.randn(10_000 // share, 10)
    images = smooth(torch.rand(512 // share, 1, 28, 28), 1.5)
    wide = torch.randn(5_000 // share, 24)
    pair, plane, general = liegg.Linear(5, copies=2), liegg.Image("affine"), liegg.Linear(24)
    o5, gl24, residual = perceptron(10, 32, 32, 32, 32, 1), perceptron(24, 64, 64, 1), Residual()
    numbers = count()
    tiny, few = fixed_cost.small(10_000 // share)[:2]  # some of its directions are weak, and named
    line = liegg.Linear(5)
    # As many layers as a ResNet-50, but narrow: nearly all of the time is that of the host, as on a GPU.
    deep, pixels = resnet50((4, 8, 16, 32)).eval(), torch.rand(8, 3, 32, 32)

    def small() -> Any:
        return liegg.discover(o5, vectors[:500], pair)

    def save_and_load(sym: Any) -> str:
        place = folder / str(next(numbers))
        sym.save(place)
        return str(liegg.load(place))

    def nothing() -> None:
        return None

    return {
        "discover: perceptron of 113 weights, 200 samples": (
            nothing,
            lambda _: liegg.discover(tiny, few[:200], line),
        ),
        "discover: perceptron of 113 weights, 10,000 samples": (
            nothing,
            lambda _: liegg.discover(tiny, few, line),
        ),
        "discover: narrow residual network of 50 layers, 8 images, outputs summed": (
            nothing,
            lambda _: liegg.discover(deep, pixels, plane, outputs="sum"),
        ),
        "discover: perceptron, two vectors of R⁵": (
            nothing,
            lambda _: liegg.discover(o5, vectors, pair),
        ),
        "discover: convolutional network, affine maps of images": (
            nothing,
            lambda _: liegg.discover(convolutional, images, plane),
        ),
        "discover: perceptron, gl(24), float32": (
            nothing,
            lambda _: liegg.discover(gl24, wide, general),
        ),
        "discover_layers: residual network, two vectors of R⁵": (
            nothing,
            lambda _: liegg.discover_layers(residual, vectors[:2_000], pair),
        ),
        "print a result": (small, str),
        "save, load and print a result": (small, save_and_load),
    }


def measure(repeats: int, match: str, *, quick: bool) -> dict[str, dict[str, float]]:
    """Median wall-clock and processor seconds of every call whose name matches, after one call that is not counted."""
    medians = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (prepare, call) in calls(Path(folder), quick=quick).items():
            if not re.search(match, name):
                continue
            wall, processor = [], []
            for _ in range(repeats + 1):
                given = prepare()
                begin, used = time.perf_counter(), time.process_time()
                call(given)
                wall.append(time.perf_counter() - begin)
                processor.append(time.process_time() - used)
            medians[name] = {
                "wall": statistics.median(wall[1:]),
                "processor": statistics.median(processor[1:]),
            }
    return medians


def compare(
    other: Path, rounds: int, repeats: int, match: str, *, quick: bool
) -> list[dict[str, Any]]:
    """Measure both checkouts in turns.

    Args:
        other: folder `src` of the other checkout.
        rounds: processes per checkout.
        repeats: measured calls per process.
        match: regular expression that the names of the measured calls match.
        quick: fewer samples.

    Returns:
        For every call the seconds of both checkouts, and their ratios.
    """
    command = [sys.executable, __file__, "--worker", "--repeats", str(repeats), "--match", match]
    sources = {"before": other, "after": ROOT / "src"}
    runs: dict[str, list[dict[str, dict[str, float]]]] = {name: [] for name in sources}
    for _ in range(rounds):
        for name, source in sources.items():
            done = subprocess.run(
                command + ["--quick"] * quick,
                env=os.environ | {"PYTHONPATH": str(source.resolve())},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(done.stderr)
            runs[name].append(json.loads(done.stdout.splitlines()[-1]))
    rows = []
    for call in runs["after"][0]:
        seconds = {
            f"{name}_{clock}_seconds": statistics.median(run[call][clock] for run in some)
            for name, some in runs.items()
            for clock in ("wall", "processor")
        }
        ratios = {
            f"{clock}_ratio": seconds[f"after_{clock}_seconds"] / seconds[f"before_{clock}_seconds"]
            for clock in ("wall", "processor")
        }
        rows.append({"call": call, **seconds, **ratios})
    return rows


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", type=Path, help="folder src of the other checkout")
    parser.add_argument("--rounds", type=int, default=3, help="processes per checkout")
    parser.add_argument("--repeats", type=int, default=5, help="measured calls per process")
    parser.add_argument("--match", default="", help="regular expression of the calls to measure")
    parser.add_argument("--quick", action="store_true", help="fewer samples: does it run?")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench-house.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.repeats, options.match, quick=options.quick)))
        return
    if options.other is None or not (options.other / "liegg").is_dir():
        parser.error(f"--other {options.other}: expected a folder src that holds liegg.")
    from liegg.studies.provenance import provenance, write_json

    begin = time.perf_counter()
    rows = compare(
        options.other, options.rounds, options.repeats, options.match, quick=options.quick
    )
    command = "python benchmarks/before_after.py --other OTHER/src" + " --quick" * options.quick
    command += f" --match '{options.match}'" if options.match else ""
    results = {
        "study": "bench-house",
        "quick": options.quick,
        "rounds": options.rounds,
        "repeats": options.repeats,
        "calls": rows,
        "provenance": provenance(command, seconds=time.perf_counter() - begin),
    }
    write_json(results, options.out)
    for row in rows:
        print(
            f"{row['call']:<56} {row['before_processor_seconds']:8.4f} s -> "
            f"{row['after_processor_seconds']:8.4f} s   ratio {row['processor_ratio']:.2f} "
            f"(wall clock {row['wall_ratio']:.2f})"
        )


if __name__ == "__main__":
    main()
