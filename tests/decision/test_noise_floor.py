"""Noise floor: what rounding alone can do, and whether anything else moves an output, by rule and on models."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.decision.noise_floor import (
    Response,
    numerical_floor,
    response,
    rounding_bound,
    trusted_floor,
)
from liegg.decision.thresholds import Thresholds

UNIT = 2.0**-52
USUAL = Thresholds()


# What rounding can do.


@pytest.mark.parametrize("unit", [2.0**-23, 2.0**-30])
def test_the_floor_is_the_squared_rounding_unit_times_factor_and_conditioning(unit):
    expected = (USUAL.floor_factor * unit) ** 2
    assert numerical_floor(unit, USUAL) == pytest.approx(expected, rel=1e-12)
    assert numerical_floor(unit, USUAL, conditioning=0.1) == pytest.approx(expected, rel=1e-12)
    one = Thresholds(floor_factor=1.0)
    assert numerical_floor(unit, one, conditioning=7.0) == pytest.approx(7 * unit**2, rel=1e-12)


def test_the_floor_is_at_least_that_of_the_solution_itself():
    assert numerical_floor(UNIT, USUAL) == pytest.approx((100 * UNIT) ** 2, rel=1e-12)


def test_an_exact_symmetry_is_strong_and_what_rounding_can_do_is_more():
    coarse, bound = 2.0**-7, 10 * (USUAL.floor_factor / 128) ** 2
    assert numerical_floor(coarse, USUAL, conditioning=10.0) == USUAL.strong
    assert numerical_floor(coarse, Thresholds(strong=1e-2), conditioning=10.0) == 1e-2
    assert numerical_floor(coarse, Thresholds(strong=0.0), conditioning=10.0) == pytest.approx(
        bound
    )
    assert rounding_bound(coarse, USUAL, conditioning=10.0) == pytest.approx(bound)


@pytest.mark.parametrize("conditioning", [0.5, 1.0, 7.0, 1e4, 1e9])
def test_what_is_trusted_unmeasured_lies_below_the_floor_and_in_float64_is_all_of_it(conditioning):
    """The error of the solution itself, 100 units times the conditioning, is larger there than what the model is granted."""
    units = (UNIT, 2.0**-23, 2.0**-10, 2.0**-7)
    floors = [numerical_floor(unit, USUAL, conditioning=conditioning) for unit in units]
    trusted = [trusted_floor(unit, USUAL, conditioning=conditioning) for unit in units]
    assert all(one <= other for one, other in zip(trusted, floors, strict=True))
    assert trusted[0] == pytest.approx(floors[0], rel=1e-12)
    for unit, value in zip(units[1:3], trusted[1:3], strict=True):
        assert value == pytest.approx((USUAL.floor_factor * unit) ** 2, rel=1e-12)
    assert trusted[3] == USUAL.strong


# Whether anything else moves the output.


def never():
    raise AssertionError("measured without need")


def told(sensitivity, slope, output_square=1.0, *, rounding=None, unit=UNIT, thresholds=USUAL):
    """The response of numbers that are given in rounding units."""
    slope = None if slope is None else (slope * unit) ** 2
    square = (sensitivity * unit) ** 2
    return response(
        square, slope, output_square, unit=unit, thresholds=thresholds, rounding=rounding
    )


def measures(noise, constant, unit=UNIT):
    """A measurement: what rounding alone gives in rounding units, and whether the output is constant."""
    return lambda: ((noise * unit) ** 2, constant)


@pytest.mark.parametrize(
    ("sensitivity", "slope", "expected"),
    [
        (0.5 / UNIT, 2 / UNIT, Response(False, True)),
        (3, None, Response(True, False)),  # three units of the output's size
        (3, 3, Response(True, False)),  # so is the whole gradient
        (3, 1 / UNIT, Response(True, True)),  # a gradient that cancels
        (0, 0, Response(True, False)),
        (300, 100 / UNIT, Response(True, True)),  # steep, and cancels
    ],
)
def test_clear_cases_are_decided_unmeasured(sensitivity, slope, expected):
    assert told(sensitivity, slope, rounding=never) == expected


@pytest.mark.parametrize(
    ("sensitivity", "slope", "noise", "expected"),
    [
        (50, 60, (50, False), Response(True, False, True)),  # scatter explains the sensitivity
        (50, 60, (25.1, False), Response(True, False, True)),
        (50, 60, (24.9, False), Response(False, True)),
        (50, 60, (0, True), Response(True, False, True)),  # constant over the data
        (50, None, (50, False), Response(True, False, True)),
        (50, None, (0, False), Response(False, False)),
        (
            15,
            1 / UNIT,
            (15, False),
            Response(True, True, True),
        ),  # what a cancelling gradient leaves
        (15, 1 / UNIT, (0, True), Response(False, True)),  # data on one orbit: constant, steep
    ],
)
def test_faint_motion_is_measured(sensitivity, slope, noise, expected):
    assert told(sensitivity, slope, rounding=measures(*noise)) == expected


def test_without_a_measurement_faint_motion_is_motion():
    assert told(50, 60) == Response(False, True)


def test_how_far_a_gradient_may_cancel_is_a_threshold():
    for factor, still in ((16.0, True), (14.0, False)):
        thresholds = Thresholds(floor_factor=factor)
        found = told(15, 1 / UNIT, 1e-4, thresholds=thresholds, rounding=measures(15, False))
        assert found.still is still


def test_in_half_precision_a_tenth_of_the_size_is_motion():
    """A hundred units of bfloat16 are most of the size of an output."""
    unit = 2.0**-7
    assert told(18.1, 18.1, unit=unit, rounding=never) == Response(False, True)
    assert told(12.1, 12.1, unit=unit, rounding=measures(12.1, False, unit)).still


def test_in_half_precision_a_gradient_that_seems_to_cancel_is_measured():
    unit = 2.0**-8
    seen = [
        told(3, 1 / unit, unit=unit, rounding=rounding)
        for rounding in (lambda: (1e-9, False), lambda: (1e-3, False), None)
    ]
    assert seen == [Response(False, True), Response(True, True, True), Response(True, True)]


# Models.


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


def test_of_an_output_that_only_rounding_moves_nothing_is_said():
    x = normal(200, 4, seed=0)
    sym = liegg.discover(Averaged().float(), x.float(), liegg.Linear(4))
    assert (sym.nullity, sym.decision.undecided) == (0, 16)
    assert [warning.diagnosis for warning in sym.decision.warnings] == [Diagnosis.ONLY_ROUNDING]
    # In float64 part of this rounding repeats itself on some CPUs, and then counts as the model's
    # own motion: "no symmetry" in place of "undecided". A symmetry is claimed on none.
    assert liegg.discover(Averaged(), x, liegg.Linear(4)).nullity == 0


def test_nor_of_such_a_layer_and_forward_mode_reaches_it():
    dtype = torch.float32
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
    assert found["linear"].invariance.accumulated.solution.sensitivity > 0


@pytest.mark.parametrize("units", [6, 15, 50, 1000])
def test_a_real_function_as_faint_as_rounding_keeps_its_verdict(units):
    """1 + ε |x|² with ε of a few units: its rows are the same whenever they are taken."""
    x = normal(300, 3, seed=4)
    sym = liegg.discover(lambda x: 1 + units * UNIT * x.square().sum(1), x, liegg.Linear(3))
    assert sym.nullity == 3
    assert float(sym.angles(liegg.so(3)).max()) < 1e-8


def test_images_of_many_numbers_are_not_still_for_being_many():
    """Any direction takes but a small part of a gradient of 3072 numbers: less than a few units of bfloat16."""
    weights = normal(3072, 5, seed=1) / 60
    images = normal(200, 3, 32, 32)

    def model(x):
        # products in float64, so that no kernel of the CPU matters; input and output are rounded
        return (x.flatten(1).double() @ weights).bfloat16()

    found = liegg.discover(model, images.bfloat16(), liegg.Image("affine"))
    fine = liegg.discover(lambda x: x.flatten(1) @ weights, images, liegg.Image("affine"))
    assert found.nullity == fine.nullity == 0
    torch.testing.assert_close(found.defects, fine.defects, rtol=0.05, atol=0.0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_mean_over_images_does_not_move_with_them(dtype):
    action = liegg.Image("affine", derivative="spectral", border="periodic").restrict(
        liegg.translation(2)
    )
    found = liegg.discover(
        lambda x: x.mean((2, 3)).tanh(), normal(300, 3, 16, 16).to(dtype), action
    )
    assert found.decision.grades == ("exact", "exact")
