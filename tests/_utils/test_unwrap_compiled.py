"""Compiled models: the same numbers as what they were compiled from, nothing compiled on the way, and compiled still afterwards."""

import functools
from typing import cast

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.unwrap_compiled import is_compiled, original, uncompiled, unwrap

ACTION = liegg.Linear(4)


class Counting:
    """A backend that runs graphs as they are and counts them."""

    def __init__(self):
        self.count = 0

    def __call__(self, graph, _inputs):
        self.count += 1
        return graph.forward


def plain() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 3)).double()


def whole(net, backend):
    return torch.compile(net, backend=backend)


def in_part(net, backend):
    net[0] = torch.compile(net[0], backend=backend)
    return net


def in_place(net, backend):
    net.compile(backend=backend)
    return net


def function(net, backend):
    return torch.compile(lambda x: net(x), backend=backend)


def method(net, backend):
    return torch.compile(net.forward, backend=backend)


def around(net, backend):
    inner = torch.compile(net, backend=backend)
    return lambda x: inner(x)


def bound(net, backend):
    return functools.partial(torch.compile(lambda net, x: net(x), backend=backend), net)


WAYS = [whole, in_part, in_place, function, method, around, bound]


@pytest.fixture(autouse=True)
def forgotten():
    """torch keeps what it compiled for a piece of code, whoever asks."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("way", WAYS)
def test_a_compiled_model_gives_the_numbers_of_the_plain_one(way):
    backend, x = Counting(), normal(60, 4)
    model = way(plain(), backend)
    found, wanted = (liegg.discover(net, x, ACTION, controls="none") for net in (model, plain()))
    torch.testing.assert_close(found.defects, wanted.defects, rtol=1e-9, atol=1e-12)
    assert found.settings["route"] == wanted.settings["route"]
    assert backend.count == 0
    # An argument of a compiled function hides that it is one.
    expected = [] if way is bound else [Diagnosis.COMPILED_MODEL]
    assert [note.diagnosis for note in found.notes] == expected


@pytest.mark.parametrize("way", [whole, in_part, in_place])
def test_layers_of_a_compiled_model(way):
    backend, x = Counting(), normal(60, 4)
    found, wanted = (
        liegg.discover_layers(net, x, ACTION) for net in (way(plain(), backend), plain())
    )
    assert found.names == wanted.names
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(
            one.invariance.defects, other.invariance.defects, rtol=1e-9, atol=1e-12
        )
    assert backend.count == 0
    assert Diagnosis.COMPILED_MODEL in [note.diagnosis for note in found.notes]


@pytest.mark.parametrize("way", [whole, in_part, in_place])
def test_fresh_weights_of_a_compiled_model(way):
    backend, x = Counting(), normal(60, 4)
    found, wanted = (
        liegg.discover(net, x, ACTION, controls="reinitialised", run=liegg.Run(control_draws=2))
        for net in (way(plain(), backend), plain())
    )
    assert found.controls.reinitialised is not None
    assert wanted.controls.reinitialised is not None
    torch.testing.assert_close(
        found.controls.reinitialised.along,
        wanted.controls.reinitialised.along,
        rtol=1e-9,
        atol=1e-12,
    )
    assert found.controls.reinitialised.notes == wanted.controls.reinitialised.notes
    assert backend.count == 0


@pytest.mark.parametrize("way", [whole, in_part, function])
def test_it_is_compiled_and_in_its_mode_afterwards(way):
    backend, x = Counting(), normal(60, 4)
    net = plain()
    model = way(net, backend)
    parts = [(part, part.training) for part in net.modules()]
    liegg.discover(model, x, ACTION, controls="none")
    assert [(part, part.training) for part in net.modules()] == parts
    assert is_compiled(model)
    model(x)
    assert backend.count > 0


def test_samples_are_verified_with_a_compiled_model():
    x = normal(60, 4)
    net = torch.compile(lambda x: x.square().sum(1), backend=(backend := Counting()))
    sym = liegg.discover(net, x[:40], ACTION, held_out=x[40:])
    assert sym.nullity == 6
    assert sym.verification is not None
    assert sym.verification.holds
    assert backend.count == 0


def test_what_is_compiled_is_told_apart():
    net = plain()
    assert not is_compiled(net)
    assert not is_compiled(abs)
    assert all(
        is_compiled(way(plain(), "eager")) for way in (whole, in_part, in_place, function, method)
    )
    assert original(torch.compile(net, backend="eager")) is net
    assert original(abs) is abs


def test_compiled_parts_are_replaced_where_they_are():
    net = plain()
    first = net[0]
    assert unwrap(in_part(net, "eager")) is net
    assert net[0] is first


def test_compiling_goes_on_after_a_failure():
    backend = Counting()
    run = torch.compile(lambda x: x + 1, backend=backend)

    def failing():
        with uncompiled():
            run(torch.ones(2))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert backend.count == 0
    run(torch.ones(2))
    assert backend.count == 1


def test_what_is_wrapped_for_parallel_training_is_analysed_without_its_wrapper():
    net, x = plain(), normal(60, 4)
    for inner in (net, torch.compile(net, backend="eager")):
        wrapped = nn.DataParallel(cast(nn.Module, inner))
        assert original(wrapped) is net
        found = liegg.discover(
            wrapped, x, ACTION, controls="reinitialised", run=liegg.Run(control_draws=2)
        )
        assert (found.model, found.samples) == ("Sequential", 60)
    assert not is_compiled(nn.DataParallel(net))
    layers = liegg.discover_layers(nn.DataParallel(net), x, ACTION)
    assert [layer.name for layer in layers] == [
        layer.name for layer in liegg.discover_layers(net, x, ACTION)
    ]
