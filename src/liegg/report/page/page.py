"""The record as one page that needs nothing else: no network, no other file, no library in the browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import MissingExtraError
from liegg.discovery.verification.further_curves import others_of
from liegg.report.page import charts as charts
from liegg.report.page.generators import bases, trivial_matrices
from liegg.report.page.numbers import angle, number
from liegg.report.page.snippet import snippet_of
from liegg.report.page.stage import motions_of, stage_of
from liegg.results.layers import LayerSymmetries
from liegg.results.symmetries import Symmetries

SHOWN_CURVES = 12
"""Curves drawn; their sentences are all told."""

GRADE_WORDS = {"exact": "exactly", "strong": "very nearly", "approximate": "approximately"}
ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""What could end a script element or begin another; U+2028 and U+2029 are escaped by `json` itself."""


def write_report(
    sym: Symmetries,
    path: str | Path,
    *,
    samples: Tensor | np.ndarray | None = None,
    layers: LayerSymmetries | None = None,
    title: str | None = None,
    snippet: str | None = None,
) -> Path:
    """Write a result as one HTML page that works from disk, in light and dark, on a phone and on paper.

    The page holds what `sym.to_dict()` does, drawn, and a slider that moves samples by exp(tA) in the browser. The file is written
    under another name first, so that no half of a page is ever left.

    Args:
        sym: the result of `discover`.
        path: where; folders are made if needed.
        samples: a few inputs of the model to move, `[k, *x]`, of which the first 8 are put into the page: pictures with 256 levels
            and at most 96 pixels to a side (larger ones are averaged down), vectors with 5 digits and at most 256 to a sample.
        layers: what `discover_layers` found for the same model; adds a plot over the layers.
        title: heading of the page; by default it names the model.
        snippet: code that runs the analysis again; by default it is made from the settings.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
        ArgumentError: samples that are no finite numbers, or of a shape that the action does not move.
    """
    return write_text(
        report_html(sym, samples=samples, layers=layers, title=title, snippet=snippet), Path(path)
    )


def report_html(
    sym: Symmetries,
    *,
    samples: Tensor | np.ndarray | None = None,
    layers: LayerSymmetries | None = None,
    title: str | None = None,
    snippet: str | None = None,
) -> str:
    """The page of `write_report` as text; the same result gives the same text."""
    record = sym.to_dict()
    stage = stage_of(sym.action, samples)
    motions = motions_of(sym, stage)
    values = {
        "title": f"Symmetries of {sym.model}" if title is None else title,
        "record": record,
        "verdict": verdict(record),
        "action": repr(sym.action),
        "output_action": None if sym.output_action is None else repr(sym.output_action),
        "certain": facts(record),
        "nearest": _nearest(sym, record),
        "spectrum": charts.defects(record),
        "variance": charts.variances(record),
        "bias": charts.biases(sym),
        "bases": bases(sym, record),
        "side": sym.action.ambient,
        "stage": stage,
        "motions": motions,
        "curves": _curves(record),
        "fresh": _fresh(record),
        "layers": None if layers is None else charts.layers(layers),
        "layer_notes": [] if layers is None else list(layers.notes),
        "trivial": trivial_matrices(sym),
        "settings": {
            name: value for name, value in record["settings"].items() if name != "versions"
        },
        "snippet": snippet_of(sym, layers=layers is not None) if snippet is None else snippet,
        "number": number,
        "angle": angle,
    }
    return rendered(
        "report.html.jinja",
        values,
        {"stage": stage, "motions": motions, "curves": _curve_numbers(record)},
    )


def verdict(record: dict[str, Any]) -> str:
    """What was found in one sentence, with the name of the algebra.

    Args:
        record: the result as a dict.
    """
    model, found = record["model"], record["identification"]
    what = "invariant" if record["question"] == "invariance" else "equivariant"
    if not record["nullity"]:
        undecided = record["decision"]["undecided"]
        few = f"; {undecided} directions are undecided" if undecided else ""
        return f"No symmetry of {model} was found among these candidates{few}."
    worst = record["grades"][record["nullity"] - 1]
    how = GRADE_WORDS.get(worst, worst)
    if found["name"] == "unknown":
        whom = f"a {record['nullity']}-dimensional family of motions that has no name here"
    else:
        meaning = f", {found['meaning']}" if found["meaning"] else ""
        whom = f"{found['name']}{meaning}{'' if found['confident'] else ' (the name is not sure)'}"
    return f"{model} is {how} {what} under {whom}."


def facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts beside the verdict, each with its name."""
    decision, nullity = record["decision"], record["nullity"]
    listed = [("symmetries", f"{nullity} or more" if nullity and _ends(record) else str(nullity))]
    if (low := record["bottom"]) is not None:
        largest = number(max(low["residuals"], default=0.0))
        listed.append(
            (
                "solved for",
                f"the {len(record['defects'])} smallest of {low['moving']}, each to {largest}",
            )
        )
    if nullity:
        listed.append(("grade", record["grades"][nullity - 1]))
    if (sure := record["certainty"]) is not None:
        low, high = sure["nullity"]
        level = f"{100 * sure['level']:g} %"
        listed.append(
            (f"{level} interval of that", str(low) if low == high else f"{low} to {high}")
        )
        if sure["angle"] is not None:
            whose = (
                "the span turns by at most" if nullity else "the nearest candidate turns by up to"
            )
            listed.append((whose, angle(sure["angle"])))
    if nullity:
        listed.append(("largest δ²", _with_interval(record, nullity - 1)))
        listed.append(
            (
                "gap to the next",
                "none is left"
                if decision["gap"] is None
                else "not solved for"
                if _ends(record)
                else f"{number(decision['gap'])} times",
            )
        )
    elif record["defects"]:
        listed.append(("smallest δ²", _with_interval(record, 0)))
    return listed


def _ends(record: dict[str, Any]) -> bool:
    """Whether the direction after the last symmetry was not solved for."""
    low = record["bottom"]
    return low is not None and record["nullity"] == len(record["defects"]) < low["moving"]


def _with_interval(record: dict[str, Any], i: int) -> str:
    """A defect and its interval."""
    low, high = record["intervals"][i]
    return number(record["defects"][i]) + (
        "" if low is None or high is None else f" ({number(low)} – {number(high)})"
    )


def _nearest(sym: Symmetries, record: dict[str, Any]) -> str:
    """The nearest candidate in words, where no symmetry was found."""
    if sym.nullity or sym.decision.undecided or not (words := others_of(sym).words):
        return ""
    return f"The nearest candidate: {words[0]}; δ² {_with_interval(record, 0)}, grade {record['grades'][0]}."


def _curves(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Every curve with its sentence; the first ones drawn."""
    found = record["verification"]
    if found is None:
        return []
    every = [
        (f"other-{i}", words, curve)
        for i, (words, curve) in enumerate(zip(found["other_words"], found["others"], strict=True))
    ]
    every += [] if found["group"] is None else [("group", "the group", found["group"])]
    every += [
        (f"generator-{i}", f"generator {i + 1}", curve) for i, curve in enumerate(found["curves"])
    ]
    texts = [
        text.removeprefix(f"{words}: ")
        for text, words in zip(found["other_sentences"], found["other_words"], strict=True)
    ]
    own = [sentence.partition(": ")[2] for sentence in found["sentences"]]
    texts += own[len(found["curves"]) :] + own[: len(found["curves"])]
    drawn = {
        key
        for i, (key, *_) in enumerate(every)
        if i < SHOWN_CURVES or key == "group" or int(key.partition("-")[2]) < SHOWN_CURVES
    }
    return [
        {
            "key": key,
            "name": name,
            "sentence": text,
            "chart": charts.curve(curve, name, found["fraction"]) if key in drawn else None,
        }
        for (key, name, curve), text in zip(every, texts, strict=True)
    ]


def _curve_numbers(record: dict[str, Any]) -> dict[str, Any]:
    """What the script reads off beside the slider, by the key of the curve."""
    found = record["verification"]
    keys = ("times", "change", "control_mean")
    kinds = () if found is None else (("generator", found["curves"]), ("other", found["others"]))
    return {
        f"{kind}-{i}": {key: curve[key] for key in keys}
        for kind, curves in kinds
        for i, curve in enumerate(curves[:SHOWN_CURVES])
    }


def _fresh(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Defects beside those of fresh weights, one line to a direction."""
    if record["fresh"] is None:
        return []
    lines = []
    for i, learned in enumerate(record["fresh"]["learned"]):
        along, own = (
            _spread([draw[i] for draw in record["fresh"][key]]) for key in ("along", "own")
        )
        lines.append(
            {
                "direction": i + 1,
                "defect": record["defects"][i],
                "along": along,
                "own": own,
                "learned": learned,
            }
        )
    return lines


def _spread(values: list[float | None]) -> str:
    """The middle of some numbers, and their range."""
    known = sorted(value for value in values if value is not None)
    return (
        f"{number(known[len(known) // 2])} ({number(known[0])} – {number(known[-1])})"
        if known
        else "–"
    )


def rendered(template: str, values: dict[str, Any], data: dict[str, Any] | None = None) -> str:
    """A template filled in; everything that comes from outside is escaped by it, the data for the script here.

    Args:
        template: its file.
        values: what it names.
        data: what the script of the page reads.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "the report needs jinja2. Type: pip install 'liegg[report]'"
        ) from error
    environment = Environment(
        loader=PackageLoader("liegg.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    if environment.loader is None:
        raise MissingExtraError(
            "the templates of the report are not installed. Install liegg again."
        )
    style, script = (
        Markup(environment.loader.get_source(environment, f"report.{kind}")[0])
        for kind in ("css", "js")
    )
    encoded = Markup(embedded({} if data is None else data))
    return environment.get_template(template).render(
        values | {"style": style, "script": script, "data": encoded}
    )


def embedded(value: Any) -> str:
    r"""JSON that can stand inside a script element, whatever texts it holds.

    >>> embedded({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).translate(ESCAPES)
