"""Spectra with intervals, by hand and random, for the tests of the decision."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

import liegg
from liegg.decision.decide import DataFacts, decide
from liegg.decision.intervals import Bootstrap, bootstrap
from liegg.decision.rank import count, evidence, rule
from liegg.decision.thresholds import Thresholds
from liegg.spectrum.defects import Defects

FLOOR = 1e-27
USUAL = Thresholds(
    threshold=0.03, minimum_gap=10.0, resolution=1e-4, strong=1e-3, weak=0.5, effect=0.3
)
SCALED = ("threshold", "resolution", "strong", "weak")
"""Thresholds that are defects."""


def column(*values):
    return torch.tensor(values, dtype=torch.float64)


def case_of(values, *, wide: Any = 1.0, floor=FLOOR, control=math.inf):
    """Evidence with intervals from each defect over `wide` to that times `wide`: one number, or one for each."""
    wide = column(*wide) if isinstance(wide, list) else column(*[wide] * len(values))
    bounds = torch.stack([column(*values) / wide, column(*values) * wide], 1)
    return evidence(column(*values), bounds, floor=floor, control=control)


def bootstrap_of(sym: liegg.Symmetries) -> Bootstrap:
    """The draws of a result, made again from its blocks."""
    total = sym.accumulated
    draws = bootstrap(total.blocks, total.solution, floor=sym.decision.floor, seed=total.seed)
    assert draws is not None
    return draws


def counted(case, thresholds=USUAL):
    """Number of symmetries."""
    return int(count(case, rule(case.floor, thresholds)))


@st.composite
def spectra(draw, *, most=7):
    """Ascending defects over seven decades, some at the floor, with intervals of any width, and a control."""
    size = draw(st.integers(1, most))
    exponents = st.lists(st.floats(-6, 1), min_size=size, max_size=size)
    values = sorted(10**e for e in draw(exponents))
    exact = draw(st.integers(0, size))
    values[:exact] = [1e-29] * exact
    wide = [10**w for w in draw(st.lists(st.floats(0, 0.7), min_size=size, max_size=size))]
    control = draw(st.sampled_from([math.inf, 0.3, 0.8]))
    return case_of(
        values,
        wide=draw(st.sampled_from([1.0, wide])),
        floor=draw(st.sampled_from([1e-27, 1e-11, 1e-4])),
        control=control,
    )


@st.composite
def all_thresholds(draw):
    """Thresholds around the usual ones, by a factor of 30."""

    def around(name):
        return getattr(USUAL, name) * 10 ** draw(st.floats(-1.5, 1.5))

    return Thresholds(
        **{name: around(name) for name in SCALED}, minimum_gap=max(1.0, around("minimum_gap"))
    )


SOME_THRESHOLDS = st.just(USUAL) | all_thresholds()


def solved(values, *, trivial=0, sensitivity=1.0, directions=None, barely=0):
    eye = torch.eye(len(values) + trivial, dtype=torch.float64)
    chosen = eye[: len(values)] if directions is None else directions
    return Defects(
        torch.tensor(values, dtype=torch.float64), chosen, eye[len(values) :], sensitivity, barely
    )


def decided(solution, *, floor=FLOOR, thresholds=None, bounds=None, warnings=(), **facts):
    """The decision on defects, or on a solution."""
    solution = solved(solution) if isinstance(solution, list) else solution
    thresholds, values = thresholds or Thresholds(), solution.values
    facts = DataFacts(**dict[str, Any](samples=100) | facts)
    open_end = facts.unsolved and bool((values > floor).any())
    following = float(values[-1]) if open_end else math.inf
    case = evidence(values, bounds, floor=floor, following=following)
    return decide(solution, case, facts, thresholds, warnings=warnings)
