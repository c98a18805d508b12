"""What `torchrun` and SLURM tell a process; processes that meet are tested with the command line."""

import pytest

from liegg._utils.errors import ProcessError
from liegg.polarization import launcher


@pytest.fixture
def second_of_three(monkeypatch):
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def slurm_task(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    numbers = {"PROCID": "5", "NTASKS": "8", "LOCALID": "1", "STEP_ID": "0"}
    for name, value in numbers.items():
        monkeypatch.setenv(f"SLURM_{name}", value)


def numbers() -> tuple[int, int, int]:
    return launcher.rank(), launcher.world_size(), launcher.local_rank()


def test_a_single_process():
    assert numbers() == (0, 1, 0)
    assert launcher.local_device("cuda") == "cuda"


@pytest.mark.parametrize(("visible", "device"), [(0, "cuda:1"), (1, "cuda:0"), (4, "cuda:1")])
def test_one_of_several_gets_a_visible_device(second_of_three, monkeypatch, visible, device):
    monkeypatch.setattr("torch.cuda.device_count", lambda: visible)
    assert launcher.local_device("cuda") == device
    assert launcher.local_device("cuda:0") == "cuda:0"
    assert launcher.local_device("cpu") == "cpu"


def test_a_slurm_task_is_one_of_several(slurm_task, monkeypatch):
    assert numbers() == (5, 8, 1)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "6")  # a step may have fewer tasks than the job
    assert launcher.world_size() == 6
    monkeypatch.delenv("SLURM_STEP_ID")  # the script itself is one process
    assert numbers() == (0, 1, 0)


def test_torchrun_inside_a_slurm_step_decides(slurm_task, second_of_three):
    assert numbers() == (1, 3, 1)


def test_slurm_does_not_set_the_address(slurm_task):
    with pytest.raises(ProcessError, match="MASTER_ADDR and MASTER_PORT") as caught:
        launcher.join(5.0)
    assert str(caught.value).endswith(launcher.ADDRESS)
