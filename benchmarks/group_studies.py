"""Finite elements that the networks of the paper's studies keep, stored as results/group-studies.json.

The networks are trained by the studies' own code: O(5) as the paper trains it, and rotated MNIST.

python benchmarks/group_studies.py           eight networks, about five minutes on one core; MNIST is read from LIEGG_DATA
python benchmarks/group_studies.py --quick   two networks of fewer samples and epochs, to a file of your choice
"""

import time
from typing import Any

import torch

import liegg
from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.studies import ensemble, images, o5, rotmnist
from result_files import options, store

SEEDS = (1, 2, 3, 4)
"""Networks of the O(5) study."""

IMAGE_SEEDS = (1, 2)
"""Networks of every shape of the study of rotated MNIST."""

HELD_OUT = 600
"""Samples that no network was trained on, on which elements are searched and judged."""

ANGLES = (45.0, 90.0, 180.0)
"""Rotations in degrees whose effects are stored."""


def described(found: GroupSymmetries) -> dict[str, Any]:
    """What was found, as JSON values."""
    return {
        "group": found.name,
        "order": found.order,
        "grades": sorted({one.grade for one in found.elements[1:]}),
        "says": found.sentence,
        "notes": list(found.notes),
    }


def of_vectors(seeds: tuple[int, ...], samples: int) -> list[dict[str, Any]]:
    """The group of networks of the O(5) study, and what −1 and the reflection of one axis change."""
    rows = []
    for seed in seeds:
        network, _, error = o5.train(samples, seed)
        found = liegg.discover_group(
            network,
            o5.held_out(seed)[:HELD_OUT],
            liegg.Linear(5, copies=2),
            run=liegg.Run(seed=seed),
        )
        mirror = torch.diag(torch.tensor([-1.0, 1.0, 1.0, 1.0, 1.0]))
        x = o5.held_out(seed)
        with torch.no_grad():
            y = network(x)
            effects = [
                float((network((x.unflatten(1, (2, 5)) @ h).flatten(1)) - y).square().mean().sqrt())
                / float(y.std())
                for h in (-torch.eye(5), mirror)
            ]
        names = {"inversion_effect": effects[0], "reflection_effect": effects[1]}
        rows.append({"seed": seed, "error": error, **described(found), **names})
        print(rows[-1], flush=True)
    return rows


def effect_of(element: GroupElement) -> dict[str, Any]:
    """An element of the grid in words, with its effect."""
    return {
        "element": element.words,
        "grade": element.grade,
        "effect": element.effect,
        "changed": element.changed,
    }


def of_digits(seeds: tuple[int, ...], *, quick: bool) -> list[dict[str, Any]]:
    """The group of classifiers of rotated MNIST: elements of the grid, and rotations by some angles."""
    data = images.smoothed(images.digits(quick), "cpu")
    epochs = images.QUICK_EPOCHS if quick else images.EPOCHS
    test = data.test.images[:HELD_OUT].flatten(1)
    rows = []
    for name, sizes in rotmnist.NETWORKS.items():
        members = images.members([sizes], seeds, data, epochs)
        problem = images.classification(data)
        trained = ensemble.train(members, problem, images.SCHEDULE, device="cpu")
        accuracies = ensemble.accuracies(
            trained.stack, data.test.images.flatten(1), data.test.labels
        ).tolist()
        for place, member in enumerate(members):
            found = liegg.discover_group(
                trained.stack.network(place),
                test,
                liegg.Image("linear", shape=(28, 28)),
                target="classes",
                run=liegg.Run(seed=member.seed),
            )
            grid = [one for one in (*found.elements[1:], *found.rejected) if one.kinds == ("grid",)]
            rows.append(
                {
                    "network": name,
                    "seed": member.seed,
                    "test_accuracy": accuracies[place],
                    **described(found),
                    "grid": [effect_of(one) for one in grid],
                    "angles": [
                        {"degrees": one.degrees, "effect": one.effect, "changed": one.changed}
                        for one in found.angles
                        if one.degrees in ANGLES
                    ],
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Train, ask and store."""
    parser = options(__doc__, "group-studies.json", quick="few samples and epochs")
    given = parser.parse_args()
    start = time.perf_counter()
    torch.set_num_threads(1)
    quick = given.quick
    result = {
        "o5": of_vectors(SEEDS[: 1 if quick else None], 300 if quick else o5.MAIN),
        "rotmnist": of_digits(IMAGE_SEEDS[: 1 if quick else None], quick=quick),
        "samples": HELD_OUT,
        "epochs": images.QUICK_EPOCHS if quick else images.EPOCHS,
    }
    store(result, given.out, "python benchmarks/group_studies.py" + " --quick" * quick, begin=start)


if __name__ == "__main__":
    main()
