"""Rows folded on the GPU: the R factor and the Gram matrix are those of the CPU."""

import pytest
import torch

from cases import normal
from liegg.polarization import gram, r_factor

COLUMNS = 40


def rows(count: int, device: torch.device) -> torch.Tensor:
    """Rows with columns of sizes from 1 to 1e4, the last of which is a sum of others."""
    scale = torch.logspace(0, 4, COLUMNS, dtype=torch.float64)
    drawn = normal(count, COLUMNS) * scale
    drawn[:, -1] = drawn[:, 0] + drawn[:, 1]
    return drawn.to(device)


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """Largest difference as a share of the lengths of the columns that belong to an entry."""
    lengths = other.diagonal().sqrt()
    return float(((one - other).abs() / (lengths[:, None] * lengths)).max())


def test_r_factor(device, enter):
    drawn = rows(3000, device)
    state = r_factor.init(COLUMNS, device)
    for piece in drawn.split(711):
        state = r_factor.update(state, piece)
    assert state.r.device.type == device.type
    assert state.rows == 3000
    assert bool((state.r.diagonal() >= 0).all())
    assert bool((state.r.tril(-1) == 0).all())
    expected = drawn.cpu().mT @ drawn.cpu()
    difference = apart(state.r.cpu().mT @ state.r.cpu(), expected)
    assert difference < 1e-13  # a QR in float64 is backward stable
    halves = [r_factor.update(r_factor.init(COLUMNS, device), half) for half in drawn.chunk(2)]
    merged = r_factor.merge(*halves)
    assert merged.rows == 3000
    assert apart(merged.r.cpu().mT @ merged.r.cpu(), expected) < 1e-13
    smallest = float(torch.linalg.svdvals(state.r.cpu())[-1])
    assert smallest < 1e-10 * float(state.r.cpu().norm())  # the null direction is kept
    enter(square=difference, null=smallest / float(state.r.cpu().norm()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_gram_matrix(dtype, device, enter):
    drawn = rows(3000, device).to(dtype)
    state = gram.init(COLUMNS, device)
    for piece in drawn.split(711):
        state = gram.update(state, piece)
    expected = drawn.cpu().double().mT @ drawn.cpu().double()
    difference = apart(state.matrix.cpu().triu(), expected.triu())
    factor = gram.factor(state).r.cpu()
    assert state.rows == 3000
    assert difference < 1e-13  # sums of float64 products, whatever the type of the rows
    assert apart(factor.mT @ factor, expected) < 1e-12  # with a ridge of 1e-13 at most
    enter(matrix=difference)


def test_gram_matrix_of_products(device, enter):
    left, right = normal(5000, 6).to(device), normal(5000, 7, seed=1).to(device)
    state = gram.update_products(gram.init(42, device), left, right)
    formed = torch.einsum("mp,mq->mpq", left.cpu(), right.cpu()).flatten(1)
    difference = apart(state.matrix.cpu().triu(), (formed.mT @ formed).triu())
    assert difference < 1e-13
    enter(matrix=difference)
