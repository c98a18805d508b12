"""Finite groups of functions and networks, stored as results/groups.json: known answers, false discoveries, intervals.

| part | question |
|---|---|
| known | is the group of exact functions and symmetrised networks found, with its order, and in which time on one core? |
| seeds | how often, over other samples and starts? |
| asymmetric | how often does a network without symmetry get a finite element? |
| asymmetric_slots | the same for permutations of slots |
| asymmetric_images | the same for convolutional networks: flips and rotations of the grid, circular shifts |
| intervals | how often does the interval of an effect contain its value on 20 000 other samples? Elements that are refuted |
| accepted | the same for inversions that hold nearly, and count |
| learned | which part of a network may be asymmetric before its rotations are no longer counted? |
| grids | are the elements of the grid exact, and rotations by 45° approximate, for convolutional networks that rotate their filters? |

python benchmarks/groups.py               everything, about twenty minutes on one core
python benchmarks/groups.py --only seeds  the other parts stay as they are stored
python benchmarks/groups.py --quick       a few cases of each part, to a file of your choice
"""

import json
import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

import liegg
from group_cases import (
    Case,
    continuous_cases,
    exact_cases,
    network,
    normal,
    rotations_of_order,
    slot_cases,
    symmetrised,
)
from group_images import IMAGE_SIDE, blobs, steerable
from liegg.actions import Action, Slots
from liegg.results.group_symmetries import GroupElement
from liegg.studies.provenance import write_json
from result_files import options, store

NETWORKS, SLOT_NETWORKS, IMAGE_NETWORKS = 160, 80, 40
"""Networks without symmetry: of vectors, of slots, and convolutional ones."""

SMALL_SIDE = 11
"""Pixels along the sides of the images of networks without symmetry."""

ACCEPTED, ODD_PARTS = 48, (0.003, 0.01, 0.03)
"""Networks whose inversion holds nearly, and sizes of their odd part."""

PARTS = (
    "known",
    "seeds",
    "asymmetric",
    "asymmetric_slots",
    "asymmetric_images",
    "intervals",
    "accepted",
    "learned",
    "grids",
)
"""What is measured."""

Question = tuple[Callable[[Tensor], Tensor], Tensor, Action]
"""A model, samples, and what may move."""

ACTIVATIONS = (nn.Tanh, nn.ReLU, nn.SiLU)


def known(cases: list[Case]) -> list[dict[str, Any]]:
    """Group, order and processor time of every case."""
    rows = []
    for case in cases:
        start = time.process_time()
        found = liegg.discover_group(case.model, case.data, case.action)
        rows.append(
            {
                "case": case.name,
                "group": found.name,
                "order": found.order,
                "right": found.name == case.group and found.order == case.order,
                "seconds": round(time.process_time() - start, 2),
            }
        )
    return rows


def seeds(cases: list[Case], count: int) -> dict[str, Any]:
    """How often the group is right with other samples and other random starts."""
    wrong: list[dict[str, Any]] = []
    runs = 0
    for case in cases:
        for seed in range(1, count + 1):
            data = normal(*case.data.shape, seed=100 + seed)
            found = liegg.discover_group(case.model, data, case.action, run=liegg.Run(seed=seed))
            runs += 1
            if found.order != case.order:
                wrong.append({"case": case.name, "seed": seed, "order": found.order})
    return {"runs": runs, "right": runs - len(wrong), "wrong": wrong}


def asymmetric_network(seed: int) -> tuple[nn.Sequential, int]:
    """A network without symmetry, and the dimension of its samples: two widths, three activations, one to three outputs."""
    torch.manual_seed(seed)
    n = (2, 3, 3, 4, 5)[seed % 5]
    activation = ACTIVATIONS[seed % 3]
    layers = nn.Sequential(
        nn.Linear(n, 32), activation(), nn.Linear(32, 32), activation(), nn.Linear(32, 1 + seed % 3)
    ).double()
    with torch.no_grad():
        for weight in [one for one in layers.parameters() if one.ndim == 2][:2]:
            weight.mul_((1.0, 3.0)[seed % 2])
    return layers, n


