"""Figure of the O(5) study: every number that is drawn is the stored one."""

from typing import Any

import pytest

from liegg.studies.figures.spectra import draw_o5
from studies.figures.legible import assert_legible, x_of, y_of


def make_results() -> dict[str, Any]:
    def network(factor: float) -> dict[str, Any]:
        return {
            "spectrum": [factor * 1e-3] * 10 + [factor] * 15,
            "bias": [0.01] * 10 + [1.0] * 15,
            "mean_variance_of_ten": factor * 1e-3,
            "fresh_mean_variance_of_ten": factor * 2e-3,
        }

    networks = {size: [network(1.0), network(3.0)] for size in ("300", "1000")}
    return {"main_size": 1000, "networks": networks}


def test_the_mean_is_drawn_with_the_ten_last() -> None:
    made = draw_o5(make_results())["o5"]
    spectrum, _, sizes = made.axes
    first, ten = (line for line in spectrum.lines if line.get_marker() in ("s", "o"))
    assert (x_of(first), x_of(ten)) == (list(range(1, 16)), list(range(16, 26)))
    assert y_of(ten) == pytest.approx([2e-3] * 10)
    curves = [y_of(line) for line in sizes.lines if line.get_linestyle() in ("-", "--")]
    assert curves == [pytest.approx([2e-3, 2e-3]), pytest.approx([4e-3, 4e-3])]
    assert_legible(made)
