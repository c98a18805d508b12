"""The record as one self-contained HTML page: no network, no other file, no library in the browser."""

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from liegg._utils.arguments import checked
from liegg.report.motions import checked_samples
from liegg.report.numbers import angle, number, with_interval
from liegg.report.page import charts
from liegg.report.page.answers import answers_of
from liegg.report.page.generators import bases, trivial_directions
from liegg.report.page.glossary import FIRST_TERMS, GLOSSARY_TERMS
from liegg.report.page.named_motions import checked_classes, named_motions
from liegg.report.page.render import rendered, write_html
from liegg.report.page.snippet import snippet_of
from liegg.report.page.stage import motions_of, stage_of
from liegg.results.json_values import from_json, json_values
from liegg.results.layers import LayerSymmetries, first_question
from liegg.results.symmetries import Symmetries
from liegg.results.tower import Level, in_words
from liegg.results.verification import Verification

MAX_CURVES = 12
"""Curves drawn for each kind of motion; the others are listed in words."""


@checked()
def write_report(
    sym: Symmetries,
    path: str | Path,
    *,
    samples: Tensor | np.ndarray | None = None,
    layers: LayerSymmetries | None = None,
    title: str | None = None,
    snippet: str | None = None,
    classes: Sequence[str] | None = None,
) -> Path:
    """Write a result as one HTML page that works from disk, in light and dark, on a phone and on paper.

    The page draws what `sym.to_dict()` holds. Its first sentence is that of the first named motion, `sym.answers[0]`,
    where there is one. A slider moves samples by exp(tA) in the browser; samples among the first 8 of the data have
    the labels that the model predicts under them. The file is written atomically.

    Args:
        sym: the result of `discover`.
        path: the file; folders are made if needed.
        samples: a few inputs of the model to move, `[k, *x]`. The page holds the first 8: images with 256 levels and
            at most 96 pixels per side (larger ones are averaged down), at most 256 vectors per sample, signals along a line
            with at most 256 points, and the first 4 volumes with at most 24 voxels per side, drawn by three slices.
        layers: what `discover_layers` returned for the same model; adds a plot over the layers.
        title: heading of the page; by default it names the model.
        snippet: code that repeats the analysis; by default it is made from the settings.
        classes: names of the classes that the model predicts, in the order of its outputs; by default their numbers
            from 0 on.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
        ArgumentError: the samples are not finite numbers, or there are too few classes.
        ShapeError: the action does not move samples of this shape.
    """
    page = report_html(
        sym, samples=samples, layers=layers, title=title, snippet=snippet, classes=classes
    )
    return write_html(page, Path(path))


def report_html(
    sym: Symmetries,
    *,
    samples: Tensor | np.ndarray | None = None,
    layers: LayerSymmetries | None = None,
    title: str | None = None,
    snippet: str | None = None,
    classes: Sequence[str] | None = None,
) -> str:
    """The page of `write_report` as text; the same result gives the same text."""
    record, answers = sym.to_dict(), answers_of(sym.answers)
    stage, classes = stage_of(sym.action, samples), checked_classes(sym, classes)
    x = None if samples is None else checked_samples(sym.action, samples)
    named = named_motions(sym, stage, x, classes)
    motions, curves = motions_of(sym, stage, named), _curves(sym.verification, sym.account.words)
    settings = {name: value for name, value in record["settings"].items() if name != "versions"}
    values = {
        "title": f"Symmetries of {sym.subject}" if title is None else title,
        "record": record,
        "answers": answers,
        "terms": GLOSSARY_TERMS,
        "first_terms": FIRST_TERMS,
        "action": repr(sym.action),
        "candidates": sym.action.size,
        "output_action": None if sym.output_action is None else repr(sym.output_action),
        "facts": facts(record),
        "nearest": _nearest(record),
        "spectrum": charts.defects(record),
        "variance": charts.variances(record),
        "bias": charts.biases(record),
        "bases": bases(sym, record),
        "has_matrices": sym.action.has_matrices,
        "stage": stage,
        "motions": motions,
        "curves": curves,
        "layers": None
        if layers is None
        else charts.layers(layers, layers.about(first_question(sym, layers))),
        "layer_notes": [] if layers is None else list(layers.notes),
        "trivial": trivial_directions(sym),
        "settings": settings,
        "snippet": snippet_of(sym, layers=layers is not None) if snippet is None else snippet,
        "number": number,
        "angle": angle,
        "spread": _spread,
    }
    drawn = [one for one in curves if one["chart"] and one["numbers"]]
    drawn += [] if answers is None else answers["curves"]
    numbers = {one["key"]: one["numbers"] for one in drawn}
    data = {"stage": stage, "motions": motions, "curves": numbers}
    return rendered("report.html.jinja", values, data)


