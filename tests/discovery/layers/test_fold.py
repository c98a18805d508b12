# pyright: reportArgumentType=false
"""Rows of a layer against rows written out in full: of the output, of its direction, and of the pair with an action."""

from itertools import product

import pytest
import torch

import liegg
from cases import normal
from liegg.discovery.layers import fold
from liegg.discovery.layers.fold import FoldPlan, buffer_for, init, update
from liegg.polarization.output_sketch import combination_signs
from liegg.polarization.plan import Plan
from liegg.polarization.state import finalise_rows

CPU = torch.device("cpu")


def dense(y, slopes, weights=None):
    """Squares of both invariance problems' rows, by the formula, sample after sample."""
    plain = unit = torch.zeros(len(slopes), len(slopes), dtype=torch.float64)
    for i in range(len(y)):
        t, u = slopes[:, i].mT, y[i] / y[i].norm()
        across = (t - u[:, None] * (u @ t)) / y[i].norm()
        w = torch.eye(len(u), dtype=y.dtype) if weights is None else weights[i]
        plain, unit = plain + (w @ t).mT @ (w @ t), unit + (w @ across).mT @ (w @ across)
    return plain, unit


def signs(*shape):
    """Combinations as `discover` draws them under seed 9."""
    samples, count, outputs = shape
    return combination_signs(samples, outputs, count, seed=9)


def squares(state):
    r = finalise_rows(state)[0].r
    return r.mT @ r


def fold_in(y, slopes, plan, *, squared, batches=(3, 7), **more):
    how = FoldPlan(plan, buffer_for(len(slopes), y.shape[1], max(batches), CPU), **more)
    state, flags, first = init(len(slopes), how), [], 0
    for values, moved in zip(y.split(batches), slopes.split(batches, dim=1), strict=True):
        state, finite = update(state, values, moved, how, squared=squared, first=first)
        flags.append(finite)
        first += len(values)
    return state, torch.cat(flags)


@pytest.fixture(params=[1, 2**20], ids=["sample by sample", "at once"], autouse=True)
def chunks(request, monkeypatch):
    monkeypatch.setattr(fold, "NUMBERS_AT_ONCE", {"cpu": request.param})
    monkeypatch.setattr(fold, "CACHED", {"cpu": request.param})


@pytest.fixture(params=[0, 64], ids=["rows", "products"])
def products(request, monkeypatch):
    monkeypatch.setattr(fold, "MAX_PRODUCT_GENERATORS", request.param)


def test_rows_are_those_of_the_formula(products):
    for outputs in ["each", "sum", 2]:
        for squared in [True, False]:
            y, slopes = normal(10, 5), normal(4, 10, 5, seed=1)
            sums, finite = fold_in(y, slopes, Plan(outputs, "jvp", seed=9), squared=squared)
            weights = torch.ones(10, 1, 5, dtype=torch.float64) if outputs == "sum" else None
            if outputs == 2:
                weights = signs(10, 2, 5)
            plain, unit = dense(y, slopes, weights)
            torch.testing.assert_close(squares(sums.invariance), plain, rtol=1e-12, atol=1e-12)
            torch.testing.assert_close(squares(sums.unit), unit, rtol=1e-12, atol=1e-12)
            rows = 10 * {"each": 5, "sum": 1, 2: 2}[outputs]
            assert (
                finalise_rows(sums.invariance)[0].rows == finalise_rows(sums.unit)[0].rows == rows
            )
            assert finalise_rows(sums.unit)[1] == ("gram" if squared else "qr")
            assert float(sums.square) == pytest.approx(float(y.square().sum()))
            assert float(sums.nonzero) == 10
            assert bool(finite.all())


def test_products_of_a_coarse_model_are_summed_in_float32():
    """Its rows are what they are: the sum may err by float32's rounding and no more, whatever the model's own."""
    for outputs in ["each", "sum"]:
        for dtype in [torch.float32, torch.bfloat16]:
            y, slopes = normal(10, 50).to(dtype), normal(4, 10, 50, seed=1).to(dtype)
            sums, finite = fold_in(y, slopes, Plan(outputs, "jvp"), squared=True, unit=2.0**-10)
            weights = torch.ones(10, 1, 50, dtype=torch.float64) if outputs == "sum" else None
            plain, unit = dense(y.double(), slopes.double(), weights)
            torch.testing.assert_close(
                squares(sums.invariance), plain, rtol=1e-6, atol=1e-6 * float(plain.max())
            )
            torch.testing.assert_close(
                squares(sums.unit), unit, rtol=1e-6, atol=1e-6 * float(unit.max())
            )
            assert not torch.equal(squares(sums.invariance), plain)
            assert finalise_rows(sums.unit)[0].rows == 10 * {"each": 50, "sum": 1}[outputs]
            assert float(sums.nonzero) == 10
            assert bool(finite.all())


