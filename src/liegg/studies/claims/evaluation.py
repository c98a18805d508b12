"""All claims against all stored results."""

import json
import time
from pathlib import Path
from typing import Any

from liegg._errors import ResultsError
from liegg.studies.claims import configurations, layers, o5, rotation, samples
from liegg.studies.claims.record import Claim, Finding, Results, findings
from liegg.studies.claims.text import to_dict
from liegg.studies.provenance import FORMAT, provenance, read_results, write_json

CLAIMS: tuple[Claim, ...] = (*o5.CLAIMS, *rotation.CLAIMS, *configurations.CLAIMS, *layers.CLAIMS, *samples.CLAIMS)
"""Every statement of the paper that is checked."""

EMLP = "o5-emlp"
"""Results of a package that `liegg` does not install; they stand beside our own where someone made them."""

DRAWS = "draws"
"""A study beyond the paper that decides no claim by itself; its numbers stand beside those of the configurations."""


def evaluate(folder: str | Path) -> list[Finding]:
    """What the stored results say about each claim, under each reading.

    Args:
        folder: where `liegg reproduce` stored them; studies that are not there give "not run".

    Returns:
        The findings, claim by claim in the order of `CLAIMS`.

    Raises:
        ResultsError: a file is damaged or was written in another format.
    """
    return _evaluate(read(folder))


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
    found = _evaluate(results)
    value = {
        "study": "claims",
        "format": FORMAT,
        "quick": any(finding.quick for finding in found),
        "findings": to_dict(found),
        "sources": {study: _source(study, stored) for study, stored in results.items()},
        "provenance": provenance(command, seconds=time.perf_counter() - begin),
    }
    write_json(value, Path(folder) / "claims.json")
    return found


def read(folder: str | Path) -> Results:
    """The stored results that claims are decided by."""
    studies = dict.fromkeys(study for claim in CLAIMS for study in (claim.study, *claim.needs))
    stored = {study: read_results(folder, study) for study in [*studies, DRAWS]} | {EMLP: _emlp(Path(folder) / f"{EMLP}.json")}
    return {study: results for study, results in stored.items() if results is not None}


def _evaluate(results: Results) -> list[Finding]:
    return [finding for claim in CLAIMS for finding in findings(claim, results)]


def _source(study: str, stored: dict[str, Any]) -> dict[str, Any]:
    return {"file": f"{study}.json", "date": stored["provenance"]["date"], "command": stored["provenance"]["command"]}


def _emlp(path: Path) -> dict[str, Any] | None:
    """EMLP's results, which carry no format."""
    if not path.is_file():
        return None
    again = "Run `make peer-emlp` again, or remove the file."
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path} is no JSON: {error}. {again}") from error
    if not isinstance(results, dict) or results.get("study") != EMLP:
        raise ResultsError(f"{path} does not hold results of {EMLP!r}. {again}")
    return results