def of_vectors(seed: int) -> Question:
    """A network of one vector, without symmetry."""
    model, n = asymmetric_network(seed)
    return model, normal(600, n, seed=seed), liegg.Linear(n)


def of_slots(seed: int) -> Question:
    """A network of three to six slots that are all treated differently."""
    slots = 3 + seed % 4
    model = nn.Sequential(nn.Flatten(), network(2 * slots, seed=seed, outputs=1 + seed % 3))
    return model, normal(400, slots, 2, seed=seed), Slots()


def of_images(seed: int) -> Question:
    """A convolutional network whose last layer treats every pixel differently."""
    torch.manual_seed(seed)
    activation = ACTIVATIONS[seed % 3]
    layers = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), activation(), nn.Conv2d(6, 6, 3, padding=1), activation()
    )
    model = nn.Sequential(layers, nn.Flatten(), nn.Linear(6 * SMALL_SIDE**2, 1 + seed % 3)).double()
    return model, normal(160, 1, SMALL_SIDE, SMALL_SIDE, seed=seed), liegg.Image()


def asymmetric(question: Callable[[int], Question], count: int) -> dict[str, Any]:
    """Networks without symmetry that get a finite element, and the smallest defects that were seen."""
    false, smallest = [], []
    for seed in range(count):
        model, x, action = question(seed)
        found = liegg.discover_group(model, x, action, run=liegg.Run(seed=seed))
        own = [*found.elements[1:], *found.permutations]
        if own or any(found.shifts):
            grades = sorted({one.grade for one in own})
            false.append({"seed": seed, "group": found.name, "grades": grades})
        smallest.append(min((one.defect for one in found.rejected), default=1.0))
    bound = 1 - 0.05 ** (1 / count) if not false else None
    return {
        "networks": count,
        "with_false_elements": len(false),
        "at_most": None if bound is None else round(bound, 4),
        "smallest_defect": min(smallest),
        "false": false,
    }


def value_of(model: Callable[[Tensor], Tensor], element: GroupElement, x: Tensor) -> float:
    """Effect of an element on many samples."""
    with torch.no_grad():
        y = model(x)
        change = model(x @ element.matrices[0].mT) - y
    spread = (y - y.mean(0)).square().sum(1).mean()
    return math.sqrt(float(change.square().sum(1).mean() / spread))


def intervals(count: int) -> dict[str, Any]:
    """Share of the intervals of effects that contain the value on many other samples."""
    inside = total = 0
    for seed in range(count):
        model, n = asymmetric_network(1000 + seed)
        found = liegg.discover_group(
            model, normal(600, n, seed=seed), liegg.Linear(n), run=liegg.Run(seed=seed)
        )
        many = normal(20_000, n, seed=9000 + seed)
        for one in found.rejected[:8]:
            low, high = one.interval
            inside += low <= value_of(model, one, many) <= high
            total += 1
    return {"intervals": total, "cover": inside, "share": round(inside / max(1, total), 4)}


