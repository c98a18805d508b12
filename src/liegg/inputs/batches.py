"""The data: arrays, tensors, Datasets and DataLoaders as re-iterable batches."""

import math
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, RandomSampler, SequentialSampler

from liegg._utils.device import DeferredCheck, to_device
from liegg._utils.errors import ArgumentError, DataError, ShapeError
from liegg.inputs.checked_batch import (
    as_tensor,
    check_finite,
    check_plain,
    check_reiterable,
    inputs_of,
    no_samples,
    ragged,
    tree_data,
)
from liegg.inputs.foreign.jax_function import is_jax_array
from liegg.inputs.pieces import (
    BATCH_SIZE,
    batch_size_for,
    is_indexed,
    numbers_per_sample,
    pieces_of,
    read_pieces,
    restored_generators,
    select,
)
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import is_tree
from liegg.inputs.table import is_table, table_values

Data = Any
"""Tensor, numpy array, DataFrame, Dataset, DataLoader, or any re-iterable of batches."""

SPACED_SAMPLES = 16
"""Evenly spaced samples that identify data beyond its first batch."""

SPACED_NUMBERS, FEWEST_SPACED = 2**22, 8
"""Most numbers in the evenly spaced samples of a batch on which a model is probed: 27 images of 3 × 224 × 224; and the samples
that are taken however large they are."""


