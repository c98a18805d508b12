"""A group of finite symmetries as one self-contained HTML page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg._utils.one_at_a_time import one_at_a_time
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.whole_name import TRIVIAL
from liegg.report.page.group_stage import stage
from liegg.report.page.render import rendered, write_html
from liegg.report.plots.group import element_colours, flat_orbit, is_light
from liegg.results.group_symmetries import UNDECIDED, GroupElement, GroupSymmetries
from liegg.results.group_text import columns
from liegg.results.tables import Column

DRAWN_ORDER = 64
"""Largest order of a group whose multiplication table is drawn."""

TABLE_SIDE, ORBIT_SIDE = 420.0, 320.0
"""Sides of the drawings, in pixels."""

GROUP_GLOSSARY = (
    (
        "continuous part",
        "the motions of the group that can be as small as one likes. Their name says which they are: so(3) is all rotations in "
        "three dimensions, se(3) has the translations as well.",
    ),
    (
        "element",
        "a finite transformation of a sample, such as a reflection, a rotation by a fixed angle, or a permutation of slots.",
    ),
    (
        "effect",
        "how much the output changes, relative to how much it differs between samples: 0 for a symmetry, about 1.4 for "
        "taking another sample.",
    ),
    (
        "group, order",
        "a group holds, with two elements, also one after the other. Its order is the number of its elements; the order of an "
        "element is how often it is applied until every sample is back. Names such as O_h (all symmetries of a cube), Z₂, D₄ or "
        "S₃ say how the elements combine.",
    ),
    (
        "cycles, inversion, rotoreflection, reversal",
        "a cycle exchanges coordinates in turn; the inversion changes the sign of all, a reversal of a subspace that of some "
        "directions; a rotoreflection is a rotation with a reflection in the plane at right angles to its axis.",
    ),
    (
        "multiplication table, conjugacy class, orbit",
        "the table says which element two of them make, one after the other; elements of one conjugacy class do the same in "
        "another orientation; the orbit of a point is everywhere that the elements take it.",
    ),
    ("held-out samples", "samples that the search did not use, kept to judge what it found."),
    ("random", "the effect of random maps that move the samples as far."),
    (
        "component",
        "all elements that differ by the continuous symmetries; one of them stands for all.",
    ),
    (
        "grade",
        "exact: only rounding changes the output; strong, approximate and weak by the size of the effect; not testable: the "
        "data cannot tell.",
    ),
)


@checked()
@one_at_a_time
def write_group(
    found: GroupSymmetries,
    path: str | Path,
    *,
    samples: Any = None,
    model: Any = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write a group as one HTML page: the finding, buttons that apply each element, the table, the orbit of a point.

    Args:
        found: the result of `discover_group`.
        path: the file; folders are made if needed.
        samples: inputs of the model, plain or structured, of which up to four are shown and moved.
        model: the model; its predictions are written beside the samples.
        classes: names of the classes that it predicts.
        title: heading of the page; by default it names the model.

    Returns:
        The path.

    Raises:
        MissingExtraError: jinja2 is not installed.
        ArgumentError: samples of another shape than those that were analysed.
    """
    text = group_html(found, samples=samples, model=model, classes=classes, title=title)
    return write_html(text, Path(path))


