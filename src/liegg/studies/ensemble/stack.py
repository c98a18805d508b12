"""Perceptrons side by side: one batched matrix per layer, narrow networks padded with zeros that stay zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of `s` perceptrons of one depth, with Swish between the layers.

    A hidden unit that is only padding has no weights in or out and no bias. Its output is swish(0) = 0, so the gradient of each of
    these numbers is exactly zero, and an optimiser without weight decay leaves them zero.

    Attributes:
        weights: one `[s, inputs, outputs]` tensor per layer.
        biases: one `[s, 1, outputs]` tensor per layer.
        sizes: widths of every network without its padding.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    sizes: tuple[tuple[int, ...], ...]

    def __call__(self, x: Float[Tensor, "s b i"]) -> Float[Tensor, "s b o"]:
        """Outputs of every network on its own batch."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            if layer < len(self.weights) - 1:
                x = nn.functional.silu(x)
        return x

    def __len__(self) -> int:
        """Number of networks."""
        return len(self.sizes)

    @property
    def leaves(self) -> tuple[Tensor, ...]:
        """Weights, then biases: all that is trained."""
        return self.weights + self.biases

    def with_leaves(self, leaves: Sequence[Tensor]) -> "Stack":
        """The same networks with other weights, in the order of `leaves`."""
        layers = len(self.weights)
        return Stack(tuple(leaves[:layers]), tuple(leaves[layers:]), self.sizes)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> "Stack":
        """The same weights on another device or in another precision."""
        return self.with_leaves([leaf.to(device=device, dtype=dtype) for leaf in self.leaves])

    def single(self, index: int) -> "Stack":
        """One of the networks as a stack, with its padding."""
        leaves = [leaf[index : index + 1] for leaf in self.leaves]
        return Stack(
            tuple(leaves[: len(self.weights)]),
            tuple(leaves[len(self.weights) :]),
            self.sizes[index : index + 1],
        )

    def replaced(self, other: "Stack", layers: int) -> "Stack":
        """The same networks with the first layers of others, whose widths must be the same there."""
        mine = [(self.weights, other.weights), (self.biases, other.biases)]
        leaves = [leaf for own, theirs in mine for leaf in (*theirs[:layers], *own[layers:])]
        return self.with_leaves(leaves)

    def network(self, index: int) -> nn.Sequential:
        """One of the networks as a module of its own, without padding, on the stack's device."""
        layers: list[nn.Module] = []
        for (inputs, outputs), weight, bias in zip(
            pairwise(self.sizes[index]), self.weights, self.biases, strict=True
        ):
            linear = nn.Linear(inputs, outputs, dtype=weight.dtype, device=weight.device)
            with torch.no_grad():
                linear.weight.copy_(weight[index, :inputs, :outputs].T)
                linear.bias.copy_(bias[index, 0, :outputs])
            layers += [linear, nn.SiLU()]
        return nn.Sequential(*layers[:-1])


def initialise(sizes: Sequence[Sequence[int]], generators: Sequence[torch.Generator]) -> Stack:
    """Networks of one depth, each drawn from its own generator as `nn.Linear` draws: uniform in ±1/√inputs.

    Args:
        sizes: widths of each network, from input to output; the hidden ones may differ.
        generators: one for each network, on the CPU; a network's weights do not depend on the others.
    """
    widest = [max(widths) for widths in zip(*sizes, strict=True)]
    weights = [torch.zeros(len(sizes), *pair) for pair in pairwise(widest)]
    biases = [torch.zeros(len(sizes), 1, outputs) for outputs in widest[1:]]
    for index, (widths, generator) in enumerate(zip(sizes, generators, strict=True)):
        for (inputs, outputs), weight, bias in zip(pairwise(widths), weights, biases, strict=True):
            bound = inputs**-0.5
            weight[index, :inputs, :outputs].uniform_(-bound, bound, generator=generator)
            bias[index, 0, :outputs].uniform_(-bound, bound, generator=generator)
    return Stack(tuple(weights), tuple(biases), tuple(tuple(widths) for widths in sizes))
