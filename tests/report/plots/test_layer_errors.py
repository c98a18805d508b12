"""Bars of what each layer adds: the numbers of the record."""

import math
from typing import Any

import pytest
import torch
from torch import nn

import liegg
from cases import normal

plot: Any = liegg.plot


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.Conv2d(2, 2, 3, padding=1)
    return nn.Sequential(*layers).double()


@pytest.mark.parametrize("effects", [True, False])
def test_bars_add_up_to_the_layers(model, effects):
    x = normal(4, 64).reshape(4, 1, 8, 8)
    found = liegg.layer_errors(model, x, liegg.Image("affine"), effects=effects)
    ax = plot.layer_errors(found)
    heights = [0.0, 0.0]
    for bars in ax.containers:
        for i, bar in enumerate(bars):
            assert bar.get_y() == pytest.approx(heights[i])
            heights[i] += bar.get_height()
    assert heights == pytest.approx([100 * found["0"].weight, 100 * found["2"].weight])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "2"]
    assert math.isfinite(found["0"].effect) == effects == ("output" in ax.get_ylabel())


def test_one_layer_or_none(model):
    x = normal(4, 64).reshape(4, 1, 8, 8)
    found = liegg.layer_errors(model, x, liegg.Image("affine"))
    ax = plot.figure().subplots()
    assert plot.layer_errors(found, ax, most=1) is ax
    assert [label.get_text() for label in ax.get_xticklabels()] == [found.worst[0].name]
    nothing = liegg.layer_errors(nn.Sequential(nn.ReLU()).double(), x, liegg.Image("affine"))
    assert not plot.layer_errors(nothing).containers
