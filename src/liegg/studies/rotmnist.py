"""The paper's section 5.2: do a shallow and a deep perceptron learn the rotation of rotated MNIST?"""

import math
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Image
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.decision.controls import REINITIALISED_DRAWS
from liegg.discovery.discover import discover
from liegg.studies import datasets, ensemble, images
from liegg.studies.ensemble.members import parameters

NETWORKS = {"shallow": (784, 47, 47, 10), "deep": (784, *[116] * 6, 10)}
"""Widths of the paper's networks. Its "2-layer" and "6-layer" count hidden layers: only so do widths 47 and 116 have the 40 000 and
160 000 parameters it states (39 631 and 160 090)."""

VARIANTS = {
    "shallow, 1 hidden layer": (784, 47, 10),
    "deep, 5 hidden layers": (784, *[116] * 5, 10),
}
"""The same with "layers" read as weight matrices: 37 375 and 146 518 parameters."""

EPOCHS = 300
SEEDS = tuple(range(1, 9))


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any] | None:
    """The numbers of the study.

    Args:
        how: where to train, and what to keep on the way.
        quick: two seeds, few epochs and the digits that come with the package, for a look in seconds; needs no data set.

    Returns:
        The results to be stored; None in every process but the first.
    """
    seeds, epochs = (SEEDS[:2], 20) if quick else (SEEDS, EPOCHS)
    digits = datasets.rotated_mnist_sample() if quick else datasets.rotated_mnist()
    pictures = images.smooth_digits(digits, how.device)
    kinds = NETWORKS if quick else NETWORKS | VARIANTS
    members = [
        ensemble.Member(sizes, seed, len(digits.train), epochs)
        for sizes in kinds.values()
        for seed in seeds
    ]

    def describe(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        rows = images.describe_both(
            [members[place] for place in places], trained, pictures.train[0], pictures.test
        )
        for index, (place, row) in enumerate(zip(places, rows, strict=True)):
            if members[place].sizes == NETWORKS["deep"]:
                row["verdict"] = verdict(
                    trained.stack.network(index),
                    pictures.train[0],
                    draws=2 if quick else REINITIALISED_DRAWS,
                )
        return rows

    rows = ensemble.work(
        members, lambda _: images.classification(pictures), describe, images.SCHEDULE, how
    )
    if rows is None:
        return None
    parts = {name: rows[i * len(seeds) : (i + 1) * len(seeds)] for i, name in enumerate(kinds)}
    return {
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(digits.train),
        "parameters": {name: parameters(sizes) for name, sizes in kinds.items()},
        "networks": {name: [row["trained"] for row in part] for name, part in parts.items()},
        "untrained": {name: [row["untrained"] for row in part] for name, part in parts.items()},
        "verdicts": [row["verdict"] for row in parts["deep"]],
        "example": example(digits.test).tolist(),
    }


def verdict(network: nn.Module, pictures: Float[Tensor, "b s s"], *, draws: int) -> dict[str, Any]:
    """What liegg says of a network's logits, with fresh weights beside it; and how far the first direction is from the rotation."""
    action = Image("linear", shape=tuple(pictures.shape[1:]))
    sym = discover(
        network, pictures.flatten(1), action, control="reinitialised", control_draws=draws
    )
    first = action.matrices(sym.accumulated.solution.directions[:1])
    turn = float(distance_to_span(action.coefficients(first), action.coefficients(so(2))))
    sure, fresh = sym.decision.certainty, sym.controls.reinitialised
    return {
        "defects": sym.defects.tolist(),
        "intervals": sym.intervals.tolist(),
        "grades": list(sym.grades),
        "nullity": sym.nullity,
        "control": None if sym.controls.random is None else sym.controls.random.low,
        "angle": None if sure is None else math.degrees(sure.angle),
        "from_rotation": math.degrees(math.asin(min(turn, 1.0))),
        "fresh": None if fresh is None else fresh.along.tolist(),
        "learned": None if fresh is None else list(fresh.learned),
        "sentence": sym.decision.sentence,
    }


def example(digits: datasets.Labelled) -> torch.Tensor:
    """The digit that the figures turn: the first 4, which looks different from every side; three decimals."""
    return digits.images[int((digits.labels == 4).nonzero()[0])].round(decimals=3)


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figures `rotmnist-spectrum` and `rotmnist-rotations` as PNG and SVG."""
    from liegg.studies.image_figures import draw_rotmnist

    return draw_rotmnist(results, out)


def table(results: dict[str, Any]) -> str:
    """The networks' numbers, to be read on a terminal."""
    return images.table(
        results["networks"]
        | {f"{name}, untrained": rows for name, rows in results["untrained"].items()}
    )
