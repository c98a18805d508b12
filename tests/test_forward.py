"""Forward derivatives; batch norms with fixed statistics."""

import pytest
import torch
from torch import nn
from torch.nn.functional import batch_norm

from cases import normal
from liegg._forward import jvp


def shifted(norm: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A norm with statistics of its own."""
    draw = torch.Generator().manual_seed(0)
    for tensor in (*norm.parameters(), *norm.buffers()):
        if tensor.is_floating_point():
            tensor.data.copy_(torch.rand(tensor.shape, generator=draw) + 0.5)
    return norm.eval().to(dtype)


@pytest.mark.parametrize(
    ("kind", "shape"), [(nn.BatchNorm1d, ()), (nn.BatchNorm1d, (5,)), (nn.BatchNorm2d, (4, 5)), (nn.BatchNorm3d, (2, 3, 2))]
)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_norm_is_what_torch_makes_of_it(kind, shape, affine, dtype):
    norm = shifted(kind(3, affine=affine, eps=0.1), dtype)
    x, t = (normal(6, 3, *shape, seed=seed).to(dtype) for seed in (0, 1))
    value, slope = jvp(norm, x, t)
    plain, known = torch.func.jvp(norm, (x,), (t,))[:2]
    assert torch.equal(value, plain)
    torch.testing.assert_close(slope, known, rtol=8 * torch.finfo(dtype).eps, atol=8 * torch.finfo(dtype).eps)
    assert slope.dtype == dtype


def test_tangents_side_by_side():
    norm = shifted(nn.BatchNorm2d(3), torch.float64)
    x, t = normal(6, 3, 4, 4), normal(5, 6, 3, 4, 4, seed=1)
    found = torch.func.vmap(lambda one: jvp(lambda x: norm(x.tanh()).square(), x, one))(t)[1]
    known = torch.stack([torch.func.jvp(lambda x: norm(x.tanh()).square(), (x,), (one,))[1] for one in t])
    torch.testing.assert_close(found, known, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("training", [True, False])
def test_norms_of_the_batch_itself_are_left_to_torch(training):
    x, t = normal(6, 3), normal(6, 3, seed=1)
    mean, var = (torch.zeros(3, dtype=x.dtype), torch.ones(3, dtype=x.dtype)) if not training else (None, None)
    torch.testing.assert_close(
        jvp(lambda x: batch_norm(x, mean, var, training=training), x, t),
        torch.func.jvp(lambda x: batch_norm(x, mean, var, training=training), (x,), (t,)),
    )


def test_a_norm_of_something_that_does_not_move():
    norm = shifted(nn.BatchNorm1d(3), torch.float64)
    fixed = normal(6, 3)
    value, slope = jvp(lambda x: norm(fixed) + x, fixed, torch.ones_like(fixed))
    assert torch.equal(slope, torch.ones_like(slope))
    assert torch.equal(value, norm(fixed) + fixed)
