"""Stage 1, data: arrays, tensors, Datasets and DataLoaders become re-iterable batches of one dtype on one device."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from liegg._errors import (
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


@dataclass(frozen=True)
class Batches:
    """Re-iterable batches `[b, *x]` of real floating point samples, checked as they stream by.

    Nothing is read before iteration and no more than one batch is held.

    Attributes:
        source: what the user gave.
        size: samples to a batch; loaders and iterables of batches keep their own.
        dtype: floating point type to convert to; None keeps the data's own.
        device: where to put the batches; None keeps them where they are.
    """

    source: Any
    size: int = 512
    dtype: torch.dtype | None = None
    device: torch.device | None = None

    def __iter__(self) -> Generator[Float[Tensor, "b ..."], None, None]:
        """Yield one batch after the other; raise a `DataError` that names the first bad sample."""
        first, shape = 0, None
        with _loader_generators_kept(self.source):
            for raw in _pieces(self.source, self.size):
                batch = _as_tensor(_inputs(raw), first)
                if batch.shape[0] == 0:
                    continue
                shape = shape or batch.shape[1:]
                if batch.shape[1:] != shape:
                    raise ShapeError(
                        f"sample {first} has shape {tuple(batch.shape[1:])}, the samples before it {tuple(shape)}. "
                        "All samples must have one shape: pad or resample them first."
                    )
                yield _finite(batch, first).to(device=self.device, dtype=self.dtype)
                first += batch.shape[0]
        if first == 0:
            raise EmptyDataError(f"the data holds no sample ({_describe(self.source)}). Pass at least one.")


def as_batches(data: Data, *, batch_size: int = 512) -> Batches:
    """Wrap the user's data; refuse at once what cannot be read twice or is no data at all.

    Args:
        data: tensor or array `[N, *x]`, a Dataset, a DataLoader, or any re-iterable of batches. Where a sample or a batch is a
            tuple or a list, its first entry is the input and the rest (labels) is ignored.
        batch_size: samples to a batch, for tensors, arrays and Datasets.

    Returns:
        Batches in the data's own dtype and on its own device.

    >>> [tuple(batch.shape) for batch in as_batches(torch.zeros(5, 3), batch_size=2)]
    [(2, 3), (2, 3), (1, 3)]
    """
    if batch_size < 1:
        raise ArgumentError(f"batch_size={batch_size}: expected a positive number of samples, for example batch_size=512.")
    if isinstance(data, Tensor | np.ndarray):
        if data.ndim == 0:
            raise ShapeError("data is a single number; expected samples along the first axis, for example shape (1000, 10).")
        return Batches(data, batch_size)
    if isinstance(data, Iterator):
        raise OneShotDataError(
            f"data is a one-shot {type(data).__name__}: it can be read only once, and reading it here would use it up. "
            "Pass list(data), a tensor, a Dataset, a DataLoader, or an object whose __iter__ starts afresh."
        )
    if isinstance(data, dict | str | bytes) or not isinstance(data, Dataset | Iterable):
        raise DataError(
            f"data is a {type(data).__name__}; expected a tensor, a numpy array, a Dataset, a DataLoader or an iterable of "
            "batches. Pass the inputs alone, for example data['x']."
        )
    return Batches(data, batch_size)


def _pieces(source: Any, size: int) -> Iterable[Any]:
    """Batches as the source gives them, before any check."""
    if isinstance(source, Tensor | np.ndarray):
        return (source[start : start + size] for start in range(0, len(source), size))
    if isinstance(source, Dataset):
        return DataLoader(source, batch_size=size)
    return source


def _inputs(raw: Any) -> Any:
    """The input part of a batch: the first entry of a tuple or list, else the batch itself."""
    if isinstance(raw, tuple | list):
        if not raw:
            raise DataError("a batch is an empty tuple; expected a tensor, or a tuple whose first entry is the input.")
        return raw[0]
    return raw


def _as_tensor(batch: Any, first: int) -> Float[Tensor, "b ..."]:
    """Check type and dtype of one batch; an array is copied, which keeps memory maps and read-only arrays safe."""
    if isinstance(batch, np.ndarray):
        if not np.issubdtype(batch.dtype, np.floating):
            raise _wrong_dtype(batch.dtype, np.issubdtype(batch.dtype, np.complexfloating))
        batch = torch.tensor(batch if batch.dtype.isnative else batch.astype(batch.dtype.newbyteorder("=")))
    if not isinstance(batch, Tensor):
        raise DataError(
            f"the batch that starts at sample {first} is a {type(batch).__name__}; expected a tensor or array, or a tuple "
            "whose first entry is one. For dictionaries pass the inputs alone, for example [batch['x'] for batch in data]."
        )
    if batch.ndim == 0:
        raise ShapeError(f"the batch that starts at sample {first} is a single number; expected samples along the first axis.")
    if not batch.dtype.is_floating_point:
        raise _wrong_dtype(batch.dtype, batch.dtype.is_complex)
    # A tensor made in inference mode cannot enter a derivative; its copy can.
    return batch.clone() if batch.is_inference() else batch.detach()


def _wrong_dtype(dtype: Any, is_complex: bool) -> DtypeError:
    remedy = "torch.view_as_real(data)" if is_complex else "data.float(), for bytes data.float() / 255"
    return DtypeError(f"data has dtype {dtype}; derivatives need real floating point numbers. Pass {remedy}.")


def _finite(batch: Float[Tensor, "b ..."], first: int) -> Float[Tensor, "b ..."]:
    """Raise `NonFiniteError` naming the first sample with NaN or infinity."""
    if not bool(torch.isfinite(batch.sum())):  # one reduction for the usual case; the exact search only on suspicion
        bad = (~torch.isfinite(batch)).flatten(1).any(1)
        if bool(bad.any()):
            index = int(bad.to(torch.int8).argmax())
            kind = "NaN" if bool(batch[index].isnan().any()) else "an infinite value"
            raise NonFiniteError(f"sample {first + index} holds {kind}. Remove it, for example data[data.isfinite().all(-1)].")
    return batch


def _describe(source: Any) -> str:
    shape = getattr(source, "shape", None)
    return f"{type(source).__name__}" + (f" of shape {tuple(shape)}" if shape is not None else "")


@contextmanager
def _loader_generators_kept(source: Any) -> Iterator[None]:
    """Put back the state of the generators a DataLoader and its sampler own."""
    owners = (source, getattr(source, "sampler", None)) if isinstance(source, DataLoader) else ()
    generators = [g for owner in owners if isinstance(g := getattr(owner, "generator", None), torch.Generator)]
    states = [(generator, generator.get_state()) for generator in generators]
    try:
        yield
    finally:
        for generator, state in states:
            generator.set_state(state)
