"""Pieces of the user's data as its source gives them, before any check."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Subset, default_collate

from liegg._utils.errors import DataError, LieggError, one_line
from liegg.inputs.checked_batch import inputs_of, ragged, tree_data
from liegg.inputs.every_element import every_element, is_map_style
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import is_tree

BATCH_SIZE = 2048
"""Most samples per batch: enough that the overhead of a batch no longer counts."""

BATCH_ELEMENTS = 2**21
"""Most numbers per batch, so that large samples come in small batches: 8 MB in float32."""

GPU_FACTOR = 8
"""How many times larger batches may be on a GPU, which idles between small ones."""


def batch_size_for(numbers: int, device: torch.device | None) -> int:
    """Samples per batch for a number of numbers per sample."""
    times = GPU_FACTOR if device is not None and device.type == "cuda" else 1
    return min(times * BATCH_SIZE, max(1, times * BATCH_ELEMENTS // max(1, numbers)))


def is_indexed(source: Any) -> bool:
    """Whether samples can be indexed."""
    if isinstance(source, Packed):
        return source.indexed
    return isinstance(source, Tensor | np.ndarray) or is_map_style(source)


def numbers_per_sample(source: Any) -> int | None:
    """Numbers per sample; None if they are known only when samples are read."""
    if isinstance(source, Tensor | np.ndarray):
        return math.prod(source.shape[1:])
    return source.layout.width if isinstance(source, Packed) and source.indexed else None


def select(source: Any, places: slice | list[int]) -> Any:
    """Some samples of data that can be indexed, as data of their own."""
    if isinstance(source, Tensor | np.ndarray):
        return source[places]
    if isinstance(source, Packed):
        return source.select(places)
    return Subset(source, range(len(source))[places] if isinstance(places, slice) else places)


def pieces_of(source: Any, size: int | None, device: torch.device | None) -> Iterable[Any]:
    """Batches as the source gives them, before any check."""
    numbers = numbers_per_sample(source)
    if numbers is None:
        dataset = isinstance(source, Dataset)
        return _stacked(source, size, device) if dataset else every_element(source)
    step = size or batch_size_for(numbers, device)
    starts = range(0, len(source), step)
    if isinstance(source, Packed):
        return (source.rows(start, start + step) for start in starts)
    return (source[start : start + step] for start in starts)


def read_pieces(pieces: Iterable[Any]) -> Iterator[Any]:
    """What the user's data gives; whatever goes wrong there is a `DataError`, and never the end of the data."""
    count = 0
    try:
        for piece in pieces:
            yield piece
            count += 1
    except (LieggError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise DataError(
            f"the data could not be read after {count} batches: {one_line(error)}. Check that "
            "iterating over it works."
        ) from error


def _stacked(dataset: Dataset[Any], size: int | None, device: torch.device | None) -> Iterator[Any]:
    """Batches of a Dataset's inputs; labels are ignored."""
    samples = map(inputs_of, every_element(dataset))
    begin = list(islice(samples, 1))
    if begin and is_tree(begin[0]):
        raise tree_data(begin[0], "sample 0 of the Dataset")
    if size is None and begin:  # by the size of the first sample
        size = batch_size_for(math.prod(getattr(begin[0], "shape", ())), device)
    samples, first = chain(begin, samples), 0
    while inputs := list(islice(samples, size)):
        shapes = [tuple(getattr(sample, "shape", ())) for sample in inputs]
        for index, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise ragged(first + index, shape, shapes[0])
        try:
            # numpy also stacks read-only and foreign-endian arrays
            stacked = (
                np.stack(inputs)
                if isinstance(inputs[0], np.ndarray | np.generic)
                else default_collate(inputs)
            )
        except TypeError as error:
            raise DataError(
                f"sample {first} of the Dataset is a {type(inputs[0]).__name__}; expected a tensor "
                "or array, or a tuple whose first entry is one. Give the Dataset a transform that "
                "makes tensors."
            ) from error
        yield stacked
        first += len(inputs)


@contextmanager
def restored_generators(source: Any) -> Iterator[None]:
    """Restore the random generators of a source, of a loader's dataset and of its samplers."""
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
