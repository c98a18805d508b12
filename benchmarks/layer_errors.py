"""Which layers of a trained classifier break its equivariance, and why: padding, stride, nonlinearity or filters.

Stored as results/layer-errors.json, for the CIFAR-10 ResNets of 20 and 56 layers:

| part | question |
|---|---|
| motions | the equivariance error that each layer adds, its effect on the output, and the predictions that it changes |
| layers | the defect of named motions in every block: how invariant its output is |
| relu6 | the first part for ResNet-20 with every ReLU replaced by ReLU6, which cuts off above 6 |

    LIEGG_DATA=data python benchmarks/layer_errors.py --models models
    ... --only relu6    the others stay as they are stored
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch

import liegg
from layer_error_tables import write_page
from liegg.results import LayerErrors
from liegg.results.json_values import json_values
from resnets import ResNet, photographs, trained_resnet, with_relu6
from result_files import RESULTS, store

OUT = RESULTS / "layer-errors.json"
NETWORKS = {"resnet20": 20, "resnet56": 56, "resnet20-relu6": 20}
RELU6 = "-relu6"
ACCURACY_SAMPLES = 512
SAMPLES = 64
MOTIONS = [
    ("rotation", 15.0),
    ("rotation", 90.0),
    ("shift", 1.0),
    ("shift", 4.0),
    ("scaling", 25.0),
]
"""Motions with their sizes; rotations by 90° and shifts by 4 pixels take the pixels of every map to pixels."""

BLOCKS = ["layer?.*", "pool", "linear"]
"""Layers whose outputs are asked about."""

GEOMETRY = ["rotation", "shift", "scaling", "shear"]
COLOURS = ["brightness", "contrast", "hue", "saturation"]


def stored(found: LayerErrors) -> dict[str, Any]:
    """What is kept of a measurement: the shares, and the layers with three digits."""
    keys = ("total", "added", "interior", "resampling", "effect", "changed")
    layers = {}
    for layer in found.single:
        values = {key: _short(getattr(layer, key)) for key in keys}
        weights = {cause: _short(value) for cause, value in layer.causes().items()}
        layers[layer.name] = {"kind": layer.kind, "exact": layer.exact, **values, "causes": weights}
    return {
        "motion": found.motion,
        "size": found.size,
        "unit": found.unit,
        "samples": found.samples,
        "output": _short(found.output),
        "sentence": found.sentence,
        "by_cause": {cause: _short(share) for cause, share in found.by_cause().items()},
        "worst": [layer.name for layer in found.worst[:6]],
        "layers": layers,
    }


def defects(network: ResNet, images: Any) -> dict[str, Any]:
    """Defect of every motion in every block, with its interval."""
    found: dict[str, Any] = {}
    for action, names in ((liegg.Image("affine"), GEOMETRY), (liegg.Color(), COLOURS)):
        layers = liegg.discover_layers(network, images, action, layers=BLOCKS)
        for one in layers.about(names):
            rows = zip(layers.names, one.values.tolist(), one.intervals.tolist(), strict=True)
            found[one.name] = {
                name: [_short(value), *map(_short, ends)] for name, value, ends in rows
            }
    return found


def accuracy(network: ResNet) -> float:
    """Share of right predictions on the first test images."""
    images, classes = photographs(ACCURACY_SAMPLES)
    with torch.no_grad():
        return _short(float((network(images).argmax(1) == classes).double().mean()))


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def main() -> None:
    """Measure every motion, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", type=Path, required=True, help="folder with the weights")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="number of test images")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", default="", help="part of the names of networks")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    images, _ = photographs(chosen.samples)
    networks: dict[str, Any] = json.loads(OUT.read_text()) if chosen.only else {}
    for name, depth in NETWORKS.items():
        if chosen.only not in name:
            continue
        network = trained_resnet(depth, chosen.models)
        if name.endswith(RELU6):
            network = with_relu6(network)
        motions = []
        for motion, size in MOTIONS:
            errors = liegg.layer_errors(
                network, images, liegg.Image("affine"), motion, size=size, samples=chosen.samples
            )
            print(errors, "", sep="\n", flush=True)
            motions.append(stored(errors))
        networks[name] = {"motions": motions, "accuracy": accuracy(network)}
        if not name.endswith(RELU6):
            networks[name]["layers"] = defects(network, images)
    command = "LIEGG_DATA=data python benchmarks/layer_errors.py --models models"
    found = json_values(networks)
    store(found, chosen.out, command, begin=begin)
    if chosen.out == OUT:
        write_page(found)


if __name__ == "__main__":
    main()
