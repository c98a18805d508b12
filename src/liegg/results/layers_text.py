"""The layers of a network as a table for a terminal."""

import math
from collections.abc import Sequence

from liegg._utils.diagnoses import Remark, plural
from liegg.results.layer_account import sentences
from liegg.results.layers import LayerDirection, LayerResult, LayerSymmetries, smallest_defect
from liegg.results.symmetries import Symmetries
from liegg.results.tables import Column, decimal, digits_of_ends, framed, table_width
from liegg.spectrum.spectrum import symmetry_variance


def table(
    result: LayerSymmetries,
    named: Sequence[LayerDirection],
    remarks: Sequence[Remark],
    *,
    width: int | None = None,
    variance: bool = False,
) -> str:
    """All layers: number of symmetries, smallest defect, named motions, and the motion of the smallest defect.

    Args:
        result: what `discover_layers` returned.
        named: a column for each of these.
        remarks: what the layers show, in words.
        width: columns of a line, from 60 to 200; those of the terminal by default.
        variance: list the paper's symmetry variance as well.
    """
    outputs = dict.fromkeys(str(layer.invariance.settings["outputs"]) for layer in result)
    first = result[0].invariance
    pairs = f", with {result.output_action} on the outputs" if result.output_action else ""
    lines = [
        sentences(remarks),
        f"layers under {result.action}{pairs}: {plural(result.samples, 'sample')}, "
        f"outputs={' or '.join(outputs)}, {first.settings['dtype']}",
        "",
    ]
    notes = [
        *(f"  note: {note}" for note in result.notes),
        *(
            f"  note on {layer.name}: {note}"
            for layer in result
            if not layer.same
            for note in layer.notes
        ),
    ]
    return framed(lines, _columns(result, named, variance=variance), notes, table_width(width))


def _columns(
    result: LayerSymmetries, named: Sequence[LayerDirection], *, variance: bool
) -> list[Column]:
    """One cell per layer in every column."""
    layers, invariance = list(result), [layer.invariance for layer in result]
    columns = [
        Column("layer", [layer.name for layer in layers], names=True),
        Column("kind", [layer.kind for layer in layers], words=True),
        Column("output", [output_cell(layer) for layer in layers], words=True),
        Column("symmetries", [str(sym.nullity) for sym in invariance], ">"),
        Column("δ²", [_defect(sym) for sym in invariance], ">"),
    ]
    for one in named:
        ends = one.intervals.tolist()
        cells = [defect_cell(value, *ends[i]) for i, value in enumerate(one.values.tolist())]
        columns.append(Column(f"δ² of {one.name}", cells, ">"))
    if variance:
        units = [layer.unit for layer in layers]
        columns += [
            Column("σ²/|D|", [decimal(symmetry_variance(one.spectrum)) for one in invariance], ">"),
            Column("unit", [decimal(symmetry_variance(one.spectrum)) for one in units], ">"),
        ]
    if result.output_action is not None:
        pairs = [layer.equivariance for layer in layers]
        counts = ["–" if pair is None else str(pair.nullity) for pair in pairs]
        columns += [
            Column("equiv.", counts, ">"),
            Column("its δ²", ["–" if pair is None else _defect(pair) for pair in pairs], ">"),
        ]
    if named:
        return columns
    return [*columns, Column("motion", [_motion(sym) for sym in invariance], words=True)]


def defect_cell(value: float, low: float, high: float) -> str:
    """A defect with its interval, kept short for a column; a dash if there is none.

    >>> defect_cell(0.2712, 0.2509, 0.3104), defect_cell(0.0, math.nan, math.nan)
    ('0.271 (0.25–0.31)', '0')
    >>> defect_cell(1.02, 0.998, 1.04)
    '1.02 (0.998–1.04)'
    """
    if math.isnan(value) or math.isnan(low):
        return decimal(value)
    digits = digits_of_ends(low, high)
    return f"{decimal(value)} ({decimal(low, digits)}–{decimal(high, digits)})"


def output_cell(layer: LayerResult) -> str:
    """The shape of a layer's output, or the layer that returned the same."""
    return f"as {layer.same}" if layer.same else "×".join(map(str, layer.shape)) or "1"


def _defect(sym: Symmetries) -> str:
    return decimal(smallest_defect(sym), floor=sym.decision.floor)


def _motion(sym: Symmetries) -> str:
    """The algebra of the symmetries, or the nearest motion in words."""
    if sym.nullity > 1 and sym.identification.known:
        return sym.name
    return next(iter((*sym.words, *(one.words for one in sym.candidates))), "")
