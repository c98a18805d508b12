"""Coverage of nominal 95 % intervals on data of many kinds, stored as results/coverage.json."""

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import torch
from torch import Generator, Tensor

import liegg
from liegg.decision.intervals import bootstrap, span_interval
from liegg.spectrum.defects import defects
from result_files import options, store

COUNTS, REPEATS, LARGE = (100, 300, 1000, 3000, 10_000), 150, 2_000_000
SPAN = 3
"""Directions whose intervals are judged: one of small defect, and two of nearly equal defects."""

FAR = 8.0
"""Length that no normal vector of space reaches: a data set whose vectors are all shorter has no outlier."""

NOTHING_COUNTS = liegg.Thresholds(threshold=1e-12)
"""Nothing is named, which takes longer than the intervals; the angle is that of the smallest defect."""


def normal(generator: Generator, count: int) -> Tensor:
    """Normal vectors of space."""
    return torch.randn(count, 3, generator=generator, dtype=torch.float64)


def lognormal(generator: Generator, count: int) -> Tensor:
    """Normal vectors times a lognormal size."""
    return normal(generator, count) * normal(generator, count)[:, :1].exp()


def student(generator: Generator, count: int) -> Tensor:
    """Student's distribution with three degrees of freedom; the variance of a squared length is infinite."""
    return normal(generator, count) / normal(generator, count).square().mean(1, keepdim=True).sqrt()


def outliers(generator: Generator, count: int) -> Tensor:
    """Normal vectors, 2 % of them twenty times as long."""
    far = torch.rand(count, 1, generator=generator, dtype=torch.float64) < 0.02
    return normal(generator, count) * torch.where(far, 20.0, 1.0)


def one_axis(generator: Generator, count: int) -> Tensor:
    """Normal vectors whose first feature is multiplied by a lognormal size."""
    x = normal(generator, count)
    return torch.cat([x[:, :1] * normal(generator, count)[:, :1].exp(), x[:, 1:]], dim=1)


def clusters(number: int, width: float = 0.05) -> Callable[[Generator, int], Tensor]:
    """Normal centres with samples close to them, not said to belong together."""

    def draw(generator: Generator, count: int) -> Tensor:
        centres = normal(generator, number)
        chosen = torch.randint(number, (count,), generator=generator)
        return centres[chosen] + width * normal(generator, count)

    return draw


