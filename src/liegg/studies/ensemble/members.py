"""The networks of an ensemble as a list of what each is, and how they are put into groups that are trained together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from liegg._utils.errors import ArgumentError


@dataclass(frozen=True)
class Member:
    """One network to be trained.

    Attributes:
        sizes: widths of its layers, from input to output.
        seed: decides weights and order.
        samples: size of its training set.
        epochs: passes over it.
    """

    sizes: tuple[int, ...]
    seed: int
    samples: int
    epochs: int

    def __post_init__(self) -> None:
        if (
            len(self.sizes) < 2
            or min(self.sizes) < 1
            or self.seed < 0
            or self.samples < 1
            or self.epochs < 1
        ):
            raise ArgumentError(
                f"{self}: expected the widths of an input and an output at least, a seed of 0 or more, and at least one unit to a "
                "layer, one sample and one epoch."
            )

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
    """Hidden width that brings a perceptron nearest to a number of parameters.

    Args:
        count: parameters asked for.
        hidden_layers: layers of hidden units, all of the same width.
        inputs: width of the input.
        outputs: width of the output.

    Raises:
        ArgumentError: not even one hidden unit fits, or there is no hidden layer.

    Examples:
        The paper's shallow and deep networks:

        >>> width_for(40_000, 2, 784, 10), width_for(160_000, 6, 784, 10)
        (47, 116)
    """
    if hidden_layers < 1:
        raise ArgumentError(f"hidden_layers={hidden_layers}: expected 1 or more.")
    least = parameters((inputs, *[1] * hidden_layers, outputs))
    if count < least:
        raise ArgumentError(
            f"{count:,} parameters are too few for a perceptron from {inputs} inputs to {outputs} outputs: with {hidden_layers} "
            f"hidden layer{'s' * (hidden_layers > 1)} of a single unit it has {least:,}. Ask for at least that many."
        )
    square, linear = hidden_layers - 1, inputs + 1 + outputs + hidden_layers - 1
    exact = (outputs - count) / -linear
    if square:
        exact = (-linear + math.sqrt(linear**2 + 4 * square * (count - outputs))) / (2 * square)
    near = (max(1, math.floor(exact)), math.ceil(exact))
    return min(
        near, key=lambda width: abs(parameters((inputs, *[width] * hidden_layers, outputs)) - count)
    )


def groups(
    members: Sequence[Member], *, overhead: int, numbers: int, batch_size: int
) -> list[list[int]]:
    """Split networks into groups of one depth that are trained together, so that all of them are done soonest.

    A group costs as much as its networks would if all were padded to the widest, and something besides for its launches. So few
    groups waste arithmetic and many waste launches; the best split of the networks in the order of their widths is taken.

    Args:
        members: the networks.
        overhead: what a group costs besides, as a number of parameters whose arithmetic takes as long.
        numbers: most floating-point numbers that the training of a group may hold.
        batch_size: samples to a step.

    Returns:
        Indices of the members, group by group; every member is in one group.

    Raises:
        ArgumentError: a network is too large to be trained alone within `numbers`.
    """
    order = sorted(
        range(len(members)),
        key=lambda i: (_shape(members[i]), members[i].sizes, members[i].seed, i),
    )
    best: list[tuple[float, int]] = [
        (0.0, 0)
    ]  # cost of the first so many networks, and where their last group begins
    for end in range(1, len(order) + 1):
        widest = list(members[order[end - 1]].sizes)
        choices = []
        for begin in range(end - 1, -1, -1):
            one = members[order[begin]]
            if _shape(one) != _shape(members[order[end - 1]]):
                break
            widest = [max(pair) for pair in zip(widest, one.sizes, strict=True)]
            if memory(widest, end - begin, batch_size) > numbers:
                break
            choices.append((best[begin][0] + overhead + (end - begin) * parameters(widest), begin))
        if not choices:
            raise ArgumentError(
                f"a network with widths {tuple(widest)} needs {memory(widest, 1, batch_size):,} numbers in training with batches "
                f"of {batch_size}; {numbers:,} are allowed. Take a narrower one or smaller batches."
            )
        best.append(min(choices))
    found: list[list[int]] = []
    end = len(order)
    while end:
        begin = best[end][1]
        found.insert(0, order[begin:end])
        end = begin
    return found


def memory(widest: Sequence[int], count: int, batch_size: int) -> int:
    """Numbers that training so many networks of these widths holds.

    That is weights, gradients, Adam's two moments, the best epoch and what it is replaced by; the batch and the activations.
    """
    return count * (6 * parameters(widest) + batch_size * (widest[0] + 4 * sum(widest[1:])))


def _shape(member: Member) -> tuple[int, int, int]:
    """What networks must have in common to share a group: depth, inputs, outputs."""
    return len(member.sizes), member.sizes[0], member.sizes[-1]
