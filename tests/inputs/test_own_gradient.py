"""Gradients that a model takes itself are differentiable, and the caller's switch of autograd is obeyed."""

import pytest
import torch

from liegg.inputs.own_gradient import OwnGradient, takes_gradient

X = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)


def slope(x):
    x.requires_grad_()
    return torch.autograd.grad(x.pow(4).sum(), x)[0]


@pytest.mark.parametrize("function", [slope, lambda x: slope(2 * x / 2)])
def test_second_derivatives(function):
    """Those of x⁴ are 12x², by plain autograd and by torch.func, at a leaf and behind one."""
    leaf = X.clone().requires_grad_()
    first = OwnGradient(function)(leaf)
    second = torch.autograd.grad(first.sum(), leaf)[0]
    pulled = torch.func.vjp(OwnGradient(function), X)[1](torch.ones_like(X))[0]
    for found in (second, pulled):
        torch.testing.assert_close(found, 12 * X**2)


def test_nothing_is_kept_without_autograd():
    """Outputs are detached, in any tree, and the batch keeps its flag."""
    with torch.no_grad():
        y = OwnGradient(lambda x: {"forces": (slope(x), 3)})(X)
    assert (y["forces"][0].requires_grad, y["forces"][1], X.requires_grad) == (False, 3, False)
    torch.testing.assert_close(y["forces"][0], 4 * X**3)


def test_other_failures_are_no_gradients():
    """A model that fails for another reason, or takes none, is left to its own error."""
    assert takes_gradient(slope, X)
    assert not takes_gradient(lambda x: x @ x, X)
    assert not takes_gradient(torch.tanh, X)
