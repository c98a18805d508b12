"""Forward derivatives, of attention and fixed norms too, and torch's choice of kernels as it was afterwards."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import batch_norm

import liegg
from cases import normal
from liegg._utils.errors import ModelError
from liegg._utils.forward_mode import differentiable_attention, jvp


class Fused(nn.Module):
    """Three vectors that attend to each other by torch's fused kernel."""

    def __init__(self):
        super().__init__()
        self.mixed, self.last = nn.Linear(4, 12), nn.Linear(4, 7)

    def forward(self, x):
        q, k, v = self.mixed(x)[:, None].chunk(3, -1)
        return self.last(functional.scaled_dot_product_attention(q, k, v)).flatten(1)


class Heads(nn.Module):
    """The same by torch's own layer, whose fast path in eval mode has no forward derivative."""

    def __init__(self):
        super().__init__()
        self.heads, self.last = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 7)

    def forward(self, x):
        return self.last(self.heads(x, x, x, need_weights=False)[0]).flatten(1)


class Encoder(nn.Module):
    """The same by torch's whole layer, which has a fast path of its own."""

    def __init__(self):
        super().__init__()
        self.layer, self.last = (
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
            nn.Linear(4, 7),
        )

    def forward(self, x):
        return self.last(self.layer(x)).flatten(1)


def made(kind: type[nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return kind().double()


def kernels() -> tuple[bool, ...]:
    cuda = torch.backends.cuda
    return (
        torch.backends.mha.get_fastpath_enabled(),
        cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(),
        cuda.math_sdp_enabled(),
    )


@pytest.mark.parametrize("kind", [Fused, Heads, Encoder])
def test_attention_is_read_by_forward_derivatives(kind):
    net, x, action = made(kind), normal(30, 3, 4), liegg.Linear(4, copies=3)
    cheapest = liegg.discover(net, x, action, controls="none")  # 16 directions, 21 outputs
    assert cheapest.settings["route"] == "jvp"
    assert not [note for note in cheapest.notes if "cannot transform" in note]
    forward, reverse, plain = (
        liegg.discover(net, x, action, controls="none", run=liegg.Run(route=route))
        for route in ("jvp", "vjp", "autograd")
    )
    for other in (forward, plain):
        torch.testing.assert_close(
            other.accumulated.factor.mT @ other.accumulated.factor,
            reverse.accumulated.factor.mT @ reverse.accumulated.factor,
            rtol=1e-10,
            atol=1e-12,
        )
        torch.testing.assert_close(other.defects, reverse.defects, rtol=1e-10, atol=1e-12)


def test_the_kernels_are_the_callers_own_afterwards():
    before = kernels()
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        chosen = kernels()
        liegg.discover(made(Fused), normal(30, 3, 4), liegg.Linear(4, copies=3), controls="none")
        assert kernels() == chosen
    assert kernels() == before


def test_the_kernels_are_the_callers_own_after_a_failure():
    before, seen = kernels(), []

    def failing(x):
        seen.append(kernels())
        raise ValueError("no")

    with pytest.raises(ModelError, match="ValueError: no"):
        liegg.discover(failing, normal(30, 3, 4), liegg.Linear(4, copies=3))
    assert kernels() == before
    assert seen[0] == (False, False, False, True)


def test_attention_kernels_are_put_back_after_a_failure():
    before = torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled()

    def failing():
        with differentiable_attention():
            assert not torch.backends.mha.get_fastpath_enabled()
            assert not torch.backends.cuda.flash_sdp_enabled()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (
        torch.backends.mha.get_fastpath_enabled(),
        torch.backends.cuda.flash_sdp_enabled(),
    ) == before


def test_a_derivative_and_the_value_with_it():
    value, slope = jvp(torch.sin, torch.tensor(0.0), torch.tensor(2.0))
    assert (float(value), float(slope)) == (0.0, 2.0)


def shifted(norm: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A norm with statistics of its own."""
    draw = torch.Generator().manual_seed(0)
    for tensor in (*norm.parameters(), *norm.buffers()):
        if tensor.is_floating_point():
            tensor.data.copy_(torch.rand(tensor.shape, generator=draw) + 0.5)
    return norm.eval().to(dtype)


def test_a_norm_is_what_torch_makes_of_it():
    for dtype, affine, (kind, shape) in product(
        [torch.float64, torch.float32, torch.bfloat16],
        [True, False],
        [
            (nn.BatchNorm1d, ()),
            (nn.BatchNorm1d, (5,)),
            (nn.BatchNorm2d, (4, 5)),
            (nn.BatchNorm3d, (2, 3, 2)),
        ],
    ):
        norm = shifted(kind(3, affine=affine, eps=0.1), dtype)
        x, t = (normal(6, 3, *shape, seed=seed).to(dtype) for seed in (0, 1))
        value, slope = jvp(norm, x, t)
        plain, known = torch.func.jvp(norm, (x,), (t,))[:2]
        assert torch.equal(value, plain)
        torch.testing.assert_close(
            slope, known, rtol=8 * torch.finfo(dtype).eps, atol=8 * torch.finfo(dtype).eps
        )
        assert slope.dtype == dtype


def test_tangents_side_by_side():
    norm = shifted(nn.BatchNorm2d(3), torch.float64)
    x, t = normal(6, 3, 4, 4), normal(5, 6, 3, 4, 4, seed=1)
    found = torch.func.vmap(lambda one: jvp(lambda x: norm(x.tanh()).square(), x, one))(t)[1]
    known = torch.stack(
        [torch.func.jvp(lambda x: norm(x.tanh()).square(), (x,), (one,))[1] for one in t]
    )
    torch.testing.assert_close(found, known, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("training", [True, False])
def test_norms_of_the_batch_itself_are_left_to_torch(training):
    x, t = normal(6, 3), normal(6, 3, seed=1)
    mean, var = (
        (torch.zeros(3, dtype=x.dtype), torch.ones(3, dtype=x.dtype))
        if not training
        else (None, None)
    )
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


def with_moving(name: str, *, input_too: bool):
    """A norm one of whose numbers moves."""
    given: dict[str, Any] = {
        "weight": normal(3),
        "bias": normal(3, seed=1),
        "running_mean": normal(3, seed=2),
        "running_var": normal(3).exp(),
    }
    return lambda x: batch_norm(
        x if input_too else normal(6, 3, seed=5), **given | {name: x.square().mean(0)}
    )


@pytest.mark.parametrize("name", ["running_mean", "running_var"])
def test_statistics_that_move_are_refused_by_torch_itself(name):
    with pytest.raises(RuntimeError, match="not differentiable wrt running_mean and running_var"):
        jvp(with_moving(name, input_too=True), normal(6, 3), normal(6, 3, seed=1))


def test_a_norm_whose_weights_move_is_left_to_torch():
    for input_too, name in product([True, False], ["weight", "bias"]):
        x, t, norm = normal(6, 3), normal(6, 3, seed=1), with_moving(name, input_too=input_too)
        torch.testing.assert_close(
            jvp(norm, x, t), torch.func.jvp(norm, (x,), (t,)), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_the_product_alone_is_rounded(dtype):
    norm: Any = shifted(nn.BatchNorm1d(3), torch.float32)
    x, t = (normal(200, 3, seed=seed).to(dtype) for seed in (0, 1))
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    assert torch.equal(jvp(norm, x, t)[1], (t.float() * scale).to(dtype))
