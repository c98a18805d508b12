"""What an ensemble is trained for: the loss of every network on its chosen samples, and how good it is after an epoch."""

import zlib
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liegg._utils.errors import ArgumentError
from liegg.studies.ensemble.members import Member
from liegg.studies.ensemble.stack import Stack


@runtime_checkable
class Problem(Protocol):
    """What the trainer asks of a problem. Tensors that a loss reads stay where they are, so that a CUDA graph finds them again."""

    def check(self, members: Sequence[Member], patience: int | None) -> None:
        """Raise `ArgumentError` unless these networks can be trained for it."""
        ...

    def begin(self, epoch: int) -> None:
        """Make the samples of an epoch, counted from 1, ready; called before its first step."""
        ...

    def losses(self, stack: Stack, chosen: Int[Tensor, "s b"]) -> Float[Tensor, "s b"]:
        """Loss of every network on each of its chosen samples."""
        ...

    def scores(self, stack: Stack) -> Float[Tensor, " s"] | None:
        """How good every network is now, higher being better; None if the last epoch is to be kept."""
        ...

    def fingerprint(self) -> int:
        """Number that changes with the data, by which a stopped run knows its own."""
        ...


class Classification:
    """The same images for all networks, by cross-entropy; the epoch of the highest validation accuracy is kept.

    Args:
        images: flat training images of an epoch, on the device of the networks; the same each time, or turned anew.
        labels: class of each.
        validation: flat images and labels that decide which epoch is best.
    """

    def __init__(
        self,
        images: Callable[[int], Float[Tensor, "n i"]],
        labels: Int[Tensor, " n"],
        validation: tuple[Float[Tensor, "m i"], Int[Tensor, " m"]],
    ) -> None:
        self._images, self._labels, self._validation = images, labels, validation
        self._shown: Tensor | None = None
        self._last: Tensor | None = None

    def check(self, members: Sequence[Member], patience: int | None) -> None:
        """All networks see the same images in the same epochs."""
        if {member.samples for member in members} != {len(self._labels)} or len(
            {member.epochs for member in members}
        ) > 1:
            samples, epochs = (
                sorted({getattr(member, name) for member in members})
                for name in ("samples", "epochs")
            )
            raise ArgumentError(
                f"networks with {samples} samples and {epochs} epochs: expected {len(self._labels)} samples, as there are images, "
                "and the same number of epochs for all."
            )

    def begin(self, epoch: int) -> None:
        """Show the images of this epoch, always at the same place in memory, which is nobody else's."""
        images = self._images(epoch)
        if self._shown is None:
            self._shown = images.clone()
        elif images is not self._last:
            self._shown.copy_(images)
        self._last = images

    def losses(self, stack: Stack, chosen: Int[Tensor, "s b"]) -> Float[Tensor, "s b"]:
        """Cross-entropy of every network on its chosen images."""
        shown = self._shown
        if shown is None:
            raise RuntimeError("no epoch was begun")
        logits = stack(shown.index_select(0, chosen.flatten()).unflatten(0, chosen.shape))
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), self._labels[chosen].flatten(), reduction="none"
        ).view_as(chosen)

    def scores(self, stack: Stack) -> Float[Tensor, " s"]:
        """Accuracy of every network on the validation images."""
        return accuracies(stack, *self._validation)

    def fingerprint(self) -> int:
        """Checksum of the first epoch's images, the labels and the validation images."""
        return checksum([self._images(1), self._labels, *self._validation])


class Regression:
    """Every network its own samples, by squared error; the last epoch is kept.

    Args:
        inputs: samples of each network.
        targets: one number per sample.
        device: where the networks are.
    """

    def __init__(
        self,
        inputs: Sequence[Float[Tensor, "_ i"]],
        targets: Sequence[Float[Tensor, " _"]],
        device: torch.device | str = "cpu",
    ) -> None:
        self._counts = [len(target) for target in targets]
        longest = max(self._counts)
        self._inputs = torch.stack([_padded(one, longest) for one in inputs]).to(device)
        self._targets = torch.stack([_padded(one, longest) for one in targets]).to(device)
        self._which = torch.arange(len(inputs), device=device)[:, None]

    def check(self, members: Sequence[Member], patience: int | None) -> None:
        """One network to a set of samples, and no score to wait for."""
        counts = [member.samples for member in members]
        if counts != self._counts or patience is not None:
            raise ArgumentError(
                f"networks with {counts} samples and patience {patience}: expected {self._counts} samples, and no patience, since "
                "nothing is scored."
            )

    def begin(self, epoch: int) -> None:
        """Nothing: the samples are always the same."""

    def losses(self, stack: Stack, chosen: Int[Tensor, "s b"]) -> Float[Tensor, "s b"]:
        """Squared error of every network on its chosen samples."""
        return (
            stack(self._inputs[self._which, chosen])[..., 0] - self._targets[self._which, chosen]
        ).square()

    def scores(self, stack: Stack) -> None:
        """None: the last epoch is kept."""

    def fingerprint(self) -> int:
        """Checksum of all samples and targets."""
        return checksum([self._inputs, self._targets])


def accuracies(
    stack: Stack, images: Float[Tensor, "m i"], labels: Int[Tensor, " m"], *, numbers: int = 2**26
) -> Float[Tensor, " s"]:
    """Share of images that each network puts into the right class; at most about `numbers` activations are held at once."""
    right = torch.zeros(len(stack), device=images.device)
    batch_size = max(1, numbers // (len(stack) * max(weight.shape[2] for weight in stack.weights)))
    for x, y in zip(images.split(batch_size), labels.split(batch_size), strict=True):
        right = right + (stack(x.expand(len(stack), *x.shape)).argmax(2) == y).sum(1)
    return right / len(labels)


def checksum(tensors: Sequence[Tensor]) -> int:
    """CRC-32 of the bytes of some tensors."""
    total = 0
    for tensor in tensors:
        total = zlib.crc32(
            tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data, total
        )
    return total


def _padded(tensor: Float[Tensor, "n ..."], length: int) -> Float[Tensor, "m ..."]:
    return torch.cat([tensor, tensor.new_zeros(length - len(tensor), *tensor.shape[1:])])
