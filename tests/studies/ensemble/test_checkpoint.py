"""States on disk: as they were, or refused."""

import pytest
import torch

from liegg._utils.errors import ResultsError
from liegg.studies.ensemble.training import Checkpoint

STATE = {
    "leaf.0": torch.arange(6.0).reshape(2, 3).T,
    "step": torch.tensor(7),
    "score": torch.tensor([-torch.inf, 0.5]),
}


def test_a_state_comes_back_as_it_was(tmp_path) -> None:
    checkpoint = Checkpoint(tmp_path / "new" / "a.safetensors")
    assert checkpoint.load() is None
    checkpoint.save(STATE)
    found = Checkpoint(tmp_path / "new" / "a.safetensors").load()
    assert found is not None
    assert found.keys() == STATE.keys()
    assert all(torch.equal(found[name], STATE[name]) for name in STATE)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.safetensors"]
    checkpoint.remove()
    assert checkpoint.load() is None


@pytest.mark.parametrize("how", ["cut", "bit", "other"])
def test_a_damaged_state_is_refused(tmp_path, how) -> None:
    path = tmp_path / "a.safetensors"
    Checkpoint(path).save(STATE)
    content = bytearray(path.read_bytes())
    if how == "bit":
        content[-1] ^= 1
    damaged = {"cut": bytes(content[:-5]), "bit": bytes(content), "other": b"what is this?"}[how]
    path.write_bytes(damaged)
    with pytest.raises(ResultsError, match=r"a.safetensors is damaged: "):
        Checkpoint(path).load()
    assert path.read_bytes() == damaged


def test_a_failed_write_leaves_the_last_state(tmp_path, monkeypatch) -> None:
    checkpoint = Checkpoint(tmp_path / "a.safetensors")
    checkpoint.save(STATE)

    def fail(*_, **__) -> None:
        (tmp_path / "a.part").write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr("liegg.studies.ensemble.training.save_file", fail)
    with pytest.raises(OSError, match="no space left"):
        checkpoint.save({name: value + 1 for name, value in STATE.items()})
    found = checkpoint.load()
    assert found is not None
    assert int(found["step"]) == 7


def test_states_are_kept_at_intervals(tmp_path) -> None:
    assert Checkpoint(tmp_path / "a.safetensors", seconds=0.0).due()
    assert not Checkpoint(tmp_path / "a.safetensors", seconds=1000.0).due()
