"""Candidate spaces that are solved on the GPU: all directions, and the smallest alone."""

import time

import pytest
import torch
from torch import nn

import liegg
from cases import mlp, normal
from gpu.agreement import TOLERANCES, assert_agree, differences

SIDE = 26
"""676 candidates: more than the 512 up to which the CPU solves."""


class Form(nn.Module):
    """A function of one quadratic form, which so(n) in other coordinates leaves unchanged."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("weights", torch.linspace(1, 4, n, dtype=torch.float64))
        self.weights: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ((x.square() @ self.weights.to(x)) / x.shape[1]).sin()


def solved(device, model, x, **options):
    """Results and seconds on the CPU and on the device."""
    results, seconds = [], []
    for place in (torch.device("cpu"), device):
        begin = time.perf_counter()
        results.append(
            liegg.discover(
                model.to(place), x.to(place), liegg.Linear(SIDE), controls="none", **options
            )
        )
        seconds.append(time.perf_counter() - begin)
    return *results, {"candidates": SIDE**2, "cpu_seconds": seconds[0], "seconds": seconds[1]}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_all_directions(dtype, device, enter):
    x = normal(4 * SIDE * SIDE, SIDE).to(dtype)
    here, there, figures = solved(device, Form(SIDE).to(dtype), x)
    assert there.nullity == SIDE * (SIDE - 1) // 2
    assert float(there.defects[: there.nullity].max()) < 1e-4 < float(there.defects[there.nullity])
    enter(**figures, **assert_agree(there, here, 10 * TOLERANCES[dtype]))


def test_smallest_directions(device, enter):
    """A random network has no gap between its defects: the hardest case for this solver."""
    x = normal(4 * SIDE * SIDE, SIDE)
    here, there, figures = solved(device, mlp(SIDE, 2 * SIDE, 2), x, run=liegg.Run(bottom=12))
    assert there.accumulated.bottom is not None
    assert len(there.defects) == len(here.defects) == 12
    difference = differences(there, here)["defects"]
    assert difference < 1e-6  # both stop once their residuals are small
    enter(**figures, defects=difference, steps=there.accumulated.bottom.steps)
