"""How often is the right name given? Random trials over the whole catalogue, stored as results/bench-identify.json.

Every kind of algebra, in sizes up to dimension 28, is put into random coordinates and its basis mixed at random, exactly or with
Gaussian noise on the orthonormal generators, and identified; spans that are no algebras are tried too. The time of the largest is
measured beside it.
"""

import json
import time
from collections.abc import Iterator

import torch
from torch import Tensor

import liegg
from liegg.algebra import closure
from liegg.algebra.structure.real_forms import pair
from liegg.algebra.words.names import other_names
from liegg.studies import o5
from result_files import options, store

LARGEST = 28
LEVELS = (
    {"noise": 0.0, "condition": 100.0, "stated": False},
    {"noise": 1e-3, "condition": 10.0, "stated": True},
    {"noise": 1e-2, "condition": 10.0, "stated": True},
    {"noise": 1e-3, "condition": 10.0, "stated": False},
    {"noise": 1e-2, "condition": 10.0, "stated": False},
)
"""Relative noise, largest condition number of the coordinates, and whether the noise is told to `identify`."""


def everything(largest: int = LARGEST) -> Iterator[tuple[str, Tensor]]:
    """Names and generators of all algebras that are tried, up to the largest dimension."""
    for name, generators in (*_simple(), *_affine(), *_solvable(), *_sums()):
        if len(generators) <= largest:
            yield name, generators


