"""All claims evaluated on all stored results."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from liegg._utils.errors import ResultsError
from liegg.studies.claims import configurations, layers, o5, rotation, samples
from liegg.studies.claims.record import Claim, Finding, Results, findings
from liegg.studies.provenance import STUDY_FORMAT, provenance, read_results, write_json

CLAIMS: tuple[Claim, ...] = (
    *o5.O5_CLAIMS,
    *rotation.ROTATION_CLAIMS,
    *configurations.CONFIGURATION_CLAIMS,
    *layers.LAYER_CLAIMS,
    *samples.SAMPLE_CLAIMS,
)
"""Every statement of the paper that is checked."""

COMMANDS = {"o5-emlp": "make peer-emlp"}
"""Commands that write results of packages which `liegg` does not install."""

DAMAGE = (KeyError, TypeError, IndexError, AttributeError)
"""Exceptions raised on reading results in which an entry is missing or has the wrong type."""


def evaluate(folder: str | Path) -> list[Finding]:
    """Evaluate each claim on the stored results, under each reading.

    Args:
        folder: where `liegg reproduce` stored them; a missing study gives "not run".

    Returns:
        The findings, claim by claim in the order of `CLAIMS`.

    Raises:
        ResultsError: a file is damaged or has another format.
    """
    return _evaluate(read(folder), folder)


def write(folder: str | Path) -> dict[str, Any]:
    """Evaluate every claim and store the findings as `claims.json` beside the results.

    Args:
        folder: where `liegg reproduce` stored the results.

    Returns:
        The content of `claims.json`.

    Raises:
        ResultsError: a file is damaged or has another format.
    """
    begin = time.perf_counter()
    results = read(folder)
    found = _evaluate(results, folder)
    value = {
        "study": "claims",
        "format": STUDY_FORMAT,
        "quick": any(finding.quick for finding in found),
        "findings": [asdict(finding) for finding in found],
        "sources": {study: _source(study, stored, folder) for study, stored in results.items()},
        "provenance": provenance("liegg reproduce claims", seconds=time.perf_counter() - begin),
    }
    write_json(value, Path(folder) / "claims.json")
    return value


def read(folder: str | Path) -> Results:
    """The stored results that the claims use."""
    studies = dict.fromkeys(
        study for claim in CLAIMS for study in (claim.study, *claim.needs, *claim.beside)
    )
    stored = {study: read_results(folder, study, command=COMMANDS.get(study)) for study in studies}
    return {study: results for study, results in stored.items() if results is not None}


def damaged(folder: str | Path, error: Exception, *studies: str) -> ResultsError:
    """The error that names the damaged file, and how to make it again.

    Args:
        folder: where the results are.
        error: the exception raised on reading them, one of `DAMAGE`.
        studies: whose results were read; several if it is not known which of them is damaged.
    """
    reason = (
        f"the entry {error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
    )
    files = " or ".join(str(Path(folder) / f"{study}.json") for study in studies)
    commands = " or ".join(
        f"`{COMMANDS.get(study, f'liegg reproduce {study} --out {folder}')}`" for study in studies
    )
    return ResultsError(f"{files} is damaged: {reason}. Run {commands} again, or remove the file.")


def _evaluate(results: Results, folder: str | Path) -> list[Finding]:
    return [finding for claim in CLAIMS for finding in _findings(claim, results, folder)]


def _findings(claim: Claim, results: Results, folder: str | Path) -> list[Finding]:
    try:
        return findings(claim, results)
    except DAMAGE as error:
        raise damaged(folder, error, *_suspects(claim, results)) from error


def _suspects(claim: Claim, results: Results) -> tuple[str, ...]:
    """Studies one of which is damaged: optional ones if the claim can be decided without them."""
    required = {study: stored for study, stored in results.items() if study not in claim.beside}
    try:
        findings(claim, required)
    except DAMAGE:
        return claim.study, *claim.needs
    return claim.beside


def _source(study: str, stored: dict[str, Any], folder: str | Path) -> dict[str, Any]:
    try:
        source = {key: stored["provenance"][key] for key in ("date", "command")}
    except DAMAGE as error:
        raise damaged(folder, error, study) from error
    return {"file": f"{study}.json", **source}
