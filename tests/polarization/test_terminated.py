"""SIGTERM in the middle of a pass: the checkpoint is written, and the pass resumes to the same numbers."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

SCRIPT = """
import json, signal, sys, time
import torch
import liegg
from liegg._utils.interrupts import Terminated, terminated_as_interrupted
torch.set_num_threads(1)
path, how = sys.argv[1:]
x = torch.randn(3000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

def slow(x):
    time.sleep(0.01 if how != "whole" else 0)
    return torch.tanh(x) * x.square().sum(1, keepdim=True)

def progress(samples):
    if how == "stop":
        print(samples, flush=True)

def analyse():
    stored = None if how == "whole" else path
    run = liegg.Run(batch_size=20, checkpoint=stored, checkpoint_every=1e9, progress=progress)
    return liegg.discover(slow, x, liegg.Linear(3), controls="none", run=run)

try:
    sym = analyse()
except Terminated:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    raise SystemExit(143)
factor = sym.accumulated.factor
print(json.dumps({"defects": sym.defects.tolist(), "sums": (factor.mT @ factor).tolist(), "samples": sym.samples}))
"""


def script(path, how: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), how],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def answer(path, how: str) -> dict[str, torch.Tensor]:
    process = script(path, how)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return {name: torch.tensor(value).double() for name, value in json.loads(out).items()}


@pytest.mark.slow
def test_from_python_it_saves_at_the_end_of_the_batch_and_resumes(tmp_path):
    path, process = tmp_path / "c", script(tmp_path / "c", "stop")
    assert process.stdout is not None
    for _ in range(3):  # after three batches of 150
        assert int(process.stdout.readline()) == 20
    assert not path.exists()  # not due
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 143
    assert path.exists()
    resumed, whole = answer(path, "resume"), answer(path, "whole")
    assert int(resumed["samples"]) == 3000
    for name, expected in whole.items():
        atol = 1e-12 * float(expected.abs().max())
        torch.testing.assert_close(resumed[name], expected, rtol=1e-12, atol=atol)


@pytest.mark.slow
def test_from_the_command_line_it_saves_too(tmp_path):
    (tmp_path / "nets.py").write_text(
        "import time\n"
        "def slow(x):\n"
        "    time.sleep(0.01)\n"
        "    return x.square().sum(1, keepdim=True)\n"
        "def build():\n"
        "    return slow\n"
    )
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(4000, 3)))
    words = "discover --model nets:build --data x.npy --action linear:3 --batch-size 5"
    words += " --checkpoint c --checkpoint-every 0.1 --quiet"
    command = [sys.executable, "-m", "liegg", *words.split()]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "c").exists() and process.poll() is None:
        time.sleep(0.05)
    before = (tmp_path / "c").stat().st_mtime_ns
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 143, errors
    assert (tmp_path / "c").stat().st_mtime_ns > before
