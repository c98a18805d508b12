"""The benchmarks run in their quick form and measure what they say; no time is judged here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import liegg
from dense import dense_rows, dense_spectrum

ROOT = Path(__file__).parents[1]


def test_quick_run_stores_every_ratio(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--out", str(out)], check=True, capture_output=True
    )
    stored = json.loads(out.read_text())
    assert [row["n"] for row in stored["speed"]] == [8, 16]
    assert all(row["dense_full_ratio"] > 0 and row["dense_thin_ratio"] > 0 for row in stored["speed"])
    assert stored["memory"]["dense_bytes"] > 0
    assert stored["overhead"]["sum_ratio"] > 0


def test_the_dense_yardstick_computes_the_same_spectrum() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    x = torch.randn(200, 6)
    ours = liegg.discover(model, x, liegg.Linear(3, copies=2), outputs="sum").spectrum.values
    assert dense_spectrum(dense_rows(model, x, 3))[0].flip(0).tolist() == pytest.approx(ours.tolist(), rel=1e-3)
