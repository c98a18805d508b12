"""What the tests on other packages' networks share: seeds, and a ledger of what was found that `--store` writes to a file."""

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.random import seeded
from liegg.discovery.structured import as_inputs
from liegg.inputs.batches import as_batches
from liegg.studies.provenance import provenance, write_json

PACKAGES = ("lgatr", "torch-geometric", "transformers")
COMMAND = "make test-peers STORE=--store"
ROWS: dict[str, dict[str, Any]] = {}
GRAPHS: dict[str, dict[str, Any]] = {}
BEGIN = time.perf_counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--store [FOLDER]`: write what was found to peers.json and peers-graphs.json there, by default in results."""
    parser.addoption(
        "--store",
        nargs="?",
        const="results",
        help="folder for peers.json, written if all tests pass",
    )


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Store what was found, but only if every test passed."""
    folder = session.config.getoption("--store")
    if folder and exitstatus == pytest.ExitCode.OK:
        record = provenance(COMMAND, seconds=time.perf_counter() - BEGIN)
        record["versions"] |= {name: version(name) for name in PACKAGES}
        for study, rows in (("peers", ROWS), ("peers-graphs", GRAPHS)):
            if rows:
                stored = {"study": study, "rows": rows, "provenance": record}
                write_json(stored, Path(folder) / f"{study}.json")


@pytest.fixture(autouse=True)
def fixed_seed() -> Iterator[None]:
    """Random weights are the same in every run."""
    with seeded(0):
        yield


@pytest.fixture
def discovered() -> Callable[..., liegg.Symmetries]:
    """A plain `liegg.discover`, timed beside one forward and backward pass over the same data, and entered into the ledger."""

    def run(
        title: str, model: nn.Module, data: Any, action: liegg.Action, **options: Any
    ) -> liegg.Symmetries:
        begin = time.perf_counter()
        sym = liegg.discover(model, data, action, **options)
        seconds = time.perf_counter() - begin
        _enter(title, model, sym, seconds, _forward_backward(model, data))
        return sym

    return run


@pytest.fixture
def discovered_graphs() -> Callable[..., liegg.Symmetries]:
    """A plain `liegg.discover` of graphs, timed beside one call of it with gradients, and entered into the ledger."""

    def run(
        title: str, model: nn.Module, data: Any, action: dict[str, liegg.Action], **options: Any
    ) -> liegg.Symmetries:
        given = as_inputs(model, data, action)
        rows = torch.cat(list(as_batches(given.data)))
        begin = time.perf_counter()
        sym = liegg.discover(model, data, action, **options)
        seconds = time.perf_counter() - begin
        plain = _forward_backward(given.model, rows)
        _enter(title, model, sym, seconds, plain, ledger=GRAPHS)
        return sym

    return run


@pytest.fixture
def layers_discovered() -> Callable[..., liegg.results.LayerSymmetries]:
    """A plain `liegg.discover_layers`, timed and entered into the ledger."""

    def run(
        title: str, model: nn.Module, data: Tensor, action: liegg.Action, **options: Any
    ) -> liegg.results.LayerSymmetries:
        begin = time.perf_counter()
        found = liegg.discover_layers(model, data, action, **options)
        seconds = time.perf_counter() - begin
        _enter(
            title,
            model,
            found[-1].invariance,
            seconds,
            _forward_backward(model, data),
            layers=len(found.layers),
        )
        return found

    return run


def _enter(
    title: str,
    model: nn.Module,
    sym: liegg.Symmetries,
    seconds: float,
    plain: float,
    ledger: dict[str, dict[str, Any]] = ROWS,
    **more: Any,
) -> None:
    nearest = sym.defects.tolist()
    ledger[title] = {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "samples": sym.samples,
        "dtype": sym.settings["dtype"],
        "action": repr(sym.action),
        "route": sym.settings["route"],
        "candidates": sym.action.size,
        "nullity": sym.nullity,
        "name": sym.name,
        "says": sym.decision.sentence,
        "largest_defect_found": nearest[sym.nullity - 1] if sym.nullity else None,
        "next_defect": nearest[sym.nullity] if sym.nullity < len(nearest) else None,
        "seconds": seconds,
        "forward_backward_seconds": plain,
        "notes": list(sym.notes),
    } | more


def _forward_backward(model: nn.Module, data: Any) -> float:
    """Seconds of one pass over the data with gradients of the input, or of the weights for token ids, in eval mode."""
    training = model.training
    model.eval()
    begin = time.perf_counter()
    if isinstance(data, dict):
        torch.autograd.grad(_output(model(**data)).sum(), [*model.parameters()], allow_unused=True)
    else:
        for part in data.split(64):
            x = part.clone().requires_grad_()
            torch.autograd.grad(_output(model(x)).sum(), x)
    seconds = time.perf_counter() - begin
    model.train(training)
    return seconds


def _output(returned: Any) -> Tensor:
    """The logits of a record."""
    return returned if isinstance(returned, Tensor) else returned.logits
