"""The other rules: what each says of spectra with known answers, and where each must fail."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from liegg.studies.error_rates.rules import (
    RULES,
    Evidence,
    below,
    largest_gap,
    running_share,
    single_share,
)


def evidence(*values: float, trivial: int = 0, floor: float = 1e-31) -> Evidence:
    defects = torch.tensor(values, dtype=torch.float64)
    return Evidence(
        defects, torch.cat([torch.zeros(trivial, dtype=torch.float64), defects]), trivial, floor
    )


@pytest.mark.parametrize("rule", [name for name in RULES if name != "each below 10 % of the sum"])
def test_rules_agree_where_the_answer_is_plain(rule: str) -> None:
    assert RULES[rule](evidence(0, 1e-31, 2e-31, 0.9, 1.0, 1.1)) == 3


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("largest gap", 1),
        ("largest gap, 10 or more", 0),
        ("defect below 0.01", 0),
        ("defect below 0.1", 1),
        ("together below 1 % of the sum", 0),
        ("each below 10 % of the sum", 0),
    ],
)
def test_rules_differ_where_no_symmetry_is(rule: str, found: int) -> None:
    assert RULES[rule](evidence(0.09, 0.5, 0.8, 1.0)) == found


def test_roundings_have_no_gaps() -> None:
    assert largest_gap(evidence(1e-40, 1e-31, 0.5, 1.0, floor=1e-31)) == 2
    assert largest_gap(evidence(1e-40, 1e-31, 1e-30, 1.0, floor=1e-50)) == 3
    assert largest_gap(evidence(0.5)) == 0


def test_shares_of_nothing_and_of_trivial_directions() -> None:
    assert running_share(evidence(0.0, 0.0), share=0.01) == 2
    assert single_share(evidence(1.0, 1.0, trivial=2), share=0.1) == 0
    assert single_share(evidence(*[1.0] * 25), share=0.1) == 25


@given(st.lists(st.floats(1e-12, 1e3), min_size=2, max_size=30), st.integers(-9, 9))
def test_gap_and_shares_do_not_depend_on_the_scale(values: list[float], power: int) -> None:
    """By powers of four, which rounding does not touch, not even under the root of the singular values."""
    one, other = (
        evidence(*(4.0**some * value for value in sorted(values)), floor=0.0) for some in (0, power)
    )
    assert largest_gap(one) == largest_gap(other)
    assert running_share(one, share=0.01) == running_share(other, share=0.01)
    assert single_share(one, share=0.1) == single_share(other, share=0.1)


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=30), st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_larger_limits_count_more(values: list[float], one: float, other: float) -> None:
    seen, (low, high) = evidence(*sorted(values)), sorted((one, other))
    assert below(seen, threshold=low) <= below(seen, threshold=high)
    assert running_share(seen, share=low) <= running_share(seen, share=high)
    assert single_share(seen, share=low) <= single_share(seen, share=high)
    assert largest_gap(seen, least=1 / low) <= largest_gap(seen)
