"""Draws of blocks: solved against scipy and in closed form, the quantile against tables, the interval by what it covers."""

import dataclasses

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal
from liegg.decision.bootstrap import (
    Moments,
    direction_freedoms,
    draw_blocks,
    relative_interval,
    relative_span_interval,
    resolve,
    solve,
    span_angle,
    student_quantile,
    usual_share,
)


def moments_of(changes, motions, total=None):
    """What blocks of samples say, given the rows `[p, n, k]` of change and of motion in the basis of the solution."""
    samples = torch.full((len(changes),), float(changes.shape[1]), dtype=torch.float64)
    return Moments(
        changes.mT @ changes,
        motions.mT @ motions,
        changes.square().sum(1),
        motions.square().sum(1),
        samples if total is None else total,
        samples,
    )


def whitened(rows):
    """The rows in coordinates in which their mean square over all blocks is the identity."""
    return (
        rows
        @ torch.linalg.inv(
            torch.linalg.cholesky(torch.einsum("pni,pnj->ij", rows, rows) / rows[..., 0].numel())
        ).mT
    )


def problem(lengths, *, blocks=12, samples=10, seed=0):
    """Blocks whose sum has exactly the given lengths along the axes."""
    k = len(lengths)
    changes, motions = (whitened(normal(blocks, samples, k, seed=2 * seed + i)) for i in (0, 1))
    return moments_of(changes * lengths.sqrt(), motions)


def sums(moments, weights):
    """A_w and M_w as numpy, dense."""
    samples = float(weights @ moments.samples)
    return (
        np.asarray(torch.einsum("p,pkl->kl", weights, part)) / samples
        for part in (moments.changes, moments.motions)
    )


LENGTHS = torch.tensor([0.001, 0.02, 0.5, 1.0, 1.1], dtype=torch.float64)
SLOPE = torch.logspace(-20, 0, 6, dtype=torch.float64)


@pytest.mark.parametrize(
    "lengths",
    [LENGTHS, SLOPE, torch.ones(1, dtype=torch.float64)],
    ids=["usual", "20 decades", "one"],
)
def test_unit_weights_give_the_solution_back(lengths):
    moments = problem(lengths)
    logs, mixing = solve(moments, lengths, torch.ones(2, 12, dtype=torch.float64))
    torch.testing.assert_close(logs, torch.zeros_like(logs), rtol=0, atol=1e-8)
    # Directions are scaled to unit change: 1/√λ along their own axis, nothing along the others.
    own = mixing * lengths.sqrt()[:, None]
    torch.testing.assert_close(
        own.abs(), torch.eye(len(lengths), dtype=torch.float64).expand_as(own), rtol=0, atol=1e-6
    )


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_any_weights_against_scipy(seed, k):
    lengths = torch.linspace(0.1, 2.0, k, dtype=torch.float64)
    moments, weights = problem(lengths, seed=seed % 97), 0.2 + normal(3, 12, seed=seed).square()
    logs, mixing = solve(moments, lengths, weights)
    for one, own, weight in zip(logs, mixing, weights, strict=True):
        a, m = sums(moments, weight)
        values = scipy.linalg.eigh(a, m, eigvals_only=True)
        np.testing.assert_allclose(one.exp() * lengths, values, rtol=1e-7)
        h = np.asarray(own)
        np.testing.assert_allclose(h @ a @ h.T, np.eye(k), atol=1e-7)
        np.testing.assert_allclose(h @ m @ h.T, np.diag(1 / values), atol=1e-7 / values[0])


