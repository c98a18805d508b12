"""What the blocks say against dense sums by numpy, for any direction and for draws of blocks."""

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import liegg
from cases import mlp, normal
from liegg.actions import Linear
from liegg.decision.bootstrap import resolve, usual_share
from liegg.polarization.sample_blocks import BlockAssigner, count_for
from liegg.polarization.sample_digest import sample_hashes
from oracle import fields, jacobians
from spectra import bootstrap_of


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
    "restricted": (mlp(3, 8, 2), Linear(3).restrict(liegg.algebra.sl(3)), None, torch.float64),
    "equivariance": (field_map, Linear(3), Linear(3), torch.float64),
    "restricted equivariance": (
        field_map,
        Linear(3).restrict(liegg.algebra.sl(3)),
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
    count = count_for(9 if output_action is None else 18)
    assigned = BlockAssigner(count).assign(0, sample_hashes(x)).numpy()
    block = np.unique(assigned, return_inverse=True)[1]  # empty blocks are left out
    return sym, rows, block, 1e-9 if dtype == torch.float64 else 1e-4


def test_every_block_says_what_its_samples_say(asked):
    sym, (changes, motions, eta), block, error = asked
    found = bootstrap_of(sym)
    assert bool(found.above.all())
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
    logs, _ = resolve(found.moments, found.lengths, found.sensitivity, found.weights[:3])
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
        again = (logs[draw].exp() * found.lengths).numpy()
        np.testing.assert_allclose(again, expected, rtol=max(1e-6, 10 * error))


# Directions that were fixed beforehand.


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
    count, weights = int(block.max()) + 1, draws.weights.numpy()
    a, m = (
        np.stack([np.square(part[block == p]).sum((0, 1)) for p in range(count)])
        for part in (changed, moved)
    )
    total, samples = draws.moments.total.numpy(), draws.moments.samples.numpy()
    kappa = (weights @ total) / (weights @ samples) / sym.accumulated.solution.sensitivity - 1
    logs = np.log((weights @ a) / (weights @ m)) - kappa[:, None]
    squares = np.square(changes).sum((1, 2))  # sensitivity of every sample
    effective = squares.sum() ** 2 / np.square(squares).sum()
    fitted = len(sym.defects) + (
        0 if eta is None else np.linalg.matrix_rank(eta.reshape(-1, eta.shape[2]))
    )
    left = 1 - fitted / (effective * changes.shape[1])
    freedom = min(
        count - 1, left * min(np.square(squares).sum() / np.square(squares).max(), effective / 6)
    )
    assert sym.accumulated.blocks.freedom == pytest.approx(freedom, rel=10 * error)
    own = a / a.mean(0) - m / m.mean(0)
    own -= ((total / sym.accumulated.solution.sensitivity - samples) / samples.mean())[:, None]
    largest = np.square(own).max(0) / np.square(own).sum(0)
    excess = np.maximum(largest - usual_share(count), 0) / (1 - usual_share(count))
    freedom = np.minimum(freedom, 1 / (1 / (count - 1) + excess * (1 - 1 / (count - 1))))
    half = logs.std(0, ddof=1) * np.sqrt(count / (count - 1)) * scipy.stats.t.ppf(0.975, freedom)
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
