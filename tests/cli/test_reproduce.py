"""`liegg reproduce` as a user meets it."""

import json
import shutil
from pathlib import Path

import pytest

from command import run

ROOT = Path(__file__).parents[2]


def test_unknown_study_is_a_usage_error() -> None:
    code, _, err = run("reproduce", "o6")
    assert code == 2
    assert "'o5'" in err


def test_claims_from_stored_results(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "results", tmp_path / "results")
    for name in ("claims.json", "index.html"):
        (tmp_path / "results" / name).unlink()
    code, out, err = run("reproduce", "claims", "--out", str(tmp_path / "results"))
    assert (code, err) == (0, "")
    assert "configurations-depth-variance" in out
    assert "does not hold" in out
    assert out.splitlines()[-1] == f"Page: {tmp_path / 'results' / 'index.html'}"
    assert (tmp_path / "results" / "index.html").stat().st_size > 10_000
    code, out, _ = run("reproduce", "claims", "--out", str(tmp_path / "results"), "--json")
    assert json.loads(out) == json.loads((tmp_path / "results" / "claims.json").read_text())


def test_a_folder_without_results_or_with_those_of_another_version_is_a_mistake(
    tmp_path: Path,
) -> None:
    code, _, err = run("reproduce", "claims", "--out", str(tmp_path))
    assert code == 2
    told = f"{tmp_path} holds no results of any study. Type `liegg reproduce all --out {tmp_path}`, or name another folder."
    assert err == f"liegg: {told}\n"
    old = {"study": "o5", "provenance": {"versions": {"liegg": "0.0.9"}}}
    (tmp_path / "o5.json").write_text(json.dumps(old))
    code, _, err = run("reproduce", "claims", "--out", str(tmp_path))
    assert code == 2
    assert "o5.json was written by liegg 0.0.9 in format 1; this is liegg" in err
    assert f"Run `liegg reproduce o5 --out {tmp_path}` again, or remove the file." in err
    assert [path.name for path in tmp_path.iterdir()] == ["o5.json"]


def test_one_study_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.epochs", lambda samples: 5)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert "nullity of each network" in out
    assert out.splitlines()[-1] == f"Results: {tmp_path / 'o5.json'}"
    code, out, _ = run("reproduce", "o5", "--quick", "--out", str(tmp_path), "--json")
    assert json.loads(out)["study"] == "o5"


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_, **__) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liegg.studies.o5.compute", interrupted)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path))
    assert (code, out, err) == (
        130,
        "",
        "liegg: interrupted. Type the same again to go on from there.\n",
    )


def test_a_folder_that_cannot_be_written_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        code, _, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path / place))
        assert code == 2
        assert "results cannot be written there" in err
    code, _, err = run("reproduce", "claims", "--quick", "--out", str(tmp_path))
    assert (code, "type it without --quick" in err) == (2, True)


def test_missing_data_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "nowhere"))
    for study in ("configurations", "all"):
        code, out, err = run("reproduce", study, "--out", str(tmp_path / "out"))
        assert (code, out) == (2, "")
        assert "nowhere" in err
    assert not list((tmp_path / "out").iterdir())


def test_a_device_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    code, _, err = run(
        "reproduce", "rotmnist", "--quick", "--device", "xpu:7", "--out", str(tmp_path)
    )
    assert code == 2
    assert "device 'xpu:7' cannot be used here" in err
    assert "--device cpu" in err
    code, _, err = run(
        "reproduce", "rotmnist", "--quick", "--device", "meta", "--out", str(tmp_path)
    )
    assert (code, "device 'meta' cannot be used here" in err) == (2, True)
    assert not list(tmp_path.iterdir())
