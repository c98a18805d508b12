"""A folder with models and samples to name on the command line."""

from pathlib import Path

import numpy as np
import pytest

MODULE = """
import torch
from torch import nn

def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

def random():
    return nn.Linear(4, 2)

def norm():
    return lambda x: x.square().sum(1)

def images():
    return lambda x: x.mean((1, 2)).square()

def broken():
    raise RuntimeError("no such file")

nothing = 3
"""

BROKEN = {
    "syntax_for_cli": "def f(:",
    "raising_for_cli": "raise RuntimeError('at import')",
    "attribute_for_cli": "import os\nos.nothing_here",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nets_for_cli.py").write_text(MODULE)
    for name, text in BROKEN.items():
        (tmp_path / f"{name}.py").write_text(text)
    np.save(tmp_path / "number.npy", np.float64(3.0))
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    np.save("x.npy", np.random.default_rng(0).standard_normal((300, 4)))
    np.savez("x.npz", one=np.ones((5, 4)), two=np.load("x.npy"))
    return tmp_path
