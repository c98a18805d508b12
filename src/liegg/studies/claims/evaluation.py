"""All claims against all stored results."""

import json
import time
from pathlib import Path
from typing import Any

from liegg._utils.errors import ResultsError
from liegg.studies.claims import configurations, layers, o5, rotation, samples
from liegg.studies.claims.record import Claim, Finding, Results, findings
from liegg.studies.claims.text import to_dict
from liegg.studies.provenance import FORMAT, provenance, read_results, write_json

CLAIMS: tuple[Claim, ...] = (
    *o5.CLAIMS,
    *rotation.CLAIMS,
    *configurations.CLAIMS,
    *layers.CLAIMS,
    *samples.CLAIMS,
)
"""Every statement of the paper that is checked."""

EMLP = "o5-emlp"
"""Results of a package that `liegg` does not install; they stand beside our own where someone made them."""

DAMAGE = (KeyError, TypeError, IndexError, AttributeError)
"""What reading results raises where something is missing in them or is not what it should be."""


def evaluate(folder: str | Path) -> list[Finding]:
    """What the stored results say about each claim, under each reading.

    Args:
        folder: where `liegg reproduce` stored them; studies that are not there give "not run".

    Returns:
        The findings, claim by claim in the order of `CLAIMS`.

    Raises:
        ResultsError: a file is damaged or was written in another format.
    """
    return _evaluate(read(folder), folder)


def write(folder: str | Path, *, command: str = "liegg reproduce claims") -> list[Finding]:
    """Check every claim and store the findings as `claims.json` beside the results.

    Args:
        folder: where `liegg reproduce` stored the results.
        command: what was typed.

    Returns:
        The findings as stored.

    Raises:
        ResultsError: a file is damaged or was written in another format.
    """
    begin = time.perf_counter()
    results = read(folder)
    found = _evaluate(results, folder)
    value = {
        "study": "claims",
        "format": FORMAT,
        "quick": any(finding.quick for finding in found),
        "findings": to_dict(found),
        "sources": {study: _source(study, stored, folder) for study, stored in results.items()},
        "provenance": provenance(command, seconds=time.perf_counter() - begin),
    }
    write_json(value, Path(folder) / "claims.json")
    return found


def read(folder: str | Path) -> Results:
    """The stored results that claims are decided by."""
    studies = dict.fromkeys(
        study for claim in CLAIMS for study in (claim.study, *claim.needs, *claim.beside)
    )
    stored = {
        study: _emlp(folder) if study == EMLP else read_results(folder, study) for study in studies
    }
    return {study: results for study, results in stored.items() if results is not None}


def damaged(folder: str | Path, error: Exception, *studies: str) -> ResultsError:
    """The error that names the file in which something is missing, and how to make it again.

    Args:
        folder: where the results are.
        error: what was raised on reading them, one of `DAMAGE`.
        studies: whose results were read; more than one if it is not known which of them are to blame.
    """
    what = (
        f"no entry {error.args[0]!r} where there should be one"
        if isinstance(error, KeyError)
        else str(error)
    )
    files = " or ".join(str(Path(folder) / f"{study}.json") for study in studies)
    return ResultsError(f"{files} is damaged: {what}. {_again(folder, *studies)}")


def _evaluate(results: Results, folder: str | Path) -> list[Finding]:
    return [finding for claim in CLAIMS for finding in _findings(claim, results, folder)]


def _findings(claim: Claim, results: Results, folder: str | Path) -> list[Finding]:
    try:
        return findings(claim, results)
    except DAMAGE as error:
        raise damaged(folder, error, *_to_blame(claim, results)) from error


def _to_blame(claim: Claim, results: Results) -> tuple[str, ...]:
    """The studies one of which is damaged: those that are only told beside if the claim can be decided without them."""
    try:
        findings(
            claim, {study: stored for study, stored in results.items() if study not in claim.beside}
        )
    except DAMAGE:
        return claim.study, *claim.needs
    return claim.beside


def _source(study: str, stored: dict[str, Any], folder: str | Path) -> dict[str, Any]:
    try:
        return {
            "file": f"{study}.json",
            "date": stored["provenance"]["date"],
            "command": stored["provenance"]["command"],
        }
    except DAMAGE as error:
        raise damaged(folder, error, study) from error


def _again(folder: str | Path, *studies: str) -> str:
    commands = [
        "make peer-emlp" if study == EMLP else f"liegg reproduce {study} --out {folder}"
        for study in studies
    ]
    return f"Run {' or '.join(f'`{command}`' for command in commands)} again, or remove the file."


def _emlp(folder: str | Path) -> dict[str, Any] | None:
    """EMLP's results, which carry no format."""
    path = Path(folder) / f"{EMLP}.json"
    if not path.is_file():
        return None
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path} is no JSON: {error}. {_again(folder, EMLP)}") from error
    if not isinstance(results, dict) or results.get("study") != EMLP:
        raise ResultsError(f"{path} does not hold results of {EMLP!r}. {_again(folder, EMLP)}")
    return results
