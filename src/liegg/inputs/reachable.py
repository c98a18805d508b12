"""The modules that a callable uses, found through closures, globals, attributes and containers."""

import functools
import inspect
from types import CellType, CodeType
from typing import Any

from torch import Tensor, nn

SEARCH_DEPTH = 5
"""Links from a callable to its modules: a lambda, a function, an object, its list of modules."""


def modules_inside(function: Any) -> list[nn.Module]:
    """Modules that a callable can reach, nearest first."""
    modules: list[nn.Module] = []
    seen: set[int] = set()
    level: list[Any] = [function]
    for _ in range(SEARCH_DEPTH):
        level = list({id(part): part for part in level if id(part) not in seen}.values())
        seen.update(map(id, level))
        modules += [part for part in level if isinstance(part, nn.Module)]
        level = [
            inner for part in level if not isinstance(part, nn.Module) for inner in _held(part)
        ]
    return modules


def _held(part: Any) -> list[Any]:
    """What an object holds directly and might call."""
    if isinstance(part, functools.partial):
        return [part.func, *part.args, *part.keywords.values()]
    if inspect.ismethod(part):
        return [part.__self__, part.__func__]
    if inspect.isfunction(part):
        # An empty cell has no contents.
        cells = [cell.cell_contents for cell in part.__closure__ or () if cell != CellType()]
        is_library = (part.__module__ or "").partition(".")[0] in ("torch", "numpy")
        names = [] if is_library else _names(part.__code__)
        variables = [part.__globals__.get(name) for name in names]
        defaults = [*(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
        return [*cells, *defaults, *variables]
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if inspect.isclass(part) or inspect.ismodule(part) or isinstance(part, Tensor):
        return []
    return list(getattr(part, "__dict__", {}).values())


def _names(code: CodeType) -> list[str]:
    """Names that the code of a function and of its inner functions looks up."""
    return [
        *code.co_names,
        *(name for inner in code.co_consts if inspect.iscode(inner) for name in _names(inner)),
    ]
