"""Layers against depth, and what each adds: the numbers of the record."""

import math
from typing import Any

import pytest
import torch
from torch import nn

import liegg
from cases import normal

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


@pytest.fixture(scope="module")
def found():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)).double()
    return liegg.discover_layers(
        model, normal(60, 3), liegg.Linear(3), output_action=liegg.Linear(3)
    )


def drawn(ax):
    return {line.get_label(): [float(value) for value in line.get_ydata()] for line in ax.lines}


def test_layers_against_depth(found):
    made = plot.layers(found, variance=True)
    variance, defect = made.axes
    assert [ax.get_ylabel() for ax in plot.layers(found).axes] == [defect.get_ylabel()]
    assert drawn(variance) == {
        "output": found.variance().tolist(),
        "output of unit length": found.variance("unit").tolist(),
    }
    assert drawn(defect)["invariance"] == found.defect().tolist()
    assert drawn(defect)["equivariance"][2] == pytest.approx(
        float(found.defect(of="equivariance")[2]), abs=1e-30
    )
    assert drawn(defect)["threshold 0.03"] == [0.03, 0.03]
    assert [label.get_text() for label in defect.get_xticklabels()] == ["0", "1", "2"]
    assert variance.get_yscale() == defect.get_yscale() == "log"


def test_layers_against_a_reference(found, tmp_path):
    made = plot.layers(found, liegg.so(3), "so(3)")
    bias, defect = made.axes
    assert drawn(bias)["output"] == found.bias(liegg.so(3)).tolist()
    assert drawn(bias)["output of unit length"] == found.bias(liegg.so(3), "unit").tolist()
    assert bias.get_ylabel() == "bias against so(3)"
    assert drawn(defect)["invariance"] == found.defect(liegg.so(3)).tolist()
    paths = plot.save_figure(made, tmp_path / "layers")
    assert all(path.stat().st_size > 1000 for path in paths)


def test_a_figure_of_your_own_is_drawn_into(found):
    made = plot.figure(6, 8)
    upper, lower = made.subfigures(2, 1)
    assert plot.layers(found, fig=lower) is lower
    assert len(lower.axes) == 1
    assert not upper.axes


def test_exact_zeros_still_have_a_place():
    class Constant(nn.Module):
        def forward(self, x):
            return torch.ones(len(x), 1, dtype=x.dtype)

    found = liegg.discover_layers(Constant(), normal(20, 2), liegg.Linear(2))
    made = plot.layers(found, variance=True)
    assert min(drawn(made.axes[0])["output"]) > 0


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
