"""The record of a comparison: which defect is clearly smaller, and the ratio of both."""

import math

import pytest

from liegg.results.comparison import Measured, PairedDefect


def measured(value, low=math.nan, high=math.nan, *, exact=False):
    return Measured(float(value), float(low), float(high), exact)


def test_clearly_smaller_are_defects_with_disjoint_intervals():
    tiny, none = measured(1e-12, 0.0, 1e-11, exact=True), measured(math.nan)
    zero, one, two = (
        measured(0.0, 0.0, 1e-28, exact=True),
        measured(1, 0.9, 1.1),
        measured(2, 1.2, 3),
    )
    for a, b, smaller in [
        (one, two, "a"),
        (measured(1, 0.9, 1.3), two, ""),
        (tiny, measured(1e-10), "a"),
        (tiny, measured(1e-13), ""),  # below what the coarser arithmetic resolves
        (tiny, zero, ""),
        (none, one, ""),
        (none, zero, ""),
        (measured(1), measured(100), ""),
    ]:
        assert PairedDefect("both", "", None, a, b).smaller == smaller
        swapped = {"a": "b", "": ""}[smaller]
        assert PairedDefect("both", "", None, b, a).smaller == swapped


def test_the_ratio_of_independent_numbers():
    """Two log-normal numbers with relative errors 3 and 4 have a ratio with error 5."""
    pair = PairedDefect(
        "both",
        "",
        None,
        measured(1.0, math.exp(-3), math.exp(3)),
        measured(10.0, 10 * math.exp(-4), 10 * math.exp(4)),
    )
    assert pair.ratio == pytest.approx((10.0, 10 * math.exp(-5), 10 * math.exp(5)))
