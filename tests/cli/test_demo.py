"""`liegg demo`: the first command of a new user."""

import json
from pathlib import Path

import pytest

import liegg
from command import run

FILES = {
    "record.json",
    "arrays.safetensors",
    "samples.safetensors",
    "report.html",
    "log.txt",
    "run.json",
    "o5-demo.png",
    "o5-demo.svg",
    "manifest.json",
}


@pytest.mark.slow
def test_the_demo_finds_so5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.MAIN", 300)  # fewer samples; still so(5)
    code, out, err = run("demo", "--out", str(tmp_path))
    sym = liegg.load(tmp_path)
    assert (code, err) == (0, "")
    assert str(sym) in out
    assert f"Report: {tmp_path / 'report.html'}" in out.splitlines()
    assert (sym.nullity, sym.name) == (10, "so(5)")
    assert sym.verification is not None
    assert sym.controls.reinitialised is not None
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert (tmp_path / "o5-demo.png").stat().st_size > 10_000
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def test_the_paths_of_the_demo_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.MAIN", 100)
    monkeypatch.setattr("liegg.studies.o5.epochs", lambda samples: 20)
    code, out, _ = run("demo", "--out", str(tmp_path), "--json")
    record = json.loads(out)
    assert code == 0
    assert record["report"] == str(tmp_path / "report.html")
    assert {Path(path).name for path in record["figures"]} == {"o5-demo.png", "o5-demo.svg"}
    assert {path.name for path in tmp_path.iterdir()} == FILES
