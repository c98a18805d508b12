"""Named motions of trained networks, stored as results/questions.json: what people ask, and the answers.

| part | question |
|---|---|
| digits | did rotation augmentation help? Two small networks on MNIST, with and without |
| photographs | which motions change how many predictions of ResNet-20 and ResNet-56 on CIFAR-10, and which is more invariant? |
| gravity | which changes of masses and distance leave the force that a network learned as it is? With names of the inputs |
| forces | does a network of forces on four atoms turn with them? One built so, one that learned it |
| cost | time of a call with the standard questions over that of one without, in one run |

python benchmarks/questions.py --weights FOLDER    FOLDER holds cifar10-resnet20.safetensors and cifar10-resnet56.safetensors
python benchmarks/questions.py --only digits       the other parts stay as they are stored
"""

import argparse
import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import liegg
import resnets
from liegg.results.answers import Answers
from liegg.studies.datasets import mnist, mnist_sample
from measure import alternating
from question_tables import write_page
from result_files import RESULTS, store

OUT = RESULTS / "questions.json"


# Digits


def digit_network() -> nn.Sequential:
    """Two convolutions, global mean, linear."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(512, 10),
    )


def turned(images: Tensor) -> Tensor:
    """Images turned by random angles about their centres."""
    angles = 2 * math.pi * torch.rand(len(images))
    cos, sin, zero = angles.cos(), angles.sin(), torch.zeros(len(images))
    maps = torch.stack([torch.stack([cos, -sin, zero], 1), torch.stack([sin, cos, zero], 1)], 1)
    places = nn.functional.affine_grid(maps, list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, places, align_corners=False)


def trained(x: Tensor, y: Tensor, *, augmented: bool, epochs: int) -> nn.Sequential:
    """A network trained by Adam, with or without random rotations."""
    torch.manual_seed(0)
    network = digit_network()
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(epochs):
        for some in torch.randperm(len(x)).split(128):
            batch = turned(x[some]) if augmented else x[some]
            loss = nn.functional.cross_entropy(network(batch), y[some])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network.eval()


def accuracy(network: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of right predictions."""
    with torch.no_grad():
        return float((network(x).argmax(1) == y).double().mean())


def digits(*, quick: bool) -> dict[str, Any]:
    """Two networks, their answers and the comparison."""
    train = mnist_sample() if quick else mnist("train")
    test = mnist_sample() if quick else mnist("test")
    count, epochs = (256, 1) if quick else (12000, 6)
    x, y = train.images[:count, None].float() / 255, train.labels[:count]
    xt, yt = test.images[:1000, None].float() / 255, test.labels[:1000]
    found, rows = [], {}
    for name in ("plain", "augmented"):
        network = trained(x, y, augmented=name == "augmented", epochs=epochs)
        torch.manual_seed(1)
        sym = liegg.discover(
            network,
            xt[: 40 if quick else 500],
            liegg.Image("affine"),
            about=["rotation", "shift", "scaling", "brightness"],
            target="classes",
            controls="reinitialised",
            run=liegg.Run(control_draws=2 if quick else 19),
        )
        found.append(sym)
        rows[name] = {
            "accuracy": accuracy(network, xt, yt),
            "accuracy_turned": accuracy(network, turned(xt), yt),
            "answers": told(sym.answers),
        }
    return rows | {"comparison": compared(*found, names=("plain", "augmented"))}


# Photographs


def photographs(folder: Path | None, *, quick: bool) -> dict[str, Any] | None:
    """Two networks, their answers and the comparison; None without weights."""
    if folder is None:
        return None
    x, y = resnets.photographs(40 if quick else 512)
    found, rows = [], {}
    about = ["rotation", "shift", "scaling", "shear", "brightness", "contrast", "hue", "saturation"]
    for depth in (20, 56):
        network = resnets.trained_resnet(depth, folder)
        sym = liegg.discover(network, x, liegg.Image("affine"), about=about)
        found.append(sym)
        rows[f"resnet{depth}"] = {
            "accuracy": accuracy(network, x, y),
            "task": sym.settings["task"],
            "answers": told(sym.answers),
        }
    return rows | {"comparison": compared(*found, names=("resnet20", "resnet56"))}


