"""Tables with named columns as data: values, labels, and columns that are not numbers."""

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg._utils.errors import DataError, DtypeError, EmptyDataError, NonFiniteError, ShapeError
from liegg.inputs.batches import as_batches
from liegg.inputs.table import column_labels, is_table, table_values


class Frame:
    """What liegg reads of a DataFrame of pandas or polars."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns

    def to_numpy(self):
        return self.values

    def __iter__(self):
        return iter(self.columns)  # as pandas does


def mixed(*columns):
    """Columns of different types, which pandas gives as objects."""
    values = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        values[:, j] = column
    return values


def cylinder(x):
    return x[:, 0] ** 2 + x[:, 1] ** 2 + x[:, 2] ** 3


def test_columns_name_the_coordinates():
    frame = Frame(normal(200, 3).numpy(), ["m1", "m2", "r"])
    sym = liegg.discover(cylinder, frame, liegg.Linear(3))
    assert sym.words == ("rotation in m1–m2",)
    assert sym.vector_fields() == ("m1 ∂m2 − m2 ∂m1",)
    assert sym.action == liegg.Linear(3, names=["m1", "m2", "r"])


def test_names_of_the_action_come_first():
    frame = Frame(normal(200, 3).numpy(), ["m1", "m2", "r"])
    sym = liegg.discover(cylinder, frame, liegg.Linear(3, names=["a", "b", "c"]))
    assert sym.words == ("rotation in a–b",)


@pytest.mark.parametrize(
    "columns", [[0, 1, 2], ["0", "1", "2"], ["a", "a", "b"], [("a", 1), ("a", 2), ("b", 1)]]
)
def test_labels_that_are_not_names_leave_the_default(columns):
    sym = liegg.discover(cylinder, Frame(normal(200, 3).numpy(), columns), liegg.Linear(3))
    assert sym.words == ("rotation in x₁–x₂",)
    assert "names" not in sym.action.settings()


def test_the_numbers_are_those_of_the_array():
    x = normal(200, 3)
    frame = Frame(x.numpy(), ["m1", "m2", "r"])
    one, two = (liegg.discover(cylinder, data, liegg.Linear(3)) for data in (frame, x))
    torch.testing.assert_close(one.defects, two.defects)


def test_a_table_serves_wherever_data_is_read():
    frame = Frame(normal(200, 3).numpy(), ["m1", "m2", "r"])
    held = Frame(normal(20, 3, seed=1).numpy(), ["m1", "m2", "r"])
    sym = liegg.discover(cylinder, frame, liegg.Linear(3), held_out=held)
    assert sym.verification is not None
    assert liegg.verify(cylinder, held, sym).curves
    layers = liegg.discover_layers(
        torch.nn.Sequential(torch.nn.Linear(3, 2).double(), torch.nn.Tanh()), frame, liegg.Linear(3)
    )
    assert layers[0].invariance.action.settings()["names"] == ["m1", "m2", "r"]


def test_several_vectors_per_row_have_no_names():
    """The columns name all numbers, the action one vector."""
    frame = Frame(normal(100, 4).numpy(), ["x1", "y1", "x2", "y2"])
    sym = liegg.discover(lambda x: x.square().sum(1), frame, liegg.Linear(2, copies=2))
    assert "names" not in sym.action.settings()


@pytest.mark.parametrize("other", ["red", None, np.datetime64("2020-01-01"), 1j])
def test_a_column_that_is_not_numbers_is_named(other):
    values = mixed([1.0, 2.0], [3, other])
    with pytest.raises(DtypeError, match="'colour'"):
        table_values(Frame(values, ["mass", "colour"]))


def test_numbers_of_several_types_become_float():
    values = table_values(
        Frame(mixed([1.5, 2.0], [3, 4], [True, np.bool_(False)]), ["a", "b", "c"])
    )
    assert values.dtype == np.float64
    assert values.tolist() == [[1.5, 3, 1], [2, 4, 0]]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (np.zeros((0, 2)), EmptyDataError),
        (np.zeros((3, 3)), ShapeError),
        (np.zeros(3), ShapeError),
        (np.full((3, 2), np.nan), NonFiniteError),
        (np.ones((3, 2), dtype=np.int64), DtypeError),
        (np.ones((3, 2), dtype=complex), DtypeError),
    ],
)
def test_what_arrays_refuse_tables_refuse(values, error):
    with pytest.raises(error):
        list(as_batches(Frame(values, ["a", "b"])))


def test_what_is_not_a_table():
    assert not any(map(is_table, (normal(2, 2), [1], {"columns": 1}, None)))
    assert column_labels(Frame(np.zeros((1, 2)), ("a", 2))) == ["a", 2]
    with pytest.raises(DataError):
        as_batches({"columns": [1]})
