"""Several answers, by position or by name, and as a table."""

import math

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg._utils.text import percent_digits, percentage
from liegg.results.answer import Answer, FiniteChange, Share
from liegg.results.tables import Column, leading, table_width, with_interval, wrapped

WITH_RADIUS = 120
"""Columns from which on the table says up to which size the output stays within 5 % of its variance."""


class Answers(tuple[Answer, ...]):
    """Answers about named motions; `answers.named("rotation")` is one of them."""

    __slots__ = ()

    @checked()
    def named(self, name: str) -> Answer:
        """The answer about one motion.

        Raises:
            ArgumentError: no question has this name.
        """
        for answer in self:
            if answer.name == name:
                return answer
        names = ", ".join(repr(one.name) for one in self) or "none"
        raise ArgumentError(
            f"no answer is called {name!r}; there are {names}. Ask with sym.about({name!r})."
        )

    def lines(self, width: int) -> list[str]:
        """The first answer as a sentence, and all of them as a table.

        Args:
            width: columns of the table, 60 or more.
        """
        if not self:
            return []
        head = wrapped([self[0].sentence], width)
        return [*head, "", *_table(self, width)] if len(self) > 1 else head

    def __str__(self) -> str:
        return "\n".join(self.lines(table_width()))

    def __repr__(self) -> str:
        return f"Answers({', '.join(f'{one.name}: {one.verdict}' for one in self)})"


def _table(answers: Answers, width: int) -> list[str]:
    """One line per motion; where not all columns fit, the verdict stays."""
    classes = any(one.finite is not None and one.finite.share is not None for one in answers)
    output = "output off by" if answers[0].equivariance else "output changed"
    output = "change" if answers[0].part else output
    changed = "predictions changed" if classes else output
    columns = [
        Column("motion", [one.name for one in answers], words=True),
        Column("size", [_size(one.finite) for one in answers], spare=2),
        Column(changed, [changed_cell(one) for one in answers]),
        Column(_beside(answers[0]), [largest_cell(one) for one in answers], spare=1),
        Column("random", [_random(one) for one in answers], spare=3),
        Column("verdict", [str(one.verdict).split(",")[0] for one in answers]),
        Column("δ²", [_defect(one) for one in answers], spare=4),
        Column("untrained", [_untrained(one) for one in answers], spare=5),
    ]
    if width >= WITH_RADIUS:
        columns.append(
            Column("output holds up to", [_radius(one.finite) for one in answers], spare=6)
        )
    return leading(columns, width)


def _beside(answer: Answer) -> str:
    """What the share of samples is called whose largest output changes."""
    return "predictions changed" if answer.part else "predictions, if classes"


def _size(finite: FiniteChange | None) -> str:
    return "" if finite is None else short_size(finite.size_in_words())


def short_size(words: str) -> str:
    """A size in words, for a column.

    >>> short_size("by a random angle"), short_size("by 3.5 pixels")
    ('random angle', '3.5 pixels')
    """
    return words.removeprefix("by ").removeprefix("a ")


def _radius(finite: FiniteChange | None) -> str:
    return "" if finite is None else finite.size_in_words(finite.radius).removeprefix("by ")


def changed_cell(answer: Answer) -> str:
    """Predictions that change, with their interval, or the change of the output; empty if nothing was moved."""
    if answer.finite is None:
        return ""
    share = answer.finite.share
    return answer.changed if share is None else percentage_with_ends(share)


def largest_cell(answer: Answer) -> str:
    """Samples whose largest output changes, with their interval, where it may be the prediction."""
    if answer.finite is None or answer.finite.largest is None:
        return ""
    return percentage_with_ends(answer.finite.largest.share)


def percentage_with_ends(share: Share) -> str:
    """A share and its interval in per cent."""
    ends = f"{percent_digits(share.low)} to {percent_digits(share.high)}"
    return f"{percentage(share.value)} ({ends})"


def _random(answer: Answer) -> str:
    if answer.finite is None:
        return ""
    share = answer.finite.random_share
    amount = answer.finite.random_amount if share is None else share
    return percentage(amount) if math.isfinite(amount) else "undefined"


def _defect(answer: Answer) -> str:
    return "0" if answer.grade == "exact" else with_interval(answer.defect, *answer.interval)


def _untrained(answer: Answer) -> str:
    values = sorted(value for value in answer.untrained if math.isfinite(value))
    if not values:
        return ""
    share = answer.untrained_changed
    changed = "" if share is None else f", {percentage(share)} changed"
    return f"δ² {values[len(values) // 2]:.2g}{changed}"
