"""Other draws of the data: the quick form, and what the stored results must show."""

import json
from pathlib import Path

import pytest

from liegg.studies import draws

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.slow
def test_quick_study(quick_folder: Path) -> None:
    results = json.loads((quick_folder / "draws.json").read_text())
    assert [(one["draw"], one["networks"]) for one in results["draws"]] == [(1, 8), (2, 8)]
    first, second = (
        one["correlations"]["paper, sum"]["variance"]["rho"] for one in results["draws"]
    )
    assert first != second
    assert len(draws.table(results).splitlines()) == 1 + 2 * 4


def test_the_variance_keeps_its_correlation_and_the_bias_does_not() -> None:
    """Over all draws; the first is that of the configurations study itself."""
    found = [
        one["correlations"]["paper, sum"]
        for one in json.loads((RESULTS / "draws.json").read_text())["draws"]
    ]
    found.append(
        json.loads((RESULTS / "configurations.json").read_text())["correlations"]["paper, sum"][
            "1-5"
        ]
    )
    assert len(found) == 4
    assert all(
        -0.6 < one["variance"]["rho"] < -0.4 and one["variance"]["p"] < 1e-15 for one in found
    )
    assert min(one["bias"]["rho"] for one in found) < -0.15
    assert max(one["bias"]["rho"] for one in found) > 0
    assert all(abs(one[name]["within"]) < 0.2 for one in found for name in ("variance", "bias"))
