"""How the evidence is distributed over the samples, against brute force."""

import pytest
import torch

from cases import normal
from liegg.polarization import sample_sketch
from liegg.polarization.diagnostics import init_sums, merge_sums, update_sums
from liegg.polarization.evidence import SampleEvidence, sample_evidence
from liegg.polarization.sample_digest import sample_hashes


def summed(rows, parts=1):
    """Diagnostic sums of rows `[n, g]`, in parts that are merged."""
    y = rows[:, :1]
    empty = init_sums(y)
    sums = [update_sums(empty, part[:, None], part[:, :1]) for part in rows.chunk(parts)]
    whole = sums[0]
    for other in sums[1:]:
        whole = merge_sums(whole, other)
    return whole


def evidence_of(rows, x, groups=None, parts=1):
    sketch = sample_sketch.update(sample_sketch.init(), sample_hashes(x), x)
    return sample_evidence(summed(rows, parts), sketch, groups)


@pytest.mark.parametrize("parts", [1, 3])
def test_dominance_and_effective_number_by_hand(parts):
    rows = normal(100, 4)
    squares = rows.square().sum(1)
    found = evidence_of(rows, normal(100, 2), parts=parts)
    assert found.dominance == pytest.approx(float(squares.max() ** 2 / squares.square().sum()))
    assert found.effective == pytest.approx(float(squares.sum() ** 2 / squares.square().sum()))
    assert found.freedom == pytest.approx(min(1 / found.dominance, found.effective / 6))


def test_copies_count_once():
    rows, x = normal(50, 4), normal(50, 2)
    once, again = evidence_of(rows, x), evidence_of(rows.repeat(6, 1), x.repeat(6, 1))
    assert again == pytest.approx(once)


def test_one_sample_that_carries_everything_and_samples_that_are_equal():
    rows = torch.ones(60, 2, dtype=torch.float64)
    equal = evidence_of(rows, normal(60, 2))
    assert (equal.dominance, equal.effective) == pytest.approx((1 / 60, 60.0))
    rows[3] = 1e6
    alone = evidence_of(rows, normal(60, 2))
    assert (alone.dominance, alone.effective) == pytest.approx((1.0, 1.0), rel=1e-6)


def test_nothing_that_moves_and_numbers_that_overflow_limit_nothing():
    for rows in (torch.zeros(60, 2, dtype=torch.float64), 1e100 * normal(60, 2)):
        found = evidence_of(rows, normal(60, 2))
        assert found.dominance == 0.0
    assert SampleEvidence().freedom == float("inf")


def test_groups_say_which_samples_belong_together():
    x = normal(20, 2)[torch.arange(200) % 20] + 1e-3 * normal(200, 2, seed=1)
    assert evidence_of(normal(200, 3), x).clusters == pytest.approx(20, abs=5)
    assert evidence_of(normal(200, 3), x, groups=torch.arange(200) % 20).clusters == 0