def accepted(count: int) -> dict[str, Any]:
    """The same for the inversion of networks that are even but for a small part; only those that count."""
    inside, grades = 0, []
    for seed in range(count):
        n = 2 + seed % 3
        parity = torch.stack([torch.eye(n), -torch.eye(n)]).double()
        even, other = symmetrised(network(n, seed=seed), parity), network(n, seed=5000 + seed)
        part = ODD_PARTS[(seed // 3) % len(ODD_PARTS)]
        model = lambda x, even=even, other=other, part=part: even(x) + part * other(x)  # noqa: E731
        found = liegg.discover_group(
            model, normal(600, n, seed=seed), liegg.Linear(n), starts=0, run=liegg.Run(seed=seed)
        )
        many = normal(20_000, n, seed=9000 + seed)
        for one in found.elements[1:]:
            low, high = one.interval
            inside += low <= value_of(model, one, many) <= high
            grades.append(one.grade)
    counts = {grade: grades.count(grade) for grade in sorted(set(grades))}
    return {"networks": count, "intervals": len(grades), "cover": inside, "grades": counts}


def learned(base_seed: int = 0) -> list[dict[str, Any]]:
    """A network symmetrised over three rotations with a growing asymmetric part: what is still counted."""
    rows = []
    for part in (0.0, 0.01, 0.03, 0.1, 0.3):
        even, other = symmetrised(network(2), rotations_of_order(3)), network(2, seed=base_seed + 7)
        model = lambda x, even=even, other=other, part=part: even(x) + part * other(x)  # noqa: E731
        found = liegg.discover_group(model, normal(600, 2), liegg.Linear(2))
        grades = sorted({one.grade for one in found.elements[1:]})
        rows.append({"part": part, "order": found.order, "group": found.name, "grades": grades})
    return rows


def grids(count: int) -> list[dict[str, Any]]:
    """Networks that rotate their filters, on smooth images and on noise.

    `without_interpolation` is the effect of a rotation by 45° of the blobs themselves.
    """
    rows = []
    for fold, mirrors in ((4, False), (4, True), (8, False)):
        model = steerable(fold, mirrors=mirrors)
        with torch.no_grad():
            y, turned = model(blobs(count)), model(blobs(count, degrees=45.0))
        spread = (y - y.mean(0)).square().sum(1).mean()
        for kind, x in (("smooth", blobs(count)), ("noise", normal(count, 1, *[IMAGE_SIDE] * 2))):
            found = liegg.discover_group(model, x, liegg.Image())
            effects = {angle.degrees: angle.effect for angle in found.angles}
            loss = [n for n in found.notes if n.diagnosis.name == "GROUP_INTERPOLATION"]
            rows.append(
                {
                    "network": f"{'CD'[mirrors]}{fold}",
                    "images": kind,
                    "group": found.name,
                    "grades": sorted({one.grade for one in found.elements[1:]}),
                    "kept": None if found.kept_rotations is None else found.kept_rotations[0],
                    "effect_22.5": effects[22.5],
                    "effect_45": effects[45.0],
                    "effect_90": effects[90.0],
                    "interpolation": loss[0].values["loss"] if loss else None,
                    "says": found.sentence,
                }
            )
            if kind == "smooth":
                change = (turned - y).square().sum(1).mean()
                rows[-1]["without_interpolation"] = math.sqrt(float(change / spread))
    return rows


def main() -> None:
    """Run the parts and store them."""
    parser = options(__doc__, "groups.json", quick="few cases of each kind")
    parser.add_argument("--only", choices=PARTS, help="the other parts stay as they are stored")
    given = parser.parse_args()
    start = time.perf_counter()
    torch.set_num_threads(1)
    quick = given.quick
    finite, slots, continuous = exact_cases(), slot_cases(), continuous_cases()
    some = [finite[0], finite[7], finite[8], finite[-1], slots[0], continuous[0]]
    parts: dict[str, Callable[[], Any]] = {
        "known": lambda: known(some if quick else [*finite, *slots, *continuous]),
        "seeds": lambda: seeds(finite[:2] if quick else finite, 1 if quick else 5),
        "asymmetric": lambda: asymmetric(of_vectors, 2 if quick else NETWORKS),
        "asymmetric_slots": lambda: asymmetric(of_slots, 2 if quick else SLOT_NETWORKS),
        "asymmetric_images": lambda: asymmetric(of_images, 1 if quick else IMAGE_NETWORKS),
        "intervals": lambda: intervals(1 if quick else 30),
        "accepted": lambda: accepted(3 if quick else ACCEPTED),
        "learned": learned,
        "grids": lambda: grids(40 if quick else 160),
    }
    result = json.loads(given.out.read_text()) if given.only else {}
    for name, part in parts.items():
        if given.only in (None, name):
            result[name] = part()
    if given.only:
        write_json(result, given.out)
    else:
        store(result, given.out, "python benchmarks/groups.py" + " --quick" * quick, begin=start)


if __name__ == "__main__":
    main()
