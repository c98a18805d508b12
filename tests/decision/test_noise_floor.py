"""Whether anything but rounding moves an output: the rule on numbers, and on models whose output is constant up to rounding."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg.decision.grades import Thresholds
from liegg.decision.noise_floor import Stillness, stillness

UNIT = 2.0**-52


def never():
    raise AssertionError("measured without need")


@pytest.mark.parametrize(
    ("sensitivity", "slope", "expected"),
    [
        (0.5, 2.0, Stillness(False, True)),
        ((3 * UNIT) ** 2, None, Stillness(True, False)),  # three units of the output's size
        ((3 * UNIT) ** 2, (3 * UNIT) ** 2, Stillness(True, False)),  # so is the whole gradient
        ((3 * UNIT) ** 2, 1.0, Stillness(True, True)),  # a gradient that cancels
        (0.0, 0.0, Stillness(True, False)),
        ((3 * UNIT) ** 2 * 1e4, 1e4, Stillness(True, True)),  # steep, and cancels
    ],
)
def test_clear_cases_are_decided_unmeasured(sensitivity, slope, expected):
    assert stillness(sensitivity, slope, 1.0, unit=UNIT, noise=never) == expected


@pytest.mark.parametrize(
    ("sensitivity", "slope", "noise", "expected"),
    [
        (50, 60, (50, False), Stillness(True, False, True)),  # scatter explains the sensitivity
        (50, 60, (25.1, False), Stillness(True, False, True)),
        (50, 60, (24.9, False), Stillness(False, True)),
        (50, 60, (0, True), Stillness(True, False, True)),  # constant over the data
        (50, None, (50, False), Stillness(True, False, True)),
        (50, None, (0, False), Stillness(False, False)),
        (
            15,
            1 / UNIT,
            (15, False),
            Stillness(True, True, True),
        ),  # what is left of a gradient that cancels
        (
            15,
            1 / UNIT,
            (0, True),
            Stillness(False, True),
        ),  # data on one orbit: the output is constant, its gradient is not
    ],
)
def test_faint_motion_is_measured(sensitivity, slope, noise, expected):
    """All in rounding units of the output's size."""
    slope = None if slope is None else (slope * UNIT) ** 2
    told = ((noise[0] * UNIT) ** 2, noise[1])
    assert (
        stillness((sensitivity * UNIT) ** 2, slope, 1.0, unit=UNIT, noise=lambda: told) == expected
    )


def test_without_a_measurement_faint_motion_is_motion():
    assert stillness((50 * UNIT) ** 2, (60 * UNIT) ** 2, 1.0, unit=UNIT) == Stillness(False, True)


def test_how_far_a_gradient_may_cancel_is_a_limit():
    told = ((15 * UNIT) ** 2, False)
    given = {"sensitivity": (15 * UNIT) ** 2, "slope": 1.0, "square": 1e-4, "unit": UNIT}
    assert stillness(**given, thresholds=Thresholds(floor_factor=16.0), noise=lambda: told).still
    assert not stillness(
        **given, thresholds=Thresholds(floor_factor=14.0), noise=lambda: told
    ).still


def test_in_half_precision_a_tenth_of_the_size_is_motion():
    """A hundred units of bfloat16 are most of the size of an output."""
    assert stillness(0.02, 0.02, 1.0, unit=2.0**-7, noise=never) == Stillness(False, True)
    assert stillness(0.009, 0.009, 1.0, unit=2.0**-7, noise=lambda: (0.009, False)).still


class Averaged(nn.Module):
    """Steep attention over values that are all the same: constant, but for the rounding of its large derivatives."""

    def __init__(self):
        super().__init__()
        self.keys = nn.Parameter(10 * normal(4, 6, 6, seed=1))
        self.value, self.out = (
            nn.Parameter(10 * normal(8, seed=2)),
            nn.Parameter(normal(5, 8, seed=3)),
        )

    def forward(self, x):
        weights = torch.softmax(torch.einsum("bk,kij->bij", x, self.keys), -1)
        return torch.einsum("bij,jv,ov->bo", weights, self.value.expand(6, 8), self.out)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.averaged, self.linear = Averaged(), nn.Linear(4, 5)

    def forward(self, x):
        return self.averaged(x) + self.linear(x).tanh()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_of_an_output_that_only_rounding_moves_nothing_is_said(dtype):
    sym = liegg.discover(Averaged().to(dtype), normal(200, 4, seed=0).to(dtype), liegg.Linear(4))
    assert (sym.nullity, sym.decision.undecided) == (0, 16)
    assert sym.decision.warnings == (
        "nothing but rounding moves the output: its derivatives come out differently whenever the samples are rounded anew, so "
        "nothing can be said about its symmetries.",
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_nor_of_such_a_layer_and_forward_mode_reaches_it(dtype):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Network().to(dtype)
    found = liegg.discover_layers(network, normal(200, 4, seed=0).to(dtype), liegg.Linear(4))
    layer = found["averaged"]
    assert (layer.invariance.nullity, layer.invariance.decision.undecided, layer.notes) == (
        0,
        16,
        (),
    )
    assert found["linear"].invariance.solution.sensitivity > 0


@pytest.mark.parametrize("units", [6, 15, 50, 1000])
def test_a_real_function_as_faint_as_rounding_keeps_its_verdict(units):
    """1 + ε |x|² with ε of a few units: its rows are the same whenever they are taken."""
    x = normal(300, 3, seed=4)
    sym = liegg.discover(lambda x: 1 + units * UNIT * x.square().sum(1), x, liegg.Linear(3))
    assert sym.nullity == 3
    assert float(sym.angles(liegg.so(3)).max()) < 1e-8


def test_pictures_of_many_numbers_are_not_still_for_being_many():
    """Any direction takes but a small part of a gradient of 3072 numbers: less than a few units of bfloat16."""
    weights = normal(3072, 5, seed=1) / 60
    pictures = normal(200, 3, 32, 32)

    def model(
        x,
    ):  # products in float64, so that no kernel of the CPU is in the way; what comes in and goes out is rounded
        return (x.flatten(1).double() @ weights).bfloat16()

    found = liegg.discover(model, pictures.bfloat16(), liegg.Image("affine"))
    fine = liegg.discover(lambda x: x.flatten(1) @ weights, pictures, liegg.Image("affine"))
    assert found.nullity == fine.nullity == 0
    torch.testing.assert_close(found.defects, fine.defects, rtol=0.05, atol=0.0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_mean_over_pictures_does_not_move_with_them(dtype):
    action = liegg.Image("affine", border="periodic").restrict(liegg.translation(2))
    found = liegg.discover(
        lambda x: x.mean((2, 3)).tanh(), normal(300, 3, 16, 16).to(dtype), action
    )
    assert found.grades == ("exact", "exact")


def test_in_half_precision_a_gradient_that_seems_to_cancel_is_measured():
    unit = 2.0**-8
    assert stillness(
        (3 * unit) ** 2, 1.0, 1.0, unit=unit, noise=lambda: (1e-9, False)
    ) == Stillness(False, True)
    assert stillness(
        (3 * unit) ** 2, 1.0, 1.0, unit=unit, noise=lambda: (1e-3, False)
    ) == Stillness(True, True, True)
    assert stillness((3 * unit) ** 2, 1.0, 1.0, unit=unit) == Stillness(True, True)