def notebook_html(sym: Symmetries) -> str:
    """A compact piece of HTML without script; for `Symmetries._repr_html_`.

    Args:
        sym: the result of `discover`.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    record = sym.to_dict()
    values = {
        "answer": sym.answers[0].sentence if sym.answers else None,
        "facts": facts(record),
        "record": record,
        "table": str(sym),
        "chart": charts.defects(record),
    }
    return rendered("notebook.html.jinja", values)


def facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts next to the verdict, each with its name."""
    nullity, gap, bottom = record["nullity"], record["decision"]["gap"], record["bottom"]
    open_ended = record["decision"]["is_lower_bound"]
    entries = [("symmetries", f"{nullity} or more" if open_ended else str(nullity))]
    if bottom is not None:
        largest = number(max(bottom["residuals"], default=0.0))
        count = len(record["defects"])
        entries.append(
            ("computed", f"the {count} smallest of {bottom['moving']}, each to {largest}")
        )
    if nullity:
        entries.append(("grade", record["grades"][nullity - 1]))
    if (certainty := record["decision"]["certainty"]) is not None:
        low, high = certainty["nullity"]
        level = f"{100 * certainty['level']:g} % interval"
        entries.append((level, str(low) if low == high else f"{low} to {high}"))
        if certainty["angle"] is not None:
            name = "span stable to" if nullity else "nearest candidate stable to"
            entries.append((name, angle(certainty["angle"])))
    if nullity:
        entries.append(("largest δ²", _defect(record, nullity - 1)))
        ratio = f"{number(gap)} times" if gap is not None else "no direction is left"
        entries.append(("gap to the next", "not computed" if open_ended else ratio))
    elif record["defects"]:
        entries.append(("smallest δ²", _defect(record, 0)))
    if levels := in_words(from_json(tuple[Level, ...], record["tower"]), nullity):
        entries.append(("levels", levels))
    return entries


def _defect(record: dict[str, Any], i: int) -> str:
    """A defect and its interval."""
    return with_interval(record["defects"][i], *record["intervals"][i])


def _nearest(record: dict[str, Any]) -> str:
    """The nearest candidate in words, if no symmetry was found."""
    if record["nullity"] or record["decision"]["undecided"] or not record["candidates"]:
        return ""
    words, grade = (record["candidates"][0][key] for key in ("words", "grade"))
    return f"The nearest candidate: {words}; δ² {_defect(record, 0)}, grade {grade}."


def _curves(verification: Verification | None, words: Sequence[str]) -> list[dict[str, Any]]:
    """Every curve with its sentence and its numbers for the slider; the first of each kind drawn.

    Args:
        verification: what finite transformations did; None if there are none.
        words: what each generator does; empty if that is not known.
    """
    if verification is None:
        return []
    others = enumerate(zip(verification.other_words, verification.others, strict=True))
    entries = [(f"other-{i}", name, i, curve) for i, (name, curve) in others]
    if verification.group is not None:
        entries.append(("group", "the group", 0, verification.group))
    entries += [
        (f"generator-{i}", ": ".join([f"generator {i + 1}", *words[i : i + 1]]), i, curve)
        for i, curve in enumerate(verification.curves)
    ]
    return [
        {
            "key": key,
            "name": name,
            "sentence": curve.sentence(),
            "chart": charts.curve(curve, name, verification.fraction) if i < MAX_CURVES else None,
            "numbers": None
            if key == "group"
            else json_values(
                {"times": curve.times, "change": curve.change, "control_mean": curve.control_mean}
            ),
        }
        for key, name, i, curve in entries
    ]


def _spread(values: Iterable[float | None]) -> str:
    """The median of some numbers, and their range; None is left out."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    return f"{number(statistics.median_high(known))} ({number(min(known))} – {number(max(known))})"
