"""All layers in one pass: the same as `discover` on each truncated network, known answers, and nothing left behind."""

import copy
import json
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

import liegg
from cases import normal
from liegg._utils.errors import (
    ArgumentError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)
from liegg.discovery.layers import discover_layers as assembly
from liegg.discovery.layers.hooks import Layer, network_of, truncate


class Bend(nn.Module):
    """A smooth bend that doubles the band of a picture, and no more."""

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


def settled(model, dtype=torch.float64):
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


def pictures(count=40, side=8):
    return liegg.smooth(normal(count, 1, side, side, seed=3), 1.0)


NETWORKS = {
    "perceptron": (perceptron, lambda: normal(120, 6), liegg.Linear(3, copies=2)),
    "residual": (Residual, pictures, liegg.Image("affine")),
    "attention": (Attention, pictures, liegg.Image("affine")),
}


@pytest.fixture(
    params=[(name, dtype) for name in NETWORKS for dtype in (torch.float32, torch.float64)], ids=str
)
def case(request):
    name, dtype = request.param
    make, data, action = NETWORKS[name]
    torch.manual_seed(0)
    return (
        settled(make(), dtype),
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
    assert found.rows == expected.rows
    assert found.nullity == expected.nullity
    assert found.settings["outputs"] == expected.settings["outputs"]
    assert found.solution.sensitivity == pytest.approx(expected.solution.sensitivity, rel=tolerance)
    if expected.solution.sensitivity == 0:  # the sum of a layer norm: nothing but rounding moves it
        return
    for one, other in (
        (found.spectrum.values, expected.spectrum.values),
        (found.defects, expected.defects),
    ):
        rounding = expected.decision.floor * float(
            other[-1]
        )  # where a direction is exact, rounding is all there is
        torch.testing.assert_close(one, other, rtol=tolerance, atol=rounding)


def test_assert_same_tells_results_apart():
    one, other = (
        liegg.discover(nn.Linear(3, 2).double(), normal(50, 3), liegg.Linear(3)) for _ in range(2)
    )
    with pytest.raises(AssertionError):
        assert_same(one, other, 1e-5)


@pytest.mark.parametrize("outputs", ["each", "sum", 2])
def test_layers_are_those_of_the_truncated_networks(case, outputs):
    model, x, action, tolerance = case
    found = liegg.discover_layers(model, x, action, outputs=outputs, seed=7)
    assert len(found) >= 6
    for layer in found:
        function = truncated(model, layer)
        assert_same(
            layer.invariance,
            liegg.discover(function, x, action, outputs=outputs, seed=7),
            tolerance,
        )
        assert_same(
            layer.unit,
            liegg.discover(unit(function), x, action, outputs=outputs, seed=7),
            10 * tolerance,
        )


def test_a_layer_is_the_truncated_module_itself():
    """Without our own means of truncation: the modules of a Sequential, called by hand."""
    model = perceptron().double().eval()
    x = normal(80, 6)
    found = liegg.discover_layers(model, x, liegg.Linear(3, copies=2))
    for end, layer in enumerate(found, start=1):
        assert_same(
            layer.invariance,
            liegg.discover(copy.deepcopy(model)[:end], x, liegg.Linear(3, copies=2)),
            1e-10,
        )


def test_what_is_listed_by_default():
    found = liegg.discover_layers(settled(Residual()), pictures(), liegg.Image())
    assert found.names == (
        "stem",
        "conv1",
        "norm1",
        "relu",
        "conv2",
        "norm2",
        "relu#2",
        "pool",
        "head",
    )
    assert found["relu"].kind == "ReLU"
    assert found["pool"].shape == (4, 2, 2)
    attention = liegg.discover_layers(Attention().double(), pictures(), liegg.Image())
    assert attention.names == (
        "embed",
        "mix",
        "encoder.norm1",
        "encoder.self_attn",
        "encoder.dropout1",
        "encoder.norm2",
        "encoder.linear1",
        "encoder.dropout",
        "encoder.linear2",
        "encoder.dropout2",
        "encoder",
        "head",
    )
    assert attention["encoder.dropout1"].same == "encoder.self_attn"
    assert attention["encoder.dropout1"].invariance is attention["encoder.self_attn"].invariance
    assert attention["encoder"].same == ""  # the sum of both ways: no module inside puts it out


def test_the_output_of_a_network_that_ends_in_a_function():
    class Ends(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 4)

        def forward(self, x):
            return self.inner(x).norm(dim=1)

    model = Ends().double()
    found = liegg.discover_layers(model, normal(60, 3), liegg.Linear(3))
    assert found.names == ("inner", "output")
    assert found["output"].shape == ()
    assert_same(
        found["output"].invariance, liegg.discover(model, normal(60, 3), liegg.Linear(3)), 1e-10
    )


def test_invariance_arises_where_it_is_made():
    turn = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4, bias=False).double())
    model = nn.Sequential(turn, Norm(), nn.Linear(1, 5), nn.Tanh()).double()
    found = liegg.discover_layers(model, normal(100, 4), liegg.Linear(4))
    assert [layer.invariance.nullity for layer in found] == [0, 6, 6, 6]
    assert [layer.invariance.decision.exact for layer in found] == [0, 6, 6, 6]
    assert found.defect(liegg.so(4))[1:].max() < 1e-28
    assert found.bias(liegg.so(4))[1:].max() < 1e-12
    assert found.bias(liegg.so(4))[0] > 0.1


