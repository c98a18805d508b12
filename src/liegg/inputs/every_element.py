"""The elements of the user's data in order; data that ends early is an error, never shorter data."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from liegg._utils.errors import DataError, LieggError, one_line


def is_map_style(data: Any) -> bool:
    """Whether data is a Dataset whose samples can be indexed."""
    mapped = isinstance(data, Dataset) and not isinstance(data, IterableDataset)
    return mapped and hasattr(data, "__len__")


def every_element(data: Any) -> Iterator[Any]:
    """The samples of a Dataset, the members of a list, the batches of a loader or of another iterable.

    A `StopIteration` from inside a Dataset would end a `map` or a DataLoader as if that were all. So Datasets are
    indexed one by one, and what anything else gives is compared with its length, if it has one.

    Args:
        data: data that can be read again.

    Raises:
        DataError: the data cannot be read, or gives fewer elements than its length.
    """
    length = _length(data)
    if isinstance(data, list | tuple) or is_map_style(data):
        for place in range(len(data)):
            try:
                element = data[place]
            except (LieggError, torch.OutOfMemoryError):
                raise
            except Exception as error:
                raise _unreadable(data, place, error) from error
            yield element
        return
    count, elements = 0, None
    while True:
        try:
            elements = iter(data) if elements is None else elements
            element = next(elements)
        except StopIteration:
            break
        except (LieggError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            raise _unreadable(data, count, error) from error
        yield element
        count += 1
    if length is not None and count < length:
        raise DataError(
            f"the data ended after {count} of {length} {_unit(data)}, which is the length of the {type(data).__name__}: "
            "__len__ is wrong, or something inside raised StopIteration. Check that "
            "len(list(data)) == len(data)."
        )


def _unreadable(data: Any, count: int, error: Exception) -> DataError:
    """The error for data that fails after a number of elements."""
    return DataError(
        f"the data could not be read after {count} {_unit(data)}: {one_line(error)}. Check that iterating over it "
        "works."
    )


def _unit(data: Any) -> str:
    """What elements of the data are."""
    return "samples" if isinstance(data, Dataset) else "batches"


def _length(data: Any) -> int | None:
    """How many elements a loader or a Dataset declares; None if it declares none, or may drop some."""
    if not isinstance(data, DataLoader | Dataset):
        return None  # the length of other iterables may count batches or samples
    try:
        if isinstance(data, DataLoader) and isinstance(data.dataset, IterableDataset):
            # Not len(data): it would make the loader warn its owner later.
            samples, size = len(data.dataset), data.batch_size or 1  # pyright: ignore[reportArgumentType]
            each_drops = data.drop_last and data.num_workers > 1
            return (
                None if each_drops else samples // size if data.drop_last else -(-samples // size)
            )
        return len(data)  # pyright: ignore[reportArgumentType]
    except (TypeError, NotImplementedError):
        return None