def _simple() -> Iterator[tuple[str, Tensor]]:
    for n in range(2, 9):
        yield from ((f"so({pair(n - q, q)})", liegg.so(n - q, q)) for q in range(n // 2 + 1))
    for n in range(2, 6):
        yield f"sl({n},R)", liegg.algebra.sl(n)
        yield f"gl({n},R)", liegg.algebra.gl(n)
        yield from (
            (f"su({pair(n - q, q)})", liegg.algebra.su(n - q, q))
            for q in range(n // 2 + 1)
            if (n, q) != (2, 1)
        )
        yield from ((f"u({pair(n - q, q)})", liegg.algebra.u(n - q, q)) for q in range(n // 2 + 1))
    yield (
        "sl(2,R)",
        liegg.algebra.su(1, 1),
    )  # two copies of sl(2,R), and that is what they are called
    for n in (2, 3):
        yield f"sl({n},C)", liegg.algebra.sl(n, "C")
        yield f"gl({n},C)", liegg.algebra.gl(n, "C")
    yield from ((f"sp({n},R)", liegg.algebra.sp(n)) for n in (4, 6))


def _affine() -> Iterator[tuple[str, Tensor]]:
    for n in range(2, 8):
        yield from (
            (f"{'e' if q else 'se'}({pair(n - q, q)})", liegg.se(n - q, q))
            for q in range(n // 2 + 1)
        )
    yield from ((f"aff({n})", liegg.algebra.aff(n)) for n in range(1, 5))
    yield from ((f"translation({n})", liegg.translation(n)) for n in range(2, 11))
    larger = torch.nn.functional.pad(liegg.scaling(3), (0, 1, 0, 1))
    yield "sim(3)", torch.cat([liegg.se(3), larger])
    yield "R ⋉ R³", torch.cat([larger, liegg.translation(3)])
    yield (
        "saff(2)",
        torch.cat(
            [torch.nn.functional.pad(liegg.algebra.sl(2), (0, 1, 0, 1)), liegg.translation(2)]
        ),
    )


def _solvable() -> Iterator[tuple[str, Tensor]]:
    yield from ((f"scaling({n})", liegg.scaling(n)) for n in range(2, 11))
    yield from ((f"diagonal({n})", liegg.algebra.diagonal(n)) for n in range(2, 11))
    yield from ((f"shear({n})", liegg.algebra.shear(n)) for n in range(4, 9))
    yield from ((f"heis({d})", liegg.algebra.heis(d)) for d in range(3, 20, 2))


def _sums() -> Iterator[tuple[str, Tensor]]:
    still = torch.zeros(0, 2, 2, dtype=torch.float64)
    yield "so(3)", liegg.algebra.direct_sum(liegg.so(3), still)
    yield "so(2)", liegg.algebra.direct_sum(liegg.so(2), still)
    yield "so(3) ⊕ so(3)", liegg.algebra.direct_sum(liegg.so(3), liegg.so(3))
    yield "so(3) ⊕ so(2)", liegg.algebra.direct_sum(liegg.so(3), liegg.so(2))
    yield "so(3) ⊕ su(2)", liegg.algebra.direct_sum(liegg.algebra.su(2), liegg.so(3))
    yield "so(1,3) ⊕ so(3)", liegg.algebra.direct_sum(liegg.so(1, 3), liegg.so(3))
    yield "sl(2,R) ⊕ so(2)", liegg.algebra.direct_sum(liegg.algebra.sl(2), liegg.so(2))
    yield "so(3) ⊕ R", liegg.algebra.direct_sum(liegg.so(3), liegg.scaling(1))
    yield "so(3) ⊕ R", torch.cat([liegg.so(3), liegg.scaling(3)])
    yield "sp(4,R) ⊕ R", torch.cat([liegg.algebra.sp(4), liegg.scaling(4)])
    yield "so(3)", torch.stack([torch.block_diag(a, a) for a in liegg.so(3)])
    yield "sl(2,R)", torch.stack([torch.block_diag(a, a, a) for a in liegg.algebra.sl(2)])


def normal(*shape: int, generator: torch.Generator) -> Tensor:
    """Gaussian numbers, float64."""
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def hidden(
    generators: Tensor, level: dict, generator: torch.Generator, *, worst: bool = False
) -> Tensor:
    """The algebra in a random basis and random coordinates, of any condition number or of the largest, with noise."""
    d, n, _ = generators.shape
    condition = level["condition"] ** (1.0 if worst else float(torch.rand(1, generator=generator)))
    places = torch.rand(n, generator=generator, dtype=torch.float64)
    places = (places - places.min()) / (places.max() - places.min()) if n > 1 else places
    turns = [torch.linalg.qr(normal(n, n, generator=generator))[0] for _ in range(2)]
    frame = turns[0] @ torch.diag(condition**places) @ turns[1]
    inside = frame @ generators @ torch.linalg.inv(frame)
    if not level["noise"]:
        return torch.einsum("ab,bij->aij", normal(d, d, generator=generator), inside)
    rows = torch.linalg.qr(inside.flatten(1).mT)[0].mT
    rows = torch.linalg.qr(normal(d, d, generator=generator))[0] @ rows
    return (rows + level["noise"] / n * normal(*rows.shape, generator=generator)).unflatten(
        1, (n, n)
    )


def trials(level: dict, rounds: int, seed: int, largest: int = LARGEST) -> dict:
    """Names given over some rounds of all algebras; in every other round the coordinates are as stretched as they may be."""
    generator = torch.Generator().manual_seed(seed)
    algebras = list(everything(largest))
    failures, longest = [], (0.0, "")
    for turn in range(rounds):
        for name, generators in algebras:
            given = hidden(generators, level, generator, worst=turn % 2 == 1)
            start = time.perf_counter()
            found = liegg.identify(given, uncertainty=level["noise"] if level["stated"] else None)
            longest = max(longest, (time.perf_counter() - start, name))
            if found.name != name:
                failures.append(
                    {
                        "algebra": name,
                        "named": found.name,
                        "confident": found.confident,
                        "margin": min(found.margin, 1e9),
                        "same_algebra": found.name in other_names(name) or name in found.aliases,
                    }
                )
    count = rounds * len(algebras)
    return level | {
        "algebras": len(algebras),
        "trials": count,
        "right": count - len(failures),
        "unknown": sum(one["named"] == "unknown" for one in failures),
        "same_algebra": sum(one["same_algebra"] for one in failures),
        "confident_wrong": sum(one["confident"] and not one["same_algebra"] for one in failures),
        "failures": failures,
        "longest_s": longest[0],
        "longest_of": longest[1],
    }


def no_algebras(count: int, seed: int) -> dict:
    """Random spans that are not closed: how many get a name, with and without a stated uncertainty."""
    generator = torch.Generator().manual_seed(seed)
    named, tried = [], 0
    sizes = [(n, d) for n in (2, 3, 4, 5, 6) for d in (2, 3, 4, 6, 10, 15) if d < n * n]
    while tried < count:
        for n, d in sizes:
            given = normal(d, n, n, generator=generator)
            uncertainty = (None, 1e-3, 1e-2)[tried % 3]
            if closure(given).noise < 0.02:
                continue  # by chance as good as closed
            tried += 1
            found = liegg.identify(given, uncertainty=uncertainty)
            if found.known:
                named.append(
                    {
                        "n": n,
                        "d": d,
                        "named": found.name,
                        "uncertainty": uncertainty,
                        "confident": found.confident,
                    }
                )
    return {"trials": tried, "named": named}


def trained(seeds: int, samples: int) -> list[dict]:
    """Networks of the paper's O(5) study: what they are said to have learned."""
    found = []
    for seed in range(1, seeds + 1):
        network, inputs, _ = o5.train(samples, seed)
        sym = liegg.discover(network, inputs, liegg.Linear(5, copies=2))
        named = sym.identification
        found.append(
            {
                "seed": seed,
                "name": named.name,
                "confident": named.confident,
                "angle": named.angle,
                "uncertainty": named.uncertainty,
                "allowed": sym.decision.uncertainty,
                "angle_to_so5": float(sym.angles(liegg.so(5)).max()),
            }
        )
    return found


def cost(repeats: int) -> dict:
    """Seconds for a 28-dimensional algebra of 8 × 8 matrices, so(8) in random coordinates: the name, and the whole account."""
    generator = torch.Generator().manual_seed(0)
    given = [hidden(liegg.so(8), LEVELS[0], generator) for _ in range(repeats)]
    start = time.perf_counter()
    found = [liegg.identify(one) for one in given]
    middle = time.perf_counter()
    accounts = [(str(one), one.invariants) for one in found]
    return {
        "name_s": (middle - start) / repeats,
        "account_s": (time.perf_counter() - middle) / len(accounts),
    }


def main() -> None:
    """Run the trials and store them."""
    parser = options(
        "Names of algebras in random trials.",
        "bench-identify.json",
        quick="one round of two levels up to dimension 6, few spans; for the tests",
    )
    args = parser.parse_args()
    begin = time.perf_counter()
    cost(1)  # warm
    levels, rounds, largest = ([LEVELS[0], LEVELS[2]], 1, 6) if args.quick else (LEVELS, 5, LARGEST)
    results: dict[str, object] = {
        "levels": [trials(level, rounds, seed, largest) for seed, level in enumerate(levels)],
        "no_algebras": no_algebras(60 if args.quick else 1000, 100),
        "o5": trained(1, 1000) if args.quick else trained(8, o5.MAIN),
        "cost": cost(1 if args.quick else 5),
    }
    print(json.dumps(results, indent=1))
    store(results, args.out, "python benchmarks/identify.py", begin=begin)


if __name__ == "__main__":
    main()
