"""Shares of the processes; those that meet are tested with the campaign."""

import pytest

from liegg.studies.ensemble import processes


def test_alone_a_process_takes_everything() -> None:
    assert processes.share("abcd") == [0, 1, 2, 3]
    assert processes.gather({1: "b"}, "label") == {1: "b"}
    assert processes.told("word") == "word"


def test_one_of_several_takes_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    assert processes.share("abcdefgh") == [1, 4, 7]
