"""A vision transformer and a ResNet of Hugging Face's transformers, with random weights."""
# ruff: noqa: S101

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    ResNetConfig,
    ResNetForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

import liegg
from liegg.testing import assert_same_span

SIDE = 64


class Logits(nn.Module):
    """The logits alone: liegg wants one tensor, these models return a record."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """`[b, 3, h, w]` to `[b, 10]`."""
        return self.network(x).logits


class Radial(nn.Module):
    """A network that sees an image only through its means over circles about the centre, drawn again as rings."""

    def __init__(self, network: nn.Module, *, side: int, rings: int) -> None:
        super().__init__()
        self.network = network
        axis = torch.linspace(-1, 1, side)
        radius = (axis[:, None].square() + axis.square()).sqrt()
        middles = torch.arange(rings) / rings
        shells = torch.exp(-0.5 * (rings * (radius - middles[:, None, None])).square())
        self.register_buffer("shells", shells / shells.square().sum((1, 2), keepdim=True).sqrt())

    def forward(self, x: Tensor) -> Tensor:
        """Project on the rings, then ask the network."""
        return self.network(
            torch.einsum(
                "kij,bck->bcij", self.shells, torch.einsum("kij,bcij->bck", self.shells, x)
            )
        )


def transformer(**options: int) -> Logits:
    """ViT-Ti, with patches of 8 pixels."""
    sizes = {
        "hidden_size": 192,
        "num_hidden_layers": 12,
        "num_attention_heads": 3,
        "intermediate_size": 768,
    } | options
    return Logits(
        ViTForImageClassification(ViTConfig(image_size=SIDE, patch_size=8, num_labels=10, **sizes))
    )


def residual(**options: object) -> Logits:
    """ResNet-50."""
    return Logits(ResNetForImageClassification(ResNetConfig(num_labels=10, **options)))


def on_a_torus(model: nn.Module) -> nn.Module:
    """The same layers without what a shift by part of a pixel does not pass: strides, early pooling, kinks, borders."""
    smooth = {nn.MaxPool2d: nn.Identity, nn.ReLU: nn.SiLU}
    for part in list(model.modules()):
        if isinstance(part, nn.Conv2d):
            part.stride, part.padding_mode = (1, 1), "circular"
        for name, child in part.named_children():
            if type(child) in smooth:
                setattr(part, name, smooth[type(child)]())
    return model


def smooth_images(count: int, *, side: int = SIDE, sigma: float = 2.0) -> Tensor:
    """Smooth random images of unit variance, periodic."""
    noise = torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(1))
    wave = torch.fft.fftfreq(side)
    damping = torch.exp(-2 * (torch.pi * sigma) ** 2 * (wave[:, None].square() + wave.square()))
    smooth = torch.fft.ifft2(torch.fft.fft2(noise) * damping).real
    return smooth / smooth.std()


def spots(count: int, *, side: int = SIDE) -> Tensor:
    """The same images, faded out towards the border so that none is cut off by it."""
    axis = torch.linspace(-1, 1, side)
    return smooth_images(count, side=side) * torch.exp(
        -6 * (axis[:, None].square() + axis.square())
    )


@pytest.mark.parametrize(("title", "build"), [("ViT-Ti", transformer), ("ResNet-50", residual)])
def test_random_weights_have_no_symmetry(
    title: str, build: Callable[[], Logits], discovered: Callable
) -> None:
    """Nothing is invented, and the model is left as it was."""
    model, data = build(), smooth_images(32)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    sym = discovered(title, model, data, liegg.Image("affine"))
    assert sym.nullity == 0
    assert sym.decision.grades.count("exact") + sym.decision.grades.count("strong") == 0
    assert model.training
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize(
    ("title", "build", "some"),
    [
        ("ViT-Ti", transformer, "network.vit.layers.11"),
        ("ResNet-50", residual, "network.resnet.pooler"),
    ],
)
def test_layers_are_read_forward_and_end_as_the_network_does(
    title: str, build: Callable[[], Logits], some: str, layers_discovered: Callable
) -> None:
    """Every layer in one pass; the last agrees with the network read alone, which takes another route past attention."""
    model, data = build(), smooth_images(32)
    found = layers_discovered(f"{title}, layers", model, data, liegg.Image("affine"))
    assert some in found.names
    assert not any(
        "forward derivatives do not reach" in note for layer in found for note in layer.notes
    )
    alone = liegg.discover(model, data, liegg.Image("affine"), controls="none")
    torch.testing.assert_close(found[-1].invariance.defects, alone.defects, rtol=1e-3, atol=0)


def test_a_transformer_behind_circle_means_has_so2(discovered: Callable) -> None:
    """Means over circles do not change when the image is rotated; all else reaches the transformer."""
    model = Radial(transformer(), side=SIDE, rings=8)
    sym = discovered("ViT-Ti behind means over circles", model, spots(48), liegg.Image("affine"))
    assert (sym.nullity, sym.name) == (1, "so(2)")
    assert_same_span(sym.generators[:, :2, :2], liegg.so(2), tolerance=0.02)


def test_a_circular_residual_network_has_translations(discovered: Callable) -> None:
    """Circular convolutions and the mean over all places at the end: shifts, and only shifts, change nothing."""
    small = residual(embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], layer_type="basic")
    sym = discovered(
        "ResNet on a torus",
        on_a_torus(small),
        smooth_images(256, side=32, sigma=3.0),
        liegg.Image("affine", derivative="spectral", border="periodic"),
    )
    assert sym.nullity == 2
    assert_same_span(sym.generators, liegg.translation(2), tolerance=1e-3)
    assert sym.name == "translation(2)"
