"""`--target`, `--output` and `--at`."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import run

MODEL = """
import torch

def build():
    def answer(x):
        r = x.square().sum(1)
        return {"logits": torch.stack([r.sin(), x[:, 0] + r, x[:, 1].exp()], 1), "hidden": x}
    return answer
"""
OPTIONS = (
    "--model",
    "parts_for_cli:build",
    "--data",
    "x.npy",
    "--action",
    "linear:4",
    "--no-controls",
)


@pytest.fixture
def parts(folder: Path) -> Path:
    (folder / "parts_for_cli.py").write_text(MODEL)
    return folder


def test_a_class_of_a_field(parts: Path) -> None:
    code, out, err = run("discover", *OPTIONS, "--target", "0", "--output", "logits", "--json")
    record = json.loads(out)
    assert (code, err, record["nullity"]) == (0, "", 6)
    assert (record["settings"]["target"], record["settings"]["output"]) == (0, "logits")
    assert run("discover", *OPTIONS, "--target", "0,1", "-q")[1] == "3\n"  # not x₀


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--target", "7"), "no class 7. The last one is --target 2"),
        (("--target", "most"), "--target 'most': expected"),
        (("--output", "probs"), "no field 'probs'"),
        (("--target", "0", "--output-action", "linear:4"), "output action"),
    ],
)
def test_parts_that_are_not_there(parts: Path, options: tuple[str, ...], text: str) -> None:
    code, out, err = run("discover", *OPTIONS, *options)
    assert (code, out) == (2, "")
    assert text in " ".join(err.split())


TOKENS = """
import torch
from torch import nn

class Lengths(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 3)

    def forward(self, ids, weights=None):
        lengths = self.table(ids).square().sum(-1)
        return lengths if weights is None else (weights * lengths).sum(-1, keepdim=True)

def build():
    return Lengths()
"""
INNER = ("--model", "tokens_for_cli:build", "--data", "ids.npy", "--action", "linear:3x4")


@pytest.fixture
def tokens(folder: Path) -> Path:
    (folder / "tokens_for_cli.py").write_text(TOKENS)
    np.save(folder / "ids.npy", np.random.default_rng(0).integers(0, 20, (60, 4)))
    return folder


def test_token_ids_are_asked_at_the_embeddings(tokens: Path) -> None:
    code, out, _ = run(
        "discover", *INNER, "--at", "embeddings", "--held-out", "0.3", "--out", "run", "--json"
    )
    record = json.loads(out)
    assert (code, record["name"], record["settings"]["at"]) == (0, "so(3)", "embeddings")
    assert (tokens / "run" / "report.html").is_file()


@pytest.mark.parametrize("several", [True, False])
def test_all_arrays_of_a_file_are_passed_at_an_inner_point(tokens: Path, several: bool) -> None:
    arrays = {"ids": np.load("ids.npy"), "weights": np.ones((60, 4), "f4")}
    np.savez("both.npz", **(arrays if several else {"ids": arrays["ids"]}))
    given = [option if option != "ids.npy" else "both.npz" for option in INNER]
    code, out, err = run("discover", *given, "--at", "embeddings", "--json", "--no-controls")
    assert (code, json.loads(out)["name"]) == (0, "so(3)"), err
    assert json.loads(out)["rows"] == (60 if several else 240)
    code, _, err = run("discover", *given, "--at", "embeddings", "--moves", "ids")
    assert code == 2
    assert "--moves" in err
    assert "Leave one of them out" in " ".join(err.split())


def test_token_ids_without_an_inner_point(tokens: Path) -> None:
    code, _, err = run("discover", *INNER)
    assert code == 2
    assert "--at" in err
    code, _, err = run("discover", *INNER, "--at", "tables")
    assert code == 2
    assert "Did you mean 'table'" in " ".join(err.split())
    code, _, err = run("discover", *INNER, "--at", "table", "--layers")
    assert code == 2
    assert "Leave one of them out" in " ".join(err.split())
