# pyright: reportCallIssue=false, reportArgumentType=false
"""Two groups side by side."""

import json

import pytest
import torch

import liegg
from cases import normal
from found_groups import square_group, with_continuous
from liegg._utils.errors import ArgumentError
from liegg.actions import Slots


def test_what_only_one_model_has():
    both = liegg.compare(square_group(), square_group(chiral=True), names=("plain", "chiral"))
    assert both.groups == ("D₄", "C₄")
    assert both.sentence == (
        "plain has D₄, chiral has C₄: reflection y → −y changes the output of chiral by 0.31 of its spread."
    )
    found = {pair.words: pair for pair in both.elements}
    assert found["rotation by 90°"].found_in == "both"
    assert found["reflection y → −y"].found_in == "a"
    assert found["reflection y → −y"].b == 0.31
    assert found["swaps x and y"].b is None
    assert "not judged" in str(both)
    assert "<pre" in both._repr_html_()
    json.dumps(both.to_dict(), allow_nan=False)


def test_the_order_of_the_models_does_not_matter():
    one = liegg.compare(square_group(), square_group(chiral=True))
    other = liegg.compare(square_group(chiral=True), square_group())
    flipped = {"a": "b", "b": "a", "both": "both"}
    pairs = {(pair.words, flipped[pair.found_in], pair.b, pair.a) for pair in one.elements}
    assert pairs == {(pair.words, pair.found_in, pair.a, pair.b) for pair in other.elements}
    assert "the output of a" in other.sentence


def test_equal_groups_are_called_so():
    assert (
        liegg.compare(square_group(), square_group()).sentence == "a and b have the same group, D₄."
    )


def test_results_of_other_kinds_are_refused():
    found, _ = with_continuous()
    with pytest.raises(ArgumentError, match=r"Its continuous part is a\.continuous"):
        liegg.compare(found, found.continuous)


def test_equal_names_of_different_groups_are_told_apart():
    x = normal(200, 3)
    weights = torch.tensor([1.0, 4.0, 9.0], dtype=torch.float64)
    sphere = liegg.discover_group(lambda x: x.square().sum(1), x, liegg.Linear(3), starts=0)
    other = liegg.discover_group(
        lambda x: (x.square() * weights).sum(1), x, liegg.Linear(3), starts=0
    )
    assert sphere.name == other.name == "O(3)"
    assert "different groups" in liegg.compare(sphere, other).sentence
    assert "same group" in liegg.compare(sphere, sphere).sentence


def test_elements_of_the_identity_component_and_products_belong_to_a_group():
    x = normal(200, 3)
    sphere = liegg.discover_group(lambda x: x.square().sum(1), x, liegg.Linear(3), starts=0)
    cube = liegg.discover_group(lambda x: x.abs().sum(1), x, liegg.Linear(3), starts=0)
    assert {pair.found_in for pair in liegg.compare(sphere, cube).elements} == {"both"}
    slots = normal(200, 5, 1)
    every = liegg.discover_group(lambda x: x.tanh().sum((1, 2)), slots, Slots())
    some = liegg.discover_group(
        lambda x: x[:, :3].tanh().sum((1, 2)) + x[:, 3:].sin().sum((1, 2)), slots, Slots()
    )
    pairs = {pair.words: pair.found_in for pair in liegg.compare(every, some).elements}
    assert pairs["swaps slots 4 and 5"] == "both"
    assert pairs["swaps slots 1 and 4"] == "a"


def test_groups_of_other_actions_are_refused():
    slots = liegg.discover_group(lambda x: x.tanh().sum((1, 2)), normal(50, 5, 1), Slots())
    with pytest.raises(ArgumentError, match="same motions"):
        liegg.compare(slots, square_group())