def test_the_unit_output_does_not_know_a_layers_scale():
    model = nn.Sequential(nn.Linear(3, 4, bias=False), nn.Linear(4, 4, bias=False)).double()
    with torch.no_grad():
        model[1].weight.copy_(1000 * torch.eye(4))  # pyright: ignore[reportCallIssue]
    found = liegg.discover_layers(model, normal(60, 3), liegg.Linear(3))
    assert found.variance()[1] == pytest.approx(1e6 * float(found.variance()[0]))
    assert found.variance("unit")[1] == pytest.approx(float(found.variance("unit")[0]))
    assert found.defect()[1] == pytest.approx(float(found.defect()[0]))
    # scaling the input is a symmetry of the direction of a linear map, and of nothing else here
    scaling = torch.eye(3, dtype=torch.float64)[None]
    assert found.defect(scaling, of="unit").max() < 1e-28
    assert found.defect(scaling).min() > 0.1


# Images: where equivariance ends and invariance begins


def band_limited(count=40, side=32, band=3):
    """Random periodic pictures of low frequencies, so that two bends stay below the highest that the grid can hold."""
    wave = torch.zeros(count, side, side, dtype=torch.complex128)
    k = torch.arange(-band, band + 1)
    generator = torch.Generator().manual_seed(1)
    wave[:, k[:, None], k] = torch.randn(
        count, len(k), len(k), generator=generator, dtype=torch.complex128
    )
    x = torch.fft.ifft2(wave).real[:, None]
    return x / x.std()


def convolutional(padding_mode):
    torch.manual_seed(0)

    def conv(i, o):
        return nn.Conv2d(i, o, 3, padding=1, padding_mode=padding_mode)

    return nn.Sequential(
        conv(1, 4),
        Bend(),
        conv(4, 4),
        Bend(),
        conv(4, 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(3, 2),
    ).double()


def test_circular_convolutions_are_equivariant_and_the_pool_is_invariant():
    action = liegg.Image("affine", border="periodic")
    found = liegg.discover_layers(
        convolutional("circular"), band_limited(), action, output_action=action
    )
    shifts = liegg.translation(2)
    floor = found[0].invariance.decision.floor
    for layer in found.layers[:5]:
        assert layer.equivariance is not None
        assert (
            layer.equivariance.nullity,
            layer.equivariance.decision.exact,
            layer.invariance.nullity,
        ) == (2, 2, 0)
        assert layer.equivariance.defect(shifts).max() < floor
        assert (
            layer.equivariance.defect(shifts, shifts).max() < floor
        )  # moved as far as the input, not just somewhere
        assert layer.invariance.defect(shifts).min() > 0.5
    for layer in found.layers[5:]:
        assert layer.equivariance is None
        assert (layer.invariance.nullity, layer.invariance.decision.exact) == (2, 2)
        assert max(layer.invariance.defect(shifts).max(), layer.unit.defect(shifts).max()) < floor
    assert found.defect(shifts, of="equivariance").isnan().tolist() == [False] * 5 + [True] * 3


def test_zero_padding_is_visibly_neither():
    action = liegg.Image("affine", border="periodic")
    found = liegg.discover_layers(
        convolutional("zeros"), band_limited(), action, output_action=action
    )
    assert found.defect(liegg.translation(2), of="equivariance")[:5].min() > 0.1
    assert found.defect(liegg.translation(2))[5:].min() > 0.01
    assert all(layer.invariance.nullity == 0 for layer in found)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("outputs", ["each", 5])
def test_equivariance_is_that_of_the_truncated_networks(dtype, outputs):
    model, x, action = settled(Residual(), dtype), pictures().to(dtype), liegg.Image("affine")
    found = liegg.discover_layers(
        model, x, action, layers=["conv1", "relu", "head"], output_action=action, outputs=outputs
    )
    assert found["head"].equivariance is None
    for layer in found.layers[:-1]:
        expected = liegg.discover(
            truncated(model, layer), x, action, output_action=action, outputs=outputs
        )
        assert layer.equivariance is not None
        assert_same(layer.equivariance, expected, 1e-4 if dtype == torch.float32 else 1e-9)
    assert_same(
        found["conv1"].invariance,
        liegg.discover(truncated(model, found["conv1"]), x, action, outputs=outputs),
        1e-5 if dtype == torch.float32 else 1e-10,
    )


def test_restricted_actions_are_judged_against_their_parents():
    action = liegg.Image("euclidean")
    model, x = settled(Residual()), pictures()
    found = liegg.discover_layers(model, x, action, layers=["conv2", "head"])
    for layer in found:
        expected = liegg.discover(truncated(model, layer), x, action)
        torch.testing.assert_close(layer.invariance.defects, expected.defects, rtol=1e-9, atol=0)
        assert layer.invariance.solution.sensitivity == pytest.approx(
            expected.solution.sensitivity, rel=1e-10
        )


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
        ArgumentError, match="the output of layer 'cell' has no entry 5: it is a tuple of 2"
    ):
        liegg.discover_layers(model, x, action, layers={"cell": 5})


