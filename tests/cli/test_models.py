"""Models and weights as the command line names them."""

from pathlib import Path

import pytest
import torch

import liegg
from liegg.cli.models import load_model, uses_factory_weights


@pytest.fixture
def linear(folder: Path) -> str:
    Path("linear_for_cli.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(2, 1)\n"
    )
    return "linear_for_cli:build"


def test_a_state_dict_of_torch_is_loaded(linear: str) -> None:
    weights = torch.nn.Linear(2, 1)
    torch.save(weights.state_dict(), "w.pt")
    model = load_model(linear, Path("w.pt"))
    assert torch.equal(model.weight, weights.weight)
    assert uses_factory_weights(model, None)
    assert not uses_factory_weights(model, Path("w.pt"))
    assert not uses_factory_weights(torch.nn.Tanh(), None)


def test_files_that_are_not_a_state_dict_are_refused(linear: str) -> None:
    module = torch.nn.Linear(2, 1)
    state = module.state_dict()
    torch.save(module, "module.pt")  # pickled: its class would be imported and run
    torch.save([1, 2], "list.pt")
    torch.save({f"module.{name}": value for name, value in state.items()}, "wrapped.pt")
    torch.save({"epoch": 3, "model": dict(state)}, "nested.pt")
    Path("bad.pt").write_bytes(b"bad")
    for name, part in {
        "module.pt": "never unpickled",
        "list.pt": "not a state dict",
        "bad.pt": "damaged",
        "nowhere.pt": "file not found",
    }.items():
        with pytest.raises(liegg.LieggError, match=part):
            load_model(linear, Path(name))
    said: list[str] = []
    for name in ("wrapped.pt", "nested.pt"):
        loaded = load_model(linear, Path(name), say=said.append).state_dict()
        assert all(torch.equal(loaded[key], value) for key, value in state.items())
    assert said == ["--weights wrapped.pt: the prefix 'module.' was removed from 2 names"]


def test_common_mistakes_get_a_hint(linear: str) -> None:
    for text, hint in {"nets.py:build": "nets:build", "w.pt": "--weights"}.items():
        with pytest.raises(liegg.LieggError, match=rf"{hint}\.$"):
            load_model(text)


def test_a_device_needs_a_module_and_must_exist(linear: str) -> None:
    assert load_model(linear, device="cpu").weight.device.type == "cpu"
    with pytest.raises(liegg.LieggError, match=r"torch\.nn\.Module"):
        load_model("nets_for_cli:norm", device="cpu")
    with pytest.raises(liegg.LieggError, match="device 'meta'"):
        load_model(linear, device="meta")
