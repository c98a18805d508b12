"""Weights of checkpoints: found inside, freed from prefixes, and never unpickled."""

import argparse
from pathlib import Path

import pytest
import torch
from torch import nn

from liegg._utils.errors import ArgumentError
from liegg.cli.state import load_state, without_prefix


@pytest.fixture
def state():
    return nn.Linear(2, 3).state_dict()


@pytest.mark.parametrize("entry", ["state_dict", "model_state_dict", "model"])
def test_weights_are_found_inside_a_checkpoint(entry, state, tmp_path: Path):
    path = tmp_path / "last.ckpt"
    torch.save({"epoch": 3, "lr": [0.1], entry: state}, path)
    assert load_state(path).keys() == state.keys()


def test_objects_are_refused_and_named(state, tmp_path: Path):
    path = tmp_path / "last.ckpt"
    torch.save({"state_dict": state, "hyper_parameters": argparse.Namespace(lr=1)}, path)
    with pytest.raises(ArgumentError, match=r"it holds a argparse\.Namespace.*never unpickled"):
        load_state(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ArgumentError, match="damaged"):
        load_state(path)
    torch.save({"epoch": 3, "optimizer": {"lr": 1.0}}, path)
    with pytest.raises(ArgumentError, match="may be its entry 'optimizer'"):
        load_state(path)


@pytest.mark.parametrize("prefix", ["module.", "model.", "_orig_mod.", "model.module."])
def test_usual_prefixes_are_removed(prefix, state):
    found, remarks = without_prefix({prefix + name: v for name, v in state.items()}, set(state))
    assert found.keys() == state.keys()
    assert remarks == [f"the prefix {prefix!r} was removed from 2 names"]


def test_other_tensors_are_left_out_and_others_kept(state):
    more = {f"model.{name}": value for name, value in state.items()} | {"loss.w": torch.ones(1)}
    found, remarks = without_prefix(more, set(state))
    assert found.keys() == state.keys()
    assert "1 other tensors do not belong" in remarks[1]
    unusual = {f"teacher.{name}": value for name, value in state.items()}
    assert without_prefix(unusual, set(state)) == (unusual, [])
    assert without_prefix(state, set(state)) == (state, [])