@pytest.mark.parametrize("decades", [8, 20, 28])
def test_small_lengths_keep_their_digits_beside_large_ones_and_large_beside_small(decades):
    """Against sixty digits; float64 alone knows nothing of the large values once the ratio is 1e16."""
    lengths = torch.logspace(-decades, 0, 5, dtype=torch.float64)
    moments, weights = problem(lengths), draw_blocks(12, 2, 1)
    logs, mixing = solve(moments, lengths, weights)
    for one, own, weight in zip(logs, mixing, weights, strict=True):
        a, m = sums(moments, weight)
        np.testing.assert_allclose(one.exp() * lengths, precise_values(a, m), rtol=1e-8)
        h = np.asarray(own)
        changed, moved = np.einsum("ik,kl,il->i", h, a, h), np.einsum("ik,kl,il->i", h, m, h)
        np.testing.assert_allclose(changed / moved, precise_values(a, m), rtol=1e-4)


@pytest.mark.parametrize("decades", [2, 20])
def test_lengths_do_not_depend_on_whether_directions_are_asked_for(decades):
    """By eigenvalues for a narrow spectrum, by singular values for a wide one."""
    lengths = torch.logspace(-decades, 0, 5, dtype=torch.float64)
    moments, weights = problem(lengths), draw_blocks(12, 20, 1)
    logs, mixing = solve(moments, lengths, weights)
    assert mixing.shape == (20, 5, 5)
    for count in (0, 1, 3):
        alone, first = solve(moments, lengths, weights, directions=count)
        torch.testing.assert_close(alone, logs, rtol=0, atol=1e-9)
        assert first.shape == (20, count, 5)
        signs = (first * mixing[:, :count]).sum(2, keepdim=True).sign()
        torch.testing.assert_close(signs * first, mixing[:, :count], rtol=1e-6, atol=1e-7)


def precise_values(a, m):
    """Generalised eigenvalues, ascending."""
    with mpmath.workdps(60):
        half = mpmath.cholesky(mpmath.matrix(m.tolist())) ** -1
        return sorted(
            float(value)
            for value in mpmath.eigsy(half * mpmath.matrix(a.tolist()) * half.T, eigvals_only=True)
        )


def test_a_draw_with_too_few_samples_stays_finite():
    """Three samples in four directions: neither sum has full rank."""
    lengths = torch.tensor([0.1, 0.5, 1.0, 2.0], dtype=torch.float64)
    moments = problem(lengths, blocks=6, samples=3)
    weights = torch.zeros(2, 6, dtype=torch.float64)
    weights[0, 0] = weights[1, 3] = 6.0
    logs, mixing = solve(moments, lengths, weights)
    assert bool(torch.isfinite(logs).all())
    assert bool(torch.isfinite(mixing).all())


# Draws.


@given(blocks=st.integers(2, 40), draws=st.integers(1, 50), seed=st.integers(0, 2**40))
@settings(max_examples=40, deadline=None)
def test_as_many_blocks_are_drawn_as_there_are(blocks, draws, seed):
    weights = draw_blocks(blocks, draws, seed)
    assert weights.shape == (draws, blocks)
    assert torch.equal(weights.sum(1), torch.full((draws,), float(blocks), dtype=torch.float64))
    assert torch.equal(weights, weights.round())
    assert bool((weights >= 0).all())
    assert torch.equal(weights, draw_blocks(blocks, draws, seed))


def test_draws_are_multinomial():
    """Mean 1, variance 1 - 1/p, covariance -1/p between two blocks."""
    weights = draw_blocks(8, 40000, 3)
    cov = torch.cov(weights.mT)
    torch.testing.assert_close(
        weights.mean(0), torch.ones(8, dtype=torch.float64), rtol=0, atol=0.03
    )
    torch.testing.assert_close(cov, torch.eye(8, dtype=torch.float64) - 1 / 8, rtol=0, atol=0.03)


def test_other_seeds_give_other_draws_and_the_callers_generator_is_left_alone():
    before = torch.get_rng_state()
    assert not torch.equal(draw_blocks(12, 20, 0), draw_blocks(12, 20, 1))
    assert torch.equal(torch.get_rng_state(), before)


