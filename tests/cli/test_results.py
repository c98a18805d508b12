"""`liegg show`, `report` and `compare` on run folders."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import liegg
from command import run

FOUND = ("discover", "--data", "x.npy", "--action", "linear:4")


@pytest.fixture
def runs(folder: Path) -> Path:
    """A folder with two runs: of a function with six symmetries, and of a network with none."""
    assert run(*FOUND, "--model", "nets_for_cli:norm", "--held-out", "0.2", "--out", "norm")[0] == 0
    assert run(*FOUND, "--model", "nets_for_cli:build", "--layers", "--out", "net", "-q")[0] == 0
    return folder


def test_show_prints_what_discover_did(runs: Path) -> None:
    code, out, err = run("show", "norm")
    assert (code, err) == (0, "")
    assert out == f"{liegg.load('norm')}\n"
    assert run("show", "norm", "--quiet")[1] == "6 so(4)\n"
    assert json.loads(run("show", "norm", "--json")[1])["nullity"] == 6
    assert "discover --data x.npy" not in out
    log = run("show", "norm", "--log")[1]
    assert "6 symmetries" in log
    assert "loaded nets_for_cli:norm and 240 samples of x.npy" in log


def test_report_makes_the_page_again_with_samples_and_layers(runs: Path) -> None:
    for name in ("norm", "net"):
        first = Path(name, "report.html").read_text(encoding="utf-8")
        Path(name, "report.html").unlink()
        code, out, err = run("report", name)
        assert (code, out, err) == (0, f"Report: {Path(name, 'report.html')}\n", "")
        assert Path(name, "report.html").read_text(encoding="utf-8") == first
    assert 'id="layers"' in Path("net", "report.html").read_text(encoding="utf-8")


def test_report_elsewhere_with_a_title_and_other_samples(runs: Path) -> None:
    np.save("y.npy", np.full((2, 4), 7.5))
    words = (
        "report",
        "norm",
        "--out",
        "pages/a.html",
        "--title",
        "<b>Ours</b>",
        "--samples",
        "y.npy",
        "--json",
    )
    code, out, _ = run(*words)
    assert code == 0
    assert json.loads(out) == {
        "report": str(Path("pages/a.html")),
        "bytes": Path("pages/a.html").stat().st_size,
    }
    text = Path("pages/a.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Ours&lt;/b&gt;" in text
    assert "7.5" in text
    assert run("report", "norm", "-q")[1] == f"{Path('norm', 'report.html')}\n"


def test_report_into_a_folder_keeps_the_title_and_refuses_what_is_no_file(runs: Path) -> None:
    assert (
        run(*FOUND, "--model", "nets_for_cli:norm", "--title", "Ours", "--out", "titled", "-q")[0]
        == 0
    )
    Path("pages").mkdir()
    assert run("report", "titled", "--out", "pages", "-q")[1] == f"{Path('pages', 'report.html')}\n"
    assert "<title>Ours</title>" in Path("pages", "report.html").read_text(encoding="utf-8")
    os.mkfifo("pipe")
    code, _, err = run("report", "titled", "--out", "pipe")
    assert (code, err) == (
        2,
        "liegg: pipe is no plain file; expected a file to write, for example report.html.\n",
    )
    np.save("words.npy", np.array([["a", "b"]]))
    code, _, err = run("report", "titled", "--samples", "words.npy")
    assert code == 2
    assert "expected numbers" in err


def test_the_log_as_json_and_the_layers_again(runs: Path) -> None:
    assert "6 symmetries" in json.loads(run("show", "norm", "--log", "--json")[1])["log"]
    assert "layers of Sequential" in run("show", "net")[1]
    assert "layers of Sequential" in run("show", "net", "--log")[1]
    assert run("show", "net", "-q")[1] == "0\n"


def test_compare_says_who_has_what(runs: Path) -> None:
    code, out, err = run("compare", "norm", "net")
    assert (code, err) == (0, "")
    assert "norm" in out
    assert "net" in out
    found = json.loads(run("compare", "norm", "net", "--json")[1])
    assert (found["a"]["nullity"], found["b"]["nullity"]) == (6, 0)
    sentence = run("compare", "norm", "net", "--quiet")[1]
    assert sentence.count("\n") == 1
    assert sentence.strip() in " ".join(out.split())


def test_runs_that_cannot_be_compared_are_a_mistake(runs: Path) -> None:
    assert (
        run(
            "discover",
            "--data",
            "x.npy",
            "--action",
            "linear:2x2",
            "--model",
            "nets_for_cli:build",
            "--out",
            "two",
        )[0]
        == 0
    )
    code, out, err = run("compare", "norm", "two")
    assert (code, out) == (2, "")
    assert "Linear(n=4, copies=1" in err
    assert "Linear(n=2, copies=2" in err


@pytest.mark.parametrize(
    "words", [("show", "nowhere"), ("report", "nowhere"), ("compare", "nowhere", "nowhere")]
)
def test_a_folder_that_is_no_run_is_a_mistake(folder: Path, words: tuple[str, ...]) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert (
        err
        == "liegg: nowhere is no stored result: record.json is missing. Make one with sym.save(...).\n"
    )
    assert not Path("nowhere").exists()


def test_a_result_without_a_log_says_so(folder: Path) -> None:
    liegg.discover(lambda x: x.square().sum(1), np.load("x.npy"), liegg.Linear(4)).save("bare")
    code, _, err = run("show", "bare", "--log")
    assert code == 2
    assert (
        err
        == "liegg: bare has no log.txt: liegg discover --out writes one, sym.save(...) does not.\n"
    )
    assert run("report", "bare")[0] == 0
    assert "No samples were given." in Path("bare", "report.html").read_text(encoding="utf-8")
