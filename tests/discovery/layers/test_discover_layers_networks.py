"""How networks are built: shared modules, tuples, and layers that forward mode does not reach."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

import liegg
from cases import normal
from layer_networks import Residual, assert_same, images, truncated, unit, with_statistics
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError
from liegg.discovery.layers import discover_layers as assembly

# How networks are built


def test_shared_modules_have_one_entry_per_call():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(4, 4)
            self.two = self.one
            self.act = nn.Tanh()

        def forward(self, x):
            return self.act(self.two(self.act(self.one(x))))

    model = Twice().double()
    x = normal(60, 4)
    found = liegg.discover_layers(model, x, liegg.Linear(4))
    assert found.names == ("one", "act", "one#2", "act#2")
    for layer, function in zip(
        found,
        (model.one, lambda x: model.one(x).tanh(), lambda x: model.one(model.one(x).tanh()), model),
        strict=True,
    ):
        assert_same(layer.invariance, liegg.discover(function, x, liegg.Linear(4)), 1e-10)
    assert liegg.discover_layers(model, x, liegg.Linear(4), layers="two").names == ("one", "one#2")
    assert liegg.discover_layers(model, x, liegg.Linear(4), layers="one#2").names == ("one#2",)


class Recurrent(nn.Module):
    def __init__(self, cell, batch_first=True):
        super().__init__()
        self.cell = cell(2, 3, batch_first=batch_first)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        out = self.cell(x if self.cell.batch_first else x.transpose(0, 1))[0]
        return self.head((out if self.cell.batch_first else out.transpose(0, 1))[:, -1])


def test_an_entry_of_a_tuple_can_be_chosen():
    model, x = Recurrent(nn.GRU).double(), normal(60, 5, 2)
    action = liegg.Linear(2, copies=5)
    found = liegg.discover_layers(model, x, action, layers={"cell": 0})
    assert found["cell"].shape == (5, 3)
    assert_same(
        found["cell"].invariance, liegg.discover(lambda x: model.cell(x)[0], x, action), 1e-10
    )
    assert liegg.discover_layers(model, x, action, layers=["cell"])["cell"].shape == (
        5,
        3,
    )  # the first tensor
    with pytest.raises(
        ModelError,
        match=r"'cell' has shape \(1, 3, 3\) for 3 samples: its first axis is not that of the samples",
    ):
        liegg.discover_layers(model, x, action, layers={"cell": 1})
    with pytest.raises(
        ArgumentError, match="no field 5 in what layer 'cell' returned, a tuple with fields 0 "
    ):
        liegg.discover_layers(model, x, action, layers={"cell": 5})


def test_outputs_with_time_first_are_left_out_and_said_to_be():
    model, x = Recurrent(nn.GRU, batch_first=False).double(), normal(60, 5, 2)
    found = liegg.discover_layers(model, x, liegg.Linear(2, copies=5))
    assert found.names == ("head",)
    assert [note.diagnosis for note in found.notes] == [Diagnosis.LAYER_LEFT_OUT]
    assert "'cell' has shape (5, 3, 3) for 3 samples" in found.notes[0]
    with pytest.raises(
        ModelError,
        match=r"Leave it out, or choose another entry of its output: layers=\{'cell': 1\}",
    ):
        liegg.discover_layers(model, x, liegg.Linear(2, copies=5), layers=["cell"])


def test_samples_in_several_rows_are_put_together_again():
    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.each = nn.Linear(2, 3)

        def forward(self, x):
            return self.each(x.reshape(-1, 2)).reshape(len(x), -1).sum(1)

    model, x = Patches().double(), normal(60, 6)
    found = liegg.discover_layers(model, x, liegg.Linear(2, copies=3))
    assert found["each"].shape == (3, 3)
    expected = liegg.discover(
        lambda x: model.each(x.reshape(-1, 2)).reshape(len(x), 9), x, liegg.Linear(2, copies=3)
    )
    assert_same(found["each"].invariance, expected, 1e-10)


def test_types_and_patterns():
    model, x = with_statistics(Residual()), images(20)
    assert liegg.discover_layers(model, x, liegg.Image(), layers=nn.Conv2d).names == (
        "stem",
        "conv1",
        "conv2",
    )
    assert liegg.discover_layers(model, x, liegg.Image(), layers=(nn.Linear, nn.ReLU)).names == (
        "relu",
        "relu#2",
        "head",
    )
    assert liegg.discover_layers(model, x, liegg.Image(), layers=["conv?", "output"]).names == (
        "conv1",
        "conv2",
        "output",
    )


def test_of_constant_layers_nothing_is_said():
    class Constant(nn.Module):
        def forward(self, x):
            return torch.ones(len(x), 2, dtype=x.dtype)

    class Plus(nn.Module):
        def __init__(self):
            super().__init__()
            self.constant, self.linear = Constant(), nn.Linear(3, 2)

        def forward(self, x):
            return self.constant(x) + self.linear(x)

    found = liegg.discover_layers(Plus().double(), normal(50, 3), liegg.Linear(3))
    assert (
        found["constant"].invariance.nullity,
        found["constant"].invariance.decision.undecided,
    ) == (0, 9)
    assert found["linear"].invariance.nullity < 9


@pytest.mark.parametrize("seed", [0, 7])  # 7: flat at all samples at which the slope is probed
def test_dead_outputs_have_no_unit_length(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).double()
    with torch.no_grad():
        model[0].bias.fill_(-1.0)  # pyright: ignore[reportCallIssue]
    x = normal(200, 2)
    dead = int((model(x) == 0).all(1).sum())
    assert 0 < dead < 200
    found = liegg.discover_layers(model, x, liegg.Linear(2))
    (note,) = found["1"].notes
    assert note.diagnosis is Diagnosis.LAYER_ZERO_OUTPUTS
    assert note.values == {"n": dead, "total": 200}
    assert found["0"].notes == ()
    assert math.isfinite(found.variance("unit")[1])


# Where forward mode does not reach


class Warp(nn.Module):
    """Rotates an image by `grid_sample`, which has no forward derivative."""

    def forward(self, x):
        turn = torch.tensor([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0]], dtype=x.dtype).expand(len(x), 2, 3)
        return functional.grid_sample(
            x, functional.affine_grid(turn, list(x.shape), align_corners=False), align_corners=False
        )


def test_layers_behind_an_operation_without_forward_mode_fall_back_and_say_so():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.Tanh(), Warp(), nn.Flatten(), nn.Linear(72, 4), nn.Tanh()
    ).double()
    x, action = images(), liegg.Image()
    found = liegg.discover_layers(model, x, action)
    assert found.names == ("0", "1", "2", "3", "4", "5")
    assert all(
        layer.notes == () and layer.invariance.settings["route"] == "jvp"
        for layer in found.layers[:2]
    )
    for layer in found.layers[2:]:
        assert layer.notes[0].diagnosis is Diagnosis.LAYER_ANALYSED_ALONE
        assert layer.notes[0].values["reason"].startswith("NotImplementedError: ")
        assert "\n" not in layer.notes[0]
        assert layer.invariance.settings["route"] == "vjp"
    for layer in found:
        function = truncated(model, layer)
        alone, own = (
            liegg.discover(each, x, action, controls="none") for each in (function, unit(function))
        )
        assert_same(layer.invariance, alone, 1e-10)
        assert_same(layer.unit, own, 1e-9)
    assert "note on 2: forward derivatives do not reach" in str(found)


def test_wide_layers_without_forward_mode_are_read_by_combinations(monkeypatch):
    monkeypatch.setattr(assembly, "WIDE_OUTPUTS", 50)
    monkeypatch.setattr(assembly, "WIDE_COMBINATIONS", 7)
    model, x = nn.Sequential(Warp(), nn.Flatten(), nn.Linear(64, 3)).double(), images()
    found = liegg.discover_layers(model, x, liegg.Image(), output_action=liegg.Image())
    assert [layer.invariance.settings["outputs"] for layer in found] == [7, 7, "each"]
    assert found["0"].notes[1].diagnosis is Diagnosis.LAYER_COMBINATIONS
    assert found["0"].notes[1].values == {"n": 64, "combinations": 7}
    assert_same(found["0"].invariance, liegg.discover(model[0], x, liegg.Image(), outputs=7), 1e-10)
    assert found["0"].equivariance is not None
    assert_same(
        found["0"].equivariance,
        liegg.discover(model[0], x, liegg.Image(), output_action=liegg.Image(), outputs=7),
        1e-9,
    )


def test_a_network_that_differentiates_itself():
    """Without gradients asked for it cuts itself off, so forward mode sees nothing; reverse mode sees all."""

    class Force(nn.Module):
        def __init__(self):
            super().__init__()
            self.energy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

        def forward(self, x):
            with torch.enable_grad():
                x = x if x.requires_grad else x.detach().requires_grad_()
                return torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]

    torch.manual_seed(0)
    model, x = Force(), normal(60, 3).float()
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found.names == ("energy.0", "energy.1", "energy.2", "output")
    assert_same(found["output"].invariance, liegg.discover(model, x, liegg.Linear(3)), 1e-5)
    assert found["output"].unit.accumulated.rows.rows == 180
    assert (
        found["energy.2"].unit.decision.undecided == 9
    )  # a single number has a sign and no direction
    assert found["energy.2"].invariance.nullity < 9


def test_lstm_falls_back():
    model, x = Recurrent(nn.LSTM), normal(60, 5, 2).float()
    found = liegg.discover_layers(model, x, liegg.Linear(2, copies=5))
    for layer in found:
        expected = liegg.discover(truncated(model, layer), x, liegg.Linear(2, copies=5))
        assert_same(layer.invariance, expected, 1e-5)


def test_a_model_that_vmap_cannot_batch_is_differentiated_with_repeated_samples():
    class Frozen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # of the old form, which torch.func refuses
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x.sin()

        @staticmethod
        def jvp(ctx, *tangents):
            return tangents[0] * ctx.saved_tensors[0].cos()

        @staticmethod
        def backward(ctx, *gradients):
            return gradients[0] * ctx.saved_tensors[0].cos()

    class Sine(nn.Module):
        def forward(self, x):
            return Frozen.apply(x)

    class Smooth(nn.Module):
        def forward(self, x):
            return x.sin()

    torch.manual_seed(0)
    x, first, last = normal(70, 4), nn.Linear(4, 5), nn.Linear(5, 3)
    found = liegg.discover_layers(nn.Sequential(first, Sine(), last).double(), x, liegg.Linear(4))
    expected = liegg.discover_layers(
        nn.Sequential(first, Smooth(), last).double(), x, liegg.Linear(4)
    )
    assert found.notes[0].diagnosis is Diagnosis.SAMPLES_REPEATED
    assert expected.notes == ()
    for one, other in zip(found, expected, strict=True):
        assert one.notes == ()
        assert_same(one.invariance, other.invariance, 1e-10)
        assert_same(one.unit, other.unit, 1e-9)


def test_forward_derivatives_that_reverse_mode_does_not_share_are_not_used():
    class Split(nn.Module):
        def forward(self, x):
            with torch.no_grad():  # forward mode sees through it
                scale = x.square().sum(1, keepdim=True)
            return x * scale

    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 4), Split(), nn.Linear(4, 2)).double(), normal(60, 3)
    run = liegg.Run(hidden="ignore")
    found = liegg.discover_layers(model, x, liegg.Linear(3), run=run)
    assert found["0"].notes == ()
    assert "forward and reverse derivatives differ by" in found["1"].notes[0]
    for layer in found:
        assert_same(
            layer.invariance,
            liegg.discover(truncated(model, layer), x, liegg.Linear(3), run=run),
            1e-10,
        )
