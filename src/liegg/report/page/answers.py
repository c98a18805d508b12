"""Answers about named motions as a page shows them: a table with bars, and a line chart of each."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from liegg._utils.text import percent_digits, percentage
from liegg.report.numbers import number, with_interval
from liegg.report.page import charts
from liegg.results.answer import HOLDS, Answer, FiniteChange
from liegg.results.answers import Answers, largest_cell, short_size

BAR_WIDTH, BAR_EDGE = 200.0, 6.0
"""Width of a bar of the table, and its margin on either side."""

WHOLE_TURN = 360.0


class Told(NamedTuple):
    """The number that answers a question, as a share.

    Attributes:
        value: predictions that change, or the change of the output.
        low: lower end of its interval; None without one.
        high: upper end.
        random: the same for random motions.
    """

    value: float
    low: float | None
    high: float | None
    random: float


def answers_of(answers: Answers) -> dict[str, Any] | None:
    """What the page shows of all answers; None if there are none.

    Args:
        answers: of the result.

    Returns:
        `sentence` and `holds` of the first answer, `quantity` that the table is about (`"predictions"`,
        `"output"` or `"derivative"`), its `rows`, the `scale` of its bars, and the `curves`.
    """
    if not answers:
        return None
    moved = [one.finite for one in answers if one.finite is not None]
    quantity = "output" if moved else "derivative"
    quantity = "predictions" if any(one.share is not None for one in moved) else quantity
    told = [_told(one, quantity) for one in answers]
    top = _top(told, quantity)
    return {
        "sentence": answers[0].sentence.replace(" %", "\u00a0%"),
        "holds": bool(answers[0].holds),
        "quantity": quantity,
        "equivariance": answers[0].equivariance,
        "adjective": "equivariant" if answers[0].equivariance else "invariant",
        "rows": [_row(one, value, top) for one, value in zip(answers, told, strict=True)],
        "scale": [(_across(step, top), percentage(step)) for step in (0.0, top / 2, top)],
        "width": BAR_WIDTH,
        "untrained": any(one.untrained for one in answers),
        "largest": _beside(answers) if any(one.largest is not None for one in moved) else "",
        "part": answers[0].part,
        "samples": max((len(one.each_change) for one in moved), default=0),
        "level": f"{100 * moved[0].level:g}" if quantity == "predictions" else "",
        "within": percentage(HOLDS),
        "curves": [
            {"key": f"answer-{i}", "name": answer.name, **_curve(answer, answer.finite)}
            for i, answer in enumerate(answers)
            if answer.finite is not None and has_sizes(answer.finite)
        ],
    }


def _beside(answers: Answers) -> str:
    """Heading of the share of samples whose largest output changes."""
    return "predictions changed" if answers[0].part else "predictions changed, if classes"


def _told(answer: Answer, quantity: str) -> Told | None:
    """The number in the table; None if it was not measured."""
    finite = answer.finite
    if quantity == "derivative":
        if not answer.has_derivative or not math.isfinite(answer.defect):
            return None
        ends = [math.sqrt(max(end, 0.0)) if math.isfinite(end) else None for end in answer.interval]
        return Told(math.sqrt(max(answer.defect, 0.0)), ends[0], ends[1], 1.0)
    if finite is None:
        return None
    if quantity == "output":
        return Told(finite.amount, None, None, finite.random_amount)
    if finite.share is None or finite.random_share is None:
        return None
    return Told(finite.share.value, finite.share.low, finite.share.high, finite.random_share)


def _top(told: Sequence[Told | None], quantity: str) -> float:
    """Upper end of the bars: 100 % of predictions, or what holds the largest change, up to a limit."""
    if quantity == "predictions":
        return 1.0
    values = [value for one in told if one is not None for value in one if value is not None]
    largest = max((value for value in values if math.isfinite(value)), default=1.0)
    return next(
        (top for top in (0.1, 0.2, 0.5, 1.0, 2.0) if largest <= top), charts.MAX_PERCENT / 100
    )


def _across(value: float, top: float) -> float:
    """Place of a value in a bar."""
    share = min(max(value, 0.0), top) / top
    return round(BAR_EDGE + (BAR_WIDTH - 2 * BAR_EDGE) * share, 2)


def _row(answer: Answer, told: Told | None, top: float) -> dict[str, Any]:
    """One motion: its numbers as text, and its bar."""
    finite = answer.finite
    row: dict[str, Any] = {
        "name": answer.name,
        "size": "" if finite is None else short_size(finite.size_in_words()),
        "kind": _kind(answer),
        "verdict": ", ".join(filter(None, (answer.verdict, answer.trained))),
        "changed": "not measured",
        "interval": "",
        "random": "",
        "untrained": _untrained(answer),
        "defect": with_interval(answer.defect, *answer.interval, digits=2),
        "effect": number(answer.effect, 2),
        "radius": "" if finite is None else finite.size_in_words(finite.radius).removeprefix("by "),
        "bar": None,
        "largest": largest_cell(answer),
    }
    if told is None:
        return row
    changed = answer.changed or percentage(told.value)
    random = percentage(told.random) if told.random < math.inf else "undefined"
    row |= {"changed": changed, "random": random}
    beside = _across(told.random, top) if told.random < math.inf else None
    bar = {"value": _across(told.value, top), "random": beside, "ends": None}
    if told.low is not None and told.high is not None:
        row["interval"] = f"{percent_digits(told.low)} to {percentage(told.high)}"
        bar["ends"] = (_across(told.low, top), _across(told.high, top))
    return row | {"bar": bar}


def _kind(answer: Answer) -> str:
    """Shape and colour of the mark."""
    if answer.holds is None:
        return "undecided"
    if answer.holds:
        return "found"
    return "weak" if answer.finite is not None and answer.finite.milder else "other"


def _untrained(answer: Answer) -> str:
    """The same in re-initialised models."""
    values = [value for value in answer.untrained if math.isfinite(value)]
    if not values:
        return ""
    share = answer.untrained_changed
    changed = "" if share is None else f"{percentage(share)} changed, "
    return f"{changed}δ² {number(median(values), 2)}"


def has_sizes(finite: FiniteChange) -> bool:
    """Whether the sizes of a motion grow with it; a motion of the user may have a unit without a size."""
    return all(a < b for a, b in pairwise([0.0, *finite.sizes.tolist()]))


def _curve(answer: Answer, finite: FiniteChange) -> dict[str, Any]:
    """The line chart of a motion, and its numbers for the slider: changed predictions, or the change of the output in per cent."""
    own, random = finite.changed, finite.random_changed
    what = "predictions changed"
    if own is None or random is None:
        own, random = finite.change.sqrt(), finite.random_change.sqrt()
        what = "distance from equivariance" if answer.equivariance else "change of the output"
    rows = {
        name: from_start(finite, (100 * values).tolist(), 0.0)
        for name, values in (("change", own), ("control", random))
    }
    sizes = from_start(finite, finite.sizes.tolist(), WHOLE_TURN)
    unit = {"°": "angle", "": "size, in multiples of the data's spread"}
    chart = charts.changes(
        rows,
        sizes,
        top=None if finite.changed is None else 100.0,
        unit=finite.unit,
        x_label=unit.get(finite.unit, f"size in {finite.unit}"),
        y_label=what,
        label=f"{answer.name}: {what}, at most {number(max(rows['change']))} %; random motions of "
        f"equal displacement at most {number(max(rows['control']))} %",
    )
    numbers = {
        "sizes": sizes,
        "change": _finite(rows["change"]),
        "control_mean": _finite(rows["control"]),
        "title": what,
    }
    return {"chart": chart, "numbers": numbers}


def from_start(finite: FiniteChange, values: list[float], end: float) -> list[float]:
    """Values at the sizes, after 0 for no motion; a whole turn ends where it began, with a value of its own."""
    return [0.0, *values, *([end] if finite.whole_turn else [])]


def _finite(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