def group_html(
    found: GroupSymmetries,
    *,
    samples: Any = None,
    model: Any = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> str:
    """The page of `write_group` as text; the same result gives the same text."""
    elements = [*found.elements, *found.permutations, *found.infinite]
    tried = [one for one in found.rejected if one.words][:8]
    shown = list({one.words: one for one in reversed([*elements, *tried])}.values())[::-1]
    scene = None
    if samples is not None and shown:
        scene = stage(found, shown, samples, model, classes=classes)
    values = {
        "title": f"Finite symmetries of {found.model}" if title is None else title,
        "sentences": [found.sentence],
        "positive": found.name not in (TRIVIAL, UNDECIDED),
        "facts": _facts(found),
        "heads": [column.head for column in _columns(found, elements)],
        "rows": _rows(found, elements),
        "tried_heads": [column.head for column in _columns(found, found.rejected)],
        "tried": _rows(found, found.rejected),
        "scene": scene,
        "buttons": shown[: 0 if scene is None else len(scene["words"])],
        "table": None if found.group is None else table_drawing(found.group),
        "orbit": None if found.group is None else orbit_drawing(found.group),
        "angles": found.angles,
        "glossary": GROUP_GLOSSARY,
        "notes": [str(note) for note in found.notes],
    }
    data = {"group": scene}
    return rendered("group.html.jinja", values, data, more=("group.css", "group.js"))


def _facts(found: GroupSymmetries) -> list[tuple[str, str]]:
    facts = [("group", found.name)]
    if found.group is not None and found.group.closed:
        counted = "infinite" if found.order is None else str(found.order)
        facts.append(("components" if found.group.dimension else "order", counted))
    if found.slots is not None:
        facts.append(("permutations of slots", found.slots.title()))
    if found.continuous is not None:
        facts.append(
            ("continuous part", found.continuous.name if found.continuous.nullity else "none")
        )
    facts.append(("held-out samples", str(found.samples[1])))
    facts.append(("elements judged", str(found.judged)))
    return facts


def _columns(found: GroupSymmetries, elements: Sequence[GroupElement]) -> list[Column]:
    """The columns of the printed table that have any text, the words first."""
    *numbers, words = columns(found, elements)
    return [words, *(column for column in numbers if any(column.cells))]


def _rows(found: GroupSymmetries, elements: Sequence[GroupElement]) -> list[dict[str, Any]]:
    cells = [column.cells for column in _columns(found, elements)]
    return [
        {"cells": list(row), "counted": element.counted}
        for row, element in zip(zip(*cells, strict=True), elements, strict=True)
    ]


def table_drawing(group: FiniteGroup) -> dict[str, Any] | None:
    """Fields of the multiplication table; None if it is not closed or too large."""
    if not group.closed or not 1 < len(group.table) <= DRAWN_ORDER:
        return None
    m = len(group.table)
    side = TABLE_SIDE / m
    rgb = element_colours(group)
    colours = ["#" + (255 * colour).round().astype("uint8").tobytes().hex() for colour in rgb]
    fields = [
        {
            "x": round(j * side, 2),
            "y": round(i * side, 2),
            "colour": colours[product],
            "text": product + 1 if m <= 12 else "",
            "dark": not is_light(rgb[product]),
            "title": f"{i + 1} · {j + 1} = {product + 1}: {group.words[product]}",
        }
        for i, row in enumerate(group.table.tolist())
        for j, product in enumerate(row)
    ]
    legend = [
        {"number": i + 1, "colour": colours[i], "words": words}
        for i, words in enumerate(group.words)
    ]
    return {
        "side": round(side, 2),
        "size": TABLE_SIDE,
        "fields": fields,
        "legend": legend,
        "name": group.name,
    }


def orbit_drawing(group: FiniteGroup) -> dict[str, Any] | None:
    """Places of the images of a point; None if there is one element only."""
    if len(group.elements) < 2 or len(group.elements) > 500:
        return None
    flat = flat_orbit(group)
    middle, reach = (flat.max(0) + flat.min(0)) / 2, float((flat.max(0) - flat.min(0)).max()) or 1.0
    scale = (ORBIT_SIDE - 40) / reach
    points = [
        {
            "x": round(ORBIT_SIDE / 2 + scale * float(x - middle[0]), 1),
            "y": round(ORBIT_SIDE / 2 - scale * float(y - middle[1]), 1),
            "title": words,
        }
        for (x, y), words in zip(flat.tolist(), group.words, strict=True)
    ]
    return {"size": ORBIT_SIDE, "points": points}
