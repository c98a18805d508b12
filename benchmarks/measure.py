"""Time and peak memory of one piece of work, each in a process of its own where memory is asked for."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def alternating(
    works: dict[str, Callable[[], object]],
    repeats: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median time of each piece of work, taken in turns so that a slow spell of the machine falls on all of them."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            begin = clock()
            work()
            times[name].append(clock() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def reset_peak() -> None:
    """Forget the largest memory so far (Linux), so that what importing took does not hide what the work takes."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Largest resident memory since `reset_peak`."""
    return _status("VmHWM")


def resident_bytes() -> int:
    """Resident memory now."""
    return _status("VmRSS")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def in_process(script: Path, *words: str) -> dict:
    """Run a script by itself; it prints one JSON object last."""
    done = subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
