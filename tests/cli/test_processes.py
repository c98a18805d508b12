"""`liegg discover` in real processes: the tasks of a SLURM step, and a signal as a terminal sends it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

OPTIONS = ["--model", "nets_for_cli:build", "--data", "x.npy", "--action", "linear:4", "-q"]


def run_tasks(folders: list[Path], *words: str) -> list[tuple[int, str, str]]:
    """Exit code and output of each task of a SLURM step, each in a folder."""
    common = {
        name: value for name, value in os.environ.items() if not name.startswith("SLURM_")
    } | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(20000 + (os.getpid() * 11) % 30000),
        "SLURM_STEP_ID": "0",
        "SLURM_NTASKS": str(len(folders)),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    tasks = [
        subprocess.Popen(
            [sys.executable, "-m", "liegg", "discover", *OPTIONS, *words],
            cwd=folder,
            env=common | {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, folder in enumerate(folders)
    ]
    try:
        texts = [task.communicate(timeout=120) for task in tasks]
    finally:
        for task in tasks:
            task.kill()
    return [(task.returncode, *text) for task, text in zip(tasks, texts, strict=True)]


def test_the_tasks_of_a_step_share_the_data(folder: Path) -> None:
    (folder / "run").mkdir()
    first, second = run_tasks([folder, folder], "--checkpoint", "run/c", "--timeout", "60")
    assert (first[:2], second[:2]) == ((0, "0\n"), (0, "")), (first, second)
    assert sorted(path.name for path in (folder / "run").iterdir()) == ["c.0-of-2", "c.1-of-2"]


def test_a_file_that_one_task_lacks_is_reported_by_all(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for code, _, err in run_tasks([folder, elsewhere], "--out", "run"):
        assert code != 0
        assert "file x.npy not found" in err
    assert not (folder / "run").exists()


def test_an_interrupted_process_leaves_nothing(folder: Path) -> None:
    Path("slow_for_cli.py").write_text(
        "import time\nfrom pathlib import Path\n\ndef slow(x):\n    Path('reading').touch()\n"
        "    time.sleep(0.05)\n    return x.square().sum(1)\n\n"
        "def build():\n    return slow\n"
    )
    words = "--model slow_for_cli:build --data x.npy --action linear:4 --batch-size 2 --out run"
    process = subprocess.Popen(
        [sys.executable, "-m", "liegg", "discover", *words.split()],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if Path("reading").exists():
            break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err.count("\n") == 1
    assert not Path("run").exists()
