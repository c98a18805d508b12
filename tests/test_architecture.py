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

LAYERS = [
    "_utils",
    "algebra",
    "inputs",
    "actions",
    "polarization",
    "spectrum",
    "decision",
    "results",
    "discovery",
    "report",
    "studies",
    "cli",
]
"""Along the flow. A module imports from its own folder and from earlier ones; `algebra` knows bare tensors only, so it comes early."""

RANK = {name: rank for rank, name in enumerate(LAYERS)} | {
    "testing": LAYERS.index("discovery") + 0.5,
    "__main__": len(LAYERS),
}

OPTIONAL = {
    *("matplotlib", "typer", "rich", "pooch", "jinja2"),
    *("jax", "onnx", "onnxruntime", "onnx2torch", "pandas", "pyarrow", "PIL"),
}
"""Packages that come with extras."""

PUBLIC_NAMES = """
    Action Affine Color Image LieggError Linear Product Run Sequence Symmetries Thresholds Volume
    __version__ actions algebra compare discover discover_data discover_group discover_layers
    foreign identify layer_errors load plot results scaling se so testing translation verify
"""
PUBLIC = PUBLIC_NAMES.split()


def part_of(module: str) -> str:
    """Folder that a module belongs to: `liegg.actions.linear` is part of `actions`."""
    return module.split(".")[1] if "." in module else module


