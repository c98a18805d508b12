"""Code that repeats an analysis."""

import ast
from typing import Any

import pytest
import torch

import liegg
from cases import normal
from liegg.report.page.snippet import snippet_of


@pytest.mark.parametrize("which", ["rotations", "asymmetric"])
def test_the_snippet_repeats_the_analysis(which, request):
    sym = request.getfixturevalue(which)
    *lines, report = snippet_of(sym).splitlines()
    inputs: dict[str, Any] = {
        "rotations": (lambda x: x.square().sum(1), normal(160, 5)[:120], normal(160, 5)[120:]),
        "asymmetric": (
            request.getfixturevalue("network"),
            2 * normal(200, 3),
            normal(50, 3, seed=1),
        ),
    }
    names: dict[str, Any] = dict(zip(("model", "data", "held_out"), inputs[which], strict=True))
    exec("\n".join(line for line in lines if not line.startswith("print")), names)
    again = names["sym"]
    assert isinstance(again, liegg.Symmetries)
    assert report.startswith("sym.report(")
    torch.testing.assert_close(again.defects, sym.defects)
    assert (again.controls.reinitialised is None) == (sym.controls.reinitialised is None)
    assert (again.verification is None) == (sym.verification is None)


def test_a_large_restriction_is_read_from_the_record():
    action = liegg.Linear(5).restrict(liegg.so(5))
    sym = liegg.discover(
        lambda x: x.square().sum(1),
        normal(60, 5),
        action,
        run=liegg.Run(seed=3),
        thresholds=liegg.Thresholds(threshold=0.01),
    )
    code = snippet_of(sym, layers=True)
    (call,) = [
        node.value
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "sym"
    ]
    assert isinstance(call, ast.Call)
    assert ast.unparse(call.args[2]).endswith(".restrict(basis)")
    assert "# basis: " in code
    assert "liegg.discover_layers(" in code
    keywords = {str(keyword.arg): ast.unparse(keyword.value) for keyword in call.keywords}
    assert keywords == {
        "run": "liegg.Run(seed=3)",
        "thresholds": "liegg.Thresholds(threshold=0.01)",
    }


def test_how_it_ran_is_a_record_of_its_own():
    model, x = lambda x: x.square().sum(1), normal(80, 4)
    how = {
        "controls": "none",
        "thresholds": liegg.Thresholds(minimum_gap=5.0, strong=0.002),
        "run": liegg.Run(bottom=7),
    }
    sym = liegg.discover(model, x, liegg.Linear(4), **how)
    *lines, _, _ = snippet_of(sym).splitlines()
    names: dict[str, Any] = {"model": model, "data": x}
    exec("\n".join(lines), names)
    again = names["sym"]
    assert again.controls.random is None
    assert again.decision.thresholds == sym.decision.thresholds
    assert again.accumulated.bottom.requested == 7
    torch.testing.assert_close(again.defects, sym.defects)


def test_named_motions_are_asked_about_again(classified, classified_images):
    model, x = lambda x: x[:, :1], normal(40, 2)
    sym = liegg.discover(model, x, liegg.Linear(2), about=["rotation"])
    *lines, _, _ = snippet_of(sym).splitlines()
    names: dict[str, Any] = {"model": model, "data": x}
    exec("\n".join(lines), names)
    assert [one.name for one in names["sym"].answers] == ["rotation"]
    assert "about={'turn': generators}" in snippet_of(classified)
    assert "about=" not in snippet_of(classified_images[0])  # the standard ones


def test_an_action_without_code_is_a_name():
    x = normal(80, 4)
    action = liegg.actions.Banded(4, 1)
    code = snippet_of(liegg.discover(lambda x: x.square().sum(1), x, action))
    assert "liegg.discover(model, data, action)" in code
    assert "# action: " in code
