# pyright: reportCallIssue=false, reportArgumentType=false
"""Two groups side by side."""

import json

import pytest

import liegg
from found_groups import square_group, with_continuous
from liegg._utils.errors import ArgumentError


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
