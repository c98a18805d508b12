"""What all tests share: shape checks by jaxtyping and beartype, and how processes share the tests."""

import signal
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

SHAPES_CHECKED = find_spec("beartype") is not None
"""Whether shapes are checked at every call. Without beartype the tests run all the same."""

if SHAPES_CHECKED:
    install_import_hook("liegg", "beartype.beartype")

# How long an example takes says something of the machine, not of the library.
settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("timeless")

collect_ignore = ["tests/gpu"]
"""Tests that need a GPU run where they are named: `make test-gpu`."""

SLOW = Path(__file__).parent / "tests" / "slow.txt"
"""Names of tests that take long, one a line."""

ALONE = ("tests/test_benchmarks.py", "tests/test_documentation.py")
"""Files whose tests are long and share nothing."""

SHARED = {"quick_folder": "quick", "analysed(case)": "cases", "recorded.analyses": "cases"}
"""Words of files that share results, and the group: the quick studies, and the functions of known symmetry."""


def pytest_configure() -> None:
    """Let tests press Ctrl-C also where a shell started them in the background, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header(config: pytest.Config) -> str:
    """Say whether shapes are checked."""
    return (
        "shapes: checked by jaxtyping and beartype"
        if SHAPES_CHECKED
        else "shapes: NOT checked, beartype is not installed"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what is listed, and what reads the quick studies, which take minutes to run."""
    listed = {*SLOW.read_text(encoding="utf-8").splitlines()}
    for item in items:
        if item.nodeid in listed or "quick_folder" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@cache
def scope(path: str) -> str:
    """Group of tests that one process runs: a file, or all files that read the same results."""
    if path.startswith("tests/report/"):
        return "report"
    text = (Path(__file__).parent / path).read_text(encoding="utf-8")
    return next((group for word, group in SHARED.items() if word in text), path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests by file. The groups of xdist 3.8 do not work with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::")[0]
            return nodeid if path in ALONE else scope(path)

    return ByFile(config, log)
