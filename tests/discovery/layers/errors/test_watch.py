"""Hooks that see arguments as they were, and replace outputs."""

import torch
from torch import nn

from liegg.discovery.layers.errors.watch import watching
from liegg.discovery.layers.hooks import network_of


def test_arguments_are_those_before_a_module_works_in_place():
    root = nn.Sequential(nn.ReLU(inplace=True), nn.Sequential(nn.ReLU(inplace=True)))
    network, seen = network_of(root, "net"), []

    def visit(passage):
        passage.module(torch.ones(1))  # passes unseen
        seen.append((passage.name, passage.args[0].tolist(), passage.output.tolist()))

    with watching(network, {"0", "1", "1.0"}, visit):
        root(torch.tensor([-1.0, 2.0]))
    assert seen == [
        ("0", [-1.0, 2.0], [0.0, 2.0]),
        ("1.0", [0.0, 2.0], [0.0, 2.0]),
        ("1", [0.0, 2.0], [0.0, 2.0]),
    ]
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in root.modules())


class Careful(nn.Module):
    """Tries a module, and goes on if it fails."""

    def __init__(self):
        super().__init__()
        self.inner = Fails()

    def forward(self, x):
        try:
            self.inner(x)
        except ValueError:
            x = x + 1
        return self.inner(x)


class Fails(nn.Module):
    def forward(self, x):
        if float(x) == 0:
            raise ValueError("zero")
        return x


def test_a_call_that_fails_does_not_spoil_the_next():
    root = Careful()
    network, seen = network_of(root, "net"), []
    with watching(network, {"inner"}, lambda one: seen.append((one.name, float(one.args[0])))):
        root(torch.zeros(()))
    assert seen == [("inner", 1.0)]


def test_an_output_is_replaced_in_one_call_of_two():
    relu = nn.ReLU()
    root = nn.Sequential(relu, relu, nn.Identity())
    network = network_of(root, "net")
    with watching(network, {"0"}, lambda one: one.output + 1 if one.name == "0#2" else None):
        assert root(torch.tensor([1.0])).tolist() == [2.0]
    assert root(torch.tensor([1.0])).tolist() == [1.0]
