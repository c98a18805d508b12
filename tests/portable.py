"""Run the tests that compute under settings that stand for other CPUs: `make test-portable`.

Each setting changes the order of sums, the instructions or the threads, and so the last digits of every
number. Tests must pass under all of them. What differs in no digit (the command line, pages, figures,
documentation, studies) is left out.

`python tests/portable.py tests/algebra --only MKL --pytest "-x"` runs one folder under some settings;
`--store` keeps the outcome in results/portable.json, beside those of other machines.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

SETTINGS = (
    {"ATEN_CPU_CAPABILITY": "default"},
    {"ATEN_CPU_CAPABILITY": "avx2"},
    {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    {"MKL_CBWR": "COMPATIBLE"},
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "2"},
)
"""Variables of the environment, set one after the other."""

COMPUTING = (
    "tests/_utils",
    "tests/inputs",
    "tests/actions",
    "tests/polarization",
    "tests/spectrum",
    "tests/decision",
    "tests/algebra",
    "tests/results",
    "tests/discovery",
    "tests/studies/ensemble",
    "tests/test_channels_last.py",
    "tests/test_recorded.py",
    "src",
)
"""Tests and doctests whose numbers can differ between CPUs."""


RESULT = ROOT / "results" / "portable.json"


def run(
    setting: dict[str, str], paths: list[str], options: list[str]
) -> tuple[int, list[str], float]:
    """Run the tests under one setting; exit status, pytest's closing line after those of failures, seconds."""
    plain = {name: value for name, value in os.environ.items() if name not in names()}
    start = time.perf_counter()
    done = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--quiet", "-m", "not slow", *options, *paths],
        cwd=ROOT,
        env=plain | {"OMP_NUM_THREADS": "1"} | setting,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    if done.stdout is None:
        raise RuntimeError("the tests have no output")
    for line in done.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        if line.startswith(("FAILED", "ERROR")) or re.search(r"\d (passed|failed|error)", line):
            lines.append(line.strip())
    return done.wait(), lines or ["no closing line"], time.perf_counter() - start


def names() -> set[str]:
    """Variables that any setting sets."""
    return {name for setting in SETTINGS for name in setting}


def processor() -> str:
    """Name of the processor, and whether it has AVX-512."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    name = re.search(r"model name\s*: (.*)", text)
    widest = "with" if "avx512f" in text else "without"
    return f"{name[1].strip() if name else 'unknown processor'}, {widest} AVX-512"


def store(outcomes: list[dict[str, object]], *, paths: list[str], seconds: float) -> None:
    """Put the outcomes of this machine beside those of others."""
    from liegg.studies.provenance import provenance

    known = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {"machines": {}}
    known["machines"][processor()] = {
        "paths": paths,
        "outcomes": outcomes,
        "provenance": provenance("python tests/portable.py --store", seconds=seconds),
    }
    RESULT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Run under every setting, whatever fails, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=list(COMPUTING), help="files and folders")
    parser.add_argument("--only", default="", help="settings whose text contains this")
    parser.add_argument("--pytest", default="--numprocesses 2", help="more options for pytest")
    parser.add_argument("--store", action="store_true", help="write results/portable.json")
    chosen = parser.parse_args()
    options = shlex.split(chosen.pytest)
    paths = [path for path in chosen.paths if (ROOT / path).exists()]
    rows, outcomes = [], []
    start = time.perf_counter()
    for setting in SETTINGS:
        title = " ".join(f"{name}={value}" for name, value in setting.items())
        if chosen.only not in title:
            continue
        print(f"== {title}", flush=True)
        status, lines, seconds = run(setting, paths, options)
        passed = {
            word: int(n)
            for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", lines[-1])
        }
        outcomes.append({"setting": title, **passed, "status": status, "failures": lines[:-1]})
        rows.append(
            f"{title:<34} {'passed' if status == 0 else 'FAILED':<7} {seconds:6.0f} s  {lines[-1]}"
        )
    print("\n".join(["", f"{'setting':<34} {'':<7} {'time':>8}  closing line", *rows]))
    if chosen.store:
        store(outcomes, paths=paths, seconds=time.perf_counter() - start)
    return int(any(one["status"] for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