def at_import(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported: no function bodies, no `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from (
                statement for other in child.orelse for statement in (other, *at_import(other))
            )
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from at_import(child)


def names_of(statements: Iterator[ast.AST]) -> set[str]:
    """Modules that import statements name; `from liegg import data` counts as `liegg.data`."""
    names = set()
    for statement in statements:
        if isinstance(statement, ast.Import):
            names |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            home = "." * statement.level + (statement.module or "")
            names |= (
                {f"liegg.{alias.name}" for alias in statement.names} if home == "liegg" else {home}
            )
    return names


def imported(tree: ast.Module) -> set[str]:
    """Modules imported when a module is."""
    return names_of(at_import(tree))


def wrong_way(module: str, tree: ast.Module) -> list[str]:
    """Imports of `liegg` modules that do not point back along the flow."""
    own = part_of(module)
    inside = {name for name in imported(tree) if name.startswith("liegg")}
    return sorted(
        name
        for name in inside
        if part_of(name) != own and not RANK.get(part_of(name), len(LAYERS)) < RANK[own]
    )


def offenders(
    rule: Callable[[str, ast.Module], list], *, but: tuple[str, ...] = ()
) -> dict[str, list]:
    """Modules that break a rule, with what breaks it."""
    found = {
        module: rule(module, tree) for module, tree in TREES.items() if part_of(module) not in but
    }
    return {module: places for module, places in found.items() if places}


def test_imports_point_one_way():
    assert {part_of(module) for module in TREES} - {"liegg"} == set(RANK)
    assert offenders(wrong_way, but=("liegg",)) == {}


def test_the_top_reads_as_the_pipeline():
    assert sorted(path.name for path in SOURCE.iterdir() if path.name != "__pycache__") == sorted(
        [*LAYERS, "__init__.py", "__main__.py", "py.typed", "testing.py"]
    )


def test_imports_are_absolute():
    assert (
        offenders(lambda _, tree: [name for name in imported(tree) if name.startswith(".")]) == {}
    )


def test_only_the_command_line_imports_studies():
    def studies(module: str, tree: ast.Module) -> list[str]:
        return [name for name in names_of(ast.walk(tree)) if part_of(name) == "studies"]

    assert set(offenders(studies, but=("studies",))) <= {"liegg.cli.demo", "liegg.cli.reproduce"}


def test_algebra_knows_no_models():
    def outside(module: str, tree: ast.Module) -> list[str]:
        inside = {part_of(name) for name in imported(tree) if name.startswith("liegg")}
        return sorted(inside - {"algebra", "_utils"}) if part_of(module) == "algebra" else []

    assert offenders(outside) == {}


def test_optional_packages_are_imported_where_they_are_used():
    def optional(module: str, tree: ast.Module) -> list[str]:
        return sorted({name.partition(".")[0] for name in imported(tree)} & OPTIONAL)

    assert set(offenders(optional, but=("studies", "cli"))) <= {"liegg.report.plots"}


def test_importing_loads_nothing_heavy():
    heavy = "{'torch', 'numpy', 'scipy', 'matplotlib', 'safetensors'}"
    code = (
        f"import sys, liegg, liegg.cli, liegg.__main__; print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_surface():
    assert sorted(liegg.__all__) == sorted(PUBLIC)
    assert sorted(dir(liegg)) == sorted(PUBLIC)
    for name in PUBLIC:
        value = getattr(liegg, name)
        assert getattr(value, "__name__", name).rpartition(".")[2] in (name, "plots")
    with pytest.raises(AttributeError, match="module 'liegg' has no attribute 'discovr'"):
        _ = liegg.discovr
    with pytest.raises(AttributeError, match=r"it is liegg\.actions\.Blocks now"):
        _ = liegg.Blocks


# What sources may not hold


def undocumented(_: str, tree: ast.Module) -> list[str]:
    """Public modules, classes, functions and methods without a docstring."""
    found = [] if ast.get_docstring(tree) else ["the module"]
    level: list[ast.AST] = [tree]
    while level:
        for node in ast.iter_child_nodes(level.pop()):
            if not isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
            ) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                found.append(node.name)
            if isinstance(node, ast.ClassDef):
                level.append(node)
    return found


def prints(_: str, tree: ast.Module) -> list[int]:
    """Lines that call `print`; a console's own `print` method is another thing."""
    return [
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and ast.unparse(n.func) in ("print", "sys.stdout.write")
    ]


def asserts(_: str, tree: ast.Module) -> list[int]:
    """Lines with an `assert` statement: it vanishes under -O, and says nothing to a user."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def swallowed(_: str, tree: ast.Module) -> list[int]:
    """Lines of handlers that catch everything, or do nothing with what they caught."""
    idle = (ast.Pass, ast.Continue)
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return [
        handler.lineno
        for handler in handlers
        if handler.type is None
        or all(
            isinstance(s, idle) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
            for s in handler.body
        )
    ]


def unpickles(_: str, tree: ast.Module) -> list[int]:
    """Lines that could unpickle: `pickle` itself, `torch.load` without `weights_only=True`, `allow_pickle` other than False."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            found += [
                node.lineno
                for name in names
                if name.partition(".")[0] in ("pickle", "dill", "joblib", "cloudpickle")
            ]
        elif isinstance(node, ast.Call):
            knobs = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if ast.unparse(node.func) == "torch.load" and knobs.get("weights_only") != "True":
                found.append(node.lineno)
            if knobs.get("allow_pickle", "False") != "False":
                found.append(node.lineno)
    return found


def concrete_actions(kind: type = liegg.Action) -> set[str]:
    """Names of the actions that liegg defines; `Tensor` is also the name of torch's."""
    below = kind.__subclasses__()
    own = {one.__name__ for one in below if one.__module__.startswith("liegg.actions")}
    return (own | {name for one in below for name in concrete_actions(one)}) - {
        *("MatrixAction", "Tensor")
    }


def switches_on_actions(module: str, tree: ast.Module) -> list[int]:
    """Lines outside `actions/` that ask which concrete action they were given."""
    concrete = concrete_actions()
    if part_of(module) == "actions":
        return []
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
    ]
    return [
        call.lineno
        for call in calls
        if {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)} & concrete
    ]


def many_lines(module: str, tree: ast.Module) -> list[int]:
    """The number of lines, where it is more than 400; the enumeration of diagnoses is a table, and as long as it has to be."""
    if module == "liegg._utils.diagnoses":
        return []
    lines = tree.body[-1].end_lineno or 0 if tree.body else 0
    return [lines] if lines > 400 else []


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """All functions and methods of a module."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def long_functions(_: str, tree: ast.Module) -> list[str]:
    """Functions of more than 60 lines, docstring left out."""
    return [
        node.name
        for node in functions(tree)
        if (node.end_lineno or 0) - node.lineno + 1 - docstring_lines(node) > 60
    ]


def docstring_lines(node: ast.FunctionDef) -> int:
    """Lines of a function's docstring."""
    first = node.body[0]
    return (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0


CALLED_BY_TORCH = {"vmap", "_attention_arguments", "attention_tangent", "layer_norm_tangent"}
"""Functions whose signature torch fixes."""


def many_positional(module: str, tree: ast.Module) -> list[str]:
    """Functions with more than four positional arguments; those of commands are options."""
    if part_of(module) == "cli":
        return []
    return [
        node.name
        for node in functions(tree)
        if node.name not in CALLED_BY_TORCH
        and len([a for a in (*node.args.posonlyargs, *node.args.args) if a.arg != "self"]) > 4
    ]


RULES: dict[Callable[[str, ast.Module], list], tuple[str, str]] = {
    undocumented: ('"""m"""\ndef f():\n  ...', '"""m"""\ndef f():\n  """d"""\ndef _g(): ...'),
    prints: ("print(1)", "console.print(1)"),
    asserts: ("assert x", "raise AssertionError"),
    swallowed: ("try:\n  f()\nexcept OSError:\n  pass", "try:\n  f()\nexcept OSError:\n  g()"),
    unpickles: ("torch.load(path)", "torch.load(path, weights_only=True)"),
    switches_on_actions: ("isinstance(action, Linear | Affine)", "isinstance(action, Action)"),
    many_lines: ("\n" * 400 + "x = 1", "x = 1"),
    long_functions: (
        "def f():\n" + "  x = 1\n" * 60,
        'def f():\n  """d\n\n  e"""\n' + "  x = 1\n" * 59,
    ),
    many_positional: ("def f(a, b, c, d, e): ...", "def f(self, a, b, c, d, *, e): ..."),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_sources_keep_the_rules(rule):
    bad, good = RULES[rule]
    assert rule("liegg.results.text", ast.parse(bad))
    assert not rule("liegg.results.text", ast.parse(good))
    assert offenders(rule) == {}


def test_the_rule_knows_all_actions():
    assert {"Linear", "Affine", "Grid", "Irrep", "Slots", "Product"} < concrete_actions()


def test_imports_are_read_as_python_runs_them():
    for code, names in [
        ("import numpy as np", {"numpy"}),
        ("from liegg import data, model", {"liegg.data", "liegg.model"}),
        ("from liegg.actions import Linear", {"liegg.actions"}),
        ("from . import data", {"."}),
        ("if TYPE_CHECKING:\n  import typer\nelse:\n  import rich", {"rich"}),
        ("def f():\n  import scipy", set()),
        ("class A:\n  import scipy\n  def f(self):\n    import rich", {"scipy"}),
        ("try:\n  import rich\nexcept ImportError:\n  import typer", {"rich", "typer"}),
    ]:
        assert imported(ast.parse(code)) == names
    for module, code, found in [
        ("liegg.inputs.model", "from liegg.actions import Linear", ["liegg.actions"]),
        ("liegg.actions.linear", "from liegg.inputs.model import Model", []),
        ("liegg.actions.linear", "from liegg.actions.base import Action", []),
        ("liegg.spectrum.metrics", "import liegg.cli", ["liegg.cli"]),
        ("liegg.spectrum.metrics", "from liegg import discover", ["liegg.discover"]),
        ("liegg.cli.demo", "import liegg", ["liegg"]),
    ]:
        assert wrong_way(module, ast.parse(code)) == found


def test_every_listed_slow_test_exists():
    root = SOURCE.parents[1]
    lines = (root / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == len({*lines})
    for line in lines:
        path, *_, name = line.partition("[")[0].split("::")
        assert f"def {name}(" in (root / path).read_text(encoding="utf-8"), line
