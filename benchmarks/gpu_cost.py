"""Cost of analyses on a GPU beside plain passes over the same data, with profiles, stored as results/bench-gpu-cost.json.

| part | question |
|---|---|
| fixed | what does a call cost beyond one forward and backward pass, for few images of a network of ResNet-50 size? |
| asymptotic | and for thousands of images: the sum of the outputs, and each of 1 000 of them |
| transformer | each of 1 000 outputs of a ViT-B/16 |
| waits | where does the host wait for the GPU? |
| profiles | where does the time go? Tables of torch.profiler and of the host, as text beside the results |
| paper | seconds of every study of the paper, in several processes on the one GPU |

`python benchmarks/gpu_cost.py` measures all but the profiles and the paper, in less than four minutes on an H200. Without a GPU
everything is tiny, and the numbers mean nothing.
"""

import argparse
import cProfile
import io
import json
import os
import pstats
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

import liegg
from result_files import RESULTS, store
from scale import plain, residual

PAPER = ("o5", "rotmnist", "cifar10", "configurations", "layerwise", "sample-complexity")


class Block(nn.Module):
    """Attention and a perceptron, each behind a layer norm and beside a way around it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.inner = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Tokens of the next block."""
        y = self.before(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.inner(self.behind(x))


class Transformer(nn.Module):
    """A vision transformer of the usual size, with random weights."""

    def __init__(
        self, side: int, patch: int, width: int, depth: int, heads: int, classes: int
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.randn(1, 1, width) / 50)
        self.places = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width) / 50)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        tokens = self.patches(x).flatten(2).mT
        tokens = torch.cat([self.first.expand(len(x), -1, -1), tokens], dim=1) + self.places
        return self.head(self.norm(self.blocks(tokens))[:, 0])


