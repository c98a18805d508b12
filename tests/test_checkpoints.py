"""Passes that are killed and taken up again end with the same numbers; damaged and foreign files are refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._errors import CheckpointError
from liegg.checkpoints import Checkpoint

X = normal(1000, 3)

SCRIPT = """
import json, os, random, signal, sys, time
import torch
import liegg
torch.set_num_threads(1)
path, controls = sys.argv[1], sys.argv[2] == "controls"
x = torch.randn(6000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
weight = torch.randn(3, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

def slow(x):
    time.sleep(0.002)
    return torch.tanh(x @ weight).sum(1, keepdim=True) * x.square().sum(1, keepdim=True)

def analyse(path, every):
    sym = liegg.discover(slow, x, liegg.Linear(3), batch_size=20, checkpoint=path, checkpoint_every=every, controls=controls)
    found = [sym.factor.tolist(), sym.defects.tolist(), sym.intervals.nan_to_num(-1).tolist(), sym.samples]
    with open(path + ".json", "w") as file:
        json.dump(found, file)

analyse(path + "-whole", 1e9)
draw, kills = random.Random(0), 0
while not os.path.exists(path + ".json"):
    before = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
    child = os.fork()  # a process of its own that has imported everything already
    if child == 0:
        analyse(path, 0.0)
        os._exit(0)
    ended = 0
    if kills < 20:  # then it may end
        early = draw.random() < 0.2  # one in five before it gets anywhere; the others after it wrote, so that all get further
        while not early and not ended and (os.stat(path).st_mtime_ns if os.path.exists(path) else 0) == before:
            time.sleep(0.0005)
            ended = os.waitpid(child, os.WNOHANG)[0]
        time.sleep(draw.uniform(0, 0.02))
        if not ended and os.waitpid(child, os.WNOHANG)[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kills += 1
    else:
        os.waitpid(child, 0)
print(kills)
"""


@pytest.mark.parametrize("controls", ["controls", "alone"])
def test_killed_at_random_moments_it_ends_with_the_same_numbers(tmp_path, controls):
    """Twenty kills, at moments drawn from a fixed seed, in the middle of writing too: after every batch it writes."""
    words = [sys.executable, "-c", SCRIPT, str(tmp_path / "c"), controls]
    done = subprocess.run(words, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert int(done.stdout) == 20
    assert json.loads((tmp_path / "c.json").read_text()) == json.loads((tmp_path / "c-whole.json").read_text())


class StopError(Exception):
    """Stands for whatever ends a pass half way."""


def halfway(path: Path, model=None, **more):
    """Begin an analysis that ends after 600 samples."""
    seen = 0

    def stop(samples: int) -> None:
        nonlocal seen
        seen += samples
        if seen > 600:
            raise StopError

    with pytest.raises(StopError):
        liegg.discover(model or mlp(3, 8, 2), X, liegg.Linear(3), batch_size=50, checkpoint=path, checkpoint_every=0.0,
                       progress=stop, **more)  # fmt: skip


@pytest.mark.parametrize("data", ["tensor", "array", "dataset", "loader", "batches"])
def test_every_kind_of_data_goes_on_where_it_was(tmp_path, data):
    made = {
        "tensor": lambda: X, "array": X.numpy, "dataset": lambda: torch.utils.data.TensorDataset(X),
        "loader": lambda: torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X), batch_size=64),
        "batches": lambda: list(X.split(70)),
    }[data]  # fmt: skip
    net, seen = mlp(3, 8, 2), 0

    def stop(samples: int) -> None:
        nonlocal seen
        seen += samples
        if seen > 500:
            raise StopError

    plain = liegg.discover(net, made(), liegg.Linear(3))
    with pytest.raises(StopError):
        liegg.discover(net, made(), liegg.Linear(3), checkpoint=tmp_path / "c", checkpoint_every=0.0, progress=stop, route="vjp",
                       batch_size=50)  # fmt: skip
    again = liegg.discover(net, made(), liegg.Linear(3), checkpoint=tmp_path / "c", route="vjp", batch_size=50)
    assert again.samples == 1000
    torch.testing.assert_close(again.defects, plain.defects, rtol=1e-10, atol=1e-12)


def test_a_finished_pass_is_not_read_again(tmp_path):
    first = liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "c")
    told = []
    again = liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "c", progress=told.append)
    assert told == [1000]  # all of it, at once
    assert torch.equal(again.factor, first.factor)
    assert torch.equal(again.intervals, first.intervals)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outputs": 1}, "outputs: "),
        ({"seed": 3}, "seed: "),
        ({"controls": False}, "blocks: "),
        ({"batch_size": 49}, "batch_size: "),
    ],
)
def test_a_checkpoint_of_another_analysis_is_refused(tmp_path, change, text):
    halfway(tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    with pytest.raises(CheckpointError, match=rf"is of another analysis \({text}.*remove the file to begin anew"):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "c", **({"batch_size": 50} | change))
    assert (tmp_path / "c").read_bytes() == content


def test_another_model_or_other_data_is_refused(tmp_path):
    halfway(tmp_path / "c")
    with pytest.raises(CheckpointError, match="the model: its outputs for the first samples are not the same"):
        liegg.discover(mlp(3, 8, 2, seed=9), X, liegg.Linear(3), checkpoint=tmp_path / "c", batch_size=50)
    with pytest.raises(CheckpointError, match="data: "):
        liegg.discover(mlp(3, 8, 2), X + 1, liegg.Linear(3), checkpoint=tmp_path / "c", batch_size=50)
    with pytest.raises(CheckpointError, match="samples: 1000 and 900"):
        liegg.discover(mlp(3, 8, 2), X[:900], liegg.Linear(3), checkpoint=tmp_path / "c", batch_size=50)


@pytest.mark.parametrize("how", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_refused_and_kept(tmp_path, how):
    halfway(tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    middle = len(content) - 100
    damaged = {
        "cut": content[:-10], "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :], "empty": b"",
        "text": b"no checkpoint",
    }[how]  # fmt: skip
    (tmp_path / "c").write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"is damaged \(.*\)\. Nothing of it was used\. Remove it to begin anew\."):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "c", batch_size=50)
    assert (tmp_path / "c").read_bytes() == damaged


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"cannot be written: .* Name another place"):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "file" / "c", checkpoint_every=0.0)


def test_numbers_that_make_no_sense_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match="checkpoint_every=-1"):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), checkpoint=tmp_path / "c", checkpoint_every=-1)


def test_it_writes_no_oftener_than_asked(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(Checkpoint, "save", lambda self, kept, position: saved.append(position))
    liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), batch_size=50, checkpoint=tmp_path / "c", checkpoint_every=1e9)
    assert saved == [1000]  # the end alone
