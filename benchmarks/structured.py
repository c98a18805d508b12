"""Cost of structured samples, and of plain ones before and after they existed; stored as results/bench-structured.json.

| part | question |
|---|---|
| plain | time of calls on plain tensors over that of another checkout, in turns; `benchmarks/before_after.py` has the calls |
| overhead | time of a call on a dictionary over that of one on its tensor; of ragged graphs over graphs of one size, padded by hand |

python benchmarks/structured.py --other ../base/src
"""

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import before_after
import liegg
from measure import alternating
from result_files import RESULTS, store

OUT = RESULTS / "bench-structured.json"
ATOMS, FEWEST = 8, 4


class Pairs(nn.Module):
    """A sum over pairs of points, `[b, n, 3]` with atomic numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.pair = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, z: Tensor, pos: Tensor) -> Tensor:
        """Every ordered pair once."""
        squares = (pos[:, :, None] - pos[:, None]).square().sum(-1, keepdim=True)
        h = self.embedding(z)
        return self.pair(torch.cat([h[:, :, None] * h[:, None], torch.exp(-squares)], -1)).sum(
            (1, 2)
        )


def overhead(samples: int, repeats: int) -> dict[str, float]:
    """Processor seconds of plain and structured calls on the same numbers, and their ratios."""
    torch.manual_seed(0)
    pos, z = torch.randn(samples, ATOMS, 3), torch.randint(0, 10, (ATOMS,))
    model = Pairs()
    batch = {"z": z.expand(samples, ATOMS), "pos": pos}
    sizes = [FEWEST + i % (ATOMS - FEWEST + 1) for i in range(samples)]
    clouds = [{"z": z[:n], "pos": pos[i, :n]} for i, n in enumerate(sizes)]

    def plain() -> Any:
        return liegg.discover(
            lambda x: model(batch["z"][: len(x)], x), pos, liegg.Affine(3, copies=ATOMS)
        )

    def dictionary() -> Any:
        return liegg.discover(model, batch, {"pos": liegg.Affine(3, copies=ATOMS)})

    def ragged() -> Any:
        return liegg.discover(model, clouds, {"pos": liegg.Affine(3, copies=None)})

    works = {"plain": plain, "dictionary": dictionary, "ragged": ragged}
    seconds = alternating(works, repeats, time.process_time)
    ratios = {
        f"{name}_ratio": seconds[name] / seconds["plain"] for name in ("dictionary", "ragged")
    }
    return {f"{name}_seconds": value for name, value in seconds.items()} | ratios


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--other", type=Path, help="folder src of a checkout without structured samples"
    )
    parser.add_argument("--rounds", type=int, default=3, help="processes per checkout")
    parser.add_argument("--repeats", type=int, default=5, help="measured calls")
    parser.add_argument("--quick", action="store_true", help="fewer samples: does it run?")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    begin, samples = time.perf_counter(), 100 if options.quick else 2_000
    plain = []
    if options.other is not None:
        plain = before_after.compare(
            options.other, options.rounds, options.repeats, match="", quick=options.quick
        )
    found = {"samples": samples} | overhead(samples, options.repeats)
    command = "python benchmarks/structured.py --other OTHER/src" + " --quick" * options.quick
    results = {
        "study": "bench-structured",
        "quick": options.quick,
        "rounds": options.rounds,
        "repeats": options.repeats,
        "plain": plain,
        "overhead": found,
    }
    store(results, options.out, command, begin=begin)
    for row in plain:
        print(
            f"{row['call']:<56} ratio {row['processor_ratio']:.2f} (wall clock {row['wall_ratio']:.2f})"
        )
    print(found)


if __name__ == "__main__":
    main()
