"""Weights of checkpoints: found inside, freed from prefixes, and never unpickled."""

import argparse
import contextlib
import os
import subprocess
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
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


class Settings(dict):
    """Hyperparameters with attributes, as some trainers keep them."""


class Trap:
    """An object that leaves a file behind when it is unpickled."""

    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


@pytest.mark.parametrize(
    "value",
    [
        Path("runs") / "last",
        nn.Tanh,
        torch.nn.functional.relu,
        np.float64(3),
        np.arange(3),
        argparse.Namespace(lr=1, act=nn.Tanh()),
        Settings(lr=1),
        defaultdict(list, a=[1]),
        partial(nn.Linear, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_weights_beside_objects_are_read(value, state, tmp_path: Path):
    path = tmp_path / "last.ckpt"
    torch.save({"hyper_parameters": {"x": value}, "state_dict": state, "epoch": 3}, path)
    found = load_state(path)
    assert found.keys() == state.keys()
    assert all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.parametrize("place", ["hyper_parameters", "state_dict", None])
def test_nothing_in_a_file_is_run(place, state, tmp_path: Path):
    path, mark = tmp_path / "last.ckpt", tmp_path / "mark"
    for trap in (
        Trap(os.mkdir, str(mark)),
        Trap(Path.touch, mark),
        Trap(exec, f"import os; os.mkdir({str(mark)!r})"),
        Trap(subprocess.call, ["mkdir", str(mark)]),
    ):
        torch.save({"state_dict": state} | {place: trap} if place else trap, path)
        with contextlib.suppress(ArgumentError):  # weights beside it may be read
            assert load_state(path).keys() == state.keys()
        assert not mark.exists()
        if place != "hyper_parameters":
            with pytest.raises(ArgumentError):
                load_state(path)


def test_files_without_weights_are_explained(tmp_path: Path):
    path = tmp_path / "last.ckpt"
    torch.save(nn.Sequential(nn.Linear(2, 3)), path)
    with pytest.raises(ArgumentError, match=r"complete model.*never unpickled.*\.state_dict\(\)"):
        load_state(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ArgumentError, match="damaged"):
        load_state(path)
    torch.save({"epoch": 3, "optimizer": {"lr": 1.0}}, path)
    with pytest.raises(ArgumentError, match="may be its entry 'optimizer'"):
        load_state(path)


@pytest.mark.parametrize("prefix", ["module.", "model.", "net.", "_orig_mod.", "model.module."])
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
    two = {f"{prefix}.{name}": v for name, v in state.items() for prefix in ("model", "net")}
    assert without_prefix(two, set(state)) == (two, [])
    assert without_prefix(state, set(state)) == (state, [])
