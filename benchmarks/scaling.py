"""Strong and weak scaling over processes with one thread each, stored as results/bench-scaling.json.

One and two processes (gloo) read the same data in turns. What more of them would do is not measured but predicted, by a model with
three numbers from the same run: what does not depend on the samples, what each sample takes, what merging two processes takes.
"""

import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

import liegg
from perceptrons import perceptron
from result_files import options, store

NUMBERS = 64
AIM = 1.6
"""How many times faster two processes should be than one."""

PREDICTED = (4, 8, 16, 64)
"""Numbers of processes for which the model is asked."""

LARGE = 10_000_000
"""Samples of the second prediction."""

Times = dict[int, dict[int, list[float]]]
"""Seconds of every call, by number of processes and of samples."""


class Costs(NamedTuple):
    """A model of the time of N samples in P processes: `fixed + sample · N / P + merge · log₂ P`, in seconds."""

    fixed: float
    sample: float
    merge: float

    def seconds(self, samples: int, processes: int) -> float:
        """Time that the model predicts.

        >>> Costs(0.5, 1e-3, 0.1).seconds(4000, 4)
        1.7
        """
        return (
            self.fixed
            + self.sample * samples / processes
            + self.merge * math.ceil(math.log2(processes))
        )


def work(sizes: list[int], repeats: int, out: Path) -> None:
    """What each process does: the whole call, so and so often, begun by all together; the first writes down the times."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = perceptron(NUMBERS, 256, 256, 256, 10)
    data = torch.randn(max(sizes), NUMBERS, generator=torch.Generator().manual_seed(0))
    action, times, defects = liegg.Linear(4, copies=NUMBERS // 4), {}, []
    for size in [
        min(sizes),
        *sizes,
    ]:  # the first is thrown away: code is loaded, connections are made
        times[size] = []
        for _ in range(repeats):
            dist.barrier()
            begin = time.perf_counter()
            defects = liegg.discover(model, data[:size], action, outputs="sum").defects.tolist()
            times[size].append(time.perf_counter() - begin)
    if dist.get_rank() == 0:
        out.write_text(json.dumps({"times": times, "defects": defects}))
    dist.barrier()
    dist.destroy_process_group()


def run(processes: int, sizes: list[int], repeats: int) -> dict[str, Any]:
    """Start several processes on this machine, as a scheduler would; times and defects of the largest size."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port, out = free.getsockname()[1], Path(folder) / "times.json"
        free.close()
        common = os.environ | {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, __file__, "--work", str(out), str(repeats), *map(str, sizes)]
        started = [
            subprocess.Popen(
                command, env=common | {"WORLD_SIZE": str(processes), "RANK": str(rank)}
            )
            for rank in range(processes)
        ]
        if any(codes := [process.wait() for process in started]):
            raise RuntimeError(f"the processes ended with {codes}")
        return json.loads(out.read_text())


def costs(times: Times) -> Costs:
    """The three numbers of the model: the first two from one process, the last from what two take for the fewest samples."""
    few, _, many = sorted(times[1])
    alone = {size: statistics.median(values) for size, values in times[1].items()}
    sample = (alone[many] - alone[few]) / (many - few)
    fixed = max(alone[few] - sample * few, 0.0)
    return Costs(
        fixed, sample, max(statistics.median(times[2][few]) - fixed - sample * few / 2, 0.0)
    )


def solve_and_decide(times: Times) -> dict[str, Any]:
    """Speed-ups, and what the model says of them and of more processes."""
    _, base, twice = sorted(times[1])
    seconds = {
        count: {size: statistics.median(values) for size, values in found.items()}
        for count, found in times.items()
    }
    model = costs(times)
    predicted = [
        {
            "processes": count,
            **{
                name: model.seconds(size, 1) / model.seconds(size, count)
                for name, size in (("strong", twice), ("large", LARGE))
            },
            "weak": model.seconds(base, 1) / model.seconds(count * base, count),
        }
        for count in (2, *PREDICTED)
    ]
    return {
        "seconds": seconds,
        "strong": {"samples": twice, "speed_up": seconds[1][twice] / seconds[2][twice], "aim": AIM},
        "weak": {"samples_each": base, "efficiency": seconds[1][base] / seconds[2][twice]},
        "model": model._asdict(),
        "large": LARGE,
        "predicted": predicted,
    }


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-scaling.json", quick="few samples, for a look")
    chosen = parser.parse_args()
    sizes, rounds, repeats = (
        ([500, 1_000, 2_000], 1, 1) if chosen.quick else ([4_096, 100_000, 200_000], 3, 3)
    )
    begin, times, defects = (
        time.perf_counter(),
        {1: {size: [] for size in sizes}, 2: {size: [] for size in sizes}},
        {},
    )
    for _ in range(rounds):
        for count in times:
            found = run(count, sizes, repeats)
            defects[count] = found["defects"]
            for size in sizes:
                times[count][size] += found["times"][str(size)]
    gap = max(abs(one / other - 1) for one, other in zip(defects[1], defects[2], strict=True))
    results = {**solve_and_decide(times), "largest_difference": gap, "threads_each": 1}
    print(json.dumps(results, indent=1))
    store(results, chosen.out, "python benchmarks/scaling.py", begin=begin)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work([int(size) for size in sys.argv[4:]], int(sys.argv[3]), Path(sys.argv[2]))
    else:
        main()