# Gravity


class LogLaw(nn.Module):
    """A perceptron of logarithms: the logarithm of the force from masses and distance."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """`[b, 1]`."""
        return self.inner(x.log())


def gravity(*, quick: bool) -> dict[str, Any]:
    """A network that learned m₁ m₂ / r² from noiseless samples, and the law itself."""
    torch.manual_seed(0)
    x = torch.exp(torch.rand(200 if quick else 4000, 3, dtype=torch.float64) * 2 - 1)
    target = (x[:, 0] * x[:, 1] / x[:, 2] ** 2).log()[:, None]
    network = LogLaw().double()
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    steps = 50 if quick else 3000
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        some = torch.randint(len(x), (256,))
        loss = (network(x[some]) - target[some]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    action = liegg.Linear(3, names=["m1", "m2", "r"])
    about = {
        "m1 for m2": torch.diag(torch.tensor([1.0, -1.0, 0.0])).double()[None],
        "m1 for distance": torch.diag(torch.tensor([2.0, 0.0, 1.0])).double()[None],
        "all larger": torch.eye(3).double()[None],
    }

    def law(x: Tensor) -> Tensor:
        return (x[:, :1] * x[:, 1:2] / x[:, 2:] ** 2).log()

    rows = {}
    for name, model in (("law", law), ("network", network)):
        sym = liegg.discover(model, x[: 100 if quick else 1000], action, about=about)
        rows[name] = {
            "name": sym.name,
            "sentence": str(sym.sentence),
            "words": list(sym.words),
            "vector_fields": list(sym.vector_fields()),
            "latex": sym.latex(),
            "answers": told(sym.answers),
        }
    return rows


# Forces


class PairForces(nn.Module):
    """Forces along the lines between atoms, of a size that a small network reads from the distance."""

    def __init__(self) -> None:
        super().__init__()
        self.size = nn.Sequential(nn.Linear(1, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Forces `[b, atoms, 3]`."""
        lines = x[:, :, None] - x[:, None]
        squares = lines.square().sum(-1, keepdim=True)
        return (self.size((squares + 1e-6).sqrt()) * lines).sum(2)


class PlainForces(nn.Module):
    """A perceptron on the coordinates."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(12, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 12)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Forces `[b, atoms, 3]`."""
        return self.inner(x.flatten(1)).reshape(x.shape)


