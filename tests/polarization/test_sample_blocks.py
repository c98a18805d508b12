"""Samples assigned to blocks: which goes where, and every block and their sum against dense algebra."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import FromInnerProducts, mlp, normal, numbered
from liegg._utils.linalg import group_by_block
from liegg.actions import Affine, Linear
from liegg.inputs.model import Model
from liegg.polarization import sample_blocks
from liegg.polarization.gram import Gram
from liegg.polarization.plan import Plan
from liegg.polarization.r_factor import RFactor
from liegg.polarization.sample_blocks import BlockAssigner, as_groups
from liegg.polarization.streaming import finalise, init, plan_pass, update

CPU = torch.device("cpu")


def pieces_of(total, sizes):
    """Consecutive slices of the given sizes, over and over, until the total is reached."""
    start, out = 0, []
    while start < total:
        stop = min(total, start + sizes[len(out) % len(sizes)])
        out.append(slice(start, stop))
        start = stop
    return out


# Arranging and folding.


@given(
    block=st.lists(st.integers(0, 4), min_size=1, max_size=20),
    depth=st.integers(0, 2),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_arranged_is_the_loop(block, depth, seed):
    values = normal(len(block), *[2, 3][:depth], seed=seed).float()
    found = group_by_block(values, torch.tensor(block), 5)
    assert found.dtype == torch.float64
    for number in range(5):
        own = values[[i for i, b in enumerate(block) if b == number]].double()
        assert torch.equal(found[number, : len(own)], own)
        assert not found[number, len(own) :].any()


def accumulated(rows, block, sizes, *, count, squared=lambda start: False):
    state = sample_blocks.init(count, rows.shape[2], CPU)
    for part in pieces_of(len(rows), sizes):
        batch = sample_blocks.arrange(rows[part], block[part], count, squared=squared(part.start))
        state = sample_blocks.update(state, batch)
    return state


def finalised(rows, block, sizes, *, count, **options):
    moments = torch.arange(1.0, count + 1, dtype=torch.float64)[:, None, None]
    return sample_blocks.finalise(accumulated(rows, block, sizes, count=count, **options), moments)


def square_of(kept):
    """EᵀE of what was kept, whichever way."""
    return kept.matrix if isinstance(kept, Gram) else kept.r.mT @ kept.r


WAYS = {"qr": lambda start: False, "gram": lambda start: True, "qr+gram": lambda start: start >= 60}


@pytest.mark.parametrize("way", WAYS)
def test_every_block_is_that_of_its_own_rows(way):
    for each in (2, 40):  # few and many rows per sample
        for sizes, columns in (([7], 4), ([64, 3], 9), ([1000], 1)):
            assert_blocks_are_those_of_their_rows(each, way, sizes, columns)


def assert_blocks_are_those_of_their_rows(each, way, sizes, columns):
    rows = normal(200, each, columns)
    block = torch.randint(6, (200,), generator=torch.Generator().manual_seed(1))
    block[block == 4] = 0  # a block without samples
    sizes = [60, *sizes] if way == "qr+gram" else sizes
    whole, parts, kept = finalised(rows, block, sizes, count=6, squared=WAYS[way])
    assert kept == way
    assert whole.rows == 200 * each
    assert len(parts.rows) == len(parts.moments) == 5
    torch.testing.assert_close(
        square_of(whole), torch.einsum("bkg,bkh->gh", rows, rows), rtol=1e-12, atol=1e-11
    )
    for own, moment, samples, number in zip(
        parts.rows, parts.moments, parts.samples, [0, 1, 2, 3, 5], strict=True
    ):
        mine = rows[block == number]
        assert (samples, own.rows) == (len(mine), each * len(mine))
        assert isinstance(own, Gram if way == "gram" else RFactor)
        torch.testing.assert_close(
            square_of(own), torch.einsum("bkg,bkh->gh", mine, mine), rtol=1e-12, atol=1e-11
        )
        assert float(moment) == number + 1


@pytest.mark.parametrize("each", [1, 12], ids=["few rows per sample", "many"])
def test_factors_of_blocks_keep_what_squaring_would_drown(each):
    """Columns of a common direction with 1e-11 beside it: the R factor of a block resolves it, a squared matrix could not."""
    rows = normal(300, each, 1) * torch.ones(3, dtype=torch.float64) + 1e-11 * normal(
        300, each, 3, seed=1
    )
    block = torch.arange(300) % 4
    _, parts, _ = finalised(rows, block, [50], count=4)
    for number, own in enumerate(parts.rows):
        values = torch.linalg.svdvals(own.r)
        torch.testing.assert_close(
            values, torch.linalg.svdvals(rows[block == number].flatten(0, 1)), rtol=1e-3, atol=0.0
        )
        assert 1e-12 < float(values[-1] / values[0]) < 1e-10


def test_folding_leaves_nothing_pending_and_changes_nothing():
    rows, block = normal(30, 1, 3), torch.arange(30) % 4
    state = accumulated(rows, block, [30], count=4)
    assert state.pending.shape == (4, 8, 3)
    once = sample_blocks.flush(state)
    assert once.pending.shape == (4, 0, 3)
    assert sample_blocks.flush(once) is once
    torch.testing.assert_close(
        once.factors.mT @ once.factors,
        group_by_block(rows[:, 0], block, 4).mT @ group_by_block(rows[:, 0], block, 4),
    )


def test_fewer_rows_than_columns_make_a_factor_with_zero_rows():
    rows = normal(3, 1, 5)
    _, parts, _ = finalised(rows, torch.tensor([0, 1, 1]), [3], count=3)
    assert [own.r.shape for own in parts.rows] == [(5, 5), (5, 5)]
    torch.testing.assert_close(square_of(parts.rows[0]), torch.outer(rows[0, 0], rows[0, 0]))


# Moments of blocks.

ACTIONS = {
    "linear": (Linear(3, copies=2), (6,)),
    "vector first": (Linear(3, copies=2, layout="vector_first"), (3, 2)),
    "affine": (Affine(2, copies=3), (6,)),
    "affine, vector first": (Affine(2, copies=3, layout="vector_first"), (2, 3)),
    "image": (liegg.Image("affine"), (2, 7, 6)),
    "rotations of images": (liegg.Image(liegg.so(2)), (1, 6, 6)),
    "colour": (liegg.Color("tone", channels=3), (3, 4, 4)),
    "product": (liegg.Product(liegg.Image(), liegg.Color("gains", channels=2)), (2, 5, 5)),
    "restricted": (Linear(3).restrict(liegg.so(3)), (3,)),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_moments_of_blocks_are_those_of_their_samples(name):
    action, shape = ACTIONS[name]
    x = normal(23, *shape)
    precomputed = action.precompute(x)
    for block in (torch.arange(23) % 5, torch.tensor([0, 0, 3, 3, 3, 1, 0, 1] * 3)[:23]):
        found = again = action.moments(x, block, 5)
        if precomputed is not None:
            again = action.moments(x, block, 5, precomputed=precomputed)
        for number in range(5):
            own = x[block == number]
            expected = action.moment(own) if len(own) else torch.zeros_like(found[0])
            torch.testing.assert_close(found[number], expected, rtol=1e-12, atol=1e-12)
            torch.testing.assert_close(again[number], expected, rtol=1e-12, atol=1e-12)


# The stream.


def streamed(function, x, action, size, *, assigner, output_action=None):
    model = Model(function, "model", output_shape=(2,))
    plan = plan_pass(
        model, action, x[:size], Plan("each", "vjp"), output_action=output_action, assigner=assigner
    )
    return finalise(plan, update(plan, init(plan), numbered(x.split(size))))


@pytest.mark.parametrize(
    "groups", [None, [i // 3 for i in range(101)]], ids=["independent", "groups of three"]
)
def test_blocks_do_not_depend_on_the_batching(groups):
    model, x = mlp(3, 8, 2), normal(101, 3)
    results = [
        streamed(model, x, Linear(3), size, assigner=BlockAssigner(8, as_groups(groups)))
        for size in (101, 10, 1)
    ]
    one = results[0]
    assert one.parts is not None
    for other in results[1:]:
        assert other.parts is not None
        assert other.parts.samples == one.parts.samples
        torch.testing.assert_close(
            square_of(other.rows), square_of(one.rows), rtol=1e-12, atol=1e-11
        )
        torch.testing.assert_close(other.parts.moments, one.parts.moments, rtol=1e-12, atol=1e-12)
        for a, b in zip(other.parts.rows, one.parts.rows, strict=True):
            assert a.rows == b.rows
            torch.testing.assert_close(square_of(a), square_of(b), rtol=1e-12, atol=1e-11)


def test_blocks_sum_to_what_is_streamed_without_them():
    model, x = mlp(3, 8, 2), normal(101, 3)
    assigned, plain = (
        streamed(model, x, Linear(3), 17, assigner=assigner)
        for assigner in (BlockAssigner(8), None)
    )
    assert plain.parts is None
    assert assigned.parts is not None
    assert sum(assigned.parts.samples) == assigned.samples == plain.samples == 101
    torch.testing.assert_close(assigned.moment, plain.moment, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(assigned.parts.moments.sum(0), plain.moment, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(
        square_of(assigned.rows), square_of(plain.rows), rtol=1e-12, atol=1e-12
    )
    total = torch.stack([square_of(own) for own in assigned.parts.rows]).sum(0)
    torch.testing.assert_close(total, square_of(plain.rows), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "x", "action"),
    [
        (mlp(3, 16, 2), normal(200, 3), Linear(3)),
        (mlp(3, 16, 2), normal(200, 3), Affine(3)),
        (FromInnerProducts(3), normal(200, 6), Linear(3, copies=2)),
        (mlp(3, 16, 2), normal(200, 3), Linear(3).restrict(liegg.algebra.sl(3))),
        (
            lambda x: (x.square().sum((2, 3)) + x.sum((2, 3))).sin(),
            normal(60, 2, 6, 6),
            liegg.Color("tone", channels=2),
        ),
    ],
    ids=["network", "affine", "invariant network", "restricted", "colour"],
)
def test_controls_do_not_change_what_is_found(model, x, action):
    with_blocks, without = (
        liegg.discover(model, x, action, controls=on) for on in ("random", "none")
    )
    above = with_blocks.defects > with_blocks.decision.floor
    torch.testing.assert_close(
        with_blocks.defects[above], without.defects[above], rtol=1e-12, atol=0.0
    )
    assert bool((without.defects[~above] <= without.decision.floor).all())
    assert with_blocks.nullity == without.nullity
    assert with_blocks.accumulated.rows.rows == without.accumulated.rows.rows
    assert bool(without.intervals.isnan().all())


def test_controls_do_not_change_what_is_found_of_equivariance():
    function = lambda x: x * (1 + x.square().sum(1, keepdim=True)) + 0.1 * x.roll(1, 1).square()  # noqa: E731
    one, two = (
        liegg.discover(function, normal(200, 3), Linear(3), output_action=Linear(3), controls=on)
        for on in ("random", "none")
    )
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-11, atol=0.0)


def test_float32_is_summed_and_agrees_to_its_own_rounding():
    model, x = mlp(3, 16, 2, dtype=torch.float32), normal(400, 3).float()
    one, two = (liegg.discover(model, x, Linear(3), controls=on) for on in ("random", "none"))
    assert one.settings["accumulator"] == "gram"
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-5, atol=0.0)
