"""Tensors whose numbers cannot be read are refused in place of every argument; masked entries are never read as numbers."""

import warnings

import numpy as np
import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.errors import ArgumentError
from liegg._utils.readable import check_readable

SO3, X = liegg.so(3), normal(40, 3)
HIDDEN = np.ma.masked_array(SO3.numpy(), mask=SO3.numpy() > 0)


def _quietly(make, *values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls these tensors prototypes, or deprecated
        return make(*values)


UNREADABLE = {
    "sparse": SO3.to_sparse(),
    "meta": SO3.to("meta"),
    "a number on meta": torch.tensor(1.0, device="meta"),
    "nested": torch.nested.nested_tensor(list(SO3), layout=torch.jagged),
    "nested in strides": _quietly(torch.nested.nested_tensor, list(SO3)),
    "float8": SO3.to(torch.float8_e4m3fn),
    "quantised": _quietly(torch.quantize_per_tensor, SO3.float(), 0.1, 0, torch.qint8),
    "masked": HIDDEN,
    "a list with a masked one": [HIDDEN[0], HIDDEN[1]],
}

CALLS = {
    "identify": liegg.identify,
    "uncertainty": lambda v: liegg.identify(SO3, uncertainty=v),
    "groups": lambda v: liegg.Run(groups=v),
    "labels": lambda v: liegg.discover_data(X, liegg.Linear(3), labels=v),
    "starts": lambda v: liegg.discover_group(square, X, liegg.Linear(3), starts=v),
    "samples": lambda v: liegg.layer_errors(square, X, liegg.Linear(3), samples=v),
    "elements": lambda v: liegg.testing.assert_invariant(square, X, elements=v),
    "generators": lambda v: liegg.testing.assert_invariant(square, X, v),
    "output generators": lambda v: liegg.testing.assert_equivariant(square, X, SO3, v),
    "tolerance": lambda v: liegg.testing.assert_invariant(square, X, SO3, tolerance=v),
    "span": lambda v: liegg.testing.assert_same_span(v, SO3),
    "laws": lambda v: liegg.testing.assert_is_action(liegg.Linear(3), v),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_refused(name, kind):
    with pytest.raises(ArgumentError):
        CALLS[name](UNREADABLE[kind])


@pytest.mark.parametrize(
    "value",
    [SO3, SO3.numpy(), np.ma.masked_array(SO3.numpy()), X.half(), [SO3[0], SO3.numpy()[1]], "a", None, 3],
)  # fmt: skip
def test_plain_numbers_and_other_values_pass(value):
    check_readable("it", value)


def test_matrices_that_are_not_finite_are_no_elements():
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        liegg.testing.assert_invariant(square, X, elements=SO3 * torch.nan)


@pytest.mark.parametrize("value", [int, np.arange(6).reshape(2, 3), lambda x: x @ x])
def test_what_are_no_test_functions_is_refused(value):
    with pytest.raises(ArgumentError, match="callable on batches"):
        liegg.discover_data(X, liegg.Linear(3), functions=value)


@pytest.mark.parametrize("value", ["3", None, 2.5, [1], object()])
def test_the_laws_are_checked_on_tensors(value):
    with pytest.raises(ArgumentError):
        liegg.testing.assert_is_action(liegg.Linear(3), value)