def test_replicates_are_defects_in_units_of_each_draw():
    """Fixed directions by hand, solved ones from `solve`; both over the first-order κ of the draw."""
    changes, motions = (
        whitened(normal(12, 10, 4)) * LENGTHS[:4].sqrt(),
        whitened(normal(12, 10, 4, seed=1)),
    )
    every = moments_of(changes, motions, 1.0 + 0.1 * normal(12, seed=2))
    some = Moments(
        every.changes[:, :2, :2],
        every.motions[:, :2, :2],
        every.change,
        every.motion,
        every.total,
        every.samples,
    )
    weights, kappa = draw_blocks(12, 30, 0), float(every.total.sum() / every.samples.sum())
    logs, mixing = resolve(some, LENGTHS[:4], kappa, weights)
    first_order = (weights @ every.total) / (weights @ every.samples) / kappa - 1
    fixed = ((weights @ every.change) / (weights @ every.motion) / LENGTHS[:4]).log()
    torch.testing.assert_close(
        logs[:, 2:], (fixed - first_order[:, None])[:, 2:], rtol=1e-12, atol=1e-12
    )
    torch.testing.assert_close(
        logs[:, :2], solve(some, LENGTHS[:2], weights)[0] - first_order[:, None]
    )
    assert mixing.shape == (30, 2, 2)


def test_a_mean_sensitivity_that_would_turn_negative_leaves_numbers():
    """One block holds nearly all motion and little change, as an outlier under a saturating model: κ to first order is negative."""
    moments = problem(LENGTHS)
    total = torch.full((12,), 10.0, dtype=torch.float64)
    total[0] = -50.0
    heavy = Moments(
        moments.changes, moments.motions, moments.change, moments.motion, total, moments.samples
    )
    weights, kappa = draw_blocks(12, 100, 0), float(total.sum() / moments.samples.sum())
    assert float((weights @ total).min()) < 0
    assert bool(torch.isfinite(resolve(heavy, LENGTHS, kappa, weights)[0]).all())
    ends = relative_interval(heavy, LENGTHS, kappa, weights, level=0.95)
    assert bool(((ends > 1e-6) & (ends < 1e6)).all())


# Quantile.


def test_quantiles_are_those_of_printed_tables():
    table = {
        (0.95, 1): 12.706,
        (0.95, 4): 2.776,
        (0.9, 4): 2.132,
        (0.95, 31): 2.040,
        (0.5, 2): 0.816,
    }
    for (level, freedom), value in table.items():
        assert student_quantile(level, float(freedom)) == pytest.approx(value, abs=6e-4), (
            level,
            freedom,
        )
    assert student_quantile(0.95, 1e6) == pytest.approx(1.959964, rel=1e-5)  # the normal one


# Interval.


def test_the_interval_of_one_direction_is_that_of_a_ratio_of_means():
    """With one direction and a constant κ nothing is chosen: the log of a mean over blocks, ± t times its standard error."""
    values = torch.exp(0.2 * normal(16))
    values = values / values.mean()
    ones = torch.ones(16, dtype=torch.float64)
    moments = Moments(
        values[:, None, None], ones[:, None, None], values[:, None], ones[:, None], ones, ones
    )
    low, high = (
        relative_interval(
            moments, torch.ones(1, dtype=torch.float64), 1.0, draw_blocks(16, 20000, 0), level=0.9
        )[0]
        .log()
        .tolist()
    )
    freedom = freedom_by_hand(values, ones)
    half = float(scipy.stats.t.ppf(0.95, freedom)) * float(values.std()) / 4
    assert (low + high) / 2 == pytest.approx(0.0, abs=0.05 * half)
    assert (high - low) / 2 == pytest.approx(half, rel=0.03)