def seconds(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Least and median seconds of some runs, after one that warms up; the GPU is waited for at the end of each."""
    found = []
    for _ in range(repeats + 1):
        _wait()
        begin = time.perf_counter()
        work()
        _wait()
        found.append(time.perf_counter() - begin)
    return {"least": min(found[1:]), "median": statistics.median(found[1:]), "first": found[0]}


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _images(count: int, side: int, device: torch.device) -> Tensor:
    draw = torch.Generator().manual_seed(0)
    return torch.randn(count, 3, side, side, generator=draw).to(device)


def fixed(model: nn.Module, sizes: tuple[int, ...], side: int, repeats: int) -> list[dict]:
    """A call on few images, with the standard questions and without, beside a plain pass."""
    device, found = next(model.parameters()).device, []
    for count in sizes:
        x = _images(count, side, device)
        calls = {
            "call": lambda x=x: liegg.discover(model, x, liegg.Image("affine"), outputs="sum"),
            "no_questions": lambda x=x: liegg.discover(
                model, x, liegg.Image("affine"), outputs="sum", about=()
            ),
            "no_intervals": lambda x=x: liegg.discover(
                model, x, liegg.Image("affine"), outputs="sum", about=(), controls="none"
            ),
            "pass": lambda x=x, count=count: plain(model, x, count),
        }
        rows = {name: seconds(call, repeats) for name, call in calls.items()}
        beyond = {name: rows[name]["median"] - rows["pass"]["median"] for name in list(calls)[:-1]}
        found.append({"images": count, **rows, "beyond_the_pass": beyond})
        print(json.dumps(found[-1]), flush=True)
    return found


def asymptotic(
    model: nn.Module, sizes: tuple[int, ...], side: int, batch: int, each: int, repeats: int
) -> list[dict]:
    """Ratios to a plain pass: the sum of the outputs with intervals, and every output."""
    device, found = next(model.parameters()).device, []
    for count in sizes:
        x = _images(count, side, device)
        unit = seconds(lambda x=x: plain(model, x, batch), repeats)["median"]
        readings = {
            "sum": {"outputs": "sum"},
            "sum_no_questions": {"outputs": "sum", "about": ()},
            "sum_no_intervals": {"outputs": "sum", "about": (), "controls": "none"},
        }
        if count <= each:
            readings |= {"each": {}, "each_no_questions": {"about": ()}}
        row: dict[str, Any] = {"images": count, "batch_size": batch, "pass_seconds": unit}
        for name, options in readings.items():
            times = 1 if name.startswith("each") else repeats
            row[name] = _ratio(model, x, options, batch, times, unit)
        found.append(row)
        print(json.dumps(row), flush=True)
    return found


def growth(rows: list[dict]) -> dict[str, float]:
    """Ratios of what more images cost, between the fewest and the most: without what a call costs once."""
    first, last = rows[0], rows[-1]
    more = last["pass_seconds"] - first["pass_seconds"]
    if not more:
        return {}
    return {
        name: (last[name] * last["pass_seconds"] - first[name] * first["pass_seconds"]) / more
        for name in last
        if name.startswith("sum")
    }


def _ratio(
    model: nn.Module, x: Tensor, options: dict[str, Any], batch: int, repeats: int, unit: float
) -> float:
    run = liegg.Run(batch_size=batch)
    action = liegg.Image("affine")
    took = seconds(lambda: liegg.discover(model, x, action, run=run, **options), repeats)
    return took["median"] / unit


def waits(model: nn.Module, x: Tensor) -> list[dict]:
    """Lines of the package at which the host waits for the GPU, as torch counts them, and how often."""
    places: Counter[str] = Counter()

    def note(message: Any, category: Any, *_: Any, **__: Any) -> None:
        if "synchroniz" not in str(message):
            return
        frame, line = sys._getframe(1), ""
        while frame is not None:
            if "/liegg/" in frame.f_code.co_filename:
                name = frame.f_code.co_filename.split("/liegg/")[-1]
                line = f"{name}:{frame.f_lineno} {frame.f_code.co_name}"
                break
            frame = frame.f_back
        places[line] += 1

    if not torch.cuda.is_available():
        return []
    shown = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        torch.cuda.set_sync_debug_mode("warn")
        try:
            liegg.discover(model, x, liegg.Image("affine"), outputs="sum")
        finally:
            torch.cuda.set_sync_debug_mode("default")
            warnings.showwarning = shown
    return [{"place": place, "count": count} for place, count in places.most_common()]


def profiles(name: str, work: Callable[[], object], folder: Path) -> None:
    """Tables of one run: kernels, operations, and functions of the host."""
    work()
    kinds = [ProfilerActivity.CPU]
    kinds += [ProfilerActivity.CUDA] if torch.cuda.is_available() else []
    key = "self_device_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    with profile(activities=kinds) as seen:
        work()
        _wait()
    tables = [
        seen.key_averages().table(sort_by=order, row_limit=45, max_name_column_width=70)
        for order in (key, "self_cpu_time_total")
    ]
    host = cProfile.Profile()
    host.enable()
    work()
    _wait()
    host.disable()
    text = io.StringIO()
    for order in ("cumulative", "tottime"):
        pstats.Stats(host, stream=text).sort_stats(order).print_stats(90)
    (folder / f"profile-{name}.txt").write_text("\n\n".join([*tables, text.getvalue()]))


def paper(folder: Path, processes: int, studies: tuple[str, ...]) -> dict[str, float]:
    """Seconds of every study of the paper, start and figures included."""
    found = {}
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(processes)]
    launch = launch if processes > 1 else [sys.executable]
    environment = os.environ | {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 2) // processes))}
    for study in studies:
        out = folder / f"paper-{processes}"
        begin = time.perf_counter()
        done = subprocess.run(
            [*launch, "-m", "liegg", "reproduce", study, "--device", "cuda", "--out", str(out)],
            env=environment,
            capture_output=True,
            text=True,
        )
        found[study] = time.perf_counter() - begin
        if done.returncode:
            found[study] = float("nan")
            print(done.stderr[-2000:], flush=True)
        print(study, round(found[study], 1), flush=True)
    return found


def measure(chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Everything that was asked for."""
    gpu = torch.cuda.is_available()
    device = torch.device("cuda" if gpu else "cpu")
    small = not gpu
    side, batch = (32, 8) if small else (224, 128)
    torch.manual_seed(0)
    network = residual((8, 16, 16, 16), (1, 1, 1, 1), 20) if small else residual()
    network = network.to(device).eval()
    sizes = (8, 16) if small else (8, 32, 128)
    results: dict[str, Any] = {}
    if "fixed" in chosen.parts:
        results["fixed"] = fixed(network, sizes, side, 1 if small else 9)
    if "waits" in chosen.parts:
        results["waits"] = waits(network, _images(sizes[-1], side, device))
    if "asymptotic" in chosen.parts:
        many = (16,) if small else (2048, 8192)
        repeats = 1 if small else 3
        rows = asymptotic(network, many, side, batch, many[0], repeats)
        results["asymptotic"], results["per_image"] = rows, growth(rows)
    if "profiles" in chosen.parts:
        for name, count in (("few", sizes[-1]), ("many", 4 * sizes[-1])):
            x = _images(count, side, device)
            work = lambda x=x: liegg.discover(network, x, liegg.Image("affine"), outputs="sum")  # noqa: E731
            profiles(name, work, folder)
    del network
    if "transformer" in chosen.parts:
        torch.manual_seed(0)
        build = (32, 16, 16, 2, 2, 20) if small else (224, 16, 768, 12, 12, 1000)
        model = Transformer(*build).to(device).eval()
        count = 8 if small else 512
        results["transformer"] = asymptotic(model, (count,), side, batch // 2, count, 1)
        if "profiles" in chosen.parts:
            x = _images(count // 4, side, device)
            work = lambda: liegg.discover(model, x, liegg.Image("affine"), about=())  # noqa: E731
            profiles("transformer", work, folder)
    return results


def main() -> None:
    """Run, print, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("fixed", "waits", "asymptotic", "transformer", "profiles")
    parser.add_argument("--parts", nargs="*", default=parts[:-1], choices=parts)
    parser.add_argument(
        "--paper", type=int, default=0, help="processes for the studies; 0 for none"
    )
    parser.add_argument("--studies", nargs="*", default=PAPER, choices=PAPER)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    results = measure(chosen, chosen.out)
    if chosen.paper:
        results["paper"] = paper(chosen.out, chosen.paper, tuple(chosen.studies))
        results["paper_processes"] = chosen.paper
        results["paper_seconds"] = sum(results["paper"].values())
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    out = chosen.out / "bench-gpu-cost.json"
    store(results, out, "python benchmarks/gpu_cost.py", begin=begin, device=device)


if __name__ == "__main__":
    main()
