"""The quick form of every study, run once for all tests that look at it, as a user runs it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `liegg reproduce all --quick` leaves; not to be changed."""
    folder = tmp_path_factory.mktemp("quick")
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "liegg",
        "reproduce",
        "all",
        "--quick",
        "--out",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"Page: {folder / 'index.html'}"
    return folder
