"""Options of the tests on a GPU, and the figures that `--store` writes to a file."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu.agreement import FULL_PRECISION, PRODUCTS

COMMAND = "make test-gpu STORE=--store"
NO_GPU = (
    "torch {torch} sees no GPU, so nothing was tested. Run these tests with a Python whose torch "
    "has CUDA (make test-gpu PYTHON=...), or pass --device cpu to try the tests themselves."
)
FIGURES: dict[str, dict[str, Any]] = {}
OUTCOMES: dict[str, str] = {}
START = time.perf_counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--store [FOLDER]` and `--device NAME`."""
    parser.addoption(
        "--store",
        nargs="?",
        const="results",
        help="write the figures to FOLDER/gpu.json [results] if all tests pass",
    )
    parser.addoption("--device", default="cuda", help="device compared with the CPU [cuda]")


def pytest_sessionstart(session: pytest.Session) -> None:
    """End at once where there is no GPU."""
    if session.config.getoption("--device") == "cuda" and not torch.cuda.is_available():
        pytest.exit(NO_GPU.format(torch=torch.__version__), returncode=1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pass over two warnings of torch about itself: its own use of torch.jit, and the order of its start-up."""
    for item in items:
        for text in ("`torch.jit", "Attempting to run cuBLAS"):
            item.add_marker(pytest.mark.filterwarnings(f"ignore:.*{text}"))


def pytest_report_header(config: pytest.Config) -> str:
    """Name the device."""
    return f"device: {device_name(config)}, torch {torch.__version__}"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the outcome of every test."""
    if report.when == "call" or report.outcome != "passed":
        OUTCOMES[report.nodeid.removeprefix("tests/gpu/")] = report.outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures, whether all tests passed or not."""
    if FIGURES:
        terminalreporter.section("figures")
    for name, values in FIGURES.items():
        line = ", ".join(
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in values.items()
        )
        terminalreporter.write_line(f"{name}: {line}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Store the figures, but only if every test passed."""
    folder: Any = session.config.getoption("--store")
    if not folder or exitstatus != pytest.ExitCode.OK:
        return
    from liegg.studies.provenance import provenance, write_json

    device = device_name(session.config)
    record = {
        "study": "gpu",
        "tests": {kind: list(OUTCOMES.values()).count(kind) for kind in ("passed", "skipped")},
        "skipped": sorted(name for name, outcome in OUTCOMES.items() if outcome == "skipped"),
        "figures": FIGURES,
        "cuda": torch.version.cuda,
        "provenance": provenance(COMMAND, seconds=time.perf_counter() - START, device=device),
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_json(record, Path(folder) / "gpu.json")


def device_name(config: pytest.Config) -> str:
    """Name of the device in words."""
    device = str(config.getoption("--device"))
    available = device.startswith("cuda") and torch.cuda.is_available()
    return torch.cuda.get_device_name(device) if available else device


@pytest.fixture
def device(request: pytest.FixtureRequest) -> torch.device:
    """The device that is compared with the CPU."""
    return torch.device(str(request.config.getoption("--device")))


@pytest.fixture
def cuda(device: torch.device) -> torch.device:
    """A GPU; the test is skipped elsewhere."""
    if device.type != "cuda":
        pytest.skip("needs a GPU: the CPU has no such state")
    return device


@pytest.fixture
def enter(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Add figures to the record under the name of the test."""
    title = request.node.nodeid.split("::")[-1].removeprefix("test_")

    def add(**values: Any) -> None:
        FIGURES.setdefault(title, {}).update(values)

    return add


@pytest.fixture(autouse=True)
def full_precision() -> Iterator[None]:
    """Products of float32 numbers in float32, unless a test asks for TensorFloat-32."""
    before = [place.fp32_precision for place in PRODUCTS]
    for place in PRODUCTS:
        place.fp32_precision = FULL_PRECISION
    yield
    for place, value in zip(PRODUCTS, before, strict=True):
        place.fp32_precision = value
