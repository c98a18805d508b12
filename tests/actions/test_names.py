"""Names of components: checked, stored, ignored by the motions, kept by restrictions and products, used by words."""

from typing import Any

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.actions import action_from_settings
from liegg.actions.names import problem_with
from liegg.actions.structured.constructors import Banded, Blocks, Weights

NAMES = ["m1", "m2", "r"]

MAKERS = {
    "linear": lambda **given: liegg.Linear(3, **given),
    "affine": lambda **given: liegg.Affine(3, **given),
    "several": lambda **given: liegg.Linear(3, copies=2, **given),
    "blocks": lambda **given: Blocks([2, 1], **given),
    "banded": lambda **given: Banded(3, **given),
    "weights": lambda **given: Weights([0, 1, 1], **given),
}


def axes(action: Any) -> tuple[str, ...] | None:
    return action.axes


makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@makers
def test_names_are_stored_and_made_again(make):
    action = make(names=NAMES)
    again = action_from_settings(action.settings())
    assert axes(again) == axes(action) == tuple(NAMES)
    assert again.settings() == action.settings()
    assert repr(action).endswith("names=('m1', 'm2', 'r'))")


@makers
def test_without_names_settings_are_those_of_earlier_versions(make):
    action = make()
    assert action.axes is None
    assert "names" not in action.settings()
    assert "names" not in repr(action)
    assert axes(action_from_settings(action.settings())) is None


@makers
def test_names_are_not_motions(make):
    assert make(names=NAMES).same_motions(make())
    assert make().same_motions(make(names=["a", "b", "c"]))


@makers
def test_what_is_not_a_list_of_names(make):
    for names in [
        ["m1", "m2"],
        ["m1", "m2", "m1"],
        ["m1", "m2", 3],
        "abc",
        ["m1", "m2", " "],
        ["m1", "m2", ""],
        ["m1", "m2", "r\n"],
        ["m1", "m2", "1"],
        ["m1", "m2", "-2e3"],
        ["m1", "m2", "1 (offset)"],
        ["m1", "m2", "nan"],
        [],
        3,
        {"m1": 1},
    ]:
        with pytest.raises(ArgumentError, match="names="):
            make(names=names)


def test_names_come_as_any_sequence():
    sequences: list[Any] = [tuple(NAMES), np.array(NAMES)]
    for names in sequences:
        assert repr(liegg.Linear(3, names=names)) == repr(liegg.Linear(3, names=NAMES))
    assert hash(liegg.Linear(3, names=NAMES)) == hash(liegg.Linear(3, names=NAMES))


def test_words_of_the_candidates():
    assert liegg.Linear(2, names=["m", "r"]).words == (
        "scaling of m",
        "shear of m by r",
        "shear of r by m",
        "scaling of r",
    )
    assert liegg.Affine(1, names=["m"]).words == ("uniform scaling", "translation along m")
    assert Weights([0, 1, 1], names=NAMES).words == ("scaling of m1", "scaling of m2 and r")


def test_names_are_code():
    action = liegg.Affine(3, names=NAMES).restrict(liegg.so(3))
    again = eval(str(action.code()), {"liegg": liegg, "torch": torch})
    assert again.same_motions(action)
    assert again.axes == ("m1", "m2", "r")


def test_restrictions_and_products_keep_names():
    restricted = liegg.Linear(3, names=NAMES).restrict(liegg.so(3)).restrict(torch.eye(3)[:2])
    assert restricted.axes == tuple(NAMES)
    assert restricted.words == ("rotation in m1–m2", "rotation in m1–r")
    product = liegg.Product(liegg.Affine(3, names=NAMES), liegg.Linear(3))
    assert axes(product) == ("m1", "m2", "r", "1", "x₁", "x₂", "x₃")
    assert axes(action_from_settings(product.settings())) == axes(product)


def test_labels_become_names_where_there_are_none():
    assert liegg.Linear(3).named(NAMES).axes == tuple(NAMES)
    assert liegg.Linear(3, names=["a", "b", "c"]).named(NAMES).axes == ("a", "b", "c")
    assert liegg.Linear(3).named(["a", "b"]).axes is None
    assert liegg.Linear(3).named([0, 1, 2]).axes is None
    assert liegg.Linear(3, copies=2).named(NAMES).axes is None
    assert axes(liegg.Linear(3).restrict(liegg.so(3)).named(NAMES)) == tuple(NAMES)
    assert axes(Blocks([3]).named(NAMES)) == tuple(NAMES)
    product = liegg.Product(liegg.Linear(3), liegg.Affine(3)).named(NAMES)
    assert axes(product) == (*NAMES, *NAMES, "1")
    image = liegg.Image()
    assert image.named(NAMES) is image


def test_names_do_not_change_the_numbers():
    x = normal(200, 3)
    plain, named = (
        liegg.discover(lambda x: x.square().sum(1), x, action)
        for action in (liegg.Linear(3), liegg.Linear(3, names=NAMES))
    )
    torch.testing.assert_close(plain.defects, named.defects)
    assert named.words == ("rotation in m1–m2", "rotation in m1–r", "rotation in m2–r")
    assert liegg.compare(plain, named).directions[0].words == "rotation in m1–m2"
    compared = liegg.compare(named, plain)
    assert compared.directions[0].words == "rotation in m1–m2"
    notes: Any = compared.notes
    assert Diagnosis.ACTION_DIFFERS not in [note.diagnosis for note in notes]


def test_what_names_are():
    assert problem_with(NAMES) == ""
    assert problem_with(["speed (m/s)", "ψ", "x′"]) == ""
    assert problem_with([True])
    assert problem_with([None])


def test_a_result_keeps_names_on_disk(tmp_path):
    sym = liegg.discover(
        lambda x: x.square().sum(1),
        normal(100, 3),
        liegg.Affine(3, names=NAMES).restrict(liegg.so(3)),
    )
    again = liegg.load(sym.save(tmp_path / "run"))
    assert again.words == sym.words == ("rotation in m1–m2", "rotation in m1–r", "rotation in m2–r")
    assert again.vector_fields() == sym.vector_fields()
    assert again.action.settings() == sym.action.settings()
