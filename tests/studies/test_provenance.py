"""Stored results: whole or not at all, and refused with a reason."""

import json
import math
from pathlib import Path

import pytest

from liegg._utils.errors import ResultsError
from liegg._utils.version import __version__
from liegg.studies.provenance import STUDY_FORMAT, provenance, read_results, write_json

RESULTS = {"study": "o5", "format": STUDY_FORMAT, "quick": False}


def test_what_is_written_is_read(tmp_path):
    path = write_json(RESULTS, tmp_path / "new" / "folder" / "o5.json")
    assert path == tmp_path / "new" / "folder" / "o5.json"
    assert path.read_text().endswith("}\n")
    assert read_results(path.parent, "o5") == RESULTS
    assert [entry.name for entry in path.parent.iterdir()] == ["o5.json"]


def test_writing_again_replaces(tmp_path):
    write_json(RESULTS, tmp_path / "o5.json")
    write_json(RESULTS | {"quick": True}, str(tmp_path / "o5.json"))
    assert read_results(str(tmp_path), "o5") == RESULTS | {"quick": True}


def unwritable(path: Path, *_: object) -> None:
    path.write_bytes(b'{"study": "o')
    raise OSError("no space left on device")


@pytest.mark.parametrize("failure", ["a NaN", "no JSON", "a full disk", "a failing rename"])
def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch, failure):
    path = write_json(RESULTS, tmp_path / "o5.json")
    new: dict = RESULTS | {"quick": True}
    if failure == "a NaN":
        new["value"] = math.nan
    elif failure == "no JSON":
        new["value"] = {1, 2}
    elif failure == "a full disk":
        monkeypatch.setattr("liegg._utils.atomic_write.sync", unwritable)
    else:
        monkeypatch.setattr(Path, "replace", unwritable)
    with pytest.raises((ValueError, TypeError, OSError), match=r"JSON|no space left"):
        write_json(new, path)
    monkeypatch.undo()
    assert read_results(tmp_path, "o5") == RESULTS


def test_a_study_that_was_not_run_is_none(tmp_path):
    assert read_results(tmp_path, "o5") is None
    assert read_results(tmp_path / "nowhere", "o5") is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"study":', "is damaged: Expecting value: line 1 column 10"),
        ("[1]", "is damaged"),
        (b"\xff\xfe\x00", "is damaged: 'utf-8' codec can't decode"),
        (json.dumps(RESULTS | {"study": "rotmnist"}), "does not hold results of the study 'o5'"),
        ('{"study": "o5"}', "in format 1; "),
        (
            json.dumps(
                RESULTS | {"format": STUDY_FORMAT + 1, "provenance": {"versions": {"liegg": "9.0"}}}
            ),
            f"was written by liegg 9.0 in format {STUDY_FORMAT + 1}; ",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(tmp_path, content, reason):
    path = tmp_path / "o5.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ResultsError) as caught:
        read_results(tmp_path, "o5")
    assert str(caught.value).startswith(f"{path} ")
    assert reason in str(caught.value)
    assert f"`liegg reproduce o5 --out {tmp_path}`" in str(caught.value)


def test_provenance_says_how_to_run_it_again():
    found = provenance("liegg reproduce o5 --quick", seconds=1.2345, device="cuda")
    assert (found["command"], found["seconds"], found["device"]) == (
        "liegg reproduce o5 --quick",
        1.2,
        "cuda",
    )
    assert found["versions"]["liegg"] == __version__
    assert set(found["versions"]) == {"liegg", "python", "torch", "numpy"}
    assert json.loads(json.dumps(found)) == found
