"""The networks of an ensemble, and their groups that are trained together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Member:
    """One network to be trained.

    Attributes:
        sizes: widths of its layers, from input to output.
        seed: seed of weights and order.
        samples: size of its training set.
        epochs: passes over it.
    """

    sizes: tuple[int, ...]
    seed: int
    samples: int
    epochs: int

    @property
    def parameters(self) -> int:
        """Number of weights and biases."""
        return parameters(self.sizes)


def parameters(sizes: Sequence[int]) -> int:
    """Number of parameters of a perceptron.

    >>> parameters((784, 47, 47, 10)), parameters((784, *[116] * 6, 10))
    (39631, 160090)
    """
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes))


def width_for(count: int, hidden_layers: int, inputs: int, outputs: int) -> int:
    """Hidden width for which the number of parameters of a perceptron is nearest to `count`.

    Args:
        count: requested number of parameters.
        hidden_layers: layers of hidden units, all of the same width.
        inputs: width of the input.
        outputs: width of the output.

    Examples:
        The paper's shallow and deep networks:

        >>> width_for(40_000, 2, 784, 10), width_for(160_000, 6, 784, 10)
        (47, 116)
    """
    # The number of parameters is quadratic in the width; its positive root is the larger one.
    coefficients = [hidden_layers - 1, inputs + outputs + hidden_layers, outputs - count]
    exact = int(np.roots(coefficients).max())
    return min(
        (max(1, exact), exact + 1),
        key=lambda width: abs(parameters((inputs, *[width] * hidden_layers, outputs)) - count),
    )


def groups(
    members: Sequence[Member], *, overhead: int, memory_limit: int, batch_size: int
) -> list[list[int]]:
    """Split networks of one depth into groups that are trained together, in the shortest time.

    A group costs as much as its networks padded to the widest one, plus a fixed overhead for its
    launches. Dynamic programming finds the best split of the networks in the order of their widths.

    Args:
        members: the networks.
        overhead: fixed cost of a group, as the number of parameters with the same cost.
        memory_limit: most floating-point numbers that the training of a group may hold; a single
            network must not exceed it.
        batch_size: samples per step.

    Returns:
        Indices of the members, group by group; every member is in one group.
    """
    order = sorted(
        range(len(members)),
        key=lambda i: (_shape(members[i]), members[i].sizes, members[i].seed, i),
    )
    # For each k: the cost of the first k networks, and where their last group begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(order) + 1):
        last = members[order[end - 1]]
        widest = list(last.sizes)
        choices = []
        for begin in range(end - 1, -1, -1):
            member = members[order[begin]]
            if _shape(member) != _shape(last):
                break
            widest = [max(pair) for pair in zip(widest, member.sizes, strict=True)]
            if memory(widest, end - begin, batch_size) > memory_limit:
                break
            choices.append((best[begin][0] + overhead + (end - begin) * parameters(widest), begin))
        best.append(min(choices))
    split: list[list[int]] = []
    end = len(order)
    while end:
        begin = best[end][1]
        split.insert(0, order[begin:end])
        end = begin
    return split


def memory(widest: Sequence[int], count: int, batch_size: int) -> int:
    """Floating-point numbers that the training of `count` networks of these widths holds.

    Weights, gradients, Adam's two moments, the best epoch and its replacement; the batch and the
    activations.
    """
    return count * (6 * parameters(widest) + batch_size * (widest[0] + 4 * sum(widest[1:])))


def _shape(member: Member) -> tuple[int, int, int]:
    """Depth, inputs and outputs, which the networks of a group share."""
    return len(member.sizes), member.sizes[0], member.sizes[-1]
