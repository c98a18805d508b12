"""Functions whose symmetry is broken by a part of known size, and how well their defects are known from few samples."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.discovery.discover import discover
from liegg.studies.error_rates.cases import Case, Function, normal, perceptron
from liegg.studies.error_rates.invariants import Invariants, inner_products, symplectic_products
from liegg.studies.error_rates.judgement import counts, evidence, shortened, verdict
from liegg.studies.error_rates.symmetric import of_invariants

BASES: dict[str, Callable[[], Invariants]] = {
    "so(3)": lambda: Invariants(3, 2, catalog.so(3), inner_products(torch.ones(3))),
    "so(1, 2)": lambda: Invariants(
        3, 2, catalog.so(1, 2), inner_products(torch.tensor([1.0, -1.0, -1.0]))
    ),
    "sp(4)": lambda: Invariants(4, 2, catalog.sp(4), symplectic_products),
    "se(2)": lambda: Invariants(2, 3, catalog.se(2), _distances, affine=True),
}
"""Symmetries that are broken, each with its whole algebra."""

STRENGTHS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
"""Sizes ε of the part that breaks the symmetry, against the symmetric part: eight decades of ε²."""

SMALL = 0.01
"""Largest ε at which every rule should still see the symmetry: a ten-thousandth of the variance breaks it."""

OUTPUTS = 3


@dataclass(frozen=True, eq=False)
class Sum:
    """A symmetric function and ε times an asymmetric one, both of unit variance."""

    symmetric: Function
    asymmetric: Function
    sizes: tuple[float, float]
    strength: float

    def __call__(self, x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        """Outputs of a batch."""
        return (
            self.symmetric(x) / self.sizes[0] + self.strength * self.asymmetric(x) / self.sizes[1]
        )


def broken(kind: str, strength: float, samples: int, *, seed: int = 0, draw: int = 0) -> Case:
    r"""A network of invariants plus ε times a network of the inputs.

    Along a generator of the algebra only the second part changes, so that its sensitivity is exactly proportional to ε²; the mean
    sensitivity κ, by which it is divided, changes with ε in the first order as well, and by little as long as ε is small.

    Args:
        kind: one of `BASES`.
        strength: ε.
        samples: how many.
        seed: of both functions.
        draw: of the samples; the function is the same for all.
    """
    chosen = BASES[kind]()
    generator = torch.Generator().manual_seed(1_000_003 * seed + 700_000 + list(BASES).index(kind))
    width = chosen.n * chosen.copies
    parts = (
        of_invariants(chosen, OUTPUTS, generator),
        perceptron((width, 24, 24, OUTPUTS), generator, gain=2.5, activation="tanh"),
    )
    trial = normal(4000, width, generator)
    sizes = (float(parts[0](trial).var(0).sum().sqrt()), float(parts[1](trial).var(0).sum().sqrt()))
    told = f"{kind} {strength:g} {samples} {seed} {draw}"  # samples of their own for every analysis: what is counted is independent
    drawn = torch.Generator().manual_seed(zlib.crc32(told.encode()))
    action = (
        Affine(chosen.n, copies=chosen.copies)
        if chosen.affine
        else Linear(chosen.n, copies=chosen.copies)
    )
    data = normal(samples, width, drawn)
    return Case(
        "broken",
        kind,
        Sum(*parts, sizes, strength),
        data,
        action,
        chosen.algebra,
        OUTPUTS,
        strength,
    )


def reference(kind: str, strength: float, samples: int, *, seed: int = 0) -> list[float]:
    """Defects of the large-sample limit, as far as so many samples tell it; of the whole action, ascending."""
    case = broken(kind, strength, samples, seed=seed, draw=-1)
    return discover(case.model, case.data, case.action).defects.tolist()


def repeated(
    kind: str, strength: float, samples: int, repeats: int, truth: list[float], *, seed: int = 0
) -> dict[str, Any]:
    """Analyse the same function on fresh samples again and again.

    Args:
        kind: one of `BASES`.
        strength: ε.
        samples: how many to an analysis.
        repeats: how often.
        truth: from `reference`.
        seed: as for `broken`.

    Returns:
        How often the intervals held the large-sample value, of the smallest direction and of all that belong to the algebra, the
        counts by every rule, and the first analysis as an example.
    """
    covered_smallest = covered_all = stated = 0
    said: list[dict[str, int]] = []
    example: dict[str, Any] = {}
    right = 0
    for draw in range(repeats):
        case = broken(kind, strength, samples, seed=seed, draw=draw)
        sym = discover(case.model, case.data, case.action)
        right, intervals = case.expected, verdict(sym).intervals
        intervals = (
            None
            if intervals is None or not bool(intervals[: case.expected].isfinite().all())
            else intervals
        )
        said.append(counts(sym, evidence(sym)))
        if intervals is not None:
            limits = torch.tensor(truth[:right], dtype=torch.float64)
            inside = (intervals[:right, 0] <= limits) & (limits <= intervals[:right, 1])
            stated, covered_smallest, covered_all = (
                stated + 1,
                covered_smallest + int(inside[0]),
                covered_all + int(inside.sum()),
            )
        if not draw:
            ends = (
                None
                if intervals is None
                else [[shortened(v) for v in pair] for pair in intervals[:right].tolist()]
            )
            example = {
                "defects": [shortened(v) for v in sym.defects[:right].tolist()],
                "intervals": ends,
            }
    return {
        "kind": kind,
        "strength": strength,
        "samples": samples,
        "repeats": repeats,
        "expected": right,
        "limit": [shortened(value) for value in truth[: right + 1]],
        "stated": stated,
        "covered_smallest": covered_smallest,
        "covered_all": covered_all,
        "right": {rule: sum(one[rule] == right for one in said) for rule in said[0]},
        "example": example,
    }


def slope(points: list[tuple[float, float]]) -> float:
    """Slope of log δ² against log ε by least squares.

    >>> slope([(0.1, 0.05), (0.01, 0.0005), (0.001, 0.000005)])
    2.0
    """
    x, y = torch.tensor(points, dtype=torch.float64).log().unbind(1)
    return round(float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()), 6)


def _distances(x: Tensor) -> Tensor:
    """Inner products of the differences from the first vector, which hold all distances."""
    return inner_products(torch.ones(x.shape[2]))(x[:, 1:] - x[:, :1])
