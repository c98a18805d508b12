"""Runs that are killed and resumed on the GPU, and two processes that share it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import liegg

ROOT = Path(__file__).parents[2]

ANALYSIS = """
import json, os, signal, sys
import torch
import liegg
from cases import mlp, normal

device, path, stop, dtype = sys.argv[1], sys.argv[2], int(sys.argv[3]), getattr(torch, sys.argv[4])
x = normal(2000, 4).to(device, dtype)
model = mlp(4, 32, 3, dtype=dtype).to(device)
sizes = []

def progress(samples):
    sizes.append(samples)
    if 0 < stop <= sum(sizes):
        os.kill(os.getpid(), signal.SIGKILL)

sym = liegg.discover(
    model, x, liegg.Linear(4),
    run=liegg.Run(batch_size=100, checkpoint=path, checkpoint_every=0.0, progress=progress),
)
print(json.dumps({
    "defects": sym.defects.tolist(), "intervals": sym.intervals.tolist(),
    "nullity": sym.nullity, "samples": sym.samples, "sizes": sizes,
}))
"""

SHARED = """
import json, os, sys
import torch
import torch.distributed as dist
import liegg
from cases import mlp, normal

device, folder = sys.argv[1], sys.argv[2]
dist.init_process_group("gloo")
model, x = mlp(4, 32, 3).to(device), normal(2001, 4).to(device)
seen = []
sym = liegg.discover(
    model, x, liegg.Linear(4),
    run=liegg.Run(batch_size=100, progress=seen.append, timeout=120),
)
with open(f"{folder}/{dist.get_rank()}.json", "w") as file:
    json.dump({
        "defects": sym.defects.tolist(), "intervals": sym.intervals.tolist(),
        "nullity": sym.nullity, "samples": sym.samples, "seen": sum(seen),
    }, file)
dist.destroy_process_group()
"""


def environment() -> dict[str, str]:
    """Subprocesses import liegg and the cases of the tests from this tree."""
    folders = [str(Path(liegg.__file__).parents[1]), str(ROOT / "tests")]
    own = {"PYTHONPATH": os.pathsep.join(folders), "OMP_NUM_THREADS": "1"}
    return os.environ | own | {"GLOO_SOCKET_IFNAME": "lo"}  # no other machine is asked


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )


def apart(one: list, other: list) -> float:
    """Largest difference as a share of the largest value."""
    a, b = (torch.tensor(values, dtype=torch.float64) for values in (one, other))
    return float((a - b).abs().max() / b.abs().max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_killed_and_resumed(dtype, device, tmp_path, enter):
    """SIGKILL at two moments; every run continues where the one before had written."""
    path = str(tmp_path / "checkpoint")
    for samples in (500, 900):
        killed = run(ANALYSIS, device.type, path, str(samples), dtype)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = run(ANALYSIS, device.type, path, "0", dtype)
    assert resumed.returncode == 0, resumed.stderr
    after = json.loads(resumed.stdout)
    whole = run(ANALYSIS, device.type, path + "-whole", "0", dtype)
    assert whole.returncode == 0, whole.stderr
    plain = json.loads(whole.stdout)
    assert after["samples"] == plain["samples"] == 2000
    assert plain["sizes"] == [100] * 20
    assert after["sizes"][0] >= 700  # what the killed runs had written is reported at once
    assert sum(after["sizes"]) == 2000
    assert after["nullity"] == plain["nullity"]
    difference = apart(after["defects"], plain["defects"])
    assert difference < 1e-12  # the same rows, folded in float64
    assert apart(after["intervals"], plain["intervals"]) < 1e-10
    enter(defects=difference, resumed_after=after["sizes"][0])


def test_two_processes_share_the_device(device, tmp_path, enter):
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", str(script), device.type, str(tmp_path)),
        ],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert first["samples"] == second["samples"] == 2001
    assert first["seen"] + second["seen"] == 2001
    assert first["seen"] > 0
    assert second["seen"] > 0
    assert first["defects"] == second["defects"]  # one result, sent to both
    alone = run(ANALYSIS.replace("2000", "2001"), device.type, str(tmp_path / "c"), "0", "float64")
    assert alone.returncode == 0, alone.stderr
    plain = json.loads(alone.stdout)
    assert first["nullity"] == plain["nullity"]
    difference = apart(first["defects"], plain["defects"])
    assert difference < 1e-12
    assert apart(first["intervals"], plain["intervals"]) < 1e-10
    enter(defects=difference, samples=[first["seen"], second["seen"]])
