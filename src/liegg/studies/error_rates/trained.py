"""Briefly trained networks: on functions without symmetry, and on the paper's O(5)-invariant one."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Affine, Linear
from liegg.algebra.catalog import so
from liegg.studies import ensemble, o5
from liegg.studies.error_rates.asymmetric import polynomial
from liegg.studies.error_rates.cases import Case, normal
from liegg.studies.error_rates.judgement import judge

SCHEDULE = ensemble.Schedule(batch_size=100, rate=3e-3)
SAMPLES, EPOCHS = 1000, 40
SHAPES = ((2, 1), (3, 1), (2, 2), (5, 1), (3, 2))
"""Dimension of a vector, and vectors per sample."""


def members(count: int, seed: int = 0) -> list[ensemble.Member]:
    """Networks of two hidden layers with inputs of the `SHAPES` in turn, for a seed of the series."""
    shapes = [SHAPES[index % len(SHAPES)] for index in range(count)]
    return [
        ensemble.Member((n * copies, 32, 32, 1), 100_000 * seed + index, SAMPLES, EPOCHS)
        for index, (n, copies) in enumerate(shapes)
    ]


def task(member: ensemble.Member) -> tuple[Float[Tensor, "n x"], Float[Tensor, " n"]]:
    """Samples and targets of a network: a random cubic polynomial, bounded by the tanh function."""
    generator = torch.Generator().manual_seed(800_000 + member.seed)
    x = normal(member.samples, member.sizes[0], generator)
    y = 2 * torch.tanh(polynomial(3, member.sizes[0], 1, generator)(x)[:, 0])
    return x.float(), y.float()


def asymmetric_networks(
    count: int, how: ensemble.Work, *, seed: int = 0
) -> list[dict[str, Any]] | None:
    """Train networks on functions without symmetry and judge each; None but in the first process."""
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

    return ensemble.work(networks, problem, describe, SCHEDULE, how.part("asymmetric"))


def rotation_networks(
    sizes: tuple[int, ...], seeds: tuple[int, ...], how: ensemble.Work
) -> list[dict[str, Any]] | None:
    """Train the networks of the O(5) study and judge each; None but in the first process."""

    def describe(member: ensemble.Member, network: nn.Module) -> dict[str, Any]:
        inputs = o5.samples_of(member).to(how.device)
        case = Case("trained", "O(5)", network, inputs, Linear(5, copies=2), so(5), 1)
        return judge(case) | {"seed": member.seed}

    return o5.train_all(o5.members(sizes, seeds), describe, how.part("o5"))
