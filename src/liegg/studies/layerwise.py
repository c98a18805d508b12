"""The paper's section 5.4: do pre-training a part of a deep network and layer-wise training change what its layers learn?"""

from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from liegg.algebra.catalog import so
from liegg.discovery.layers.discover_layers import discover_layers
from liegg.studies import datasets, ensemble, images
from liegg.studies.configurations import rounded
from liegg.studies.reading import Readings, action

REGIMES = {
    "MLP-7": "plain, end to end",
    "sub MLP-3": "the first three layers alone, with a head",
    "MLP-7[F]": "those three put back, all trained",
    "MLP-7[L]": "those three put back and frozen, the rest trained",
}
"""The paper's four regimes, and what they are."""

WIDTH, HIDDEN, SUB = 116, 7, 3
"""The paper states no width; this is that of its deep network for rotated MNIST. Seven hidden layers, counted as there."""

READINGS: Readings = {
    name: images.READINGS[name] for name in ("paper, sum", "paper, each", "spectral, each")
}
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
    whole = [
        ensemble.Member((784, *[WIDTH] * HIDDEN, 10), seed, len(digits.train), epochs)
        for seed in seeds
    ]
    part = [replace(member, sizes=(784, *[WIDTH] * SUB, 10)) for member in whole]

    def described(trained: ensemble.Trained) -> list[dict[str, Any]]:
        return describe(trained, pictures.train[0], pictures.test)

    def plain(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        return [{"MLP-7": row} for row in described(trained)]

    def with_sub(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        some = [whole[place] for place in places]
        mother = images.untrained(
            [member.sizes for member in some], [member.seed for member in some], how.device
        )
        start = mother.replaced(trained.stack, SUB)
        found = {"sub MLP-3": described(trained)}
        for regime, frozen in (("MLP-7[F]", 0), ("MLP-7[L]", SUB)):
            schedule = replace(images.SCHEDULE, frozen=frozen)
            found[regime] = described(
                ensemble.train(
                    some, images.classification(pictures), schedule, start=start, device=how.device
                )
            )
        return [dict(zip(found, rows, strict=True)) for rows in zip(*found.values(), strict=True)]

    stages: list[list[dict[str, Any]] | None] = []
    for name, members, tell in (("plain", whole, plain), ("sub", part, with_sub)):
        place = replace(how, folder=None if how.folder is None else how.folder / name)
        stages.append(
            ensemble.work(
                members, lambda _: images.classification(pictures), tell, images.SCHEDULE, place
            )
        )
    if stages[0] is None or stages[1] is None:
        return None
    return {
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(digits.train),
        "width": WIDTH,
        "networks": {
            regime: [row[regime] for row in (stages[0] if regime in stages[0][0] else stages[1])]
            for regime in REGIMES
        },
    }


def describe(
    trained: ensemble.Trained, pictures: Float[Tensor, "n h w"], test: tuple[Tensor, Tensor]
) -> list[dict[str, Any]]:
    """Accuracy of every network, and the numbers of each of its layers: after every hidden layer, and the logits."""
    accuracies = ensemble.accuracies(trained.stack, test[0].flatten(1), test[1]).tolist()
    return [
        {
            "test_accuracy": accuracy,
            **best,
            "readings": read(trained.stack.network(index), pictures),
        }
        for index, (accuracy, best) in enumerate(
            zip(accuracies, images.best_epochs(trained), strict=True)
        )
    ]


def read(
    network: nn.Sequential, pictures: Float[Tensor, "n h w"]
) -> dict[str, list[dict[str, float]]]:
    """Variance and bias of every layer's output scaled to unit length, its variance as it is, and the rotation's defect."""
    names = [name for name, module in network.named_children() if isinstance(module, nn.SiLU)] + [
        str(len(network) - 1)
    ]
    found = {}
    for reading, (scheme, outputs, frame) in READINGS.items():
        layers = discover_layers(
            network,
            pictures.flatten(1),
            action(scheme, tuple(pictures.shape[1:]), frame),
            layers=names,
            outputs=outputs,
        )
        columns = {
            "variance": layers.variance("unit"),
            "bias": layers.bias(so(2), "unit"),
            "raw_variance": layers.variance(),
            "rotation_defect": layers.defect(so(2)),
        }
        found[reading] = [
            {name: rounded(float(values[place])) for name, values in columns.items()}
            for place in range(len(names))
        ]
    return found


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figure `layerwise` as PNG and SVG."""
    from liegg.studies.layer_figures import draw

    return draw(results, out)


def table(results: dict[str, Any]) -> str:
    """Mean variance and bias after each layer for every regime, to be read on a terminal."""
    lines = []
    for reading in READINGS:
        lines.append(f"{reading}: variance / bias after each hidden layer, and of the logits")
        for regime, networks in results["networks"].items():
            read = [net["readings"][reading] for net in networks]
            cells = [
                f"{mean(row['variance'] for row in rows):.1e} / {mean(row['bias'] for row in rows):.3f}"
                for rows in zip(*read, strict=True)
            ]
            lines.append(f"{regime:<10}" + "".join(f"{cell:>17}" for cell in cells))
        lines.append("")
    return "\n".join(lines).rstrip()
