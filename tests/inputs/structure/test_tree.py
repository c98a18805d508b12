"""Containers of every kind come back with other contents, and paths are found."""

import collections
import sys
import types
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from liegg._utils.errors import ArgumentError, DataError
from liegg.inputs.structure.elements import only_floating
from liegg.inputs.structure.tree import branches, find, is_tree, leaves, rebuild, tensors
from structures import Graph


@dataclass(frozen=True)
class Record:
    pos: Any
    name: str = "water"


class Pair(NamedTuple):
    species: Any
    pos: Any


class Encoding(collections.UserDict):
    """Like that of transformers."""


class TensorTable(dict):
    """Like a TensorDict: it stores how many samples it has, and refuses another number."""

    batch_dims = 1

    def __init__(self, values: Any, batch_size: Any) -> None:
        assert all(len(value) == batch_size[0] for value in values.values())
        super().__init__(values)
        self.batch_size = batch_size


X = torch.arange(6.0).reshape(2, 3)
TREES = [
    {"pos": X, "z": 1, "none": None},
    (X, "text"),
    [X, (X, X)],
    Record(X),
    Pair(X, {"deep": X}),
    Encoding(pos=X, ids=X),
    TensorTable({"pos": X}, batch_size=[2]),
    collections.OrderedDict(pos=X),
    types.MappingProxyType({"pos": X}),
    {3: X, "a": [X]},
    Graph(pos=X, name="graph"),
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: type(tree).__name__)
def test_rebuilt_trees_have_the_new_leaves_and_the_old_kind(tree):
    new = {path: leaf[:1] + 10 for path, leaf in tensors(tree).items()}
    other = rebuild(tree, new, 1)
    if not isinstance(tree, types.MappingProxyType):
        assert type(other) is type(tree)
    assert {path: leaf.tolist() for path, leaf in tensors(other).items()} == {
        path: leaf.tolist() for path, leaf in new.items()
    }
    rest = {path: leaf for path, leaf in leaves(tree) if path not in new}
    assert {path: leaf for path, leaf in leaves(other) if path not in new} == rest
    assert all(leaf is X for leaf in tensors(tree).values() if leaf is X), "the first is as it was"
    assert torch.equal(next(iter(tensors(tree).values())), X)


def test_arrays_are_leaves_and_texts_are_not_containers():
    tree = {"a": np.arange(3), "b": "xyz", "c": {}}
    assert list(tensors(tree)) == ["a"]
    assert branches("xyz") is None
    assert [is_tree(one) for one in ((X, X), X, {"a": X})] == [False, False, True]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "poss",
            "there is no such path. The tensors of a sample are 'graph.pos' (2, 3) float32, '",
        ),
        ("graph.po", "Did you mean 'graph.pos'?"),
        ("graph", "it holds several tensors"),
        ("graph.name", "there is a str there, not a tensor"),
    ],
)
def test_a_path_that_is_none_is_answered_with_those_that_are(path, text):
    tree = {"graph": {"pos": X, "z": X.long(), "name": "a"}, "y": X}
    with pytest.raises(ArgumentError, match=r"^'.*cannot be moved") as caught:
        find(tree, path)
    assert text in str(caught.value)


def test_lists_of_tensors_by_name_are_to_be_a_list_of_samples():
    data = {"pos": [X[:1], X], "z": [X[:1].long(), X.long()]}
    with pytest.raises(ArgumentError, match=r"'pos' is a list of 2 tensors.*zip\(\*data") as caught:
        find(data, "pos")
    advice = str(caught.value).partition("samples: ")[2].rstrip(".")
    samples = eval(advice, {"data": data})
    assert [list(one) for one in samples] == [["pos", "z"]] * 2
    assert find(samples[0], "pos") == "pos"
    with pytest.raises(ArgumentError, match="'pos' is a list of 2 tensors"):
        only_floating(data, lambda shape: True, "liegg.Linear(3)")


def test_a_plain_array_has_no_paths():
    with pytest.raises(
        ArgumentError, match=r"^'pos' cannot be moved: samples are plain arrays.*--moves"
    ):
        find(X, "pos")


def test_places_of_tuples_are_paths():
    assert find((X, [X, X]), "1.0") == "1.0"
    assert find((X, X), 1) == "1"
    assert find({"a": {"b": X}}, ("a", "b")) == "a.b"


class LazyTable(TensorTable):
    """Like a lazy stack of TensorDicts, which cannot be made from its contents."""

    tensordicts = ()

    def __init__(self, values: Any) -> None:
        dict.__init__(self, values)
        self.batch_size = (2,)


def test_tensordicts_that_are_lazy_or_have_two_axes(monkeypatch):
    library = types.ModuleType("library")
    monkeypatch.setattr(library, "TensorDict", TensorTable, raising=False)
    monkeypatch.setitem(sys.modules, "library", library)
    monkeypatch.setattr(LazyTable, "__module__", "library.lazy")
    other = rebuild(LazyTable({"pos": X}), {"pos": X[:1]}, 1)
    assert type(other) is TensorTable
    both = TensorTable({"pos": X}, batch_size=(2, 3))
    assert [*rebuild(both, {"pos": X[:1]}, 1).batch_size] == [1, 3]
    assert [*rebuild(both, {"pos": X[:1, :2]}, 1).batch_size] == [1], "another number of points"


def test_graphs_with_several_kinds_of_nodes_are_refused():
    with pytest.raises(DataError, match="several types of nodes"):
        branches(Graph(node_types=["a"], pos=X))
