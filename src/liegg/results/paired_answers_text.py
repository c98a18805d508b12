"""Named motions in two models as a table for a terminal."""

import math

from liegg.results.answer import Answer
from liegg.results.answers import changed_cell, number_cell
from liegg.results.paired_answer import PairedAnswer
from liegg.results.tables import Column, leading, wrapped


def lines(answers: tuple[PairedAnswer, ...], names: tuple[str, str], width: int) -> list[str]:
    """The first motion as a sentence, and all of them as a table; none without answers.

    Args:
        answers: the motions in both models.
        names: names of the models.
        width: columns of the table.
    """
    if not answers:
        return []
    columns = [
        Column("motion", [one.name for one in answers], words=True),
        Column(names[0], [_changed(one.a) for one in answers]),
        Column(names[1], [_changed(one.b) for one in answers]),
        Column("clearly less", [_name(one, names) for one in answers]),
        Column(f"δ² in {names[1]} over {names[0]}", [_ratio(one) for one in answers]),
    ]
    return [*wrapped([answers[0].sentence], width), "", *leading(columns, width)]


def _name(pair: PairedAnswer, names: tuple[str, str]) -> str:
    return {"a": names[0], "b": names[1]}.get(pair.smaller, "neither")


def _changed(answer: Answer) -> str:
    defect = number_cell(answer.defect, math.nan, math.nan)
    return changed_cell(answer, otherwise=f"δ² {defect}" if defect else "")


def _ratio(pair: PairedAnswer) -> str:
    return number_cell(pair.ratio.value, pair.ratio.low, pair.ratio.high)
