"""The finite symmetries of two models side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.json_values import json_values
from liegg.results.tables import Column, as_html, fitted, table_width, wrapped

SAME = 1e-2
"""Relative distance of the matrices of elements that are one and the same."""


@dataclass(frozen=True)
class PairedElement:
    """One element in both models.

    Attributes:
        words: what it does.
        found_in: `"both"`, `"a"` or `"b"`.
        a: its effect in the first model; None if it was not judged there.
        b: the same in the second.
        grade_a: its grade in the first model; empty if it was not judged there.
        grade_b: the same in the second.
    """

    words: str
    found_in: str
    a: float | None
    b: float | None
    grade_a: str
    grade_b: str


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison:
    """Finite symmetries of two models, side by side; printed as a table.

    Attributes:
        names: names of the two models.
        groups: names of their groups.
        elements: every element that either model has; elements of one component are one.
        floors: effects that rounding alone may cause.
        sentence: the conclusion.
    """

    names: tuple[str, str]
    groups: tuple[str, str]
    elements: tuple[PairedElement, ...]
    floors: tuple[float, float]
    sentence: str

    def table(self, *, width: int | None = None) -> str:
        """What `print` shows."""
        width = table_width(width)
        first, second = self.names
        lines = wrapped([self.sentence, ""], width)
        columns = [
            Column(f"effect in {first}", [_cell(one.a, one.grade_a) for one in self.elements], ">"),
            Column(
                f"effect in {second}", [_cell(one.b, one.grade_b) for one in self.elements], ">"
            ),
            Column(
                "symmetry of",
                [{"a": first, "b": second}.get(one.found_in, "both") for one in self.elements],
            ),
            Column("element", [one.words for one in self.elements], words=True),
        ]
        return "\n".join([*lines, *(fitted(columns, width) if self.elements else [])]).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return json_values(self)

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return as_html(self)

    def __str__(self) -> str:
        return self.table()


def _cell(value: float | None, grade: str) -> str:
    if value is None:
        return "not judged"
    return "0 (exact)" if grade == "exact" else f"{value:.2g} ({grade})"


def compare_groups(
    a: GroupSymmetries, b: GroupSymmetries, *, names: tuple[str, str] = ("a", "b")
) -> GroupComparison:
    """Compare two results of `discover_group`: the same group? which elements has only one of them?

    Args:
        a: result of `liegg.discover_group`, or read by `liegg.load`.
        b: another one for the same kind of samples.
        names: what the two models are called.
    """
    pairs: list[PairedElement] = []
    mine = [one for one in (*a.elements, *a.permutations) if one.words != "identity"]
    theirs = [one for one in (*b.elements, *b.permutations) if one.words != "identity"]
    for element in mine:
        other = _find(element, theirs) or _find(element, b.rejected)
        both = other is not None and other.counted
        pairs.append(_pair(element, other, "both" if both else "a"))
    for element in theirs:
        if _find(element, mine) is None:
            other = _find(element, a.rejected)
            pair = _pair(element, other, "b")
            pairs.append(PairedElement(pair.words, "b", pair.b, pair.a, pair.grade_b, pair.grade_a))
    distinct = tuple({(pair.words, pair.found_in): pair for pair in pairs}.values())
    return GroupComparison(
        names, (a.name, b.name), distinct, (a.floor, b.floor), _sentence(a, b, names, distinct)
    )


def _pair(element: GroupElement, other: GroupElement | None, found_in: str) -> PairedElement:
    return PairedElement(
        element.words,
        found_in,
        element.effect,
        None if other is None else other.effect,
        element.grade,
        "" if other is None else other.grade,
    )


def _find(element: GroupElement, others: Sequence[GroupElement]) -> GroupElement | None:
    """The same element among others: equal matrices on the same spaces."""
    for other in others:
        if other.kinds == element.kinds and all(
            one.shape == two.shape
            and float(torch.linalg.matrix_norm(one - two))
            <= SAME * float(torch.linalg.matrix_norm(one))
            for one, two in zip(element.matrices, other.matrices, strict=True)
        ):
            return other
    return None


def _sentence(
    a: GroupSymmetries, b: GroupSymmetries, names: tuple[str, str], pairs: Sequence[PairedElement]
) -> str:
    """The conclusion: the names of both groups, and the element that tells them apart best."""
    if a.name == b.name and not any(pair.found_in != "both" for pair in pairs):
        return f"{names[0]} and {names[1]} have the same group, {a.name}."
    text = f"{names[0]} has {a.name}, {names[1]} has {b.name}"
    single = [pair for pair in pairs if pair.found_in != "both"]
    known = [pair for pair in single if None not in (pair.a, pair.b)]
    if not known:
        return f"{text}."
    pair = max(known, key=lambda one: max(one.a or 0.0, one.b or 0.0))
    which = 1 if pair.found_in == "a" else 0
    change = pair.b if which else pair.a
    return (
        f"{text}: {pair.words} changes the output of {names[which]} by {change:.2g} of its spread."
    )
