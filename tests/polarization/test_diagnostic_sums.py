"""The sums from which degenerate models are detected: the same however they were parted."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cases import normal
from liegg.polarization.diagnostics import DiagnosticSums, init_sums, merge_sums, update_sums


def sums_of(
    rows: Tensor, y: Tensor, *, each: bool = True, size: int | None = None
) -> DiagnosticSums:
    size = size or len(y)
    sums = init_sums(y[:size], each=each)
    for some, outputs in zip(rows.split(size), y.split(size), strict=True):
        sums = update_sums(sums, some, outputs)
    return sums


def dense(rows: Tensor, y: Tensor, shift: Tensor) -> dict[str, Tensor]:
    """Every sum written out over all samples at once."""
    s = torch.stack([(row.double() ** 2).sum() for row in rows])
    away = y.double() - shift
    return {
        "outputs": away.sum(0),
        "squares": (away**2).sum(0),
        "total": (away.sum(1) ** 2).sum(),
        "spread": ((away**2).sum(1) ** 2).sum(),
        "motions": (rows.double() ** 2).sum((0, 2)),
        "motion": s.sum(),
        "concentration": (s**2).sum(),
        "logarithm": s[s > 0].log().sum(),
        "still": (s == 0).double().sum(),
    }


def assert_close(sums: DiagnosticSums, wanted: dict[str, Tensor]) -> None:
    for name, value in wanted.items():
        torch.testing.assert_close(
            getattr(sums, name),
            value,
            rtol=1e-12,
            atol=1e-12,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_sums_are_those_of_all_samples(dtype):
    rows, y = normal(40, 3, 5).to(dtype), (100 + normal(40, 3, seed=1)).to(dtype)
    rows[::4] = 0
    for size in (1, 7, 40):
        sums = sums_of(rows, y, size=size)
        torch.testing.assert_close(sums.shift, y[:size].double().mean(0))
        assert_close(sums, dense(rows, y, sums.shift))
        assert sums.samples == 40
        assert {value.dtype for value in sums if isinstance(value, Tensor)} == {torch.float64}


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(0, 5),
    st.integers(1, 3),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_sums_do_not_depend_on_how_they_were_parted(sizes, place, c, each):
    n = sum(sizes)
    rows, y = normal(n, c if each else 2, 4), normal(n, c, seed=1)
    start = init_sums(y, each=each)
    parts = [
        update_sums(start, some, outputs)
        for some, outputs in zip(rows.split(sizes), y.split(sizes), strict=True)
    ]
    merged = start
    for part in parts[place:] + parts[:place]:
        merged = merge_sums(merged, part)
    wanted = dense(rows, y, start.shift)
    if not each:
        assert merged.motions is None
        del wanted["motions"]
    assert merged.samples == n
    assert_close(merged, wanted)


def test_what_is_added_to_stays_as_it_was():
    y = normal(6, 2)
    start = init_sums(y)
    one = update_sums(start, normal(6, 2, 3), y)
    again = update_sums(start, normal(6, 2, 3), y)
    for a, b in zip(one, again, strict=True):
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    assert (start.samples, float(start.motion), start.outputs.tolist()) == (0, 0.0, [0.0, 0.0])


def test_rows_in_two_factors():
    left, right, y = normal(20, 3, 4), normal(20, 3, 5, seed=1), normal(20, 3, seed=2)
    whole = torch.einsum("bkp,bkq->bkpq", left, right).flatten(2)
    start = init_sums(y)
    assert_close(
        update_sums(start, torch.cat([left, right], 2), y, split=4), dense(whole, y, start.shift)
    )


def test_nothing_is_read_back_from_the_device():
    """On the meta device there are no numbers: whatever looks at one fails."""
    y = torch.empty(5, 3, device="meta")
    sums = update_sums(init_sums(y), torch.empty(5, 3, 4, device="meta"), y)
    assert sums.samples == 5
