"""bfloat16, float16 and autocast on the GPU, compared with float64 on the CPU."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from gpu.agreement import SUBJECTS, TOLERANCES, differences, made, seeded

HALVES = [torch.bfloat16, torch.float16]


class Autocast(nn.Module):
    """A network of the squared length that multiplies in half precision and returns float32."""

    def __init__(self, dtype: torch.dtype | None) -> None:
        super().__init__()
        self.dtype = dtype
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        enabled = self.dtype is not None
        with torch.autocast(x.device.type, self.dtype or torch.bfloat16, enabled=enabled):
            return self.net(x.square().sum(1, keepdim=True)).float()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", ["inner products", "network", "attention", "convolutions"])
def test_discover(name, dtype, device, enter):
    action = SUBJECTS[name].action()
    reference = liegg.discover(*made(name, torch.float64), action)
    model, x = made(name, dtype)
    sym = liegg.discover(model.to(device), x.to(device), action)
    assert sym.settings["unit"] == torch.finfo(dtype).eps
    assert sym.nullity == reference.nullity
    figures = differences(sym, reference)
    assert figures["defects"] < TOLERANCES[dtype]
    assert figures.get("angle", 0.0) < TOLERANCES[dtype]
    enter(nullity=sym.nullity, defects=figures["defects"], angle=figures.get("angle"))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_layers(dtype, device, enter):
    name = "network"
    action = SUBJECTS[name].action()
    reference = liegg.discover_layers(*made(name, torch.float64), action)
    model, x = made(name, dtype)
    found = liegg.discover_layers(model.to(device), x.to(device), action)
    assert found.names == reference.names
    worst = max(
        differences(one.invariance, other.invariance)["defects"]
        for one, other in zip(found, reference, strict=True)
    )
    assert worst < TOLERANCES[dtype]
    enter(layers=len(found), defects=worst)


@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_autocast(dtype, route, device, enter):
    """The arithmetic inside is noticed, although the output does not show it."""
    x, action = normal(200, 4).float().to(device), liegg.Linear(4)
    coarse, fine = (
        liegg.discover(
            seeded(lambda kind=kind: Autocast(kind)).to(device),
            x,
            action,
            run=liegg.Run(route=route),
        )
        for kind in (dtype, None)
    )
    assert coarse.settings["dtype"] == fine.settings["dtype"] == "float32"
    assert coarse.settings["unit"] == torch.finfo(dtype).eps
    assert fine.settings["unit"] == torch.finfo(torch.float32).eps
    assert coarse.nullity == fine.nullity == 6
    assert coarse.decision.exact == fine.decision.exact == 6  # what rounding does is measured
    difference = differences(coarse, fine)["defects"]
    assert difference < TOLERANCES[torch.bfloat16]
    enter(defects=difference)
