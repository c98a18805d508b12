"""Shares of the processes; those that meet are tested with the campaign."""

import pytest

from liegg.studies.ensemble import processes


@pytest.fixture
def second_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)


def test_alone_a_process_takes_everything() -> None:
    assert (processes.rank(), processes.count()) == (0, 1)
    assert processes.share("abcd") == [0, 1, 2, 3]
    assert processes.device_here("cuda") == "cuda"
    assert processes.gather({1: "b"}, "label") == {1: "b"}
    assert processes.told("word") == "word"


def test_one_of_several_takes_its_share_and_its_device(second_of_three: None) -> None:
    assert processes.share("abcdefgh") == [1, 4, 7]
    assert processes.device_here("cuda") == "cuda:1"
    assert processes.device_here("cuda:0") == "cuda:0"
    assert processes.device_here("cpu") == "cpu"
