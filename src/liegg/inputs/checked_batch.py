"""One batch of the user's data as a tensor of real numbers, or an error that says what it is instead."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.checks import first_nonfinite
from liegg._utils.errors import (
    DataError,
    DtypeError,
    EmptyDataError,
    NonFiniteError,
    OneShotDataError,
    RaggedDataError,
    ShapeError,
    TreeDataError,
)
from liegg.inputs.foreign.jax_function import is_jax_array
from liegg.inputs.structure.tree import describe, is_tree


def check_reiterable(data: Any) -> None:
    """Raise `OneShotDataError` for data that can be read only once."""
    if isinstance(data, Iterator):
        raise OneShotDataError(
            f"data is a one-shot {type(data).__name__}: it can be read only once, and reading it "
            "here would use it up. Pass list(data), a tensor, a Dataset, a DataLoader, or an "
            "object whose __iter__ starts again."
        )


def no_samples(data: Any) -> EmptyDataError:
    """The error for data without a sample."""
    shape = getattr(data, "shape", None)
    kind = type(data).__name__ + ("" if shape is None else f" of shape {tuple(shape)}")
    return EmptyDataError(f"the data contains no samples ({kind}). Pass at least one.")


def inputs_of(raw: Any) -> Any:
    """The input part of a batch: the first entry of a tuple or list, else the batch itself."""
    if isinstance(raw, tuple | list):
        if not raw:
            raise DataError(
                "a batch is an empty tuple; expected a tensor, or a tuple whose first entry is the "
                "input."
            )
        return raw[0]
    return raw


def as_tensor(batch: Any, first: int) -> Float[Tensor, "b ..."]:
    """Check type and dtype of a batch; arrays are copied, so memory maps are never written."""
    if is_jax_array(batch):
        batch = np.asarray(batch)
    if isinstance(batch, np.ndarray):
        if batch.dtype.kind != "f" or batch.dtype.itemsize > 8:  # torch has no long double
            raise _wrong_dtype(batch.dtype)
        if np.ma.is_masked(batch):
            raise DataError(
                f"the batch that starts at sample {first} has masked entries, which would be read as "
                "numbers. Fill them with data.filled(value), or leave these samples out."
            )
        batch = torch.from_numpy(np.array(batch, dtype=batch.dtype.newbyteorder("="), order="C"))
    if not isinstance(batch, Tensor):
        if is_tree(batch):
            raise tree_data(batch, f"the batch that starts at sample {first}")
        if isinstance(batch, int | float):
            raise DataError(
                "data is a list of numbers; expected a tensor or array with one sample per row. For lists of numbers pass "
                "torch.tensor(data), for one column of a table data.to_frame()."
            )
        raise DataError(
            f"the batch that starts at sample {first} is a {type(batch).__name__}; expected a "
            "tensor or array, or a tuple whose first entry is one. For dictionaries say which tensor moves, for example "
            "action={'x': liegg.Linear(3)}."
        )
    check_plain(batch)
    if batch.ndim == 0:
        raise ShapeError(
            f"the batch that starts at sample {first} is a single number; expected samples along "
            "the first axis."
        )
    if not batch.dtype.is_floating_point or batch.dtype.itemsize < 2:
        raise _wrong_dtype(batch.dtype)
    # A tensor created in inference mode cannot be differentiated; its copy can.
    return batch.clone() if batch.is_inference() else batch.detach()


def tree_data(tree: Any, what: str) -> TreeDataError:
    """The error for a tree of tensors in place of a tensor."""
    return TreeDataError(
        f"{what} is a {type(tree).__name__}; expected a tensor or array, or a path to what moves. Its tensors are "
        f"{describe(tree)}: say which one moves, for example action={{'pos': liegg.Affine(3)}}."
    )


def check_plain(tensor: Tensor) -> None:
    """Raise `DataError` for tensors without an array of values: sparse, nested, quantised, on the device meta."""
    kinds = {
        "nested": (tensor.is_nested, "torch.stack(samples) of samples of one shape"),
        "sparse": (not tensor.is_nested and tensor.layout is not torch.strided, "data.to_dense()"),
        "quantised": (tensor.is_quantized, "data.dequantize()"),
        "without values, on the device 'meta'": (tensor.is_meta, "data with values"),
    }
    for kind, (found, remedy) in kinds.items():
        if found:
            raise DataError(
                f"data is a tensor that is {kind}; expected a plain one. Pass {remedy}."
            )


def _wrong_dtype(dtype: np.dtype | torch.dtype) -> DtypeError:
    numpy = isinstance(dtype, np.dtype)
    converted = "data.astype('float32')" if numpy else "data.float()"
    if dtype.kind == "c" if numpy else dtype.is_complex:
        remedy = "np.stack([data.real, data.imag], -1)" if numpy else "torch.view_as_real(data)"
    elif dtype.kind in "iub" if numpy else not dtype.is_floating_point:
        remedy = (
            f"{converted} where they are measurements, such as pixels (divided by 255). Labels such as "
            "token ids or atomic numbers cannot be moved: ask at an inner point of the model, with "
            "at='embeddings' or the name of a layer"
        )
    else:
        remedy = converted
    return DtypeError(
        f"data has dtype {dtype}; derivatives need real floating point numbers. Pass {remedy}."
    )


def ragged(index: int, shape: tuple[int, ...], before: tuple[int, ...]) -> RaggedDataError:
    """The error for a sample of another shape than those before it."""
    clouds = len(shape) == len(before) > 1 and shape[1:] == before[1:]
    advice = " For clouds of any number of points pass copies=None, for example liegg.Affine(3, copies=None)."
    return RaggedDataError(
        f"sample {index} has shape {shape}, the samples before it {before}. "
        f"All samples must have one shape: pad or resample them first.{advice if clouds else ''}"
    )


def check_finite(
    batch: Float[Tensor, "b ..."],
    first: int,
    leaf_at: Callable[[int], str | None] = lambda column: None,
) -> None:
    """Raise `NonFiniteError` naming the first sample with NaN or infinity.

    Args:
        batch: the samples.
        first: number of the first one.
        leaf_at: the tensor of a structured sample in which a number of its row is; None for plain samples.
    """
    if (index := first_nonfinite(batch)) is not None:
        kind = (
            "NaN"
            if bool(batch[index].isnan().any())
            else f"a value that is infinite in {batch.dtype}"
        )
        leaf = leaf_at(int((~torch.isfinite(batch[index].flatten())).int().argmax()))
        if leaf:
            raise NonFiniteError(
                f"{leaf!r} of sample {first + index} holds {kind}. Put a number there, for padding data[{leaf!r}] = "
                f"data[{leaf!r}].nan_to_num(); or leave out the sample, or the tensor if the model does not use it."
            )
        raise NonFiniteError(
            f"sample {first + index} holds {kind}. Remove it, for example "
            "data[data.isfinite().flatten(1).all(1)]."
        )
