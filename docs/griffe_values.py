"""Show the values of constants, not their names, in the signatures of the reference."""

import ast
from typing import Any

import griffe

LITERAL_TYPES = (int, float, str, bool, type(None), tuple)
"""Types whose values are shown."""


class ConstantValues(griffe.Extension):
    """Replace a default that is the name of a module constant by the value of the constant."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Visit all functions and attributes after the package was read."""
        self._package = pkg
        self._visit(pkg)

    def _visit(self, parent: griffe.Object) -> None:
        for member in parent.members.values():
            if member.is_alias:
                continue
            if isinstance(member, griffe.Function):
                for parameter in member.parameters:
                    parameter.default = self._value(parameter.default)
            elif isinstance(member, griffe.Attribute) and isinstance(parent, griffe.Class):
                member.value = self._value(member.value)
            elif isinstance(member, griffe.Module | griffe.Class):
                self._visit(member)

    def _value(self, default: Any) -> Any:
        """The literal behind a name; anything else unchanged."""
        if not isinstance(default, griffe.ExprName | griffe.ExprAttribute):
            return default
        path = default.canonical_path.removeprefix(f"{self._package.path}.")
        try:
            target = self._package[path]
            target = target.final_target if target.is_alias else target
        except (KeyError, griffe.GriffeError):
            return default
        known = isinstance(target, griffe.Attribute) and _is_literal(target.value)
        return target.value if known else default


def _is_literal(value: Any) -> bool:
    """Whether an expression is a number, a string, or a tuple of such."""
    try:
        return isinstance(ast.literal_eval(str(value)), LITERAL_TYPES)
    except (ValueError, SyntaxError):
        return False
