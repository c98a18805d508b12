"""Code that repeats an analysis."""

from dataclasses import fields
from typing import Any

from liegg.actions import Action
from liegg.decision.controls import REINITIALISED_DRAWS
from liegg.decision.thresholds import Thresholds
from liegg.results.symmetries import Symmetries

MAX_LINE = 100
"""Characters of a call on one line."""


def snippet_of(sym: Symmetries, *, layers: bool = False) -> str:
    """Python that finds the same symmetries; the reader supplies the model and the data.

    Args:
        sym: the result of `discover`.
        layers: whether the layers were analysed too.
    """
    action, output_action = sym.action, sym.output_action
    arguments = ["model", "data", action.code() or "action"]
    arguments += [f"{name}={value}" for name, value in _keywords(sym).items()]
    call = f"sym = liegg.discover({', '.join(arguments)})"
    if len(call) > MAX_LINE:
        call = "sym = liegg.discover(\n" + "".join(f"    {word},\n" for word in arguments) + ")"
    versions = ", ".join(f"{name} {version}" for name, version in sym.settings["versions"].items())
    held_out = ", held_out: samples that the model has not seen" * (sym.verification is not None)
    lines = [f"# {versions}", "import liegg", "", f"# model, data: yours{held_out}"]
    if "torch.tensor" in call:
        lines.insert(1, "import torch")
    if "restrict(basis)" in call:
        lines.append('# basis: a float64 tensor of sym.to_dict()["action"]["basis"]')
    lines += _definition("action", action) + _definition("output_action", output_action)
    lines += [call, "print(sym)"]
    if layers:
        lines.append(f"layers = liegg.discover_layers({', '.join(arguments[:3])})")
    lines.append(f'sym.report("report.html", samples=data[:8]{", layers=layers" * layers})')
    return "\n".join(lines)


def _keywords(sym: Symmetries) -> dict[str, str]:
    """Arguments of `discover` that differ from their defaults, as code."""
    settings = sym.settings
    keywords: dict[str, str] = {}
    if sym.output_action is not None:
        keywords["output_action"] = sym.output_action.code() or "output_action"
    for name, value in {"outputs": "each", "seed": 0}.items():
        if settings[name] != value:
            keywords[name] = repr(settings[name])
    if sym.verification is not None:
        keywords["held_out"] = "held_out"
    run: dict[str, Any] = {}
    if sym.accumulated.bottom is not None:
        run["bottom"] = sym.accumulated.bottom.requested
    if sym.controls.reinitialised is not None:
        keywords["controls"] = '"reinitialised"'
        if (draws := len(sym.controls.reinitialised.along)) != REINITIALISED_DRAWS:
            run["control_draws"] = draws
    elif sym.controls.random is None:
        keywords["controls"] = '"none"'
    default, decided = Thresholds(), sym.decision.thresholds
    changed = {
        field.name: getattr(decided, field.name)
        for field in fields(Thresholds)
        if getattr(decided, field.name) != getattr(default, field.name)
    }
    return keywords | _record("thresholds", changed) | _record("run", run)


def _record(name: str, values: dict[str, Any]) -> dict[str, str]:
    """A record as an argument, such as `run=liegg.Run(bottom=8)`; nothing if it has its defaults."""
    if not values:
        return {}
    fields_of = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return {name: f"liegg.{name.capitalize()}({fields_of})"}


def _definition(name: str, action: Action | None) -> list[str]:
    """A comment for an action that has no code of its own."""
    if action is None or action.code() is not None:
        return []
    return [f"# {name}: {action!r}, as in liegg.load(folder).{name}"]
