"""What a pass keeps: merged in any order it is that of all samples, and packed it comes back bit for bit."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import mlp, normal, numbered
from liegg.inputs.model import eval_view
from liegg.inputs.probe import probe
from liegg.polarization import r_factor, state
from liegg.polarization.rows import plan as plan_rows
from liegg.polarization.sample_blocks import BlockAssigner
from liegg.polarization.state import from_tensors, merge, to_tensors
from liegg.polarization.streaming import finalise, init, plan_pass, update

CPU = torch.device("cpu")

CASES = {
    "blocks, float64": (torch.float64, 8, None),
    "blocks, float32": (torch.float32, 8, None),
    "whole, float64": (torch.float64, None, None),
    "whole, float32": (torch.float32, None, None),
    "equivariance": (torch.float64, 8, liegg.Linear(3)),
}


def pass_of(dtype, count, output_action):
    x = normal(203, 3).to(dtype)
    with torch.no_grad(), eval_view(mlp(3, 8, 3, dtype=dtype)) as function:
        model = probe(function, x[:20])
        row_plan = plan_rows(
            model, liegg.Linear(3), x[:20], outputs="each", route="vjp", output_action=output_action
        )
    assigner = None if count is None else BlockAssigner(count)
    return x, plan_pass(
        model, liegg.Linear(3), x[:20], row_plan, output_action=output_action, assigner=assigner
    )


def kept_of(plan, x, start, stop):
    with torch.no_grad():
        return update(
            plan,
            init(plan),
            numbered((part for part in x[start:stop].split(17) if len(part)), start),
        )


@pytest.mark.parametrize("name", CASES)
def test_shares_merged_in_any_order_are_the_whole(name):
    x, plan = pass_of(*CASES[name])
    whole = finalise(plan, kept_of(plan, x, 0, 203))
    parts = [
        kept_of(plan, x, start, stop) for start, stop in ((0, 90), (90, 90), (90, 151), (151, 203))
    ]  # one is empty
    a, b, c, d = parts
    rounding = 1e-12 if plan.first.dtype == torch.float64 else 1e-5
    for together in (
        merge(merge(a, b), merge(c, d)),
        merge(a, merge(b, merge(c, d))),
        merge(merge(d, c), merge(b, a)),
    ):
        found = finalise(plan, together)
        assert (found.samples, found.rows.rows) == (whole.samples, whole.rows.rows)
        assert (
            min(found.distinct or 0, whole.distinct or 0) > 4 * plan.columns
        )  # both saw enough that differ
        size = float((whole.rows.r.mT @ whole.rows.r).abs().max())
        torch.testing.assert_close(
            found.rows.r.mT @ found.rows.r,
            whole.rows.r.mT @ whole.rows.r,
            rtol=0,
            atol=rounding * size,
        )
        torch.testing.assert_close(
            found.moment,
            whole.moment,
            rtol=rounding,
            atol=rounding * float(whole.moment.abs().max()),
        )
        assert found.output_square == pytest.approx(whole.output_square, rel=rounding)
        assert found.diagnostics is not None
        assert whole.diagnostics is not None
        assert (found.diagnostics.kind, found.diagnostics.remarks) == (
            whole.diagnostics.kind,
            whole.diagnostics.remarks,
        )
        if whole.parts is not None and found.parts is not None:
            assert found.parts.samples == whole.parts.samples
            torch.testing.assert_close(
                found.parts.moments, whole.parts.moments, rtol=rounding, atol=rounding
            )


@pytest.mark.parametrize("name", CASES)
def test_packed_it_comes_back_bit_for_bit_and_goes_on(name):
    x, plan = pass_of(*CASES[name])
    with torch.no_grad():
        half = None

        def look(kept, position):
            nonlocal half
            if position == 102:
                half = {key: value.clone() for key, value in to_tensors(kept).items()}

        whole = update(plan, init(plan), numbered(x.split(17)), after=look)
        assert half is not None
        unpacked = from_tensors(half, init(plan))
        assert all(torch.equal(half[key], value) for key, value in to_tensors(unpacked).items())
        again = update(plan, unpacked, numbered(x[102:].split(17), 102))
    one, other = to_tensors(whole), to_tensors(again)
    assert one.keys() == other.keys()
    for key, value in one.items():
        torch.testing.assert_close(other[key], value, rtol=1e-10, atol=1e-11, equal_nan=True)


def test_a_record_of_another_size_is_refused():
    x, plan = pass_of(torch.float64, 8, None)
    _, other = pass_of(torch.float64, 4, None)
    with pytest.raises(
        ValueError, match=r"rows\.factors has shape \(8, 9, 9\); this analysis needs \(4, 9, 9\)"
    ):
        from_tensors(to_tensors(kept_of(plan, x, 0, 50)), init(other))
    with pytest.raises(KeyError):
        from_tensors({}, init(plan))


def test_what_is_sent_carries_no_more_than_itself():
    """A view would be sent with all of the buffer that it looks into."""
    x, plan = pass_of(torch.float64, None, None)
    with torch.no_grad():
        half = {}

        def look(kept, position):
            half.update(to_tensors(kept))

        update(plan, init(plan), numbered(x[:20].split(10)), after=look)
    assert 0 < len(half["rows.pending"]) < 1024
    assert all(tensor.untyped_storage().nbytes() == tensor.nbytes for tensor in half.values())


@given(cuts=st.lists(st.integers(0, 3000), max_size=12))
@settings(deadline=None, max_examples=15)
def test_rows_are_folded_in_the_same_blocks_whatever_the_batches(cuts):
    rows, sizes = normal(3000, 4), []
    bounds = [0, *sorted(cuts), 3000]
    with pytest.MonkeyPatch.context() as patch:
        fold = state.fold

        def spy(sums, block, **options):
            sizes.append(len(block))
            return fold(sums, block, **options)

        patch.setattr(state, "fold", spy)
        sums = state.init_rows(4)
        for start, stop in pairwise(bounds):
            sums = state.append(sums, rows[start:stop], squared=False)
        sums = state.flush(sums, squared=False)
    assert sizes == [1024, 1024, 952]
    assert (sums.exact.rows, len(sums.pending)) == (3000, 0)
    torch.testing.assert_close(
        sums.exact.r, r_factor.update(r_factor.init(4), rows).r, rtol=1e-12, atol=1e-12
    )


def test_blocks_grow_with_the_columns():
    assert r_factor.block_rows(600, CPU) == 2400
    assert r_factor.block_rows(4, CPU) == 1024
