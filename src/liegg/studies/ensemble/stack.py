"""Many multi-layer perceptrons of one shape, trained at once as batched matrix products."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of `s` perceptrons side by side.

    Attributes:
        weights: one `[s, inputs, outputs]` tensor per layer.
        biases: one `[s, 1, outputs]` tensor per layer.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def __call__(self, x: Float[Tensor, "s b i"]) -> Float[Tensor, "s b o"]:
        """Outputs of every network on its own batch."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            if layer < len(self.weights) - 1:
                x = nn.functional.silu(x)
        return x

    def to(self, device: torch.device | str) -> "Stack":
        """The same weights on another device."""
        return Stack(tuple(w.to(device) for w in self.weights), tuple(b.to(device) for b in self.biases))

    def network(self, index: int) -> nn.Sequential:
        """One of the networks as a module of its own."""
        layers: list[nn.Module] = []
        for weight, bias in zip(self.weights, self.biases, strict=True):
            linear = nn.Linear(weight.shape[1], weight.shape[2])
            with torch.no_grad():
                linear.weight.copy_(weight[index].T)
                linear.bias.copy_(bias[index, 0])
            layers += [linear, nn.SiLU()]
        return nn.Sequential(*layers[:-1])


def initialise(sizes: Sequence[int], generators: Sequence[torch.Generator]) -> Stack:
    """Networks with the widths `sizes`, each drawn from its own generator as `nn.Linear` draws: uniform in ±1/√inputs."""
    weights, biases = [], []
    for inputs, outputs in pairwise(sizes):
        bound = inputs**-0.5
        weights.append(torch.stack([torch.empty(inputs, outputs).uniform_(-bound, bound, generator=g) for g in generators]))
        biases.append(torch.stack([torch.empty(1, outputs).uniform_(-bound, bound, generator=g) for g in generators]))
    return Stack(tuple(weights), tuple(biases))


def train(
    stack: Stack,
    inputs: Float[Tensor, "s n i"],
    targets: Float[Tensor, "s n"],
    generators: Sequence[torch.Generator],
    *,
    epochs: int,
    batch_size: int,
    rate: float = 1e-3,
    progress: Callable[[int], object] | None = None,
) -> Float[Tensor, " s"]:
    """Fit every network to its own data by mean squared error with Adam, in place.

    Args:
        stack: the networks; their weights are changed.
        inputs: samples of each network.
        targets: one number per sample.
        generators: each network's source of random order.
        epochs: passes over the data.
        batch_size: samples to a step.
        rate: learning rate.
        progress: called with 1 after each epoch.

    Returns:
        Final mean squared error of each network on its data.
    """
    leaves = [tensor.requires_grad_() for tensor in (*stack.weights, *stack.biases)]
    optimiser = torch.optim.Adam(leaves, lr=rate, foreach=True)
    which = torch.arange(inputs.shape[0], device=inputs.device)[:, None]
    for _ in range(epochs):
        order = torch.stack([torch.randperm(inputs.shape[1], generator=g) for g in generators]).to(inputs.device)
        for chosen in order.split(batch_size, dim=1):
            # The sum over networks keeps their gradients apart: no weight is shared.
            error = (stack(inputs[which, chosen])[..., 0] - targets[which, chosen]).square().mean(1).sum()
            optimiser.zero_grad()
            error.backward()
            optimiser.step()
        if progress is not None:
            progress(1)
    for leaf in leaves:
        leaf.requires_grad_(False)
    return (stack(inputs)[..., 0] - targets).square().mean(1)


@dataclass(frozen=True, eq=False)
class Trained:
    """Classifiers at their best epoch.

    Attributes:
        stack: weights of each network at the epoch of its highest validation accuracy, the first such.
        accuracy: that accuracy.
        epoch: that epoch, counted from 1.
    """

    stack: Stack
    accuracy: Float[Tensor, " s"]
    epoch: Int[Tensor, " s"]


def train_classifiers(
    stack: Stack,
    images: Callable[[int], Float[Tensor, "n i"]],
    labels: Int[Tensor, " n"],
    validation: tuple[Float[Tensor, "m i"], Int[Tensor, " m"]],
    generators: Sequence[torch.Generator],
    *,
    epochs: int,
    batch_size: int = 512,
    rate: float = 1e-3,
    progress: Callable[[int], object] | None = None,
) -> Trained:
    """Fit every network to the same images by cross-entropy with Adam; each in its own order, kept at its best epoch.

    Args:
        stack: the networks; their weights are changed.
        images: flat training images of an epoch, on the device of the networks; the same each time, or turned anew.
        labels: class of each image.
        validation: images and labels that decide which epoch is best.
        generators: each network's source of random order, on the CPU, so that every device sees the same order.
        epochs: passes over the data.
        batch_size: images to a step.
        rate: learning rate.
        progress: called with 1 after each epoch.
    """
    leaves = [tensor.requires_grad_() for tensor in (*stack.weights, *stack.biases)]
    optimiser = torch.optim.Adam(leaves, lr=rate, foreach=True)
    best = [leaf.detach().clone() for leaf in leaves]
    accuracy = torch.full((len(generators),), -1.0, device=leaves[0].device)
    epoch_of_best = torch.zeros(len(generators), dtype=torch.int64, device=leaves[0].device)
    for epoch in range(1, epochs + 1):
        shown = images(epoch)
        order = torch.stack([torch.randperm(len(labels), generator=g) for g in generators]).to(shown.device)
        for chosen in order.split(batch_size, dim=1):
            logits = stack(shown[chosen])
            # The sum over networks keeps their gradients apart: no weight is shared.
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels[chosen].flatten(), reduction="sum") / chosen.shape[1]
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            now = accuracies(stack, *validation)
            better = now > accuracy
            accuracy, epoch_of_best = torch.where(better, now, accuracy), torch.where(better, epoch, epoch_of_best)
            for kept, leaf in zip(best, leaves, strict=True):
                kept.copy_(torch.where(better[:, None, None], leaf, kept))
        if progress is not None:
            progress(1)
    layers = len(stack.weights)
    return Trained(Stack(tuple(best[:layers]), tuple(best[layers:])), accuracy.cpu(), epoch_of_best.cpu())


def accuracies(
    stack: Stack, images: Float[Tensor, "m i"], labels: Int[Tensor, " m"], *, batch_size: int = 4096
) -> Float[Tensor, " s"]:
    """Share of images that each network puts into the right class."""
    networks = len(stack.weights[0])
    right = torch.zeros(networks, device=images.device)
    for x, y in zip(images.split(batch_size), labels.split(batch_size), strict=True):
        right = right + (stack(x.expand(networks, *x.shape)).argmax(2) == y).sum(1)
    return right / len(labels)
