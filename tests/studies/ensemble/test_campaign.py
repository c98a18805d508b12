"""All networks of a study: group by group, resumed after SIGKILL, shared among processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from liegg._utils.errors import ResultsError
from liegg.polarization import launcher
from liegg.studies.ensemble import Classification, Member, Schedule, Trained, Work, work

MEMBERS = [Member((2, *[20] * depth, 3), seed, 60, 40) for depth in (1, 2, 3) for seed in (1, 2)]
"""Three depths, so three groups."""


def problem(_: list[Member]) -> Classification:
    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    return Classification(lambda _: x, y, (x, y))


def describe(some: list[Member], trained: Trained) -> list[dict]:
    sums = [
        float(sum(p.detach().double().sum() for p in trained.stack.network(i).parameters()))
        for i in range(len(some))
    ]
    return [
        {"place": MEMBERS.index(member), "sum": total, "epoch": epoch}
        for member, total, epoch in zip(some, sums, trained.epoch.tolist(), strict=True)
    ]


def everything(folder: Path | None = None, **settings) -> list[dict]:
    return work(
        MEMBERS,
        problem,
        describe,
        Schedule(batch_size=20),
        how=Work("cpu", folder, settings, seconds=0.0),
    )


if __name__ == "__main__":  # as the processes of the tests below
    torch.set_num_threads(1)
    rows = everything(Path(sys.argv[1]) / "unfinished")
    if launcher.rank() == 0:
        (Path(sys.argv[1]) / "rows.json").write_text(json.dumps(rows))
    launcher.end()


@pytest.fixture(scope="module")
def known() -> list[dict]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in the processes
    rows = everything()
    torch.set_num_threads(threads)
    return rows


def start(folder: Path, *before: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, *before, __file__, str(folder)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_rows_come_in_the_order_of_the_members(known) -> None:
    assert [row["place"] for row in known] == list(range(len(MEMBERS)))
    assert len({row["sum"] for row in known}) == len(MEMBERS)


def test_one_of_several_processes_trains_its_share(monkeypatch) -> None:
    sent = []
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(launcher, "join", lambda: None)

    def answer(parts: list, part: tuple) -> None:
        sent.extend(row["place"] for row in part[1].values())
        parts[:] = [
            (part[0], {i: {"place": i} for i in places}) for places in ((0, 3), (1, 4), (2, 5))
        ]

    monkeypatch.setattr(torch.distributed, "all_gather_object", answer)
    assert [row["place"] for row in everything()] == list(range(6))
    assert sent == [1, 4]


def test_processes_that_train_other_networks_are_refused(monkeypatch) -> None:
    def answer(parts: list, part: tuple) -> None:
        parts[:] = [part, ("something else", {})]

    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(launcher, "join", lambda: None)
    monkeypatch.setattr(torch.distributed, "all_gather_object", answer)
    with pytest.raises(ResultsError, match=r"the processes train different networks: .*something"):
        everything()


@pytest.mark.slow
def test_killed_at_any_point_it_ends_with_the_same_rows(known, tmp_path) -> None:
    """Killed as soon as its files have changed a number of times, again and again, then left to end."""
    unfinished, kills = tmp_path / "unfinished", 0
    for changes in (1, 4, 9, 2):
        process = start(tmp_path)
        seen: set[tuple] = set()
        while process.poll() is None and len(seen) <= changes:
            seen.add(
                tuple(
                    sorted(
                        (p.name, p.stat().st_mtime_ns)
                        for p in unfinished.glob("group-*")
                        if p.exists()
                    )
                )
            )
            time.sleep(0.001)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
        if (tmp_path / "rows.json").exists():
            break
    assert kills >= 2
    assert not (tmp_path / "rows.json").exists()
    process = start(tmp_path)
    told = process.communicate()[1]
    assert process.returncode == 0, told
    found = json.loads((tmp_path / "rows.json").read_text())
    assert [row["epoch"] for row in found] == [row["epoch"] for row in known]
    # Float32 sums in another order after resuming.
    assert [row["sum"] for row in found] == pytest.approx([row["sum"] for row in known], rel=1e-3)


@pytest.mark.slow
def test_processes_started_by_torchrun_share_the_networks(known, tmp_path) -> None:
    process = start(
        tmp_path, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"
    )
    told = process.communicate()[1]
    assert process.returncode == 0, told
    found = json.loads((tmp_path / "rows.json").read_text())
    assert [row["place"] for row in found] == [row["place"] for row in known]
    assert [row["epoch"] for row in found] == [row["epoch"] for row in known]
    assert [row["sum"] for row in found] == pytest.approx([row["sum"] for row in known], rel=1e-3)
    groups = [
        json.loads(path.read_text())["rows"]
        for path in (tmp_path / "unfinished").glob("group-*.json")
    ]
    assert sorted(len(rows) for rows in groups) == [1] * 6  # two processes, three depths each


def test_finished_groups_are_not_trained_again(tmp_path, monkeypatch) -> None:
    rows = everything(tmp_path)
    assert (
        sorted(path.suffix for path in tmp_path.iterdir()) == [".json"] * 4
    )  # three groups and run.json, no state left
    monkeypatch.setattr("liegg.studies.ensemble.campaign.train", None)
    assert everything(tmp_path) == rows


def test_the_folder_of_another_run_is_refused(tmp_path) -> None:
    everything(tmp_path, liegg="0.0.9", quick=True)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(ResultsError) as error:
        everything(tmp_path, liegg="1.0", quick=True)
    assert "liegg 0.0.9; this one has liegg 1.0" in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", ["[]", "{"])
def test_damaged_files_of_an_unfinished_run_are_refused(tmp_path, content) -> None:
    everything(tmp_path)
    for path in (next(tmp_path.glob("group-*.json")), tmp_path / "run.json"):
        whole = path.read_text()
        path.write_text(content)
        with pytest.raises(ResultsError, match=rf"{path.name} is damaged: "):
            everything(tmp_path)
        path.write_text(whole)


def test_progress_adds_up(tmp_path) -> None:
    told: list[tuple[str, int, int]] = []
    how = Work("cpu", tmp_path, progress=lambda *news: told.append(news))
    for _ in range(2):  # trained, then only read
        told.clear()
        work(MEMBERS, problem, describe, Schedule(batch_size=20), how=how)
        assert sum(done for _, done, _ in told) == told[0][2] == 41 * len(MEMBERS)
        assert told[0][0] == "networks 1 to 2 of 6"
    how.remove()
    assert not tmp_path.exists()