def test_outputs_with_time_first_are_left_out_and_said_to_be():
    model, x = Recurrent(nn.GRU, batch_first=False).double(), normal(60, 5, 2)
    found = liegg.discover_layers(model, x, liegg.Linear(2, copies=5))
    assert found.names == ("head",)
    assert (
        "left out: the output of layer 'cell' has shape (5, 3, 3) for 3 samples" in found.notes[0]
    )
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
    model, x = settled(Residual()), pictures(20)
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


def test_dead_outputs_have_no_unit_length():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).double()
    with torch.no_grad():
        model[0].bias.fill_(-1.0)  # pyright: ignore[reportCallIssue]
    x = normal(200, 2)
    dead = int((model(x) == 0).all(1).sum())
    assert 0 < dead < 200
    found = liegg.discover_layers(model, x, liegg.Linear(2))
    assert found["1"].notes == (
        f"{dead} of 200 samples have an output of exactly 0, which has no unit length",
    )
    assert found["0"].notes == ()
    assert math.isfinite(found["1"].unit.variance)


# Where forward mode does not reach


class Warp(nn.Module):
    """Turns a picture by `grid_sample`, which has no forward derivative."""

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
    x, action = pictures(), liegg.Image()
    found = liegg.discover_layers(model, x, action)
    assert found.names == ("0", "1", "2", "3", "4", "5")
    assert all(
        layer.notes == () and layer.invariance.settings["route"] == "jvp"
        for layer in found.layers[:2]
    )
    for layer in found.layers[2:]:
        assert (
            "forward derivatives do not reach it (NotImplementedError: Trying to use forward AD with grid_sampler_2d"
            in layer.notes[0]
        )
        assert "\n" not in layer.notes[0]
        assert layer.invariance.settings["route"] == "vjp"
    for layer in found:
        assert_same(layer.invariance, liegg.discover(truncated(model, layer), x, action), 1e-10)
        assert_same(layer.unit, liegg.discover(unit(truncated(model, layer)), x, action), 1e-9)
    assert "note on 2: forward derivatives do not reach it" in str(found)


def test_wide_layers_without_forward_mode_are_read_by_combinations(monkeypatch):
    monkeypatch.setattr(assembly, "WIDE", 50)
    monkeypatch.setattr(assembly, "COMBINATIONS", 7)
    model, x = nn.Sequential(Warp(), nn.Flatten(), nn.Linear(64, 3)).double(), pictures()
    found = liegg.discover_layers(model, x, liegg.Image(), output_action=liegg.Image())
    assert [layer.invariance.settings["outputs"] for layer in found] == [7, 7, "each"]
    assert found["0"].notes[1] == "its 64 outputs were read by 7 random combinations"
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
    assert found["output"].unit.rows == 180
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


def test_a_model_that_vmap_cannot_batch_is_carried_by_repeated_samples():
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
    assert "every sample was repeated for each direction instead" in found.notes[0]
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
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found["0"].notes == ()
    assert "forward and reverse derivatives differ by" in found["1"].notes[0]
    for layer in found:
        assert_same(
            layer.invariance, liegg.discover(truncated(model, layer), x, liegg.Linear(3)), 1e-10
        )


