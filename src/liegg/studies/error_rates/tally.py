"""Errors counted: of liegg's verdict case by case and label by label, and of every rule on the same cases."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from liegg.studies.error_rates.broken import SMALL
from liegg.studies.error_rates.judgement import LIEGG

Row = dict[str, Any]

LABELS = ("kind", "dtype", "n", "copies", "action", "outputs", "samples")
"""What errors are counted by."""

NORMAL_95 = 1.96


def upper_limit(wrong: int, cases: int) -> float | None:
    """Upper end of Wilson's 95 % interval of an error rate; None for no cases.

    >>> upper_limit(0, 300), upper_limit(3, 300), upper_limit(0, 0)
    (0.0126, 0.029, None)
    """
    if not cases:
        return None
    rate, square = wrong / cases, NORMAL_95**2
    half = NORMAL_95 * sqrt(rate * (1 - rate) / cases + square / (4 * cases**2))
    return round((rate + square / (2 * cases) + half) / (1 + square / cases), 4)


def inventions(rows: Sequence[Row]) -> dict[str, Any]:
    """Of functions without symmetry: how many were said to have one, and how good.

    Returns:
        `cases`; `false`, with any direction counted; `strong`, with one that was called exact or strong; `approximate`, with one
        of a lower grade; `unwarned`, the false ones without any warning; `upper`, of the rate.
    """
    false = [row for row in rows if row["counts"][LIEGG]]
    return {
        "cases": len(rows),
        "false": len(false),
        "strong": sum(row["strong"] > 0 for row in false),
        "approximate": sum(row["approximate"] > 0 for row in false),
        "unwarned": sum(not row["warned"] for row in false),
        "upper": upper_limit(len(false), len(rows)),
    }


def recoveries(rows: Sequence[Row]) -> dict[str, Any]:
    """Of functions with known symmetries: how many have the right count.

    Returns:
        `cases`; `right`; `exact`, those also graded so; `missed`, with too few; `extra`, with too many; `held`, those whose stated
        range holds the right count (None if no range is stated); `angle`, the largest between the right algebra and a found one of
        its size, in radians; `rounding`, the largest defect of a symmetry in squared rounding units.
    """
    found = [(row["counts"][LIEGG], row["expected"]) for row in rows]
    ranged = [row for row in rows if row["range"] is not None]
    angles = [row["angle"] for row in rows if row["angle"] is not None]
    return {
        "cases": len(rows),
        "right": sum(count == right for count, right in found),
        "exact": sum(row["counts"][LIEGG] == row["expected"] == row["exact"] for row in rows),
        "missed": sum(count < right for count, right in found),
        "extra": sum(count > right for count, right in found),
        "held": sum(row["range"][0] <= row["expected"] <= row["range"][1] for row in ranged)
        if ranged
        else None,
        "angle": max(angles, default=None),
        "rounding": max(
            (float(f"{row['last'] / row['rounding_unit'] ** 2:.3g}") for row in rows), default=None
        ),
    }


def by_label(
    rows: Sequence[Row], count: Callable[[Sequence[Row]], dict[str, Any]]
) -> dict[str, dict[str, dict[str, Any]]]:
    """The same counts for every value of every label."""
    return {
        label: {
            str(value): count([row for row in rows if row[label] == value])
            for value in dict.fromkeys(
                sorted(
                    (row[label] for row in rows), key=lambda value: (isinstance(value, str), value)
                )
            )
        }
        for label in LABELS
    }


def nonlinear(rows: Sequence[Row], family: str = "asymmetric") -> list[Row]:
    """Cases of a family that are clearly nonlinear on their data."""
    return [row for row in rows if row["family"] == family and row["nonlinear"]]


def rule_errors(
    rows: Sequence[Row], broken: Sequence[Row], trained: Sequence[Row]
) -> dict[str, dict[str, dict[str, int]]]:
    """How often every rule is wrong, for each kind of question.

    Args:
        rows: judged cases of all families.
        broken: what `broken.repeated` tells.
        trained: judged networks that were to learn so(5).

    Returns:
        For every rule and question `cases` and `wrong`: a symmetry found where there is none (clearly nonlinear functions only),
        and another count than the right one for exact symmetries, for those broken by at most `SMALL`, and for learned ones.
    """
    none, exact = nonlinear(rows), [row for row in rows if row["family"] == "exact"]
    slightly = [row for row in broken if row["strength"] <= SMALL]
    names = (none or exact or list(trained))[0]["counts"]

    def wrong(some: Sequence[Row], rule: str) -> dict[str, int]:
        return {
            "cases": len(some),
            "wrong": sum(row["counts"][rule] != row["expected"] for row in some),
        }

    return {
        rule: {
            "none": wrong(none, rule),
            "exact": wrong(exact, rule),
            "broken": {
                "cases": sum(row["repeats"] for row in slightly),
                "wrong": sum(row["repeats"] - row["right"][rule] for row in slightly),
            },
            "trained": wrong(trained, rule),
        }
        for rule in names
    }


def coverage(broken: Sequence[Row]) -> list[dict[str, Any]]:
    """Share of the 95 % intervals that hold the large-sample value, for every ε and number of samples, over all kinds.

    Returns:
        Rows with `smallest`, of the smallest direction, and `all`, of all that belong to the algebra; None where none were stated.
    """
    found = []
    for strength, samples in sorted({(row["strength"], row["samples"]) for row in broken}):
        some = [
            row
            for row in broken
            if (row["strength"], row["samples"]) == (strength, samples) and row["stated"]
        ]
        stated, directions = (
            sum(row["stated"] for row in some),
            sum(row["stated"] * row["expected"] for row in some),
        )
        smallest, every = (
            sum(row[key] for row in some) for key in ("covered_smallest", "covered_all")
        )
        found.append(
            {
                "strength": strength,
                "samples": samples,
                "stated": stated,
                "smallest": round(smallest / stated, 4) if stated else None,
                "all": round(every / directions, 4) if stated else None,
            }
        )
    return found
