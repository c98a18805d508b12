"""Outputs as they are, or whitened: which finds more, and which is wrong less often.

Two questions. Traps with several outputs, of series 0, analysed in both ways. And classifiers that are
trained on the length of their input, so that the difference of any two logits should keep all rotations:
nobody trains the sum of the logits.

    python benchmarks/output_whitening.py
"""

import argparse
import json
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import nn

import liegg
from liegg.discovery.output_whitening import AskedOutputs
from liegg.studies.error_rates.cases import Trap
from liegg.studies.error_rates.traps_catalog import Key, make
from liegg.studies.error_rates.traps_judgement import judge_trap
from result_files import RESULTS, store

ROOT = Path(__file__).parents[1]

WAYS: tuple[AskedOutputs, ...] = ("each", "whitened")

FAMILIES = (
    "uneven outputs",
    "mixed outputs",
    "unused outputs",
    "unused features",
    "invariant networks",
    "planted ε",
    "random functions",
    "softmax probabilities",
    "large common part",
)
"""Traps with several outputs and without an action on them."""


def judged_in(way: AskedOutputs, key: Key) -> str:
    """The verdict on a trap whose outputs are read in a way."""
    trap = make(key)
    if not isinstance(trap, Trap):
        raise TypeError(f"{key} is about names, not about a function.")
    return judge_trap(trap, outputs=way)["verdict"]


def classifier(classes: int, seed: int, steps: int) -> tuple[nn.Module, torch.Tensor]:
    """A network trained to tell shells of R³, and its data."""
    torch.manual_seed(seed)
    x = torch.randn(6000, 3, dtype=torch.float64)
    radius = x.norm(dim=1)
    ends = torch.quantile(radius, torch.linspace(0, 1, classes + 1)[1:-1].double())
    labels = torch.bucketize(radius, ends)
    sizes = (3, 64, 64, classes)
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.SiLU())]
    network = nn.Sequential(*layers[:-1]).double()
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.1)
    for _ in range(steps):
        some = torch.randint(len(x), (256,))
        loss = nn.functional.cross_entropy(network(x[some]), labels[some])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network, x[:1500]


def classifiers(seeds: int, steps: int) -> list[dict[str, Any]]:
    """What both ways find of trained classifiers."""
    rows = []
    for classes in (2, 3, 6):
        for seed in range(seeds):
            network, x = classifier(classes, seed, steps)
            row: dict[str, Any] = {"classes": classes, "seed": seed}
            for way in WAYS:
                sym = liegg.discover(network, x, liegg.Linear(3), outputs=way)
                row[str(way)] = {"nullity": sym.nullity, "defects": sym.defects[:4].tolist()}
            rows.append(row)
    return rows


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=12, help="traps of each family")
    parser.add_argument("--seeds", type=int, default=4, help="classifiers of each kind")
    parser.add_argument("--steps", type=int, default=1500, help="training steps")
    parser.add_argument("--out", type=Path, default=RESULTS / "output-whitening.json")
    given = parser.parse_args()
    begin = time.perf_counter()
    keys = [Key(family, index, 0) for family in FAMILIES for index in range(given.each)]
    verdicts = {str(way): dict(Counter(judged_in(way, key) for key in keys)) for way in WAYS}
    rows = classifiers(given.seeds, given.steps)
    found = {str(way): sum(row[str(way)]["nullity"] == 3 for row in rows) for way in WAYS}
    results = {
        "study": "output-whitening",
        "traps": {"cases": len(keys), "families": list(FAMILIES), **verdicts},
        "classifiers": {"cases": len(rows), "found": found, "rows": rows},
    }
    store(results, given.out, "python benchmarks/output_whitening.py", begin=begin)
    print(json.dumps(results["traps"], indent=1), json.dumps(found))


if __name__ == "__main__":
    main()
