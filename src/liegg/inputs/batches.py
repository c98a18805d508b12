"""Stage 1, data: arrays, tensors, Datasets and DataLoaders become re-iterable batches of one dtype on one device."""

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, default_collate

from liegg._utils.device import Later, sent
from liegg._utils.errors import (
    ArgumentError,
    DataError,
    DtypeError,
    EmptyDataError,
    NonFiniteError,
    OneShotDataError,
    ShapeError,
)

Data = Any
"""Tensor, numpy array, Dataset, DataLoader, or any object that gives the same batches each time it is iterated."""

BATCH_SIZE = 2048
"""Samples to a batch, at most: enough that what each batch costs beside the model's own arithmetic no longer counts."""

BATCH_ELEMENTS = 2**21
"""Numbers in a batch, at most, so that large samples come in small batches: 8 MB in float32."""

ON_GPU = 8
"""How many times larger both may be on a GPU, which is idle between small batches."""

SPREAD = 16
"""Samples, evenly spaced, by which data is told from other data with the same beginning."""


@dataclass(frozen=True)
class Batches:
    """Re-iterable batches `[b, *x]` of real floating point samples, checked as they stream by.

    Nothing is read before iteration and no more than one batch is held. On a GPU a bad number is told of one batch later than on
    a CPU, so that nobody waits for it; never for the first batch.

    Attributes:
        source: what the user gave.
        size: samples to a batch; loaders and iterables of batches keep their own; None lets the device and the first sample decide.
        dtype: floating point type to convert to; None keeps the data's own.
        device: where to put the batches; None keeps them where they are.
        start: number of the first sample to give; those before are passed over.
        stop: number of the sample to stop before; None for all.
        turn: of every so many batches give one: its number and theirs. For data that can only be read in its order.
    """

    source: Any
    size: int | None = None
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    start: int = 0
    stop: int | None = None
    turn: tuple[int, int] = (0, 1)

    @property
    def count(self) -> int | None:
        """Number of samples of the source; None where only reading it tells."""
        if isinstance(self.source, Tensor | np.ndarray):
            return len(self.source)
        return len(self.source) if _indexed(self.source) else None

    def share(self, number: int, of: int) -> "Batches":
        """The part of the samples that one of several readers takes: a range of them, or every so-manieth batch.

        Args:
            number: of the reader, from 0.
            of: how many readers there are.
        """
        if self.count is None:
            return replace(self, turn=(number, of))
        return replace(self, start=self.count * number // of, stop=self.count * (number + 1) // of)

    def prepared(self, dtype: torch.dtype | None, device: torch.device | None) -> "Batches":
        """The same for a model of this dtype on this device; of an array the size of its batches is then known."""
        array = isinstance(self.source, Tensor | np.ndarray)
        device = device or (self.source.device if isinstance(self.source, Tensor) else None)
        size = self.size or (_fitting(math.prod(self.source.shape[1:]), device) if array else None)
        return replace(self, size=size, dtype=dtype, device=device)

    def __iter__(self) -> Generator[Float[Tensor, "b ..."], None, None]:
        """Yield one batch after the other; raise a `DataError` that names the first bad sample."""
        for _, batch in self.numbered():
            yield batch

    def spread(self, most: int = SPREAD) -> list[Float[Tensor, "_ ..."]]:
        """Some samples from all over the source, evenly spaced, each as a batch; none where they cannot be asked for by number."""
        if not self.count:
            return []
        places = (
            torch.linspace(0, self.count - 1, min(most, self.count), dtype=torch.float64)
            .long()
            .unique()
            .tolist()
        )
        alone = (
            replace(self, start=place, stop=place + 1, size=1, dtype=None, device=None)
            for place in places
        )
        return [batch for one in alone for batch in one]

    def numbered(
        self, passed: Callable[[int], object] | None = None
    ) -> Generator[tuple[int, Float[Tensor, "_ ..."]], None, None]:
        """Batches, each with the number of its first sample in the source.

        Args:
            passed: called at the end with the number of the sample that would come next.
        """
        whole, late = self.count is None, Later()
        first, shape, given = 0 if whole else self.start, None, False
        with _loader_generators_kept(self.source):
            for turn, raw in enumerate(
                _pieces(_ranged(self.source, self.start, self.stop), self.size, self.device)
            ):
                batch = _as_tensor(_inputs(raw), first)
                if batch.shape[0] == 0:
                    continue
                shape = batch.shape[1:] if shape is None else shape
                if batch.shape[1:] != shape:
                    raise _ragged(first, tuple(batch.shape[1:]), tuple(shape))
                if whole and (turn % self.turn[1] != self.turn[0] or first < self.start):
                    first += batch.shape[0]
                    continue
                batch = self._moved(batch)
                late.put(
                    torch.isfinite(batch.sum()), partial(_check_finite, batch, first)
                )  # one reduction for the usual case
                if not given:  # the model is tried out on the first
                    late.settle()
                given = True
                yield first, batch
                first += batch.shape[0]
        late.settle()
        if first == 0 and (whole or not self.count):
            raise EmptyDataError(
                f"the data holds no sample ({_describe(self.source)}). Pass at least one."
            )
        if passed is not None:
            passed(first)

    def _moved(self, batch: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The batch where and as the model wants it; on the way to a GPU nothing waits for it."""
        if self.device is None or self.device == batch.device:
            return batch.to(dtype=self.dtype)
        smaller = (
            self.dtype is not None and self.dtype.itemsize < batch.dtype.itemsize
        )  # converted where fewer bytes travel
        return sent(batch, self.device, self.dtype if smaller else None).to(dtype=self.dtype)


def as_batches(data: Data, *, batch_size: int | None = None) -> Batches:
    """Wrap the user's data; refuse at once what cannot be read twice or is no data at all.

    Args:
        data: tensor or array `[N, *x]`, a Dataset, a DataLoader, or any re-iterable of batches. Where a sample or a batch is a
            tuple or a list, its first entry is the input and the rest (labels) is ignored.
        batch_size: samples to a batch, for tensors, arrays and Datasets; by default as many as make 2²¹ numbers, at most 2048; on
            a GPU eight times as many.

    Returns:
        Batches in the data's own dtype and on its own device.

    Examples:
        >>> [tuple(batch.shape) for batch in as_batches(torch.zeros(5, 3), batch_size=2)]
        [(2, 3), (2, 3), (1, 3)]
    """
    if batch_size is not None and batch_size < 1:
        raise ArgumentError(
            f"batch_size={batch_size}: expected a positive number of samples, for example batch_size={BATCH_SIZE}."
        )
    if isinstance(data, Tensor | np.ndarray):
        if data.ndim == 0:
            raise ShapeError(
                "data is a single number; expected samples along the first axis, for example shape (1000, 10)."
            )
        return Batches(data, batch_size)
    if isinstance(data, Iterator):
        raise OneShotDataError(
            f"data is a one-shot {type(data).__name__}: it can be read only once, and reading it here would use it up. "
            "Pass list(data), a tensor, a Dataset, a DataLoader, or an object whose __iter__ starts afresh."
        )
    if isinstance(data, tuple):
        raise DataError(
            f"data is a tuple of {len(data)}, which can mean inputs with labels or batches. Pass data[0] for the inputs alone, "
            "list(data) for batches."
        )
    if isinstance(data, dict | str | bytes) or not isinstance(data, Dataset | Iterable):
        raise DataError(
            f"data is a {type(data).__name__}; expected a tensor, a numpy array, a Dataset, a DataLoader or an iterable of "
            "batches. Pass the inputs alone, for example data['x']."
        )
    return Batches(data, batch_size)


def _fitting(numbers: int, device: torch.device | None) -> int:
    """Samples to a batch, where one of them has so many numbers."""
    times = ON_GPU if device is not None and device.type == "cuda" else 1
    return min(times * BATCH_SIZE, max(1, times * BATCH_ELEMENTS // max(1, numbers)))


def _indexed(source: Any) -> bool:
    """Whether samples can be asked for by their number."""
    return (
        isinstance(source, Dataset)
        and hasattr(source, "__len__")
        and not isinstance(source, IterableDataset)
    )


def _ranged(source: Any, start: int, stop: int | None) -> Any:
    """A range of the samples, where they can be asked for by number; else all of them."""
    if (start == 0 and stop is None) or not (
        isinstance(source, Tensor | np.ndarray) or _indexed(source)
    ):
        return source
    stop = len(source) if stop is None else stop
    return (
        source[start:stop]
        if isinstance(source, Tensor | np.ndarray)
        else Subset(source, range(start, stop))
    )


def _pieces(source: Any, size: int | None, device: torch.device | None) -> Iterable[Any]:
    """Batches as the source gives them, before any check."""
    if isinstance(source, Tensor | np.ndarray):
        step = size or _fitting(math.prod(source.shape[1:]), device)
        return (source[start : start + step] for start in range(0, len(source), step))
    if isinstance(source, Dataset):
        return _stacked(source, size, device)
    return source


def _stacked(dataset: Dataset[Any], size: int | None, device: torch.device | None) -> Iterator[Any]:
    """Batches of a Dataset's inputs; labels are dropped unseen, whatever they are."""
    first = 0
    for samples in _grouped(
        DataLoader(dataset, batch_size=None, collate_fn=lambda sample: sample), size, device
    ):
        inputs = [_inputs(sample) for sample in samples]
        shapes = [tuple(getattr(sample, "shape", ())) for sample in inputs]
        for index, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise _ragged(first + index, shape, shapes[0])
        try:
            # numpy stacks read-only and foreign-endian arrays without complaint; torch would not
            stacked = (
                np.stack(inputs)
                if isinstance(inputs[0], np.ndarray | np.generic)
                else default_collate(inputs)
            )
        except TypeError as error:
            raise DataError(
                f"sample {first} of the Dataset is a {type(inputs[0]).__name__}; expected a tensor or array, or a tuple whose "
                "first entry is one. Give the Dataset a transform that makes tensors."
            ) from error
        yield stacked
        first += len(samples)


def _grouped(
    samples: Iterable[Any], size: int | None, device: torch.device | None
) -> Iterator[list[Any]]:
    """Samples in lists of one length; by default one that suits the first sample."""
    group: list[Any] = []
    for sample in samples:
        size = size or _fitting(math.prod(getattr(_inputs(sample), "shape", ())), device)
        group.append(sample)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _inputs(raw: Any) -> Any:
    """The input part of a batch: the first entry of a tuple or list, else the batch itself."""
    if isinstance(raw, tuple | list):
        if not raw:
            raise DataError(
                "a batch is an empty tuple; expected a tensor, or a tuple whose first entry is the input."
            )
        return raw[0]
    return raw


def _as_tensor(batch: Any, first: int) -> Float[Tensor, "b ..."]:
    """Check type and dtype of one batch; an array is copied, which keeps memory maps and read-only arrays safe."""
    if isinstance(batch, np.ndarray):
        if batch.dtype.kind != "f" or batch.dtype.itemsize > 8:  # torch has no long double
            raise _wrong_dtype(batch.dtype)
        batch = torch.tensor(
            batch if batch.dtype.isnative else batch.astype(batch.dtype.newbyteorder("="))
        )
    if not isinstance(batch, Tensor):
        hint = "For dictionaries pass the inputs alone, for example [batch['x'] for batch in data]."
        if isinstance(batch, int | float):
            hint = "For lists of numbers pass torch.tensor(data)."
        raise DataError(
            f"the batch that starts at sample {first} is a {type(batch).__name__}; expected a tensor or array, or a tuple "
            f"whose first entry is one. {hint}"
        )
    if batch.ndim == 0:
        raise ShapeError(
            f"the batch that starts at sample {first} is a single number; expected samples along the first axis."
        )
    if not batch.dtype.is_floating_point:
        raise _wrong_dtype(batch.dtype)
    # A tensor made in inference mode cannot enter a derivative; its copy can.
    return batch.clone() if batch.is_inference() else batch.detach()


def _wrong_dtype(dtype: np.dtype | torch.dtype) -> DtypeError:
    if isinstance(dtype, torch.dtype):
        remedy = (
            "torch.view_as_real(data)"
            if dtype.is_complex
            else "data.float(), for bytes data.float() / 255"
        )
    else:
        remedy = (
            "np.stack([data.real, data.imag], -1)"
            if dtype.kind == "c"
            else "data.astype('float32'), for bytes divided by 255"
        )
    return DtypeError(
        f"data has dtype {dtype}; derivatives need real floating point numbers. Pass {remedy}."
    )


def _ragged(index: int, shape: tuple[int, ...], before: tuple[int, ...]) -> ShapeError:
    return ShapeError(
        f"sample {index} has shape {shape}, the samples before it {before}. "
        "All samples must have one shape: pad or resample them first."
    )


def _check_finite(batch: Float[Tensor, "b ..."], first: int) -> None:
    """Raise `NonFiniteError` naming the first sample with NaN or infinity."""
    bad = (~torch.isfinite(batch)).reshape(len(batch), -1).any(1)
    if bool(bad.any()):
        index = int(bad.to(torch.int8).argmax())
        kind = (
            "NaN"
            if bool(batch[index].isnan().any())
            else f"a value that is infinite in {batch.dtype}"
        )
        raise NonFiniteError(
            f"sample {first + index} holds {kind}. Remove it, for example data[data.isfinite().flatten(1).all(1)]."
        )


def _describe(source: Any) -> str:
    shape = getattr(source, "shape", None)
    return f"{type(source).__name__}" + (f" of shape {tuple(shape)}" if shape is not None else "")


@contextmanager
def _loader_generators_kept(source: Any) -> Iterator[None]:
    """Put back the state of the generators that a source, a loader's dataset and its samplers own."""
    batches = getattr(source, "batch_sampler", None)
    owners = (
        source,
        getattr(source, "dataset", None),
        getattr(source, "sampler", None),
        batches,
        getattr(batches, "sampler", None),
    )
    generators = [
        g for owner in owners if isinstance(g := getattr(owner, "generator", None), torch.Generator)
    ]
    states = [(generator, generator.get_state()) for generator in generators]
    try:
        yield
    finally:
        for generator, state in states:
            generator.set_state(state)
