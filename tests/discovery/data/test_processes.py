"""Several processes: each is given the complete data and reads its share, and all have the same answer."""

from pathlib import Path

import pytest
import torch
import torch.distributed as dist

import liegg
from known_data import data_set
from liegg._utils.errors import ArgumentError, LieggError
from liegg.cli.discover_data import check_one_process


def _worker(rank: int, store: str, out: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    x, read = data_set("half shell", 2000), []
    density = liegg.discover_data(
        x, liegg.Linear(3), functions=32, run=liegg.Run(progress=read.append)
    )
    torch.save([sum(read), density.defects, density.distribution], Path(out, f"{rank}.pt"))
    alone = liegg.Run(processes="alone", progress=read.append)
    liegg.discover_data(x, liegg.Linear(3), functions=32, run=alone)
    assert sum(read) == 3000
    ring = x[:, :2] / x[:, :2].norm(dim=1, keepdim=True)
    support = liegg.discover_data(ring, liegg.Linear(2), question="support")
    numbers = [density.samples, density.nullity, support.samples, support.nullity]
    Path(out, f"{rank}.txt").write_text(" ".join(map(str, numbers)))
    dist.destroy_process_group()


def test_all_processes_have_the_same_answer(tmp_path: Path) -> None:
    context = torch.multiprocessing.get_context("spawn")
    arguments = (str(tmp_path / "store"), str(tmp_path))
    workers = [context.Process(target=_worker, args=(rank, *arguments)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    x = data_set("half shell", 2000)
    single = liegg.discover_data(x, liegg.Linear(3), functions=32)
    assert single.distribution is not None
    for rank in range(2):
        assert (tmp_path / f"{rank}.txt").read_text() == "2000 1 2000 1"
        read, defects, tests = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert read == 1000
        torch.testing.assert_close(defects, single.defects)
        assert tests.found == single.distribution.found
        for one, other in zip(tests.further, single.distribution.further, strict=True):
            assert one.p_value == pytest.approx(other.p_value, rel=1e-6)


def _different(rank: int, store: str, out: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    try:
        liegg.discover_data(data_set("cube", 300 + rank), liegg.Linear(3), functions=16)
    except LieggError as error:
        Path(out, f"{rank}.txt").write_text(type(error).__name__)
    dist.destroy_process_group()


def test_different_data_is_refused(tmp_path: Path) -> None:
    context = torch.multiprocessing.get_context("spawn")
    arguments = (str(tmp_path / "store"), str(tmp_path))
    workers = [context.Process(target=_different, args=(rank, *arguments)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    for rank in range(2):
        assert (tmp_path / f"{rank}.txt").read_text() == "ProcessError"


def test_the_command_runs_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    check_one_process()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ArgumentError, match="torchrun"):
        check_one_process()
