# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false
"""Three walks that a reader of the sources takes, measured; `benchmarks/house.py` stores them.

Another rank rule, an action of one's own, and one batch from `discover` to the printed table.
"""

import inspect
import json
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

import liegg
from liegg.decision import rank, thresholds

ROOMS = (
    *("_utils", "algebra", "inputs", "actions", "polarization", "spectrum", "decision"),
    *("results", "discovery", "report", "studies", "cli"),
)
"""Folders of the package in the order of imports, see `tests/test_architecture.py`."""

HOME = "/liegg/"


class Quadratic(liegg.Action):
    """The twelve vector fields of the plane of degree at most two, with a Runge–Kutta flow."""

    size = 12
    words = tuple(f"{m}∂{c}" for c in "xy" for m in ("", "x", "y", "x²", "xy", "y²"))

    def field(self, h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Velocity of every sample."""
        a, b = x.unbind(1)
        monomials = torch.stack([torch.ones_like(a), a, b, a * a, a * b, b * b], dim=1)
        return monomials @ h.to(x).reshape(2, 6).mT

    def act(self, h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Every sample after a time of one."""
        for _ in range(16):
            k1 = self.field(h, x) / 16
            k2 = self.field(h, x + k1 / 2) / 16
            k3 = self.field(h, x + k2 / 2) / 16
            k4 = self.field(h, x + k3) / 16
            x = x + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return x


class Walk:
    """Records which functions of the package call which while it is entered.

    Attributes:
        functions: file and name of every function that was called.
        jumps_back: calls from a folder into a later one; wrappers of `_utils` left out.
        rule: for every call of the rank rule, the files and names of the functions that led to it.
        deepest: most functions of the package that wait for one another.
    """

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.jumps_back: set[str] = set()
        self.rule: list[list[tuple[str, str]]] = []
        self.deepest = 0

    def __enter__(self) -> "Walk":
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (here := place(frame.f_code)) is None:
            return
        stack, above = [here], frame.f_back
        while above is not None:
            if (other := place(above.f_code)) is not None:
                stack.append(other)
            above = above.f_back
        self.functions.add(here)
        self.deepest = max(self.deepest, len(stack))
        if here == ("decision/rank.py", "levels"):
            self.rule.append(stack)
        if len(stack) > 1:
            room, before = (ROOMS.index(path.partition("/")[0]) for path, _ in stack[:2])
            if 0 < before < room:
                self.jumps_back.add(f"{stack[1][1]} -> {here[1]}")


def place(code: CodeType) -> tuple[str, str] | None:
    """File inside the package and name of a function; None for others."""
    _, inside, path = Path(code.co_filename).as_posix().rpartition(HOME)
    known = inside and path.partition("/")[0] in ROOMS
    return (path, code.co_qualname) if known else None


def samples(*, dimension: int) -> torch.Tensor:
    """Two hundred normal samples."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(200, dimension, generator=generator, dtype=torch.float64)


def analyse() -> liegg.Symmetries:
    """One batch of a function with so(3)."""
    return liegg.discover(lambda x: x.square().sum(1), samples(dimension=3), liegg.Linear(3))


def another_rule() -> dict[str, Any]:
    """The rank rule replaced by one that counts all directions, in its one place, and what follows it."""

    def everything(case: Any, numbers: Any) -> Any:
        shape = torch.broadcast_shapes(case.values.shape[:-1], numbers.shape[:-1])
        return torch.full((*shape, 4), case.values.shape[-1])

    reading = [inspect.getsource(module) for module in (rank, thresholds)]
    before, rule = analyse().decision, rank.levels.__code__
    rank.levels.__code__ = everything.__code__
    try:
        after = analyse().decision
    finally:
        rank.levels.__code__ = rule
    return {
        "files_to_read": len(reading),
        "lines_to_read": sum(len(text.splitlines()) for text in reading),
        "replaced": ".".join([rank.__name__, rank.levels.__name__]),
        "levels_before": before.levels,
        "levels_after": after.levels,
    }


def own_action() -> dict[str, Any]:
    """An action of 25 lines through every verb; files of the package that name it."""

    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x[:, 1] - x[:, 0].square())

    def bent(x: torch.Tensor) -> torch.Tensor:
        return model(x) + 0.02 * torch.sin(3 * x[:, 0])

    x, action = samples(dimension=2), Quadratic()
    folder = tempfile.mkdtemp()
    liegg.testing.assert_is_action(action, 0.3 * x[:20])
    sym = liegg.discover(model, x, action)
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    verbs = {
        "discover": lambda: sym,
        "print": lambda: str(sym),
        "to_dict": sym.to_dict,
        "save": lambda: sym.save(folder),
        "load": lambda: liegg.load(folder, action=action),
        "report": lambda: sym.report(Path(folder) / "report.html"),
        "verify": lambda: liegg.verify(model, x, sym, points=5, controls=2),
        "compare": lambda: liegg.compare(sym, liegg.discover(bent, x, action)),
        "discover_layers": lambda: liegg.discover_layers(net.double(), x, action),
    }
    package = Path(inspect.getfile(liegg)).parent
    lines = [line for line in inspect.getsource(Quadratic).splitlines() if line.strip()]
    return {
        "lines": len(lines),
        "found": sym.nullity,
        "verbs": [name for name, verb in verbs.items() if verb() is not None],
        "files_of_the_package_that_name_it": sum(
            "Quadratic(" in path.read_text(encoding="utf-8") for path in package.rglob("*.py")
        ),
    }


def one_batch() -> dict[str, Any]:
    """From `discover` to the printed table: functions, files, the deepest stack, calls into a later folder."""
    with Walk() as walk:
        str(analyse())
    shortest = min(walk.rule, key=len)
    start = next(k for k, (_, name) in enumerate(shortest) if name == "discover")
    return {
        "functions": len(walk.functions),
        "files": len({path for path, _ in walk.functions}),
        "deepest_stack": walk.deepest,
        "jumps_back": sorted(walk.jumps_back),
        "decisions": sum(stack[1][1] == "decide" for stack in walk.rule),
        "calls_of_the_rank_rule": len(walk.rule),
        "hops_to_the_rank_rule": start,
        "files_to_the_rank_rule": len({path for path, _ in shortest[: start + 1]}),
    }


def main() -> None:
    """Print the walks as JSON."""
    analyse()  # everything is imported
    walks = {
        "another_rank_rule": another_rule(),
        "own_action": own_action(),
        "one_batch": one_batch(),
    }
    print(json.dumps(walks))


if __name__ == "__main__":
    main()
