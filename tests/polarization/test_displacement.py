"""Copies of samples are counted once."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.polarization.displacement import add_samples

NONE = torch.zeros(0, dtype=torch.float64)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_copies_are_counted_once_whatever_the_batches(different, copies, size):
    x = normal(different, 4).repeat(copies, 1)
    counted = NONE
    for batch in x[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))].split(size):
        counted = add_samples(counted, batch, 1000)
    assert len(counted) == different


def test_nothing_more_is_looked_at_when_there_are_enough():
    counted = add_samples(NONE, normal(7, 3), 5)
    assert add_samples(counted, normal(9, 3, seed=1), 5) is counted
    assert len(counted) == 7


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_any_dtype_and_shape(dtype):
    assert len(add_samples(NONE, normal(6, 2, 3).to(dtype), 100)) == 6


def test_discrete_data_decides_no_more_than_its_points():
    """Eight corners of a cube cannot constrain nine directions, however often each is given."""
    corners = (
        torch.randint(0, 2, (2000, 3), generator=torch.Generator().manual_seed(0)) * 2 - 1
    ).double()
    inner, shift, outer = normal(3, 32, seed=1), normal(32, seed=2), normal(32, seed=3)
    sym = liegg.discover(lambda x: torch.tanh(x @ inner + shift) @ outer, corners, liegg.Linear(3))
    assert (sym.nullity, sym.decision.undecided) == (0, 1)
    warning = sym.decision.warnings[0]
    assert warning.diagnosis is Diagnosis.TOO_FEW_SAMPLES
    assert (warning.values["samples"], warning.values["total"]) == (8, 9)
    assert warning.values["different"]
