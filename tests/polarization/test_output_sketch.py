"""Random combinations: the signs against their laws, the chunks against one product, the rows' error inside the intervals."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.polarization import output_sketch as combinations
from liegg.polarization import rows as polarization
from liegg.polarization.output_sketch import combination_signs, combine, cotangents
from measure import peak_bytes, reset_peak, resident_bytes

LINUX = Path("/proc/self/clear_refs").exists()


# Signs.


def test_signs_are_fair_and_independent():
    """Means and products of any two over 20,000 samples within five standard errors of 0."""
    signs = combination_signs(20_000, 70, 2, seed=3).flatten(1) * math.sqrt(2)
    error = 5 / math.sqrt(20_000)
    assert bool((signs.abs() - 1 < 1e-15).all())
    assert float(signs.mean(0).abs().max()) < error
    products = signs.mT @ signs / 20_000
    assert float((products - torch.eye(140, dtype=torch.float64)).abs().max()) < error
    assert float((signs[1:] * signs[:-1]).mean(0).abs().max()) < error


@given(
    first=st.integers(0, 2**40),
    samples=st.integers(1, 4),
    outputs=st.integers(1, 300),
    count=st.integers(1, 5),
    word=st.integers(0, 4),
    seed=st.integers(0, 2**62),
)
@settings(max_examples=40, deadline=None)
def test_signs_depend_on_the_numbers_of_sample_combination_and_output_alone(
    first, samples, outputs, count, word, seed
):
    whole = combination_signs(samples + 2, outputs, count, seed=seed, first=first)
    begin = min(64 * word, 64 * ((outputs - 1) // 64))
    part = combination_signs(
        samples,
        outputs,
        count,
        seed=seed,
        first=first + 1,
        some=slice(count - 1, count),
        columns=slice(begin, begin + 37),
    )
    assert torch.equal(part, whole[1 : 1 + samples, count - 1 :, begin : begin + 37])


def test_other_seeds_give_other_signs():
    assert not torch.equal(combination_signs(3, 64, 1, seed=1), combination_signs(3, 64, 1, seed=2))


# Chunks.


@pytest.mark.parametrize(
    ("numbers", "chunk", "dtype"),
    [(1, 64, torch.float32), (5000, 128, torch.float64), (2**24, 4096, torch.float32)],
    ids=["sample by sample", "a few samples", "at once"],
)
def test_chunks_sum_to_the_whole_product(monkeypatch, numbers, chunk, dtype):
    monkeypatch.setattr(combinations, "PRODUCT_NUMBERS", {"cpu": numbers})
    monkeypatch.setattr(combinations, "OUTPUTS_AT_ONCE", chunk)
    for outputs in (1, 64, 65, 300):
        values = normal(3, 7, outputs).to(dtype)
        signs = combination_signs(7, outputs, 5, seed=2, first=11)
        expected = torch.einsum("bkc,pbc->pbk", signs, values.double())
        found = combine(values, 5, seed=2, first=11)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_combinations_are_the_same_in_any_batch():
    values = normal(2, 9, 9000)
    whole = combine(values, 3, first=5)
    pieces = [
        combine(values[:, start:stop], 3, first=5 + start) for start, stop in pairwise((0, 2, 3, 9))
    ]
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, rtol=1e-12, atol=1e-11)


def test_each_output_and_their_sum():
    values = normal(2, 3, 4).float()
    assert torch.equal(combine(values, "each"), values.double())
    torch.testing.assert_close(
        combine(values, "sum"), values.double().sum(2, keepdim=True), rtol=1e-14, atol=1e-15
    )


@pytest.mark.parametrize("together", [1, 2, 7])
def test_cotangents_are_the_same_combinations(together):
    y = normal(4, 100)
    pieces = list(cotangents(y, 5, together, seed=3, first=6))
    assert all(len(piece) <= together for piece in pieces)
    assert torch.equal(
        torch.cat(pieces), combination_signs(4, 100, 5, seed=3, first=6).transpose(0, 1)
    )
    assert torch.equal(
        torch.cat(list(cotangents(y[:, :5], "each", together)))[:, 2],
        torch.eye(5, dtype=torch.float64),
    )
    assert torch.equal(
        torch.cat(list(cotangents(y, "sum", together))), torch.ones(1, 4, 100, dtype=torch.float64)
    )


# Whole analyses with many outputs.


def wide(
    outputs: int,
    *,
    strength: float = 0.0,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    folded: bool = False,
) -> Any:
    """Features of two vectors that rotations leave alone, `strength` times others, and mixed to many outputs of unlike sizes.

    With `folded` the mixture is replaced by its R factor: 48 outputs whose squares sum to those of all.
    """
    one, two = normal(3, 24, seed=seed).to(dtype) / 2, normal(6, 24, seed=seed + 1).to(dtype) / 2
    mix = (normal(48, outputs, seed=seed + 2) * normal(1, outputs, seed=seed + 3).exp()).to(dtype)
    mix = torch.linalg.qr(mix.mT, mode="r").R.mT if folded else mix

    def function(x: Tensor) -> Tensor:
        p = x.unflatten(1, (2, 3))
        products = (
            torch.stack(
                [p[:, 0].square().sum(1), p[:, 1].square().sum(1), (p[:, 0] * p[:, 1]).sum(1)],
                dim=1,
            )
            / 3
        )
        return torch.cat([torch.tanh(products @ one), strength * torch.tanh(x @ two)], dim=1) @ mix

    return function


PAIR = liegg.Linear(3, copies=2)


@pytest.mark.parametrize(
    ("outputs", "route", "dtype"),
    [(1, "vjp", torch.float64), (3, "jvp", torch.float32), (16, "vjp", torch.float32)],
    ids=str,
)
def test_exact_symmetries_stay_exact(outputs, route, dtype):
    sym = liegg.discover(
        wide(2000, dtype=dtype),
        normal(200, 6).to(dtype),
        PAIR,
        outputs=outputs,
        run=liegg.Run(route=route),
    )
    assert (sym.nullity, sym.decision.exact, sym.accumulated.rows.rows) == (3, 3, 200 * outputs)
    assert float(sym.angles(liegg.so(3)).max()) < 1e3 * torch.finfo(dtype).eps


def test_the_folded_mixture_has_the_same_defects():
    one, other = (
        liegg.discover(wide(300, strength=0.3, folded=folded), normal(100, 6), PAIR).defects
        for folded in (True, False)
    )
    torch.testing.assert_close(one, other, rtol=1e-10, atol=0)


@pytest.mark.slow
def test_intervals_hold_the_error_of_the_combinations():
    """The value of each output for infinitely many samples lies in 95 % of the intervals; at an each-output width in far fewer."""
    function, folded, repeats = wide(300, strength=0.3), wide(300, strength=0.3, folded=True), 60
    truth = float(
        liegg.discover(folded, normal(50_000, 6, seed=99), PAIR, controls="none").defects[0]
    )
    inside = narrow = 0
    for draw in range(repeats):
        x = normal(300, 6, seed=1000 + draw)
        few, all_of_them = (
            liegg.discover(function, x, PAIR, outputs=1, run=liegg.Run(seed=draw)),
            liegg.discover(folded, x, PAIR),
        )
        low, high = few.intervals[0].tolist()
        inside += low <= truth <= high
        middle, width = (
            math.sqrt(low * high),
            math.sqrt(float(all_of_them.intervals[0, 1] / all_of_them.intervals[0, 0])),
        )
        narrow += middle / width <= truth <= middle * width
    assert 0.88 * repeats <= inside <= repeats
    assert narrow < 0.8 * repeats


def test_few_samples_are_told_whatever_the_combinations():
    sym = liegg.discover(wide(50, strength=1.0), normal(12, 6), PAIR, outputs=1)
    told = {
        warning.diagnosis: (warning.values["samples"], warning.values["total"])
        for warning in sym.decision.warnings
        if "samples" in warning.values
    }
    assert told[Diagnosis.FEW_SAMPLES] == (12, 9)
    fewer = liegg.discover(wide(50, strength=1.0), normal(4, 6), PAIR, outputs=2)
    assert fewer.nullity == 0
    assert Diagnosis.TOO_FEW_SAMPLES in [warning.diagnosis for warning in fewer.decision.warnings]


def test_a_thousand_outputs_take_one_pass_of_all_directions():
    """Six generators: forward derivatives, all at once; a reverse pass for every output would be a thousand."""
    calls, function = [], wide(1000)

    def counted(x: Tensor) -> Tensor:
        calls.append(len(x))
        return function(x)

    x, action = normal(640, 6), liegg.Affine(2, copies=3)
    seen: list[int] = []
    before: list[int] = []

    def first_batch_done(count: int) -> None:
        if not seen:
            before.append(len(calls))
        seen.append(count)

    sym = liegg.discover(
        counted, x, action, run=liegg.Run(batch_size=64, progress=first_batch_done)
    )
    assert (sym.settings["route"], sym.accumulated.rows.rows) == ("jvp", 640_000)
    assert len(seen) == 10
    # one call for each of the batches after the first; the other calls compare a few samples of a batch with them
    after = calls[before[0] :]
    assert after.count(64) == 9
    assert len(after) <= 9 + 3 * 9
    assert sum(after) <= 2 * 640


@pytest.mark.parametrize("outputs", ["each", "sum", 3])
def test_batches_that_are_split_give_the_same_answer(monkeypatch, outputs):
    function, x = wide(40, strength=0.3), normal(300, 6)
    whole = liegg.discover(function, x, PAIR, outputs=outputs)
    monkeypatch.setattr(polarization, "ROW_ELEMENTS", 1000)
    seen: list[int] = []
    split = liegg.discover(function, x, PAIR, outputs=outputs, run=liegg.Run(progress=seen.append))
    assert max(seen) == 1000 // max(9 * split.accumulated.rows.rows // 300, 4 * 40)
    torch.testing.assert_close(split.defects, whole.defects, rtol=1e-10, atol=0)
    torch.testing.assert_close(split.intervals, whole.intervals, rtol=1e-8, atol=0)


def test_rows_of_one_sample_that_are_many_are_told(monkeypatch):
    monkeypatch.setattr(polarization, "ROW_ELEMENTS", 359)
    sym = liegg.discover(wide(40), normal(30, 6), PAIR)
    assert [note.diagnosis for note in sym.notes] == [Diagnosis.MANY_ROWS]
    assert (sym.notes[0].values["rows"], sym.notes[0].values["columns"]) == (40, 9)
    assert liegg.discover(wide(39), normal(30, 6), PAIR).notes == ()
    (note,) = liegg.discover(wide(40), normal(30, 6), PAIR, outputs=16).notes
    assert note.diagnosis is Diagnosis.RANDOM_COMBINATIONS
    assert note.values == {"combinations": 16, "outputs": 40}


# Memory.


class Largest(TorchDispatchMode):
    """Remembers the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if (
            isinstance(out, Tensor)
            and out.untyped_storage().nbytes() == out.numel() * out.element_size()
        ):
            self.size = max(self.size, out.numel())
        return out


