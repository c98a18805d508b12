"""What a pass keeps: merged in any order it is that of all samples, and packed it comes back bit for bit."""

import pytest
import torch

import liegg
from cases import mlp, normal, numbered
from liegg.inputs.model import eval_view, probe
from liegg.polarization.rows import plan
from liegg.polarization.sample_blocks import Dealer
from liegg.polarization.state import from_tensors, merge, to_tensors
from liegg.polarization.streaming import begin, empty, finish, read

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
        how = plan(
            model, liegg.Linear(3), x[:20], outputs="each", route="vjp", output_action=output_action
        )
    dealer = None if count is None else Dealer(count)
    return x, begin(model, liegg.Linear(3), x[:20], how, output_action=output_action, dealer=dealer)


def kept_of(made, x, start, stop):
    with torch.no_grad():
        return read(
            made,
            empty(made),
            numbered((part for part in x[start:stop].split(17) if len(part)), start),
        )


@pytest.mark.parametrize("name", CASES)
def test_shares_merged_in_any_order_are_the_whole(name):
    x, made = pass_of(*CASES[name])
    whole = finish(made, kept_of(made, x, 0, 203))
    parts = [
        kept_of(made, x, start, stop) for start, stop in ((0, 90), (90, 90), (90, 151), (151, 203))
    ]  # one is empty
    a, b, c, d = parts
    rounding = 1e-12 if made.first.dtype == torch.float64 else 1e-5
    for together in (
        merge(merge(a, b), merge(c, d)),
        merge(a, merge(b, merge(c, d))),
        merge(merge(d, c), merge(b, a)),
    ):
        found = finish(made, together)
        assert (found.samples, found.rows.rows) == (whole.samples, whole.rows.rows)
        assert (
            min(found.distinct or 0, whole.distinct or 0) > 4 * made.columns
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
        assert found.health is not None
        assert whole.health is not None
        assert (found.health.kind, found.health.sentences) == (
            whole.health.kind,
            whole.health.sentences,
        )
        if whole.parts is not None and found.parts is not None:
            assert found.parts.samples == whole.parts.samples
            torch.testing.assert_close(
                found.parts.moments, whole.parts.moments, rtol=rounding, atol=rounding
            )


@pytest.mark.parametrize("name", CASES)
def test_packed_it_comes_back_bit_for_bit_and_goes_on(name):
    x, made = pass_of(*CASES[name])
    with torch.no_grad():
        half = None

        def look(kept, position):
            nonlocal half
            if position == 102:
                half = {key: value.clone() for key, value in to_tensors(kept).items()}

        whole = read(made, empty(made), numbered(x.split(17)), after=look)
        assert half is not None
        again = read(made, from_tensors(half, empty(made)), numbered(x[102:].split(17), 102))
    one, other = to_tensors(whole), to_tensors(again)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_a_record_of_another_size_is_refused():
    x, made = pass_of(torch.float64, 8, None)
    _, other = pass_of(torch.float64, 4, None)
    with pytest.raises(
        ValueError, match=r"blocks\.factors has shape \(8, 9, 9\); this analysis needs \(4, 9, 9\)"
    ):
        from_tensors(to_tensors(kept_of(made, x, 0, 50)), empty(other))
    with pytest.raises(KeyError):
        from_tensors({}, empty(made))


def test_what_is_sent_carries_no_more_than_itself():
    """A view would be sent with all of the buffer that it looks into."""
    x, made = pass_of(torch.float64, None, None)
    with torch.no_grad():
        half = {}

        def look(kept, position):
            half.update(to_tensors(kept))

        read(made, empty(made), numbered(x[:20].split(10)), after=look)
    assert 0 < len(half["waiting"]) < 1024
    assert all(tensor.untyped_storage().nbytes() == tensor.nbytes for tensor in half.values())
