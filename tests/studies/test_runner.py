"""From a study's name to stored results: whole or not at all, taken up again, refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from liegg._utils.errors import DatasetError, ResultsError
from liegg.studies import datasets, runner
from liegg.studies.ensemble import Work
from liegg.studies.provenance import STUDY_FORMAT, read_results


class Toy:
    """Stands for a study's module."""

    def __init__(self, fail: bool = False) -> None:
        self.fail, self.runs = fail, 0

    def compute(self, how: Work, *, quick: bool) -> dict[str, Any]:
        self.runs += 1
        assert how.folder is not None
        how.folder.mkdir(parents=True, exist_ok=True)
        (how.folder / "half").write_text("done")
        if self.fail:
            raise KeyboardInterrupt
        return {"seeds": [1], "answer": 42}

    def draw(self, study: str, results: dict[str, Any], out: Path) -> list[Path]:
        (out / "figure.png").write_text(str(results["answer"]))
        return [out / "figure.png"]

    def table(self, results: dict[str, Any]) -> str:
        return f"the answer is {results['answer']}"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    made = Toy()
    monkeypatch.setattr(runner, "import_module", lambda name: made)
    monkeypatch.setattr("liegg.studies.figures.draw", lambda *given: made.draw(*given))
    return made


def test_results_are_stored_and_the_unfinished_folder_goes(tmp_path: Path, toy: Toy) -> None:
    results = runner.run("o5", tmp_path, quick=True)
    assert results == read_results(tmp_path, "o5")
    assert results is not None
    assert (results["format"], results["quick"], results["answer"]) == (STUDY_FORMAT, True, 42)
    assert results["provenance"]["command"] == "liegg reproduce o5 --quick --device cpu"
    assert results["provenance"]["continued"] is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.png", "o5.json"]
    assert runner.table("o5", results) == "the answer is 42"


def test_an_interrupted_run_leaves_no_results_and_is_taken_up_again(
    tmp_path: Path, toy: Toy
) -> None:
    toy.fail = True
    with pytest.raises(KeyboardInterrupt):
        runner.run("o5", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".o5.unfinished"]
    assert read_results(tmp_path, "o5") is None
    toy.fail = False
    results = runner.run("o5", tmp_path)
    assert results is not None
    assert results["provenance"]["continued"] is True
    assert not (tmp_path / ".o5.unfinished").exists()


def test_an_unfinished_run_of_another_version_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ".configurations.unfinished"
    folder.mkdir()
    old = runner._settings("configurations", True, "cpu") | {"liegg": "0.0.1"}
    (folder / "run.json").write_text(json.dumps(old))
    with pytest.raises(
        ResultsError, match=r"configurations.unfinished .* liegg 0.0.1; this one has liegg"
    ):
        runner.run("configurations", tmp_path, quick=True)
    assert json.loads((folder / "run.json").read_text()) == old
    assert not (tmp_path / "configurations.json").exists()


def test_missing_data_is_said_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: Toy
) -> None:
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match="nowhere"):
        runner.run_all(tmp_path / "out")
    assert toy.runs == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_all_writes_every_study_the_claims_and_the_page(quick_folder: Path) -> None:
    names = {path.name for path in quick_folder.iterdir()}
    assert {f"{study}.json" for study in runner.STUDIES} | {"claims.json", "index.html"} <= names
    assert not [name for name in names if name.startswith(".")]
    page = (quick_folder / "index.html").read_text()
    assert all(f'src="{path.name}"' in page for path in quick_folder.glob("*.png"))


def test_a_quick_run_does_not_replace_a_whole_one(tmp_path: Path, toy: Toy) -> None:
    runner.run("o5", tmp_path)
    with pytest.raises(ResultsError, match=r"o5.json holds results of a complete run"):
        runner.run("o5", tmp_path, quick=True)
    assert toy.runs == 1


def test_claims_and_page_follow_the_results(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claims.json", "index.html"):
        (tmp_path / name).write_text("of other results")
    monkeypatch.setattr(runner, "write_claims", lambda out: (out / "claims.json").write_text("new"))
    runner.run("o5", tmp_path)
    assert (tmp_path / "claims.json").read_text() == "new"
    assert not (tmp_path / "index.html").exists()


def test_results_are_stored_after_the_figures(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(study: str, results: dict[str, Any], out: Path) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(toy, "draw", fail)
    with pytest.raises(KeyboardInterrupt):
        runner.run("o5", tmp_path)
    assert not (tmp_path / "o5.json").exists()


@pytest.mark.parametrize("content", ["[]", "{", '{"settings": {}}'])
def test_a_damaged_record_of_a_run_of_everything_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / ".all.unfinished.json").write_text(content)
    with pytest.raises(
        ResultsError, match=r"all.unfinished.json (is damaged|belongs to an unfinished run)"
    ):
        runner.run_all(tmp_path, quick=True)


def test_studies_that_are_done_are_not_run_again(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "write_claims", lambda out: {"study": "claims"})
    toy.fail = False
    monkeypatch.setattr(runner, "STUDIES", ("o5", "rotmnist", "cifar10"))
    steps = iter([False, True])
    compute = toy.compute

    def second_fails(how: Work, *, quick: bool) -> dict[str, Any]:
        toy.fail = next(steps, False)
        return compute(how, quick=quick)

    monkeypatch.setattr(toy, "compute", second_fails)
    with pytest.raises(KeyboardInterrupt):
        runner.run_all(tmp_path, quick=True)
    assert json.loads((tmp_path / ".all.unfinished.json").read_text())["done"] == ["o5"]
    monkeypatch.setattr(datasets, "rotated_mnist", lambda: None)
    monkeypatch.setattr(datasets, "cifar10_split", lambda: None)
    with pytest.raises(
        ResultsError, match=r"unfinished run with quick True; this one has quick False"
    ):
        runner.run_all(tmp_path, quick=False)
    results = runner.run_all(tmp_path, quick=True)
    assert results is not None
    assert list(results) == ["o5", "rotmnist", "cifar10", "claims"]
    assert toy.runs == 4  # o5, rotmnist twice, cifar10
    assert not (tmp_path / ".all.unfinished.json").exists()