def test_pairs_have_the_output_action_in_front():
    for outputs in ["each", 2]:
        for squared in [True, False]:
            action = liegg.Linear(2, copies=3)
            y, slopes = normal(10, 6), normal(4, 10, 6, seed=1)
            plan = Plan(outputs, "jvp", seed=9)
            sums, _ = fold_in(y, slopes, plan, squared=squared, output_action=action, shape=(3, 2))
            eta = action.fields(y.reshape(10, 3, 2)).flatten(2)  # [b, m, c]
            both = torch.cat([-eta, slopes.transpose(0, 1)], dim=1).mT
            if outputs == 2:
                both = signs(10, 2, 6) @ both
            assert sums.equivariance is not None
            torch.testing.assert_close(
                squares(sums.equivariance),
                both.flatten(0, 1).mT @ both.flatten(0, 1),
                rtol=1e-12,
                atol=1e-12,
            )
            alone, _ = fold_in(y, slopes, plan, squared=squared)
            torch.testing.assert_close(
                squares(sums.unit), squares(alone.unit), rtol=1e-12, atol=1e-12
            )


def test_an_output_of_zero_has_no_direction(products):
    for squared in [True, False]:
        y, slopes = normal(10, 5), normal(4, 10, 5, seed=1)
        y[4] = 0
        sums, finite = fold_in(y, slopes, Plan("each", "jvp"), squared=squared)
        rest = torch.arange(10) != 4
        torch.testing.assert_close(
            squares(sums.unit), dense(y[rest], slopes[:, rest])[1], rtol=1e-12, atol=1e-12
        )
        assert float(sums.nonzero) == 9
        assert bool(finite.all())


def test_what_only_scales_the_output_does_not_turn_it_even_in_squares():
    """Rounding leaves entries of either sign where a direction is exact; a factor must still exist."""
    y = normal(200, 50).float()
    slopes = torch.stack([y, 2 * y, y.roll(1, 1), -3 * y])
    sums, _ = fold_in(y, slopes, Plan("each", "jvp"), squared=True, batches=(100, 100))
    lengths = finalise_rows(sums.unit)[0].r.norm(dim=0)
    assert bool(lengths.isfinite().all())
    assert lengths[[0, 1, 3]].max() < 1e-6 * lengths[2]


def test_numbers_that_are_not_finite_are_flagged():
    plans = [
        (True, "each", 0.0),
        (True, "each", 2.0**-10),
        (True, "sum", 0.0),
        (False, "each", 0.0),
        (False, "sum", 0.0),
    ]
    places = ["output", "derivative", "derivative of a zero"]
    for where, value, plan in product(places, [torch.nan, torch.inf], plans):
        squared, outputs, unit = plan
        y, slopes = normal(10, 5), normal(4, 10, 5, seed=1)
        if where == "output":
            y[6, 2] = value
        else:
            slopes[3, 6, 2] = value
        if where == "derivative of a zero":
            y[6] = 0
        _, finite = fold_in(y, slopes, Plan(outputs, "jvp"), squared=squared, unit=unit)
        assert int(finite.to(torch.int8).argmin()) == 6
        assert not bool(finite[6])
        assert bool(finite[:6].all())


def test_rows_of_blocks_add_up_to_all_rows(products):
    for outputs in ["each", "sum", 2]:
        for squared in [True, False]:
            y, slopes = normal(10, 3), normal(4, 10, 3, seed=1)
            action = None if outputs == "sum" else liegg.Linear(3)
            block = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
            buffer = buffer_for(4, 3, 10, CPU)
            plan = FoldPlan(Plan(outputs, "jvp", seed=9), buffer, shape=(3,), output_action=action)
            state = init(4, plan, count=3)
            for first, end in ((0, 3), (3, 10)):
                state, _ = update(
                    state,
                    y[first:end],
                    slopes[:, first:end],
                    plan,
                    squared=squared,
                    first=first,
                    block=block[first:end],
                )
            assert state.blocks is not None
            torch.testing.assert_close(
                state.blocks.squares.sum(0), squares(state.invariance), rtol=1e-10, atol=1e-10
            )
            if action is not None:
                assert state.pair_blocks is not None
                torch.testing.assert_close(
                    state.pair_blocks.squares.sum(0),
                    squares(state.equivariance),
                    rtol=1e-10,
                    atol=1e-10,
                )
