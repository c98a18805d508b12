"""A comparison of layers as a table for a terminal."""

import math
import textwrap

from liegg._utils.diagnoses import plural
from liegg.results.comparison import Measured
from liegg.results.layer_comparison import LayerComparison, LayerPair
from liegg.results.layer_text import short_name, with_interval
from liegg.results.layers import LayerResult, LayerSymmetries, smallest_defect
from liegg.results.tables import TABLE_WIDTH, wrapped

WORD_COLUMNS = 2
"""Columns that hold words; numbers follow."""


def table(comparison: LayerComparison) -> str:
    """The sentence, both networks, one line per layer that both have, and notes.

    Args:
        comparison: the result of `liegg.compare` for two results of `discover_layers`.
    """
    heads = ["layer", "kind", "in a", "in b", "shared"]
    heads += [] if comparison.motions else ["δ² in a", "δ² in b"]
    for name in comparison.motions:
        heads += [f"{name} in a", "in b", "smaller"]
    lines = [heads, *map(_cells, comparison.pairs)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        [
            textwrap.fill(comparison.sentence, TABLE_WIDTH, break_on_hyphens=False),
            "",
            f"layers of two networks under {comparison.a.action}, by name",
            f"  a: {_side(comparison.a)}",
            f"  b: {_side(comparison.b)}",
            "",
            *(
                "  "
                + "  ".join(
                    cell.ljust(widths[i]) if i < WORD_COLUMNS else cell.rjust(widths[i])
                    for i, cell in enumerate(line)
                ).rstrip()
                for line in lines
            ),
            *([""] if comparison.notes else []),
            *wrapped([f"  note: {note}" for note in comparison.notes]),
        ]
    )


def count_of(layer: LayerResult) -> str:
    """The number of symmetries of a layer; a question mark if the data leaves some open."""
    return "?" if layer.invariance.decision.undecided else str(layer.invariance.nullity)


def _cells(pair: LayerPair) -> list[str]:
    cells = [
        short_name(pair.name),
        pair.kind,
        count_of(pair.a),
        count_of(pair.b),
        "?" if pair.undecided else str(pair.shared),
    ]
    if not pair.directions:
        smallest = (smallest_defect(layer.invariance) for layer in (pair.a, pair.b))
        cells += [f"{defect:.2e}".replace("nan", "–") for defect in smallest]
    for one in pair.directions:
        cells += [_value(one.a), _value(one.b), one.smaller or "–"]
    return cells


def _value(measured: Measured) -> str:
    if measured.exact:
        return "0"
    low, high = (math.nan, math.nan) if math.isnan(measured.low) else (measured.low, measured.high)
    return with_interval(measured.value, low, high)


def _side(result: LayerSymmetries) -> str:
    return f"{result.model}, {plural(result.samples, 'sample')}, {plural(len(result), 'layer')}"
