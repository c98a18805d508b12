"""Beyond the paper: traps. Is a verdict ever wrong without a word of warning?

Functions, networks and data with known answers, made to mislead a rule that counts symmetries.
"""

import os
from dataclasses import dataclass
from typing import Any

from liegg.polarization import launcher
from liegg.studies import ensemble
from liegg.studies.error_rates import traps_cliff, traps_run
from liegg.studies.error_rates.tally import Row
from liegg.studies.error_rates.traps_catalog import cases
from liegg.studies.error_rates.traps_judgement import VERDICTS


@dataclass(frozen=True)
class Extent:
    """Size of the study.

    Attributes:
        each: cases of each family; None for the full form.
        sweeps: functions whose symmetry is broken step by step.
        steps: number of these steps.
        seed: seed of the series. Thresholds may be chosen by looking at series 0, the beginning of
            which is the quick form; error rates are reported for another one.
    """

    each: int | None = None
    sweeps: int = 3
    steps: int = 100
    seed: int = 3


QUICK = Extent(each=1, sweeps=1, steps=4, seed=0)
"""Takes seconds."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study, in as many processes as there are cores.

    Args:
        how: reports the progress.
        quick: one case of each family, in this process.

    Returns:
        The results to be stored; nothing in other processes than the first.
    """
    if launcher.rank() != 0:
        return {}
    extent = QUICK if quick else Extent()
    keys = cases(extent.seed, each=extent.each)
    rows = traps_run.judge_all(
        keys,
        processes=1 if quick else os.cpu_count() or 1,
        finished=lambda _: how.report("traps", 1, len(keys)),
    )
    sweeps = [
        traps_cliff.sweep(steps=extent.steps, seed=1000 * extent.seed + i)
        for i in range(extent.sweeps)
    ]
    return {
        "seeds": [extent.seed],
        "cases": rows,
        "sweeps": sweeps,
        "cliff": [traps_cliff.flickers(sweep, dimension=3) for sweep in sweeps],
        **summary(rows),
    }


def summary(rows: list[Row]) -> dict[str, Any]:
    """Verdicts in total, of every theme and of every family."""
    themes = dict.fromkeys(row["theme"] for row in rows)
    return {
        "total": traps_run.tally(rows),
        "themes": {
            theme: traps_run.tally([row for row in rows if row["theme"] == theme])
            for theme in themes
        },
        "families": traps_run.by_family(rows),
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
