"""Findings as dictionaries, as text for a terminal, and as a Markdown table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from textwrap import fill
from typing import Any

from liegg.studies.claims.record import EACH, ONE, READINGS, SUM, Finding

TEXT_COLUMNS = 120
"""Width of the text for a terminal."""


def to_dict(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings as plain dictionaries."""
    return [asdict(finding) for finding in findings]


def by_claim(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings of each claim together."""
    return [list(found) for _, found in groupby(findings, key=lambda finding: finding.name)]


def tally(findings: Sequence[Finding]) -> str:
    """Number of claims that hold, counted once per reading."""
    counts = Counter(finding.verdict for finding in findings)
    quick = sum(finding.quick and finding.verdict != "not run" for finding in findings)
    text = f"{counts['holds']} hold, {counts['does not hold']} do not hold, {counts['not run']} not run"
    return text + (f"; {quick} verdicts come from quick runs, which prove little" if quick else "")


def table(findings: Sequence[Finding]) -> str:
    """A block per claim: the paper's statement, then the verdict and our numbers for each reading."""
    blocks = []
    for found in by_claim(findings):
        first = found[0]
        lines = [
            _wrap(f"{first.name}: {first.statement} Section {first.section}.", 4),
            f"    {'paper':<14}  {first.paper}",
        ]
        for finding in found:
            ours = f"{'quick run: ' if finding.quick else ''}{finding.ours}"
            lines.append(
                _wrap(f"    {READINGS[finding.reading]:<14}  {finding.verdict:<13}  {ours}", 35)
            )
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, tally(findings)])


def markdown(findings: Sequence[Finding]) -> str:
    """A table with a line per claim and both readings side by side."""
    lines = ["| claim | paper | summed outputs | each output |", "|---|---|---|---|"]
    for found in by_claim(findings):
        first = found[0]
        cells = {
            finding.reading: f"**{finding.verdict}**{' (quick run)' * finding.quick}: {finding.ours}"
            for finding in found
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