def test_the_interval_is_wider_at_a_higher_level_and_with_fewer_samples():
    moments, weights = problem(LENGTHS, samples=40), draw_blocks(12, 400, 0)
    low, high = (
        relative_interval(moments, LENGTHS, 1.0, weights, level=level) for level in (0.5, 0.95)
    )
    assert bool((high[:, 0] < low[:, 0]).all())
    assert bool((high[:, 1] > low[:, 1]).all())
    more = relative_interval(problem(LENGTHS, samples=4000), LENGTHS, 1.0, weights, level=0.95)
    ratio = (high[:, 1] / high[:, 0]).log() / (more[:, 1] / more[:, 0]).log()
    assert bool(((ratio > 4) & (ratio < 25)).all())  # 100 times the samples: a tenth of the width


@pytest.mark.parametrize("power", [-30, 30])
def test_the_interval_is_relative(power):
    """Neither the units of the output nor those of the motion matter."""
    scale = 2.0**power
    moments, weights = problem(LENGTHS), draw_blocks(12, 50, 0)
    scaled = Moments(
        moments.changes * scale,
        moments.motions,
        moments.change * scale,
        moments.motion,
        moments.total * scale,
        moments.samples,
    )
    one, other = (
        relative_interval(moments, LENGTHS, 1.0, weights, level=0.95),
        relative_interval(scaled, LENGTHS * scale, scale, weights, level=0.95),
    )
    torch.testing.assert_close(one, other, rtol=1e-9, atol=0)


def test_the_interval_covers():
    """Rows of normal numbers with variances λ, motion and κ known: the true defect of every direction is λ.

    The smallest direction is chosen among four on 120 samples; two of them lie close together, which makes the choice matter.
    """
    truth, blocks, samples, repetitions = (
        torch.tensor([0.10, 0.14, 1.0, 1.5], dtype=torch.float64),
        20,
        6,
        300,
    )
    weights = draw_blocks(blocks, 200, 0)
    rows = normal(repetitions, blocks, samples, 4, seed=5) * truth.sqrt()
    covered = torch.zeros(4)
    ones = torch.full((blocks,), float(samples), dtype=torch.float64)
    for one in rows:
        a = torch.einsum("pni,pnj->ij", one, one) / (blocks * samples)
        lengths, vectors = torch.linalg.eigh(a)
        moved = one @ vectors
        motions = samples * torch.eye(4, dtype=torch.float64).expand(blocks, 4, 4)
        moments = Moments(
            moved.mT @ moved,
            motions,
            moved.square().sum(1),
            motions.diagonal(dim1=1, dim2=2),
            ones,
            ones,
        )
        ends = relative_interval(moments, lengths, 1.0, weights, level=0.95) * lengths[:, None]
        covered += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    share = covered / repetitions
    assert 0.88 <= float(share[0]) <= 0.99
    assert bool((share >= 0.88).all())
    assert bool((share <= 0.995).all())


# Angle of the span.


