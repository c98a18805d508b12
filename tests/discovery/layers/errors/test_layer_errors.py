"""Layers whose equivariance error is known, and the networks made of them."""

import copy
import math
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError, RandomModelError, ShapeError

AFFINE = liegg.Image("affine")
PERIODIC = liegg.Image("affine", border="periodic")


def images(sides=(12, 12), *, count=6, channels=2):
    return normal(count, channels * math.prod(sides)).reshape(count, channels, *sides)


def conv(inputs=2, outputs=3, kernel=3, **options):
    torch.manual_seed(inputs + outputs)
    return nn.Conv2d(inputs, outputs, kernel, **options).double().requires_grad_(False)


def one(layer, about, size, action=AFFINE, **options):
    """The record of a layer that is the whole network."""
    model = nn.Sequential(layer).double()
    found = liegg.layer_errors(model, images(), action, about, size=size, **options)
    assert len(found) == 1
    return found[0]


def symmetric(**options):
    """A convolution whose kernel is the same after a quarter turn."""
    layer = conv(**options)
    layer.weight.copy_(torch.stack([layer.weight.rot90(k, (2, 3)) for k in range(4)]).sum(0))
    return layer


NOTHING = {
    "1x1 convolution, shift": (conv(kernel=1), "shift", 3, AFFINE),
    "nonlinearity, shift": (nn.ReLU(), "shift", 5, AFFINE),
    "circular convolution, periodic shift": (
        conv(padding=1, padding_mode="circular"),
        "shift",
        3,
        PERIODIC,
    ),
    "convolution without padding, shift": (conv(), "shift", 2, AFFINE),
    "symmetric kernel, quarter turn": (symmetric(padding=1), "rotation", 90, AFFINE),
    "pooling by 2, shift by 2": (nn.MaxPool2d(2), "shift", 2, AFFINE),
    "pooling by 2, quarter turn": (nn.AvgPool2d(2), "rotation", 90, AFFINE),
    "pooling by 3, shift by 6": (nn.MaxPool2d(3), "shift", 6, AFFINE),
    "upsampling, shift": (nn.Upsample(scale_factor=2), "shift", 3, AFFINE),
    "batch norm, quarter turn": (nn.BatchNorm2d(2).eval(), "rotation", 90, AFFINE),
    "global pooling, quarter turn": (nn.AdaptiveAvgPool2d(1), "rotation", 90, AFFINE),
    "global pooling, periodic shift": (nn.AdaptiveMaxPool2d(1), "shift", 1, PERIODIC),
}


def test_layers_that_add_nothing():
    for name in NOTHING:
        layer, about, size, action = NOTHING[name]
        found = one(layer, about, size, action)
        assert found.exact
        assert max(found.total, found.added, found.interior, found.resampling) < 1e-20
        assert found.effect == found.weight == 0


def test_zero_padding_adds_an_error_at_the_border_alone():
    """The same number by hand: two columns move in from the left and do not count."""
    layer, x = conv(padding=1), images()
    horizontal = torch.zeros(1, 3, 3, dtype=torch.float64)
    horizontal[0, 0, 2] = 1.0
    unit = liegg.actions.Motion(horizontal, 0.25, "pixels", 6.0)
    found = one(layer, {"to the right": unit}, 2)
    moved = torch.cat([x[..., :1], x[..., :1], x[..., :-2]], dim=-1)
    y = layer(x)
    gap = (layer(moved)[..., 2:] - y[..., :-2]).square().sum(1).mean()
    variance = (y - y.mean((0, 2, 3), keepdim=True)).square().mean((0, 2, 3)).sum()
    assert found.added == pytest.approx(float(gap / variance), rel=1e-9)
    assert found.total == pytest.approx(found.added, rel=1e-9)
    assert found.interior < 1e-20
    assert found.causes() == {"padding": found.effect}
    assert found.main_cause == "padding"
    # The effect counts the same pixels; its variance is that of every output alone.
    alone = (y - y.mean(0)).square().sum((1, 2, 3)).mean()
    outer = (layer(moved)[..., 2:] - y[..., :-2]).square().sum((1, 2, 3)).mean()
    assert found.effect == pytest.approx(float(outer / alone), rel=1e-9)


@pytest.mark.parametrize("layer", [conv(stride=2, padding=1), nn.MaxPool2d(2)])
def test_a_stride_adds_an_error_to_odd_shifts_and_none_to_even_ones(layer):
    odd, even = one(layer, "shift", 1), one(layer, "shift", 2)
    assert even.exact
    assert even.interior < 1e-20
    assert not odd.exact
    assert odd.interior > 0.3
    assert odd.main_cause == odd.cause == "stride or pooling"
    assert odd.causes()["stride or pooling"] > 0.5 * odd.effect


