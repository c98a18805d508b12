"""Errors for structured samples, and models of these, that cannot be analysed: each names the cause."""

from typing import Any

import pytest
import torch
from torch.nn.functional import dropout

import liegg
from liegg._utils.errors import (
    ArgumentError,
    ModelError,
    NoOutputError,
    RandomModelError,
    ShapeError,
)
from structures import Graph

DRAW = torch.Generator().manual_seed(0)
BATCH = {"pos": torch.randn(60, 5, 3, generator=DRAW, dtype=torch.float64), "z": torch.ones(60, 5)}
MOVES = {"pos": liegg.Affine(3)}


def radii(pos):
    return (pos - pos.mean(-2, keepdim=True)).norm(dim=-1).sum(-1)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (lambda y: y.round().long(), r"returned torch\.int64; .* Return logits"),
        (lambda y: None, "returned None; expected a floating point tensor"),
        (lambda y: y.tolist(), r"returned \[.*\]; expected a floating point tensor"),
        (list, "floating point tensors without an axis"),
    ],
)
def test_a_model_that_takes_the_samples_is_told_about_its_output(output, words):
    """Not that it takes no samples, and how it might be called."""
    with pytest.raises(NoOutputError, match=words) as told:
        liegg.discover(lambda pos, z: output(radii(pos)), BATCH, MOVES)
    assert "call=" not in str(told.value)


def test_a_function_of_arrays_is_told_about_its_output():
    arrays: Any = {path: leaf.numpy() for path, leaf in BATCH.items()}
    function = lambda pos, z: pos.astype(int).sum((1, 2))  # noqa: E731
    with pytest.raises(NoOutputError, match=r"returned torch\.int64"):
        liegg.discover(function, arrays, {"pos": liegg.Linear(3)})


def test_a_random_model_is_told_so():
    with pytest.raises(RandomModelError, match="draws random numbers"):
        liegg.discover(lambda pos, z: dropout(radii(pos)[:, None].expand(-1, 8)), BATCH, MOVES)


def test_a_model_that_mixes_samples_is_told_so():
    with pytest.raises(ModelError, match=r"by \d\.\de[+-]0[0-3] of their size, as if it mixed"):
        liegg.discover(lambda pos, z: radii(pos) - radii(pos).mean(), BATCH, MOVES)


def test_a_single_number_says_that_a_dictionary_is_a_sample():
    """`pos` [5, 3] alone might be a batch of five vectors, for which this model has one output each."""
    samples = [{"pos": pos, "q": torch.rand((), generator=DRAW)} for pos in BATCH["pos"]]
    model = lambda pos, q: (pos.norm(dim=-1) * q[:, None]).sin()  # noqa: E731
    sym = liegg.discover(model, samples, MOVES, controls="none")
    assert (sym.samples, sym.name) == (60, "so(3)")


@pytest.mark.parametrize("place", [0, 7])
def test_an_empty_cloud_is_named(place):
    clouds = [torch.randn(0 if i == place else 4, 3, generator=DRAW) for i in range(20)]
    with pytest.raises(ShapeError, match=rf"sample {place} has no points: .* Remove"):
        liegg.discover(radii, clouds, liegg.Affine(3, copies=None))


def test_graphs_with_several_sets_of_nodes_are_not_joined():
    def graph(i):
        a, b = torch.randn(3 + i % 3, 3, generator=DRAW), torch.randn(2 + i % 4, 3, generator=DRAW)
        return {"a": a, "b": b, "edge_index": torch.tensor([[0, 2], [1, 0]])}

    def joined(a, b, edge_index, batch):
        lengths = (a[edge_index[0]] - b[edge_index[1]]).norm(dim=1)
        return torch.zeros(int(batch[-1]) + 1).index_add(0, batch[edge_index[0]], lengths)

    A, graphs = liegg.Affine(3), [graph(i) for i in range(40)]
    with pytest.raises(
        ModelError, match=r"'b' and 'a' have different numbers of points: .* one graph"
    ):
        liegg.discover(joined, graphs, {"a": A, "b": A})

    def alone(a, b, edge_index):
        return (a[edge_index[0]] - b[edge_index[1]]).norm(dim=1).tanh().sum()[None]

    sym = liegg.discover(alone, graphs, {"a": A, "b": A}, controls="none")
    assert sym.name == "se(3)"


def test_joined_graphs_without_their_numbers_are_no_samples():
    """A loader of PyG gives such a batch for graphs with two sets of nodes; each batch was one sample."""
    batches = [Graph(a=torch.randn(9, 3), b=torch.randn(7, 3), _slice_dict={}) for _ in range(4)]
    with pytest.raises(ShapeError, match=r"joined without the vector 'batch'.* Pass the list"):
        liegg.discover(lambda data: data.a.sum(), batches, {"a": liegg.Affine(3)})


def test_numbers_of_python_are_no_tensor():
    lists: Any = {"pos": BATCH["pos"].tolist()}
    with pytest.raises(ArgumentError, match=r"'pos' cannot be moved: it holds Python numbers"):
        liegg.discover(radii, lists, MOVES)


def test_images_of_several_sizes_are_no_batches():
    images = [torch.randn(1, 20 + i % 5, 20, generator=DRAW) for i in range(20)]
    with pytest.raises(ModelError, match=r"list of tensors, \(1, 20, 20\).* resize or pad"):
        liegg.discover(lambda x: x.mean((1, 2, 3)), images, liegg.Image("affine"))


def test_a_path_that_is_written_in_two_ways():
    with pytest.raises(ArgumentError, match=r"'pos' and \('pos',\), which are the same path"):
        liegg.discover(radii, BATCH, MOVES | {("pos",): liegg.Linear(3)})


def test_a_list_of_trees_of_several_kinds():
    samples: list[Any] = [dict(BATCH)] * 3 + [tuple(BATCH.values())]
    with pytest.raises(ArgumentError, match="'pos' cannot be moved"):
        liegg.discover(lambda pos, z: radii(pos), samples, MOVES)


def test_a_model_that_fails_on_some_samples_is_told_which_error():
    def model(pos, z):
        if len(pos) > 10:
            raise IndexError("no such atom")
        return radii(pos)

    with pytest.raises(ModelError, match="IndexError: no such atom"):
        liegg.discover(model, BATCH, MOVES)
