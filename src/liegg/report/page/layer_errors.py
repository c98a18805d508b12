"""The errors that layers add under a motion, as one self-contained HTML page."""

import math
from pathlib import Path

from liegg._utils.arguments import checked
from liegg._utils.text import percentage
from liegg.report.page.charts import Panel, Series, over_layers
from liegg.report.page.render import rendered, write_html
from liegg.results.layer_errors import LayerError, LayerErrors
from liegg.results.layer_errors_text import cause_cell, share_cell

ERROR_DECADES = 4
"""Powers of ten of the charts."""

CHARTED_LAYERS = 60
"""Most layers in a chart: those that add most, in the order of the network."""

BOLD_LAYERS = 6
"""Layers that add most, whose names are bold."""

ERROR_GLOSSARY = (
    (
        "effect",
        "how much the output of the network changes if this layer alone makes its error, and the samples do not move; in per cent "
        "of the variance of the output.",
    ),
    (
        "predictions changed",
        "share of the samples for which the network predicts another class after the motion; in the table, because of the error "
        "of this layer alone.",
    ),
    (
        "error that a layer adds",
        "its input is moved as the image was, and its output is compared with its moved output: the squared difference, in per "
        "cent of the variance of the output of the layer. 0 % if moving before the layer is the same as moving after it.",
    ),
    (
        "total error",
        "the same for the network from its input to this layer: what all layers up to here have added.",
    ),
    (
        "padding",
        "zeros, or other made-up values, that a layer puts around its input. They do not move with the image.",
    ),
    (
        "stride or pooling",
        "a layer that keeps every second place only; after a motion it keeps other places.",
    ),
    (
        "nonlinearity",
        "a function of each place alone, such as ReLU. It makes an error where a motion mixes neighbouring places.",
    ),
    ("filters", "the weights of a convolution, which would have to be symmetric themselves."),
    (
        "interpolation",
        "values between pixels, which the motion itself needs; no layer is to blame for it.",
    ),
    (
        "global pooling, flattening",
        "where the map of places ends: what has left the image is missing from the mean.",
    ),
    ("variance", "mean squared distance from the mean, over the samples."),
)


@checked()
def write_layer_errors(result: LayerErrors, path: str | Path, *, title: str | None = None) -> Path:
    """Write layer errors as one HTML page that works from disk, in light and dark, on a phone and on paper.

    It begins with how much the motion changes and which layer adds most of it, and shows the effect of every layer, the
    predictions that it changes, and the error that it adds.

    Args:
        result: the result of `layer_errors`.
        path: the file; folders are made if needed.
        title: heading of the page; by default it names the motion and the model.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return write_html(layer_errors_html(result, title=title), Path(path))


def layer_errors_html(result: LayerErrors, *, title: str | None = None) -> str:
    """The page of `write_layer_errors` as text."""
    worst = {layer.name for layer in result.worst[:CHARTED_LAYERS]}
    charted = [layer for layer in result.single if layer.name in worst] or list(result.single)[:1]
    bold = {layer.name for layer in result.worst[:BOLD_LAYERS]}
    classes = any(not math.isnan(layer.changed) for layer in result)
    heads = [
        "layer",
        "kind",
        "cause",
        "effect",
        "error added",
        "total error",
        "inside",
        "interpolation",
    ]
    if classes:
        heads.insert(4, "predictions changed")
    largest = list(result.by_cause().items())[:2]
    changed = [("predictions changed", percentage(result.changed))]
    changed = [] if math.isnan(result.changed) else changed
    first, *rest = result.sentence.split("; ", 1)
    values = {
        "title": title or f"{result.motion.capitalize()} in the layers of {result.model}",
        "sentences": [first + ("." if rest else ""), *(one[:1].upper() + one[1:] for one in rest)],
        "positive": result.output <= result.floor,
        "facts": [
            ("layers", str(len(result))),
            ("samples", str(result.samples)),
            *changed,
            ("change of the output", percentage(result.output)),
            *((f"share of {cause}", percentage(share)) for cause, share in largest),
        ],
        "about": f"The motion is {result.motion} by {result.amount}. The charts show the {len(charted)} layers that add most."
        if len(charted) > 1
        else f"The motion is {result.motion} by {result.amount}.",
        "bold": "Names in bold: layers that add most. “Inside” leaves out places that see the border of the image.",
        "decades": ERROR_DECADES,
        "chart": over_layers([layer.name for layer in charted], _panels(charted, classes=classes)),
        "heads": heads,
        "rows": [
            {"cells": _cells(layer, result, classes=classes), "marked": layer.name in bold}
            for layer in result.single
        ],
        "glossary": ERROR_GLOSSARY,
        "notes": list(result.notes),
    }
    return rendered("layers.html.jinja", values)


def _panels(layers: list[LayerError], *, classes: bool) -> list[Panel]:
    """The effect, the predictions changed, and the error added, over the layers."""
    panels = []
    if not all(math.isnan(layer.effect) for layer in layers):
        effect = Series("this layer alone", [100 * layer.effect for layer in layers])
        panels.append(Panel("effect on the output (%)", [effect], decades=ERROR_DECADES))
    if classes:
        changed = Series("this layer alone", [100 * layer.changed for layer in layers])
        panels.append(Panel("predictions changed (%)", [changed], counts=True))
    added = Series("this layer", [100 * layer.added for layer in layers])
    total = Series("all layers up to here", [100 * layer.total for layer in layers])
    panels.append(Panel("error (% of the variance)", [added, total], decades=ERROR_DECADES))
    return panels


def _cells(layer: LayerError, result: LayerErrors, *, classes: bool) -> list[str]:
    numbers = [
        "effect",
        *(["changed"] if classes else []),
        "added",
        "total",
        "interior",
        "resampling",
    ]
    return [
        layer.name,
        layer.kind,
        cause_cell(layer, result),
        *(share_cell(getattr(layer, name), result.floor) for name in numbers),
    ]
