"""Peak memory of streamed data: the same for 200 000 samples and for two million.

python tests/reliability/memory_trials.py WAY SAMPLES    prints the extra memory in bytes, as JSON
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor, nn

import liegg

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from measure import in_process, peak_bytes, reset_peak, resident_bytes

WAYS = ("discover", "discover with a checkpoint", "discover_layers")
"""What reads the data."""

FEW, MANY = 200_000, 2_000_000
"""Numbers of samples that are compared."""

ALLOWED = 8.0
"""MiB by which the peak may grow; eight bytes for every further sample would be 14."""


class Streamed:
    """Normal samples in batches, made when asked for, so that the data itself takes no memory; re-iterable."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(0)
        for start in range(0, self.samples, 1000):
            yield torch.randn(min(1000, self.samples - start), 4, generator=generator)


def analyse(way: str, samples: int) -> int:
    """Read all samples in one of the ways; how many were read."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
    data, action = Streamed(samples), liegg.Linear(4)
    if way == "discover_layers":
        return liegg.discover_layers(model, data, action)[-1].invariance.samples
    with tempfile.TemporaryDirectory() as place:
        checkpoint = None if way == "discover" else Path(place) / "c"
        run = liegg.Run(checkpoint=checkpoint, checkpoint_every=0.5)
        return liegg.discover(model, data, action, run=run).samples


RETURNED = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
"""Settings of glibc with which freed memory is handed back at once, so that the peak is that of memory in use: without them it
differs by 13 MiB from run to run."""


def measured() -> dict[str, dict[str, float]]:
    """Extra MiB at the peak, for each way and each number of samples."""
    with patch.dict(os.environ, RETURNED):
        return _measured()


def _measured() -> dict[str, dict[str, float]]:
    return {
        way: {
            f"{samples:_} samples".replace("_", " "): round(
                in_process(Path(__file__), way, str(samples))["extra_bytes"] / 2**20, 1
            )
            for samples in (FEW, MANY)
        }
        for way in WAYS
    }


def flat(found: dict[str, dict[str, float]]) -> bool:
    """Whether two million samples take no more memory than a tenth of them."""
    return all(many - few < ALLOWED for few, many in (row.values() for row in found.values()))


def main() -> None:
    """Measure, with code and libraries in memory before the measurement begins."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    way, samples = sys.argv[1], int(sys.argv[2])
    analyse(way, 5000)
    before = resident_bytes()
    reset_peak()
    if analyse(way, samples) != samples:
        raise SystemExit("not all samples were read")
    print(json.dumps({"extra_bytes": peak_bytes() - before}))


if __name__ == "__main__":
    main()
