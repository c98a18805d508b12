"""Stacked perceptrons: one batched matrix per layer; narrow networks are padded with zeros."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of `s` perceptrons of one depth, with Swish between the layers.

    All weights and biases of a padded hidden unit are zero. Its output is swish(0) = 0, so their
    gradients are exactly zero, and an optimiser without weight decay leaves them zero.

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
        """All trainable tensors: weights, then biases."""
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
        one = slice(index, index + 1)
        weights, biases = (tuple(w[one] for w in part) for part in (self.weights, self.biases))
        return Stack(weights, biases, self.sizes[one])

    def replaced(self, other: "Stack", layers: int) -> "Stack":
        """The same networks with the first layers of others, whose widths must be the same there."""
        weights = other.weights[:layers] + self.weights[layers:]
        return Stack(weights, other.biases[:layers] + self.biases[layers:], self.sizes)

    def network(self, index: int) -> nn.Sequential:
        """One of the networks as a separate module, without padding, on the stack's device."""
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


def initialise(sizes: Sequence[Sequence[int]], seeds: Sequence[int]) -> Stack:
    """Initialise networks of one depth as `nn.Linear` does: uniform in ±1/√inputs.

    Args:
        sizes: widths of each network, from input to output; the hidden ones may differ.
        seeds: one per network; its weights do not depend on the others or on the device.
    """
    widest = [max(widths) for widths in zip(*sizes, strict=True)]
    weights = [torch.zeros(len(sizes), *pair) for pair in pairwise(widest)]
    biases = [torch.zeros(len(sizes), 1, outputs) for outputs in widest[1:]]
    for index, (widths, seed) in enumerate(zip(sizes, seeds, strict=True)):
        generator = torch.Generator().manual_seed(seed)
        for (inputs, outputs), weight, bias in zip(pairwise(widths), weights, biases, strict=True):
            bound = inputs**-0.5
            weight[index, :inputs, :outputs].uniform_(-bound, bound, generator=generator)
            bias[index, 0, :outputs].uniform_(-bound, bound, generator=generator)
    return Stack(tuple(weights), tuple(biases), tuple(tuple(widths) for widths in sizes))
