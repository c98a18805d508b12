"""Cost of a call that does not depend on the number of samples, stored as results/bench-fixed-cost.json.

Three tables: processor time on one core beside one forward and backward pass, for fewer and fewer samples; the same in seconds on
a GPU, where there is one, for a network of ResNet-50 size; and how much longer a call takes on all threads than on one while the
other cores are busy.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

import liegg
from liegg._utils.threads import threads
from liegg.actions import Action
from measure import in_process
from perceptrons import perceptron
from result_files import options, store
from scale import residual, timed

SAMPLES = (50, 200, 1000, 2000, 10_000)
IMAGES = (8, 32, 128)

Case = tuple[nn.Module, Tensor, Action]


def small(samples: int) -> Case:
    """A perceptron of 113 weights in float64 and all linear maps of its five inputs."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    return model, torch.randn(samples, 5, dtype=torch.float64), liegg.Linear(5)


def two_vectors(samples: int) -> Case:
    """A perceptron of the size of the paper's O(5) networks, in float32."""
    model = perceptron(10, 32, 32, 32, 32, 1)
    return model, torch.randn(samples, 10), liegg.Linear(5, copies=2)


CASES: dict[str, Callable[[int], Case]] = {
    "perceptron in float64": small,
    "O(5) network": two_vectors,
}


def forward_and_backward(model: nn.Module, x: Tensor) -> None:
    """One plain pass of all samples, with derivatives with respect to the samples."""
    x = x.clone().requires_grad_()
    torch.autograd.grad(model(x).sum(), x)


def processor_seconds(work: Callable[[], object], repeats: int) -> float:
    """Median processor time, after two runs that warm up."""
    found = []
    for turn in range(repeats + 2):
        begin = time.process_time()
        work()
        if turn >= 2:
            found.append(time.process_time() - begin)
    return statistics.median(found)


def on_one_core(name: str, samples: int, repeats: int) -> dict[str, object]:
    """Processor time of a call and of one plain pass."""
    model, x, action = CASES[name](samples)
    with threads(1):
        call = processor_seconds(lambda: liegg.discover(model, x, action), repeats)
        plain = processor_seconds(lambda: forward_and_backward(model, x), repeats)
    return {
        "case": name,
        "samples": samples,
        "call_seconds": call,
        "pass_seconds": plain,
        "ratio": call / plain,
    }


def on_a_gpu(images: int, repeats: int) -> dict[str, object]:
    """Seconds of a call and of one plain pass of a network of ResNet-50 size; the GPU is waited for at the end of each."""
    model = residual().cuda().eval()
    x = torch.rand(images, 3, 224, 224, generator=torch.Generator().manual_seed(0)).cuda()
    action = liegg.Image("affine")
    call = timed(lambda: liegg.discover(model, x, action, outputs="sum"), x.device, repeats)
    plain = timed(lambda: forward_and_backward(model, x), x.device, repeats)
    return {"images": images, "call_seconds": call, "pass_seconds": plain, "ratio": call / plain}


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep cores busy with processes that only count."""
    loop = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(loop) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def beside_others(repeats: int) -> dict[str, object]:
    """Seconds of a call on all threads and on one, in turns, while all other cores are busy."""
    cores = os.cpu_count() or 2
    found: dict[str, list[float]] = {"all": [], "one": []}
    with busy(max(1, cores - 1)):
        for _ in range(repeats):
            for name, count in (("all", max(2, cores)), ("one", 1)):
                words = ("--call", str(count))
                found[name].append(in_process(Path(__file__), *words)["seconds"])
    every, one = statistics.median(found["all"]), statistics.median(found["one"])
    return {"cores": cores, "all_seconds": every, "one_seconds": one, "ratio": every / one}


def one_call(count: int) -> dict[str, float]:
    """Median seconds of a few calls on a number of threads."""
    torch.set_num_threads(count)
    model, x, action = small(200)
    found = []
    for _ in range(6):
        begin = time.perf_counter()
        liegg.discover(model, x, action)
        found.append(time.perf_counter() - begin)
    return {"seconds": statistics.median(found[1:])}


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-fixed-cost.json", quick="few sizes, once, for a look")
    parser.add_argument("--call", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.call is not None:
        print(json.dumps(one_call(chosen.call)))
        return
    begin, gpu, quick = time.perf_counter(), torch.cuda.is_available(), chosen.quick
    results: dict[str, object] = {}
    sizes = SAMPLES[:2] if quick else SAMPLES
    results["cpu"] = [on_one_core(name, n, 2 if quick else 15) for name in CASES for n in sizes]
    images = IMAGES[:1] if quick else IMAGES
    results["cuda"] = [on_a_gpu(n, 1 if quick else 7) for n in images] if gpu else []
    results["busy"] = beside_others(1 if quick else 5)
    print(json.dumps(results, indent=1), flush=True)
    device = "cuda" if gpu else "cpu"
    store(results, chosen.out, "python benchmarks/fixed_cost.py", begin=begin, device=device)


if __name__ == "__main__":
    main()