def copies(generator: Generator, count: int) -> Tensor:
    """Every sample eight times, in random order."""
    x = normal(generator, -(-count // 8)).repeat(8, 1)
    return x[torch.randperm(len(x), generator=generator)]


def periodic(generator: Generator, count: int) -> Tensor:
    """Every 32nd sample is of one size, from a tenth to three times the usual one."""
    sizes = torch.logspace(-1, 0.5, 32, dtype=torch.float64).repeat(-(-count // 32))[:count]
    return normal(generator, count) * sizes[:, None]


def bounded(x: Tensor) -> Tensor:
    """A function that depends mostly on the length of a vector, with bounded gradients."""
    return (1 + x.square().sum(1)).sqrt() + 0.1 * _rest(x)


def logarithmic(x: Tensor) -> Tensor:
    """A function that depends mostly on the logarithm of a length; short vectors, not long ones, have large gradients."""
    return (0.1 + x.square().sum(1)).log() + 0.1 * _rest(x)


def _rest(x: Tensor) -> Tensor:
    """A perceptron with random weights, which no motion leaves unchanged."""
    generator = torch.Generator().manual_seed(0)
    inner, outer, shift = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((3, 8), (8,), (8,))
    )
    return torch.tanh(x @ inner / 2 + shift / 3) @ outer


class Family(NamedTuple):
    """A kind of data, and the function that is analysed on it.

    Attributes:
        draw: samples as they are analysed.
        like: samples of the same distribution that are independent; None if those of `draw` are.
        model: the function.
        usual: the same data without its rare kind of sample; None if there is none.
    """

    draw: Callable[[Generator, int], Tensor]
    like: Callable[[Generator, int], Tensor] | None = None
    model: Callable[[Tensor], Tensor] = bounded
    usual: Callable[[Generator, int], Tensor] | None = None


FAMILIES = {
    "normal": Family(normal),
    "lognormal": Family(lognormal),
    "Student, 3 degrees of freedom": Family(student),
    "one axis lognormal": Family(one_axis),
    "2 % outliers": Family(outliers, usual=normal),
    "8 clusters": Family(clusters(8), normal),
    "20 clusters": Family(clusters(20), normal),
    "40 clusters": Family(clusters(40), normal),
    "each sample 8 times": Family(copies, normal),
    "period 32": Family(periodic),
    "logarithm, normal": Family(normal, model=logarithmic),
    "logarithm, lognormal": Family(lognormal, model=logarithmic),
    "logarithm, one axis lognormal": Family(one_axis, model=logarithmic),
    "logarithm, 2 % outliers": Family(outliers, model=logarithmic, usual=normal),
}


class Truth(NamedTuple):
    """What a very large sample has.

    Attributes:
        defects: the smallest defects.
        directions: their directions.
    """

    defects: Tensor
    directions: Tensor


def truth(family: Family, large: int) -> Truth:
    """Defects and directions of a large sample, in parts whose sums are added."""
    action, generator = liegg.Linear(3), torch.Generator().manual_seed(12345)
    square, moment = torch.zeros(9, 9, dtype=torch.float64), torch.zeros(3, 3, dtype=torch.float64)
    for _ in range(10):
        x = (family.like or family.draw)(generator, large // 10).requires_grad_()
        (slopes,) = torch.autograd.grad(family.model(x).sum(), x)
        x = x.detach()
        rows = action.contract(slopes[:, None], x)[:, 0]
        square, moment = square + rows.mT @ rows, moment + action.moment(x)
    factor = torch.linalg.cholesky(square).mT
    found = defects(factor, action.displacement(moment, large), large)
    return Truth(found.values[:SPAN], found.directions[:SPAN])


def judge(sym: liegg.Symmetries, true: Truth) -> dict[str, float] | None:
    """Whether each interval holds the true value, and on which side it misses; None without intervals."""
    certainty = sym.decision.certainty
    if certainty is None or bool(sym.intervals[:SPAN].isnan().any()):
        return None
    low, high = sym.intervals[:SPAN].unbind(1)
    total = sym.accumulated
    draws = bootstrap(total.blocks, total.solution, floor=sym.decision.floor, seed=total.seed)
    assert draws is not None
    span, mean = span_interval(draws, SPAN, level=certainty.level), float(true.defects.mean())
    cosine = float((total.solution.directions[0] @ true.directions[0]).abs())
    return {
        "defects": float(((low <= true.defects) & (true.defects <= high)).double().mean()),
        "too_low": float((high < true.defects).double().mean()),
        "span": float(span.low <= mean <= span.high),
        "angle": float(math.acos(min(cosine, 1.0)) <= certainty.angle),
        "width": float((high / low).log().mean()),
    }


def measure(name: str, counts: tuple[int, ...], *, repeats: int, large: int) -> list[dict]:
    """Coverage for one kind of data and several numbers of samples; where no rare kind was drawn, also of data without it."""
    torch.set_num_threads(1)
    family, true, rows = FAMILIES[name], truth(FAMILIES[name], large), []
    usual = None
    if family.usual is not None:
        usual = truth(family._replace(draw=family.usual), large)
    for count in counts:
        judged, unseen = [], []
        for seed in range(repeats):
            x = family.draw(torch.Generator().manual_seed(seed), count)
            sym = liegg.discover(family.model, x, liegg.Linear(3), thresholds=NOTHING_COUNTS)
            judged.append(judge(sym, true))
            if usual is not None and float(x.norm(dim=1).max()) < FAR:
                unseen.append(judge(sym, usual))
        rows.append({"family": name, "samples": count, **_shares(judged)})
        if unseen:
            rows[-1]["unseen"] = {"sets": len(unseen), **_shares(unseen)}
        print(rows[-1], flush=True)
    return rows


def _shares(judged: list[dict[str, float] | None]) -> dict[str, float | None]:
    """Share of the data sets with intervals, and of those what `judge` says, on average."""
    given = [one for one in judged if one is not None]
    shares = {
        key: round(sum(one[key] for one in given) / len(given), 4) if given else None
        for key in ("defects", "too_low", "span", "angle", "width")
    }
    return {"given": len(given) / len(judged), **shares}


def table(stored: dict) -> str:
    """The stored coverage as a table in Markdown: in percent, of the defects, in brackets where intervals were given."""
    counts = sorted({row["samples"] for row in stored["rows"]})
    lines = [
        "| data | " + " | ".join(f"N = {count:,}".replace(",", " ") for count in counts) + " |",
        "|---|" + "---|" * len(counts),
    ]
    for name in FAMILIES:
        rows = {row["samples"]: row for row in stored["rows"] if row["family"] == name}
        lines.append(f"| {name} | " + " | ".join(_cell(rows[count]) for count in counts) + " |")
    return "\n".join(lines)


def _cell(row: dict) -> str:
    """Coverage of the intervals that were given, and how often they were if not always."""
    if not row["given"]:
        return "none given"
    share = "" if row["given"] == 1 else f" (given in {100 * row['given']:.0f})"
    return f"{100 * row['defects']:.0f}{share}"


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "coverage.json", quick="few repetitions, for a look")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    begin, counts = time.perf_counter(), COUNTS[:1] if chosen.quick else COUNTS
    repeats, large = (2, 20_000) if chosen.quick else (REPEATS, LARGE)
    rows = []
    with ProcessPoolExecutor(min(len(FAMILIES), chosen.processes)) as pool:
        waiting = [
            pool.submit(measure, name, counts, repeats=repeats, large=large) for name in FAMILIES
        ]
        for one in waiting:
            rows += one.result()
    results = {"level": 0.95, "repeats": repeats, "directions": SPAN, "rows": rows}
    store(results, chosen.out, "python benchmarks/coverage.py", begin=begin)


if __name__ == "__main__":
    main()
