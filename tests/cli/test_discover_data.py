"""`liegg discover` without a model."""

import json
from pathlib import Path

import numpy as np
import pytest

import liegg
from command import run
from known_data import data_set


@pytest.fixture
def files(tmp_path: Path) -> Path:
    x = data_set("half shell", 3000).numpy()
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[:, 0] > 0)
    circle = data_set("gaussian", 500).numpy()[:, :2]
    np.save(tmp_path / "circle.npy", circle / np.linalg.norm(circle, axis=1, keepdims=True))
    return tmp_path


def test_a_data_set_is_analysed_and_stored(files: Path) -> None:
    options = ("--data", files / "x.npy", "--action", "linear:3", "--held-out", "0.2")
    code, out, err = run("discover", *map(str, options), "--json", "--out", str(files / "run"))
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["name"] == "so(2)"
    assert len(record["distribution"]["moved"]) == 1
    assert liegg.load(files / "run").nullity == 1
    assert (files / "run" / "report.html").exists()


def test_labels_belong_to_the_samples_that_are_analysed(files: Path) -> None:
    options = ("--data", files / "x.npy", "--action", "linear:3", "--labels", files / "y.npy")
    code, out, _ = run("discover", *map(str, options), "--samples", "1000", "--json")
    assert (code, json.loads(out)["samples"]) == (0, 1000)


def test_surface_from_the_command_line(files: Path) -> None:
    options = ("--data", files / "circle.npy", "--action", "linear:2", "--question", "support")
    assert run("discover", *map(str, options), "--quiet") == (0, "1\n", "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weights", "w.pt"), "--weights needs a model"),
        (("--layers",), "--layers needs a model"),
        (("--group",), "--group needs a model"),
        (
            ("--question", "foo"),
            "--question 'foo': expected 'density', 'support', 'discriminator' or 'label'",
        ),
        (("--model", "nets:build", "--question", "support"), "leave out --model"),
    ],
)
def test_options_of_models_are_refused(files: Path, options: tuple[str, ...], words: str) -> None:
    data = ("--data", str(files / "x.npy"), "--action", "linear:3")
    code, _, err = run("discover", *data, *options)
    assert code == 2
    assert words in " ".join(err.split())