def forces(*, quick: bool) -> dict[str, Any]:
    """A network that turns with the atoms by construction, and one that learned it from turned samples."""
    torch.manual_seed(0)
    atoms = torch.randn(200 if quick else 8000, 4, 3, dtype=torch.float64)
    lines = atoms[:, :, None] - atoms[:, None]
    target = (lines * torch.exp(-lines.square().sum(-1, keepdim=True) / 2)).sum(2)
    found, rows = [], {}
    for name, network in (("built", PairForces()), ("learned", PlainForces())):
        network.double()
        optimiser = torch.optim.Adam(network.parameters(), 2e-3)
        loss = torch.zeros(())
        for _ in range(50 if quick else 3000):
            some = torch.randint(len(atoms), (256,))
            loss = (network(atoms[some]) - target[some]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        sym = liegg.discover(
            network,
            atoms[: 50 if quick else 500],
            liegg.Affine(3, copies=4, names=["x", "y", "z"]),
            output_action=liegg.Linear(3, copies=4, names=["Fx", "Fy", "Fz"]),
            about=["rotation", "translation"],
        )
        found.append(sym)
        rows[name] = {
            "error": float(loss.detach() / target.square().mean()) ** 0.5,
            "name": sym.name,
            "sentence": str(sym.sentence),
            "words": list(sym.words),
            "vector_fields": list(sym.vector_fields()),
            "output_fields": list(sym.vector_fields(of_output=True)),
            "latex": sym.latex(),
            "answers": told(sym.answers),
        }
    return rows | {"comparison": compared(*found, names=("built", "learned"))}


# Cost

NAMED_COUNT, NAMED = 500, {1: ["rotation"], 4: ["rotation", "shift", "scaling", "shear"]}
"""Samples, and the motions that are asked by name, of which the cost is measured as well."""


def cost(*, quick: bool) -> dict[str, dict[str, Any]]:
    """Processor time of a call with the standard questions over that without, and how many samples and motions were moved."""
    torch.manual_seed(0)
    network, data = digit_network().eval(), mnist_sample().images[:, None].float() / 255
    rows = {}
    for count in (64,) if quick else (20, 50, 100, 250, 500, 1000, 2500):
        ask = partial(liegg.discover, network, data[:count], liegg.Image("affine"))
        works: dict[str, Any] = {"without": partial(ask, about=()), "with": ask}
        times = alternating(works, repeats=1 if quick else 7, clock=time.process_time)
        sym = works["without"]()
        begin = time.process_time()
        sym.about(["rotation", "shift", "scaling", "shear"])
        times["derivatives"] = times["without"] + time.process_time() - begin
        tried = [one.finite for one in works["with"]().answers if one.finite is not None]
        rows[str(count)] = {
            "derivatives": times["derivatives"] / times["without"],
            "with": times["with"] / times["without"],
            "motions": len(tried),
            "moved": len(tried[0].each_change) if tried else 0,
        }
        if count == NAMED_COUNT:  # up to 256 samples by every motion
            asked = {str(n): partial(ask, about=about) for n, about in NAMED.items()}
            times = alternating(
                {"without": works["without"], **asked}, repeats=3, clock=time.process_time
            )
            rows[str(count)]["named"] = {n: times[n] / times["without"] for n in asked}
    return rows


# What is stored


def told(answers: Answers) -> dict[str, Any]:
    """The numbers of every answer."""
    rows = {}
    for one in answers:
        finite = one.finite
        rows[one.name] = {
            "sentence": one.sentence,
            "defect": number(one.defect),
            "interval": [number(end) for end in one.interval],
            "effect": number(one.effect),
            "grade": one.grade,
            "holds": one.holds,
            "untrained": [number(value) for value in one.untrained],
            "untrained_changed": one.untrained_changed,
        }
        if finite is not None:
            share = finite.share
            rows[one.name] |= {
                "size": finite.size_in_words(),
                "share": None if share is None else [share.value, share.low, share.high],
                "random_share": finite.random_share,
                "amount": number(finite.amount),
                "random_amount": number(finite.random_amount),
                "radius": number(finite.radius),
                "samples": len(finite.each_change),
            }
    return rows


def compared(a: Any, b: Any, names: tuple[str, str]) -> dict[str, Any]:
    """Motion by motion: which model changes less."""
    return {
        pair.name: {
            "sentence": pair.sentence,
            "smaller": {"a": names[0], "b": names[1], "": None}[pair.smaller],
            "difference": [
                number(x)
                for x in (pair.difference.value, pair.difference.low, pair.difference.high)
            ],
            "ratio": [number(x) for x in (pair.ratio.value, pair.ratio.low, pair.ratio.high)],
            "paired": pair.paired,
        }
        for pair in liegg.compare(a, b, names=names).answers
    }


def number(value: float) -> float | None:
    """A number that JSON can hold."""
    return value if math.isfinite(value) else None


def main() -> None:
    """Run the parts and store them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    works = {
        "digits": lambda: digits(quick=options.quick),
        "photographs": lambda: photographs(options.weights, quick=options.quick),
        "gravity": lambda: gravity(quick=options.quick),
        "forces": lambda: forces(quick=options.quick),
        "cost": lambda: cost(quick=options.quick),
    }
    begin = time.perf_counter()
    for name, work in works.items():
        if options.only in name and (found := work()) is not None:
            stored[name] = found
            print(json.dumps(found, indent=1, ensure_ascii=False)[:4000])
    store(stored, options.out, "python benchmarks/questions.py", begin=begin)
    if options.out == OUT:
        write_page(stored)


if __name__ == "__main__":
    main()
