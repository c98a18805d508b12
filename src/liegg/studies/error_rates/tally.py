"""Counts of errors: of liegg's verdict by label, and of every rule on the same cases."""

from collections.abc import Callable, Sequence
from typing import Any

from liegg.studies.error_rates.broken import SLIGHTLY_BROKEN
from liegg.studies.error_rates.judgement import LIEGG

Row = dict[str, Any]

LABELS = ("kind", "dtype", "n", "copies", "action", "outputs", "samples")
"""Labels by which errors are counted."""


def upper_limit(wrong: int, cases: int) -> float | None:
    """Upper end of Wilson's 95 % interval of an error rate; None for no cases.

    >>> upper_limit(0, 300), upper_limit(3, 300), upper_limit(0, 0)
    (0.0126, 0.029, None)
    """
    from scipy.stats import binomtest

    if not cases:
        return None
    return round(float(binomtest(wrong, cases).proportion_ci(method="wilson").high), 4)


def inventions(rows: Sequence[Row]) -> dict[str, Any]:
    """False discoveries among functions without symmetry, and their grades.

    Returns:
        `cases`; `false`, with any direction counted; `strong`, with an exact or strong one;
        `approximate`, with one of a lower grade; `unwarned`, the false ones without a warning;
        `upper`, the upper end of the interval of the rate.
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
    """Counts of functions with known symmetries.

    Returns:
        `cases`; `right`, with the right count; `exact`, those also graded exact; `missed`, with too
        few; `extra`, with too many; `held`, those whose reported range contains the right count
        (None if there is no range); `angle`, the largest between the right algebra and a found one
        of its dimension, in radians; `rounding`, the largest defect of a symmetry in squared
        rounding units.
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


def nonlinear(rows: Sequence[Row]) -> list[Row]:
    """Functions without symmetry that are clearly nonlinear on their data."""
    return [row for row in rows if row["family"] == "asymmetric" and row["nonlinear"]]


def rule_errors(
    rows: Sequence[Row], broken: Sequence[Row], trained: Sequence[Row]
) -> dict[str, dict[str, dict[str, int]]]:
    """Errors of every rule for each kind of question.

    Args:
        rows: judged cases of all families.
        broken: results of `broken.repeated`.
        trained: judged networks that should learn so(5).

    Returns:
        For every rule and question `cases` and `wrong`: a symmetry found where there is none
        (clearly nonlinear functions only), and a wrong count for exact symmetries, for those broken
        by at most `SLIGHTLY_BROKEN`, and for learned ones.
    """
    none, exact = nonlinear(rows), [row for row in rows if row["family"] == "exact"]
    slightly = [row for row in broken if row["strength"] <= SLIGHTLY_BROKEN]
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
    """Share of the 95 % intervals that contain the large-sample value, for every ε and N.

    Returns:
        Rows with `smallest`, for the smallest direction, and `all`, for all directions of the
        algebra; None where there are no intervals.
    """
    rows = []
    for strength, samples in sorted({(row["strength"], row["samples"]) for row in broken}):
        some = [row for row in broken if (row["strength"], row["samples"]) == (strength, samples)]
        stated = sum(row["stated"] for row in some)
        totals = {
            "smallest": (sum(row["covered_smallest"] for row in some if row["stated"]), stated),
            "all": (
                sum(row["covered_all"] for row in some if row["stated"]),
                sum(row["stated"] * row["expected"] for row in some),
            ),
        }
        shares = {
            key: round(covered / total, 4) if stated else None
            for key, (covered, total) in totals.items()
        }
        rows.append({"strength": strength, "samples": samples, "stated": stated, **shares})
    return rows
