"""Functions whose symmetry is broken by a part of known size, and the coverage of their intervals."""

import zlib
from collections.abc import Callable
from math import log
from statistics import linear_regression
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.discovery.discover import discover
from liegg.studies.error_rates.cases import Case, normal, tanh_network
from liegg.studies.error_rates.judgement import counts, evidence
from liegg.studies.error_rates.symmetric import (
    Invariants,
    metric_invariants,
    motion_invariants,
    of_invariants,
    symplectic_products,
)
from liegg.studies.provenance import rounded

BASES: dict[str, Callable[[], Invariants]] = {
    "so(3)": lambda: metric_invariants(3, copies=2),
    "so(1, 2)": lambda: metric_invariants(1, 2, copies=2),
    "sp(4)": lambda: Invariants(4, 2, catalog.sp(4), symplectic_products),
    "se(2)": lambda: motion_invariants(2, copies=3),
}
"""Symmetries that are broken, each with its complete algebra."""

STRENGTHS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
"""Relative sizes ε of the part that breaks the symmetry: eight decades of ε²."""

SLIGHTLY_BROKEN = 0.01
"""Largest ε at which every rule should find the symmetry: 10⁻⁴ of the variance breaks it."""

BROKEN_OUTPUTS = 3


def broken(kind: str, strength: float, samples: int, *, seed: int = 0, draw: int = 0) -> Case:
    r"""A network of invariants plus ε times a network of the inputs, both of unit variance.

    Along a generator of the algebra only the second part changes, so its sensitivity is exactly
    proportional to ε². The mean sensitivity κ, by which it is divided, changes little with small ε.

    Args:
        kind: one of `BASES`.
        strength: ε.
        samples: number of samples.
        seed: seed of both functions.
        draw: seed of the samples; the function does not depend on it.
    """
    chosen = BASES[kind]()
    generator = torch.Generator().manual_seed(1_000_003 * seed + 700_000 + list(BASES).index(kind))
    width = chosen.n * chosen.copies
    symmetric = of_invariants(chosen, BROKEN_OUTPUTS, generator)
    asymmetric = tanh_network((width, 24, 24, BROKEN_OUTPUTS), generator)
    trial = normal(4000, width, generator)
    one, other = (float(part(trial).var(0).sum().sqrt()) for part in (symmetric, asymmetric))

    def model(x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        return symmetric(x) / one + strength * asymmetric(x) / other

    # Every analysis has its own samples, so that their counts are independent.
    label = f"{kind} {strength:g} {samples} {seed} {draw}"
    drawn = torch.Generator().manual_seed(zlib.crc32(label.encode()))
    action = (Affine if chosen.affine else Linear)(chosen.n, copies=chosen.copies)
    data = normal(samples, width, drawn)
    return Case("broken", kind, model, data, action, chosen.algebra, BROKEN_OUTPUTS)


def reference(kind: str, strength: float, samples: int, *, seed: int = 0) -> list[float]:
    """Defects of the complete action from many samples, ascending: the large-sample limit."""
    case = broken(kind, strength, samples, seed=seed, draw=-1)
    return discover(case.model, case.data, case.action).defects.tolist()


def repeated(
    kind: str, strength: float, samples: int, repeats: int, *, truth: list[float], seed: int = 0
) -> dict[str, Any]:
    """Analyse the same function repeatedly on new samples.

    Args:
        kind: one of `BASES`.
        strength: ε.
        samples: samples per analysis.
        repeats: number of analyses.
        truth: result of `reference`.
        seed: as for `broken`.

    Returns:
        How often the intervals contain the large-sample value, for the smallest direction and for
        all directions of the algebra, the counts of every rule, and the first analysis.
    """
    right = len(BASES[kind]().algebra)
    limits = torch.tensor(truth[:right], dtype=torch.float64)
    cases = [broken(kind, strength, samples, seed=seed, draw=draw) for draw in range(repeats)]
    symmetries = [discover(case.model, case.data, case.action) for case in cases]
    results = [counts(sym, evidence(sym)) for sym in symmetries]
    intervals = [sym.intervals[:right] for sym in symmetries]
    stated = [ends for ends in intervals if bool(ends.isfinite().all())]
    inside = [(ends[:, 0] <= limits) & (limits <= ends[:, 1]) for ends in stated]
    return {
        "kind": kind,
        "strength": strength,
        "samples": samples,
        "repeats": repeats,
        "expected": right,
        "limit": rounded(truth[: right + 1], 4),
        "stated": len(inside),
        "covered_smallest": sum(int(one[0]) for one in inside),
        "covered_all": sum(int(one.sum()) for one in inside),
        "right": {rule: sum(one[rule] == right for one in results) for rule in results[0]},
        "example": {
            "defects": rounded(symmetries[0].defects[:right].tolist(), 4),
            "intervals": rounded(intervals[0].tolist(), 4)
            if bool(intervals[0].isfinite().all())
            else None,
        },
    }


def slope(points: list[tuple[float, float]]) -> float:
    """Slope of log δ² against log ε by least squares.

    >>> slope([(0.1, 0.05), (0.01, 0.0005), (0.001, 0.000005)])
    2.0
    """
    x, y = zip(*((log(strength), log(defect)) for strength, defect in points), strict=True)
    return round(linear_regression(x, y).slope, 6)
