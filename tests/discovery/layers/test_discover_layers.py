"""All layers in one pass: the same as `discover` on each truncated network, and known answers."""

import copy

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from layer_networks import (
    Attention,
    Norm,
    Quadratic,
    Residual,
    assert_same,
    case,
    images,
    perceptron,
    truncated,
    unit,
    with_statistics,
)


def test_assert_same_tells_results_apart():
    one, other = (
        liegg.discover(nn.Linear(3, 2).double(), normal(50, 3), liegg.Linear(3)) for _ in range(2)
    )
    with pytest.raises(AssertionError):
        assert_same(one, other, 1e-5)


@pytest.mark.parametrize(
    ("name", "dtype", "outputs"),
    [
        ("perceptron", torch.float64, "each"),
        ("perceptron", torch.float32, "sum"),
        ("perceptron", torch.float32, 2),
        ("residual", torch.float32, "each"),
        ("residual", torch.float64, "sum"),
        ("attention", torch.float32, "each"),
        ("attention", torch.float64, 2),
    ],
    ids=str,
)
def test_layers_are_those_of_the_truncated_networks(name, dtype, outputs):
    model, x, action, tolerance = case(name, dtype)
    found = liegg.discover_layers(model, x, action, outputs=outputs, run=liegg.Run(seed=7))
    assert len(found) >= 6
    for layer in found:
        function = truncated(model, layer)
        assert_same(
            layer.invariance,
            liegg.discover(
                function, x, action, outputs=outputs, run=liegg.Run(seed=7), controls="none"
            ),
            tolerance,
        )
        assert_same(
            layer.unit,
            liegg.discover(
                unit(function), x, action, outputs=outputs, run=liegg.Run(seed=7), controls="none"
            ),
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
    found = liegg.discover_layers(with_statistics(Residual()), images(), liegg.Image())
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
    attention = liegg.discover_layers(Attention().double(), images(), liegg.Image())
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
    rotation = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4, bias=False).double())
    model = nn.Sequential(rotation, Norm(), nn.Linear(1, 5), nn.Tanh()).double()
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
    """Random periodic images of low frequency: two nonlinearities stay below the Nyquist limit."""
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
        Quadratic(),
        conv(4, 4),
        Quadratic(),
        conv(4, 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(3, 2),
    ).double()


def test_circular_convolutions_are_equivariant_and_the_pool_is_invariant():
    action = liegg.Image("affine", derivative="spectral", border="periodic")
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
    action = liegg.Image("affine", derivative="spectral", border="periodic")
    found = liegg.discover_layers(
        convolutional("zeros"), band_limited(), action, output_action=action
    )
    assert found.defect(liegg.translation(2), of="equivariance")[:5].min() > 0.1
    assert found.defect(liegg.translation(2))[5:].min() > 0.01
    assert all(layer.invariance.nullity == 0 for layer in found)


@pytest.mark.parametrize(("dtype", "outputs"), [(torch.float32, "each"), (torch.float64, 5)])
def test_equivariance_is_that_of_the_truncated_networks(dtype, outputs):
    model, x, action = with_statistics(Residual(), dtype), images().to(dtype), liegg.Image("affine")
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
    model, x = with_statistics(Residual()), images()
    found = liegg.discover_layers(model, x, action, layers=["conv2", "head"])
    assert found.names == ("conv2", "head")
    for layer in found:
        expected = liegg.discover(truncated(model, layer), x, action)
        torch.testing.assert_close(layer.invariance.defects, expected.defects, rtol=1e-9, atol=0)
        assert layer.invariance.accumulated.solution.sensitivity == pytest.approx(
            expected.accumulated.solution.sensitivity, rel=1e-10
        )
