"""Seeds, finite numbers, checksums."""

from itertools import product

import pytest
import torch

from liegg._utils.checks import check_seed, checksum, first_nonfinite
from liegg._utils.errors import ArgumentError


def test_invalid_seeds_are_refused():
    for seed in [-1, 2**63, 0.5, "1", None]:
        with pytest.raises(ArgumentError, match="expected a whole number"):
            check_seed(seed)


def test_valid_seeds_pass():
    assert check_seed(0) is None
    assert check_seed(2**63 - 1) is None


def test_the_first_entry_that_is_not_finite():
    for shape, value in product([(5,), (5, 3), (5, 2, 2)], [torch.nan, torch.inf, -torch.inf]):
        values = torch.zeros(shape)
        assert first_nonfinite(values) is None
        values[3] = value
        values[4] = value
        assert first_nonfinite(values) == 3


def test_checksums_see_values_shapes_dtypes_and_order():
    x = torch.arange(6.0)
    parts = [
        (x,),
        (x.reshape(2, 3),),
        (x.double(),),
        (x[:3], x[3:]),
        (x[3:], x[:3]),
        (x + 1e-6,),
        ("a", x),
        ("ab", "c"),
        ("a", "bc"),
    ]
    assert len({checksum(*part) for part in parts}) == len(parts)
    assert checksum(x) == checksum(x.clone())
    assert checksum(x.reshape(2, 3).mT) == checksum(x.reshape(2, 3).mT.contiguous())
