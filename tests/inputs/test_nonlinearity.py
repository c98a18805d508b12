"""Bend of a model between samples: by hand, and its laws."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import mlp, normal
from liegg.inputs.model import Model
from liegg.inputs.nonlinearity import midpoint_ratio, nonlinearity


def bent(function, x, **rest):
    return nonlinearity(Model(function, "model"), x, **rest)


def column(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


@given(
    seed=st.integers(0, 999),
    samples=st.integers(2, 40),
    inputs=st.integers(1, 4),
    outputs=st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_affine_functions_do_not_bend(seed, samples, inputs, outputs):
    weight, shift = normal(inputs, outputs, seed=seed), normal(outputs, seed=seed + 1)
    found = bent(lambda x: x @ weight + shift, normal(samples, inputs, seed=seed + 2))
    assert found is not None
    assert found < 1e-20


@pytest.mark.parametrize(("one", "other"), [(1.0, 3.0), (0.0, 1.0), (-1.0, 2.0), (5.0, 5.5)])
def test_a_square_between_two_points_by_hand(one, other):
    """((a + b)/2)² - (a² + b²)/2 = -(a - b)²/4 over half the change (a² - b²)/2: (a - b)²/4(a + b)²."""
    expected = (one - other) ** 2 / (4 * (one + other) ** 2)
    assert bent(torch.square, column(one, other)) == pytest.approx(expected, rel=1e-12)


def test_three_points_and_every_pair():
    """x² on 0, 1, 3: neighbours around the circle are (0, 3), (1, 0), (3, 1), bends 81/16, 1/16, 16/16, changes 81/4, 1/4, 64/4."""
    assert bent(torch.square, column(0.0, 1.0, 3.0)) == pytest.approx(
        (81 + 1 + 16) / 16 / ((81 + 1 + 64) / 4), rel=1e-12
    )


def test_a_function_that_half_way_knows_nothing_of_its_ends_bends_by_one():
    """Unit vectors that are nearly orthogonal at whole numbers, zero between them: half the sum is as long as half the change."""
    values = torch.nn.functional.normalize(normal(1000, 50), dim=1)
    found = bent(
        lambda x: (x == x.round()) * values[x[:, 0].long()], column(*range(1000)), pairs=1000
    )
    assert found == pytest.approx(1.0, rel=0.05)


def test_neither_scale_nor_offset_of_the_output_matter():
    model, x = mlp(3, 8, 2), normal(50, 3)
    known = bent(model, x)
    for scale in (-1.0, 1e-30, 1e-6, 1e6, 1e25):
        for offset in (0.0, 3.0):
            found = bent(lambda x, s=scale, o=offset: s * (model(x) + o), x)
            assert found == pytest.approx(known, rel=1e-9)


def test_a_wider_spread_bends_more():
    model, x = mlp(3, 8, 2), normal(50, 3)
    small, middle, large = (bent(model, size * x) for size in (1e-3, 0.1, 1.0))
    assert small is not None
    assert middle is not None
    assert large is not None
    assert 0 < small < 1e-3 * middle < middle < large


def test_the_batch_is_looked_at_as_a_whole():
    """With fewer pairs than samples they spread over the batch: the end of it decides here."""
    x = torch.cat(
        [torch.zeros(100, 1, dtype=torch.float64), torch.ones(100, 1, dtype=torch.float64)]
    )
    assert bent(torch.square, x, pairs=2) == pytest.approx(0.25)  # between 0 and 1
    assert bent(torch.square, x, pairs=1) is None


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (torch.square, column(2.0)),  # a single sample
        (torch.square, column(2.0, 2.0)),  # twice the same
        (torch.zeros_like, column(1.0, 2.0, 3.0)),  # a constant output
        (lambda x: 1 / x, column(-1.0, 1.0)),  # infinite half way
        (lambda x: (x.abs() - 1).sqrt(), column(-2.0, 3.0)),  # NaN half way
        (lambda x: torch.where(x > 0, math.inf, x), column(-1.0, 1.0)),  # infinite at a sample
    ],
    ids=[
        "one sample",
        "equal samples",
        "constant",
        "infinite half way",
        "nan half way",
        "infinite at a sample",
    ],
)
def test_where_it_cannot_be_told(function, x):
    assert bent(function, x) is None


def test_nothing_is_recorded_for_gradients_and_the_batch_is_left_alone():
    x = column(1.0, 3.0).requires_grad_()
    before = x.detach().clone()

    def function(x):
        assert not torch.is_grad_enabled()
        return x.mul_(x)  # in place, as some models do

    assert bent(function, x) == pytest.approx(1 / 16)
    assert torch.equal(x, before)


def test_the_midpoint_ratio_of_known_functions() -> None:
    """Of x² it is E(x − x')⁴/16 over E(x² − x'²)²/4, which is 0.75 over 1 for standard normal numbers."""
    x = torch.randn(400_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert midpoint_ratio(lambda x: x @ torch.ones(1, 3, dtype=x.dtype) - 4, x) == pytest.approx(
        0, abs=1e-25
    )
    numbers = x[:, 0].numpy()
    other = np.roll(numbers, 1)
    wanted = np.mean((((numbers + other) / 2) ** 2 - (numbers**2 + other**2) / 2) ** 2) / np.mean(
        (numbers**2 - other**2) ** 2 / 4
    )
    assert midpoint_ratio(torch.square, x) == pytest.approx(wanted)
    assert wanted == pytest.approx(0.75, abs=0.01)


def test_a_constant_function_has_no_midpoint_ratio() -> None:
    assert midpoint_ratio(lambda x: torch.zeros(len(x), 1), torch.ones(5, 2)) is None
