"""Symmetries of data sets without a model: known answers, false rejections, false discoveries, angles, speed.

Stored as results/data-sets.json by `python benchmarks/data_sets.py --processes 16`; `--quick` is for tests.

| part | what |
|---|---|
| counts | so(n) of a Gaussian, n = 2 … 6, and data sets with known symmetries: how often the count is right |
| angles | largest angle in degrees between the symmetries found and the true ones |
| rejections | share of true symmetries that a test at the 5 % level rejects |
| asymmetric | data sets without a symmetry: how often one is found |
| speed | one pass over many samples, one thread: seconds, and how much memory it adds |
"""

import argparse
import json
import math
import multiprocessing
import resource
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import liegg
from liegg.decision.distribution import pose_means, quadratic_test
from liegg.polarization import row_means
from liegg.polarization.displacement import Workspace
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.test_functions import fourier_features
from liegg.studies.provenance import write_json
from result_files import DOCS, RESULTS, put_tables, store

OUT = RESULTS / "data-sets.json"
ROTATIONS = {f"gaussian {n}": n * (n - 1) // 2 for n in range(2, 7)}
KNOWN = {
    "ring": 1,
    "cube": 0,
    "shell": 3,
    "stretched shell": 3,
    "half shell": 1,
    "lognormal": 0,
    "star": 0,
    "product": 4,
}
ASYMMETRIC = ("cube", "lognormal", "star", "exponential", "mixture", "beta", "skewed", "bent")
REPEATS = {100_000: 334, 20_000: 334, 5000: 334, 1000: 667, 500: 667}
"""Data sets of each size on which the tests at the 5 % level are tried, for each of three kinds and number of functions: the share
that is rejected is then known to 0.7 %, one standard error."""

FIXED = {"gaussian 3": (0, 1, 2), "shell": (0, 1, 2), "half shell": (0,)}


class Draw:
    """Random numbers of one data set."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.generator = count, torch.Generator().manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        """Normal numbers."""
        return torch.randn(self.count, *shape, generator=self.generator, dtype=torch.float64)

    def uniform(self, *shape: int) -> Tensor:
        """Numbers from 0 to 1."""
        return torch.rand(self.count, *shape, generator=self.generator, dtype=torch.float64)

    def shell(self, n: int) -> Tensor:
        """A sphere with a noisy radius."""
        x = self.normal(n)
        return x / x.norm(dim=1, keepdim=True) * (1 + 0.1 * self.normal(1))


def data_set(kind: str, count: int, seed: int) -> Tensor:
    """Samples of a distribution."""
    draw = Draw(count, seed)
    if kind.startswith("gaussian"):
        return draw.normal(int(kind.split()[1]))
    if kind in ("ring", "star"):
        return _plane(kind, draw)
    if kind == "conjugated":
        return draw.normal(4) @ conjugation().mT
    if kind in ("shell", "stretched shell", "half shell", "product"):
        x = draw.shell(3)
        if kind == "stretched shell":
            x = x * torch.tensor([1.0, 2.0, 0.6], dtype=torch.float64)
        if kind == "half shell":
            x[:, 2] = x[:, 2].abs()
        return torch.cat([x, draw.shell(2)], 1) if kind == "product" else x
    n = 2 + seed % 3
    if kind == "lognormal":
        return draw.normal(n).exp()
    if kind == "exponential":
        return -draw.uniform(n).log()
    if kind == "beta":
        return draw.uniform(n) ** torch.arange(2, n + 2, dtype=torch.float64)
    if kind == "skewed":
        x = draw.normal(n)
        return x + 0.4 * x.square() + 0.3 * x.roll(1, 1) * x
    if kind == "bent":
        # Normal numbers would keep the rotations about the bend.
        x = draw.normal(1)
        return torch.cat([x, 0.7 * x**2 - draw.uniform(n - 1).log()], 1)
    if kind == "mixture":
        centres = torch.randn(5, n, generator=draw.generator, dtype=torch.float64) * 1.5
        return centres[(draw.uniform() * 5).long()] + 0.4 * draw.normal(n)
    return draw.uniform(n) - 0.5


def _plane(kind: str, draw: Draw) -> Tensor:
    """A ring in space, or a noisy star with five points."""
    angle = 2 * math.pi * draw.uniform()
    radius = 1 + 0.1 * draw.normal()
    if kind == "star":
        angle = angle + 0.15 * torch.sin(5 * angle)
        radius = radius + 0.3 * torch.cos(5 * angle)
        return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    height = 0.5 * draw.normal() + 0.3 * draw.normal() ** 2
    return torch.stack([radius * angle.cos(), radius * angle.sin(), height], 1)


def conjugation() -> Tensor:
    """A matrix that makes an ellipsoid of a sphere."""
    generator = torch.Generator().manual_seed(5)
    noise = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    return torch.eye(4, dtype=torch.float64) + 0.3 * noise


def count_found(kind: str, samples: int, seed: int) -> dict[str, Any]:
    """The number of symmetries found, with what the tests say."""
    x = data_set(kind, samples, seed)
    sym = liegg.discover_data(x, liegg.Linear(x.shape[1]), run=liegg.Run(seed=seed))
    return {"found": sym.nullity, "undecided": sym.decision.undecided, "name": sym.name}


def angle_of(kind: str, samples: int, seed: int) -> dict[str, Any]:
    """Largest angle between the symmetries found and the true ones, in degrees; none if the count is wrong."""
    x = data_set(kind, samples, seed)
    begin = time.perf_counter()
    sym = liegg.discover_data(x, liegg.Linear(x.shape[1]), run=liegg.Run(seed=seed))
    seconds = time.perf_counter() - begin
    if kind == "ring":
        true = liegg.so(3)[[0]]
    else:
        matrix = conjugation()
        true = matrix @ liegg.so(4).double() @ torch.linalg.inv(matrix)
    right = sym.nullity == len(true)
    angle = math.degrees(float(sym.angles(true).max())) if right else None
    return {"angle": angle, "stated": math.degrees(sym.decision.uncertainty), "seconds": seconds}


def rejected(kind: str, samples: int, functions: int, seed: int) -> dict[str, Any]:
    """Whether tests at the 5 % level reject true symmetries: the first alone, and all together."""
    x = data_set(kind, samples, seed)
    action = liegg.Linear(3).restrict(liegg.so(3)[list(FIXED[kind])])
    features = fourier_features(x[:4096], functions, seed=seed)
    # Rows of the candidates alone, not of the action that they are taken from: the covariance is the same and much cheaper.
    state, workspace = row_means.init(features, action, x, 32), Workspace(action)
    for part in x.split(8192):
        hashes = sample_hashes(part)
        covers = hashes // 32 % 2**20 < 2**20 * 20_000 // samples
        state = row_means.update(state, features, workspace, part, block=hashes % 32, covers=covers)
    sums = row_means.finalise(state, action, x)
    displacement = action.displacement(sums.moment, sums.samples)
    problem = pose_means(sums, displacement, 1e-12)
    eye = torch.eye(problem.mean.shape[1], dtype=torch.float64)
    tests = [quadratic_test(problem, eye[:, :1]), quadratic_test(problem, eye)]
    return {"one": tests[0].p_value < 0.05, "all": tests[1].p_value < 0.05}


def speed(samples: int) -> dict[str, Any]:
    """Seconds and added memory of one analysis in R^4 with 16 candidates and 100 functions."""
    x = data_set("gaussian 4", samples, 0)
    small = x[: samples // 10].clone()
    peaks, times = [], []
    for data in (small, x):
        begin = time.perf_counter()
        liegg.discover_data(data, liegg.Linear(4), functions=100)
        times.append(time.perf_counter() - begin)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return {"samples": samples, "seconds": times[1], "added_megabytes": peaks[1] - peaks[0]}


TASKS = {
    "counts": count_found,
    "angles": angle_of,
    "rejections": rejected,
    "asymmetric": count_found,
}


def tasks(quick: bool) -> list[tuple[str, tuple[Any, ...]]]:
    """Everything that is computed, the longest first."""
    n, many = (3000, 1) if quick else (20_000, 100)
    chosen = []
    for kind in ["gaussian 2", "gaussian 3"] if quick else reversed(ROTATIONS):
        chosen += [("counts", (kind, n, seed)) for seed in range(many)]
    for kind in KNOWN:
        chosen += [("counts", (kind, n, 3 * seed + 1)) for seed in range(1 if quick else 20)]
    for kind in ("conjugated", "ring"):
        for size in (n,) if quick else (200_000, 20_000):
            chosen += [("angles", (kind, size, seed)) for seed in range(1 if quick else 10)]
    for size in (500,) if quick else tuple(REPEATS):
        for functions in (20,) if quick else (200, 60, 20):
            for kind in FIXED:
                each = (kind, size, functions)
                repeats = 1 if quick else REPEATS[size]
                chosen += [("rejections", (*each, seed)) for seed in range(repeats)]
    each = 1 if quick else 27
    for kind in ASYMMETRIC:
        sizes = (n,) if quick else (5000, 20_000)
        chosen += [("asymmetric", (kind, sizes[s % len(sizes)], s)) for s in range(each)]
    return chosen


def _run(task: tuple[str, tuple[Any, ...]]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    torch.set_num_threads(1)
    part, arguments = task
    return part, arguments, TASKS[part](*arguments)


def summary(rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> dict[str, Any]:
    """The rows of every part, by what was asked."""
    groups: dict[str, dict[tuple[Any, ...], list[dict[str, Any]]]] = {
        part: defaultdict(list) for part in TASKS
    }
    for part, arguments, row in rows:
        groups[part][arguments[:-1]].append(row)
    true = ROTATIONS | KNOWN
    return {
        "counts": [
            {
                "data": kind,
                "samples": samples,
                "true": true[kind],
                "sets": len(found),
                "right": sum(one["found"] == true[kind] for one in found),
                "undecided": sum(one["undecided"] > 0 for one in found),
            }
            for (kind, samples), found in groups["counts"].items()
        ],
        "angles": [
            {
                "data": kind,
                "samples": samples,
                "degrees": [one["angle"] for one in found],
                "stated": [one["stated"] for one in found],
                "seconds": sorted(one["seconds"] for one in found)[len(found) // 2],
            }
            for (kind, samples), found in groups["angles"].items()
        ],
        "rejections": [
            {
                "data": kind,
                "samples": samples,
                "functions": functions,
                "sets": len(found),
                "one": sum(row["one"] for row in found) / len(found),
                "all": sum(row["all"] for row in found) / len(found),
            }
            for (kind, samples, functions), found in groups["rejections"].items()
        ],
        "asymmetric": {
            "sets": sum(map(len, groups["asymmetric"].values())),
            "false": sum(
                one["found"] > 0 for found in groups["asymmetric"].values() for one in found
            ),
            "undecided": sum(
                one["undecided"] > 0 for found in groups["asymmetric"].values() for one in found
            ),
        },
    }


def count_table(found: dict[str, Any]) -> list[str]:
    """How often the count is right."""
    return [
        "| data | symmetries | right | undecided |",
        "|---|---|---|---|",
        *[
            f"| {one['data']} | {one['true']} | {one['right']} of {one['sets']} | {one['undecided']} |"
            for one in found["counts"]
        ],
    ]


def angle_table(found: dict[str, Any]) -> list[str]:
    """Angles to the true symmetries."""
    rows = []
    for one in found["angles"]:
        known = sorted(value for value in one["degrees"] if value is not None)
        if known:
            middle, worst = known[len(known) // 2], known[-1]
            rows.append(
                f"| {one['data']} | {one['samples']:,} | {middle:.2f}° | {worst:.2f}° | {one['seconds']:.1f} s |"
            )
    return ["| data | samples | median | largest | time |", "|---|---|---|---|---|", *rows]


def rejection_table(found: dict[str, Any]) -> list[str]:
    """False rejections, means over the data sets."""
    groups: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for one in found["rejections"]:
        groups[one["samples"], one["functions"]].append(one)
    rows = []
    for (samples, functions), each in sorted(groups.items()):
        one, both = (100 * sum(row[key] for row in each) / len(each) for key in ("one", "all"))
        sets = sum(row["sets"] for row in each)
        rows.append(f"| {samples:,} | {functions} | {one:.1f} % | {both:.1f} % | {sets:,} |")
    return ["| samples | functions | one | all | data sets |", "|---|---|---|---|---|", *rows]


def error_lines(found: dict[str, Any]) -> list[str]:
    """False discoveries and speed."""
    wrong, quick = found["asymmetric"], found["speed"]
    return [
        f"Of {wrong['sets']} data sets without a symmetry, {wrong['false']} were given one, and {wrong['undecided']} were undecided. "
        f"One pass over {quick['samples']:,} samples in R⁴ with 16 candidates and 100 functions took {quick['seconds']:.0f} s on one "
        f"core and {quick['added_megabytes']:.0f} MB more than a tenth of the samples."
    ]


TABLES = {
    "counts": count_table,
    "angles": angle_table,
    "rejections": rejection_table,
    "errors": error_lines,
}
"""Tables of docs/data-sets.md, by their marks."""


def keep(earlier: Path, out: Path) -> dict[str, Any]:
    """Add the parts that only earlier results have, each with where it comes from."""
    new, old = (json.loads(path.read_text(encoding="utf-8")) for path in (out, earlier))
    parts = {part: old[part] for part in (*TASKS, "speed") if part in old and part not in new}
    origins = old.get("kept", {})
    new |= parts | {"kept": {part: origins.get(part, old["provenance"]) for part in parts}}
    write_json(new, out)
    return new


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", nargs="*", default=[*TASKS, "speed"])
    parser.add_argument("--keep", type=Path, help="earlier results, of which other parts are kept")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this long")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    torch.set_num_threads(1)
    begin = time.perf_counter()
    results: dict[str, Any] = {}
    if "speed" in given.parts:
        results["speed"] = speed(100_000 if given.quick else 1_000_000)
    chosen = [task for task in tasks(given.quick) if task[0] in given.parts]
    if given.processes == 1:
        rows = [_run(task) for task in chosen]
    else:
        with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
            rows = []
            for row in pool.imap_unordered(_run, chosen, chunksize=1):
                rows.append(row)
                if time.perf_counter() - begin > given.seconds:
                    break
    rows.sort(key=lambda row: (row[0], tuple(map(str, row[1]))))
    results["left_out"] = len(chosen) - len(rows)
    results |= {part: found for part, found in summary(rows).items() if part in given.parts}
    command = (
        f"python benchmarks/data_sets.py{' --quick' * given.quick} --parts {' '.join(given.parts)} "
        f"--processes {given.processes}{' --keep FILE' * (given.keep is not None)}"
    )
    store(results, given.out, command, begin=begin)
    if given.keep is not None:
        results = keep(given.keep, given.out)
    if given.out == OUT and not given.quick and {*TASKS, "speed"} <= {*results}:
        found = {name: "\n".join(["", *lines(results), ""]) for name, lines in TABLES.items()}
        put_tables(DOCS / "data-sets.md", found)
    print(f"{len(rows)} data sets in {time.perf_counter() - begin:.0f} s: {given.out}")


if __name__ == "__main__":
    main()
