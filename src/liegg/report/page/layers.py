"""The layers of a network as one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg.report.numbers import number, with_interval
from liegg.report.page.charts import Panel, Series, over_layers
from liegg.report.page.render import rendered, write_html
from liegg.results.layer_account import in_sentences
from liegg.results.layers import LayerDirection, LayerResult, LayerSymmetries, smallest_defect
from liegg.results.layers_text import output_cell
from liegg.results.symmetries import Symmetries

DEFECT_DECADES = 6
"""Powers of ten of the charts: a defect of 10⁻⁶ is a thousandth of an average change."""

DEFECT_WORDS = (
    "defect δ²",
    "how much the output changes along a motion, squared, relative to an average motion that moves the data as much: 0 for a "
    "symmetry, 1 for an average motion, 0.25 for half of its change. A small one counts as a symmetry if it stands clearly apart "
    "from those of other motions.",
)

CANDIDATE_WORDS = (
    "candidates, directions",
    "the motions among which symmetries were searched: those named, and all mixtures of them. A direction is one such mixture; an "
    "average direction stands for all of them. In brackets are settings: derivative and border say how images are computed between "
    "and beyond their pixels.",
)

INTERVAL_WORDS = (
    "interval, in brackets",
    "where the number would lie with other samples of the same kind, in 95 of 100 cases unless stated otherwise. A difference is "
    "clear if its interval leaves out zero.",
)

LAYER_GLOSSARY = (
    (
        "symmetry",
        "a small motion of the network's input that does not change the output of a layer (invariance). A layer is equivariant "
        "if its output moves along with the input instead.",
    ),
    DEFECT_WORDS,
    CANDIDATE_WORDS,
    INTERVAL_WORDS,
)


@checked()
def write_layers(
    layers: LayerSymmetries, path: str | Path, *, about: Any = None, title: str | None = None
) -> Path:
    """Write the layers as one HTML page that works from disk, in light and dark, on a phone and on paper.

    It begins with where in the network the symmetry is and which layer loses it, and shows the number of symmetries, the
    smallest defect and the defects of named motions over the layers. The file is written atomically.

    Args:
        layers: the result of `discover_layers`.
        path: the file; folders are made if needed.
        about: named motions, such as `{"rotation": liegg.so(2)}`.
        title: heading of the page; by default it names the model.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
        ArgumentError: something that is not a generator of the action.
    """
    return write_html(layers_html(layers, about=about, title=title), Path(path))


def layers_html(layers: LayerSymmetries, *, about: Any = None, title: str | None = None) -> str:
    """The page of `write_layers` as text; the same result gives the same text."""
    named = () if about is None else layers.about(about)
    last = layers[-1].invariance
    pairs = layers.output_action is not None
    values = {
        "title": f"Layers of {layers.model}" if title is None else title,
        "sentences": in_sentences(layers.remarks(about)),
        "positive": any(_symmetric(layer) for layer in layers),
        "facts": [
            ("layers", str(len(layers))),
            ("samples", str(layers.samples)),
            ("layers with a symmetry", str(sum(layer.invariance.nullity > 0 for layer in layers))),
            ("symmetries of the last layer", count_words(last)),
        ],
        "about": f"Candidates: {layers.action!r}"
        + (f", with {layers.output_action!r} on the outputs of the layers." if pairs else "."),
        "bold": "Names in bold: layers with a symmetry.",
        "decades": DEFECT_DECADES,
        "chart": over_layers(layers.names, _panels(layers, named)),
        "heads": _heads(named, pairs=pairs),
        "rows": [
            {"cells": _cells(i, layer, named, pairs=pairs), "marked": _symmetric(layer)}
            for i, layer in enumerate(layers)
        ],
        "glossary": LAYER_GLOSSARY,
        "notes": [
            *layers.notes,
            *(
                f"{layer.name}: {note}"
                for layer in layers
                if not layer.same
                for note in layer.notes
            ),
        ],
    }
    return rendered("layers.html.jinja", values)


def _symmetric(layer: LayerResult) -> bool:
    return any(sym is not None and sym.nullity for sym in (layer.invariance, layer.equivariance))


def _panels(layers: LayerSymmetries, named: Sequence[LayerDirection]) -> list[Panel]:
    """Number of symmetries, and defects with the threshold."""
    problems: dict[str, Sequence[Symmetries | None]] = {}
    problems["the output stays"] = [layer.invariance for layer in layers]
    smallest = [Series("smallest, the output stays", layers.defect().tolist())]
    if layers.output_action is not None:
        problems["the output moves along"] = [layer.equivariance for layer in layers]
        equivariance = layers.defect(of="equivariance").tolist()
        smallest.append(Series("smallest, the output moves along", equivariance))
    counts = [
        Series(name, [float("nan") if sym is None else float(sym.nullity) for sym in each])
        for name, each in problems.items()
    ]
    chosen = [Series(one.name, one.values.tolist(), one.intervals.tolist()) for one in named]
    motions = {"defect δ² of named motions": chosen} if chosen else {}
    return layer_panels(motions, counts, smallest, layers[0].invariance)


def layer_panels(
    motions: Mapping[str, Sequence[Series]],
    counts: Sequence[Series],
    smallest: Sequence[Series],
    sym: Symmetries,
) -> list[Panel]:
    """Charts of named motions by their titles, of the number of symmetries, and of the smallest defect, with the threshold.

    Args:
        motions: defects of named motions.
        counts: numbers of symmetries.
        smallest: smallest defects.
        sym: a result that holds the threshold.
    """
    rulers = {"may be a symmetry below": sym.decision.thresholds.threshold}
    defects = [*motions.items(), ("smallest defect δ² of any motion", smallest)]
    panels = [Panel(title, of, rulers, decades=DEFECT_DECADES) for title, of in defects]
    return [*panels[:-1], Panel("number of symmetries", counts, counts=True), panels[-1]]


def _heads(named: Sequence[LayerDirection], *, pairs: bool) -> list[str]:
    heads = ["layer", "kind", "output", "symmetries", "smallest δ²"]
    heads += [f"δ² of {one.name} (interval)" for one in named]
    return heads + (["equivariances", "their smallest δ²"] if pairs else [])


def _cells(
    i: int, layer: LayerResult, named: Sequence[LayerDirection], *, pairs: bool
) -> list[str]:
    cells = [
        layer.name,
        layer.kind,
        output_cell(layer),
        count_words(layer.invariance),
        number(smallest_defect(layer.invariance)),
        *(with_interval(float(one.values[i]), *one.intervals[i].tolist()) for one in named),
    ]
    if pairs:
        sym = layer.equivariance
        cells += ["–", "–"] if sym is None else [count_words(sym), number(smallest_defect(sym))]
    return cells


def count_words(sym: Symmetries) -> str:
    """The number of symmetries with the name of their algebra; that they are undecided, if they are."""
    if sym.decision.undecided:
        return "undecided"
    name = f", {sym.name}" if sym.nullity and sym.identification.known else ""
    return f"{sym.nullity}{name}"
