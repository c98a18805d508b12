"""A comparison of layers as a table for a terminal."""

from liegg._utils.diagnoses import plural
from liegg.results.comparison import Measured
from liegg.results.layer_comparison import LayerComparison
from liegg.results.layers import LayerResult, LayerSymmetries, smallest_defect
from liegg.results.layers_text import defect_cell
from liegg.results.tables import Column, decimal, framed, table_width


def table(comparison: LayerComparison, *, width: int | None = None) -> str:
    """The sentence, both networks, one line per layer that both have, and notes.

    Args:
        comparison: the result of `liegg.compare` for two results of `discover_layers`.
        width: columns of a line, from 60 to 200; those of the terminal by default.
    """
    first, second = comparison.names
    lines = [
        comparison.sentence,
        f"layers of two networks under {comparison.a.action}, by name",
        f"  {first}: {_side(comparison.a)}",
        f"  {second}: {_side(comparison.b)}",
        "",
    ]
    notes = [f"  note: {note}" for note in comparison.notes]
    return framed(lines, _columns(comparison), notes, table_width(width))


def _columns(comparison: LayerComparison) -> list[Column]:
    """One cell per layer in every column."""
    pairs, (first, second) = comparison.pairs, comparison.names
    columns = [
        Column("layer", [pair.name for pair in pairs], names=True),
        Column("kind", [pair.kind for pair in pairs], words=True),
        Column(f"in {first}", [count_of(pair.a) for pair in pairs], ">"),
        Column(f"in {second}", [count_of(pair.b) for pair in pairs], ">"),
        Column("shared", ["?" if pair.undecided else str(pair.shared) for pair in pairs], ">"),
    ]
    if not comparison.motions:
        for name, layers in ((first, [p.a for p in pairs]), (second, [p.b for p in pairs])):
            smallest = [decimal(smallest_defect(layer.invariance)) for layer in layers]
            columns.append(Column(f"δ² in {name}", smallest, ">"))
    for i, motion in enumerate(comparison.motions):
        named = [pair.directions[i] for pair in pairs]
        columns += [
            Column(f"{motion} in {first}", [_value(one.a) for one in named], ">"),
            Column(f"in {second}", [_value(one.b) for one in named], ">"),
            Column("smaller", [comparison.named(one.smaller) or "–" for one in named]),
        ]
    return columns


def count_of(layer: LayerResult) -> str:
    """The number of symmetries of a layer; a question mark if the data leaves some open."""
    return "?" if layer.invariance.decision.undecided else str(layer.invariance.nullity)


def _value(measured: Measured) -> str:
    if measured.exact:
        return "0"
    return defect_cell(measured.value, measured.low, measured.high)


def _side(result: LayerSymmetries) -> str:
    return f"{result.model}, {plural(result.samples, 'sample')}, {plural(len(result), 'layer')}"
