"""Tangents on their way: what a hook sees is the derivative, whichever way it is carried."""

import pytest
import torch
from torch import nn
from torch.nn import functional

import liegg
from cases import mlp, normal
from liegg._utils.errors import NonFiniteError
from liegg.discovery.layers.hooks import Layer, network_of
from liegg.discovery.layers.tangents import plan_tangents, push_tangents


def layers(model, x):
    """Every part of a Sequential."""
    shapes = {}
    for name, part in model.named_children():
        x = part(x)
        shapes[name] = Layer(name, name, type(part).__name__, tuple(x.shape[1:]))
    return list(shapes.values())


@pytest.mark.parametrize("batching", ["vmap", "repeat"])
@pytest.mark.parametrize("directions", [1, 4])
def test_every_layer_is_shown_its_derivatives(batching, directions):
    model, x, tangents = mlp(3, 5, 4), normal(6, 3), normal(directions, 6, 3, seed=1)
    seen = {}

    def see(layer, y, slopes):
        assert not torch.is_grad_enabled()
        seen[layer.name] = y.clone(), slopes.clone()

    missing = push_tangents(
        network_of(model, "Net"), x, tangents, layers(model, x), visit=see, batching=batching
    )
    assert missing == {}
    for end, (y, slopes) in enumerate(seen.values(), start=1):
        jacobian = torch.func.vmap(torch.func.jacrev(model[:end]))(x)
        torch.testing.assert_close(y, model[:end](x))
        torch.testing.assert_close(slopes, torch.einsum("bcx,gbx->gbc", jacobian, tangents))


@pytest.mark.parametrize("batching", ["vmap", "repeat"])
def test_writing_in_place_does_not_reach_back(batching):
    model, x = (
        nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Hardswish(inplace=True)).double(),
        normal(6, 3),
    )
    seen = {}

    def see(layer, y, slopes):
        seen[layer.name] = y.clone(), slopes.clone()

    push_tangents(
        network_of(model, "Net"), x, normal(2, 6, 3), layers(model, x), visit=see, batching=batching
    )
    linear = model[0].weight @ x.mT + model[0].bias[:, None]  # pyright: ignore[reportIndexIssue, reportOperatorIssue]
    torch.testing.assert_close(seen["0"][0], linear.mT)
    torch.testing.assert_close(seen["1"][0], linear.mT.relu())
    assert not torch.equal(seen["0"][1], seen["1"][1])


@pytest.mark.parametrize("batching", ["vmap", "repeat"])
def test_what_does_not_depend_on_the_input_has_no_derivative(batching):
    class Constant(nn.Module):
        def forward(self, x):
            return torch.ones(len(x), 2, dtype=x.dtype)

    seen = []
    push_tangents(
        network_of(Constant(), "Net"),
        normal(5, 3),
        normal(4, 5, 3),
        [Layer("output", "output", "Constant", (2,))],
        visit=lambda _layer, y, slopes: seen.append((y.sum(), slopes.shape, slopes.abs().max())),
        batching=batching,
    )
    assert seen == [(10, (4, 5, 2), 0)]


class Warp(nn.Module):
    def forward(self, x):
        return functional.grid_sample(x, x.new_zeros(len(x), 4, 4, 2), align_corners=False)


def test_layers_before_a_missing_rule_are_reached():
    model, x = nn.Sequential(nn.Conv2d(1, 2, 3), Warp(), nn.Flatten()).double(), normal(6, 1, 6, 6)
    network, some = network_of(model, "Net"), layers(model, x)
    found = plan_tangents(network, liegg.Image(), x, some, writes=False)
    assert [layer.name for layer in found.layers] == ["0"]
    assert set(found.unreached) == {"1", "2"}
    assert found.unreached["1"].startswith(
        "NotImplementedError: Trying to use forward AD with grid_sampler_2d"
    )
    missing = push_tangents(network, x, normal(2, 6, 1, 6, 6), some, visit=lambda *_: None)
    assert missing == found.unreached


def test_our_own_errors_pass():
    def see(*_):
        raise NonFiniteError("mine")

    model, x = mlp(3, 2), normal(4, 3)
    with pytest.raises(NonFiniteError, match="mine"):
        push_tangents(network_of(model, "Net"), x, normal(2, 4, 3), layers(model, x), visit=see)


class Loop(torch.autograd.Function):
    """A sine whose forward rule may be wrong."""

    @staticmethod
    def forward(x, wrong):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
        ctx.wrong = inputs[1]

    @staticmethod
    def vmap(info, in_dims, *args):
        return Loop.apply(*args), in_dims[0]

    @staticmethod
    def jvp(ctx, *tangents):
        return ctx.wrong * tangents[0] * ctx.saved_tensors[0].cos()

    @staticmethod
    def backward(ctx, *gradients):
        return gradients[0] * ctx.saved_tensors[0].cos(), None


@pytest.mark.parametrize(("wrong", "names"), [(1.0, set()), (1.1, {"1", "2"})])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_forward_rules_are_held_to_reverse_mode(wrong, names, dtype):
    class Sine(nn.Module):
        def forward(self, x):
            return Loop.apply(x, wrong)

    torch.manual_seed(0)
    model, x = (
        nn.Sequential(nn.Linear(3, 4), Sine(), nn.Linear(4, 2)).to(dtype),
        normal(6, 3).to(dtype),
    )
    found = plan_tangents(
        network_of(model.requires_grad_(False), "Net"),
        liegg.Linear(3),
        x,
        layers(model, x),
        writes=False,
    )
    assert set(found.unreached) == names
    assert all(
        reason.startswith("forward and reverse derivatives differ by")
        for reason in found.unreached.values()
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_where_nothing_moves_is_no_disagreement(dtype):
    """Every direction of this action is a symmetry, so both derivatives are rounding, and not the same."""

    class Far(nn.Module):
        def forward(self, x):
            return (x.square().sum(1, keepdim=True).sqrt() + 100.0).log()

    x = normal(6, 5).to(dtype)
    model = nn.Sequential(Far(), nn.Linear(1, 3)).to(dtype).requires_grad_(False)

    class Turns(liegg.Linear):
        def field(self, h, x):
            skew = h.reshape(5, 5) - h.reshape(5, 5).mT
            return x @ skew.to(x)

    found = plan_tangents(network_of(model, "Net"), Turns(5), x, layers(model, x), writes=False)
    assert found.unreached == {}
