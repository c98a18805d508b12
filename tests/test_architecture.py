"""The rules of the house, read from the sources: import direction, public surface, docstrings, nothing printed or asserted."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import liegg

SOURCE = Path(__file__).parents[1] / "src" / "liegg"
PATHS = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}

# Left to right along the flow. A module may import what stands in an earlier line, and its own package.
ORDER = [
    ["_errors", "_version", "_types", "_checks"],
    ["_compiled", "_device", "_precision", "_random", "_write"],
    ["_distinct", "_forward", "_linalg"],
    ["algebra", "data"],
    ["model"],
    ["entrance"],
    ["fresh", "linearity"],
    ["actions"],
    ["combinations"],
    ["motion", "polarization"],
    ["health"],
    ["accumulate"],
    ["rounding"],
    ["gram"],
    ["blocks"],
    ["memory", "tally"],
    ["marks"],
    ["shares"],
    ["checkpoints"],
    ["stream"],
    ["passes"],
    ["spectrum"],
    ["equivariance", "defect", "smallest"],
    ["bottom"],
    ["metrics", "pairs", "resample", "grades", "extent"],
    ["controls", "certainty", "stillness"],
    ["verdict"],
    ["symmetries"],
    ["contrast"],
    ["comparison"],
    ["verification"],
    ["storage"],
    ["conclusion"],
    ["discovery"],
    ["layers"],
    ["testing"],
    ["report"],
    ["runs"],
    ["studies"],
    ["files"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}

OPTIONAL = {"matplotlib", "typer", "rich", "scipy", "pooch", "jinja2"}
"""Packages that come with extras, or are slow to load."""

PUBLIC = [
    "Action", "Affine", "Banded", "Blocks", "Color", "Comparison", "Decision", "Identification", "Image", "KroneckerSum",
    "LayerSymmetries", "LieggError", "Linear", "Product", "Sequence", "Symmetries", "Verification", "Volume", "Weights",
    "__version__", "aff", "algebra", "compare", "diagonal", "direct_sum", "discover", "discover_layers", "gl", "heis", "identify",
    "load", "memory", "o", "plot", "scaling", "se", "shear", "sl", "smooth", "so", "sp", "su", "testing", "translation", "u",
    "verify",
]  # fmt: skip


def part_of(module: str) -> str:
    """Stage that a module belongs to: `liegg.actions.linear` is part of `actions`."""
    return module.split(".")[1] if "." in module else module


def at_import(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported: no function bodies, no `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from (statement for other in child.orelse for statement in (other, *at_import(other)))
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from at_import(child)


def imported(tree: ast.Module) -> set[str]:
    """Modules imported when a module is; `from liegg import data` counts as `liegg.data`."""
    names = set()
    for statement in at_import(tree):
        if isinstance(statement, ast.Import):
            names |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            home = "." * statement.level + (statement.module or "")
            names |= {f"liegg.{alias.name}" for alias in statement.names} if home == "liegg" else {home}
    return names


def wrong_way(module: str, tree: ast.Module) -> list[str]:
    """Imports of `liegg` modules that do not point back along the flow."""
    own = part_of(module)
    inside = {name for name in imported(tree) if name.startswith("liegg")}
    return sorted(name for name in inside if part_of(name) != own and not RANK.get(part_of(name), len(ORDER)) < RANK[own])


@pytest.mark.parametrize("module", [name for name in TREES if name != "liegg"])
def test_imports_point_one_way(module):
    assert part_of(module) in RANK, f"{module} has no place in ORDER: add it where it belongs in the flow"
    assert wrong_way(module, TREES[module]) == []


@pytest.mark.parametrize("module", TREES)
def test_imports_are_absolute(module):
    assert not [name for name in imported(TREES[module]) if name.startswith(".")]


def test_the_package_itself_imports_only_its_version():
    assert {name for name in imported(TREES["liegg"]) if name.startswith("liegg")} == {"liegg._version"}


@pytest.mark.parametrize("module", [name for name in TREES if part_of(name) == "algebra"])
def test_algebra_knows_no_models(module):
    inside = {part_of(name) for name in imported(TREES[module]) if name.startswith("liegg")}
    assert inside <= {"algebra", "_errors", "_linalg", "_types", "_checks"}


@pytest.mark.parametrize("module", TREES)
def test_optional_packages_are_imported_where_they_are_used(module):
    if part_of(module) in ("studies", "cli") or module == "liegg.report.plots":
        return
    assert not {name.partition(".")[0] for name in imported(TREES[module])} & OPTIONAL


@pytest.mark.parametrize("module", ["liegg", "liegg.cli", "liegg.__main__"])
def test_importing_loads_nothing_heavy(module):
    heavy = "{'torch', 'numpy', 'scipy', 'matplotlib', 'safetensors'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Public surface


def test_the_public_surface():
    assert sorted(liegg.__all__) == sorted(PUBLIC)
    assert sorted(dir(liegg)) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves(name):
    value = getattr(liegg, name)
    assert value is not None
    assert getattr(value, "__name__", name) in (name, f"liegg.{name}", "liegg.report.plots")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'liegg' has no attribute 'discovr'"):
        _ = liegg.discovr


# What sources may not hold


def undocumented(tree: ast.Module) -> list[str]:
    """Public modules, classes, functions and methods without a docstring."""
    found = [] if ast.get_docstring(tree) else ["the module"]
    level: list[ast.AST] = [tree]
    while level:
        for node in ast.iter_child_nodes(level.pop()):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                found.append(node.name)
            if isinstance(node, ast.ClassDef):
                level.append(node)
    return found


def prints(tree: ast.Module) -> list[int]:
    """Lines that call `print`; a console's own `print` method is another thing."""
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) in ("print", "sys.stdout.write")]


