"""Analyses with recorded outcomes; `python tests/recorded/analyses.py` records them again."""

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))

import liegg
from cases import (
    CASES,
    EQUIVARIANT,
    FromInnerProducts,
    analysed,
    conjugated_map,
    lorentz,
    mlp,
    normal,
    square,
)

STORED = Path(__file__).with_name("outcomes.json")


def outcome(sym: Any) -> dict[str, Any]:
    """What must not change: counts, grades, names, defects, intervals, controls."""
    sure = sym.decision.certainty
    checked = sym.verification
    return {
        "nullity": sym.nullity,
        "undecided": sym.decision.undecided,
        "trivial": sym.decision.trivial,
        "exact": sym.decision.exact,
        "grades": list(sym.decision.grades),
        "near": [bool(mark) for mark in sym.decision.borderline],
        "name": sym.name,
        "sure": sym.identification.confident,
        "defects": sym.defects.tolist(),
        "intervals": plain(sym.intervals.tolist()),
        "floor": sym.decision.floor,
        "variance": float(sym.spectrum.values[0]),
        "warnings": len(sym.decision.warnings),
        "notes": len(sym.notes),
        "counts": None if sure is None else list(sure.nullity),
        "support": None if sure is None else sure.support,
        "angle": None if sure is None else sure.angle,
        "control": None if sym.controls.random is None else plain(sym.controls.random.low),
        "learned": None
        if sym.controls.reinitialised is None
        else list(sym.controls.reinitialised.learned),
        "curves": None
        if checked is None
        else plain([curve.change.tolist() for curve in checked.curves]),
        "samples": sym.samples,
        "rows": sym.accumulated.rows.rows,
    }


