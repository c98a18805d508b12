"""Data that is refused: what can be read once, holds no sample, no finite number, or is no data at all."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, TensorDataset

import liegg
from liegg._utils.errors import (
    ArgumentError,
    DataError,
    DtypeError,
    EmptyDataError,
    NonFiniteError,
    OneShotDataError,
    RaggedDataError,
    ShapeError,
    TreeDataError,
)
from liegg.inputs.batches import as_batches

X = torch.randn(10, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


LABELS = torch.arange(10)


INFINITY, NAN = float("inf"), float("nan")


def square(x: Tensor) -> Tensor:
    return x.square().sum(1)


class Items(Dataset):
    """Map-style dataset over a list, counting what is read."""

    def __init__(self, items: Any) -> None:
        self.items, self.reads = items, 0

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        return self.items[index]


def test_a_generator_is_refused_and_not_used_up():
    generator = (batch for batch in X.split(4))
    with pytest.raises(
        OneShotDataError, match=re.escape("one-shot generator: it can be read only once")
    ) as caught:
        liegg.discover(square, generator, liegg.Linear(3))
    assert "list(data)" in str(caught.value)
    assert torch.equal(torch.cat(list(generator)), X)


@pytest.mark.parametrize(
    "source",
    [iter([X]), map(torch.clone, [X]), zip([X], strict=True)],
    ids=["iterator", "map", "zip"],
)
def test_other_one_shots_are_refused(source):
    with pytest.raises(OneShotDataError, match=type(source).__name__):
        as_batches(source)


def test_a_one_shot_in_disguise_loses_no_sample():
    class Disguised:
        def __init__(self) -> None:
            self.batches = iter(X.split(4))

        def __iter__(self) -> Iterator[Tensor]:
            return self.batches

    data = Disguised()
    assert liegg.discover(square, data, liegg.Linear(3)).samples == 10
    with pytest.raises(EmptyDataError, match="Disguised"):
        liegg.discover(square, data, liegg.Linear(3))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (X[:0], "the data contains no samples (Tensor of shape (0, 3))"),
        (X[:0].numpy(), "the data contains no samples (ndarray of shape (0, 3))"),
        (TensorDataset(X[:0]), "the data contains no samples (TensorDataset)"),
        ([], "the data contains no samples (list)"),
        ([X[:0], X[:0]], "the data contains no samples (list)"),
    ],
)
def test_no_sample(source, text):
    with pytest.raises(EmptyDataError, match=re.escape(text)):
        liegg.discover(square, source, liegg.Linear(3))


def spoiled(index: int, *values: float) -> Tensor:
    x = X.clone()
    x[index, : len(values)] = torch.tensor(values)
    return x


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (spoiled(0, NAN), "sample 0 holds NaN"),
        (spoiled(7, NAN), "sample 7 holds NaN"),
        (spoiled(9, INFINITY), "sample 9 holds a value that is infinite in torch.float64"),
        (spoiled(5, INFINITY, -INFINITY), "sample 5 holds a value that is infinite"),
        (spoiled(5, -INFINITY, NAN), "sample 5 holds NaN"),
        (torch.tensor([1.0, NAN]), "sample 1 holds NaN"),
    ],
)
def test_a_value_that_is_not_finite_is_named_by_its_sample(data, text):
    for kind in (lambda x: x, lambda x: x.numpy(), TensorDataset, lambda x: list(x.split(4))):
        assert_refused(kind(data), text)


def assert_refused(data, text):
    with pytest.raises(NonFiniteError, match=re.escape(text)):
        list(as_batches(data, batch_size=4))


def test_large_finite_values_are_no_error():
    x = torch.full((4, 3), 6e4, dtype=torch.float16)
    assert torch.equal(next(iter(as_batches(x))), x)


def test_a_value_that_overflows_the_model_s_dtype_is_named():
    with pytest.raises(
        NonFiniteError, match=re.escape("sample 6 holds a value that is infinite in torch.float32")
    ):
        liegg.discover(nn.Linear(3, 1), spoiled(6, 1e300), liegg.Linear(3))


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (
            X.long(),
            DtypeError,
            "data has dtype torch.int64; derivatives need real floating point numbers. Pass data.float()",
        ),
        (X.to(torch.uint8), DtypeError, "token ids or atomic numbers cannot be moved"),
        (X > 0, DtypeError, "torch.bool"),
        (
            X.to(torch.complex64),
            DtypeError,
            "data has dtype torch.complex64; derivatives need real floating point numbers. "
            "Pass torch.view_as_real(data).",
        ),
        (
            X.numpy().astype(int),
            DtypeError,
            "data has dtype int64; derivatives need real floating point numbers. "
            "Pass data.astype('float32')",
        ),
        (X.numpy().astype(complex), DtypeError, "Pass np.stack([data.real, data.imag], -1)."),
        (X.numpy().astype(object), DtypeError, "data has dtype object"),
        (X.numpy().astype(np.longdouble), DtypeError, "Pass data.astype('float32')"),
        (Items(list(X.numpy().astype(object))), DtypeError, "data has dtype object"),
        (TensorDataset(LABELS), DtypeError, "torch.int64"),
        (
            {"x": X},
            TreeDataError,
            "data is a dict; expected a tensor or array, or a path to what moves. Its tensors are 'x' (10, 3)",
        ),
        (
            (X, X),
            DataError,
            "data is a tuple of 2, which can mean inputs with labels or batches. Pass data[0]",
        ),
        ("x.npy", DataError, "data is a str"),
        (3.0, DataError, "data is a float"),
        (None, DataError, "data is a NoneType"),
        (
            [{"x": X}],
            TreeDataError,
            "the batch that starts at sample 0 is a dict; expected a tensor or array",
        ),
        ([X, {"x": X}], TreeDataError, "the batch that starts at sample 10 is a dict"),
        ([[1.0, 2.0]], DataError, "data is a list of numbers; expected a tensor or array"),
        ([[1.0, 2.0]], DataError, "For lists of numbers pass torch.tensor(data), for one column"),
        (Items([{"x": x} for x in X]), TreeDataError, "is a dict; expected a tensor or array"),
        (
            Items([object()]),
            DataError,
            "sample 0 of the Dataset is a object; expected a tensor or array",
        ),
        (Items([X[0], object()]), RaggedDataError, "sample 1 has shape ()"),
        ([()], DataError, "a batch is an empty tuple"),
        (
            [X, X[:, :2]],
            RaggedDataError,
            "sample 10 has shape (2,), the samples before it (3,). All samples must have one shape",
        ),
        ([X[:, 0], X], RaggedDataError, "sample 10 has shape (3,), the samples before it ()"),
        (
            Items([*X[:5], X[5, :2]]),
            RaggedDataError,
            "sample 5 has shape (2,), the samples before it (3,)",
        ),
        (
            Items([*X[:4], *X[4:, :2]]),
            RaggedDataError,
            "sample 4 has shape (2,), the samples before it (3,)",
        ),
        (
            torch.tensor(1.0),
            ShapeError,
            "data is a single number; expected samples along the first axis",
        ),
        ([X[0, 0]], ShapeError, "the batch that starts at sample 0 is a single number"),
    ],
)
def test_data_that_is_no_data(source, error, text):
    with pytest.raises(error, match=re.escape(text)) as caught:
        list(as_batches(source, batch_size=4))
    assert type(caught.value) is error


@pytest.mark.parametrize("size", [0, -3])
def test_batch_size_must_be_positive(size):
    with pytest.raises(
        ArgumentError, match=re.escape(f"batch_size={size}: expected a positive number of samples")
    ):
        liegg.discover(square, X, liegg.Linear(3), run=liegg.Run(batch_size=size))


@pytest.mark.parametrize(
    ("shape", "action", "text"),
    [
        (
            (4,),
            liegg.Linear(3),
            "a sample has shape (4,); Linear(3, copies=1) expects (3,) or (1, 3). "
            "For one vector of dimension 4 pass Linear(4).",
        ),
        ((6,), liegg.Linear(3), "For 2 vectors of dimension 3 pass Linear(3, copies=2)."),
        ((4, 5), liegg.Linear(3), "For 4 vectors of dimension 5 pass Linear(5, copies=4)."),
        (
            (3, 2),
            liegg.Linear(3, copies=2),
            "The axes are swapped: pass Linear(3, copies=2, layout='vector_first').",
        ),
        (
            (2, 3),
            liegg.Linear(3, copies=2, layout="vector_first"),
            "The axes are swapped: pass Linear(3, copies=2, layout='copies_first').",
        ),
        ((6,), liegg.Affine(2), "For 3 vectors of dimension 2 pass Affine(2, copies=3)."),
        ((3, 2), liegg.Affine(3, copies=2), "pass Affine(3, copies=2, layout='vector_first')."),
        (
            (4,),
            liegg.Linear(3).restrict(liegg.so(3)),
            "a sample has shape (4,); Linear(3, copies=1) expects (3,)",
        ),
        (
            (2, 2, 2),
            liegg.Linear(3),
            "a sample has shape (2, 2, 2); Linear(3, copies=1) expects (3,) or (1, 3).",
        ),
        ((), liegg.Linear(3), "a sample has shape ()"),
    ],
)
def test_wrong_feature_count_says_what_to_type(shape, action, text):
    with pytest.raises(ShapeError, match=re.escape(text)):
        liegg.discover(lambda x: x.flatten(1).sum(1), torch.ones(5, *shape), action)
