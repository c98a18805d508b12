"""Shape contracts are enforced in the tests only: every `liegg` module is imported through jaxtyping's hook."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jaxtyping import install_import_hook

install_import_hook("liegg", "beartype.beartype")

ALONE = ("tests/test_benchmarks.py", "tests/test_documentation.py")
"""Files whose tests are long and share nothing."""


@cache
def together(path: str) -> str:
    """Tests that one process should run: those of a file, which share what they set up; all that look at the quick studies."""
    return (
        "quick"
        if "quick_folder" in (Path(__file__).parent / path).read_text(encoding="utf-8")
        else path
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """How two processes share the tests. The groups of xdist 3.8 are lost on pytest 9.2, which no longer reads `_nodeid`."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::")[0]
            return nodeid if path in ALONE else together(path)

    return ByFile(config, log)
