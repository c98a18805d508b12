# pyright: reportAttributeAccessIssue=false
"""Arguments that cannot be verified are refused with a message that helps, and what the caller has stays as it was."""

import copy
import random

import jaxtyping
import pytest
import torch
from torch import Tensor, nn

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.discovery.verification.verify import verify

TURN = torch.tensor([[[0.0, -1.0], [1.0, 0.0]]], dtype=torch.float64)
HELD_OUT = normal(200, 2, seed=5)
X, LINEAR = normal(100, 3), liegg.Linear(3)

WRONG_NUMBERS = [
    ({"samples": 1}, "samples=1: expected an integer from 2 to 100000, for example samples=256"),
    ({"points": 2.5}, "points=2.5: expected a whole number"),
    ({"controls": 0}, "controls=0: expected an integer from 1"),
    ({"seed": -1}, "seed=-1: expected a whole number from 0"),
    ({"fraction": 0.0}, "fraction=0.0: expected a positive share of the variance"),
    ({"fraction": float("inf")}, "fraction=inf"),
    ({"longest": -1.0}, "longest=-1.0: expected None or a positive multiple"),
    ({"effort": "little"}, "effort='little': expected 'auto' or 'full'"),
    ({"progress": 3}, "progress=3: expected a function"),
    ({"output_generators": liegg.so(3)}, "without an output action"),
    ({"generators": [1, 2]}, "generators=.1, 2.: expected a tensor"),
    ({"generators": torch.full((1, 3, 3), torch.nan)}, "finite numbers"),
    ({"generators": liegg.so(2)}, r"generators have shape \(1, 2, 2\); expected \[d, 3, 3\]"),
    ({"generators": torch.ones(2, 8)}, r"shape \(2, 8\); expected coefficients \[d, 9\]"),
    ({"generators": None}, "an action was given without generators"),
    ({"sym": "so(3)"}, "sym='so.3.': expected a result of liegg.discover"),
    ({"output_action": 3}, "output_action=3: expected an action"),
    (
        {"output_action": LINEAR, "output_generators": liegg.so(3)[:2]},
        "3 generators and 2 output_generators: expected one for each",
    ),
]


def test_invalid_arguments(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)  # as users run it
    for knobs, words in WRONG_NUMBERS:
        with pytest.raises(ArgumentError, match=words):
            verify(square, X, **{"sym": LINEAR, "generators": liegg.so(3)} | knobs)
    sym = liegg.discover(square, X, LINEAR)
    with pytest.raises(ArgumentError, match="output_action was given with a result of discover"):
        verify(square, X, sym, output_action=LINEAR)


def test_no_generators_are_not_an_error():
    result = verify(square, X, LINEAR, liegg.so(3)[:0])
    assert result.curves == ()
    assert [note.diagnosis for note in result.notes] == [Diagnosis.NO_GENERATOR_GIVEN]


def test_coefficients_are_generators_too():
    by_matrix = verify(square, X, LINEAR, liegg.so(3)[:1])
    by_row = verify(square, X, LINEAR, liegg.so(3)[:1].flatten(1))
    torch.testing.assert_close(by_row.curves[0].control_mean, by_matrix.curves[0].control_mean)


def test_one_sample_is_too_few():
    with pytest.raises(ArgumentError, match="the data holds 1 sample; a variance needs 2 or more"):
        verify(square, HELD_OUT[:1], liegg.Linear(2), TURN)


def test_a_generator_that_does_not_move_the_samples_is_refused():
    x = torch.cat([normal(100, 2), torch.zeros(100, 1, dtype=torch.float64)], 1)
    still = torch.zeros(2, 3, 3, dtype=torch.float64)
    still[0, 0, 1] = still[1, 1, 2] = 1
    with pytest.raises(ArgumentError, match="generator 2 does not move the samples"):
        verify(square, x, liegg.Linear(3), still)


# The caller's things


def test_no_more_samples_are_read_than_asked_for():
    class Counted(torch.utils.data.Dataset):
        read = 0

        def __len__(self) -> int:
            return 100

        def __getitem__(self, index: int) -> Tensor:
            Counted.read += 1
            return HELD_OUT[index]

    found = verify(square, Counted(), liegg.Linear(2), TURN, samples=20)
    assert (found.samples, Counted.read) == (20, 20)
    whole = verify(square, [HELD_OUT[:15], HELD_OUT[15:60]], liegg.Linear(2), TURN, samples=20)
    assert whole.to_dict() == found.to_dict()


def test_the_seed_decides_the_controls_and_nothing_else():
    one, again, other = (
        verify(lambda x: square(x) + 0.3 * x[:, 0], HELD_OUT, liegg.Linear(2), TURN, seed=seed)
        for seed in (0, 0, 1)
    )
    for found in (again, other):
        torch.testing.assert_close(
            found.curves[0].change, one.curves[0].change, rtol=1e-9, atol=0.0
        )
    means = [found.curves[0].control_mean for found in (one, again, other)]
    torch.testing.assert_close(means[0], means[1], rtol=1e-9, atol=0.0)
    assert not torch.allclose(means[0], means[2], rtol=1e-3)


def test_the_size_of_the_batches_does_not_matter(monkeypatch):
    action, x = liegg.Linear(3), normal(30, 3)

    def cube(x: Tensor) -> Tensor:
        return x * square(x)[:, None]

    whole = verify(cube, x, action, liegg.so(3), output_action=action, controls=2, points=4)
    monkeypatch.setattr("liegg.discovery.verification.measure.BATCH_ELEMENTS", 50)
    pieces = verify(cube, x, action, liegg.so(3), output_action=action, controls=2, points=4)
    for one, other in zip(whole.curves, pieces.curves, strict=True):
        assert torch.allclose(one.control_mean, other.control_mean, rtol=1e-9)
        assert torch.allclose(one.change, other.change, atol=1e-20)


def test_the_caller_s_model_data_and_generators_are_left_as_they_were(monkeypatch):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # beartype itself draws from Python's generator
    with torch.random.fork_rng(devices=[]):
        net = nn.Sequential(
            nn.Linear(2, 8), nn.BatchNorm1d(8), nn.SiLU(), nn.Dropout(0.5), nn.Linear(8, 3)
        ).train()
    state, x = copy.deepcopy(net.state_dict()), HELD_OUT.float().requires_grad_()
    before = (torch.get_rng_state().tolist(), random.getstate(), torch.is_grad_enabled())
    found = verify(net, x, liegg.Linear(2), TURN)
    assert (torch.get_rng_state().tolist(), random.getstate(), torch.is_grad_enabled()) == before
    assert net.training
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in net.parameters())
    assert torch.equal(x.detach(), HELD_OUT.float())
    assert x.grad is None
    again = verify(net, x, liegg.Linear(2), TURN)
    assert again.curves[0].change.tolist() == pytest.approx(
        found.curves[0].change.tolist(), rel=1e-5
    )


def test_samples_of_another_shape_than_those_analysed_are_refused():
    small, large = normal(60, 9, 9), normal(60, 12, 12)
    sym = liegg.discover(lambda x: x.square().mean((1, 2)), small, liegg.Image())
    with pytest.raises(
        liegg.LieggError,
        match=r"a sample has shape \(12, 12\); those that were analysed have \(9, 9\)\.",
    ):
        verify(lambda x: x.square().mean((1, 2)), large, sym)
