"""Models that run anywhere, and the comparison of a result on the CPU with one on another device."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import liegg
from cases import FromInnerProducts, mlp, normal

CUDNN: Any = torch.backends.cudnn
PRODUCTS: tuple[Any, ...] = (torch.backends.cuda.matmul, CUDNN.conv, CUDNN.rnn)
"""Where torch keeps the precision of products of float32 numbers."""

FULL_PRECISION = "ieee"

TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}
"""Largest difference of defects between two devices, as a share of the largest defect.

The rows carry the rounding of the model's type, whose units are 2e-16, 1e-7, 1e-3 and 8e-3; sums are
in float64 on every device. On a CPU these models are within one unit of their values in float64;
convolutions of a GPU may take other sums, with errors some ten times as large.
"""

TENSOR_FLOAT = 5e-3
"""The same where products are rounded to TensorFloat-32, which has as many digits as float16."""


class Rotated(nn.Module):
    """A vector times a function of its length: it commutes with rotations."""

    def forward(self, x: Tensor) -> Tensor:
        return x * x.square().sum(1, keepdim=True).sin()


class Attention(nn.Module):
    """One layer of a transformer on points, and a mean over the points."""

    def __init__(self) -> None:
        super().__init__()
        self.lift = nn.Linear(3, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.last = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.block(self.lift(x)).mean(1))


class Radial(nn.Module):
    """A network of the energy of an image in rings around its centre."""

    def __init__(self, size: int = 12) -> None:
        super().__init__()
        axis = torch.linspace(-1, 1, size, dtype=torch.float64)
        radius = (axis[:, None] ** 2 + axis**2).sqrt()
        rings = torch.stack([torch.exp(-((radius - r) ** 2) / 0.05) for r in (0.0, 0.3, 0.6)])
        self.register_buffer("rings", rings)
        self.rings: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("bchw,rhw->br", x.square(), self.rings.to(x))


def seeded(build: Callable[[], nn.Module], seed: int = 5) -> nn.Module:
    """A model with the same weights in every run."""
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        return build().eval()


def convolutional() -> nn.Module:
    """A small network on images, with smooth activations and batch statistics."""
    return seeded(
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 5, padding=2),
            nn.BatchNorm2d(4),
            nn.SiLU(),
            nn.AvgPool2d(2),
            nn.Conv2d(4, 8, 3, padding=1),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(32, 3),
        )
    )


def images(samples: int, channels: int = 1, size: int = 12) -> Tensor:
    """Smooth random images."""
    low = normal(samples, channels, 5, 5, seed=11)
    return nn.functional.interpolate(low, size=(size, size), mode="bicubic", align_corners=True)


class Subject(NamedTuple):
    """A model, samples and candidate generators, all in float64."""

    model: Callable[[], nn.Module]
    data: Callable[[], Tensor]
    action: Callable[[], liegg.Action]
    output_action: Callable[[], liegg.Action] | None = None


SUBJECTS = {
    "inner products": Subject(
        lambda: FromInnerProducts(5), lambda: normal(400, 10), lambda: liegg.Linear(5, copies=2)
    ),
    "network": Subject(lambda: mlp(4, 32, 32, 3), lambda: normal(400, 4), lambda: liegg.Linear(4)),
    "rotated vectors": Subject(
        Rotated, lambda: normal(400, 3), lambda: liegg.Linear(3), lambda: liegg.Linear(3)
    ),
    "attention": Subject(
        lambda: seeded(Attention), lambda: normal(120, 5, 3), lambda: liegg.Affine(3, copies=5)
    ),
    "rings of an image": Subject(Radial, lambda: images(60), lambda: liegg.Image("affine")),
    "convolutions": Subject(convolutional, lambda: images(60), lambda: liegg.Image("affine")),
    "colour": Subject(
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.SiLU(), nn.Flatten(), nn.LazyLinear(2)),
        lambda: images(60, 3),
        lambda: liegg.Color(),
    ),
}


def made(name: str, dtype: torch.dtype) -> tuple[nn.Module, Tensor]:
    """The model and the samples of a subject in a given type, on the CPU."""
    subject = SUBJECTS[name]
    x = subject.data()
    model = seeded(subject.model)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.random.manual_seed(7)
        model(x[:2].to(next(iter(model.parameters()), x).dtype))  # lazy layers get their weights
    return model.to(dtype), x.to(dtype)


def differences(one: liegg.Symmetries, other: liegg.Symmetries) -> dict[str, float]:
    """How far two results are apart, each as a share of the largest value; `angle` in radians."""
    figures = {
        "defects": _apart(one.defects, other.defects),
        "intervals": _apart(one.intervals, other.intervals),
        "spectrum": _apart(one.spectrum.values, other.spectrum.values),
    }
    if 0 < one.nullity == other.nullity:
        figures["angle"] = float(one.angles(other.generators).max())
    return figures


def _apart(one: Tensor, other: Tensor) -> float:
    """Largest difference, as a share of the largest value; infinite where NaN differs."""
    if one.shape != other.shape or not torch.equal(one.isnan(), other.isnan()):
        return float("inf")
    kept = ~one.isnan()
    if not bool(kept.any()):
        return 0.0
    return float((one - other)[kept].abs().max() / other[kept].abs().max().clamp_min(1e-300))


def assert_agree(
    one: liegg.Symmetries, other: liegg.Symmetries, tolerance: float
) -> dict[str, float]:
    """Two devices find the same: counts exactly, numbers to a tolerance. Returns the differences.

    Defects below the tolerance can be of any size, and so can the ends of their intervals. An
    interval depends on defects of parts of the samples, an angle on a gap: both get ten times as much.
    """
    figures = differences(one, other)
    assert one.nullity == other.nullity
    assert one.samples == other.samples
    assert one.decision.trivial == other.decision.trivial
    assert figures["defects"] < tolerance
    assert figures["spectrum"] < tolerance
    assert figures["intervals"] < 10 * tolerance
    assert figures.get("angle", 0.0) < 10 * tolerance
    assert one.defects.device.type == other.defects.device.type == "cpu"
    return figures
