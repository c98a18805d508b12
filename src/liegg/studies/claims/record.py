"""A claim of the paper, its evaluation on the stored results, and the findings as text."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill
from typing import Any, Literal

SUM, EACH, ONE = "paper, sum", "paper, each", "one output"

READING_NAMES = {SUM: "summed outputs", EACH: "each output", ONE: "one output"}
"""Treatments of the outputs: keys in the results, and names. One output has one reading."""

Verdict = Literal["holds", "does not hold", "not run"]

Results = dict[str, dict[str, Any]]
"""Stored results by the name of their study."""

RETRIEVED = 0.2
"""Bias below which a symmetry counts as found.

The bias is the sine of the angle between a direction and the symmetry, so this is about 12 degrees.
The paper gives no number; its biases "go to zero".
"""


TEXT_COLUMNS = 120
"""Width of the text for a terminal."""


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


def by_claim(found: Sequence[Finding]) -> list[list[Finding]]:
    """The findings of each claim together."""
    return [list(group) for _, group in groupby(found, key=lambda finding: finding.name)]


def tally(found: Sequence[Finding]) -> str:
    """Number of claims that hold, counted once per reading."""
    counts = Counter(finding.verdict for finding in found)
    quick = sum(finding.quick and finding.verdict != "not run" for finding in found)
    text = f"{counts['holds']} hold, {counts['does not hold']} do not hold, {counts['not run']} not run"
    return text + (f"; {quick} verdicts come from quick runs, which prove little" if quick else "")


def table(found: Sequence[Finding]) -> str:
    """A block per claim: the paper's statement, then the verdict and our numbers for each reading."""
    blocks = []
    for group in by_claim(found):
        first = group[0]
        lines = [
            _wrap(f"{first.name}: {first.statement} Section {first.section}.", 4),
            f"    {'paper':<14}  {first.paper}",
        ]
        for finding in group:
            ours = f"{'quick run: ' if finding.quick else ''}{finding.ours}"
            lines.append(
                _wrap(
                    f"    {READING_NAMES[finding.reading]:<14}  {finding.verdict:<13}  {ours}", 35
                )
            )
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, tally(found)])


def markdown(found: Sequence[Finding]) -> str:
    """A table with a line per claim and both readings side by side."""
    lines = ["| claim | paper | summed outputs | each output |", "|---|---|---|---|"]
    for group in by_claim(found):
        first = group[0]
        cells = {
            finding.reading: f"**{finding.verdict}**{' (quick run)' * finding.quick}: {finding.ours}"
            for finding in group
        }
        both = (
            [cells[ONE], "one output: the same"]
            if ONE in cells
            else [cells.get(SUM, ""), cells.get(EACH, "")]
        )
        row = [f"{first.statement} (`{first.name}`, section {first.section})", first.paper, *both]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |")
    return "\n".join(lines)


def _wrap(text: str, indent: int) -> str:
    return fill(
        text,
        TEXT_COLUMNS,
        subsequent_indent=" " * indent,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
