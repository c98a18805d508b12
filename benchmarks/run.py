"""All benchmarks: ratios measured in one run, stored as results/bench-core.json.

Compared are the product and the paper's formula written plainly (`dense.py`), on the same model and data.
"""

import time
from pathlib import Path

import torch
from torch import nn

import liegg
from dense import dense_rows, dense_spectrum
from liegg.inputs.pieces import BATCH_SIZE
from measure import alternating, in_process
from perceptrons import perceptron
from result_files import options, store

HERE = Path(__file__).parent


def speed(n: int, samples: int) -> dict[str, float]:
    """Whole extraction of gl(n) against the dense float32 SVD: as called by default (full), and thin."""
    model = perceptron(n, 64, 64, 1)
    x = torch.randn(samples, n)
    times = alternating(
        {
            "dense_full": lambda: dense_spectrum(dense_rows(model, x, n), full=True),
            "dense_thin": lambda: dense_spectrum(dense_rows(model, x, n)),
            "liegg": lambda: liegg.discover(
                model, x, liegg.Linear(n), outputs="sum", controls="none"
            ),
            "liegg_with_spectrum": lambda: (
                liegg.discover(model, x, liegg.Linear(n), outputs="sum", controls="none").spectrum
            ),
        },
        repeats=3,
    )
    ratios = {
        f"{name}_ratio": times[name] / times["liegg"] for name in ("dense_full", "dense_thin")
    }
    return {
        "n": n,
        "samples": samples,
        **{f"{name}_seconds": value for name, value in times.items()},
        **ratios,
    }


def memory(counts: tuple[int, ...]) -> dict[str, object]:
    """Peak extra memory of both, each in a new process; n = 16."""
    script = HERE / "memory.py"
    streamed = {
        str(count): in_process(script, "streamed", str(count))["extra_bytes"] for count in counts
    }
    dense = in_process(script, "dense", str(counts[-1]))["extra_bytes"]
    return {
        "n": 16,
        "streamed_bytes": streamed,
        "dense_bytes": dense,
        "samples": counts[-1],
        "ratio": dense / max(streamed[str(counts[-1])], 1),
    }


def overhead(samples: int) -> dict[str, float]:
    """Whole extraction with six generators against one plain forward and backward pass of an MLP 784→5×128→10."""
    model = perceptron(784, *[128] * 5, 10)
    x, labels = torch.randn(samples, 784), torch.randint(10, (samples,))
    action = liegg.Affine(2, copies=392)

    def plain(size: int) -> None:
        for batch, classes in zip(x.split(size), labels.split(size), strict=True):
            model.zero_grad()
            nn.functional.cross_entropy(model(batch), classes).backward()

    times = alternating(
        {
            "forward_backward_512": lambda: plain(512),
            "forward_backward": lambda: plain(BATCH_SIZE),
            "sum": lambda: liegg.discover(model, x, action, outputs="sum", controls="none"),
            "each": lambda: liegg.discover(model, x, action, outputs="each", controls="none"),
        }
    )
    return {
        "samples": samples,
        **{f"{name}_seconds": value for name, value in times.items()},
        "batch_size": BATCH_SIZE,
        "sum_ratio": times["sum"] / times["forward_backward"],
        "sum_ratio_512": times["sum"] / times["forward_backward_512"],
        "each_ratio_512": times["each"] / times["forward_backward_512"],
        "each_ratio": times["each"] / times["forward_backward"],
    }


def main() -> None:
    """Run, print a table, store the numbers."""
    parser = options(__doc__, "bench-core.json", quick="small sizes, for a look")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    sizes = (
        [(8, 2_000), (16, 2_000)] if chosen.quick else [(16, 10_000), (32, 10_000), (48, 10_000)]
    )
    counts = (4_000,) if chosen.quick else (10_000, 50_000, 200_000)
    speeds = [speed(*size) for size in sizes]
    results: dict[str, object] = {"speed": speeds}
    for row in speeds:
        print(
            f"gl({row['n']}): dense {row['dense_full_seconds']:.2f} s full, {row['dense_thin_seconds']:.2f} s thin, liegg "
            f"{row['liegg_seconds']:.2f} s: {row['dense_full_ratio']:.1f} and {row['dense_thin_ratio']:.1f} times faster"
        )
    results["memory"] = kept = memory(counts)
    print(
        f"extra bytes, {kept['samples']} samples: dense {kept['dense_bytes']}, streamed {kept['streamed_bytes']}"
    )
    results["overhead"] = cost = overhead(1_000 if chosen.quick else 100_000)
    print(
        f"against one forward+backward: sum {cost['sum_ratio']:.2f}x ({cost['sum_ratio_512']:.2f}x of one in batches of 512), "
        f"each output {cost['each_ratio']:.2f}x"
    )
    store(results, chosen.out, "make bench", begin=begin)
    print(f"stored in {chosen.out}")


if __name__ == "__main__":
    main()
