"""Stacks of perceptrons: each network's outputs are its own, whatever the padding."""

import math

import torch

from liegg.studies.ensemble.stack import initialise

SIZES = [(3, 4, 6, 2), (3, 7, 1, 2)]


def test_outputs_are_those_of_the_single_networks() -> None:
    stack = initialise(SIZES, [1, 2])
    x = torch.randn(2, 9, 3, generator=torch.Generator().manual_seed(0))
    for index in range(len(stack)):
        torch.testing.assert_close(stack(x)[index], stack.network(index)(x[index]))


def test_a_network_alone_has_its_own_widths() -> None:
    stack = initialise(SIZES, [1, 2]).to(dtype=torch.float64)
    for index, sizes in enumerate(SIZES):
        layers = [layer for layer in stack.network(index) if isinstance(layer, torch.nn.Linear)]
        assert (layers[0].in_features, *(layer.out_features for layer in layers)) == sizes
        assert layers[0].weight.dtype == torch.float64


def test_a_single_network_as_a_stack() -> None:
    stack = initialise(SIZES, [1, 2])
    x = torch.randn(1, 9, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(stack.single(1)(x)[0], stack.network(1)(x[0]))
    assert stack.single(1).sizes == (SIZES[1],)


def test_first_layers_can_be_replaced() -> None:
    deep = initialise([(3, 4, 4, 2)], [1])
    other = initialise([(3, 4, 5)], [2])
    both = deep.replaced(other, 1)
    assert torch.equal(both.weights[0], other.weights[0])
    assert torch.equal(both.biases[0], other.biases[0])
    assert all(
        torch.equal(a, b)
        for a, b in zip(
            both.weights[1:] + both.biases[1:], deep.weights[1:] + deep.biases[1:], strict=True
        )
    )


def test_weights_depend_on_no_other_network() -> None:
    both, alone = initialise(SIZES, [1, 2]), initialise(SIZES[1:], [2])
    for one, other in zip(both.network(1).parameters(), alone.network(0).parameters(), strict=True):
        assert torch.equal(one, other)


def test_weights_are_drawn_as_torch_draws_them() -> None:
    weight = initialise([(400, 300, 1)], [5]).weights[0]
    bound = 400**-0.5
    assert bound * 0.999 < float(weight.abs().max()) <= bound
    assert math.isclose(float(weight.std()), bound / 3**0.5, rel_tol=0.01)
