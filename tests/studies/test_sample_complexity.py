"""The sample-complexity study: its parts, its quick form, and what its stored results must show."""

import json
from pathlib import Path
from statistics import mean

import pytest
import torch

import liegg
from liegg.studies import ensemble, images, o5, sample_complexity
from liegg.studies.images import read_stack

RESULTS = Path(__file__).parents[2] / "results"


def test_vectors_are_taken_from_the_first_on() -> None:
    network = o5.InvariantNetwork()
    x = torch.randn(400, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = sample_complexity.of_vectors(network, x)
    assert [(row["fraction"], row["samples"]) for row in rows] == sample_complexity.counts(400)
    assert [row["nullity"] for row in rows if row["samples"] >= 40] == [10, 10, 10, 10]
    half = o5.extract(network, x[:200]).spectrum.values[:10].mean()
    assert rows[-2]["mean_variance_of_ten"] == pytest.approx(float(half), rel=1e-6, abs=1e-25)


def test_images_are_taken_in_the_order_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "READINGS", {"paper, sum": images.READINGS["paper, sum"]})
    stack = ensemble.initialise([(36, 5, 3)], [1])
    digits = liegg.actions.smooth(
        torch.rand(20, 6, 6, generator=torch.Generator().manual_seed(0)), 1.0
    )
    one, other = (sample_complexity.of_images(stack, digits, seed) for seed in (1, 2))
    assert one[0]["readings"] != other[0]["readings"]
    whole = read_stack(stack, digits.flatten(1), (6, 6), images.READINGS)[0]
    for rows in (one, other):  # all images are all images, whatever their order
        assert rows[-1]["samples"] == 20
        for name, sym in whole.items():
            assert rows[-1]["readings"][name]["variance"] == pytest.approx(
                float(sym.spectrum.values[0]), rel=1e-4
            )


@pytest.mark.slow
def test_quick_study(quick_folder: Path) -> None:
    results = json.loads((quick_folder / "sample-complexity.json").read_text())
    assert results["o5"]["samples"] == 1_000
    assert results["rotmnist"]["images"] == 1_500
    assert [len(results[name]["networks"]) for name in ("o5", "rotmnist")] == [2, 2]
    for name in ("sample-complexity-o5", "sample-complexity-rotmnist"):
        assert (quick_folder / f"{name}.png").stat().st_size > 20_000
    text = sample_complexity.table(results)
    assert "O(5), 1,000 samples" in text
    assert "Rotated MNIST, 1,500 images" in text
    deep = json.loads((quick_folder / "rotmnist.json").read_text())["networks"]["deep"]
    for rows, net in zip(
        results["rotmnist"]["networks"], deep, strict=True
    ):  # the same networks as in that study
        assert rows[-1]["readings"]["paper, sum"]["variance"] == pytest.approx(
            net["readings"]["paper, sum"]["variance"], rel=0.05
        )


def test_stored_results_show_how_many_samples_are_needed() -> None:
    stored = json.loads((RESULTS / "sample-complexity.json").read_text())
    vectors = stored["o5"]["networks"]
    assert all(row["nullity"] == 10 for rows in vectors for row in rows if row["samples"] >= 250)
    assert all(rows[0]["nullity"] == 0 for rows in vectors)  # 25 samples set nothing apart
    few, all_of_them = (
        mean(rows[place]["mean_bias_of_ten"] for rows in vectors) for place in (0, -1)
    )
    assert vectors[0][0]["samples"] == 25
    assert few > 5 * all_of_them  # but ten times as far from so(5)
    five = next(
        place
        for place, row in enumerate(stored["rotmnist"]["networks"][0])
        if row["fraction"] == 0.05
    )

    def bias(place: int, reading: str) -> float:
        return mean(
            rows[place]["readings"][reading]["bias"] for rows in stored["rotmnist"]["networks"]
        )

    assert bias(five, "paper, sum") > 2 * bias(-1, "paper, sum")
    assert bias(five, "paper, each") < 1.5 * bias(-1, "paper, each")
