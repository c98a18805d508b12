"""The finite symmetries of two models side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.json_values import json_values
from liegg.results.tables import Column, as_html, fitted, table_width, wrapped

SAME_MATRIX = 1e-2
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
    mine, theirs = (
        [one for one in (*found.elements, *found.permutations) if one.words != "identity"]
        for found in (a, b)
    )
    pairs = []
    for element in mine:
        other = _find(element, theirs) or _find(element, b.rejected)
        both = other is not None and other.counted
        pairs.append(_pair(element.words, "both" if both else "a", element, other))
    for element in theirs:
        if _find(element, mine) is None:
            pairs.append(_pair(element.words, "b", _find(element, a.rejected), element))
    distinct = tuple({(pair.words, pair.found_in): pair for pair in pairs}.values())
    return GroupComparison(
        names, (a.name, b.name), distinct, (a.floor, b.floor), _sentence(a, b, names, distinct)
    )


def _pair(
    words: str, found_in: str, a: GroupElement | None, b: GroupElement | None
) -> PairedElement:
    return PairedElement(
        words,
        found_in,
        None if a is None else a.effect,
        None if b is None else b.effect,
        "" if a is None else a.grade,
        "" if b is None else b.grade,
    )


def _find(element: GroupElement, others: Sequence[GroupElement]) -> GroupElement | None:
    """The same element among others: equal matrices on the same spaces."""
    for other in others:
        if other.kinds == element.kinds and all(
            one.shape == two.shape
            and float(torch.linalg.matrix_norm(one - two))
            <= SAME_MATRIX * float(torch.linalg.matrix_norm(one))
            for one, two in zip(element.matrices, other.matrices, strict=True)
        ):
            return other
    return None


def _sentence(
    a: GroupSymmetries, b: GroupSymmetries, names: tuple[str, str], pairs: Sequence[PairedElement]
) -> str:
    """The conclusion: the names of both groups, and the element that tells them apart best."""
    single = [pair for pair in pairs if pair.found_in != "both"]
    if a.name == b.name and not single:
        return f"{names[0]} and {names[1]} have the same group, {a.name}."
    text = f"{names[0]} has {a.name}, {names[1]} has {b.name}"
    # The change in the model that does not have the element.
    changes = [
        (change, name, pair.words)
        for pair in single
        for change, name in [(pair.b, names[1]) if pair.found_in == "a" else (pair.a, names[0])]
        if change is not None
    ]
    if not changes:
        return f"{text}."
    change, name, words = max(changes, key=lambda one: one[0])
    return f"{text}: {words} changes the output of {name} by {change:.2g} of its spread."