def test_signs_are_never_held_all_at_once():
    values = torch.ones(2, 8, 200_000)
    with Largest() as largest:
        combine(values, 16)
    assert 2**15 < largest.size <= 2 * combinations.PRODUCT_NUMBERS["cpu"] < values.numel()
    with Largest() as largest:
        combination_signs(8, 200_000, 16)
    assert largest.size >= 8 * 16 * 200_000


@pytest.mark.skipif(not LINUX, reason="reads the peak of the resident memory from /proc")
@pytest.mark.parametrize(
    ("outputs", "route"),
    [
        (4, "vjp"),
        pytest.param(16, "jvp", marks=pytest.mark.slow),
        pytest.param("each", "jvp", marks=pytest.mark.slow),
    ],
)
def test_memory_is_bounded_for_two_hundred_thousand_outputs(outputs, route):
    """40 samples: all signs at once would take 1 GB, the rows of all outputs 0.6 GB before they are arranged by block."""
    function, x = wide(200_000, dtype=torch.float32), normal(40, 6).float()
    function(x[:2])
    reset_peak()
    before = resident_bytes()
    sym = liegg.discover(function, x, PAIR, outputs=outputs, run=liegg.Run(batch_size=40))
    assert (sym.settings["route"], sym.nullity) == (route, 3)
    assert peak_bytes() - before < 600 * 2**20
