"""Working on a GPU without waiting for it: constants sent ahead, answers read a step later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from liegg._utils.errors import DeviceMemoryError

Found = TypeVar("Found")


def sent(
    value: Num[Tensor, "..."], device: torch.device, dtype: torch.dtype | None = None
) -> Num[Tensor, "..."]:
    """A tensor of the CPU on a device. To a GPU it goes by pinned memory, so that nobody waits until the work before is done.

    >>> sent(torch.ones(2), torch.device("cpu"), torch.float64)
    tensor([1., 1.], dtype=torch.float64)
    """
    value = value.to(dtype=dtype)
    if device.type == "cuda" and value.device.type == "cpu":
        return value.pin_memory().to(device, non_blocking=True)
    return value.to(device)


def fitted(work: Callable[[Float[Tensor, "_ ..."]], Found], x: Float[Tensor, "b ..."]) -> Found:
    """What is done with some samples, or with fewer of them where so many do not fit into memory.

    >>> fitted(len, torch.zeros(5, 2))
    5
    """
    while True:
        try:
            return work(x)
        except torch.OutOfMemoryError:
            if len(x) < 2:
                raise
        x = x[: (len(x) + 1) // 2]  # here nothing holds any more what was made on the way
        torch.cuda.empty_cache()


@contextmanager
def memory_told() -> Iterator[None]:
    """Raise `DeviceMemoryError` with advice where the memory of the device is full, and fewer samples at once did not help."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceMemoryError(
            f"the memory of the device is full ({str(error).splitlines()[0]}). Pass a smaller batch_size=, free what else is on "
            "the device, or ask for less: restrict the action, controls=False, or outputs='sum'."
        ) from error


class Later:
    """A question to the device whose answer is looked at when the next one is put: its work is then queued, and it never idles.

    On a CPU the answer is there at once, and is looked at at once.
    """

    def __init__(self) -> None:
        self._asked: tuple[Bool[Tensor, ""], torch.cuda.Event | None, Callable[[], None]] | None = (
            None
        )

    def put(self, well: Bool[Tensor, ""], trouble: Callable[[], None]) -> None:
        """Ask whether all is well; look at the answer to the question before.

        Args:
            well: what the device will say.
            trouble: called if it says no; raises, if on a closer look something is wrong.
        """
        self.settle()
        if well.device.type == "cuda":
            here = torch.empty((), dtype=torch.bool, pin_memory=True)
            here.copy_(well, non_blocking=True)
            done = torch.cuda.Event()
            done.record()
            self._asked = here, done, trouble
        else:
            self._asked = well, None, trouble
            self.settle()

    def settle(self) -> None:
        """Look at the answer that is still out."""
        if self._asked is None:
            return
        (well, done, trouble), self._asked = self._asked, None
        if done is not None:
            done.synchronize()
        if not bool(well):
            trouble()
