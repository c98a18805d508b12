"""Beyond the paper: traps. Is a verdict ever wrong without a warning?

Functions, networks and data with known answers, made to mislead a rule that counts symmetries.
"""

import os
from itertools import pairwise
from typing import Any

from liegg.discovery.discover import discover
from liegg.polarization import launcher
from liegg.studies import ensemble
from liegg.studies.error_rates.broken import broken
from liegg.studies.error_rates.parallel import starmap
from liegg.studies.error_rates.tally import Row
from liegg.studies.error_rates.traps_catalog import cases, judged, tally, tally_by
from liegg.studies.error_rates.traps_judgement import VERDICTS, claims
from liegg.studies.provenance import rounded

SERIES, QUICK_SERIES = 6, 0
"""Seeds of the series of cases.

Thresholds may be chosen by looking at series 0, the beginning of which is the quick form; error rates
are reported for another one.
"""

SWEEP_DIRECTIONS = 6
"""Directions whose defects are stored for each step."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study, in as many processes as there are cores.

    Args:
        how: reports the progress.
        quick: one case of each family and one short sweep, in this process; takes seconds.

    Returns:
        The results to be stored; nothing in other processes than the first.
    """
    if launcher.rank() != 0:
        return {}
    seed, each, count, steps = (QUICK_SERIES, 1, 1, 4) if quick else (SERIES, None, 3, 100)
    keys = cases(seed, each=each)
    rows = starmap(
        judged,
        [(key,) for key in keys],
        processes=1 if quick else os.cpu_count() or 1,
        finished=lambda _: how.report("traps", 1, len(keys)),
    )
    sweeps = [sweep(steps=steps, seed=1000 * seed + i) for i in range(count)]
    return {
        "seeds": [seed],
        "cases": rows,
        "sweeps": sweeps,
        "cliff": [flickers(one) for one in sweeps],
        **summary(rows),
    }


def sweep(*, steps: int, samples: int = 1000, seed: int = 0) -> list[Row]:
    """Break so(3) step by step: its count and its name should change once, or not at all.

    Analyses an invariant function plus ε times another one on the same samples, ε from 0 to 1.

    Args:
        steps: number of strengths.
        samples: number of samples.
        seed: seed of both functions.
    """
    data = broken("so(3)", 0.0, samples, seed=seed).data
    rows = []
    for step in range(steps):
        strength = step / max(steps - 1, 1)
        case = broken("so(3)", strength, samples, seed=seed)
        sym = discover(case.model, data, case.action)
        found = claims(sym)
        rows.append(
            {
                "strength": rounded(strength, 4),
                "count": len(found[-1].coefficients) if found else 0,
                "name": found[-1].name if found else "",
                "sure": found[-1].sure if found else False,
                "grades": list(sym.decision.grades[:SWEEP_DIRECTIONS]),
                "defects": rounded(sym.defects[:SWEEP_DIRECTIONS].tolist(), 4),
            }
        )
    return rows


def flickers(rows: list[Row]) -> dict[str, int]:
    """How a count behaves along a sweep.

    Returns:
        `changes` of the count; `partial`, counts that are neither zero nor three, the dimension of
        so(3); `names`, different names of the algebra where it was counted.

    >>> rows = [
    ...     {"count": 3, "name": "so(3)"},
    ...     {"count": 2, "name": ""},
    ...     {"count": 3, "name": "so(3)"},
    ... ]
    >>> flickers(rows)
    {'changes': 2, 'partial': 1, 'names': 1}
    """
    counts = [row["count"] for row in rows]
    return {
        "changes": sum(one != other for one, other in pairwise(counts)),
        "partial": sum(count not in (0, 3) for count in counts),
        "names": len({row["name"] for row in rows if row["count"] == 3}),
    }


def summary(rows: list[Row]) -> dict[str, Any]:
    """Verdicts in total, of every theme and of every family."""
    return {
        "total": tally(rows),
        "themes": tally_by("theme", rows),
        "families": tally_by("family", rows),
    }


def table(results: dict[str, Any]) -> str:
    """Verdicts of every family as text for a terminal."""
    heading = "".join(f"{verdict:>17}" for verdict in VERDICTS)
    lines = [f"{'family':<34}{'cases':>7}{heading}   wrong at level"]
    for family, found in (results["families"] | {"total": results["total"]}).items():
        counts = "".join(f"{found[verdict]:>17}" for verdict in VERDICTS)
        levels = ", ".join(f"{count} {level}" for level, count in found["levels"].items() if count)
        lines.append(f"{family:<34}{found['cases']:>7}{counts}   {levels}".rstrip())
    total = results["total"]
    lines += [
        "",
        f"symmetries that the data show: found in {total['found']} of {total['findable']}",
    ]
    for found in results.get("cliff", []):
        lines.append(
            f"so(3) broken step by step: {found['changes']} changes of the count, {found['partial']} "
            f"steps with a part of it, {found['names']} names"
        )
    return "\n".join(lines)
