"""Problems for which an ensemble is trained: losses on chosen samples, and a score per epoch."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liegg._utils.checks import checksum
from liegg.studies.ensemble.stack import Stack


class Classification:
    """The same images for all networks, cross-entropy; keeps the epoch of best validation accuracy.

    Args:
        images: returns the flat training images of an epoch, on the device of the networks.
        labels: their classes.
        validation: flat images and labels that decide which epoch is best.
    """

    def __init__(
        self,
        images: Callable[[int], Float[Tensor, "n i"]],
        labels: Int[Tensor, " n"],
        validation: tuple[Float[Tensor, "m i"], Int[Tensor, " m"]],
    ) -> None:
        self._images, self._labels, self._validation = images, labels, validation
        self._buffer: Tensor | None = None
        self._last: Tensor | None = None

    def begin(self, epoch: int) -> None:
        """Copy the images of an epoch into a fixed buffer, where a CUDA graph finds them again."""
        images = self._images(epoch)
        if self._buffer is None:
            self._buffer = images.clone()
        elif images is not self._last:
            self._buffer.copy_(images)
        self._last = images

    def losses(self, stack: Stack, chosen: Int[Tensor, "s b"]) -> Float[Tensor, "s b"]:
        """Cross-entropy of every network on its chosen images."""
        if self._buffer is None:
            raise RuntimeError("begin(epoch) was not called")
        images = self._buffer.index_select(0, chosen.flatten()).unflatten(0, chosen.shape)
        logits = stack(images).flatten(0, 1)
        labels = self._labels[chosen].flatten()
        return nn.functional.cross_entropy(logits, labels, reduction="none").view_as(chosen)

    def scores(self, stack: Stack) -> Float[Tensor, " s"]:
        """Accuracy of every network on the validation images."""
        return accuracies(stack, *self._validation)

    def fingerprint(self) -> str:
        """Checksum of the first epoch's images, the labels and the validation images."""
        return checksum(self._images(1), self._labels, *self._validation)


class Regression:
    """Individual samples for every network, squared error; keeps the last epoch.

    Args:
        inputs: samples of each network.
        targets: one number per sample.
        device: device of the networks.
    """

    def __init__(
        self,
        inputs: Sequence[Float[Tensor, "_ i"]],
        targets: Sequence[Float[Tensor, " _"]],
        device: torch.device | str = "cpu",
    ) -> None:
        self._inputs, self._targets = (
            nn.utils.rnn.pad_sequence(list(tensors), batch_first=True).to(device)
            for tensors in (inputs, targets)
        )
        self._networks = torch.arange(len(inputs), device=device)[:, None]

    def begin(self, epoch: int) -> None:
        """Do nothing: the samples are the same in every epoch."""

    def losses(self, stack: Stack, chosen: Int[Tensor, "s b"]) -> Float[Tensor, "s b"]:
        """Squared error of every network on its chosen samples."""
        outputs = stack(self._inputs[self._networks, chosen])[..., 0]
        return (outputs - self._targets[self._networks, chosen]).square()

    def scores(self, stack: Stack) -> None:
        """None: the last epoch is kept."""

    def fingerprint(self) -> str:
        """Checksum of all samples and targets."""
        return checksum(self._inputs, self._targets)


Problem = Classification | Regression


def accuracies(
    stack: Stack, images: Float[Tensor, "m i"], labels: Int[Tensor, " m"], *, numbers: int = 2**26
) -> Float[Tensor, " s"]:
    """Accuracy of each network; holds at most about `numbers` activations at once."""
    right = torch.zeros(len(stack), device=images.device)
    batch_size = max(1, numbers // (len(stack) * max(weight.shape[2] for weight in stack.weights)))
    for x, y in zip(images.split(batch_size), labels.split(batch_size), strict=True):
        right = right + (stack(x.expand(len(stack), *x.shape)).argmax(2) == y).sum(1)
    return right / len(labels)
