"""Code that repeats an analysis."""

from dataclasses import asdict
from typing import Any

from liegg.decision.controls import CONTROL_DRAWS
from liegg.decision.thresholds import Thresholds
from liegg.discovery.about.questions import motions_asked
from liegg.inputs.output_field import is_function
from liegg.results.symmetries import Symmetries

MAX_LINE = 100
"""Characters of a call on one line."""


def snippet_of(sym: Symmetries, *, layers: bool = False) -> str:
    """Python that finds the same symmetries; the reader supplies the model and the data.

    Args:
        sym: the result of `discover`.
        layers: whether the layers were analysed too.
    """
    of_data = sym.distribution is not None
    verb = "discover_data" if of_data else "discover"
    arguments = [*["model"] * (not of_data), "data", sym.action.code() or "action"]
    keywords = _data_keywords(sym) if of_data else _keywords(sym)
    arguments += [f"{name}={value}" for name, value in keywords.items()]
    call = f"sym = liegg.{verb}({', '.join(arguments)})"
    if len(call) > MAX_LINE:
        call = f"sym = liegg.{verb}(\n" + "".join(f"    {word},\n" for word in arguments) + ")"
    versions = ", ".join(f"{name} {version}" for name, version in sym.settings["versions"].items())
    held_out = ", held_out: samples that the model has not seen" * (sym.verification is not None)
    generators = (
        "# generators: of the named motions, as in liegg.load(folder).answers[0].coefficients"
    )
    basis = '# basis: a float64 tensor of sym.to_dict()["action"]["basis"]'
    lines = [
        f"# {versions}",
        *["import torch"] * ("torch.tensor" in call),
        "import liegg",
        "",
        f"# {'data' if of_data else 'model, data'}: yours{held_out}",
        *[basis] * ("restrict(basis)" in call),
        *[f"# output: your function {sym.settings.get('output')}"] * ("output=output" in call),
        *[generators] * (": generators" in call),
        *(
            f"# {name}: {action!r}, as in liegg.load(folder).{name}"
            for name, action in (("action", sym.action), ("output_action", sym.output_action))
            if action is not None and action.code() is None
        ),
        call,
        "print(sym)",
        *[f"layers = liegg.discover_layers({', '.join(arguments[:3])})"] * layers,
        f'sym.report("report.html", samples=data[:8]{", layers=layers" * layers})',
    ]
    return "\n".join(lines)


def _keywords(sym: Symmetries) -> dict[str, str]:
    """Arguments of `discover` that differ from their defaults, as code."""
    reinitialised, bottom = sym.controls.reinitialised, sym.accumulated.bottom
    keywords: dict[str, str] = {}
    if sym.output_action is not None:
        keywords["output_action"] = sym.output_action.code() or "output_action"
    for name, default in (("outputs", "each"), ("target", None), ("output", None)):
        if (value := sym.settings.get(name, default)) != default:
            keywords[name] = name if is_function(value) else repr(value)
    if (about := _about(sym)) is not None:
        keywords["about"] = about
    if sym.verification is not None:
        keywords["held_out"] = "held_out"
    if reinitialised is not None:
        keywords["controls"] = '"reinitialised"'
    elif sym.controls.random is None:
        keywords["controls"] = '"none"'
    run: dict[str, Any] = {} if bottom is None else {"bottom": bottom.requested}
    if seed := sym.settings.get("seed", 0):
        run["seed"] = seed
    if reinitialised is not None and len(reinitialised.along) != CONTROL_DRAWS:
        run["control_draws"] = len(reinitialised.along)
    return keywords | _thresholds(sym) | _record("run", run)


def _thresholds(sym: Symmetries) -> dict[str, str]:
    """Thresholds that differ from their defaults, as code."""
    defaults = asdict(Thresholds())
    thresholds = asdict(sym.decision.thresholds)
    changed = {name: value for name, value in thresholds.items() if value != defaults[name]}
    return _record("thresholds", changed)


def _record(name: str, values: dict[str, Any]) -> dict[str, str]:
    """An argument that is a record with some fields, as code; none without fields."""
    fields = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return {name: f"liegg.{name.capitalize()}({fields})"} if values else {}


def _data_keywords(sym: Symmetries) -> dict[str, str]:
    """Arguments of `discover_data` that differ from their defaults, as code."""
    defaults = {"question": "density", "seed": 0, "functions": None}
    chosen = {name: sym.settings.get(name, default) for name, default in defaults.items()}
    keywords = {
        name: "functions" if name == "functions" else repr(value)
        for name, value in chosen.items()
        if value != defaults[name]
    }
    return keywords | _thresholds(sym)


def _about(sym: Symmetries) -> str | None:
    """The named motions that were asked about, as code; None for the standard ones."""
    names, shape = [one.name for one in sym.answers], tuple(sym.settings.get("sample") or ())
    if not names or not shape:
        return None
    standard = motions_asked(None, sym.action, shape)
    if sym.output_action is not None:
        standard = {name: one for name, one in standard.items() if one.action is None}
    if names == list(standard):
        return None
    known = sym.action.motions(shape)
    if all(name in known for name in names):
        return repr(names)
    pairs = (f"{name!r}: {repr(name) if name in known else 'generators'}" for name in names)
    return f"{{{', '.join(pairs)}}}"
