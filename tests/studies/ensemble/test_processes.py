"""Shares of the processes; those that meet are tested with the campaign."""

import pytest

from liegg._utils.errors import ProcessError
from liegg.studies.ensemble import processes


@pytest.fixture
def second_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def task_of_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "SLURM_PROCID": "5",
        "SLURM_NTASKS": "8",
        "SLURM_LOCALID": "1",
        "SLURM_STEP_ID": "0",
    }.items():
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


@pytest.mark.parametrize(("seen", "device"), [(0, "cuda:1"), (1, "cuda:0"), (4, "cuda:1")])
def test_a_process_takes_one_of_the_devices_that_it_sees(
    second_of_three: None, monkeypatch: pytest.MonkeyPatch, seen: int, device: str
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: seen)
    assert processes.device_here("cuda") == device


def test_a_task_of_slurm_is_one_of_several(
    task_of_slurm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (processes.rank(), processes.count(), processes.local()) == (5, 8, 1)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "6")  # a step may have fewer tasks than the job
    assert processes.count() == 6
    monkeypatch.delenv("SLURM_STEP_ID")  # in the script itself there is one process
    assert (processes.rank(), processes.count(), processes.local()) == (0, 1, 0)


def test_what_torchrun_says_counts_inside_of_a_step(
    task_of_slurm: None, second_of_three: None
) -> None:
    assert (processes.rank(), processes.count(), processes.local()) == (1, 3, 1)


def test_slurm_does_not_say_where_to_meet(task_of_slurm: None) -> None:
    with pytest.raises(ProcessError) as caught:
        processes.joined(5.0)
    assert str(caught.value) == (
        "this is process 5 of 8, but MASTER_ADDR and MASTER_PORT are not set, so that it is not known where they meet. Type, "
        'before srun:\nexport MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)\nexport MASTER_PORT=29500'
    )
