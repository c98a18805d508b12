"""The equivariance errors of layers as a table for a terminal."""

import math

from liegg._utils.text import percentage
from liegg.results.layer_errors import LayerError, LayerErrors
from liegg.results.tables import Column, leading, wrapped

SHOWN_LAYERS = 12
"""Most layers in the printed table."""

LONGEST_NAME = 22
"""Most characters of a layer's name in the table; the beginning of a longer one is cut."""


def lines(result: LayerErrors, width: int) -> list[str]:
    """The sentence, the layers that add most, and the notes.

    Args:
        result: what `layer_errors` returned.
        width: columns, 60 or more.
    """
    notes = wrapped([f"note: {note}" for note in result.notes], width)
    rest = len(result) - min(SHOWN_LAYERS, len(result))
    return [
        *wrapped([result.sentence], width),
        "",
        *leading(_columns(result), width),
        *([f"  … and {rest} more, which add less"] if rest else []),
        *([""] if notes else []),
        *notes,
    ]


def _columns(result: LayerErrors) -> list[Column]:
    """The layers that add most, in the order of the network."""
    weights = {layer.name: (layer.weight, layer.added, layer.total) for layer in result}
    shown = sorted(result, key=lambda layer: weights[layer.name], reverse=True)[:SHOWN_LAYERS]
    names = {layer.name for layer in shown}
    layers = [layer for layer in result if layer.name in names]

    def shares(attribute: str) -> list[str]:
        return [share_cell(getattr(layer, attribute), result.floor) for layer in layers]

    classes = any(not math.isnan(layer.changed) for layer in layers)
    return [
        Column("layer", [_short(layer.name) for layer in layers]),
        Column("cause", [cause_cell(layer, result) for layer in layers]),
        Column("effect", shares("effect"), ">"),
        *([Column("predictions", shares("changed"), ">")] if classes else []),
        Column("added", shares("added"), ">"),
        Column("total", shares("total"), ">"),
        Column("interior", shares("interior"), ">"),
        Column("interpolation", shares("resampling"), ">"),
    ]


def cause_cell(layer: LayerError, result: LayerErrors) -> str:
    """The main cause of a layer's error; empty if it adds nothing."""
    return layer.main_cause if layer.weight > result.floor else ""


def share_cell(value: float, floor: float) -> str:
    """A share in per cent; a dash for none, 0 for rounding."""
    return "–" if math.isnan(value) else percentage(value if value > floor else 0.0)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
