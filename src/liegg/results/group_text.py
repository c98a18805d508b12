"""A group of finite symmetries as a table for a terminal: one sentence, then one line per element."""

import math
from collections.abc import Sequence

from liegg._utils.diagnoses import plural
from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.tables import (
    TABLE_LINES,
    Column,
    decimal,
    fitted,
    interval,
    table_width,
    without_middle,
    wrapped,
)

SHOWN_REJECTED = 5
"""Rejected elements that the table lists; the others are counted."""


def table(found: GroupSymmetries, *, width: int | None = None) -> str:
    """Readable account of a result in under 40 lines: the finding, the elements with their effects, what was refuted.

    Args:
        found: the result of `discover_group`.
        width: columns of a line, from 60 to 200; those of the terminal by default.
    """
    width = table_width(width)
    searched, judged = found.samples
    lines = [
        found.sentence,
        f"{found.model}: {plural(found.judged, 'element')} judged on {plural(judged, 'held-out sample')}, "
        f"searched on {searched}",
        *_parts(found),
        *(f"  note: {note}" for note in found.notes),
        "",
    ]
    lines = wrapped(lines, width)
    rows = [*found.elements, *found.permutations, *found.infinite]
    rejected = list(found.rejected[:SHOWN_REJECTED])
    room = TABLE_LINES - len(lines) - len(rejected) - 4
    shown = _table(found, rows, width, room) if rows else []
    if rejected:
        shown += ["", "  tried, and no symmetries or not testable:"]
        shown += _table(found, rejected, width, room=SHOWN_REJECTED + 1)
        more = len(found.rejected) - len(rejected)
        shown += [f"  ... {more} more in found.rejected"] if more else []
    return "\n".join([*lines, *shown]).rstrip()


def _parts(found: GroupSymmetries) -> list[str]:
    """The continuous part, the group of components, the slots and the shifts."""
    lines = []
    if found.continuous is not None and found.continuous.nullity:
        dimension = plural(found.continuous.nullity, "dimension")
        exact = found.continuous.decision.exact
        held = "" if exact == found.continuous.nullity else f", of which {exact} exact"
        lines.append(f"  continuous part: {found.continuous.name or 'unnamed'}, {dimension}{held}")
    if found.group is not None and found.group.order != 1:
        lines.append(
            f"  {'components' if found.group.dimension else 'group'}: {found.group.title()}"
        )
    if found.slots is not None:
        lines.append(f"  slots: {found.slots.title()}")
    if any(found.shifts):
        steps = ", ".join(str(step) if step else "none" for step in found.shifts)
        lines.append(f"  smallest circular shift along each axis: {steps}")
    return lines


def _table(
    found: GroupSymmetries, elements: Sequence[GroupElement], width: int, room: int
) -> list[str]:
    head, *rows = fitted(columns(found, elements), width)
    return [head, *without_middle(rows, max(room, 5), indent=6)]


def columns(found: GroupSymmetries, elements: Sequence[GroupElement]) -> list[Column]:
    """Order, effect with interval, changed predictions, grade and words of elements."""
    orders = None if found.group is None or not found.group.closed else found.group.orders.tolist()
    reasons = [f"{one.words}: {one.reason}" if one.reason else one.words for one in elements]
    return [
        Column(
            "order",
            [
                str(orders[one.component]) if orders and one.component is not None else ""
                for one in elements
            ],
            ">",
        ),
        Column("effect", [effect(one, found.floor) for one in elements], ">"),
        Column(
            "interval",
            [interval(*one.interval) if one.effect > found.floor else "" for one in elements],
            "^",
        ),
        Column("changed", [share(one.changed) for one in elements], ">"),
        Column(
            "random", [decimal(one.reference, 2) if one.reference else "" for one in elements], ">"
        ),
        Column("grade", [one.grade for one in elements]),
        Column("element", reasons, words=True),
    ]


def effect(element: GroupElement, floor: float) -> str:
    """The effect with two digits; 0 where rounding explains it, a dash where it is not testable."""
    return "–" if element.grade == "not testable" else decimal(element.effect, 2, floor=floor)


def share(changed: float | None) -> str:
    """A share of predictions in per cent.

    >>> share(0.012), share(None), share(1.0)
    ('1.2 %', '', '100 %')
    """
    if changed is None or math.isnan(changed):
        return ""
    return f"{100 * changed:.{2 if changed < 0.995 else 3}g} %"
