"""How sure the answer is: what the blocks say against dense sums, and intervals on data where the answer is known."""

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import liegg
from cases import mlp, norm_case, normal, square
from liegg.actions import Linear
from liegg._utils.diagnoses import Diagnosis
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.bootstrap import Moments, draw_blocks
from liegg.decision.intervals import Bootstrap, bootstrap, certainty
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.polarization.sample_blocks import FEWEST, count_for
from oracle import fields, jacobians

USUAL = Thresholds(
    threshold=0.03, minimum_gap=10.0, resolution=1e-4, strong=1e-3, weak=0.5, clear=0.3
)


def bootstrap_of(sym):
    """The draws of a result, made again from its blocks."""
    total = sym.accumulated
    return bootstrap(total.blocks, total.solution, floor=sym.decision.floor, seed=total.seed)


def field_map(x):
    """Nearly equivariant under rotations."""
    return x * (1 + x.square().sum(1, keepdim=True)) + 0.3 * x.roll(1, 1).square()


def dense(function, x, generators, output_generators=None):
    """Rows of change `[b, c, g]` and of motion `[b, n, g]` of the generators, and of the output generators `[b, c, m]`."""
    jacobian, xi = jacobians(function, x), fields(x.numpy(), generators.numpy())
    changes = np.einsum("bcp,bgp->bcg", jacobian, xi)
    eta = (
        None
        if output_generators is None
        else fields(function(x).numpy(), output_generators.numpy()).swapaxes(1, 2)
    )
    return changes, xi.swapaxes(1, 2), eta


EVERY = torch.eye(9, dtype=torch.float64).reshape(9, 3, 3)
QUESTIONS = {
    "invariance": (mlp(3, 8, 2), Linear(3), None, torch.float64),
    "squared": (mlp(3, 8, 2, dtype=torch.float32), Linear(3), None, torch.float32),
    "restricted": (mlp(3, 8, 2), Linear(3).restrict(liegg.sl(3)), None, torch.float64),
    "equivariance": (field_map, Linear(3), Linear(3), torch.float64),
    "restricted equivariance": (
        field_map,
        Linear(3).restrict(liegg.sl(3)),
        Linear(3),
        torch.float64,
    ),
}


@pytest.fixture(scope="module", params=QUESTIONS)
def asked(request):
    """A question with its answer, the dense rows, and the block of every sample."""
    function, action, output_action, dtype = QUESTIONS[request.param]
    x = normal(130, 3).to(dtype)
    sym = liegg.discover(function, x, action, output_action=output_action)
    double = function if dtype == torch.float64 else mlp(3, 8, 2, dtype=torch.float64)
    if dtype != torch.float64:
        double.load_state_dict(function.state_dict())
    rows = dense(double, x.double(), EVERY, None if output_action is None else EVERY)
    block = np.arange(130) % count_for(9 if output_action is None else 18)
    return sym, rows, block, 1e-9 if dtype == torch.float64 else 1e-4


def test_every_block_says_what_its_samples_say(asked):
    sym, (changes, motions, eta), block, error = asked
    found = bootstrap_of(sym)
    assert found is not None
    assert found.at_floor == 0
    h = sym.accumulated.solution.directions.numpy()
    outer = (
        sym.action.matrices(sym.accumulated.solution.directions).flatten(1).numpy()
    )  # coefficients in all matrices
    moved = motions @ outer.T
    length = np.sqrt(np.square(moved).sum((0, 1)) / len(block))
    changed = changes @ outer.T
    if eta is not None:
        partner = (
            sym.output_action.matrices(
                sym.accumulated.partners(sym.accumulated.solution.directions)
            )
            .flatten(1)
            .numpy()
        )
        changed = changed - eta @ partner.T
    moved, changed = moved / length, changed / length
    np.testing.assert_allclose(
        found.directions.numpy(), h / length[:, None], rtol=error, atol=error
    )
    for number in range(block.max() + 1):
        own = block == number
        a, m = (np.einsum("bcg,bch->gh", part[own], part[own]) for part in (changed, moved))
        scale = np.sqrt(np.outer(np.diag(a), np.diag(a))).max()
        np.testing.assert_allclose(
            found.moments.changes[number], a, rtol=0, atol=10 * error * scale
        )
        np.testing.assert_allclose(
            found.moments.motions[number], m, rtol=0, atol=10 * error * np.abs(m).max()
        )
        np.testing.assert_allclose(
            found.moments.change[number], np.diag(a), rtol=0, atol=10 * error * scale
        )
        np.testing.assert_allclose(
            found.moments.motion[number], np.diag(m), rtol=0, atol=10 * error * np.abs(m).max()
        )
        assert found.moments.samples[number] == own.sum()


