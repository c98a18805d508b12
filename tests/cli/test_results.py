"""`liegg show`, `report` and `compare` on run folders."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import liegg
from command import run
from liegg.results.run_folder import write_run

NORM = "discover --model nets_for_cli:norm --data x.npy --action linear:4 --held-out 0.2"
NETWORK = "discover --model nets_for_cli:build --data x.npy --action linear:4 --layers"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stored")


@pytest.fixture
def runs(folder: Path, stored: Path) -> Path:
    """A folder with two runs: a function with six symmetries and a title, a network with layers."""
    if not any(stored.iterdir()):
        for name, words in {"norm": f"{NORM} --title Ours", "net": NETWORK}.items():
            assert run(*words.split(), "--out", name)[0] == 0
            shutil.copytree(name, stored / name)
    for name in ("norm", "net"):
        shutil.copytree(stored / name, folder / name, dirs_exist_ok=True)
    return folder


def read(*parts: str) -> str:
    return Path(*parts).read_text(encoding="utf-8")


def test_show_prints_the_stored_result(runs: Path) -> None:
    code, out, err = run("show", "norm")
    assert (code, err) == (0, "")
    assert out == f"{liegg.load('norm')}\n"
    assert run("show", "norm", "--quiet")[1] == "6 so(4)\n"
    assert json.loads(run("show", "norm", "--json")[1])["nullity"] == 6
    assert run("show", "net", "-q")[1] == "0\n"
    assert "layers" in json.loads(run("show", "net", "--json")[1])


def test_show_prints_the_variance_on_request(runs: Path) -> None:
    plain, more = (run("show", "net", *words)[1] for words in ((), ("--variance",)))
    assert "σ²/|D|" not in plain
    assert more.count("σ²/|D|") >= 2  # of the directions, and of the layers


def test_show_prints_the_log(runs: Path) -> None:
    log = run("show", "norm", "--log")[1]
    assert "240 samples of x.npy" in log
    assert str(liegg.load("norm")) in log
    assert json.loads(run("show", "norm", "--log", "--json")[1])["log"] == log


def test_report_writes_the_same_page_again(runs: Path) -> None:
    for name in ("norm", "net"):
        page = Path(name, "report.html")
        first = read(name, "report.html")
        page.unlink()
        code, out, err = run("report", name)
        assert (code, out, err) == (0, f"Report: {page}\n", "")
        assert read(name, "report.html") == first
    assert 'id="layers"' in read("net", "report.html")


def test_report_with_another_place_title_and_samples(runs: Path) -> None:
    np.save("y.npy", np.full((2, 4), 7.5))
    words = ("--out", "pages/a.html", "--title", "<b>New</b>", "--samples", "y.npy", "--json")
    code, out, _ = run("report", "norm", *words)
    page = Path("pages/a.html")
    assert code == 0
    assert json.loads(out) == {"report": str(page), "bytes": page.stat().st_size}
    assert "&lt;b&gt;New&lt;/b&gt;" in read("pages/a.html")
    assert "7.5" in read("pages/a.html")
    assert run("report", "norm", "--out", "pages", "-q")[1] == f"{Path('pages', 'report.html')}\n"
    assert "<title>Ours</title>" in read("pages", "report.html")  # the stored title


def test_report_refuses_what_it_cannot_write_or_draw(runs: Path) -> None:
    os.mkfifo("pipe")
    np.save("words.npy", np.array([["a", "b"]]))
    for words in (("--out", "pipe"), ("--samples", "words.npy")):
        code, out, err = run("report", "norm", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)


def test_compare_two_runs(runs: Path) -> None:
    code, out, err = run("compare", "norm", "net")
    assert (code, err) == (0, "")
    comparison = json.loads(run("compare", "norm", "net", "--json")[1])
    assert (comparison["a"]["nullity"], comparison["b"]["nullity"]) == (6, 0)
    assert comparison["names"] == ["norm", "net"]
    sentence = run("compare", "norm", "net", "--quiet")[1]
    assert sentence.count("\n") == 1
    assert sentence.strip() in " ".join(out.split())


def test_runs_with_other_candidates_cannot_be_compared(runs: Path) -> None:
    x = np.load("x.npy")
    write_run("two", liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(2, copies=2)))
    code, out, err = run("compare", "norm", "two")
    assert (code, out) == (2, "")
    assert "Linear(n=4" in err
    assert "Linear(n=2" in err


@pytest.mark.parametrize("words", ["show nowhere", "report nowhere", "compare nowhere nowhere"])
def test_a_folder_without_a_run_is_refused(folder: Path, words: str) -> None:
    code, out, err = run(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nowhere" in err
    assert not Path("nowhere").exists()


def test_a_result_without_log_and_samples(folder: Path) -> None:
    liegg.discover(lambda x: x.square().sum(1), np.load("x.npy"), liegg.Linear(4)).save("bare")
    code, _, err = run("show", "bare", "--log")
    assert (code, "log.txt" in err) == (2, True)
    assert run("report", "bare")[0] == 0
    assert 'id="stage"' not in read("bare", "report.html")


@pytest.fixture
def only_layers(runs: Path) -> Path:
    """The same with a folder that holds layers alone."""
    liegg.results.load_layers("net").save("layers")
    return runs


def test_layers_alone_are_shown_and_reported(only_layers: Path) -> None:
    layers = liegg.load("layers")
    assert run("show", "layers")[1] == f"{layers}\n"
    assert run("show", "layers", "-q")[1] == f"{layers.sentence}\n"
    assert json.loads(run("show", "layers", "--json")[1])["sentence"] == layers.sentence
    assert run("report", "layers", "--title", "Ours")[1] == "Report: layers/report.html\n"
    assert "<h1>Ours</h1>" in read("layers", "report.html")
    assert liegg.load("layers").to_dict() == layers.to_dict()
    assert run("report", "layers", "--out", "x.html", "-q")[1] == "x.html\n"


def test_comparisons_become_pages(only_layers: Path) -> None:
    code, out, err = run("compare", "norm", "net", "--out", "pages/both.html")
    assert (code, err) == (0, "")
    assert out.endswith("Report: pages/both.html\n")
    assert "norm" in read("pages", "both.html")
    record = json.loads(run("compare", "norm", "net", "--json", "--out", "pages")[1])
    assert record["report"] == "pages/comparison.html"
    assert "norm" in read("pages", "comparison.html")


def test_layers_are_compared(only_layers: Path) -> None:
    first, second = run("compare", "layers", "layers"), run("compare", "net", "net", "--layers")
    assert first[0] == second[0] == 0
    assert "layers of two networks" in first[1]
    assert first[1].splitlines()[0] == second[1].splitlines()[0]
    assert run("compare", "layers", "net", "--layers", "-q")[0] == 0
    code, _, err = run("compare", "layers", "net")
    assert (code, "a holds the layers of a network" in err) == (2, True)
    code, _, err = run("compare", "norm", "net", "--layers")
    assert (code, "layers.json is missing" in err) == (2, True)
