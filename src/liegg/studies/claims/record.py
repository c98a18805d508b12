"""A claim of the paper, and its evaluation on the stored results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

SUM, EACH, ONE = "paper, sum", "paper, each", "one output"

READINGS = {SUM: "summed outputs", EACH: "each output", ONE: "one output"}
"""Treatments of the outputs: keys in the results, and names. One output has one reading."""

Verdict = Literal["holds", "does not hold", "not run"]

Results = dict[str, dict[str, Any]]
"""Stored results by the name of their study."""

RETRIEVED = 0.2
"""Bias below which a symmetry counts as found.

The bias is the sine of the angle between a direction and the symmetry, so this is about 12 degrees.
The paper gives no number; its biases "go to zero".
"""


class TooFewError(Exception):
    """The stored results do not suffice to decide a claim; the text says what is missing."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check.

    Attributes:
        holds: whether the claim is confirmed.
        ours: the measured numbers, as text.
    """

    holds: bool
    ours: str


@dataclass(frozen=True)
class Statement:
    """A statement of the paper.

    Attributes:
        name: short name.
        statement: the statement in one sentence, in our words.
        section: section of the paper.
        study: study whose results decide.
        paper: the paper's value.
    """

    name: str
    statement: str
    section: str
    study: str
    paper: str


@dataclass(frozen=True)
class Claim(Statement):
    """A statement with its check.

    Attributes:
        check: takes the results and a reading; raises `TooFewError` if they do not suffice.
        readings: readings under which it is evaluated.
        needs: further studies whose results are required.
        beside: studies whose results are reported as well if present; they do not decide.
    """

    check: Callable[[Results, str], Outcome]
    readings: tuple[str, ...] = (SUM, EACH)
    needs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding(Statement):
    """A statement with its evaluation under one reading.

    Attributes:
        reading: treatment of the outputs.
        ours: the measured numbers, or why there are none.
        verdict: whether the claim holds.
        quick: whether it is based on a quick run, which proves little.
    """

    reading: str
    ours: str
    verdict: Verdict
    quick: bool


def findings(claim: Claim, results: Results) -> list[Finding]:
    """One finding for each reading of a claim."""
    return [_finding(claim, results, reading) for reading in claim.readings]


def _finding(claim: Claim, results: Results, reading: str) -> Finding:
    studies = (claim.study, *claim.needs)
    quick = any(results[study]["quick"] for study in studies if study in results)
    verdict: Verdict = "not run"
    try:
        for study in studies:
            if study not in results:
                raise TooFewError(f"no results of {study}; type `liegg reproduce {study}`")
        outcome = claim.check(results, reading)
        verdict, ours = "holds" if outcome.holds else "does not hold", outcome.ours
    except TooFewError as error:
        ours = str(error)
    return Finding(
        claim.name,
        claim.statement,
        claim.section,
        claim.study,
        claim.paper,
        reading,
        ours,
        verdict,
        quick,
    )
