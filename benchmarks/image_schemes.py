"""Response of networks to motions of images, by derivative scheme and by really moving them.

Stored as results/image-schemes.json. For a shift by one pixel and a rotation by one degree: the mean
squared change of the outputs that each scheme promises, |J ξ s|², and that of images which are moved,
|f(T x) - f(T⁻¹x)|²/4, both in units of the outputs. For the first data set also the defects of rotation
and translation among the six affine candidates.

    LIEGG_DATA=data python benchmarks/image_schemes.py --models models --photographs imagenet-sample
"""

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

import liegg
import resnets
from liegg.actions.grid.stencils import SCHEMES, Scheme
from liegg.studies import datasets
from result_files import options, store

IMAGES, PHOTOGRAPHS, DEFECTS = 48, 4, 32
SHOWN: list[Scheme] = [s for s in SCHEMES if s != "paper"]  # its fields are per pixel
DEGREE = math.pi / 180
NAMES = {"rotation": liegg.so(2), "translation": liegg.translation(2)[:1]}


def square(change: Tensor) -> float:
    """Mean squared length."""
    return float(change.square().sum(1).mean())


def responses(model: Callable[[Tensor], Tensor], x: Tensor) -> dict[str, Any]:
    """Squared changes for a shift to the right by one pixel and a rotation by one degree."""
    whole = liegg.Image("affine")
    shift = whole.coefficients(liegg.translation(2)[:1])[0] / (min(x.shape[-2:]) / 2)
    turn = whole.coefficients(pad(liegg.so(2), (0, 1, 0, 1)))[0] * DEGREE
    found: dict[str, Any] = {}
    for name, h in (("shift by one pixel", shift.to(x)), ("rotation by one degree", turn.to(x))):
        ahead, behind, still = (model(y) for y in (whole.act(h, x), whole.act(-h, x), x))
        found[name] = {
            "moved both ways": square((ahead - behind) / 2),
            "moved one way": square(ahead - still),
            **{
                scheme: square(
                    torch.func.jvp(
                        model, (x,), (liegg.Image("affine", derivative=scheme).field(h, x),)
                    )[1]
                )
                for scheme in SHOWN
            },
        }
    return found


def defects(model: Callable[[Tensor], Tensor], x: Tensor) -> dict[str, dict[str, float]]:
    """Defects of the rotation and of the translation to the right, by scheme and by moving."""
    found = {}
    for scheme in (*SHOWN, None):
        action = liegg.Image("affine", derivative=scheme or "secant")
        fields = action.fields(x)
        rows = []
        for a, s in enumerate(action.steps(tuple(x.shape[1:])).to(x)):
            if scheme is not None:
                rows.append(torch.func.jvp(model, (x,), (fields[:, a],))[1])
                continue
            h = torch.zeros(6).to(x)
            h[a] = s
            rows.append((model(action.act(h, x)) - model(action.act(-h, x))) / (2 * s))
        matrix = torch.stack(rows).flatten(1).double()
        moved = fields.transpose(0, 1).flatten(1).double()
        sensitivity, displacement = matrix @ matrix.mT, moved @ moved.mT
        mean = torch.linalg.solve(displacement, sensitivity).trace() / 6
        found[scheme or "moved both ways"] = {
            name: float((h @ sensitivity @ h) / (h @ displacement @ h) / mean)
            for name, generators in NAMES.items()
            for h in action.coefficients(generators).double()
        }
    return found


def digits(count: int) -> tuple[nn.Module, Tensor]:
    """A convolutional network with random weights, and digits; nothing is downloaded."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 5),
        nn.SiLU(),
        nn.Conv2d(8, 8, 5, 2),
        nn.SiLU(),
        nn.Flatten(),
        nn.LazyLinear(10),
    )
    images = datasets.mnist_sample().images[:: 2500 // count, None].float() / 255
    model(images[:1])
    return model.eval(), images


def photographs(folder: Path, count: int) -> Tensor:
    """Evenly spaced images of a folder, values from 0 to 1."""
    from PIL import Image

    files = sorted(folder.glob("*.webp"))
    chosen = files[:: len(files) // count][:count]
    stack = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in chosen])
    return torch.from_numpy(stack).permute(0, 3, 1, 2).float() / 255


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "image-schemes.json", quick="digits and random weights only")
    parser.add_argument("--models", type=Path, help="folder with cifar10-resnet20.safetensors")
    parser.add_argument("--photographs", type=Path, help="folder of images, 224 × 224")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    found: dict[str, Any] = {}
    with torch.no_grad():
        model, images = digits(10 if chosen.quick else 100)
        found["digits, random weights"] = responses(model, images)
        if not chosen.quick:
            trained, (cifar, _) = (
                resnets.trained_resnet(20, chosen.models),
                resnets.photographs(IMAGES),
            )
            large = photographs(chosen.photographs, PHOTOGRAPHS)
            cases = {
                "CIFAR-10": cifar,
                "CIFAR-10, smoothed by 1.5 pixels": liegg.actions.smooth(cifar, 1.5),
                "photographs of 224 pixels": large,
            }
            found |= {name: responses(trained, x) for name, x in cases.items()}
            found["defects on CIFAR-10"] = defects(trained, cifar[:DEFECTS])
    print(json.dumps(found, indent=1))
    command = "python benchmarks/image_schemes.py --models MODELS --photographs PHOTOGRAPHS"
    store(found, chosen.out, command, begin=begin)


if __name__ == "__main__":
    main()