def asserts(tree: ast.Module) -> list[int]:
    """Lines with an `assert` statement: it vanishes under -O, and says nothing to a user."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def swallowed(tree: ast.Module) -> list[int]:
    """Lines of handlers that catch everything by name of nothing, or do nothing with what they caught."""
    idle = (ast.Pass, ast.Continue)
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return [
        handler.lineno
        for handler in handlers
        if handler.type is None
        or all(isinstance(s, idle) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in handler.body)
    ]


def unpickles(tree: ast.Module) -> list[int]:
    """Lines that could unpickle: `pickle` itself, `torch.load` without `weights_only=True`, `allow_pickle` other than False."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [node.lineno for name in names if name.partition(".")[0] in ("pickle", "dill", "joblib", "cloudpickle")]
        elif isinstance(node, ast.Call):
            knobs = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if ast.unparse(node.func) == "torch.load" and knobs.get("weights_only") != "True":
                found.append(node.lineno)
            if knobs.get("allow_pickle", "False") != "False":
                found.append(node.lineno)
    return found


RULES: dict[Callable[[ast.Module], list[str] | list[int]], tuple[str, str]] = {
    undocumented: ('"""m"""\ndef f():\n  ...', '"""m"""\ndef f():\n  """d"""\ndef _g(): ...'),
    prints: ("print(1)", "console.print(1)"),
    asserts: ("assert x", "raise AssertionError"),
    swallowed: ("try:\n  f()\nexcept OSError:\n  pass", "try:\n  f()\nexcept OSError:\n  g()"),
    unpickles: ("torch.load(path)", "torch.load(path, weights_only=True)"),
}


@pytest.mark.parametrize("module", TREES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_sources_keep_the_rules(rule, module):
    assert rule(TREES[module]) == []


@pytest.mark.parametrize("module", PATHS)
def test_no_module_is_longer_than_400_lines(module):
    assert len(PATHS[module].read_text(encoding="utf-8").splitlines()) <= 400


# The rules themselves


@pytest.mark.parametrize(("rule", "bad", "good"), [(rule, *examples) for rule, examples in RULES.items()])
def test_rules_tell_bad_from_good(rule, bad, good):
    assert rule(ast.parse(bad))
    assert not rule(ast.parse(good))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import numpy as np", {"numpy"}),
        ("from liegg import data, model", {"liegg.data", "liegg.model"}),
        ("from liegg.actions import Linear", {"liegg.actions"}),
        ("from . import data", {"."}),
        ("if TYPE_CHECKING:\n  import typer\nelse:\n  import rich", {"rich"}),
        ("def f():\n  import scipy", set()),
        ("class A:\n  import scipy\n  def f(self):\n    import rich", {"scipy"}),
        ("try:\n  import rich\nexcept ImportError:\n  import typer", {"rich", "typer"}),
    ],
)
def test_imported_reads_what_runs_at_import(code, names):
    assert imported(ast.parse(code)) == names


@pytest.mark.parametrize(
    ("module", "code", "found"),
    [
        ("liegg.data", "from liegg.model import Model", ["liegg.model"]),
        ("liegg.model", "from liegg.data import Data", []),
        ("liegg.actions.linear", "from liegg.actions._base import Action", []),
        ("liegg.spectrum", "import liegg.cli", ["liegg.cli"]),
        ("liegg.spectrum", "from liegg import discover", ["liegg.discover"]),
        ("liegg.cli", "import liegg", ["liegg"]),
    ],
)
def test_wrong_way_finds_imports_against_the_flow(module, code, found):
    assert wrong_way(module, ast.parse(code)) == found
