"""A symmetry that is broken step by step: its count and its name should change once, or not at all."""

from itertools import pairwise
from typing import Any

from liegg.discovery.discover import discover
from liegg.studies.error_rates.broken import broken
from liegg.studies.error_rates.judgement import shortened
from liegg.studies.error_rates.traps_judgement import claims

DIRECTIONS = 6
"""Directions whose defects are stored for each step."""


def sweep(
    kind: str = "so(3)", *, steps: int = 100, samples: int = 1000, seed: int = 0
) -> list[dict[str, Any]]:
    """Analyse an invariant function plus ε times another one on the same samples, ε from 0 to 1.

    Args:
        kind: one of `broken.BASES`.
        steps: number of strengths.
        samples: number of samples.
        seed: seed of both functions.
    """
    data = broken(kind, 0.0, samples, seed=seed).data
    rows = []
    for step in range(steps):
        strength = step / max(steps - 1, 1)
        case = broken(kind, strength, samples, seed=seed)
        sym = discover(case.model, data, case.action)
        found = claims(sym)
        rows.append(
            {
                "strength": shortened(strength),
                "count": len(found[-1].coefficients) if found else 0,
                "name": found[-1].name if found else "",
                "sure": found[-1].sure if found else False,
                "grades": list(sym.decision.grades[:DIRECTIONS]),
                "defects": [shortened(value) for value in sym.defects[:DIRECTIONS].tolist()],
            }
        )
    return rows


def flickers(rows: list[dict[str, Any]], dimension: int) -> dict[str, int]:
    """How a count behaves along a sweep.

    Returns:
        `changes` of the count; `partial`, counts that are neither zero nor the dimension of the
        algebra; `names`, different names of the algebra where it was counted.

    >>> rows = [
    ...     {"count": 3, "name": "so(3)"},
    ...     {"count": 2, "name": ""},
    ...     {"count": 3, "name": "so(3)"},
    ... ]
    >>> flickers(rows, 3)
    {'changes': 2, 'partial': 1, 'names': 1}
    """
    counts = [row["count"] for row in rows]
    return {
        "changes": sum(one != other for one, other in pairwise(counts)),
        "partial": sum(count not in (0, dimension) for count in counts),
        "names": len({row["name"] for row in rows if row["count"] == dimension}),
    }
