"""Data whose samples can be indexed, so that some can be taken from all of it."""

from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
)

from liegg.inputs.checked_batch import inputs_of
from liegg.inputs.structure.packed import Packed


def is_indexed(source: Any) -> bool:
    """Whether samples can be indexed."""
    if isinstance(source, Packed):
        return source.indexed
    mapped = isinstance(source, Dataset) and not isinstance(source, IterableDataset)
    return isinstance(source, Tensor | np.ndarray) or (mapped and hasattr(source, "__len__"))


def range_of(source: Any, start: int, stop: int | None) -> Any:
    """A range of the samples if they can be indexed; else all of them."""
    if (start == 0 and stop is None) or not is_indexed(source):
        return source
    if isinstance(source, Tensor | np.ndarray):
        return source[start:stop]
    if isinstance(source, Packed):
        return source.part(start, stop)
    return Subset(source, range(len(source))[start:stop])


def reads_everything(loader: "DataLoader[Any]") -> bool:
    """Whether a loader reads all samples of a data set that can be indexed, in their order or shuffled."""
    plain = isinstance(loader.sampler, SequentialSampler | RandomSampler)
    return plain and loader.batch_size is not None and is_indexed(loader.dataset)


class Collated(Dataset[Any]):
    """The samples of a loader one by one, each as its loader collates them."""

    def __init__(self, loader: "DataLoader[Any]") -> None:
        self.dataset, self.collate = loader.dataset, loader.collate_fn

    def __len__(self) -> int:
        return len(self.dataset)  # pyright: ignore[reportArgumentType]

    def __getitem__(self, place: int) -> Any:
        return inputs_of(self.collate([self.dataset[place]]))[0]
