"""Reading `layers=` and finding what it names."""

import pytest
from torch import nn

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError, RandomModelError
from liegg.discovery.layers.hooks import network_of
from liegg.discovery.layers.select import parse_selection, select_layers
from liegg.discovery.layers.trace import Call

NETWORK = network_of(
    nn.ModuleDict(
        {
            "conv1": nn.Conv2d(1, 1, 1),
            "conv2": nn.Conv2d(1, 1, 1),
            "act": nn.Tanh(),
            "idle": nn.Tanh(),
        }
    ),
    "Net",
)


def call(name, kind="Conv2d", leaf=True, **more):
    return Call(name, name.split("#")[0], kind, leaf, shape=(2,), **more)


CALLS = [
    call("conv1"),
    call("act", "Tanh"),
    call("conv2"),
    call("act#2", "Tanh"),
    call("output", "ModuleDict", leaf=False, new=False, same="act#2"),
]


def names(layers, calls=CALLS):
    return [layer.name for layer in select_layers(calls, parse_selection(layers), NETWORK)[0]]


def test_every_form_of_asking():
    for layers, expected in [
        (None, ["conv1", "act", "conv2", "act#2"]),
        ("act", ["act", "act#2"]),
        (["act#2"], ["act#2"]),
        (["output", "conv?"], ["conv1", "conv2", "output"]),
        (("conv2",), ["conv2"]),
        (nn.Tanh, ["act", "act#2"]),
        ((nn.Conv2d, nn.Tanh), ["conv1", "act", "conv2", "act#2"]),
        ([nn.Conv2d], ["conv1", "conv2"]),
        ({"conv*": 1, "act": None}, ["conv1", "act", "conv2", "act#2"]),
    ]:
        assert names(layers) == expected


def test_picks_go_with_their_names():
    layers, _ = select_layers(CALLS, parse_selection({"conv1": 1, "act": "logits"}), NETWORK)
    assert {layer.name: layer.pick for layer in layers} == {
        "conv1": 1,
        "act": "logits",
        "act#2": "logits",
    }


def test_what_is_no_way_of_asking():
    for layers in [
        [],
        {},
        3,
        [3],
        nn.Tanh(),
        int,
        ["a", nn.Tanh],
        {"a": 1.5},
        {"a": True},
        {nn.Tanh: 1},
        ""[:0] or (),
    ]:
        with pytest.raises(
            ArgumentError,
            match=r"expected None for all, names such as \['conv1', 'block\*'\], types such as nn.Conv2d",
        ):
            parse_selection(layers)


def test_names_that_do_not_exist_and_names_that_are_not_called():
    with pytest.raises(
        ArgumentError, match=r"Net has no layer 'conv3'; it has conv1, act, conv2, act#2, output\."
    ):
        names(["conv3"])
    with pytest.raises(
        ArgumentError,
        match="layer 'idle' is never called by Net on this data; those called are conv1, act",
    ):
        names(["conv1", "idle"])
    with pytest.raises(
        ArgumentError,
        match="Net calls no GRU or LSTM on this data; it calls Conv2d, Tanh, ModuleDict",
    ):
        names((nn.GRU, nn.LSTM))


def test_long_lists_of_names_are_cut():
    many = [call("conv1" if i == 0 else f"conv1#{i + 1}") for i in range(20)]
    with pytest.raises(ArgumentError, match="conv1#12 and 8 more"):
        names("b", many)


def test_trouble_is_noted_or_refused():
    calls = [call("conv1", problem="too odd"), call("act", "Tanh")]
    layers, notes = select_layers(calls, parse_selection(["conv*", "act"]), NETWORK)
    assert [layer.name for layer in layers] == ["act"]
    assert [(note.diagnosis, note.values) for note in notes] == [
        (Diagnosis.LAYER_LEFT_OUT, {"reason": "too odd"})
    ]
    with pytest.raises(ModelError, match=r"too odd\. Leave it out"):
        select_layers(calls, parse_selection(["conv1"]), NETWORK)
    with pytest.raises(ModelError, match="no layer of Net is left to analyse: left out: too odd"):
        select_layers(calls[:1], parse_selection(None), NETWORK)
    with pytest.raises(RandomModelError, match=r"differ by 5.0e-01 of the size of layer 'conv1'"):
        select_layers([call("conv1", random=0.5)], parse_selection(None), NETWORK)


def test_layers_of_the_same_tensor_know_the_first_that_was_chosen():
    calls = [call("conv1"), call("act", "Tanh", same="conv1"), call("conv2", same="conv1")]
    assert [layer.same for layer in select_layers(calls, parse_selection(None), NETWORK)[0]] == [
        "",
        "conv1",
        "conv1",
    ]
    assert [
        layer.same for layer in select_layers(calls, parse_selection(["act", "conv2"]), NETWORK)[0]
    ] == ["", "act"]


def test_exact_names_are_remembered():
    layers, _ = select_layers(CALLS, parse_selection(["conv1", "act*"]), NETWORK)
    assert {layer.name: layer.named for layer in layers} == {
        "conv1": True,
        "act": False,
        "act#2": False,
    }
