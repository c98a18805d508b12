"""A claim of the paper, and what the stored results say about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

SUM, EACH, ONE = "paper, sum", "paper, each", "one output"

READINGS = {SUM: "summed outputs", EACH: "each output", ONE: "one output"}
"""How the outputs were read: in the results, and in words. A network with one output has one reading."""

Verdict = Literal["holds", "does not hold", "not run"]

Results = dict[str, dict[str, Any]]
"""Stored results by the name of their study."""

RETRIEVED = 0.2
"""Bias below which a symmetry counts as found, out of 1: the sine of the angle between a direction and the symmetry, so about 12
degrees. The paper gives no number; its biases "go to zero"."""


class TooFewError(Exception):
    """Too little was stored to decide a claim; the text says what is missing."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        holds: whether the claim is confirmed.
        ours: the measured numbers, in words.
    """

    holds: bool
    ours: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    Attributes:
        name: how it is called here.
        statement: what the paper says, in our words, one sentence.
        section: where it says so.
        study: whose results decide.
        paper: the paper's value.
        check: takes the results and a reading; raises `TooFewError` where they do not suffice.
        readings: for which readings it is asked.
        needs: further studies whose results it compares with.
        beside: studies whose results it tells beside its own where they are there; they decide nothing.
    """

    name: str
    statement: str
    section: str
    study: str
    paper: str
    check: Callable[[Results, str], Outcome]
    readings: tuple[str, ...] = (SUM, EACH)
    needs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A claim under one reading.

    Attributes:
        name: of the claim, as are the statement, the section, the study and the paper's value.
        statement: what the paper says.
        section: where it says so.
        study: whose results decide.
        paper: the paper's value.
        reading: how the outputs were read.
        ours: the measured numbers, or why there are none.
        verdict: whether the claim holds.
        quick: it rests on a quick run, which proves little.
    """

    name: str
    statement: str
    section: str
    study: str
    paper: str
    reading: str
    ours: str
    verdict: Verdict
    quick: bool


def findings(claim: Claim, results: Results) -> list[Finding]:
    """One finding for each reading of a claim."""
    return [_finding(claim, results, reading) for reading in claim.readings]


def _finding(claim: Claim, results: Results, reading: str) -> Finding:
    studies = (claim.study, *claim.needs)
    missing = [study for study in studies if study not in results]
    quick = any(results[study]["quick"] for study in studies if study in results)
    verdict: Verdict = "not run"
    if missing:
        ours = f"no results of {missing[0]}; type `liegg reproduce {missing[0]}`"
    else:
        try:
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
