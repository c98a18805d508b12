"""The layers of a network as a table for a terminal."""

from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg.results.layers import LayerResult, LayerSymmetries, smallest_defect
from liegg.results.symmetries import Symmetries
from liegg.results.tables import Column, decimal, fitted, table_width, wrapped
from liegg.spectrum.spectrum import symmetry_variance


def table(result: LayerSymmetries, *, width: int | None = None, variance: bool = False) -> str:
    """All layers: number of symmetries, smallest defect, and the motion that it belongs to.

    Args:
        result: what `discover_layers` returned.
        width: columns of a line, from 60 to 200; those of the terminal by default.
        variance: list the paper's symmetry variance as well.
    """
    width = table_width(width)
    outputs = dict.fromkeys(str(layer.invariance.settings["outputs"]) for layer in result)
    first = result[0].invariance
    pairs = f", with {result.output_action} on the outputs" if result.output_action else ""
    lines = [
        _sentence(result),
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
    return "\n".join(
        [
            *wrapped(lines, width),
            *fitted(_columns(result, variance=variance), width),
            *wrapped([""] * bool(notes) + notes, width),
        ]
    )


def _sentence(result: LayerSymmetries) -> Remark:
    """How the number of symmetries changes from layer to layer."""
    counts = [layer.invariance.nullity for layer in result]
    if min(counts) == max(counts):
        return Diagnosis.LAYERS_ALIKE(model=result.model, layers=len(counts), nullity=counts[0])
    return Diagnosis.LAYERS_DIFFER(
        model=result.model,
        layers=len(counts),
        first=counts[0],
        last=counts[-1],
        least=min(counts),
        most=max(counts),
    )


def _columns(result: LayerSymmetries, *, variance: bool) -> list[Column]:
    """One cell per layer in every column."""
    layers, invariance = list(result), [layer.invariance for layer in result]
    columns = [
        Column("layer", [layer.name for layer in layers], names=True),
        Column("kind", [layer.kind for layer in layers], words=True),
        Column("output", [_output(layer) for layer in layers], words=True),
        Column("symmetries", [str(sym.nullity) for sym in invariance], ">"),
        Column("δ²", [_defect(sym) for sym in invariance], ">"),
    ]
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
    return [*columns, Column("motion", [_motion(sym) for sym in invariance], words=True)]


def _output(layer: LayerResult) -> str:
    return f"as {layer.same}" if layer.same else "×".join(map(str, layer.shape)) or "1"


def _defect(sym: Symmetries) -> str:
    return decimal(smallest_defect(sym), floor=sym.decision.floor)


def _motion(sym: Symmetries) -> str:
    """The algebra of the symmetries, or the nearest motion in words."""
    if sym.nullity > 1 and sym.identification.known:
        return sym.name
    return next(iter((*sym.words, *(one.words for one in sym.candidates))), "")
