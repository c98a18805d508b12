"""How many symmetries a case has according to liegg, and to common rules on the same numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.discover import discover
from liegg.inputs.nonlinearity import midpoint_ratio
from liegg.polarization.gram import Gram
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import defects
from liegg.studies.error_rates.cases import CLEARLY_NONLINEAR, Case
from liegg.studies.provenance import rounded

LIEGG = "liegg"
"""Name of liegg's own verdict among the rules."""

STRONG = ("exact", "strong")
"""Grades of symmetries that cannot be due to chance."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Input of a rule.

    Attributes:
        defects: δ² of every direction that moves the data, ascending.
        spectrum: the paper's spectrum σ²/N of all directions, ascending.
        trivial: number of directions that do not move the data; they are zeros of the spectrum.
        floor: squared rounding unit of the model; defects below it are treated as equal.
    """

    defects: Float[Tensor, " r"]
    spectrum: Float[Tensor, " g"]
    trivial: int
    floor: float


def largest_gap(evidence: Evidence, *, least: float = 1.0) -> int:
    """Cut where the ratio of neighbouring defects is largest; none if that is below `least`.

    Defects below the floor are treated as equal; otherwise the largest ratio would be between
    rounding errors. Without `least` the rule always finds something.

    >>> values = torch.tensor([1e-9, 2e-9, 0.5, 1.0])
    >>> (
    ...     largest_gap(Evidence(values, values, 0, 1e-28)),
    ...     largest_gap(Evidence(values[2:], values[2:], 0, 1e-28), least=10.0),
    ... )
    (2, 0)
    """
    lifted = evidence.defects.double().clamp_min(
        max(evidence.floor, torch.finfo(torch.float64).tiny)
    )
    if len(lifted) < 2:
        return 0
    gaps = lifted[1:] / lifted[:-1]
    return int(gaps.argmax()) + 1 if float(gaps.max()) >= least else 0


def below(evidence: Evidence, *, threshold: float) -> int:
    """Count the defects below a fixed number.

    >>> below(Evidence(torch.tensor([0.001, 0.02, 1.0]), torch.ones(3), 0, 1e-28), threshold=0.01)
    1
    """
    return int((evidence.defects < threshold).sum())


def running_share(evidence: Evidence, *, share: float) -> int:
    """Count the smallest defects as long as together they make up less than a share of the sum of all.

    As in principal component analysis, where the components that explain 99 % are kept. Zeros count.

    >>> running_share(
    ...     Evidence(torch.tensor([0.001, 0.002, 0.5, 1.0]), torch.ones(4), 0, 1e-28), share=0.01
    ... )
    2
    """
    return int((evidence.defects.cumsum(0) <= share * evidence.defects.sum()).sum())


def single_share(evidence: Evidence, *, share: float) -> int:
    """Count the singular values that are each below a share of their sum, less the directions that do not move the data.

    With many directions each has a small share of the sum, whatever the function.

    >>> even = torch.ones(25)
    >>> single_share(Evidence(even, even, 0, 1e-28), share=0.1)
    25
    """
    singular = evidence.spectrum.clamp_min(0).sqrt()
    return max(0, int((singular <= share * singular.sum()).sum()) - evidence.trivial)


COUNTING_RULES: dict[str, Callable[[Evidence], int]] = {
    "largest gap": largest_gap,
    "largest gap, 10 or more": lambda evidence: largest_gap(evidence, least=10.0),
    "defect below 0.01": lambda evidence: below(evidence, threshold=0.01),
    "defect below 0.1": lambda evidence: below(evidence, threshold=0.1),
    "together below 1 % of the sum": lambda evidence: running_share(evidence, share=0.01),
    "each below 10 % of the sum": lambda evidence: single_share(evidence, share=0.1),
}
"""Rules that are compared with liegg's verdict on the same numbers."""


def evidence(sym: Symmetries) -> Evidence:
    """Evidence for the other rules: the measured numbers, including those that liegg attributes to rounding."""
    values, sums = sym.defects, sym.accumulated
    if sums.solution.sensitivity == 0:  # liegg has put zeros in the place of the measured values
        values = defects(
            sums.rows if isinstance(sums.rows, Gram) else sums.rows.r,
            sums.displacement,
            sym.samples,
            trivial_tolerance=sym.settings["trivial_tolerance"],
        ).values
    unit = torch.finfo(getattr(torch, sym.settings["dtype"])).eps
    return Evidence(values, sym.spectrum.values, len(sums.solution.trivial), unit**2)


def counts(sym: Symmetries, seen: Evidence) -> dict[str, int]:
    """Number of symmetries by every rule, liegg's verdict first."""
    return {LIEGG: sym.nullity} | {name: rule(seen) for name, rule in COUNTING_RULES.items()}


def judge(case: Case) -> dict[str, Any]:
    """Analyse a case with the default settings.

    Returns:
        As JSON values: its labels, the count of every rule, the grades of the counted directions,
        and the defects next to the right count: `last`, the largest of a symmetry, `next`, the
        smallest that is not, and the one `after`.
    """
    sym = discover(case.model, case.data, case.action)
    decision, seen, right = sym.decision, evidence(sym), case.expected
    grades, measured = decision.grades[: sym.nullity], rounded(seen.defects.tolist(), 4)
    ratio = midpoint_ratio(case.model, case.data) or 0.0
    angle = float(sym.angles(case.algebra).max()) if right and sym.nullity == right else None
    return {
        "family": case.family,
        "kind": case.kind,
        "n": case.action.n,
        "copies": case.action.copies,
        "action": type(case.action).__name__,
        "outputs": case.outputs,
        "samples": len(case.data),
        "dtype": str(case.data.dtype).removeprefix("torch."),
        "midpoint_ratio": rounded(ratio, 4),
        "nonlinear": ratio >= CLEARLY_NONLINEAR,
        "warned": bool(decision.warnings),
        "expected": right,
        "exact": sum(grade == "exact" for grade in grades),
        "strong": sum(grade in STRONG for grade in grades),
        "approximate": sum(grade not in STRONG for grade in grades),
        "range": decision.nullity_interval and list(decision.nullity_interval),
        "last": measured[right - 1] if right else None,
        "next": measured[right] if right < len(measured) else None,
        "after": measured[right + 1] if right + 1 < len(measured) else None,
        "rounding_unit": torch.finfo(case.data.dtype).eps,
        "threshold": decision.thresholds.threshold,
        "angle": rounded(angle, 4),
        "counts": counts(sym, seen),
    }
