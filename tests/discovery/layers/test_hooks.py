"""Hooks: names of calls, entries of outputs, early stops, and nothing left behind."""

import warnings
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.discovery.layers.hooks import (
    Layer,
    hooked,
    network_of,
    pick_tensor,
    run_to_layers,
    truncate,
    watching,
)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def hooks(model):
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


def test_parts_have_their_names_and_the_whole_comes_last():
    network = network_of(nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Tanh())), "Net")
    assert list(network.parts) == ["0", "1", "1.0", "output"]
    assert network.parts["output"] is network.root


def test_the_whole_gives_way_to_a_module_named_output():
    network = network_of(nn.ModuleDict({"output": nn.Linear(2, 2)}), "Net")
    assert list(network.parts) == ["output", "output of Net"]


def test_shared_modules_keep_their_first_name():
    shared = nn.Linear(2, 2)
    network = network_of(nn.ModuleDict({"one": shared, "two": shared}), "Net")
    assert list(network.parts) == ["one", "output"]
    assert network.aliases == {"one": "one", "two": "one", "output": "output"}


def test_what_only_computes_weights_is_no_part():
    network = network_of(
        nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2))), "Net"
    )
    assert not [name for name in network.parts if "weight" in name]


def test_compiled_modules_have_no_hooks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced: Any = torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))
    with pytest.raises(
        ArgumentError, match=r"Net is compiled by TorchScript, which hides its layers"
    ):
        network_of(traced, "Net")
    assert list(network_of(nn.Sequential(traced, nn.Tanh()), "Net").parts) == ["1", "output"]


def test_hooks_are_gone_after_a_failure_in_the_block_and_in_the_setting():
    model = nn.Sequential(nn.Linear(2, 2))
    seen = []

    def record_dtypes():
        parts = network_of(model, "Net").parts
        with hooked(parts, lambda call: seen.append(call.name), lambda name, _: seen.append(name)):
            assert hooks(model) == 4
            model(torch.ones(1, 2))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record_dtypes()
    assert seen == ["output", "0", "0", "output"]
    assert hooks(model) == 0
    with pytest.raises(AttributeError), hooked({"a": model, "b": None}, lambda *_: None):  # pyright: ignore[reportArgumentType]
        raise AssertionError("the block must not run")
    assert hooks(model) == 0


def test_a_run_stops_at_the_last_layer_and_tells_what_was_missing():
    class Bomb(nn.Module):
        def forward(self, x):
            raise ZeroDivisionError

    network = network_of(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), Bomb()), "Net")
    seen = []
    assert (
        run_to_layers(
            network,
            torch.ones(1, 2),
            [Layer("1", "1", "Tanh", (3,))],
            lambda layer, y: seen.append((layer.name, y.shape)),
        )
        == []
    )
    assert seen == [("1", (1, 3))]
    with pytest.raises(ZeroDivisionError):
        run_to_layers(network, torch.ones(1, 2), [Layer("2", "2", "Bomb", ())], lambda *_: None)
    short = network_of(nn.Sequential(nn.Tanh()), "Net")
    assert run_to_layers(
        short, torch.ones(1, 2), [Layer("0#2", "0", "Tanh", (2,))], lambda *_: None
    ) == ["0#2"]


def test_networks_do_not_catch_the_stop():
    class Careful(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.inner(x)
            except Exception:
                return x

    network = network_of(Careful(), "Net")
    assert (
        run_to_layers(
            network, torch.ones(1, 2), [Layer("inner", "inner", "Linear", (2,))], lambda *_: None
        )
        == []
    )


def test_a_truncated_network_is_a_function_of_samples():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True)).double()
    function = truncate(network_of(model, "Net"), Layer("0", "0", "Linear", (3,)))
    x = normal(5, 2)
    torch.testing.assert_close(function(x), model[0](x))  # not what the next layer wrote into it
    assert function.__name__ == "Net.0"
    assert hooks(model) == 0


def test_entries_of_outputs():
    for output, pick, expected in [
        (torch.ones(2), None, 1.0),
        ((torch.zeros(2, dtype=torch.int64), torch.full((2,), 2.0)), None, 2.0),
        ((torch.ones(2), torch.full((2,), 3.0)), 1, 3.0),
        ((torch.ones(2), torch.full((2,), 3.0)), -1, 3.0),
        ({"ids": torch.arange(2), "logits": torch.full((2,), 4.0)}, "logits", 4.0),
        ({"items": torch.full((2,), 5.0)}, "items", 5.0),
        (Pair(torch.ones(2), torch.full((2,), 6.0)), "right", 6.0),
        ((torch.ones(2), [torch.full((2,), 7.0)]), 1, 7.0),
    ]:
        assert pick_tensor(output, pick, "a").tolist() == [expected] * 2


def test_entries_that_are_not_there():
    for output, pick, message in [
        (
            torch.arange(2),
            None,
            "the output of layer 'a' is a tensor of torch.int64, which holds no floating point tensor",
        ),
        (None, None, "is None, which holds no floating point tensor"),
        ((torch.ones(2),), 1, "no field 1 in what layer 'a' returned, a tuple with fields 0 "),
        (
            {"x": torch.ones(2)},
            "y",
            "no field 'y' in what layer 'a' returned, a dict with fields 'x' ",
        ),
        (
            Pair(torch.ones(2), torch.ones(2)),
            "middle",
            "no field 'middle' in what layer 'a' returned, a Pair with fields ",
        ),
        (None, 0, "no field 0 in what layer 'a' returned, None"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            pick_tensor(output, pick, "a")


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
