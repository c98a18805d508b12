"""The layers of a network as a table of text."""

import math

from liegg._utils.diagnoses import plural
from liegg.results.layers import LayerResult, LayerSymmetries
from liegg.results.symmetries import Symmetries

LONGEST_NAME = 32
"""Most characters of a layer's name; the beginning of a longer one is cut."""


def table(result: LayerSymmetries) -> str:
    """Table of all layers: number of symmetries, smallest defect, the paper's variance.

    Args:
        result: the result of `discover_layers`.
    """
    pairs = result.output_action is not None
    heads = ["layer", "kind", "output", "symmetries", "defect δ²", "variance", "unit variance"]
    heads += ["equivariances", "their δ²"] if pairs else []
    lines = [heads, *(_cells(layer, pairs=pairs) for layer in result)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    outputs = dict.fromkeys(str(layer.invariance.settings["outputs"]) for layer in result)
    first = result[0].invariance
    return "\n".join(
        [
            f"{plural(len(result), 'layer')} of {result.model} under {result.action}",
            *([f"equivariance with {result.output_action} on the outputs"] if pairs else []),
            f"{result.samples} samples, outputs={' or '.join(outputs)}, {first.settings['dtype']}",
            "",
            *(
                "  "
                + "  ".join(_padded(cell, i, widths[i]) for i, cell in enumerate(line)).rstrip()
                for line in lines
            ),
            *([""] if any(layer.notes for layer in result) or result.notes else []),
            *(f"  note: {note}" for note in result.notes),
            *(
                f"  note on {layer.name}: {note}"
                for layer in result
                if not layer.same
                for note in layer.notes
            ),
        ]
    )


def _cells(layer: LayerResult, *, pairs: bool) -> list[str]:
    name = layer.name if len(layer.name) <= LONGEST_NAME else "…" + layer.name[1 - LONGEST_NAME :]
    cells = [
        name,
        layer.kind,
        f"as {layer.same}" if layer.same else "×".join(map(str, layer.shape)) or "1",
        str(layer.invariance.nullity),
        _smallest(layer.invariance),
        f"{layer.invariance.variance:.2e}",
        f"{layer.unit.variance:.2e}",
    ]
    if pairs:
        equivariance = layer.equivariance
        cells += (
            ["–", "–"]
            if equivariance is None
            else [str(equivariance.nullity), _smallest(equivariance)]
        )
    return cells


def _smallest(sym: Symmetries) -> str:
    value = float(sym.defects[0]) if len(sym.defects) else math.nan
    return "–" if math.isnan(value) else f"{value:.2e}"


def _padded(cell: str, column: int, width: int) -> str:
    """Align words to the left, numbers to the right."""
    return cell.ljust(width) if column < 3 else cell.rjust(width)
