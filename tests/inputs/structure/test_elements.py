"""What an element of the data is: a sample, a batch or joined graphs; and errors for what is none."""

from functools import partial

import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError, DtypeError, ShapeError
from liegg.inputs.structure.elements import fits_leaf, only_floating, reader_for
from structures import Graph

POS = torch.ones(6, 3)


def fit(action):
    return lambda shape: action.fitted(shape).check(shape)


CLOUD, ONE = fit(liegg.Affine(3, copies=None)), fit(liegg.Linear(3))


@pytest.mark.parametrize(
    ("element", "moves", "kind"),
    [
        ({"pos": POS}, {"pos": CLOUD}, "sample"),
        ({"pos": POS[None], "z": torch.ones(1, 6)}, {"pos": CLOUD}, "batch"),
        ({"pos": POS, "z": torch.ones(6)}, {"pos": ONE}, "batch"),
        ({"pos": POS, "edge_index": torch.ones(2, 9).long()}, {"pos": ONE}, "sample"),
        ({"pos": POS, "batch": torch.zeros(6).long()}, {"pos": CLOUD}, "graphs"),
        (Graph(pos=POS), {"pos": ONE}, "sample"),
        ((torch.ones(2, 6), torch.ones(2, 6, 3)), {1: CLOUD}, "batch"),
        (({"pos": POS}, 3), {"pos": CLOUD}, "sample"),
    ],
)
def test_kinds_of_elements(element, moves, kind):
    reader = reader_for(element, moves, complete=False)
    assert reader.kind == kind
    assert reader.labelled == (isinstance(element, tuple) and isinstance(element[0], dict))


@pytest.mark.parametrize(
    ("element", "moves", "error", "text"),
    [
        ({"pos": POS}, {"x": CLOUD}, ArgumentError, "there is no such path"),
        ({"z": POS.long()}, {"z": CLOUD}, DtypeError, "cannot be moved.*with at="),
        (
            {"z": torch.ones(2, 3, dtype=torch.complex64)},
            {"z": CLOUD},
            DtypeError,
            "real and imaginary",
        ),
        ({"pos": torch.ones(6, 2)}, {"pos": CLOUD}, ShapeError, r"expects \[k, 3\]"),
        (
            {"pos": POS, "batch": torch.zeros(5).long()},
            {"pos": CLOUD},
            ShapeError,
            "'batch' has 5 entries",
        ),
        (
            {"pos": POS, "vel": POS.expand(2, *POS.shape)},
            {"pos": CLOUD, "vel": CLOUD},
            ShapeError,
            "looks like a sample and 'vel' like a batch",
        ),
    ],
)
def test_elements_that_cannot_be_read(element, moves, error, text):
    with pytest.raises(error, match=text):
        reader_for(element, moves, complete=False)


def test_one_graph_is_not_a_data_set():
    with pytest.raises(
        ShapeError, match=r"the data is one sample: 'pos'.*without a vector 'batch'"
    ):
        reader_for({"pos": POS}, {"pos": CLOUD}, complete=True)


def test_tensors_of_different_lengths_are_named():
    data = {"pos": torch.ones(9, 3), "vel": torch.ones(10, 3)}
    with pytest.raises(ShapeError, match="'pos' has 9 entries along the first axis, 'vel' has 10"):
        reader_for(data, {"pos": lambda shape: None}, complete=True)


def test_one_sample_of_different_lengths_says_which():
    data = {"pos": POS, "z": torch.ones(len(POS) + 1)}
    with pytest.raises(ShapeError, match=rf"{len(POS)} entries .* of 'pos', {len(POS) + 1} of 'z'"):
        reader_for(data, {"pos": CLOUD}, complete=True)


def test_the_only_tensor_that_fits_moves():
    fits, affine = partial(fits_leaf, CLOUD), "liegg.Affine(3)"
    assert only_floating({"z": POS.long(), "pos": POS}, fits, affine) == "pos"
    labelled = {"y": torch.ones(1), "pos": POS, "mass": POS[:, 0]}  # as a graph with its energy
    assert only_floating(labelled, fits, affine) == "pos"
    two = {"y": torch.ones(1), "a": POS, "b": POS}
    with pytest.raises(
        ArgumentError, match=r"3 floating.*fits 'a', 'b'.*action={'a': liegg.Affine\(3\)}"
    ):
        only_floating(two, fits, affine)
    with pytest.raises(ArgumentError, match=r"2 floating.*Affine\(3\) fits none of them"):
        only_floating({"y": torch.ones(1), "q": POS[:, :2]}, fits, affine)