# What is refused


def test_only_modules_have_layers():
    with pytest.raises(
        ArgumentError,
        match=r"model is a function; discover_layers looks into an nn.Module.*use liegg.discover",
    ):
        liegg.discover_layers(lambda x: x, normal(10, 3), liegg.Linear(3))


def test_actions_and_settings_are_checked_as_in_discover():
    model, x = perceptron().double(), normal(20, 6)
    with pytest.raises(ArgumentError, match="seed=-1"):
        liegg.discover_layers(model, x, liegg.Linear(6), seed=-1)
    with pytest.raises(ArgumentError, match=r"threshold=0\.0"):
        liegg.discover_layers(model, x, liegg.Linear(6), threshold=0.0)
    with pytest.raises(ArgumentError, match="outputs=0"):
        liegg.discover_layers(model, x, liegg.Linear(6), outputs=0)
    with pytest.raises(ArgumentError, match="outputs='sum' has no meaning with output_action"):
        liegg.discover_layers(
            model, x, liegg.Linear(6), outputs="sum", output_action=liegg.Linear(12)
        )
    with pytest.raises(ShapeError, match=r"a sample has shape \(6,\)"):
        liegg.discover_layers(model, x, liegg.Linear(5))
    with pytest.raises(
        ShapeError,
        match=r"output_action=Linear\(n=5.* fits no chosen layer, for example not the output of '5'",
    ):
        liegg.discover_layers(model, x, liegg.Linear(6), output_action=liegg.Linear(5))


def test_layers_that_do_not_exist_or_are_not_called_are_refused():
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}).double()

    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = model

        def forward(self, x):
            return self.parts["a"](x)

    x = normal(20, 3)
    with pytest.raises(ArgumentError, match=r"Half has no layer 'conv\*'; it has parts.a, output"):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=["parts.a", "conv*"])
    with pytest.raises(
        ArgumentError,
        match=r"layer 'parts.b' is never called by Half on this data; those called are parts.a",
    ):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=["parts.b"])
    with pytest.raises(
        ArgumentError, match="Half calls no Conv2d on this data; it calls Linear, Half"
    ):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=nn.Conv2d)


def test_no_layer_left():
    class Classes(nn.Module):
        def forward(self, x):
            return x.argmax(1)

    with pytest.raises(
        ModelError,
        match=r"no layer of Classes is left.*is a tensor of torch.int64, which holds no floating point",
    ):
        liegg.discover_layers(Classes(), normal(20, 3), liegg.Linear(3))