def test_the_blocks_sum_to_the_solution(asked):
    """Unit motion, and the lengths on the diagonal: in this basis the pair is solved."""
    sym, _, _, error = asked
    found = bootstrap_of(sym)
    a, m = (part.sum(0) / sym.samples for part in (found.moments.changes, found.moments.motions))
    torch.testing.assert_close(m, torch.eye(len(m), dtype=torch.float64), rtol=0, atol=1e-8)
    torch.testing.assert_close(
        a, torch.diag(found.lengths), rtol=0, atol=10 * error * float(found.lengths[-1])
    )
    torch.testing.assert_close(found.lengths, sym.defects * sym.accumulated.solution.sensitivity)


def test_the_mean_sensitivity_is_right_to_first_order(asked):
    """Against differences of κ = tr(M⁻¹A)/9 of all matrices, the weight of one block raised and lowered."""
    sym, (changes, motions, _), block, error = asked
    found, step = bootstrap_of(sym), 1e-4

    def kappa(number, change):
        weight = 1 + change * (block == number)
        a, m = (
            np.einsum("b,bcg,bch->gh", weight, part, part) / weight.sum()
            for part in (changes, motions)
        )
        return np.trace(np.linalg.solve(m, a)) / 9

    assert found.sensitivity == pytest.approx(kappa(0, 0.0), rel=error)
    assert float(found.moments.total.sum() / found.moments.samples.sum()) == pytest.approx(
        found.sensitivity, rel=error
    )
    for number in range(0, block.max() + 1, 5):
        weights = torch.ones(2, block.max() + 1, dtype=torch.float64)
        weights[:, number] += torch.tensor([step, -step])
        high, low = (weights @ found.moments.total) / (weights @ found.moments.samples)
        slope = (kappa(number, step) - kappa(number, -step)) / (2 * step)
        assert float(high - low) / (2 * step) == pytest.approx(
            slope, rel=max(1e-5, 100 * error), abs=100 * error
        )


def test_draws_are_those_of_the_problem_solved_again(asked):
    """A draw of blocks is data like any other: its defects by scipy, over the first-order κ."""
    sym, (changes, motions, eta), block, error = asked
    found = bootstrap_of(sym)
    unit = torch.eye(sym.action.size, dtype=torch.float64)
    basis = sym.action.matrices(unit).flatten(1).numpy()
    if (
        eta is not None
    ):  # partners are held fixed between draws: what is left of the rows after them, in all matrices
        partner = sym.output_action.matrices(sym.accumulated.partners(unit)).flatten(1).numpy()
        changes = (changes @ basis.T - eta @ partner.T) @ basis
    for draw in range(3):
        weight = found.weights[draw].numpy()[block]
        a, m = (
            np.einsum("b,bcg,bch->gh", weight, part @ basis.T, part @ basis.T) / weight.sum()
            for part in (changes, motions)
        )
        kappa = float(
            (found.weights[draw] @ found.moments.total)
            / (found.weights[draw] @ found.moments.samples)
        )
        expected = scipy.linalg.eigh(a, m, eigvals_only=True) * np.exp(
            1 - kappa / found.sensitivity
        )
        again = (found.replicates.logs[draw].exp() * found.lengths).numpy()
        np.testing.assert_allclose(again, expected, rtol=max(1e-6, 10 * error))


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
    once = liegg.discover(model, x, Linear(3))
    grouped = liegg.discover(
        model,
        x.repeat_interleave(4, dim=0),
        Linear(3),
        groups=torch.arange(320).repeat_interleave(4),
    )
    torch.testing.assert_close(grouped.defects, once.defects, rtol=1e-10, atol=0.0)
    torch.testing.assert_close(grouped.intervals, once.intervals, rtol=1e-8, atol=0.0)


