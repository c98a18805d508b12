"""The table of all layers for a terminal."""

import math
import textwrap
from collections.abc import Sequence

from liegg._utils.diagnoses import Remark, plural
from liegg.results.layer_account import sentences
from liegg.results.layers import LayerDirection, LayerResult, LayerSymmetries, smallest_defect
from liegg.results.symmetries import Symmetries
from liegg.results.tables import TABLE_WIDTH
from liegg.spectrum.spectrum import symmetry_variance

LONGEST_NAME = 32
"""Most characters of a layer's name; the beginning of a longer one is cut."""

WORD_COLUMNS = 3
"""Columns that hold words; numbers follow."""


def table(
    result: LayerSymmetries, named: Sequence[LayerDirection], remarks: Sequence[Remark]
) -> str:
    """All layers: number of symmetries, smallest defect, and the paper's variance or named motions.

    Args:
        result: the result of `discover_layers`.
        named: a column for each of these.
        remarks: what the layers show, in words.
    """
    pairs = result.output_action is not None
    heads = ["layer", "kind", "output", "symmetries", "defect δ²"]
    heads += [f"δ² of {one.name}" for one in named]
    heads += [] if named else ["variance", "unit variance"]
    heads += ["equivariances", "their δ²"] if pairs else []
    lines = [heads, *(_cells(i, layer, named, pairs=pairs) for i, layer in enumerate(result))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    outputs = dict.fromkeys(str(layer.invariance.settings["outputs"]) for layer in result)
    first = result[0].invariance
    return "\n".join(
        [
            textwrap.fill(sentences(remarks), TABLE_WIDTH, break_on_hyphens=False),
            "",
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


def short_name(name: str) -> str:
    """A layer's name; the beginning of a long one is cut.

    >>> short_name("a" * 40 + ".conv1")
    '…aaaaaaaaaaaaaaaaaaaaaaaaa.conv1'
    """
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def _cells(
    i: int, layer: LayerResult, named: Sequence[LayerDirection], *, pairs: bool
) -> list[str]:
    cells = [
        short_name(layer.name),
        layer.kind,
        f"as {layer.same}" if layer.same else "×".join(map(str, layer.shape)) or "1",
        *_count_and_defect(layer.invariance),
        *(with_interval(float(one.values[i]), *one.intervals[i].tolist()) for one in named),
    ]
    if not named:
        spectra = (layer.invariance.spectrum, layer.unit.spectrum)
        cells += [f"{symmetry_variance(spectrum):.2e}" for spectrum in spectra]
    return cells + _count_and_defect(layer.equivariance) if pairs else cells


def with_interval(value: float, low: float, high: float) -> str:
    """A defect with two or three digits and its interval; a dash for what there is not.

    >>> with_interval(0.2712, 0.2509, 0.3104), with_interval(0.0, math.nan, math.nan)
    ('0.271 (0.251–0.31)', '0')
    """
    if math.isnan(value):
        return "–"
    return f"{value:.3g}" if math.isnan(low) else f"{value:.3g} ({low:.3g}–{high:.3g})"


def _count_and_defect(sym: Symmetries | None) -> list[str]:
    """The number of symmetries and the smallest defect; dashes for what there is not."""
    if sym is None:
        return ["–", "–"]
    return [str(sym.nullity), f"{smallest_defect(sym):.2e}".replace("nan", "–")]


def _padded(cell: str, column: int, width: int) -> str:
    """Align words to the left, numbers to the right."""
    return cell.ljust(width) if column < WORD_COLUMNS else cell.rjust(width)