def test_filters_are_told_from_the_stride():
    """Away from the border an asymmetric kernel is to blame for a quarter turn, with a stride or without."""
    plain = one(conv(), "rotation", 90)
    assert plain.exact
    assert plain.main_cause == "filters"
    assert plain.interior > 0.1
    assert math.isnan(plain.unstrided)
    # 11 = 2 * 5 + 1 places: both ends of the map are kept, so that a quarter turn maps it to itself.
    model = nn.Sequential(conv(stride=2)).double()
    centred = liegg.layer_errors(model, images((11, 11)), AFFINE, "rotation", size=90)[0]
    assert centred.causes().get("stride or pooling", 0.0) < 0.3 * centred.effect
    assert centred.unstrided == pytest.approx(plain.interior, rel=0.3)
    model = nn.Sequential(symmetric(stride=2))
    assert liegg.layer_errors(model, images((11, 11)), AFFINE, size=90)[0].added < 1e-20
    # On 12 places the map is half a pixel off the centre, which is the stride's fault alone.
    off = liegg.layer_errors(model, images((12, 12)), AFFINE, size=90)[0]
    assert off.added > 0.1
    assert off.unstrided < 1e-20
    assert off.causes()["stride or pooling"] == pytest.approx(off.effect, rel=1e-9)


def test_interpolation_is_not_blamed_on_layers():
    """A 1x1 convolution commutes with any resampling; a nonlinearity does not."""
    found = one(conv(kernel=1), "rotation", 20)
    assert not found.exact
    assert found.resampling > 0.01
    assert found.added < 1e-20
    bent = one(nn.ReLU(), "rotation", 20)
    assert bent.added > 1e-3
    assert set(bent.causes()) <= {"interpolation", "nonlinearity"}


def test_flattening_and_global_pooling_end_the_map():
    flat = liegg.layer_errors(
        nn.Sequential(nn.Flatten(), nn.Linear(288, 4)).double(), images(), AFFINE, size=90
    )
    assert [layer.cause for layer in flat] == ["flattening", "other"]
    assert flat["0"].added > 0.5
    assert flat["1"].added < 1e-24  # a square of rounding
    assert flat.worst == (flat["0"],)
    assert flat.by_cause()["flattening"] == pytest.approx(1.0)
    pooled = one(nn.AdaptiveAvgPool2d(1), "shift", 3)  # what leaves the image is lost
    assert pooled.cause == "global pooling"
    assert pooled.added > 0.1


class Residual(nn.Module):
    """A skip connection, a layer that works in place and is called twice, a sum of two arguments."""

    def __init__(self):
        super().__init__()
        self.stem, self.conv = conv(2, 4, padding=1), conv(4, 4, padding=1)
        self.norm, self.relu, self.add = nn.BatchNorm2d(4), nn.ReLU(inplace=True), Sum()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = self.relu(self.stem(x))
        return self.head(self.relu(self.add(x, self.norm(self.conv(x)))).mean((2, 3)))


class Sum(nn.Module):
    def forward(self, x, y):
        return x + y


@pytest.fixture(scope="module")
def residual():
    torch.manual_seed(3)
    return Residual().double().train()


def test_a_network_is_measured_layer_by_layer_and_left_as_it_was(residual):
    before = copy.deepcopy(residual.state_dict())
    x, generator = images(), torch.get_rng_state()
    found = liegg.layer_errors(residual, x, AFFINE, "shift", size=1, samples=6)
    assert found.names == ("stem", "relu", "conv", "norm", "relu#2", "head")
    assert [note.diagnosis for note in found.notes] == [
        Diagnosis.LAYER_LEFT_OUT,
        Diagnosis.OUTPUTS_UNDECIDED,
    ]
    assert "add" in found.notes[0]
    assert {layer.name for layer in found.worst} == {"stem", "conv"}
    assert found.by_cause() == {"padding": pytest.approx(1.0)}
    assert found["relu"].total == pytest.approx(
        _total(residual, lambda net, x: functional.relu(net.stem(x)), x), rel=1e-9
    )
    assert residual.training
    assert torch.equal(torch.get_rng_state(), generator)
    assert all(torch.equal(value, before[key]) for key, value in residual.state_dict().items())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in residual.modules())


