"""Defects next to those of random directions, re-initialised models and another model."""

import math
from typing import TYPE_CHECKING

import torch

from liegg._utils.diagnoses import plural
from liegg._utils.errors import ArgumentError
from liegg.report.numbers import number, window
from liegg.report.plots.directions import Marks, defect_marks, draw_directions, threshold_line
from liegg.report.plots.style import FOUND, OTHER, THIRD, figure, legend, plain
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPARED_DIRECTIONS = 40
"""Directions drawn where there are no re-initialised models."""

MAX_NAME = 60
"""Letters of a name; longer ones are cut."""

MARK_OFFSET = 0.13
"""Horizontal distance of the marks of each of two results from the direction's number."""


def controls(sym: Symmetries, ax: "Axes | None" = None) -> "Axes":
    """Draw the defect of the first directions next to random directions and re-initialised models.

    Re-initialised models are drawn twice: along the same directions, and their own smallest defects of the same rank. A filled
    mark is a learned direction: the span of the symmetries is more symmetric than in re-initialised models. Without these models
    it is a symmetry.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.

    Raises:
        ArgumentError: the result has no control.
    """
    untrained, random = sym.controls.reinitialised, sym.controls.random
    if untrained is None and (random is None or not random.draws):
        raise ArgumentError(
            "this result has no control to draw; make one with discover(..., controls='random') or "
            "controls='reinitialised'."
        )
    if untrained is None:
        drawn = window(len(sym.defects), sym.nullity, COMPARED_DIRECTIONS)
        filled = {i for i in drawn if i < sym.nullity}
        labels, title = ("a symmetry", "no symmetry"), "the model and random directions"
    else:
        drawn = range(len(untrained.learned))
        filled = {i for i in drawn if untrained.learned[i]}
        labels = ("learned", "not clearly learned")
        title = f"{len(filled)} of the first {len(drawn)} directions were learned"
    marks = []
    for some, fill, label in ((filled, FOUND, labels[0]), ({*drawn} - filled, "white", labels[1])):
        look = {"marker": "o", "color": FOUND, "markerfacecolor": fill, "markersize": 6}
        look |= {"label": f"model, {label}", "zorder": 3}
        marks.append(defect_marks(sym, sorted(some), look))
    if untrained is not None:
        for draws, name, offset, marker, colour in (
            (untrained.along, "same direction", -0.2, "^", OTHER),
            (untrained.own[:, : len(drawn)], "same rank", 0.2, "x", THIRD),
        ):
            finite = ~draws.isnan()
            numbers = torch.arange(1, len(drawn) + 1, dtype=torch.float64)
            places = (numbers + offset).expand_as(draws)[finite]
            look = {"marker": marker, "color": colour, "markersize": 4, "alpha": 0.75}
            look |= {"label": f"re-initialised, {name} ({len(draws)} models)"}
            marks.append(Marks(places.tolist(), draws[finite], look))
    rulers = [threshold_line(sym)]
    if random is not None and math.isfinite(random.median):
        low = f"{number(100 * random.share)} % of them below {number(random.low, 2)}"
        median = f"random directions, median {number(random.median, 2)}"
        rulers = [(random.median, "-", median), (random.low, "--", low), *rulers]
    ax = ax or figure(7.0, 4.7).subplots()
    level = sym.decision.thresholds.level
    draw_directions(ax, marks, drawn, len(sym.defects), rulers=rulers, level=level)
    ax.set_title(title, fontsize="medium")
    legend(ax, columns=2)
    return ax


def comparison(
    a: Symmetries,
    b: Symmetries,
    ax: "Axes | None" = None,
    *,
    names: tuple[str, str] | None = None,
    max_directions: int | None = None,
) -> "Axes":
    """Draw the defects of the first directions of two results: which model is more invariant.

    Each result has its own directions, most invariant first; filled marks are its symmetries.

    Args:
        a: the result of `discover`.
        b: another.
        ax: axes to draw into; by default a new figure.
        names: of the two; by default those of the models, numbered where they are equal.
        max_directions: directions drawn; by default all symmetries of both, and five more.

    Raises:
        ArgumentError: `max_directions` is not positive.
    """
    if max_directions is not None and max_directions < 1:
        raise ArgumentError(
            f"max_directions={max_directions}: expected the number of directions to draw, 1 or more."
        )
    if names is None:
        same = a.model == b.model
        names = (f"{a.model} (1)", f"{b.model} (2)") if same else (a.model, b.model)
    count = max_directions or max(a.nullity, b.nullity) + 5
    marks = []
    for sym, name, offset, marker, colour in (
        (a, names[0], -MARK_OFFSET, "o", FOUND),
        (b, names[1], MARK_OFFSET, "s", OTHER),
    ):
        short = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        label = plain(f"{short}: {plural(sym.nullity, 'symmetry')}")
        directions = range(len(sym.defects))[:count]
        look = {"marker": marker, "color": colour, "markersize": 5.5, "zorder": 3}
        filled = look | {"label": label}
        # one entry of the legend per result: a label with a leading underscore is hidden
        open_ = look | {"label": "_others" if sym.nullity else label, "markerfacecolor": "white"}
        marks.append(defect_marks(sym, directions[: sym.nullity], filled, offset))
        marks.append(defect_marks(sym, directions[sym.nullity :], open_, offset))
    rulers = list(dict.fromkeys((threshold_line(a), threshold_line(b))))
    ax = ax or figure(7.0, 4.5).subplots()
    total = max(len(a.defects), len(b.defects))
    level = a.decision.thresholds.level
    draw_directions(ax, marks, range(min(count, total)), total, rulers=rulers, level=level)
    ax.set_title("filled: a symmetry", fontsize="medium")
    legend(ax, columns=1)
    return ax
