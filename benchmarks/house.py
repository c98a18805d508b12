"""The house in numbers: what a reader of the sources, and a call, have to walk through; writes results/house.json.

python benchmarks/house.py [--before PATH_TO_AN_EARLIER_SRC]    (without it, the stored counts of the earlier version are kept)
"""

import argparse
import ast
import inspect
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")


def of_sources(package: Path) -> dict[str, Any]:
    """Counts that the sources alone give."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in package.rglob("*.py")}
    statements = {path: sum(map(is_statement, ast.walk(tree))) for path, tree in trees.items()}
    names = [
        target.id
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(target)
        if isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id)
    ]
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in trees)
    studies = sum(n for path, n in statements.items() if "studies" in path.parts)
    return {
        "statements": sum(statements.values()),
        "statements_of_studies": studies,
        "statements_of_each_folder": {
            folder.name: sum(n for path, n in statements.items() if folder in path.parents)
            for folder in sorted(package.iterdir())
            if folder.is_dir() and folder.name != "__pycache__"
        },
        "files": len(trees),
        "median_lines_of_a_file": lengths[len(lengths) // 2],
        "entries_at_the_top": len([p for p in package.iterdir() if p.name != "__pycache__"]),
        "folders_at_the_top": len(
            [p for p in package.iterdir() if p.is_dir() and p.name != "__pycache__"]
        ),
        "constants": len(names),
        "constant_names_with_several_meanings": {
            name: count for name, count in Counter(names).most_common() if count > 2
        },
    }


def is_statement(node: ast.AST) -> bool:
    """Whether a node is a statement other than a docstring."""
    text = (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    return isinstance(node, ast.stmt) and not text


def of_a_call() -> dict[str, Any]:
    """Counts of one analysis, its printed table, and a printed table after loading; runs under either source tree."""
    import tempfile

    import torch

    import liegg

    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def analyse() -> Any:
        return liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))

    str(analyse())  # everything is imported
    sym, discover = counted(analyse)
    _, printed = counted(lambda: str(sym))
    folder = tempfile.mkdtemp()
    sym.save(folder)
    loaded, load = counted(lambda: liegg.load(folder))
    _, printed_again = counted(lambda: str(loaded))
    public = [name for name in dir(sym) if not name.startswith("_")]
    return {
        "discover": discover,
        "print": printed,
        "load": load,
        "print_after_load": printed_again,
        "public_attributes_of_a_result": len(public),
        "of_these_methods": sum(
            callable(inspect.getattr_static(type(sym), name, None)) for name in public
        ),
        "arguments_of_discover": len(inspect.signature(liegg.discover).parameters),
        "public_names": len(liegg.__all__),
    }


def counted(work: Any) -> tuple[Any, dict[str, int]]:
    """What work returns, and how many calls of functions in which files of the package it made."""
    calls: Counter[tuple[str, str]] = Counter()

    def profile(frame: Any, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and f"{os.sep}liegg{os.sep}" in path:
            calls[path, frame.f_code.co_qualname] += 1

    sys.setprofile(profile)
    try:
        value = work()
    finally:
        sys.setprofile(None)
    return value, {
        "calls": sum(calls.values()),
        "functions": len(calls),
        "files": len({path for path, _ in calls}),
    }


def measured(source: Path) -> dict[str, Any]:
    """All counts of a source tree, those of a call included."""
    return of_sources(source / "liegg") | printed_by(source, __file__, "--call")


def printed_by(source: Path, *command: str) -> dict[str, Any]:
    """The JSON that a script prints, in a process of its own with a source tree first on the path."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    """Measure this tree, and another if given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="src folder of an earlier version")
    parser.add_argument("--call", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.call:
        print(json.dumps(of_a_call()))
        return
    from liegg.studies.provenance import provenance, write_json

    begin = time.perf_counter()
    out = ROOT / "results" / "house.json"
    walks = printed_by(ROOT / "src", str(ROOT / "benchmarks" / "walks.py"))
    results = {"now": measured(ROOT / "src") | {"walks": walks}}
    if asked.before is not None:
        results["before"] = measured(asked.before)
    elif out.exists():
        results["before"] = json.loads(out.read_text(encoding="utf-8"))["before"]
    seconds = time.perf_counter() - begin
    write_json(
        {"provenance": provenance("python benchmarks/house.py", seconds=seconds), **results}, out
    )
    for name, numbers in results.items():
        print(name, json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