def test_copies_that_are_not_said_to_be_copies_make_intervals_half_as_wide():
    """Four times the data, as it seems: half the width. A single data set scatters by a fifth around it (1.8 to 2.4 of 16), so the
    mean of eight is asked for. Copies in a row would scatter more: dealt in turn, they fill 32 blocks with eight different ones.
    """
    model, ratios = mlp(3, 8, 2), []
    for seed in range(8):
        order = torch.randperm(1280, generator=torch.Generator().manual_seed(seed))
        copies, labels = (
            normal(320, 3, seed=seed).repeat_interleave(4, dim=0)[order],
            (torch.arange(1280) // 4)[order],
        )
        alone, grouped = (
            liegg.discover(model, copies, Linear(3), groups=groups) for groups in (None, labels)
        )
        ratios.append((widths(grouped) / widths(alone)).log().mean())
    assert float(torch.stack(ratios).mean().exp()) == pytest.approx(2.0, rel=0.2)


def test_directions_at_the_floor_have_no_interval():
    sym = liegg.discover(square, normal(200, 3), Linear(3))
    assert bool(sym.intervals[:3].isnan().all())
    assert bool(sym.intervals[3:].isfinite().all())
    draws, sure = bootstrap_of(sym), sym.decision.certainty
    assert draws is not None
    assert sure is not None
    assert (draws.at_floor, sure.angle) == (3, 0.0)


@pytest.mark.parametrize(
    ("samples", "groups"),
    [(FEWEST - 1, None), (200, [i % (FEWEST - 1) for i in range(200)])],
    ids=["samples", "groups"],
)
def test_too_few_blocks_make_no_interval(samples, groups):
    sym = liegg.discover(mlp(2, 8, 1), normal(samples, 2), Linear(2), groups=groups)
    assert sym.accumulated.blocks is None
    assert sym.decision.certainty is None
    assert bool(sym.intervals.isnan().all())
    (note,) = sym.notes
    assert note.diagnosis is Diagnosis.FEW_BLOCKS
    assert note.values == {"blocks": FEWEST - 1, "needed": FEWEST}


def test_just_enough_blocks_make_one():
    sym = liegg.discover(
        mlp(2, 8, 1), normal(200, 2), Linear(2), groups=[i % FEWEST for i in range(200)]
    )
    assert sym.decision.certainty is not None
    assert sym.decision.certainty.blocks == FEWEST
    assert bool(sym.intervals.isfinite().all())


def test_a_constant_model_has_nothing_to_draw():
    sym = liegg.discover(lambda x: 0 * x.sum(1), normal(50, 2), Linear(2))
    assert sym.accumulated.blocks is bootstrap_of(sym) is None


def test_seeds_decide_the_draws_and_nothing_else_does():
    model, x = mlp(3, 8, 2), normal(200, 3)
    one, same, other = (liegg.discover(model, x, Linear(3), seed=seed) for seed in (5, 5, 6))
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


def test_the_interval_of_any_direction_is_that_of_a_ratio_over_the_blocks(asked):
    """By numpy from the dense rows: the spread of log(change / motion) over the draws, κ to first order, Student's quantile."""
    sym, (changes, motions, eta), block, error = asked
    h = normal(4, sym.action.size, seed=4)
    generators = sym.action.matrices(h)
    flat = generators.flatten(1).numpy()
    moved, changed = motions @ flat.T, changes @ flat.T
    if eta is not None:
        changed = (
            changed
            - eta @ sym.output_action.matrices(sym.accumulated.partners(h)).flatten(1).numpy().T
        )
    draws = bootstrap_of(sym)
    assert draws is not None
    count, weights = block.max() + 1, draws.weights.numpy()
    a, m = (
        np.stack([np.square(part[block == p]).sum((0, 1)) for p in range(count)])
        for part in (changed, moved)
    )
    total, samples = draws.moments.total.numpy(), draws.moments.samples.numpy()
    kappa = (weights @ total) / (weights @ samples) / sym.accumulated.solution.sensitivity - 1
    logs = np.log((weights @ a) / (weights @ m)) - kappa[:, None]
    half = logs.std(0, ddof=1) * np.sqrt(count / (count - 1)) * scipy.stats.t.ppf(0.975, count - 1)
    middle = a.sum(0) / m.sum(0) / sym.accumulated.solution.sensitivity
    expected = np.stack([middle * np.exp(-half), middle * np.exp(half)], 1)
    np.testing.assert_allclose(
        sym.defect_interval(generators), expected, rtol=max(1e-4, 10 * error)
    )
    np.testing.assert_allclose(sym.defect(generators), middle, rtol=10 * error)


@given(seed=st.integers(0, 10**6), size=st.floats(0.01, 100))
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_neither_size_nor_sign_of_a_generator_matters(asked, seed, size):
    generators = asked[0].action.matrices(normal(2, asked[0].action.size, seed=seed))
    one, other = asked[0].defect_interval(generators), asked[0].defect_interval(-size * generators)
    torch.testing.assert_close(one, other, rtol=1e-9, atol=0.0)


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
    fixed = sym.defect_interval(sym.action.matrices(sym.accumulated.solution.directions))
    torch.testing.assert_close(fixed, sym.intervals, rtol=0.02, atol=0.0)


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
        blocks=BlockStatistics(rows, motions, ones, ones, squared=False),
        moments=moments,
        lengths=lengths,
        sensitivity=1.0,
        weights=draw_blocks(blocks, 400, seed),
        at_floor=at_floor,
        directions=torch.eye(k, dtype=torch.float64),
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
