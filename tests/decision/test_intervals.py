"""Intervals of defects, count and span, on data where the answer is known."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch

import liegg
from cases import mlp, norm_case, normal, square
from liegg._utils.diagnoses import Diagnosis, as_remark
from liegg.actions import Linear
from liegg.decision.block_statistics import effective_motion, motion_freedom
from liegg.decision.bootstrap import Moments, direction_freedoms, draw_blocks
from liegg.decision.intervals import (
    LEAST_FREEDOM,
    Bootstrap,
    certainty,
    residual_freedom,
    span_interval,
)
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.polarization.evidence import SampleEvidence
from liegg.polarization.sample_blocks import FEWEST_BLOCKS
from spectra import USUAL, bootstrap_of

# Intervals.


def widths(sym):
    return (sym.intervals[:, 1] / sym.intervals[:, 0]).log()


def test_intervals_hold_their_defects_and_shrink_with_the_root_of_the_samples():
    model = mlp(3, 8, 2)
    few, many = (liegg.discover(model, normal(samples, 3), Linear(3)) for samples in (400, 6400))
    for sym in (few, many):
        assert bool(
            ((sym.intervals[:, 0] < sym.defects) & (sym.defects < sym.intervals[:, 1])).all()
        )
    assert float((widths(few) / widths(many)).log().mean().exp()) == pytest.approx(4.0, rel=0.3)


def test_samples_that_belong_together_are_drawn_together():
    """Every sample four times: in groups they are what they were once, the same blocks four times over."""
    model, x = mlp(3, 8, 2), normal(320, 3)
    once = liegg.discover(model, x, Linear(3), run=liegg.Run(groups=torch.arange(320)))
    grouped = liegg.discover(
        model,
        x.repeat_interleave(4, dim=0),
        Linear(3),
        run=liegg.Run(groups=torch.arange(320).repeat_interleave(4)),
    )
    torch.testing.assert_close(grouped.defects, once.defects, rtol=1e-10, atol=0.0)
    # The number of different samples, on which the degrees of freedom depend, is estimated.
    torch.testing.assert_close(grouped.intervals, once.intervals, rtol=0.02, atol=0.0)


@pytest.mark.parametrize("order", ["in a row", "shuffled", "one after the other"])
def test_copies_are_not_evidence(order):
    """Every sample eight times, in any order and with no groups: the same intervals as once.

    To 2 %, since the number of different samples is estimated.
    """
    model, x = mlp(3, 8, 2), normal(250, 3)
    once, places = liegg.discover(model, x, Linear(3)), torch.arange(250).repeat(8)
    if order == "in a row":
        places = places.sort().values
    elif order == "shuffled":
        places = places[torch.randperm(2000, generator=torch.Generator().manual_seed(0))]
    again = liegg.discover(model, x[places], Linear(3))
    torch.testing.assert_close(again.intervals, once.intervals, rtol=0.02, atol=0.0)
    one, other = once.decision.certainty, again.decision.certainty
    assert one is not None
    assert other is not None
    assert other.angle == pytest.approx(one.angle, rel=0.02)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_order_of_the_samples_does_not_matter(dtype):
    model, x = mlp(3, 8, 2, dtype=dtype), normal(300, 3).to(dtype)
    labels = torch.arange(300) // 5
    order = torch.randperm(300, generator=torch.Generator().manual_seed(1))
    for groups, shuffled in [(None, None), (labels, labels[order])]:
        one = liegg.discover(model, x, Linear(3), run=liegg.Run(groups=groups))
        other = liegg.discover(model, x[order], Linear(3), run=liegg.Run(groups=shuffled))
        error = 1e-9 if dtype == torch.float64 else 1e-4
        torch.testing.assert_close(other.intervals, one.intervals, rtol=error, atol=0.0)


def test_directions_at_the_floor_have_no_interval():
    sym = liegg.discover(square, normal(200, 3), Linear(3))
    assert bool(sym.intervals[:3].isnan().all())
    assert bool(sym.intervals[3:].isfinite().all())
    draws, sure = bootstrap_of(sym), sym.decision.certainty
    assert sure is not None
    assert (draws.above.tolist(), sure.angle) == ([False] * 3 + [True] * 6, 0.0)


@pytest.mark.parametrize(
    ("samples", "groups"),
    [(FEWEST_BLOCKS - 1, None), (200, [i % (FEWEST_BLOCKS - 1) for i in range(200)])],
    ids=["samples", "groups"],
)
def test_too_few_blocks_make_no_interval(samples, groups):
    sym = liegg.discover(mlp(2, 8, 1), normal(samples, 2), Linear(2), run=liegg.Run(groups=groups))
    assert sym.accumulated.blocks is None
    assert sym.decision.certainty is None
    assert bool(sym.intervals.isnan().all())
    (note,) = sym.notes
    assert as_remark(note).diagnosis is Diagnosis.FEW_BLOCKS
    assert as_remark(note).values == {"blocks": FEWEST_BLOCKS - 1, "needed": FEWEST_BLOCKS}


def test_just_enough_blocks_make_one():
    sym = liegg.discover(
        mlp(2, 8, 1),
        normal(200, 2),
        Linear(2),
        run=liegg.Run(groups=[i % FEWEST_BLOCKS for i in range(200)]),
    )
    assert sym.decision.certainty is not None
    assert sym.decision.certainty.blocks == FEWEST_BLOCKS
    assert bool(sym.intervals.isfinite().all())


def test_no_interval_exceeds_what_defects_with_mean_one_can_reach():
    """Of n ascending defects with mean 1, n - i are at least as large as number i, so that it is at most n/(n - i)."""
    sym = liegg.discover(mlp(3, 8, 1), normal(40, 3), Linear(3))
    n = len(sym.defects)
    assert math.isclose(float(sym.defects.mean()), 1, rel_tol=1e-9)
    assert bool(sym.intervals.isfinite().all())
    assert bool((sym.intervals[:, 1] <= n / torch.arange(n, 0, -1) * (1 + 1e-12)).all())


def test_a_constant_model_has_nothing_to_draw():
    sym = liegg.discover(lambda x: 0 * x.sum(1), normal(50, 2), Linear(2))
    assert sym.accumulated.blocks is None


def test_seeds_decide_the_draws_and_nothing_else_does():
    model, x = mlp(3, 8, 2), normal(200, 3)
    one, same, other = (
        liegg.discover(model, x, Linear(3), run=liegg.Run(seed=seed)) for seed in (5, 5, 6)
    )
    torch.testing.assert_close(one.intervals, same.intervals, rtol=1e-9, atol=0.0)
    assert one.decision.nullity_interval == same.decision.nullity_interval
    assert float((one.intervals / other.intervals - 1).abs().max()) > 1e-3
    torch.testing.assert_close(one.intervals, other.intervals, rtol=0.2, atol=0.0)


@pytest.mark.parametrize("size", [1e-5, 1e-9])
def test_intervals_are_relative_however_small_the_defects(size):
    """A perturbation of size s has defects as s², between the same relative ends, and turns the directions as s."""
    bend = mlp(3, 8, 1)
    one, other = (
        liegg.discover(lambda x, s=s: square(x) + s * bend(x)[:, 0], normal(200, 3), Linear(3))
        for s in (1e-3, size)
    )
    scale = (size / 1e-3) ** 2
    torch.testing.assert_close(other.intervals[:3], one.intervals[:3] * scale, rtol=0.02, atol=0.0)
    torch.testing.assert_close(other.intervals[3:], one.intervals[3:], rtol=0.02, atol=0.0)
    sure, small = one.decision.certainty, other.decision.certainty
    assert sure is not None
    assert small is not None
    assert small.angle == pytest.approx(sure.angle * size / 1e-3, rel=0.02)


# Directions that were not found.


def test_directions_without_an_interval():
    """Exact ones, trivial ones, none at all, and none where no intervals were made."""
    sym = liegg.discover(square, normal(200, 3), Linear(3))
    exact = sym.defect_interval(torch.cat([liegg.so(3), liegg.scaling(3)]))
    assert exact.isnan().all(1).tolist() == [True, True, True, False]
    flat = normal(200, 3) * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    sym = liegg.discover(mlp(3, 8, 2), flat, Linear(3))
    units = torch.eye(9, dtype=torch.float64).reshape(9, 3, 3)
    assert (
        sym.defect_interval(units).isnan().all(1).tolist() == [False, False, True] * 3
    )  # what x₃ = 0 would move
    assert sym.defect_interval(units[:0]).shape == (0, 2)
    sym = liegg.discover(mlp(3, 8, 2), normal(200, 3), Linear(3), controls="none")
    assert bool(sym.defect_interval(units).isnan().all())


def test_with_many_samples_the_choice_of_directions_no_longer_matters():
    sym = liegg.discover(mlp(3, 8, 2), normal(20000, 3), Linear(3))
    fixed = sym.defect_interval(sym.accumulated.solution.directions)
    torch.testing.assert_close(fixed, sym.intervals, rtol=0.02, atol=0.0)


@pytest.mark.slow
def test_the_interval_of_a_fixed_direction_covers():
    model, samples, repetitions = mlp(3, 8, 2), 200, 60
    fixed = torch.cat([liegg.so(3), normal(5, 3, 3, seed=9)])
    truth = liegg.discover(model, normal(200_000, 3, seed=99), Linear(3), controls="none").defect(
        fixed
    )
    covered = torch.zeros(len(fixed))
    for seed in range(repetitions):
        low, high = (
            liegg.discover(model, normal(samples, 3, seed=100 + seed), Linear(3))
            .defect_interval(fixed)
            .unbind(1)
        )
        covered += (low <= truth) & (truth <= high)
    share = covered / repetitions
    assert 0.9 <= float(share.mean()) <= 0.98
    assert bool((share >= 0.83).all())


# The number of symmetries.


def draws_of(lengths, *, blocks=20, samples=10, at_floor=0, seed=0):
    """Draws for a problem with exactly these defects, of normal rows and with a motion that does not vary."""
    k = len(lengths)
    rows = normal(blocks, samples, k, seed=seed)
    rows = (
        rows
        @ torch.linalg.inv(
            torch.linalg.cholesky(torch.einsum("pni,pnj->ij", rows, rows) / (blocks * samples))
        ).mT
        * lengths.sqrt()
    )
    motions = samples * torch.eye(k, dtype=torch.float64).repeat(blocks, 1, 1)
    ones = torch.full((blocks,), float(samples), dtype=torch.float64)
    moments = Moments(
        rows.mT @ rows, motions, rows.square().sum(1), motions.diagonal(dim1=1, dim2=2), ones, ones
    )
    return Bootstrap(
        moments=moments,
        lengths=lengths,
        sensitivity=1.0,
        weights=draw_blocks(blocks, 400, seed),
        above=torch.arange(at_floor + k) >= at_floor,
        directions=torch.eye(k, dtype=torch.float64),
        limit=math.inf,
    )


def sure(values, nullity, *, exact=0, thresholds=USUAL, **rest):
    lengths = torch.tensor(values, dtype=torch.float64)
    case = evidence(torch.cat([torch.zeros(exact, dtype=torch.float64), lengths]), floor=1e-27)
    return certainty(draws_of(lengths, at_floor=exact, **rest), case, nullity, thresholds)


@pytest.mark.parametrize(
    ("values", "exact", "nullity"),
    [
        ([1e-3, 2e-3, 1.0, 1.5], 0, 2),
        ([1e-3, 1.0, 1.5], 2, 3),
        ([0.6, 1.0, 1.4], 0, 0),
        ([0.6], 3, 3),
    ],
)
def test_a_clear_spectrum_is_sure_of_its_number(values, exact, nullity):
    found = sure(values, nullity, exact=exact)
    assert found.nullity == (nullity, nullity)
    assert found.support == 1.0
    assert (found.level, found.blocks, found.draws) == (0.95, 20, 100)


def test_a_defect_at_the_threshold_may_count_or_not():
    found = sure([0.0299, 1.0, 1.4], 1)
    assert found.nullity == (0, 1)
    assert 0.2 < found.support < 0.8


def test_a_gap_at_its_threshold_leaves_either_number_possible():
    """0.028 to 0.32 is a gap of 11.4 where 10 are needed, and 0.028 lies just below the threshold."""
    found = sure([0.002, 0.028, 0.32, 1.0], 2)
    assert found.nullity[0] < found.nullity[1]
    assert found.nullity[0] <= 2 <= found.nullity[1]


def test_the_other_side_adds_to_one():
    """Support of the number found and of the only other one."""
    one, none = (sure([0.0299, 1.0, 1.4], number).support for number in (1, 0))
    assert one + none == pytest.approx(1.0)


def test_a_higher_level_is_never_narrower():
    narrow, wide = (
        sure([0.0299, 0.8, 1.4], 1, thresholds=Thresholds(level=level)).nullity
        for level in (0.5, 0.99)
    )
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_the_angle_is_what_mixing_makes_it():
    """A defect of 1e-4 beside 1: rows of 200 samples are correlated by about 1/√200, which leans the direction by √(1e-4/200)."""
    found = sure([1e-4, 1.0], 1)
    assert 0.5 < found.angle / (2 * (1e-4 / 200) ** 0.5) < 2.0  # two standard errors, 95 %
    nearest = sure([1e-4, 1.0], 0).angle  # if none was found, that of the nearest
    assert nearest == pytest.approx(found.angle, rel=1e-12)
    assert sure([1.0], 3, exact=3).angle == 0.0  # nothing but exact ones: rounding does not turn


def test_more_samples_turn_less():
    few, many = (sure([0.01, 1.0, 1.2], 1, samples=samples).angle for samples in (10, 1000))
    assert 4 < few / many < 25


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_discover_is_sure_of_rotations(noise):
    case = norm_case(3)
    sym = liegg.discover(lambda x: square(x) + noise * x[:, 0], normal(400, 3), case.action)
    assert (sym.nullity, sym.decision.nullity_interval) == (3, (3, 3))
    assert sym.decision.certainty is not None
    assert sym.decision.certainty.support == 1.0
    if noise:
        exact = np.max(
            scipy.linalg.subspace_angles(
                sym.coefficients.mT.numpy(), liegg.so(3).flatten(1).mT.numpy()
            )
        )
        assert sym.decision.certainty.angle < 0.1
        assert exact < 0.1


# The span, and samples of unequal weight.


def test_the_mean_of_a_span_lies_in_its_interval_and_counts_exact_directions_as_zero():
    sym = liegg.discover(lambda x: square(x) + 0.3 * x[:, 0].sin(), normal(400, 3), Linear(3))
    draws, exact = bootstrap_of(sym), sym.decision.exact
    assert exact == 1
    alone = span_interval(draws, exact, level=0.95)
    assert alone.mean == 0.0
    assert np.isnan([alone.low, alone.high]).all()
    span = span_interval(draws, 3, level=0.95)
    assert span.mean == pytest.approx(float(sym.defects[1:3].sum()) / 3, rel=1e-9)
    assert span.low < span.mean < span.high
    wide = span_interval(draws, 3, level=0.99)
    assert wide.low < span.low < span.high < wide.high


def test_the_interval_of_one_direction_is_that_of_its_span():
    sym = liegg.discover(mlp(3, 8, 2), normal(2000, 3), Linear(3))
    span = span_interval(bootstrap_of(sym), 1, level=0.95)
    assert [span.low, span.high] == pytest.approx(sym.intervals[0].tolist(), rel=0.01)


def heavy(samples, exponent, seed=0):
    """Vectors whose sizes have the given tail exponent."""
    sizes = torch.rand(samples, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return normal(samples, 3, seed=seed) * sizes[:, None] ** (-1 / exponent)


def remarks(sym):
    return [as_remark(note).diagnosis for note in sym.notes]


def test_one_sample_that_carries_everything_leaves_no_interval():
    x = normal(300, 3)
    x[7] *= 1000
    sym = liegg.discover(lambda x: (1 + square(x)).sqrt() + 0.1 * x[:, 0], x, Linear(3))
    assert bool(sym.intervals.isnan().all())
    assert sym.decision.certainty is None
    assert remarks(sym) == [Diagnosis.DOMINATED]
    (note,) = sym.notes
    assert as_remark(note).values["effective"] == pytest.approx(1.0, rel=0.01)


def test_heavier_tails_make_wider_intervals_without_a_jump():
    """From tails of exponent 20 to 2, at 400 samples: the widths grow, and notes come last."""
    function = lambda x: (1 + square(x)).sqrt() + 0.3 * mlp(3, 8, 1)(x)[:, 0]  # noqa: E731
    found = [liegg.discover(function, heavy(400, e), Linear(3)) for e in (20.0, 6.0, 3.0, 2.0)]
    sizes = [float(widths(sym)[:3].mean()) for sym in found]
    assert sizes == sorted(sizes)
    assert not remarks(found[0])
    freedoms = [sym.accumulated.blocks.freedom for sym in found if sym.accumulated.blocks]
    assert freedoms == sorted(freedoms, reverse=True)


def test_fitted_directions_leave_fewer_degrees_of_freedom():
    """A quarter of the rows is fitted, or all of them; with three rows per sample, a twelfth."""
    found = SampleEvidence(dominance=0.05, effective=60.0)
    assert found.freedom == pytest.approx(10.0)
    assert residual_freedom(found, rows_per_sample=1.0, fitted=15) == pytest.approx(7.5)
    assert residual_freedom(found, rows_per_sample=3.0, fitted=15) == pytest.approx(55 / 6)
    assert residual_freedom(found, rows_per_sample=1.0, fitted=100) == LEAST_FREEDOM
    assert residual_freedom(SampleEvidence(), rows_per_sample=1.0, fitted=9) == math.inf
    few = SampleEvidence(dominance=0.9, effective=2.0)
    assert residual_freedom(few, rows_per_sample=1.0, fitted=9) == few.freedom


def test_samples_that_carry_the_motion_but_not_the_change_leave_no_interval():
    """The gradient of a logarithm is largest at short vectors; 1 % of the vectors, twenty times as long, carry the displacement."""
    logarithm = lambda x: (0.1 + square(x)).log() + 0.1 * mlp(3, 8, 1)(x)[:, 0]  # noqa: E731
    x = normal(500, 3)
    assert not remarks(liegg.discover(logarithm, x, Linear(3)))
    x = x.clone()
    x[::100] *= 20
    sym = liegg.discover(logarithm, x, Linear(3))
    assert sym.decision.certainty is None
    assert bool(sym.intervals.isnan().all())
    assert remarks(sym) == [Diagnosis.FEW_MOVE]


def test_the_motion_allows_degrees_of_freedom():
    """A sixth of the samples that move, fewer where other samples carry the sensitivity."""
    assert motion_freedom(60.0, 60.0) == pytest.approx(10.0)
    assert motion_freedom(60.0, 20.0) == pytest.approx(10.0)
    assert motion_freedom(60.0, 240.0) == pytest.approx(5.0)
    assert motion_freedom(60.0, math.inf) == math.inf
    # Blocks of Poisson many samples that move alike, and one block that carries all.
    alike = torch.poisson(torch.full((4000,), 3.0), generator=torch.Generator().manual_seed(0))
    assert effective_motion(alike.double()) == pytest.approx(12_000, rel=0.1)
    assert effective_motion(torch.eye(32, dtype=torch.float64)[0]) == pytest.approx(1.0)
    assert effective_motion(torch.ones(32, dtype=torch.float64)) == math.inf


def test_few_degrees_of_freedom_widen_count_and_angle_too():
    lengths = torch.tensor([0.02, 0.9, 1.2], dtype=torch.float64)
    case = evidence(lengths, floor=1e-27)
    usual = draws_of(lengths)
    few = dataclasses.replace(usual, limit=2.0)
    one, other = (certainty(draws, case, 1, USUAL) for draws in (usual, few))
    own = float(direction_freedoms(usual.moments, 1.0)[0])
    ratio = scipy.stats.t.ppf(0.975, 2) / scipy.stats.t.ppf(0.975, own)
    assert other.angle == pytest.approx(ratio * one.angle, rel=1e-9)
    assert other.nullity[0] <= one.nullity[0] <= one.nullity[1] <= other.nullity[1]
    assert other.support <= one.support


@pytest.mark.parametrize("outputs", [4, 16])
def test_random_combinations_are_noted_and_their_bias_is_inside_the_intervals(outputs):
    model = mlp(3, 16, 64)
    each, some = (
        liegg.discover(model, normal(300, 3), Linear(3), outputs=outputs)
        for outputs in ("each", outputs)
    )
    assert Diagnosis.RANDOM_COMBINATIONS not in remarks(each)
    assert Diagnosis.RANDOM_COMBINATIONS in remarks(some)
    low, high = some.intervals.unbind(1)
    assert bool(((low < each.defects) & (each.defects < high)).all())
