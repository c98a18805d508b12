"""Finite differences: noise, steps, errors and the number of evaluations, against known answers."""

import math

import pytest
import torch

from liegg._utils.errors import ModelError
from liegg.actions import Linear
from liegg.inputs.model import Model, with_finite_differences
from liegg.inputs.probe import probe
from liegg.polarization.finite.differences import difference_rows, lengths, straight_motions
from liegg.polarization.finite.errors import difference_errors, error_samples
from liegg.polarization.finite.evaluations import affordable, expected
from liegg.polarization.finite.noise import noise_level, still_share
from liegg.polarization.finite.steps import choose_steps
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize


def samples(count=60, n=3, dtype=torch.float64):
    drawn = torch.Generator().manual_seed(3)
    return torch.randn(count, n, generator=drawn, dtype=torch.float64).to(dtype)


def finite(function, x):
    return probe(with_finite_differences(Model(function, "f")), x)


@pytest.mark.parametrize("level", [1e-12, 1e-8, 1e-4])
def test_noise_is_told_from_a_smooth_function(level):
    drawn = torch.Generator().manual_seed(0)
    place = torch.linspace(0, 1e-6, 9, dtype=torch.float64)[:, None, None]
    noise = level * torch.randn(9, 200, 1, generator=drawn, dtype=torch.float64)
    found = noise_level(torch.sin(place + 1) + noise)
    # Nine numbers show a standard deviation to about a quarter.
    assert float(found.median()) == pytest.approx(level, rel=0.3)
    assert float(still_share(torch.sin(place + 1) + noise).max()) == 0


def test_a_line_on_which_nothing_changes_is_still():
    assert float(still_share(torch.ones(9, 2, 1)).min()) == 1
    assert float(noise_level(torch.ones(9, 2, 1)).max()) == 0


@pytest.mark.parametrize("outputs", ["each", "sum", 2])
def test_rows_are_those_of_derivatives(outputs):
    x, action = samples(20), Linear(3)
    function = lambda x: torch.stack([x.sin().sum(1), x.prod(1), x[:, 0].exp()], 1)  # noqa: E731
    steps = torch.full((9,), 1e-5, dtype=torch.float64)
    model = finite(function, x)
    rows = difference_rows(model, x, straight_motions(action, x, steps), outputs=outputs, seed=4)
    exact = polarize(probe(Model(function, "f"), x), action, x, Plan(outputs, "vjp", 4))[0]
    # The error of a central difference is t² f'''/6, below 1e-9 here, and rounding 1e-16/t.
    torch.testing.assert_close(rows, exact, rtol=1e-8, atol=1e-8)
    assert model.counter is not None
    assert model.counter.calls == 2 + 1 + 3 - 1 + 9


def test_lengths_are_those_of_the_fields():
    x = samples(10)
    square = Linear(3).fields(x).square().flatten(2).sum(2).mean(0)
    torch.testing.assert_close(lengths(Linear(3), x).square(), square)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
def test_stated_errors_cover_the_real_ones(noise):
    x, action = samples(80), Linear(3)
    drawn = torch.Generator().manual_seed(1)

    def function(x):
        return x.square().sum(1).sqrt().sin() + noise * torch.randn(
            len(x), generator=drawn, dtype=x.dtype
        )

    model = finite(function, x)
    found = choose_steps(model, action, x)
    assert found.deviation == pytest.approx(noise, rel=0.5, abs=1e-15)
    rows = difference_rows(model, x, straight_motions(action, x, found.steps), outputs="each")
    clean = Model(lambda x: x.square().sum(1).sqrt().sin(), "clean")
    exact = polarize(probe(clean, x), action, x, Plan("each", "vjp"))[0]
    error = difference_errors(model, action, x, found.steps, outputs="each", noise=found.deviation)
    stated = torch.linalg.vector_norm(error.r, dim=0) / math.sqrt(error.samples)
    real = (rows - exact).square().sum(1).mean(0).sqrt()
    # Defects are compared with four times this square, that is twice this root.
    assert bool((real <= 2 * stated).all())
    assert bool((stated <= 100 * real + 1e-9).all())


@pytest.mark.parametrize(
    ("function", "piecewise"),
    [
        (lambda x: x.round().sum(1), True),
        (lambda x: (x[:, 0] > 0).to(x) + (x[:, 1] > 0.5).to(x), True),
        (lambda x: x.square().sum(1), False),
        (lambda x: x[:, 0].clone(), False),
        (lambda x: x.relu().sum(1), False),
        (lambda x: torch.ones_like(x[:, 0]), False),
        (lambda x: x.square().sum(1).float(), False),
    ],
)
def test_piecewise_constant_functions_are_recognised(function, piecewise):
    x = samples()
    assert choose_steps(finite(function, x), Linear(3), x).piecewise is piecewise


def test_steps_suit_the_scale_of_each_feature():
    scale = torch.tensor([1e-3, 1.0, 1e3], dtype=torch.float64)
    x = samples() * scale
    found = choose_steps(finite(lambda x: (x / scale).sin().sum(1), x), Linear(3), x)
    # The first feature moves by x₃ under the third candidate: a step of about 1e-5 / 1e6.
    assert 1e-13 < float(found.steps[2]) < 1e-9
    assert 1e-7 < float(found.steps[4]) < 1e-3


def test_a_model_that_fails_nearby_is_an_error():
    x = samples()

    def function(y):
        if not bool((y[:, :1] == x[:, :1].flatten()).any(1).all()):
            raise ValueError("outside")
        return y.sum(1)

    with pytest.raises(
        ModelError, match=r"fails when samples are moved a little \(ValueError: outside"
    ):
        choose_steps(with_finite_differences(Model(function, "f", output_shape=())), Linear(3), x)


def test_evaluations_are_known_in_advance():
    found = expected(Linear(5), samples=1000, batch_size=300)
    assert (found.each, found.batches, found.calls) == (51, 4, 204)
    assert found.total > 51_000
    assert "51 evaluations per sample, 204 calls" in str(found)
    assert affordable(Linear(5), found.total) == 1000
    assert affordable(Linear(5), 10) == 0
    assert error_samples(1000, 1) == 256
