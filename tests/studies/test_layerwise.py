"""The layer-wise study: its regimes, its readings, its quick form, and what its stored results must show."""

import json
from pathlib import Path

import pytest
import torch

import liegg
from liegg.studies import ensemble, layerwise
from liegg.studies.images import read_stack

RESULTS = Path(__file__).parents[2] / "results"


def test_the_last_layer_is_read_as_the_other_studies_read_it() -> None:
    """The logits, scaled to unit length, by the batched reading of the image studies; hidden layers by truncated networks."""
    stack = ensemble.initialise([(36, 5, 6, 3)], [1])
    pictures = liegg.actions.smooth(
        torch.rand(300, 6, 6, generator=torch.Generator().manual_seed(0)), 1.0
    )
    network = stack.network(0)
    found = layerwise.read(network, pictures)
    whole = read_stack(stack, pictures.flatten(1), (6, 6), layerwise.LAYER_READINGS)[0]
    for reading, sym in whole.items():
        assert len(found[reading]) == 3
        last = found[reading][-1]
        assert last["variance"] == pytest.approx(float(sym.spectrum.values[0]), rel=1e-3)
        assert last["bias"] == pytest.approx(float(sym.bias(liegg.so(2))[0]), rel=1e-2)

    def second(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(network[:4](x), dim=1)

    sym = liegg.discover(
        second,
        pictures.flatten(1),
        liegg.Image("linear", derivative="paper", shape=(6, 6)),
        outputs="sum",
    )
    assert found["paper, sum"][1]["variance"] == pytest.approx(
        float(sym.spectrum.values[0]), rel=1e-3
    )


@pytest.mark.slow
def test_quick_study(quick_folder: Path) -> None:
    results = json.loads((quick_folder / "layerwise.json").read_text())
    assert list(results["networks"]) == list(layerwise.REGIMES)
    layers = {
        name: {len(net["readings"]["paper, sum"]) for net in nets}
        for name, nets in results["networks"].items()
    }
    assert layers == {"MLP-7": {8}, "sub MLP-3": {4}, "MLP-7[F]": {8}, "MLP-7[L]": {8}}
    for sub, frozen, tuned in zip(
        *(results["networks"][name] for name in ("sub MLP-3", "MLP-7[L]", "MLP-7[F]")), strict=True
    ):
        for reading in (
            layerwise.LAYER_READINGS
        ):  # what is frozen is what the sub-network had; what is tuned is not
            assert frozen["readings"][reading][:3] == sub["readings"][reading][:3]
            assert tuned["readings"][reading][:3] != sub["readings"][reading][:3]
    assert (quick_folder / "layerwise.png").stat().st_size > 20_000
    assert len(layerwise.table(results).splitlines()) == 3 * 5 + 2


def test_stored_results_are_whole() -> None:
    stored = json.loads((RESULTS / "layerwise.json").read_text())
    assert stored["epochs"] == 300
    assert {name: len(nets) for name, nets in stored["networks"].items()} == dict.fromkeys(
        layerwise.REGIMES, 8
    )
    assert all(net["test_accuracy"] > 0.75 for nets in stored["networks"].values() for net in nets)