def plain(value: Any) -> Any:
    """NaN and infinity as null."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def convolutional() -> nn.Sequential:
    """A small network on images."""
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(5)
        return nn.Sequential(
            nn.Conv2d(1, 4, 5, padding=2),
            nn.SiLU(),
            nn.AvgPool2d(2),
            nn.Conv2d(4, 8, 3, padding=1),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(32, 3),
        )


def images(samples: int, channels: int = 1, size: int = 12) -> torch.Tensor:
    """Smooth random images."""
    low = normal(samples, channels, 5, 5, seed=11)
    return nn.functional.interpolate(low, size=(size, size), mode="bicubic", align_corners=True)


def radial(x: torch.Tensor) -> torch.Tensor:
    """Energy of an image in rings about its centre."""
    axis = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
    radius = (axis[:, None] ** 2 + axis[None, :] ** 2).sqrt()
    rings = torch.stack([torch.exp(-((radius - r) ** 2) / 0.05) for r in (0.0, 0.3, 0.6)])
    return torch.einsum("bchw,rhw->br", x.square(), rings)


def drawn(image: Callable[..., torch.Tensor] = images) -> torch.Tensor:
    return image(60)


def analyses() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and calls."""
    for case in CASES:
        yield f"{case.name}/float64", lambda c=case: analysed(c)
    for case in CASES:
        if case.name in (
            "norm-5",
            "lorentz",
            "symplectic",
            "distances",
            "direction",
            "two-norms",
            "plane",
            "inner-products",
        ):
            single = (
                FromInnerProducts(5, dtype=torch.float32)
                if case.name == "inner-products"
                else case.function
            )
            yield (
                f"{case.name}/float32",
                lambda c=case, f=single: liegg.discover(f, c.data.float(), c.action),
            )
    for case in EQUIVARIANT:
        yield (
            f"{case.name}/equivariance",
            lambda c=case: liegg.discover(
                c.function, c.data, c.action, output_action=c.output_action
            ),
        )
    linear3, x3 = liegg.Linear(3), normal(200, 3)
    net = mlp(3, 8, 2)
    broken = lambda s: lambda x: square(x) + s * x[:, 0] ** 3  # noqa: E731
    for strength in (1e-3, 1e-2, 0.05, 0.2):
        yield (
            f"broken-{strength:g}",
            lambda s=strength: liegg.discover(broken(s), normal(500, 3, seed=2), linear3),
        )
    yield (
        "network float32",
        lambda: liegg.discover(mlp(3, 8, 2, dtype=torch.float32), x3.float(), linear3),
    )
    yield (
        "groups",
        lambda: liegg.discover(
            net, x3, linear3, run=liegg.Run(seed=4, groups=[i % 20 for i in range(200)])
        ),
    )
    yield "combinations", lambda: liegg.discover(lambda x: x**2, normal(50, 3), linear3, outputs=2)
    yield "sum", lambda: liegg.discover(net, x3, linear3, outputs="sum")
    yield "jvp", lambda: liegg.discover(net, x3, linear3, run=liegg.Run(route="jvp"))
    yield "vjp", lambda: liegg.discover(net, x3, linear3, run=liegg.Run(route="vjp"))
    yield "too few", lambda: liegg.discover(square, normal(4, 3), linear3)
    yield "few", lambda: liegg.discover(square, normal(12, 3), linear3)
    yield (
        "constant",
        lambda: liegg.discover(lambda x: torch.zeros_like(x[:, :2]), normal(100, 3), linear3),
    )
    yield "nothing moves", lambda: liegg.discover(lambda x: x.sum(1), torch.zeros(20, 3), linear3)
    yield (
        "steps",
        lambda: liegg.discover(
            lambda x: x.sign().sum(1) + (0 * x.square()).sum(1) + 1e-9 * x[:, 0],
            x3,
            linear3,
            run=liegg.Run(hidden="ignore"),
        ),
    )
    yield "copies of samples", lambda: liegg.discover(square, normal(10, 3).repeat(20, 1), linear3)
    yield (
        "mixed units",
        lambda: liegg.discover(
            net, x3 * torch.tensor([1.0, 100.0, 1.0], dtype=torch.float64), linear3
        ),
    )
    yield (
        "restricted to all",
        lambda: liegg.discover(square, normal(50, 3), linear3.restrict(liegg.so(3))),
    )
    yield "restricted", lambda: liegg.discover(net, x3, linear3.restrict(liegg.algebra.sl(3)))
    yield (
        "bottom",
        lambda: liegg.discover(square, normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=8)),
    )
    yield (
        "bottom and more",
        lambda: liegg.discover(square, normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=3)),
    )
    yield (
        "bottom of equivariance",
        lambda: liegg.discover(
            (c := conjugated_map()).function,
            c.data,
            c.action,
            output_action=c.output_action,
            run=liegg.Run(bottom=2),
        ),
    )
    yield (
        "blocks",
        lambda: liegg.discover(
            lambda x: x.unflatten(1, (2, 3)).square().sum(2),
            normal(200, 6),
            liegg.actions.Blocks([3, 3]),
        ),
    )
    yield (
        "kronecker",
        lambda: liegg.discover(
            lambda x: (x @ x.mT).flatten(1),
            normal(200, 2, 3),
            liegg.actions.KroneckerSum((2, 3), [None, liegg.so(3)]),
            run=liegg.Run(bottom=4),
        ),
    )
    yield (
        "band",
        lambda: liegg.discover(
            square, normal(100, 5), liegg.actions.Banded(5, 2, shared=True, periodic=True)
        ),
    )
    yield (
        "weights",
        lambda: liegg.discover(
            lambda x: x[:, :3].prod(1), normal(100, 5), liegg.actions.Weights([0, 1, 2, 3, -1])
        ),
    )
    yield "radial image", lambda: liegg.discover(radial, drawn(), liegg.Image())
    yield "radial image affine", lambda: liegg.discover(radial, drawn(), liegg.Image("affine"))
    yield (
        "network on images",
        lambda: liegg.discover(convolutional().double(), drawn(), liegg.Image("affine")),
    )
    yield (
        "network on images float32",
        lambda: liegg.discover(convolutional(), drawn().float(), liegg.Image("affine")),
    )
    yield "similarity", lambda: liegg.discover(radial, drawn(), liegg.Image("similarity"))
    yield (
        "colour",
        lambda: liegg.discover(
            lambda x: x.mean((2, 3)).square().sum(1), images(60, 3), liegg.Color()
        ),
    )
    yield (
        "image and colour",
        lambda: liegg.discover(
            lambda x: x.square().sum(1, keepdim=True).mean((2, 3)),
            images(60, 3),
            liegg.Product(liegg.Image(), liegg.Color()),
        ),
    )
    yield (
        "sequence",
        lambda: liegg.discover(
            lambda x: x.square().sum(2).flatten(1), images(40)[:, :, 0], liegg.Sequence()
        ),
    )
    yield (
        "verified",
        lambda: liegg.discover(
            square, normal(50, 2), liegg.Linear(2), held_out=normal(50, 2, seed=3)
        ),
    )
    yield (
        "verified lorentz",
        lambda: liegg.discover(
            (c := lorentz()).function, c.data, c.action, held_out=normal(60, 4, seed=3)
        ),
    )
    yield (
        "re-initialised",
        lambda: liegg.discover(
            mlp(3, 8, 2),
            x3,
            linear3,
            controls="reinitialised",
            held_out=normal(50, 3, seed=3),
            run=liegg.Run(control_draws=3),
        ),
    )
    yield "several batches", lambda: liegg.discover(net, [x3[:70], x3[70:150], x3[150:]], linear3)


def layers() -> dict[str, Any]:
    """Every layer of two networks."""
    found = {}
    for name, model, x, action in (
        ("perceptron", mlp(3, 8, 8, 2), normal(200, 3), liegg.Linear(3)),
        ("convolutional", convolutional().double(), drawn(), liegg.Image("affine")),
    ):
        for layer in liegg.discover_layers(model, x, action):
            found[f"layer {layer.name} of {name}"] = outcome(layer.invariance)
    return found


def outcomes() -> dict[str, Any]:
    """Everything, run now."""
    return {name: outcome(call()) for name, call in analyses()} | layers()


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = outcomes()
    STORED.write_text(
        json.dumps(
            {"versions": {"liegg": liegg.__version__, "torch": torch.__version__}, "outcomes": made}
        )
        + "\n"
    )
    print(len(made), "outcomes")
