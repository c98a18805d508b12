"""Symmetries of real and simulated data sets, stored as results/real-data-sets.json.

`python benchmarks/real_data_sets.py --folder DATA` reads `cms/`, `jets/`, `mnist/` and `cifar10/` of a folder; see docs/howto-data.md.

| part | what |
|---|---|
| cms | pairs of muons: the rotation about the beam, and no other Lorentz transformation |
| jets | constituents lie on a mass shell, which has the Lorentz group; the momenta of jets do not; a classifier does |
| images | MNIST, rotated MNIST and CIFAR-10: motions of the plane and of the colours |
| orbits | two bodies: rotations of positions and momenta together, and of pairs of times |
| series | stationary and growing series: time translation |
"""

import argparse
import csv
import gzip
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import liegg
from liegg.decision.quadratic_test import QuadraticTest
from liegg.results.symmetries import Symmetries
from liegg.studies.datasets import rotated
from result_files import DOCS, RESULTS, put_tables, store

OUT = RESULTS / "real-data-sets.json"
MINKOWSKI = torch.diag(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64))
PLANE = {
    "rotation": [[0.0, -1.0], [1.0, 0.0]],
    "scaling": [[1.0, 0.0], [0.0, 1.0]],
    "stretch along the axes": [[1.0, 0.0], [0.0, -1.0]],
    "stretch along the diagonals": [[0.0, 1.0], [1.0, 0.0]],
}
COLOURS = {
    "hue": [[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]],
    "saturation": [[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]],
    "brightness": [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    "red against blue": [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
}
"""Motions of images that have names: matrices on places and on red, green and blue."""

FEW_FUNCTIONS = 20
"""Test functions with which the muons are tested again: a change that few functions see is diluted less."""

OTHER_SEEDS = range(1, 5)
"""Seeds of the networks that learn the label again."""

LORENTZ = ("boost x", "boost y", "boost z", "rotation xy", "rotation xz", "rotation yz")


def told(sym: Symmetries, seconds: float) -> dict[str, Any]:
    """What is stored of a result."""
    record: dict[str, Any] = {
        "samples": sym.samples,
        "symmetries": sym.nullity,
        "undecided": sym.decision.undecided,
        "name": sym.name,
        "words": list(sym.words),
        "sentence": str(sym.sentence),
        "defects": sym.defects[:4].tolist(),
        "seconds": seconds,
    }
    if sym.distribution is not None:
        record["ratios"] = list(sym.distribution.ratios[:4])
        record["moved_p"] = [one.p_value for one in sym.distribution.moved]
    return record


def timed(call: Callable[[], Symmetries]) -> tuple[Symmetries, dict[str, Any]]:
    """A result, and what is stored of it."""
    begin = time.process_time()
    sym = call()
    return sym, told(sym, time.process_time() - begin)


def fixed_tests(sym: Symmetries, generators: Tensor) -> list[QuadraticTest]:
    """Tests of generators that are fixed beforehand."""
    if sym.accumulated.means is None:
        return []
    rows = sym.action.as_coefficients(generators).double()
    return [sym.accumulated.means.test(row[None]) for row in rows]


def fixed_ratios(sym: Symmetries, generators: Tensor) -> list[float]:
    """Squared means over their noise along generators that are fixed beforehand: about 1 for a symmetry."""
    return [test.ratio for test in fixed_tests(sym, generators)]


def _rapidities(p: Tensor) -> list[float]:
    """Rapidities along the beam of the middle 90 % of momenta."""
    rapidity = torch.atanh(p[:, 3] / p[:, 0])
    return torch.quantile(rapidity, torch.tensor([0.05, 0.95], dtype=p.dtype)).tolist()


def named_ratios(sym: Symmetries, motions: dict[str, list[list[float]]]) -> dict[str, float]:
    """The ratios of named motions."""
    generators = torch.tensor([*motions.values()], dtype=torch.float64)
    return dict(zip(motions, fixed_ratios(sym, generators), strict=True))


def metric_cosine(generators: Tensor) -> float:
    """Cosine between the symmetric form that generators preserve up to a factor, and that of Minkowski."""
    traces = generators.diagonal(dim1=1, dim2=2).sum(1)
    n = generators.shape[1]
    free = generators - traces[:, None, None] / n * torch.eye(n, dtype=generators.dtype)
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    basis = torch.zeros(len(pairs), n, n, dtype=generators.dtype)
    for place, (i, j) in enumerate(pairs):
        basis[place, i, j] = basis[place, j, i] = 1.0 if i == j else math.sqrt(0.5)
    moved = free.mT[:, None] @ basis + basis @ free[:, None]
    form = torch.linalg.svd(moved.transpose(0, 1).flatten(1).mT).Vh[-1]
    whole = torch.einsum("k,kij->ij", form, basis)
    return abs(float((whole * MINKOWSKI).sum() / (whole.norm() * MINKOWSKI.norm())))


def cms(folder: Path) -> dict[str, Any]:
    """Pairs of muons, the positive one first."""
    with (folder / "cms" / "Zmumu_Run2011A_masses.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    names = ("E", "px", "py", "pz")
    x = torch.tensor(
        [[[float(row[name + side]) for name in names] for side in "12"] for row in rows],
        dtype=torch.float64,
    )
    positive = torch.tensor([int(row["Q1"]) > 0 for row in rows])
    x = torch.where(positive[:, None, None], x, x.flip(1))
    action = liegg.Linear(4, copies=2)
    _, record = timed(lambda: liegg.discover_data(x[:-2000], action, held_out=x[-2000:]))
    lorentz, restricted = timed(lambda: liegg.discover_data(x, action.restrict(liegg.so(1, 3))))
    record["lorentz"] = restricted
    few, _ = timed(
        lambda: liegg.discover_data(x, action.restrict(liegg.so(1, 3)), functions=FEW_FUNCTIONS)
    )
    record["boost_z"] = {
        "p": fixed_tests(lorentz, liegg.so(1, 3))[2].p_value,
        "few_ratio": fixed_ratios(few, liegg.so(1, 3))[2],
        "rapidities": _rapidities(x.sum(1)),
    }
    record["lorentz_ratios"] = dict(
        zip(LORENTZ, fixed_ratios(lorentz, liegg.so(1, 3)), strict=True)
    )
    surface, record["support"] = timed(
        lambda: liegg.discover_data(x.flatten(0, 1), liegg.Linear(4), question="support")
    )
    record["support"]["cosine"] = metric_cosine(surface.generators)
    return record


def jets(folder: Path) -> dict[str, Any]:
    """Leading constituents of top and QCD jets."""
    sets = [
        torch.from_numpy(np.load(folder / "jets" / f"{kind}.npz")["jets"]).double()
        for kind in ("top", "qcd")
    ]
    whole = torch.cat(sets)
    y = torch.cat([torch.ones(len(sets[0])), torch.zeros(len(sets[1]))])
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(0))
    whole, y = whole[order] / 100, y[order]  # units of 100 GeV
    x, results = whole.sum(1), {}
    surface, results["support"] = timed(
        lambda: liegg.discover_data(whole[:, 0], liegg.Linear(4), question="support")
    )
    results["support"]["cosine"] = metric_cosine(surface.generators)
    action = liegg.Linear(4).restrict(liegg.so(1, 3))
    data, results["density"] = timed(lambda: liegg.discover_data(x, action))
    ratios = fixed_ratios(data, liegg.so(1, 3))
    results["density"]["lorentz_ratios"] = dict(zip(LORENTZ, ratios, strict=True))
    joint, results["joint"] = timed(lambda: liegg.discover_data(x, action, labels=y.long()))
    ratios = fixed_ratios(joint, liegg.so(1, 3))
    results["joint"]["lorentz_ratios"] = dict(zip(LORENTZ, ratios, strict=True))
    label, results["label"] = timed(
        lambda: liegg.discover_data(x, action, labels=y.long(), question="label")
    )
    others = [
        liegg.discover_data(
            x, action, labels=y.long(), question="label", run=liegg.Run(seed=seed)
        ).nullity
        for seed in OTHER_SEEDS
    ]
    results["label"]["other_seeds"] = others
    results["label"]["accuracy"] = label.settings["accuracy"]
    defects = label.defect(liegg.so(1, 3))
    results["label"]["largest_change"] = float(defects.max().sqrt())
    results["label"]["warnings"] = [str(one) for one in label.decision.warnings]
    classifier, accuracy = _classifier(x, y)
    model, results["classifier"] = timed(lambda: liegg.discover(classifier, x[:2000], action))
    results["classifier"]["accuracy"] = accuracy
    results["side by side"] = liegg.compare(data, model, names=("jets", "classifier")).sentence
    return results


def _classifier(x: Tensor, y: Tensor) -> tuple[Callable[[Tensor], Tensor], float]:
    """A small network on the inner product of a momentum with itself, and its accuracy on the last fifth."""
    torch.manual_seed(0)
    first = len(x) * 4 // 5
    network = torch.nn.Sequential(
        torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    ).double()

    def classifier(p: Tensor) -> Tensor:
        product = torch.einsum("bm,mn,bn->b", p, MINKOWSKI.to(p), p)
        return network(torch.log1p(product.abs())[:, None])[:, 0]

    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(200):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            classifier(x[:first]), y[:first].double()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = ((classifier(x[first:]) > 0) == (y[first:] > 0.5)).double().mean()
    return classifier, float(right)


def images(folder: Path, count: int = 12_000) -> dict[str, Any]:
    """Motions of the plane and of the colours."""
    with gzip.open(folder / "mnist" / "train-images-idx3-ubyte.gz") as content:
        pixels = np.frombuffer(content.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    in_order = torch.from_numpy(pixels[:count].copy()).double() / 255
    generator = torch.Generator().manual_seed(0)
    digits = in_order[torch.randperm(count, generator=generator)]
    angles = 2 * math.pi * torch.rand(count, generator=generator, dtype=torch.float64)
    plane = liegg.Image(group="linear")
    results = {}
    sets = {
        "mnist": digits,
        "mnist, in its order": in_order,
        "rotated mnist": rotated(digits, angles),
    }
    for name, shown in sets.items():
        smooth = _smoothed(shown[:, None])
        sym, results[name] = timed(lambda x=smooth: liegg.discover_data(x, plane, functions=120))
        results[name]["motions"] = named_ratios(sym, PLANE)
    from PIL import Image

    sheet = np.asarray(Image.open(folder / "cifar10" / "data_batch_1.webp").convert("RGB"))
    tiles = sheet.reshape(100, 32, 100, 32, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 3, 32, 32)
    photos = _smoothed(torch.from_numpy(tiles[:4000].copy()).double() / 255)
    sym, results["cifar10, plane"] = timed(lambda: liegg.discover_data(photos, plane, functions=60))
    results["cifar10, plane"]["motions"] = named_ratios(sym, PLANE)
    colours = photos - 0.5
    sym, results["cifar10, colours"] = timed(
        lambda: liegg.discover_data(colours, liegg.Color(group="linear"), functions=60)
    )
    results["cifar10, colours"]["motions"] = named_ratios(sym, COLOURS)
    return results


def _smoothed(x: Tensor, sigma: float = 1.0) -> Tensor:
    """Images without their finest details, which no filter of the test functions should see."""
    places = torch.arange(-4, 5, dtype=x.dtype)
    window = torch.exp(-((places / sigma) ** 2) / 2)
    window = window / window.sum()
    flat = x.flatten(0, 1)[:, None]
    flat = torch.nn.functional.conv2d(flat, window[None, None, :, None], padding=(4, 0))
    return torch.nn.functional.conv2d(flat, window[None, None, None], padding=(0, 4)).reshape(
        x.shape
    )


def orbits(count: int = 20_000) -> dict[str, Any]:
    """A planet about a star, at a random time of a random orbit: position and momentum."""
    generator = torch.Generator().manual_seed(0)

    def uniform() -> Tensor:
        return torch.rand(count, generator=generator, dtype=torch.float64)

    size, eccentricity = 0.8 + 0.4 * uniform(), 0.1 + 0.5 * uniform()
    turn, phase = 2 * math.pi * uniform(), 2 * math.pi * uniform()
    states = torch.stack(
        [_kepler(size, eccentricity, turn, phase + step * size**-1.5) for step in (0.0, 0.3)], 1
    )
    now, pairs = states[:, 0], states.flatten(1, 2)
    _, record = timed(lambda: liegg.discover_data(now, liegg.Linear(2, copies=2)))
    _, both = timed(lambda: liegg.discover_data(pairs, liegg.Linear(2, copies=4)))
    fixed = turn * 0.2  # orbits that point about one way
    other = _kepler(size, eccentricity, fixed, phase)
    _, aligned = timed(lambda: liegg.discover_data(other, liegg.Linear(2, copies=2)))
    return {"states": record, "pairs of times": both, "aligned orbits": aligned}


def _kepler(size: Tensor, eccentricity: Tensor, turn: Tensor, mean: Tensor) -> Tensor:
    """Position and momentum `[b, 2, 2]` on a Kepler orbit, with unit masses."""
    anomaly = mean.clone()
    for _ in range(60):
        anomaly = mean + eccentricity * anomaly.sin()
    root = (1 - eccentricity**2).sqrt()
    place = torch.stack([size * (anomaly.cos() - eccentricity), size * root * anomaly.sin()], 1)
    speed = size**-0.5 / (1 - eccentricity * anomaly.cos())
    momentum = torch.stack([-speed * anomaly.sin(), speed * root * anomaly.cos()], 1)
    rotation = torch.stack([turn.cos(), -turn.sin(), turn.sin(), turn.cos()], 1).reshape(-1, 2, 2)
    return torch.stack([place, momentum], 1) @ rotation.mT


def series(count: int = 16_000, steps: int = 32) -> dict[str, Any]:
    """Windows of a stationary series and of one that grows, under translation in time."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(count, steps + 16, generator=generator, dtype=torch.float64)
    window = torch.exp(-((torch.arange(-8, 9, dtype=torch.float64) / 3) ** 2) / 2)
    smooth = torch.nn.functional.conv1d(noise[:, None], window[None, None])
    growing = smooth * torch.linspace(0.5, 1.5, steps, dtype=torch.float64)
    action = liegg.Sequence(group="affine")
    translation = torch.zeros(1, action.size, dtype=torch.float64)
    translation[0, -1] = 1.0
    results = {}
    for name, x in (("stationary", smooth), ("growing", growing)):
        sym, results[name] = timed(lambda x=x: liegg.discover_data(x, action, functions=60))
        results[name]["translation_ratio"] = fixed_ratios(sym, translation)[0]
    return results


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "cms": cms,
    "jets": jets,
    "images": images,
    "orbits": orbits,
    "series": series,
}


def lorentz_table(found: dict[str, Any]) -> list[str]:
    """Ratios of all Lorentz transformations."""
    sets = (found["cms"]["lorentz_ratios"], found["jets"]["density"]["lorentz_ratios"])
    return [
        "| generator | muon pairs | momenta of jets |",
        "|---|---|---|",
        *[f"| {name} | {sets[0][name]:.1f} | {sets[1][name]:.1f} |" for name in LORENTZ],
    ]


def question_table(found: dict[str, Any]) -> list[str]:
    """What has which symmetry."""
    jet, muons = found["jets"], found["cms"]
    rows = [
        ("muon pairs", muons["lorentz"]),
        ("momenta of jets", jet["density"]),
        ("momenta of jets with the label", jet["joint"]),
        ("surface of the muons", muons["support"]),
        ("surface of the constituents", jet["support"]),
        ("label of jets given the momentum", jet["label"]),
        ("classifier of inner products", jet["classifier"]),
    ]
    return [
        "| of | symmetries | algebra |",
        "|---|---|---|",
        *[
            f"| {name} | {'undecided' if one['undecided'] else one['symmetries']} | {'–' if one['undecided'] else one['name']} |"
            for name, one in rows
        ],
    ]


def boost_lines(found: dict[str, Any]) -> list[str]:
    """Why the boost along the beam comes near."""
    boost = found["cms"]["boost_z"]
    low, high = boost["rapidities"]
    return [
        f"Boosts along the beam come nearest: nine in ten muon pairs have a rapidity from {low:.1f} to {high:.1f}, over which they are "
        "spread widely, and a boost shifts rapidities. That changes few of the 128 test functions, and the ratio is a mean over all of "
        f"them: with {FEW_FUNCTIONS} functions it is {boost['few_ratio']:.1f}. The test excludes chance in both (p = {boost['p']:.0e} "
        "with 128)."
    ]


def label_lines(found: dict[str, Any]) -> list[str]:
    """What is known of the label of jets."""
    label = found["jets"]["label"]
    words = " and ".join(label["words"]) or "no motion for sure"
    again = label["other_seeds"]
    return [
        f"Networks predict the label from the momentum for {100 * label['accuracy']:.0f} % of held-out jets. Of the Lorentz group they "
        f"keep {words}, where x₁ is the energy and x₄ lies along the beam. No Lorentz transformation changes their prediction by more "
        f"than {100 * label['largest_change']:.1f} % of what an average linear map does. But along the others, which change the "
        "momentum across the beam, a motion as large as the data's spread changes the prediction too much for a symmetry. "
        "The networks are near what decides this: with other seeds "
        f"{sum(one == label['symmetries'] for one in again)} of {len(again)} find as many, and the rest are undecided."
    ]


def metric_lines(found: dict[str, Any]) -> list[str]:
    """How near the preserved form is to that of Minkowski."""
    muons, jet = (1 - found[part]["support"]["cosine"] for part in ("cms", "jets"))
    return [
        f"One minus the cosine is {muons:.0e} for muons and {jet:.0e} for constituents of jets."
    ]


def image_table(found: dict[str, Any]) -> list[str]:
    """Symmetries of images."""
    return [
        "| images | symmetries | ratio of the nearest | of the next |",
        "|---|---|---|---|",
        *[
            f"| {name} | {'undecided' if one['undecided'] else one['name']} | {one['ratios'][0]:.1f} | {one['ratios'][1]:.1f} |"
            for name, one in found["images"].items()
        ],
    ]


def orbit_table(found: dict[str, Any]) -> list[str]:
    """Symmetries of orbits and series."""
    rows = [(name, one) for part in ("orbits", "series") for name, one in found[part].items()]
    return [
        "| data | symmetries | ratio of the nearest | of the next |",
        "|---|---|---|---|",
        *[
            f"| {name} | {', '.join(one['words']) or 'none'} | {one['ratios'][0]:.1f} | {one['ratios'][1]:.1f} |"
            for name, one in rows
        ],
    ]


TABLES = {
    "lorentz": lorentz_table,
    "questions": question_table,
    "boost": boost_lines,
    "label": label_lines,
    "metric": metric_lines,
    "images": image_table,
    "orbits": orbit_table,
}
"""Tables of docs/data-sets.md, by their marks."""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("data"))
    parser.add_argument("--parts", nargs="*", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    torch.set_num_threads(1)
    begin, results = time.perf_counter(), {}
    for part in given.parts:
        needs_folder = part in ("cms", "jets", "images")
        results[part] = PARTS[part](given.folder) if needs_folder else PARTS[part]()
    command = f"python benchmarks/real_data_sets.py --parts {' '.join(given.parts)}"
    store(results, given.out, command, begin=begin)
    if given.out == OUT and set(given.parts) == set(PARTS):
        found = {name: "\n".join(["", *lines(results), ""]) for name, lines in TABLES.items()}
        put_tables(DOCS / "data-sets.md", found)
    print(f"{len(results)} parts in {time.perf_counter() - begin:.0f} s: {given.out}")


if __name__ == "__main__":
    main()
