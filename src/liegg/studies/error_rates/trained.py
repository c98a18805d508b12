"""Networks trained briefly: on functions without any symmetry, and on the paper's function with its so(5)."""

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra.catalog import so
from liegg.studies import ensemble, o5
from liegg.studies.error_rates.asymmetric import polynomial
from liegg.studies.error_rates.cases import Case, normal
from liegg.studies.error_rates.judgement import judge

SCHEDULE = ensemble.Schedule(batch_size=100, rate=3e-3)
SAMPLES, EPOCHS = 1000, 40
SHAPES = ((2, 1), (3, 1), (2, 2), (5, 1), (3, 2))
"""Dimension of a vector, and vectors to a sample."""


def members(count: int, seed: int = 0) -> list[ensemble.Member]:
    """Networks of two hidden layers, with inputs of the `SHAPES` in turn; another seed of the series gives others."""
    shapes = [SHAPES[index % len(SHAPES)] for index in range(count)]
    first = 100_000 * seed
    return [
        ensemble.Member((n * copies, 32, 32, 1), first + index, SAMPLES, EPOCHS)
        for index, (n, copies) in enumerate(shapes)
    ]


def task(member: ensemble.Member) -> tuple[Float[Tensor, "n x"], Float[Tensor, " n"]]:
    """Samples of a network and what it is to learn: a cubic polynomial of its own, whose range the hyperbolic tangent limits."""
    generator = torch.Generator().manual_seed(800_000 + member.seed)
    x = normal(member.samples, member.sizes[0], generator)
    return x.float(), (
        2 * torch.tanh(polynomial(3, member.sizes[0], 1, generator)(x)[:, 0])
    ).float()


def asymmetric_networks(
    count: int, how: ensemble.Work, *, seed: int = 0
) -> list[dict[str, Any]] | None:
    """Train networks on functions without symmetry and judge each on its own samples; None in every process but the first."""
    chosen = members(count, seed)

    def problem(places: list[int]) -> ensemble.Regression:
        inputs, targets = zip(*(task(chosen[place]) for place in places), strict=True)
        return ensemble.Regression(inputs, targets, how.device)

    def describe(places: list[int], networks: ensemble.Trained) -> list[dict[str, Any]]:
        rows = []
        for index, place in enumerate(places):
            (n, copies), (x, _) = SHAPES[place % len(SHAPES)], task(chosen[place])
            action = (Linear, Affine)[place // len(SHAPES) % 2](n, copies=copies)
            model = networks.stack.network(index)
            none = torch.zeros(0, n, n, dtype=torch.float64)
            rows.append(
                judge(
                    Case("asymmetric", "trained network", model, x.to(how.device), action, none, 1)
                )
            )
        return rows

    return ensemble.work(chosen, problem, describe, SCHEDULE, _inside(how, "asymmetric"))


def rotation_networks(
    sizes: tuple[int, ...], seeds: tuple[int, ...], how: ensemble.Work
) -> list[dict[str, Any]] | None:
    """Train the networks of the O(5) study and count their symmetries, ten of which were to be learned; None as above."""
    chosen = o5.members(sizes, seeds)

    def describe(places: list[int], networks: ensemble.Trained) -> list[dict[str, Any]]:
        rows = []
        for index, place in enumerate(places):
            inputs, network = (
                o5.samples_of(chosen[place]).to(how.device),
                networks.stack.network(index),
            )
            row = judge(Case("trained", "O(5)", network, inputs, Linear(5, copies=2), so(5), 1))
            rows.append(row | {"seed": chosen[place].seed})
        return rows

    return ensemble.work(
        chosen,
        lambda places: o5.regression([chosen[place] for place in places], how.device),
        describe,
        o5.SCHEDULE,
        _inside(how, "o5"),
    )


def _inside(how: ensemble.Work, name: str) -> ensemble.Work:
    return replace(how, folder=None if how.folder is None else how.folder / name)
