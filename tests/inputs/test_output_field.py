"""The field of what a model returns: found by key, attribute, index or function."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, DtypeError
from liegg.inputs.model import Model
from liegg.inputs.output_field import (
    describe,
    field_settings,
    field_words,
    is_function,
    obvious_field,
    paths_of,
    pick_field,
    with_field,
)

ONE, TWO = torch.ones(3, 2), torch.full((3, 4), 2.0)
NUMBERS = torch.zeros(3, dtype=torch.int64)


class Gaussian(NamedTuple):
    mean: Tensor
    spread: Tensor


@dataclass
class Answer:
    logits: Tensor
    loss: Tensor | None = None


class ModelOutput(OrderedDict):
    """As in transformers: keys, attributes and indices."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else tuple(self.values())[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Plain:
    def __init__(self) -> None:
        self.first, self._hidden = ONE, TWO

    @property
    def second(self) -> Tensor:
        return TWO


@pytest.mark.parametrize(
    ("returned", "field", "expected"),
    [
        ({"a": ONE, "b": TWO}, "b", TWO),
        ({0: ONE, 1: TWO}, 1, TWO),
        ((ONE, TWO), 1, TWO),
        ([ONE, TWO], -1, TWO),
        (Gaussian(ONE, TWO), "spread", TWO),
        (Gaussian(ONE, TWO), 1, TWO),
        (Answer(TWO), "logits", TWO),
        (ModelOutput(logits=ONE, hidden=TWO), "hidden", TWO),
        (ModelOutput(logits=ONE, hidden=TWO), 1, TWO),
        (Plain(), "second", TWO),
        ({"a": {"b": TWO}}, "a.b", TWO),
        ({"a.b": TWO, "a": {"b": ONE}}, "a.b", TWO),
        ({"boxes": [ONE, TWO]}, "boxes.1", TWO),
        (({"a": Answer(TWO)}, ONE), "0.a.logits", TWO),
        ({"a": {"b": TWO}}, lambda y: y["a"]["b"], TWO),
        (ONE, lambda y: 2 * y, 2 * ONE),
        (ONE, None, ONE),
    ],
)
def test_fields_are_found(returned, field, expected):
    assert torch.equal(pick_field(returned, field, "Net"), expected)


@pytest.mark.parametrize(
    ("returned", "field", "text"),
    [
        ({"a": ONE}, "b", r"no field 'b' .* a dict with fields 'a' \(3, 2\) float32.* 'a'\."),
        ({"a": ONE}, "keys", "no field 'keys'"),
        ({"a": ONE}, 0, "no field 0"),
        ((ONE,), 1, "no field 1"),
        (Answer(ONE), "losses", "an Answer with fields 'logits' .*, 'loss' None"),
        (None, "logits", "what Net returned, None"),
        (ONE, "logits", "a single tensor, which has no field 'logits'"),
        (Answer(ONE), "loss", "'loss' in what Net returned is None; expected a tensor"),
        ({"a": (ONE, TWO)}, "a", r"output=lambda y: y\['a'\]\[0\]"),
        (ONE, lambda y: y.missing, r"<lambda>\(\) failed on .*AttributeError"),
        (ONE, lambda y: y.tolist(), "is a list with fields 0"),
    ],
)
def test_fields_that_are_not_there(returned, field, text):
    with pytest.raises(ArgumentError, match=text):
        pick_field(returned, field, "Net")


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"hidden": TWO, "logits": ONE}, "logits"),
        (Answer(ONE), "logits"),
        (ModelOutput(hidden=TWO, logits=ONE), "logits"),
        ({"classes": NUMBERS, "scores": ONE}, "scores"),
        ((NUMBERS, ONE, None), 1),
        ([ONE], 0),
        ({"logits": NUMBERS, "scores": ONE}, "scores"),
        (Plain(), "first"),
    ],
)
def test_the_obvious_field(returned, expected):
    assert obvious_field(returned, "Net") == expected


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ({"a": ONE, "b": TWO}, "for example output='a'"),
        ((ONE, TWO), "for example output=0"),
        (Gaussian(ONE, TWO), "for example output='mean'"),
        ({"a": NUMBERS}, "'a' .* int64; expected one tensor. Return a tensor"),
        ({"a": [ONE, TWO]}, "'a' a list"),
        ({}, "Net returned a dict; expected one tensor"),
        (None, "Net returned None"),
        (dict.fromkeys(range(40), ONE), "and 28 more"),
    ],
)
def test_nothing_is_guessed(returned, text):
    with pytest.raises(DtypeError, match=text):
        obvious_field(returned, "Net")


def test_a_choice_is_noted_and_the_model_stays_what_it_was():
    returns: Any = lambda x: {"logits": x, "other": x}  # noqa: E731
    model = Model(returns, "Net", dtype=torch.float32)
    chosen, y = with_field(model, model.function(ONE))
    (note,) = chosen.notes
    assert note.diagnosis is Diagnosis.OBVIOUS_FIELD
    assert note.values["field"] == "'logits'"
    assert (chosen.name, chosen.dtype) == ("Net", torch.float32)
    assert torch.equal(chosen(TWO), TWO)
    assert torch.equal(y, ONE)
    asked, _ = with_field(model, model.function(ONE), "other")
    assert asked.notes == ()
    same = Model(lambda x: x, "Net")
    assert with_field(same, ONE)[0] is same


def test_functions_are_stored_by_name():
    for function in (describe, partial(describe), partial(partial(describe))):
        assert field_settings(function) == "describe()"
    assert field_settings(nn.Identity()) == "Identity()"
    assert [is_function(value) for value in ("describe()", "logits", 0, None)] == [
        True,
        *[False] * 3,
    ]
    assert field_words(None) == ""


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"energy": torch.ones(3, 1), "cell": torch.ones(2, 2)}, "energy"),  # a row per sample
        ({"prediction": {"energy": ONE, "kind": NUMBERS}}, "prediction.energy"),
        ({"a": {"logits": ONE, "hidden": TWO}, "b": {"x": TWO}}, "a.logits"),
        ((None, [{"x": NUMBERS, "y": TWO}]), "1.0.y"),
        ({"loss": torch.tensor(1.0), "scores": ONE}, "scores"),
    ],
)
def test_the_obvious_field_has_a_row_per_sample_and_may_lie_inside_others(returned, expected):
    assert obvious_field(returned, "model", samples=3) == expected


def test_two_fields_that_both_could_be_meant_are_not_chosen_from():
    with pytest.raises(DtypeError, match=r"output='a\.x'"):
        obvious_field({"a": {"x": ONE}, "b": {"x": TWO}}, "model", samples=3)
    with pytest.raises(DtypeError, match="output='forces'"):
        obvious_field({"forces": ONE, "energy": TWO}, "model", samples=3)


def test_a_path_that_ends_nowhere_names_one_that_does_not():
    with pytest.raises(ArgumentError, match=r"no field 'c'.*Choose for example 'b'"):
        pick_field({"a": {"b": ONE}}, "a.c", "model")
    with pytest.raises(ArgumentError, match=r"Choose for example 'a\.b'"):
        pick_field({"a": {"b": ONE}}, "energy", "model")
    with pytest.raises(ArgumentError, match="returned a single tensor"):
        pick_field({"a": ONE}, "a.b", "model")


def test_paths_end_at_a_depth():
    deep: Any = ONE
    for _ in range(9):
        deep = {"a": deep}
    assert list(paths_of(deep)) == ["a.a.a.a"]
