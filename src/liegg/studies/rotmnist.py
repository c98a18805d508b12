"""The paper's section 5.2: do a shallow and a deep perceptron learn the rotation of rotated MNIST?"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Image
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.decision.controls import CONTROL_DRAWS
from liegg.discovery.discover import discover
from liegg.discovery.run import Run
from liegg.studies import datasets, ensemble, images
from liegg.studies.ensemble.members import parameters

NETWORKS = {"shallow": (784, 47, 47, 10), "deep": (784, *[116] * 6, 10)}
"""Widths of the paper's networks.

Its "2-layer" and "6-layer" count hidden layers: only then do widths 47 and 116 have the 40 000 and
160 000 parameters it states (39 631 and 160 090).
"""

VARIANTS = {
    "shallow, 1 hidden layer": (784, 47, 10),
    "deep, 5 hidden layers": (784, *[116] * 5, 10),
}
"""The same with "layers" understood as weight matrices: 37 375 and 146 518 parameters."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study.

    Args:
        how: where the networks are trained.
        quick: two seeds, few epochs and the digits that come with the package.

    Returns:
        The results to be stored.
    """
    seeds, epochs, kinds = (
        (images.SEEDS[:2], images.QUICK_EPOCHS, NETWORKS)
        if quick
        else (images.SEEDS, images.EPOCHS, NETWORKS | VARIANTS)
    )
    digits = images.digits(quick)
    data = images.smoothed(digits, how.device)
    members = images.members(list(kinds.values()), seeds, data, epochs)
    draws = 2 if quick else CONTROL_DRAWS

    def describe(some: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        rows = images.describe_both(some, trained, data.train.images, data.test)
        for index, (member, row) in enumerate(zip(some, rows, strict=True)):
            if member.sizes == NETWORKS["deep"]:
                row["verdict"] = verdict(
                    trained.stack.network(index), data.train.images, draws=draws
                )
        return rows

    rows = images.train_all(members, data, describe, how)
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


def verdict(network: nn.Module, digits: Float[Tensor, "b s s"], *, draws: int) -> dict[str, Any]:
    """The result of `discover` on a network's logits, with re-initialised models as controls.

    Also the angle between the first direction and the rotation, in degrees.
    """
    action = Image("linear", derivative="spectral", shape=tuple(digits.shape[1:]))
    sym = discover(
        network, digits.flatten(1), action, controls="reinitialised", run=Run(control_draws=draws)
    )
    first = sym.accumulated.solution.directions[:1]
    distance = float(distance_to_span(first, action.coefficients(so(2))))
    intervals, controls = sym.decision.certainty, sym.controls.reinitialised
    return {
        "defects": sym.defects.tolist(),
        "intervals": sym.intervals.tolist(),
        "grades": list(sym.decision.grades),
        "nullity": sym.nullity,
        "control": None if sym.controls.random is None else sym.controls.random.low,
        "angle": None if intervals is None else math.degrees(intervals.angle),
        "from_rotation": math.degrees(math.asin(min(distance, 1.0))),
        "fresh": None if controls is None else controls.along.tolist(),
        "learned": None if controls is None else list(controls.learned),
        "sentence": sym.decision.sentence,
    }


def example(digits: datasets.Labelled) -> torch.Tensor:
    """The digit of the figures: the first 4, which has no rotational symmetry; three decimals."""
    return digits.images[int((digits.labels == 4).nonzero()[0])].round(decimals=3)


def table(results: dict[str, Any]) -> str:
    """The networks' numbers as text for a terminal."""
    untrained = {f"{name}, untrained": rows for name, rows in results["untrained"].items()}
    return images.table(results["networks"] | untrained)
