"""`liegg demo`: the first thing a new user types."""

import json
from pathlib import Path

import pytest

import liegg
from command import run


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("demo") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("liegg.studies.o5.MAIN", 300)  # seconds less; still so(5), only rougher
        code, text, err = run("demo", "--out", str(out))
    assert (code, err) == (0, "")
    return out, text


def test_it_finds_so5_and_ends_with_the_report_and_the_sentence(shown: tuple[Path, str]) -> None:
    out, text = shown
    assert "10 symmetries" in text
    *_, report, blank, sentence = text.splitlines()
    assert (report, blank) == (f"Report: {out / 'report.html'}", "")
    assert sentence.startswith(
        "The network, never told about symmetry, learned 10: they are those of so(5), all rotations of 5"
    )
    assert liegg.load(out).nullity == 10


def test_it_leaves_a_run_folder_with_the_figure(shown: tuple[Path, str]) -> None:
    out, _ = shown
    names = {
        "record.json",
        "arrays.safetensors",
        "samples.safetensors",
        "report.html",
        "log.txt",
        "run.json",
        "o5-demo.png",
        "o5-demo.svg",
    }
    assert {path.name for path in out.iterdir()} == names
    assert (out / "o5-demo.png").stat().st_size > 10_000
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "invariant under so(5), rotations of 5 dimensions" in page
    assert len(page) < 3_000_000
    sym = liegg.load(out)
    assert sym.verification is not None
    assert sym.controls.reinitialised is not None
    assert "trained on 300 samples" in (out / "log.txt").read_text()


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.MAIN", 100)
    monkeypatch.setattr("liegg.studies.o5.epochs", lambda samples: 20)
    code, text, _ = run("demo", "--out", str(tmp_path / "demo"), "--json")
    found = json.loads(text)
    assert code == 0
    assert found["report"] == str(tmp_path / "demo" / "report.html")
    assert len(found["figures"]) == 2
