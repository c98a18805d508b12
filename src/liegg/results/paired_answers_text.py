"""Named motions in two models as a table for a terminal."""

import math
import textwrap

from liegg.results.answer import Answer, percentage
from liegg.results.paired_answer import PairedAnswer


def lines(answers: tuple[PairedAnswer, ...], names: tuple[str, str], width: int) -> list[str]:
    """The first motion as a sentence, and all of them as a table; none without answers.

    Args:
        answers: the motions in both models.
        names: names of the models.
        width: columns of the table.
    """
    if not answers:
        return []
    head = textwrap.wrap(answers[0].sentence, width, subsequent_indent="    ")
    columns = [
        ("motion", [one.name for one in answers]),
        (names[0], [_changed(one.a) for one in answers]),
        (names[1], [_changed(one.b) for one in answers]),
        ("clearly less", [_name(one, names) for one in answers]),
        (f"δ² in {names[1]} over {names[0]}", [_ratio(one) for one in answers]),
    ]
    columns = [(title, cells) for title, cells in columns if any(cells)]
    widths = [max(len(title), *map(len, cells)) for title, cells in columns]
    while sum(widths) + 2 * len(widths) > width and len(widths) > 3:
        widths.pop()
        columns.pop()
    rows = [[title for title, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    return [
        *head,
        "",
        *(
            "  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
    ]


def _name(pair: PairedAnswer, names: tuple[str, str]) -> str:
    return {"a": names[0], "b": names[1]}.get(pair.smaller, "neither")


def _changed(answer: Answer) -> str:
    if answer.finite is None:
        return f"δ² {answer.defect:.2g}" if math.isfinite(answer.defect) else ""
    share = answer.finite.share
    if share is None:
        return percentage(answer.finite.amount)
    low, high = (percentage(end).removesuffix(" %") for end in (share.low, share.high))
    return f"{percentage(share.value)} ({low} to {high})"


def _ratio(pair: PairedAnswer) -> str:
    ratio = pair.ratio
    if not math.isfinite(ratio.value):
        return ""
    return f"{ratio.value:.2g} ({ratio.low:.2g} to {ratio.high:.2g})"
