"""The paper's section 5.4: do pre-training and layer-wise training change what layers learn?"""

from dataclasses import replace
from statistics import mean
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from liegg.algebra.catalog import so
from liegg.discovery.layers.discover_layers import discover_layers
from liegg.studies import datasets, ensemble, images
from liegg.studies.provenance import rounded

REGIMES = {
    "MLP-7": "plain, end to end",
    "sub MLP-3": "the first three layers alone, with a head",
    "MLP-7[F]": "initialised with those three, all layers trained",
    "MLP-7[L]": "initialised with those three, which are frozen",
}
"""The paper's four regimes."""

WIDTH, HIDDEN, SUB = 116, 7, 3
"""Width, hidden layers, and hidden layers of the sub-network.

The paper does not state the width; this is that of its deep network for rotated MNIST.
"""

LAYER_READINGS: images.Readings = {
    name: images.READINGS[name] for name in ("paper, sum", "paper, each", "spectral, each")
}


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study.

    Args:
        how: where the networks are trained.
        quick: two seeds, few epochs and the digits that come with the package.

    Returns:
        The results to be stored.
    """
    seeds, epochs = (
        (images.SEEDS[:2], images.QUICK_EPOCHS) if quick else (images.SEEDS, images.EPOCHS)
    )
    data = images.smoothed(images.digits(quick), how.device)
    sizes, sub_sizes = ((784, *[WIDTH] * hidden, 10) for hidden in (HIDDEN, SUB))

    def describe_plain(_: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        return [{"MLP-7": row} for row in describe(trained, data)]

    def describe_sub(short: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        some = [replace(member, sizes=sizes) for member in short]
        start = images.untrained(some, how.device).replaced(trained.stack, SUB)
        rows = {"sub MLP-3": describe(trained, data)}
        for regime, frozen in (("MLP-7[F]", 0), ("MLP-7[L]", SUB)):
            schedule, problem = replace(images.SCHEDULE, frozen=frozen), images.classification(data)
            tuned = ensemble.train(some, problem, schedule, start=start, device=how.device)
            rows[regime] = describe(tuned, data)
        return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]

    deep, short = (images.members([each], seeds, data, epochs) for each in (sizes, sub_sizes))
    plain = images.train_all(deep, data, describe_plain, how.part("plain"))
    others = images.train_all(short, data, describe_sub, how.part("sub"))
    rows = [one | other for one, other in zip(plain, others, strict=True)]
    return {
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(data.train),
        "width": WIDTH,
        "networks": {regime: [row[regime] for row in rows] for regime in REGIMES},
    }


def describe(trained: ensemble.Trained, data: datasets.ImageSets) -> images.Rows:
    """Accuracy of every network, and the numbers of its hidden layers and logits."""
    test = data.test
    accuracies = ensemble.accuracies(trained.stack, test.images.flatten(1), test.labels).tolist()
    return [
        {
            "test_accuracy": accuracy,
            **best,
            "readings": read(trained.stack.network(index), data.train.images),
        }
        for index, (accuracy, best) in enumerate(
            zip(accuracies, images.best_epochs(trained), strict=True)
        )
    ]


def read(
    network: nn.Sequential, digits: Float[Tensor, "n h w"]
) -> dict[str, list[dict[str, float]]]:
    """Variance and bias of every layer's normalised output, its raw variance, and so(2)'s defect."""
    names = [name for name, module in network.named_children() if isinstance(module, nn.SiLU)]
    names.append(str(len(network) - 1))
    numbers = {}
    for reading, (scheme, outputs, frame) in LAYER_READINGS.items():
        candidates = images.action(scheme, tuple(digits.shape[1:]), frame)
        layers = discover_layers(
            network, digits.flatten(1), candidates, layers=names, outputs=outputs
        )
        columns = {
            "variance": layers.variance("unit"),
            "bias": layers.bias(so(2), "unit"),
            "raw_variance": layers.variance(),
            "rotation_defect": layers.defect(so(2)),
        }
        numbers[reading] = [
            {name: rounded(float(values[place]), 6) for name, values in columns.items()}
            for place in range(len(names))
        ]
    return numbers


def table(results: dict[str, Any]) -> str:
    """Mean variance and bias after each layer for every regime, as text for a terminal."""
    lines = []
    for reading in LAYER_READINGS:
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