def test_layers_without_a_derivative_are_left_out_or_refused():
    class Step(nn.Module):
        def forward(self, x):
            return x.detach().sign()

    model, x = nn.Sequential(nn.Linear(3, 3), Step()).double(), normal(60, 3)
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found.names == ("0",)
    assert (
        "left out: 1 (NotDifferentiableError: the output of Sequential.1 changes with the input"
        in found.notes[0]
    )
    with pytest.raises(NotDifferentiableError, match="carries no derivative"):
        liegg.discover_layers(model, x, liegg.Linear(3), layers=["1"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("outputs", ["each", "sum"])
def test_numbers_that_are_not_finite_name_layer_and_sample(dtype, outputs):
    class Log(nn.Module):
        def forward(self, x):
            return x.log()

    x = normal(50, 3).abs().to(dtype) + 0.1
    x[37, 1] = -1.0
    model = nn.Sequential(nn.Identity(), Log(), nn.Tanh())
    with pytest.raises(
        NonFiniteError,
        match=r"layer '1' of Sequential, or its derivative, is NaN.* for sample 37\. Check",
    ):
        liegg.discover_layers(model, x, liegg.Linear(3), batch_size=20, outputs=outputs)


def test_random_layers_are_refused_and_named():
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)

    model, x = nn.Sequential(nn.Linear(3, 3), Noise(), nn.Tanh()).double(), normal(20, 3)
    with pytest.raises(
        RandomModelError,
        match="of the size of layer '1': it, or what comes before it, draws random numbers",
    ):
        liegg.discover_layers(model, x, liegg.Linear(3))
    assert liegg.discover_layers(model, x, liegg.Linear(3), layers="0").names == ("0",)


def test_layers_that_mix_samples_are_left_out():
    class Centre(nn.Module):
        def forward(self, x):
            return x - x.mean(0)

    model, x = nn.Sequential(nn.Linear(3, 3), Centre()).double(), normal(20, 3)
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found.names == ("0",)
    assert "layer '1' for a sample changes by" in found.notes[0]


def test_a_network_that_changes_its_way_is_refused():
    class Fickle(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return self.two(self.one(x)) if bool((x[:, 0] > -100).all()) else self.one(x)

    x = normal(30, 3)
    x[25, 0] = -1000.0
    with pytest.raises(
        ModelError,
        match=r"layer 'two' of Fickle was reached before, but not at samples 20 to 29 \(it was not called",
    ):
        liegg.discover_layers(Fickle().double(), x, liegg.Linear(3), batch_size=10, layers=["two"])


def test_a_failing_network_is_named():
    with pytest.raises(
        ModelError,
        match=r"Sequential failed on a batch of shape \(3, 4\).*It must accept a batch of any length",
    ):
        liegg.discover_layers(
            nn.Sequential(nn.Linear(3, 2)).double(), normal(20, 4), liegg.Linear(4)
        )


# What is left behind


def hooks(model):
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


def state(model):
    return [
        (part.training, *(t.clone() for t in (*part.parameters(), *part.buffers())))
        for part in model.modules()
    ]


def assert_unchanged(model, before):
    for one, other in zip(state(model), before, strict=True):
        assert one[0] == other[0]
        assert all(torch.equal(a, b) for a, b in zip(one[1:], other[1:], strict=True))


def test_the_model_and_the_generators_are_left_as_they_were():
    model, x = settled(Residual()), pictures(20)
    before, random, given = state(model), torch.get_rng_state(), x.clone()
    kept = model.conv1.register_forward_hook(lambda *_: None)
    liegg.discover_layers(model, x, liegg.Image(), output_action=liegg.Image(), outputs=3)
    assert hooks(model) == 1
    assert list(model.conv1._forward_hooks) == [kept.id]
    assert_unchanged(model, before)
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(x, given)
    assert torch.backends.mha.get_fastpath_enabled()
    assert all(p.requires_grad and p.grad is None for p in model.parameters())


class Stubborn(nn.Module):
    """Cannot be copied, so it is analysed in place."""

    def __init__(self, fails=10**9):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2)
        self.fails = fails
        self.calls = 0

    def __deepcopy__(self, memo):
        raise TypeError("not to be copied")

    def forward(self, x):
        self.calls += 1
        if self.calls > self.fails:
            raise RuntimeError("out of calls")
        return self.two(self.one(x))


@pytest.mark.parametrize("fails", [0, 2, 6, 9])
def test_no_hook_stays_after_a_failure(fails):
    model = Stubborn(fails).double()
    before = state(model)
    with pytest.raises(ModelError):
        liegg.discover_layers(model, normal(20, 3), liegg.Linear(3), batch_size=2, layers=["two"])
    assert model.calls > fails
    assert hooks(model) == 0
    assert_unchanged(model, before)


def test_a_module_that_cannot_be_copied_is_read_in_place():
    model = Stubborn().double()
    found = liegg.discover_layers(model, normal(20, 3), liegg.Linear(3))
    assert found.names == ("one", "two")
    assert "could not be copied (not to be copied)" in found.notes[0]
    assert hooks(model) == 0


def test_networks_that_write_into_their_input_do_not_change_the_data():
    class Writes(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            x.mul_(2.0)
            return self.linear(x)

    torch.manual_seed(0)
    model, x = Writes().double(), normal(60, 3)
    given = x.clone()
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert torch.equal(x, given)
    assert_same(
        found["linear"].invariance,
        liegg.discover(lambda x: model.linear(2 * x), x, liegg.Linear(3)),
        1e-10,
    )


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("outputs", ["each", 2])
def test_the_batch_size_does_not_matter(size, outputs):
    model, x = perceptron().double(), normal(60, 6)
    one, other = (
        liegg.discover_layers(model, x, liegg.Linear(6), batch_size=b, outputs=outputs)
        for b in (50, size)
    )
    for left, right in zip(one, other, strict=True):
        assert_same(left.invariance, right.invariance, 1e-9)
        assert_same(left.unit, right.unit, 1e-9)


def test_a_second_call_gives_the_same_bits_and_progress_is_told():
    model, x, seen = perceptron(), normal(60, 6).float(), []
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x), batch_size=25, shuffle=True
    )
    one, two = (
        liegg.discover_layers(model, loader, liegg.Linear(6), outputs=2, progress=seen.append)
        for _ in range(2)
    )
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    assert seen == [25, 25, 10] * 2
    assert one.samples == 60