def _total(net, features, x):
    """Total error of features under shifts by a pixel to the right and up, mean of both."""
    y, found = features(net, x), []
    across, up = x.roll(1, 3), x.roll(-1, 2)
    across[..., 0], up[..., -1, :] = x[..., 0], x[..., -1, :]
    variance = (y - y.mean((0, 2, 3), keepdim=True)).square().mean((0, 2, 3)).sum()
    for moved, a, b in (
        (across, (..., slice(1, None)), (..., slice(None, -1))),
        (up, (..., slice(None, -1), slice(None)), (..., slice(1, None), slice(None))),
    ):
        found.append((features(net, moved)[a] - y[b]).square().sum(1).mean() / variance)
    return float(sum(found) / 2)


def test_the_effect_of_the_only_faulty_layer_is_the_error_of_the_network():
    """Periodic shifts of a circular network with one layer that pads with zeros."""
    model = nn.Sequential(
        conv(2, 4, padding=1, padding_mode="circular"),
        nn.Tanh(),
        conv(4, 4, padding=1),
        nn.Tanh(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ).double()
    found = liegg.layer_errors(model, images(), PERIODIC, "shift", size=2)
    assert [layer.name for layer in found.worst] == ["2"]
    assert found["2"].effect == pytest.approx(found.output, rel=1e-9)
    assert "2 (padding, 100 %" in found.sentence
    plain = liegg.layer_errors(model, images(), PERIODIC, "shift", size=2, effects=False)
    assert math.isnan(plain["2"].effect)
    assert plain["2"].weight == plain["2"].added == found["2"].added
    assert [layer.name for layer in plain.worst] == ["2"]


@pytest.mark.slow
def test_blocks_can_be_chosen_and_do_not_count_twice(residual):
    model = nn.Sequential(nn.Sequential(conv(2, 2, padding=1), nn.ReLU()), nn.ReLU()).double()
    found = liegg.layer_errors(model, images(), AFFINE, "shift", layers=["0", "0.0"])
    assert {layer.name: layer.role for layer in found} == {"0.0": "convolution", "0": "block"}
    assert [layer.name for layer in found.single] == ["0.0"]
    only = liegg.layer_errors(model, images(), AFFINE, "shift", layers="0")
    assert only.single == only.layers
    assert only.worst[0].name == "0"


@pytest.mark.slow
def test_sizes_by_default():
    model = nn.Sequential(nn.ReLU()).double()
    for about, sides, size in (
        ("rotation", (8, 8), 90.0),
        ("rotation", (8, 10), 15.0),
        ("shift", (8, 8), 1.0),
        ("scaling", (8, 8), 25.0),
        ("shear", (8, 8), 25.0),
    ):
        found = liegg.layer_errors(model, images(sides), liegg.Image(), about)
        assert (found.motion, found.size) == (about, pytest.approx(size))
    stretch = {"stretch": torch.diag(torch.tensor([1.0, 0.0]))[None]}
    with pytest.raises(ArgumentError, match="size= is needed"):
        liegg.layer_errors(model, images(), AFFINE, stretch)
    assert liegg.layer_errors(model, images(), AFFINE, stretch, size=0.1).unit == ""


@pytest.mark.parametrize("kind", [liegg.Sequence, liegg.Volume])
def test_sequences_and_volumes(kind):
    d = 1 if kind is liegg.Sequence else 3
    layer = (nn.Conv1d if d == 1 else nn.Conv3d)(1, 2, 3, padding=1)
    x = images((8,) * d, channels=1)
    found = liegg.layer_errors(nn.Sequential(layer, nn.ReLU()).double(), x, kind("affine"), "shift")
    assert found["0"].added > 0.01
    assert found["0"].interior < 1e-20
    assert found["1"].added == 0


def test_flat_samples_with_their_shape():
    model = nn.Sequential(nn.Unflatten(1, (2, 6, 6)), conv(padding=1), nn.Flatten()).double()
    x = images((6, 6)).flatten(1)
    found = liegg.layer_errors(model, x, liegg.Image("affine", shape=(2, 6, 6)), "shift")
    assert found["0"].added == 0
    assert found["1"].main_cause == "padding"
    with pytest.raises(ShapeError):
        liegg.layer_errors(model, x, AFFINE, "shift")


def test_refusals():
    for options, message in [
        ({"about": "brightness"}, "does not move places"),
        ({"about": ("rotation", "shift")}, "one motion at a time"),
        ({"about": "rotatoin"}, "Did you mean 'rotation'"),
        ({"about": None}, "one motion at a time"),
        ({"size": 0}, "other than 0"),
        ({"size": math.nan}, "a number"),
        ({"about": "shift", "size": 50}, "moves everything out"),
        ({"samples": 1}, "2 or more"),
        ({"samples": 2.5}, "a whole number"),
        ({"layers": "nothing"}, "has no layer"),
        ({"action": liegg.Linear(3)}, "expects"),
        ({"model": torch.relu}, "needs an nn.Module"),
        ({"batch_size": 4}, "has no argument"),
    ]:
        given = {"model": nn.Sequential(nn.ReLU()).double(), "data": images(), "action": AFFINE}
        with pytest.raises((ArgumentError, ShapeError), match=message):
            liegg.layer_errors(**(given | options))


class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


def test_models_that_cannot_be_measured():
    with pytest.raises(RandomModelError):
        one(Noise(), "shift", 1)
    with pytest.raises(ModelError, match="no layer of"):
        liegg.layer_errors(nn.Sequential(Sum2()).double(), images(), AFFINE, "shift")
    with pytest.raises(ArgumentError, match="only one"):
        liegg.layer_errors(nn.Sequential(nn.ReLU()).double(), images(count=1), AFFINE)


class Functions(nn.Module):
    """Flattens by a function, which is not a layer."""

    def __init__(self):
        super().__init__()
        self.conv = conv(padding=1)

    def forward(self, x):
        return self.conv(x).flatten(1)


def test_functions_between_modules_are_not_blamed_on_layers():
    found = liegg.layer_errors(Functions().double(), images(), AFFINE, "shift")
    assert not found.explained
    assert "not modules" in found.sentence
    assert found.output > 10 * found["conv"].effect
    modules = nn.Sequential(conv(padding=1), nn.Flatten()).double()
    assert liegg.layer_errors(modules, images(), AFFINE, "shift").explained


def test_equal_samples_have_no_scale():
    model = nn.Sequential(conv(padding=1), nn.Flatten()).double()
    with pytest.raises(ModelError, match="same for all samples"):
        liegg.layer_errors(model, images(count=1).repeat(4, 1, 1, 1), AFFINE, "shift")


class Fragile(nn.Module):
    """Fails if the first two columns of the last image are equal, as after a shift to the right."""

    def forward(self, x):
        if bool((x[-1, ..., 0] == x[-1, ..., 1]).all()):
            raise KeyError("two equal columns")
        return x


def test_a_model_that_fails_on_moved_samples():
    model = nn.Sequential(Fragile(), nn.ReLU()).double()
    assert len(liegg.layer_errors(model, images(), PERIODIC, "shift")) == 2
    with pytest.raises(ModelError, match="failed on moved samples"):
        liegg.layer_errors(model, images(), AFFINE, "shift")


def test_small_maps_have_no_interior():
    model = nn.Sequential(conv(padding=1)).double()
    found = liegg.layer_errors(model, images((2, 2)), AFFINE, "rotation")
    assert math.isnan(found[0].interior)
    assert [note.diagnosis for note in found.notes] == [Diagnosis.LAYERS_ALL_BORDER]


class Sum2(nn.Module):
    def forward(self, x):
        return {"sum": x}


@pytest.mark.slow
def test_float32_and_half_precision_count_rounding_as_nothing():
    model = nn.Sequential(conv(kernel=1), nn.Tanh(), conv(3, 3, padding=1), nn.ReLU())
    for dtype in (torch.float32, torch.bfloat16):
        found = liegg.layer_errors(copy.deepcopy(model).to(dtype), images(), AFFINE, "shift")
        assert [layer.name for layer in found.worst] == ["2"]
    turned = liegg.layer_errors(copy.deepcopy(model).to(torch.bfloat16), images(), AFFINE, size=20)
    assert turned["0"].causes().keys() <= {"interpolation", "filters"}


@pytest.mark.slow
def test_threads_wait_for_each_other():
    model, answers = nn.Sequential(conv(padding=1), nn.ReLU()).double(), []

    def ask():
        answers.append(liegg.layer_errors(model, images(), AFFINE, "shift")["0"].added)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == pytest.approx([answers[0]] * 3)


def test_the_predictions_that_the_motion_changes():
    """A quarter turn takes pixels to pixels, so that torch can make it; without classes nothing is counted."""
    torch.manual_seed(0)
    x = images(count=40)
    model = nn.Sequential(conv(padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(432, 4).double())
    turned = x.rot90(1, (2, 3))
    changed = (model(turned).argmax(1) != model(x).argmax(1)).double().mean()
    assert 0 < changed < 1
    found = liegg.layer_errors(model, x, AFFINE, "rotation", size=90, target="classes")
    assert found.changed == pytest.approx(float(changed))
    assert found.sentence.startswith(f"Rotation by 90° changes {100 * changed:.0f} % of the pred")
    values = liegg.layer_errors(model, x, AFFINE, "rotation", size=90, target="values")
    assert math.isnan(values.changed)
