"""`liegg reproduce`: what it prints, writes and refuses."""

import json
import shutil
from pathlib import Path

import pytest

from command import run

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_claims_from_stored_results(tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(ROOT / "results", results)
    for name in ("claims.json", "index.html"):
        (results / name).unlink()
    code, out, err = run("reproduce", "claims", "--out", str(results))
    assert (code, err) == (0, "")
    assert "configurations-depth-variance" in out
    assert out.splitlines()[-1] == f"Page: {results / 'index.html'}"
    assert (results / "index.html").stat().st_size > 10_000
    out = run("reproduce", "claims", "--out", str(results), "--json")[1]
    assert json.loads(out) == json.loads((results / "claims.json").read_text())


def test_one_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.epochs", lambda samples: 5)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path), "-q")
    assert (code, out, err) == (0, f"Results: {tmp_path / 'o5.json'}\n", "")
    assert json.loads((tmp_path / "o5.json").read_text())["study"] == "o5"


def test_ctrl_c_says_how_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_, **__) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liegg.studies.o5.compute", interrupted)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path))
    assert (code, out) == (130, "")
    assert "resume" in err


def test_mistakes_end_with_exit_code_two_and_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "nowhere"))
    (tmp_path / "file").write_text("")
    out = tmp_path / "out"
    out.mkdir()
    for words, text in {
        f"o6 --out {out}": "'o5'",
        f"claims --out {out}": "holds no results",
        f"claims --quick --out {out}": "--quick",
        f"o5 --quick --out {tmp_path / 'file'}": "is a file; expected a folder",
        f"o5 --quick --out {tmp_path / 'file' / 'below'}": "is a file; expected a folder",
        f"configurations --out {out}": "nowhere",
        f"all --out {out}": "nowhere",
        f"rotmnist --quick --device xpu:7 --out {out}": "device 'xpu:7'",
    }.items():
        code, printed, err = run("reproduce", *words.split())
        assert (code, printed) == (2, ""), words
        assert text in err
    assert not list(out.iterdir())


def test_results_of_another_format_are_refused(tmp_path: Path) -> None:
    old = {"study": "o5", "provenance": {"versions": {"liegg": "0.0.9"}}}
    (tmp_path / "o5.json").write_text(json.dumps(old))
    code, _, err = run("reproduce", "claims", "--out", str(tmp_path))
    assert (code, "liegg 0.0.9" in err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["o5.json"]
