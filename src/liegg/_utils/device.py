"""Work on a GPU without waiting for it, and with less memory than a batch needs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from liegg._utils.errors import DeviceMemoryError

Result = TypeVar("Result")


def to_device(
    value: Num[Tensor, "..."], device: torch.device, dtype: torch.dtype | None = None
) -> Num[Tensor, "..."]:
    """Move a tensor to a device; from CPU to GPU by pinned memory, without waiting for the GPU.

    >>> to_device(torch.ones(2), torch.device("cpu"), torch.float64)
    tensor([1., 1.], dtype=torch.float64)
    """
    value = value.to(dtype=dtype)
    if device.type == "cuda" and value.device.type == "cpu":
        return value.pin_memory().to(device, non_blocking=True)
    return value.to(device)


def call_within_memory(
    function: Callable[[Float[Tensor, "_ ..."]], Result], x: Float[Tensor, "b ..."]
) -> Result:
    """Call a function on a batch; while the device runs out of memory, on half as many samples.

    >>> call_within_memory(len, torch.zeros(5, 2))
    5
    """
    while True:
        try:
            return function(x)
        except torch.OutOfMemoryError:
            if len(x) < 2:
                raise
        # Outside of `except`, so that the tensors of the failed call are freed.
        x = x[: (len(x) + 1) // 2]
        torch.cuda.empty_cache()


def call_in_parts(
    function: Callable[[Num[Tensor, "_ ..."]], Num[Tensor, "_ ..."]], x: Num[Tensor, "b ..."]
) -> Num[Tensor, "b ..."]:
    """Call a function on all samples of a batch; where the device runs out of memory, on one half after the other.

    >>> call_in_parts(torch.sin, torch.zeros(5, 2)).shape
    torch.Size([5, 2])
    """
    try:
        return function(x)
    except torch.OutOfMemoryError:
        if len(x) < 2:
            raise
    # Outside of `except`, so that the tensors of the failed call are freed.
    torch.cuda.empty_cache()
    return torch.cat([call_in_parts(function, half) for half in x.tensor_split(2)])


@contextmanager
def explain_out_of_memory() -> Iterator[None]:
    """Turn torch's out-of-memory error into a `DeviceMemoryError` with advice."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceMemoryError(
            f"the memory of the device is full ({str(error).splitlines()[0]}). Pass a smaller "
            "batch_size=, free other memory on the device, or reduce the problem: restrict the "
            "action, controls='none', or outputs='sum'."
        ) from error


class DeferredCheck:
    """Read a boolean from the device only when the next one is submitted.

    The next batch is then already queued, so the device never idles. On a CPU the answer is read at
    once.
    """

    def __init__(self) -> None:
        self._pending: (
            tuple[Bool[Tensor, ""], torch.cuda.Event | None, Callable[[], None]] | None
        ) = None

    def submit(self, passed: Bool[Tensor, ""], on_failure: Callable[[], None]) -> None:
        """Submit a check and read the result of the previous one.

        Args:
            passed: whether the check passed, as the device will compute it.
            on_failure: called if it did not; raises if a closer look confirms the problem.
        """
        self.resolve()
        if passed.device.type == "cuda":
            answer = torch.empty((), dtype=torch.bool, pin_memory=True)
            answer.copy_(passed, non_blocking=True)
            done = torch.cuda.Event()
            done.record()
            self._pending = answer, done, on_failure
        else:
            self._pending = passed, None, on_failure
            self.resolve()

    def resolve(self) -> None:
        """Read the result of the last check."""
        if self._pending is None:
            return
        (passed, done, on_failure), self._pending = self._pending, None
        if done is not None:
            done.synchronize()
        if not bool(passed):
            on_failure()


def layout(x: Float[Tensor, "n ..."]) -> torch.memory_format:
    """Channels last if the samples are stored so."""
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(x.ndim)
    if last is None or x.is_contiguous() or not x.is_contiguous(memory_format=last):
        return torch.preserve_format
    return last