@dataclass(frozen=True)
class Batches:
    """Re-iterable batches `[b, *x]` of real floating point samples, checked during iteration.

    Nothing is read before iteration, and one batch is held at a time. On a GPU a bad number is
    reported one batch later than on a CPU, except in the first batch, so that the GPU never waits.

    Attributes:
        source: the user's data.
        size: samples per batch; loaders and iterables of batches keep their own; None chooses by
            device and size of a sample.
        dtype: floating point type to convert to; None keeps the data's own.
        device: device of the batches; None keeps the data's own.
        start: position of the first sample; those before are skipped.
        stop: position after the last sample; None for all.
        stride: `(i, n)` yields every n-th batch from batch i on, for data that can only be read in
            order.
        finite: whether NaN and infinity are errors.
    """

    source: Any
    size: int | None = None
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    start: int = 0
    stop: int | None = None
    stride: tuple[int, int] = (0, 1)
    finite: bool = True

    @property
    def packed(self) -> bool:
        """Whether samples are rows of structured samples, which keep their precision."""
        return isinstance(self.source, Packed)

    @property
    def count(self) -> int | None:
        """Number of samples of the source; None if it must be counted."""
        return len(self.source) if is_indexed(self.source) else None

    @property
    def spaced(self) -> bool:
        """Whether evenly spaced samples of all the data can be read."""
        return is_indexed(self.source) or reads_everything(self.source)

    def share(self, rank: int, size: int) -> "Batches":
        """The samples of one of several processes: a range of samples, or every n-th batch.

        Args:
            rank: number of the process, from 0.
            size: number of processes.
        """
        if self.count is None:
            return replace(self, stride=(rank, size))
        start, stop = self.count * rank // size, self.count * (rank + 1) // size
        return replace(self, start=start, stop=stop)

    def thinned(self, count: int) -> "Batches":
        """Evenly spaced samples of data that can be indexed, as data of their own.

        Args:
            count: how many.
        """
        places = torch.linspace(0, len(self.source) - 1, count, dtype=torch.float64).long().tolist()
        return replace(self, source=select(self.source, places))

    def prepared(self, dtype: torch.dtype | None, device: torch.device | None) -> "Batches":
        """The same data for a model of this dtype on this device; arrays get their batch size."""
        device = device or (self.source.device if isinstance(self.source, Tensor) else None)
        numbers = numbers_per_sample(self.source)
        size = self.size or (None if numbers is None else batch_size_for(numbers, device))
        return replace(self, size=size, dtype=None if self.packed else dtype, device=device)

    def __iter__(self) -> Generator[Float[Tensor, "b ..."], None, None]:
        """Yield the batches; raise a `DataError` that names the first bad sample."""
        for _, batch in self.numbered():
            yield batch

    def evenly_spaced(self, count: int = SPACED_SAMPLES) -> list[Float[Tensor, "_ ..."]]:
        """Evenly spaced samples, each as a batch; none if samples cannot be indexed."""
        if not self.count:
            return []
        count = min(count, self.count)
        places = torch.linspace(0, self.count - 1, count, dtype=torch.float64).long().unique()
        singles = (
            replace(self, start=place, stop=place + 1, size=1, dtype=None, device=None)
            for place in places.tolist()
        )
        return [batch for single in singles for batch in single]

    def some(self, count: int, first: Float[Tensor, "b ..."]) -> Float[Tensor, "k ..."]:
        """Evenly spaced samples of all the data, which represent it even if it is sorted; of the first batch if they cannot be indexed.

        A loader that reads all of its data set in batches is indexed through the data set.

        Args:
            count: most samples.
            first: the first batch.
        """
        if reads_everything(self.source):
            return replace(self, source=_Collated(self.source)).some(count, first)
        if (self.count is not None and self.count <= len(first)) or not self.count:
            places = torch.linspace(0, len(first) - 1, min(count, len(first))).long()
            return first[to_device(places, first.device)]
        return torch.cat([self._moved(batch) for batch in self.evenly_spaced(count)])

    def numbered(
        self, on_end: Callable[[int], object] | None = None
    ) -> Generator[tuple[int, Float[Tensor, "_ ..."]], None, None]:
        """Batches, each with the position of its first sample in the source.

        Args:
            on_end: called at the end with the position after the last sample.
        """
        in_order, check = self.count is None, DeferredCheck()
        first, shape, is_first = 0 if in_order else self.start, None, True
        with restored_generators(self.source.data if self.packed else self.source):
            source, every = self.source, self.start == 0 and self.stop is None
            if not in_order and not every:
                source = select(source, slice(self.start, self.stop))
            for index, raw in enumerate(read_pieces(pieces_of(source, self.size, self.device))):
                batch = as_tensor(inputs_of(raw), first)
                if batch.shape[0] == 0:
                    continue
                shape = batch.shape[1:] if shape is None else shape
                if batch.shape[1:] != shape:
                    raise ragged(first, tuple(batch.shape[1:]), tuple(shape))
                offset, stride = self.stride
                if in_order and (index % stride != offset or first < self.start):
                    first += batch.shape[0]
                    continue
                batch = self._moved(batch)
                # One reduction in the usual case; the exact search only on suspicion.
                if self.finite:
                    found = partial(check_finite, batch, first, self._leaf_at)
                    check.submit(torch.isfinite(batch.sum()), found)
                if is_first:  # the model is probed on it
                    check.resolve()
                is_first = False
                yield first, batch
                first += batch.shape[0]
        check.resolve()
        if first == 0 and (in_order or not self.count):
            raise no_samples(self.source.data if self.packed else self.source)
        if on_end is not None:
            on_end(first)

    def _leaf_at(self, column: int) -> str | None:
        """The tensor of a structured sample in which a number of its row is; None for plain samples."""
        if not self.packed:
            return None
        found = (leaf.path for leaf in self.source.layout.leaves if column < leaf.stop)
        return next(found, None)

    def _moved(self, batch: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The batch in the dtype and on the device of the model, without waiting for a GPU."""
        if self.device is None or self.device == batch.device:
            return batch.to(dtype=self.dtype)
        # Convert where fewer bytes are copied.
        smaller = self.dtype is not None and self.dtype.itemsize < batch.dtype.itemsize
        return to_device(batch, self.device, self.dtype if smaller else None).to(dtype=self.dtype)


class _Collated(Dataset[Any]):
    """The samples of a loader one by one, each as its loader collates them."""

    def __init__(self, loader: "DataLoader[Any]") -> None:
        self.dataset, self.collate = loader.dataset, loader.collate_fn

    def __len__(self) -> int:
        return len(self.dataset)  # pyright: ignore[reportArgumentType]

    def __getitem__(self, place: int) -> Any:
        return inputs_of(self.collate([self.dataset[place]]))[0]


def reads_everything(source: Any) -> bool:
    """Whether data is a loader that reads all samples of a data set that can be indexed, in their order or shuffled."""
    if not isinstance(source, DataLoader) or source.batch_size is None:
        return False
    plain = isinstance(source.sampler, SequentialSampler | RandomSampler)
    return plain and is_indexed(source.dataset)


def as_batches(data: Data, *, batch_size: int | None = None) -> Batches:
    """Wrap the user's data; refuse what can be read only once or is not data.

    Args:
        data: tensor or array `[N, *x]`, a table with one sample per row (a DataFrame of pandas or
            polars), a Dataset, a DataLoader, or any re-iterable of batches. If a sample or a batch
            is a tuple or a list, its first entry is the input and the rest (labels) is ignored.
        batch_size: samples per batch, for tensors, arrays and Datasets; by default 2²¹ numbers, at
            most 2048 samples; on a GPU eight times as many.

    Returns:
        Batches in the data's own dtype and on its own device.

    Examples:
        >>> [tuple(batch.shape) for batch in as_batches(torch.zeros(5, 3), batch_size=2)]
        [(2, 3), (2, 3), (1, 3)]
    """
    if batch_size is not None and batch_size < 1:
        raise ArgumentError(
            f"batch_size={batch_size}: expected a positive number of samples, for example "
            f"batch_size={BATCH_SIZE}."
        )
    if isinstance(data, Packed):
        return Batches(data, batch_size)
    if is_table(data):
        data = table_values(data)
    if is_jax_array(data):
        data = np.asarray(data)
    if isinstance(data, Tensor):
        check_plain(data)
    if isinstance(data, Tensor | np.ndarray) and data.ndim == 0:
        raise ShapeError(
            "data is a single number; expected samples along the first axis, for example shape "
            "(1000, 10)."
        )
    check_reiterable(data)
    if isinstance(data, tuple):
        raise DataError(
            f"data is a tuple of {len(data)}, which can mean inputs with labels or batches. Pass "
            "data[0] for the inputs alone, list(data) for batches."
        )
    if is_tree(data):
        raise tree_data(data, "data")
    if isinstance(data, str | bytes) or not isinstance(data, Dataset | Iterable):
        raise DataError(
            f"data is a {type(data).__name__}; expected a tensor, a numpy array, a Dataset, a "
            "DataLoader or an iterable of batches. Pass the inputs alone, for example data['x']."
        )
    return Batches(data, batch_size)


def evenly_spaced(x: Float[Tensor, "b ..."], count: int) -> Int[Tensor, " k"]:
    """Positions of evenly spaced samples of a batch, which represent it even if it is sorted.

    Fewer of large samples, see `affordable`. A GPU is not waited for.

    >>> evenly_spaced(torch.zeros(9, 2), 3)
    tensor([0, 4, 8])
    """
    return to_device(torch.linspace(0, len(x) - 1, affordable(x, count)).long(), x.device)


def affordable(x: Float[Tensor, "b ..."], count: int) -> int:
    """How many of a number of samples a probe takes: their numbers are bounded, but `FEWEST_SPACED` are always taken.

    >>> affordable(torch.zeros(1).expand(100, 3, 224, 224), 64)
    27
    """
    few = max(FEWEST_SPACED, SPACED_NUMBERS // max(1, math.prod(x.shape[1:])))
    return min(count, few, len(x))
