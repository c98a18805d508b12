"""The rounding unit of a model's arithmetic, and products in full precision."""

from itertools import product

import pytest
import torch
from torch import nn

from liegg._utils.precision import (
    SETTINGS,
    TENSOR_FLOAT,
    convolves,
    full_precision_products,
    rounding_unit,
)

GPU, CPU = torch.device("cuda"), torch.device("cpu")


def test_without_convolutions_it_is_that_of_the_dtype():
    for device, dtype in product(
        [CPU, GPU], [torch.float64, torch.float32, torch.bfloat16, torch.float16]
    ):
        assert rounding_unit(dtype, device) == torch.finfo(dtype).eps


def test_a_gpu_rounds_the_products_of_convolutions_by_default():
    assert rounding_unit(torch.float32, GPU, convolves=True) == TENSOR_FLOAT
    assert rounding_unit(torch.float32, CPU, convolves=True) == torch.finfo(torch.float32).eps
    assert rounding_unit(torch.float64, GPU, convolves=True) == torch.finfo(torch.float64).eps


def test_a_gpu_rounds_all_products_where_it_is_allowed_to():
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        assert rounding_unit(torch.float32, GPU) == TENSOR_FLOAT
    finally:
        torch.set_float32_matmul_precision(before)
    assert rounding_unit(torch.float32, GPU) == torch.finfo(torch.float32).eps


def test_full_products_are_full_and_then_as_before():
    before = [place.fp32_precision for place in SETTINGS]
    inside = []

    def broken():
        with full_precision_products():
            inside.extend(place.fp32_precision for place in SETTINGS)
            inside.append(rounding_unit(torch.float32, GPU, convolves=True))
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert inside == [*["ieee"] * 3, torch.finfo(torch.float32).eps]
    assert [place.fp32_precision for place in SETTINGS] == before
    assert torch.backends.cudnn.allow_tf32  # torch's older way to ask still works


def test_which_modules_convolve():
    assert convolves(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Conv2d(1, 1, 3)))
    assert convolves(nn.GRU(2, 2))
    assert not convolves(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    assert not convolves()
