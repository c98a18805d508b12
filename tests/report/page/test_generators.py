"""Generators on a page: matrices by size, and vector fields."""

import base64

import pytest
import torch

import liegg
from cases import normal
from liegg.report.page.generators import bases, field, heat_map


@pytest.mark.parametrize(
    ("n", "kind", "numbers"), [(3, "cells", True), (12, "cells", False), (20, "image", None)]
)
def test_matrices_by_size(n, kind, numbers):
    drawn = heat_map(normal(n, n), tuple(map(str, range(n))), "a")
    assert (drawn["kind"], drawn.get("numbers")) == (kind, numbers)
    if kind == "image":
        assert base64.b64decode(drawn["source"].partition(",")[2]).startswith(b"\x89PNG\r\n\x1a\n")


def test_a_rotation_runs_counter_clockwise():
    rotation = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    drawn = field(rotation, ("x", "y"), homogeneous=False)
    assert drawn is not None
    right = max(
        drawn["lines"],
        key=lambda line: (line["x1"] + line["x2"], -abs(line["y1"] + line["y2"] - 200)),
    )
    assert right["y2"] < right["y1"]  # up: the y axis of a page points down


def test_a_translation_has_equal_arrows():
    shift = torch.zeros(3, 3, dtype=torch.float64)
    shift[0, 2] = 1
    drawn = field(shift, ("x", "y", "1"), homogeneous=True)
    assert drawn is not None
    arrows = {(round(a["x2"] - a["x1"], 6), round(a["y2"] - a["y1"], 6)) for a in drawn["lines"]}
    assert arrows == {(21.0, 0.0)}


def test_every_basis_has_words_and_cards(rotations):
    readable, found = bases(rotations, rotations.to_dict())
    assert (readable["key"], found["key"]) == ("readable", "found")
    assert readable["words"] == list(rotations.identification.readable.words)
    assert len(readable["cards"]) == len(found["cards"]) == len(found["words"]) == 10
    assert all(card["matrix"]["n"] == 5 and card["field"] for card in found["cards"])


def test_large_matrices_are_images():
    def model(x):
        return (
            x[:, :2].square().sum(1) + (x[:, 2:-1] * x[:, 3:]).sin().sum(1) + x[:, 2:].pow(3).sum(1)
        )

    sym = liegg.discover(model, normal(600, 20), liegg.Linear(20), controls="none")
    kinds = [
        card["matrix"]["kind"] for basis in bases(sym, sym.to_dict()) for card in basis["cards"]
    ]
    assert kinds == ["image", "image"]


def test_cards_have_formulas_and_the_names_of_input_and_output():
    sym = liegg.discover(
        lambda x: x * torch.cos(x.square().sum(1, keepdim=True)),
        normal(200, 2),
        liegg.Linear(2, names=["velocity in x", "velocity in y"]),
        output_action=liegg.Linear(2),
    )
    found = {basis["key"]: basis["cards"][0] for basis in bases(sym, sym.to_dict())}
    turn = "[velocity in x] ∂[velocity in y] − [velocity in y] ∂[velocity in x]"
    assert turn in [
        card["formula"] for basis in bases(sym, sym.to_dict()) for card in basis["cards"]
    ]
    assert found["found"]["output"]["names"] == ["y₁", "y₂"]
    assert "∂y₂" in found["found"]["output_formula"]
    assert found["found"]["matrix"]["names"] == ["1 velo…", "2 velo…"]
