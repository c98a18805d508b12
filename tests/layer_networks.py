"""Networks and comparisons for the tests of layers."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

import liegg
from cases import normal
from liegg.discovery.layers.hooks import Layer, network_of, truncate


class Quadratic(nn.Module):
    """A smooth nonlinearity that doubles the bandwidth of an image, and no more."""

    def forward(self, x):
        return x + 0.3 * x * x


class Norm(nn.Module):
    def forward(self, x):
        return x.norm(dim=1, keepdim=True)


class Residual(nn.Module):
    """Convolutions, batch norm, a skip connection, and a sum that no module makes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.conv1, self.conv2 = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        x = self.stem(x)
        y = self.norm2(self.conv2(self.relu(self.norm1(self.conv1(x)))))
        return self.head(self.pool(self.relu(x + y)).flatten(1))


class Attention(nn.Module):
    """Patches, a linear embedding, attention by the fused kernel, a layer of torch's own, the mean."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, 8)
        self.mix = nn.Linear(8, 24)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        patches = functional.unfold(x, 4, stride=4).mT  # [b, 4, 16]
        q, k, v = self.mix(self.embed(patches)).chunk(3, dim=-1)
        mixed = functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        return self.head(self.encoder(mixed).mean(1))


def with_statistics(model, dtype=torch.float64):
    """Batch norm with statistics that are not those of a new layer, in training mode as a user would leave it."""
    for part in model.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean = torch.randn(part.num_features)
            part.running_var = 0.5 + torch.rand(part.num_features)
    return model.to(dtype).train()


def perceptron():
    return nn.Sequential(
        nn.Linear(6, 12),
        nn.Tanh(),
        nn.Dropout(),
        nn.Linear(12, 9),
        nn.ReLU(inplace=True),
        nn.Linear(9, 3),
    )


def images(count=40, side=8):
    return liegg.actions.smooth(normal(count, 1, side, side, seed=3), 1.0)


NETWORKS = {
    "perceptron": (perceptron, lambda: normal(120, 6), liegg.Linear(3, copies=2)),
    "residual": (Residual, images, liegg.Image("affine")),
    "attention": (Attention, images, liegg.Image("affine")),
}


def case(name, dtype):
    make, data, action = NETWORKS[name]
    torch.manual_seed(0)
    return (
        with_statistics(make(), dtype),
        data().to(dtype),
        action,
        1e-5 if dtype == torch.float32 else 1e-10,
    )


def truncated(model, layer):
    """The network up to a layer, in eval mode."""
    return truncate(
        network_of(copy.deepcopy(model).eval(), "model"),
        Layer(layer.name, layer.name.split("#")[0], layer.kind, layer.shape),
    )


def unit(function):
    return lambda x: functional.normalize(function(x).flatten(1), dim=1)


def assert_same(found, expected, tolerance):
    assert found.accumulated.rows.rows == expected.accumulated.rows.rows
    assert found.nullity == expected.nullity
    assert found.settings["outputs"] == expected.settings["outputs"]
    sensitivity = expected.accumulated.solution.sensitivity
    assert found.accumulated.solution.sensitivity == pytest.approx(sensitivity, rel=tolerance)
    if sensitivity == 0:  # the sum of a layer norm: nothing but rounding moves it
        return
    for one, other in (
        (found.spectrum.values, expected.spectrum.values),
        (found.defects, expected.defects),
    ):
        rounding = expected.decision.floor * float(
            other[-1]
        )  # where a direction is exact, rounding is all there is
        torch.testing.assert_close(one, other, rtol=tolerance, atol=rounding)
