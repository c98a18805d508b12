"""The bridge makes a model of arrays an ordinary function of torch: values and derivatives in both modes, also batched."""

from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.errors import DtypeError, ModelError
from liegg._utils.forward_mode import jvp
from liegg.inputs.foreign.bridge import Bridge, as_tensors
from liegg.inputs.foreign.protocol import ForeignModel

W = np.random.default_rng(0).normal(size=(3, 2))


class Sine(ForeignModel):
    """sin(xW) with derivatives written by hand, as those of another framework."""

    name = "sine"
    precision = torch.float64
    differentiable = True
    calls = 0

    def evaluate(self, x) -> Any:
        type(self).calls += 1
        return np.sin(x @ W)

    def push(self, x, tangents):
        return np.cos(x @ W) * (tangents @ W)

    def pull(self, x, cotangents):
        return (np.cos(x @ W) * cotangents) @ W.T


def in_torch(x):
    return (x @ torch.tensor(W)).sin()


@pytest.fixture
def x():
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_values_and_derivatives_are_those_of_the_model(x):
    bridge = Bridge(Sine())
    torch.testing.assert_close(bridge(x), in_torch(x))
    way = torch.ones_like(x)
    one, two = (jvp(f, x, way) for f in (bridge, in_torch))
    torch.testing.assert_close(one, two)
    torch.testing.assert_close(
        *(torch.func.jacrev(lambda x, f=f: f(x).sum(0))(x) for f in (bridge, in_torch))
    )
    leaf = x.clone().requires_grad_()
    bridge(leaf).sum().backward()
    slopes = torch.cos(x @ torch.tensor(W)) @ torch.tensor(W.T)
    torch.testing.assert_close(leaf.grad, slopes)


def test_many_directions_are_pushed_in_one_call(x):
    bridge, ways = Bridge(Sine()), torch.randn(4, 5, 3, dtype=torch.float64)
    push = torch.func.vmap(lambda way: jvp(bridge, x, way)[1])
    other = torch.func.vmap(lambda way: jvp(in_torch, x, way)[1])
    torch.testing.assert_close(push(ways), other(ways))
    batches = torch.stack([x, 2 * x])
    torch.testing.assert_close(torch.func.vmap(bridge)(batches), torch.func.vmap(in_torch)(batches))
    moved = torch.func.vmap(lambda b: jvp(bridge, b, b)[1])(batches)
    torch.testing.assert_close(moved, torch.func.vmap(lambda b: jvp(in_torch, b, b)[1])(batches))


@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd", "finite"])
def test_a_new_framework_is_one_class(route):
    class Norm(Sine):
        name = "norm"

        def evaluate(self, x):
            return np.square(x).sum(1)

        def push(self, x, tangents):
            return 2 * (x * tangents).sum(2)

        def pull(self, x, cotangents):
            return 2 * x * cotangents[..., None]

    x = np.random.default_rng(0).normal(size=(100, 3))
    sym = liegg.discover(Norm(), x, liegg.Linear(3), run=liegg.Run(route=route))
    assert (sym.nullity, sym.name, sym.model) == (3, "so(3)", "norm")
    assert sym.settings["route"] == route


def test_a_differentiable_model_returns_one_array(x):
    class Fields(Sine):
        def evaluate(self, x):
            return {"y": x}

    with pytest.raises(DtypeError, match="returned a dict; expected one array"):
        Bridge(Fields())(x)
    plain = ForeignModel.push
    with pytest.raises(ModelError, match="has no forward derivatives"):
        plain(Sine(), W, W)


def test_trees_of_arrays_become_trees_of_tensors():
    found = as_tensors({"a": np.ones(2), "b": [np.zeros(1), "word"], "c": torch.ones(1)})
    assert found["a"].dtype == torch.float64
    assert found["b"][1] == "word"
    assert isinstance(found["c"], torch.Tensor)
