"""Code that runs an analysis again."""

from dataclasses import fields

from liegg.actions import Action, KroneckerSum, Product, Restricted, Sparse
from liegg.decision.controls import REINITIALISED_DRAWS
from liegg.decision.grades import Thresholds
from liegg.results.symmetries import Symmetries

WRITTEN_OUT = 64
"""Numbers of a restriction that are written into the code; a larger one is read from the record."""


def snippet_of(sym: Symmetries, *, layers: bool = False) -> str:
    """Python that finds the same symmetries; the reader fills in the model and the data.

    Args:
        sym: the result of `discover`.
        layers: whether the layers were looked at too.
    """
    settings, default = sym.settings, Thresholds()
    knobs = {"outputs": settings["outputs"], "seed": settings["seed"]}
    given = [
        f"{name}={value!r}"
        for name, value in knobs.items()
        if value != {"outputs": "each", "seed": 0}[name]
    ]
    given += [
        f"{field.name}={settings[field.name]!r}"
        for field in fields(Thresholds)
        if field.name in settings and settings[field.name] != getattr(default, field.name)
    ]
    if sym.output_action is not None:
        given.insert(0, f"output_action={action_code(sym.output_action)}")
    if sym.accumulated.bottom is not None:
        given.append(f"bottom={settings['bottom']}")
    if not settings["controls"]:
        given.append("controls=False")
    if sym.controls.reinitialised is not None:
        draws = len(sym.controls.reinitialised.along)
        given.append('control="reinitialised"')
        given += [] if draws == REINITIALISED_DRAWS else [f"control_draws={draws}"]
    if sym.verification is not None:
        given.append("held_out=held_out")
    words = ["model", "data", action_code(sym.action), *given]
    call = f"sym = liegg.discover({', '.join(words)})"
    if len(call) > 100:
        call = "sym = liegg.discover(\n" + "".join(f"    {word},\n" for word in words) + ")"
    versions = ", ".join(f"{name} {version}" for name, version in settings["versions"].items())
    lines = [
        f"# {versions}",
        *(["import torch"] if "torch.tensor" in call else []),
        "import liegg",
        "",
    ]
    lines.append(
        "# model, data: yours"
        + (", held_out: samples it did not see" if sym.verification is not None else "")
    )
    if "restrict(basis)" in call:
        lines.append('# basis: a float64 tensor of sym.to_dict()["action"]["basis"]')
    if isinstance(sym.action, Sparse | KroneckerSum):
        lines.append(f"# action: {sym.action!r}, as in liegg.load(folder).action")
    also = (
        ["layers = liegg.discover_layers(model, data, " + action_code(sym.action) + ")"]
        if layers
        else []
    )
    last = f'sym.report("report.html", samples=data[:8]{", layers=layers" if layers else ""})'
    return "\n".join([*lines, call, "print(sym)", *also, last])


def action_code(action: Action) -> str:
    """The expression that makes an action.

    >>> from liegg.actions import Image, Linear
    >>> action_code(Linear(3)), action_code(Image("euclidean"))
    ("liegg.Linear(n=3, copies=1, layout='copies_first')",
     "liegg.Image(group='euclidean', derivative='spectral', border='replicate')")
    """
    if isinstance(action, Sparse | KroneckerSum):
        return "action"
    if isinstance(action, Product):
        return f"liegg.Product({', '.join(map(action_code, action.parts))})"
    if isinstance(action, Restricted) and not action.label:
        small = action.basis.numel() <= WRITTEN_OUT
        inside = f"torch.tensor({action.basis.tolist()}, dtype=torch.float64)" if small else "basis"
        return f"{action_code(action.parent)}.restrict({inside})"
    return f"liegg.{action!r}"
