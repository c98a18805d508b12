"""The finite symmetries of two models side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.actions.base import MatrixAction
from liegg.actions.settings import motions
from liegg.algebra.finite.membership import distance, nearest_to_identity
from liegg.algebra.subspace import orthonormal
from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.json_values import json_values
from liegg.results.tables import Column, Printed, fitted, table_width, wrapped

SAME_MATRIX = 1e-2
"""Relative distance of the matrices of elements that are one and the same."""


SAME_CONTINUOUS = 0.05
"""Sine of the largest angle between continuous symmetries that are the same."""


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
class GroupComparison(Printed):
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

    @checked()
    def table(self, *, width: int | None = None) -> str:
        """What `print` shows."""
        width = table_width(width)
        first, second = self.names
        lines = wrapped([self.sentence, ""], width)
        columns = [
            Column(
                f"effect in {first}",
                [_cell(one.a, one.grade_a, one.found_in) for one in self.elements],
                ">",
            ),
            Column(
                f"effect in {second}",
                [_cell(one.b, one.grade_b, one.found_in) for one in self.elements],
                ">",
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


def _cell(value: float | None, grade: str, found_in: str) -> str:
    if value is None:
        return "implied" if found_in == "both" else "not judged"
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
    _check_same_question(a, b)
    mine, theirs = (
        [
            one
            for one in (*found.elements, *found.permutations, *found.infinite)
            if one.words != "identity"
        ]
        for found in (a, b)
    )
    pairs = []
    for element in mine:
        other = _find(element, theirs) or _find(element, b.rejected)
        both = (other is not None and other.counted) or _contains(b, element)
        pairs.append(_pair(element.words, "both" if both else "a", element, other))
    for element in theirs:
        if _find(element, mine) is None:
            found_in = "both" if _contains(a, element) else "b"
            pairs.append(_pair(element.words, found_in, _find(element, a.rejected), element))
    distinct = tuple({(pair.words, pair.found_in): pair for pair in pairs}.values())
    return GroupComparison(
        names, (a.name, b.name), distinct, (a.floor, b.floor), _sentence(a, b, names, distinct)
    )


def _check_same_question(a: GroupSymmetries, b: GroupSymmetries) -> None:
    """Raise `ArgumentError` unless two results are about the same motions of the same kind of samples."""
    for name in ("action", "output_action", "sample"):
        one, other = a.settings.get(name), b.settings.get(name)
        same = (
            motions(one) == motions(other) if one and other and name != "sample" else one == other
        )
        if not same:
            raise ArgumentError(
                f"the {name} of a is {one}, that of b {other}: only groups of the same motions can be compared. Run both with the "
                "same action on samples of the same shape."
            )


def _algebra(found: GroupSymmetries) -> Float[Tensor, "d g"]:
    """Coefficients of the continuous symmetries in the name, orthonormal."""
    if found.continuous is None:
        return torch.zeros(0, 0, dtype=torch.float64)
    if "representatives" in found.settings:
        own = torch.tensor(found.settings["representatives"], dtype=torch.float64)
        return own.reshape(-1, found.continuous.coefficients.shape[1])
    return found.continuous.coefficients[: found.directions].double().cpu()


def _largest_angle(a: GroupSymmetries, b: GroupSymmetries) -> float:
    """Sine of the largest angle between the continuous symmetries of two groups; 1 if they are not equally many."""
    one, other = _algebra(a), _algebra(b)
    if len(one) != len(other):
        return 1.0
    if not len(one):
        return 0.0
    one, other = (torch.linalg.qr(rows.mT).Q for rows in (one, other))
    return float(torch.linalg.matrix_norm(other - one @ (one.mT @ other), 2))


def _contains(found: GroupSymmetries, element: GroupElement) -> bool:
    """Whether a group contains an element of another one: a permutation, or a matrix up to the identity component."""
    if element.kinds == ("slots",):
        order = tuple(element.matrix.argmax(1).tolist())
        return found.slots is not None and order in found.slots
    matrix = element.matrix
    action = None if found.continuous is None else found.continuous.action
    if len(element.kinds) != 1 or not found.directions or not isinstance(action, MatrixAction):
        return False
    algebra = action.matrices(_algebra(found)).double()
    if algebra.shape[1:] != matrix.shape:
        return False
    known = [one.matrix for one in found.elements if one.kinds == element.kinds]
    known = torch.stack([torch.eye(len(matrix), dtype=torch.float64), *known])
    moved = torch.linalg.inv(known) @ matrix
    near = nearest_to_identity(moved, orthonormal(algebra), goal=SAME_MATRIX / 10)
    return bool((distance(near) <= SAME_MATRIX).any())


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
    angle = _largest_angle(a, b)
    if a.name == b.name and not single and angle <= SAME_CONTINUOUS:
        return f"{names[0]} and {names[1]} have the same group, {a.name}."
    if a.name == b.name and angle > SAME_CONTINUOUS:
        degrees = math.degrees(math.asin(min(angle, 1.0)))
        return (
            f"{names[0]} and {names[1]} both have {a.name}, but these are different groups: their continuous symmetries differ by "
            f"{degrees:.2g}°."
        )
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