@given(seed=st.integers(0, 10**6), number=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_the_angle_is_the_largest_principal_angle(seed, number):
    directions, mixing = normal(4, 7, seed=seed), normal(9, 4, 4, seed=seed + 1)
    angles = [
        np.max(
            scipy.linalg.subspace_angles(
                directions[:number].mT.numpy(), (m[:number] @ directions).mT.numpy()
            )
        )
        for m in mixing
    ]
    for level in (0.0, 0.5, 1.0):
        expected = np.arcsin(np.quantile(np.sin(angles), level))
        angle = span_angle(mixing, directions, number, level=level)
        assert angle == pytest.approx(expected, abs=1e-7)


def test_the_same_span_in_another_basis_has_no_angle():
    directions = normal(3, 6)
    mixing = torch.eye(3, dtype=torch.float64).repeat(5, 1, 1)
    mixing[:, :2, :2] = normal(5, 2, 2, seed=1)
    assert span_angle(mixing, directions, 2, level=1.0) < 1e-7
    assert span_angle(mixing, directions, 1, level=1.0) > 0.01


def test_no_directions_have_no_angle():
    assert span_angle(normal(5, 3, 3), normal(3, 6), 0, level=0.95) == 0.0


def test_a_small_angle_is_told_from_none():
    """Directions that lean by a known angle of 1e-9: an arc cosine would lose it."""
    mixing = torch.eye(2, dtype=torch.float64).repeat(3, 1, 1)
    mixing[:, 0, 1] = 1e-9
    angle = span_angle(mixing, torch.eye(2, 5, dtype=torch.float64), 1, level=1.0)
    assert angle == pytest.approx(1e-9, rel=1e-6)


def test_the_interval_by_hand():
    """By scipy: every block along the directions that the other blocks choose, of unit change.

    The interval is centred half way to what was found, and as wide as draws and that bias make it.
    """
    lengths = torch.tensor([0.5, 0.8, 1.3], dtype=torch.float64)
    moments, weights = problem(lengths), draw_blocks(12, 400, 0)
    change, motion = np.zeros((12, 3)), np.zeros((12, 3))
    for block in range(12):
        others = torch.ones(12, dtype=torch.float64)
        others[block] = 0.0
        values, vectors = scipy.linalg.eigh(*sums(moments, others))
        vectors = vectors / np.sqrt(values)
        change[block] = np.diag(vectors.T @ moments.changes[block].numpy() @ vectors)
        motion[block] = np.diag(vectors.T @ moments.motions[block].numpy() @ vectors)
    crossed = np.log(change.sum(0) / motion.sum(0) / lengths.numpy())
    assert crossed[0] > 0.02  # the smallest is biased downwards on the samples that chose it
    draws = np.log((weights.numpy() @ change) / (weights.numpy() @ motion))
    own = [freedom_by_hand(moments.change[:, i], moments.motion[:, i]) for i in range(3)]
    spread = draws.std(0, ddof=1) * np.sqrt(12 / 11) * scipy.stats.t.ppf(0.975, own)
    ends = relative_interval(moments, lengths, 1.0, weights, level=0.95).log().numpy()
    np.testing.assert_allclose(ends.mean(1), crossed / 2, rtol=0, atol=1e-6)
    np.testing.assert_allclose((ends[:, 1] - ends[:, 0]) / 2, np.hypot(spread, crossed), rtol=1e-6)


# The mean defect of a span.


def freedom_by_hand(change, motion):
    """Degrees of freedom for blocks of equal size and equal mean sensitivity, by numpy."""
    change, motion = change.numpy(), motion.numpy()
    influence = np.square(change / change.mean() - motion / motion.mean())
    p, share = len(change), influence.max() / influence.sum()
    usual = scipy.stats.gumbel_r.ppf(0.5, 2 * np.log(p) - np.log(np.log(p)) - np.log(np.pi), 2) / p
    return 1 / (1 / (p - 1) + max(share - usual, 0) / (1 - usual) * (1 - 1 / (p - 1)))


def test_a_block_that_carries_a_direction_leaves_it_hardly_a_degree_of_freedom():
    """Along the first direction one block changes far more than all others; along the second all change alike."""
    lengths = torch.tensor([0.5, 0.8], dtype=torch.float64)
    moments = problem(lengths)
    change = moments.change.clone()
    change[:, 0] = change[:, 0] / change[:, 0].max()
    change[3, 0] = 1e9
    change[:, 1] = torch.linspace(0.9, 1.1, 12, dtype=torch.float64)
    moments = dataclasses.replace(moments, change=change, motion=torch.ones_like(change))
    found = direction_freedoms(moments, 1.0)
    # The others then lie at -1 together, so that the share of the one is 11²/(11² + 11).
    share, usual = 121 / 132, usual_share(12)
    expected = 1 / (1 / 11 + (share - usual) / (1 - usual) * (1 - 1 / 11))
    assert float(found[0]) == pytest.approx(expected, rel=0.01)
    assert float(found[1]) == pytest.approx(11.0)
    limited = direction_freedoms(moments, 1.0, limit=3.0)
    assert float(limited.max()) == 3.0


def test_the_usual_share_of_the_largest_block_is_a_median():
    """Of normal variables, by simulation; the limit law of Gumbel is a little high for so few."""
    for blocks in (12, 32):
        z = np.square(np.random.default_rng(0).standard_normal((20_000, blocks)))
        assert usual_share(blocks) == pytest.approx(np.median(z.max(1) / z.sum(1)), rel=0.1)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_interval_of_a_span_by_hand(number):
    """By scipy: every block along the span that the other blocks choose, in a basis of unit motion there."""
    lengths = torch.tensor([0.5, 0.5, 1.3], dtype=torch.float64)
    moments, weights = problem(lengths), draw_blocks(12, 400, 0)
    change, motion = np.zeros(12), np.zeros(12)
    for block in range(12):
        others = torch.ones(12, dtype=torch.float64)
        others[block] = 0.0
        _, vectors = scipy.linalg.eigh(*sums(moments, others))
        basis = vectors[:, :number]
        change[block] = np.trace(basis.T @ moments.changes[block].numpy() @ basis)
        motion[block] = np.trace(basis.T @ moments.motions[block].numpy() @ basis)
    crossed = np.log(change.sum() / motion.sum() / float(lengths[:number].mean()))
    draws = np.log((weights.numpy() @ change) / (weights.numpy() @ motion))
    own = freedom_by_hand(*(part[:, :number].sum(1) for part in (moments.change, moments.motion)))
    for limit in (11.0, 3.0):
        spread = draws.std(ddof=1) * np.sqrt(12 / 11) * scipy.stats.t.ppf(0.975, min(limit, own))
        ends = relative_span_interval(
            moments, lengths, 1.0, weights, number=number, level=0.95, limit=limit
        ).log()
        assert float(ends.mean()) == pytest.approx(crossed / 2, abs=1e-6)
        half = float(ends[1] - ends[0]) / 2
        assert half == pytest.approx(np.hypot(spread, crossed), rel=1e-6)


def test_a_span_does_not_depend_on_the_basis_of_ties():
    """Two directions of equal defect, rotated by any angle: single intervals change, that of the span does not."""
    lengths, weights = torch.tensor([0.5, 0.5, 1.3], dtype=torch.float64), draw_blocks(12, 400, 0)
    one = problem(lengths)
    turn = torch.eye(3, dtype=torch.float64)
    turn[:2, :2] = torch.tensor([[0.6, -0.8], [0.8, 0.6]])
    changes, motions = (turn @ part @ turn.mT for part in (one.changes, one.motions))
    other = Moments(
        changes,
        motions,
        changes.diagonal(dim1=1, dim2=2),
        motions.diagonal(dim1=1, dim2=2),
        one.total,
        one.samples,
    )
    spans = [
        relative_span_interval(moments, lengths, 1.0, weights, number=2, level=0.95)
        for moments in (one, other)
    ]
    torch.testing.assert_close(spans[0], spans[1], rtol=1e-8, atol=0.0)


def test_fewer_degrees_of_freedom_are_wider_by_students_quantiles():
    lengths, weights = torch.tensor([0.5, 0.8], dtype=torch.float64), draw_blocks(12, 400, 0)
    moments = problem(lengths)
    crossed = relative_interval(moments, lengths, 1.0, weights, level=0.95).log().sum(1)
    halves = {}
    for limit in (11.0, 2.0):
        ends = relative_interval(moments, lengths, 1.0, weights, level=0.95, limit=limit).log()
        halves[limit] = (((ends[:, 1] - ends[:, 0]) / 2).square() - crossed.square()).sqrt()
    own = [freedom_by_hand(moments.change[:, i], moments.motion[:, i]) for i in range(len(lengths))]
    expected = scipy.stats.t.ppf(0.975, np.minimum(own, 2)) / scipy.stats.t.ppf(0.975, own)
    torch.testing.assert_close(
        halves[2.0] / halves[11.0], torch.from_numpy(expected), rtol=1e-6, atol=0.0
    )
