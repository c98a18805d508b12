"""Beyond the paper: how often is a symmetry found that does not exist, or an existing one missed?

Functions and networks with known symmetries are analysed with the default settings.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Affine, Linear
from liegg.algebra.catalog import so
from liegg.polarization import launcher
from liegg.studies import ensemble, o5
from liegg.studies.error_rates import broken, tally
from liegg.studies.error_rates.asymmetric import asymmetric, confined, polynomial
from liegg.studies.error_rates.cases import CLEARLY_NONLINEAR, Case, normal
from liegg.studies.error_rates.judgement import judge
from liegg.studies.error_rates.parallel import starmap
from liegg.studies.error_rates.symmetric import exact
from liegg.studies.provenance import rounded


@dataclass(frozen=True)
class Extent:
    """Size of the study.

    Attributes:
        asymmetric: random functions without symmetry.
        networks: networks trained on functions without symmetry.
        exact: functions with exact symmetries.
        confined: functions without symmetry on data that does not fill space.
        strengths: sizes ε for the large-sample defects.
        every: the coverage is counted for every k-th of them.
        samples: sample sizes of the coverage.
        repeats: analyses for each.
        reference: samples of the large-sample limit.
        sizes: training-set sizes of the O(5) networks.
        seeds: their seeds.
        seed: seed of all functions. Thresholds may be chosen by looking at the series of seed 0,
            the beginning of which is the quick form; error rates are reported for another one.
    """

    asymmetric: int = 400
    networks: int = 60
    exact: int = 400
    confined: int = 80
    strengths: tuple[float, ...] = broken.STRENGTHS
    every: int = 2
    samples: tuple[int, ...] = (200, 1000, 5000)
    repeats: int = 40
    reference: int = 200_000
    sizes: tuple[int, ...] = (1_000, 10_000)
    seeds: tuple[int, ...] = o5.SEEDS
    seed: int = 5


QUICK = Extent(
    asymmetric=20,
    networks=2,
    exact=20,
    confined=8,
    strengths=(1e-3, 1e-2, 0.1),
    every=1,
    samples=(300,),
    repeats=3,
    reference=3_000,
    sizes=(1_000,),
    seeds=(1,),
    seed=0,
)
"""Takes seconds."""

CASE_FAMILIES: dict[str, Callable[..., Case]] = {
    "asymmetric": asymmetric,
    "exact": exact,
    "confined": confined,
}

ROTATION_SCHEDULE = ensemble.Schedule(batch_size=100, rate=3e-3)
NETWORK_SAMPLES, NETWORK_EPOCHS = 1000, 40
"""Of networks that are trained on functions without symmetry, briefly."""

SHAPES = ((2, 1), (3, 1), (2, 2), (5, 1), (3, 2))
"""Dimension of a vector, and vectors per sample."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study.

    Args:
        how: where the networks are trained.
        quick: few cases of each kind.

    Returns:
        The results to be stored; nothing in other processes than the first, which only train.
    """
    extent = QUICK if quick else Extent()
    networks = asymmetric_networks(extent.networks, how, seed=extent.seed)
    rotations = rotation_networks(extent.sizes, extent.seeds, how)
    if launcher.rank() != 0:
        return {}
    seed, kinds = extent.seed, list(product(broken.BASES, extent.strengths))
    cases = [(family, i) for family in CASE_FAMILIES for i in range(getattr(extent, family))]
    coverage = list(product(broken.BASES, extent.strengths[:: extent.every], extent.samples))
    total = len(cases) + len(broken.BASES) * len(extent.strengths) + len(coverage)
    shared: dict[str, Any] = {
        "processes": 1 if quick else os.cpu_count() or 1,
        "finished": lambda _: how.report("cases", 1, total),
    }
    rows = networks + starmap(_judged, [(*case, seed) for case in cases], **shared)
    large = [(*kind, extent.reference, seed) for kind in kinds]
    limits = dict(zip(kinds, starmap(_reference, large, **shared), strict=True))
    asked = [
        (broken_case, extent.repeats, limits[broken_case[:2]], seed) for broken_case in coverage
    ]
    repeated = starmap(_repeated, asked, **shared)
    return {
        "seeds": [extent.seed],
        "clearly_nonlinear": CLEARLY_NONLINEAR,
        "threshold": rows[0]["threshold"],
        "cases": rows,
        "rotations": rotations,
        "broken": repeated,
        "limits": [
            {"kind": kind, "strength": strength, "defects": rounded(values, 4)}
            for (kind, strength), values in limits.items()
        ],
        **summary(rows, rotations, repeated, limits),
    }


def _judged(family: str, index: int, seed: int) -> dict[str, Any]:
    """The verdict on a case of a family."""
    return judge(CASE_FAMILIES[family](index, seed=seed))


def _reference(kind: str, strength: float, samples: int, seed: int) -> list[float]:
    """The defects of a large sample."""
    return broken.reference(kind, strength, samples, seed=seed)


def _repeated(
    broken_case: tuple[str, float, int], repeats: int, limit: list[float], seed: int
) -> dict[str, Any]:
    """Repeated analyses of a broken symmetry."""
    return broken.repeated(*broken_case, repeats, truth=limit, seed=seed)


def members(count: int, seed: int = 0) -> list[ensemble.Member]:
    """Networks of two hidden layers with inputs of the `SHAPES` in turn, for a seed of the series."""
    shapes = [SHAPES[index % len(SHAPES)] for index in range(count)]
    return [
        ensemble.Member(
            (n * copies, 32, 32, 1), 100_000 * seed + index, NETWORK_SAMPLES, NETWORK_EPOCHS
        )
        for index, (n, copies) in enumerate(shapes)
    ]


def task(member: ensemble.Member) -> tuple[Float[Tensor, "n x"], Float[Tensor, " n"]]:
    """Samples and targets of a network: a random cubic polynomial, bounded by the tanh function."""
    generator = torch.Generator().manual_seed(800_000 + member.seed)
    x = normal(member.samples, member.sizes[0], generator)
    y = 2 * torch.tanh(polynomial(3, member.sizes[0], 1, generator)(x)[:, 0])
    return x.float(), y.float()


def asymmetric_networks(count: int, how: ensemble.Work, *, seed: int = 0) -> list[dict[str, Any]]:
    """Train networks on functions without symmetry and judge each."""
    networks = members(count, seed)

    def problem(some: list[ensemble.Member]) -> ensemble.Regression:
        inputs, targets = zip(*map(task, some), strict=True)
        return ensemble.Regression(inputs, targets, how.device)

    def describe(some: list[ensemble.Member], trained: ensemble.Trained) -> list[dict[str, Any]]:
        return [
            judge(case(networks.index(member), member, trained.stack.network(i)))
            for i, member in enumerate(some)
        ]

    def case(place: int, member: ensemble.Member, model: nn.Module) -> Case:
        n, copies = SHAPES[place % len(SHAPES)]
        action = (Linear, Affine)[place // len(SHAPES) % 2](n, copies=copies)
        none, x = torch.zeros(0, n, n, dtype=torch.float64), task(member)[0].to(how.device)
        return Case("asymmetric", "trained network", model, x, action, none, 1)

    return ensemble.work(networks, problem, describe, ROTATION_SCHEDULE, how=how.part("asymmetric"))


def rotation_networks(
    sizes: tuple[int, ...], seeds: tuple[int, ...], how: ensemble.Work
) -> list[dict[str, Any]]:
    """Train the networks of the O(5) study and judge each."""

    def describe(member: ensemble.Member, network: nn.Module) -> dict[str, Any]:
        inputs = o5.samples_of(member).to(how.device)
        case = Case("trained", "O(5)", network, inputs, Linear(5, copies=2), so(5), 1)
        return judge(case) | {"seed": member.seed}

    return o5.train_all(o5.members(sizes, seeds), describe, how.part("o5"))


def summary(
    rows: list[dict[str, Any]],
    rotations: list[dict[str, Any]],
    repeated: list[dict[str, Any]],
    limits: dict[tuple[str, float], list[float]],
) -> dict[str, Any]:
    """Errors overall and by label, errors of the rules, coverage, slopes."""
    families = {
        family: [row for row in rows if row["family"] == family] for family in CASE_FAMILIES
    }
    clear = tally.nonlinear(rows)
    return {
        "inventions": {
            "clearly nonlinear": tally.inventions(clear),
            "others": tally.inventions(
                [row for row in families["asymmetric"] if not row["nonlinear"]]
            ),
            "confined": tally.inventions(families["confined"]),
        },
        "inventions_by": tally.by_label(clear, tally.inventions),
        "confined_by": tally.by_label(families["confined"], tally.inventions),
        "recoveries": tally.recoveries(families["exact"]),
        "recoveries_by": tally.by_label(families["exact"], tally.recoveries),
        "trained": tally.recoveries(rotations),
        "rules": tally.rule_errors(rows, repeated, rotations),
        "coverage": tally.coverage(repeated),
        "slopes": {
            kind: broken.slope(
                [
                    (strength, limit[0])
                    for (name, strength), limit in limits.items()
                    if name == kind and strength <= 0.1
                ]
            )
            for kind in broken.BASES
        },
    }


def table(results: dict[str, Any]) -> str:
    """Errors of liegg and of the other rules, coverage and slopes, as text for a terminal."""
    lines = [
        "functions without symmetry      cases   with one found   strong   approximate       no warning"
    ]
    for name, found in results["inventions"].items():
        lines.append(
            f"{name:<30} {found['cases']:>6}   {found['false']:>14}   {found['strong']:>6}   {found['approximate']:>11}"
            f"   {found['unwarned']:>13}"
        )
    lines += [
        "",
        "functions with symmetries       cases   right   graded exact   too few   too many",
    ]
    for name, found in (
        ("exact, by construction", results["recoveries"]),
        ("trained, O(5)", results["trained"]),
    ):
        counts = f"{found['right']:>5}   {found['exact']:>12}   {found['missed']:>7}   {found['extra']:>8}"
        lines.append(f"{name:<30} {found['cases']:>6}   {counts}")
    lines += ["", "wrong counts of every rule          none     exact    broken   trained"]
    for rule, errors in results["rules"].items():
        lines.append(
            f"{rule:<30}"
            + "".join(f"{one['wrong']:>5}/{one['cases']:<4}" for one in errors.values())
        )
    lines += ["", "coverage of the 95 % intervals   N of smallest, all directions"]
    for one in results["coverage"]:
        shares = "none" if one["smallest"] is None else f"{one['smallest']:.1%}, {one['all']:.1%}"
        lines.append(f"ε = {one['strength']:<8g} N = {one['samples']:<7} {shares}")
    lines += [
        "",
        "slope of log δ² against log ε: "
        + ", ".join(f"{kind} {value:.3f}" for kind, value in results["slopes"].items()),
    ]
    return "\n".join(lines)
