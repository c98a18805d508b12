"""How rows scatter by rounding: by hand, against dense rows, and what the floor makes of it."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.actions import Linear
from liegg.algebra import catalog
from liegg.inputs.model import Model, eval_view
from liegg.inputs.probe import probe
from liegg.polarization.plan import Plan
from liegg.polarization.rounding_noise import EXCUSED, SCATTER_SAMPLES, measured_floor, scatter
from liegg.polarization.rows import plan
from liegg.studies.error_rates.cases import product
from liegg.studies.error_rates.symmetric import exact

HALF = 2.0**-7


def scattered(function, x, action, *, unit, **rest):
    with torch.no_grad(), eval_view(function) as model:
        model = probe(model, x)
        return scatter(model, action, x, plan(model, action, x), unit=unit, **rest)


def test_one_number_by_hand():
    """The row of x² under x ∂ₓ is 2a², and at a(1 ± u) it is 2a²(1 ± u)²: the difference is one of two."""
    a, u = 3.0, 0.25
    found = scattered(torch.square, torch.full((1, 1), a, dtype=torch.float64), Linear(1), unit=u)
    possible = [2 * a * a * abs((1 + sign * u) ** 2 - 1) / math.sqrt(2) for sign in (1, -1)]
    assert float(found.r) in [pytest.approx(value, rel=1e-12) for value in possible]
    outputs = [(a * a * ((1 + sign * u) ** 2 - 1)) ** 2 / 2 for sign in (1, -1)]
    assert found.tremor in [pytest.approx(value, rel=1e-12) for value in outputs]
    assert (found.samples, found.spread, found.constant) == (1, 0.0, True)


def rings(x):
    """A function of all inner products of two vectors in R³: so(3) and nothing else."""
    one, two = x[:, :3], x[:, 3:]
    parts = [(one * one).sum(1), (one * two).sum(1), (two * two).sum(1)]
    return torch.stack([torch.tanh(parts[0] / 3 + parts[1]), torch.sin(parts[2] - parts[1])], dim=1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_along_a_symmetry_rounding_is_all_there_is_and_along_others_next_to_nothing(dtype):
    """The rows of a symmetry by reverse derivatives of the model itself, one sample after the other, contracted in float64."""
    x, unit = normal(256, 6, seed=1).to(dtype), torch.finfo(dtype).eps
    r = scattered(rings, x, Linear(3, copies=2), unit=unit).r
    xi = torch.einsum(
        "hij,bcj->bhci",
        torch.eye(9, dtype=torch.float64).reshape(9, 3, 3),
        x.double().reshape(-1, 2, 3),
    ).flatten(2)
    gradients = torch.stack(
        [torch.func.jacrev(lambda one: rings(one[None])[0])(sample) for sample in x]
    ).double()
    rows = (gradients @ xi.mT).flatten(0, 1)
    turns, stretch = catalog.so(3).flatten(1), torch.eye(3, dtype=torch.float64).flatten()
    ratios = (r @ turns.mT).square().sum(0) / (rows @ turns.mT).square().sum(0)
    assert bool((ratios > 0.4).all())
    assert bool((ratios < 2.5).all())
    bend = (
        (scattered(rings, x.double(), Linear(3, copies=2), unit=unit).r @ stretch).square().sum()
    )  # of the function itself
    assert (
        float((r @ stretch).square().sum() / bend) < 4
    )  # the step is rounded, to half as much again, and so are the rows
    assert float((r @ stretch).square().sum() / (rows @ stretch).square().sum()) < 0.1 / EXCUSED


def test_an_output_that_trembles_is_constant_and_one_that_varies_is_not():
    """The sum of a softmax is 1 up to rounding; its parts are not."""
    x, weight = normal(100, 4, seed=2).float(), normal(4, 7, seed=3).float()
    parts = scattered(lambda x: torch.softmax(x @ weight, 1), x, Linear(4), unit=2.0**-23)
    total = scattered(
        lambda x: torch.softmax(x @ weight, 1).sum(1) + 0 * x[:, 0], x, Linear(4), unit=2.0**-23
    )
    assert (parts.constant, total.constant) == (False, True)
    assert total.tremor < 1e-13 < parts.spread


def test_samples_are_spread_over_the_batch_and_those_without_a_derivative_left_out():
    x = normal(4 * SCATTER_SAMPLES, 2, seed=4)
    assert (
        scattered(lambda x: x.square().sum(1), x, Linear(2), unit=1e-16).samples == SCATTER_SAMPLES
    )
    x[-1] = 0.0
    assert (
        scattered(lambda x: x.square().sum(1), x, Linear(2), unit=1e-16, samples=10).samples == 10
    )
    with torch.no_grad():
        root = Model(
            lambda x: (x.square().sum(1) - 0.0).sqrt(), "root"
        )  # whose derivative at 0 is 0/0
        assert (
            scatter(root, Linear(2), x, Plan("each", "autograd"), unit=1e-16, samples=10).samples
            == 9
        )


def test_it_is_the_same_twice_and_draws_nothing_from_the_global_generator():
    x = normal(50, 6, seed=5).bfloat16()
    before = torch.get_rng_state()
    one, other = (scattered(rings, x, Linear(3, copies=2), unit=HALF) for _ in range(2))
    torch.testing.assert_close(one.r.mT @ one.r, other.r.mT @ other.r, rtol=1e-10, atol=0.0)
    assert torch.equal(torch.get_rng_state(), before)


def test_columns_of_an_output_action_come_first():
    """A linear map: rows [−η | ξ] of y = Wx, whose differences are those of y and of W x."""
    x, weight = normal(40, 2, seed=6), normal(3, 2, seed=7)
    action, reply, unit = Linear(2), Linear(3), 0.5
    with torch.no_grad(), eval_view(lambda x: x @ weight.T) as model:
        model = probe(model, x)
        found = scatter(
            model,
            action,
            x,
            plan(model, action, x, output_action=reply),
            unit=unit,
            output_action=reply,
        )
    assert found.r.shape == (13, 13)
    pairs = torch.cat(
        [torch.eye(3, dtype=torch.float64).flatten(), torch.eye(2, dtype=torch.float64).flatten()]
    )
    torch.testing.assert_close(
        found.r @ pairs, torch.zeros(13, dtype=torch.float64), atol=1e-12, rtol=0
    )  # scaling both: exact


@pytest.mark.parametrize(
    ("floor", "values", "alone", "trusted", "most", "expected"),
    [
        (
            1e-3,
            [1e-4, 2e-3, 0.9],
            [1e-3, 1e-3, 1e-3],
            1e-3,
            0.02,
            4e-3,
        ),  # half precision: lifted over one that scatters
        (
            1e-3,
            [1e-4, 2e-3, 0.9],
            [1e-5, 1e-5, 1e-5],
            1e-3,
            0.02,
            1e-3,
        ),  # not over one that does not
        (
            1e-3,
            [2e-3, 5e-3, 0.9],
            [1e-3, 1e-3, 1e-3],
            1e-3,
            0.02,
            4e-3,
        ),  # and not over the next, which is too large for it
        (
            1e-3,
            [2e-3, 3e-3, 0.9],
            [1e-3, 1e-5, 1e-3],
            1e-3,
            0.02,
            math.sqrt(2e-3 * 3e-3),
        ),  # up to the first that does not
        (
            1e-3,
            [2e-3, 2.5e-3, 0.9],
            [1e-4, 1e-3, 1e-3],
            1e-3,
            0.02,
            1e-3,
        ),  # which may be the first at all
        (
            1e-3,
            [1e-4, 2e-3, 0.9],
            [1e-2, 1e-2, 1e-2],
            1e-3,
            0.02,
            0.02,
        ),  # never beyond what rounding can do
        (
            1e-7,
            [1e-9, 0.9],
            [1e-14, 1e-14],
            1e-11,
            1e-7,
            1e-11,
        ),  # single precision: lowered below one that repeats itself
        (1e-7, [1e-9, 0.9], [1e-9, 1e-9], 1e-11, 1e-7, 1e-7),  # left where rounding explains it
        (
            1e-7,
            [1e-10, 1e-8, 0.9],
            [1e-10, 1e-14, 1e-9],
            1e-11,
            1e-7,
            1e-9,
        ),  # in between, half way on a logarithmic scale
        (1e-7, [1e-12, 0.9], [0.0, 0.0], 1e-11, 1e-7, 1e-7),  # nothing to ask about
        (1e-3, [5e-3, 0.9], [math.nan, math.nan], 1e-3, 0.02, 1e-3),  # unknown is no excuse
        (1e-3, [], [], 1e-3, 0.02, 1e-3),
    ],
)
def test_floor(floor, values, alone, trusted, most, expected):
    values, alone = (torch.tensor(some, dtype=torch.float64) for some in (values, alone))
    assert measured_floor(floor, values, alone, trusted=trusted, most=most) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize(
    ("values", "alone", "expected"),
    [
        ([1e-7, 5e-3, 0.9], [1e-7, 1e-6, 1e-6], 4e-7),  # the floor 1e-3 hides a gap of 50,000
        ([1e-7, 2e-7, 5e-3], [1e-7, 3e-7, 1e-6], 1.2e-6),  # what rounding does to the worst of them
        (
            [1e-5, 5e-3, 0.9],
            [1e-7, 1e-6, 1e-6],
            1e-3,
        ),  # not rounding: a gap behind it is judged as before
        ([1e-7, 1e-5, 5e-3], [1e-7, 1e-7, 1e-6], 1e-3),
        (
            [1e-7, 2e-2, 0.9],
            [1e-7, 1e-6, 1e-6],
            1e-3,
        ),  # a gap of twenty is seen above the floor as well
        ([5e-4, 5e-3, 0.9], [5e-4, 1e-6, 1e-6], 1e-3),  # the floor never rises by it
        (
            [1e-30, 5e-3, 0.9],
            [0.0, 1e-6, 1e-6],
            1e-28,
        ),  # exact zeros, up to the error of the solution
        ([5e-3, 0.9, 1.0], [1e-6, 1e-6, 1e-6], 1e-3),  # nothing at the floor
    ],
)
def test_a_floor_that_hides_a_gap_comes_down_to_what_rounding_does(values, alone, expected):
    values, alone = (torch.tensor(some, dtype=torch.float64) for some in (values, alone))
    found = measured_floor(1e-3, values, alone, trusted=1e-3, most=2e-3, own=1e-28, gap=10.0)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_scaling_in_half_precision_is_found_beside_small_defects():
    """A function of the direction alone is steep near the origin; few samples carry the mean, and all defects are small."""
    case = exact(97, seed=4)
    sym = liegg.discover(case.model, case.data, case.action)
    assert case.data.dtype is torch.bfloat16
    assert float(sym.defects[1]) < 10 * sym.settings["strong"]
    assert (sym.nullity, sym.decision.exact, sym.name) == (1, 1, "scaling(2)")
    assert float(sym.angles(case.algebra).max()) < 0.01


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_direction_that_repeats_itself_is_below_the_floor_and_without_such_all_that_scatter_are(
    data,
):
    count = data.draw(st.integers(1, 6))
    numbers = st.floats(1e-9, 1.0)
    values = torch.tensor(
        sorted(data.draw(st.lists(numbers, min_size=count, max_size=count))), dtype=torch.float64
    )
    alone = torch.tensor(
        data.draw(st.lists(numbers, min_size=count, max_size=count)), dtype=torch.float64
    )
    trusted, floor, most = sorted(data.draw(st.lists(numbers, min_size=3, max_size=3)))
    found = measured_floor(floor, values, alone, trusted=trusted, most=most)
    asked = (values > trusted) & (values <= most)
    excused = asked & (values <= EXCUSED * alone)
    assert trusted <= found <= max(most, floor)
    assert not bool((asked & ~excused & (values <= found)).any())
    if not bool((asked & ~excused).any()):
        assert bool((values[excused] <= found).all())


def test_an_exact_symmetry_in_half_precision_is_exact_though_rounding_moves_it_by_more_than_a_strong_one():
    """sl(4) by determinants of four out of five vectors, whose 24 terms cancel: the case of the study that was graded strong."""
    case = exact(154, seed=3)
    sym = liegg.discover(case.model, case.data, case.action)
    assert case.data.dtype is torch.bfloat16
    assert float(sym.defects[14]) > sym.settings["strong"]
    assert (sym.nullity, sym.decision.exact, set(sym.decision.grades[:15])) == (15, 15, {"exact"})
    assert float(sym.defects[15]) > 100 * sym.decision.floor


def pairs(strength, dtype):
    """A thousand vectors of the plane, all turned at once: a rotation, broken by a part of known strength."""
    weight, tilt = normal(1000, seed=3).to(dtype), normal(1000, seed=4).to(dtype)

    def function(x):
        x = x.reshape(len(x), 1000, 2)
        return torch.tanh(x.square().sum(2)) @ weight + strength * (x[:, :, 0] @ tilt)

    return function


@pytest.mark.parametrize(
    ("strength", "grade"), [(0.0, "exact"), (3e-5, "strong"), (1e-4, "strong")]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_precision_says_what_double_does_where_its_rows_repeat_themselves(
    strength, grade, dtype
):
    """Conditioning 8000 allows rounding a defect of 5e-8; at 9e-9 it is real nevertheless, and float32 sees it."""
    sym = liegg.discover(
        pairs(strength, dtype), normal(200, 2000, seed=0).to(dtype), Linear(2, copies=1000)
    )
    assert sym.decision.grades == (grade, "none", "none", "none")
    expected = liegg.discover(
        pairs(strength, torch.float64), normal(200, 2000, seed=0), Linear(2, copies=1000)
    ).defects[0]
    assert float(sym.defects[0]) == pytest.approx(
        float(expected), rel=1e-2 if strength else math.inf
    )


@pytest.mark.parametrize("strength", [0.1, 0.3])
def test_a_broken_symmetry_in_half_precision_is_not_excused(strength):
    """Rings plus a tenth of a linear function: above `strong`, within what rounding can do, and not exact."""
    x, tilt = normal(1000, 6, seed=1).bfloat16(), (strength * normal(6, 2, seed=2)).bfloat16()
    sym = liegg.discover(lambda x: rings(x) + product(x, tilt), x, Linear(3, copies=2))
    assert sym.decision.exact == 0
    assert float(sym.defects[0]) > sym.decision.floor


def test_restricted_candidates_and_pairs_are_measured_along_themselves():
    """The same verdict for sl(4) sought among all affine maps, sought alone, and with an action on the output beside it."""
    case = exact(154, seed=3)
    whole = liegg.discover(case.model, case.data, case.action)
    part = liegg.discover(case.model, case.data, case.action.restrict(case.algebra))
    assert (part.nullity, part.decision.exact) == (15, 15)
    assert part.decision.floor == pytest.approx(whole.decision.floor, rel=0.2)
    reply = liegg.discover(case.model, case.data, case.action, output_action=Linear(2))
    assert reply.decision.exact >= 15


def test_the_unit_is_used_as_given():
    """A model in float64 with rounding inside of its own, told by nothing but the unit: scatter grows with it."""
    x = normal(100, 6, seed=8)
    small, large = (
        scattered(rings, x, Linear(3, copies=2), unit=unit).r.norm() for unit in (1e-6, 1e-3)
    )
    assert float(large / small) == pytest.approx(1000.0, rel=0.05)


def test_outputs_must_make_sense():
    with torch.no_grad(), pytest.raises(ArgumentError, match="outputs=0"):
        scatter(
            Model(rings, "rings", output_shape=(2,)),
            Linear(3, copies=2),
            normal(5, 6),
            Plan(0, "vjp"),
            unit=1e-16,
        )
