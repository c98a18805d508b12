"""Graphs that are joined are split as they were; leaves that number nodes are told from those that do not."""

import pytest
import torch

import liegg
from liegg._utils.errors import DataError, ShapeError
from liegg.inputs.structure.graphs import split_graphs
from structures import Graph, GraphNet, joined, molecules

NET = GraphNet().double()
SAMPLES = molecules(30)
JOINED = joined(SAMPLES)
NODES, EDGES = len(JOINED["z"]), JOINED["edge_index"].shape[1]


def test_joined_graphs_are_split_as_they_were():
    samples = molecules(5)
    parts = split_graphs(joined(samples) | {"energy": torch.arange(5.0)})
    for sample, part in zip(samples, parts, strict=True):
        assert all(torch.equal(part[key], leaf) for key, leaf in sample.items())
    assert [float(part["energy"]) for part in parts] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"batch": torch.tensor([0, 1, 0])}, DataError, "'batch' is not in ascending order"),
        ({"batch": torch.tensor([-1, 0, 0])}, DataError, "'batch' begins with -1"),
        ({"batch": torch.tensor([0, 0, 2])}, ShapeError, "graph 1 of 'batch' has no nodes"),
        ({"y": torch.ones(7)}, ShapeError, r"'y' has shape \(7,\)"),
        (
            {"edge_index": torch.tensor([[2, 0], [2, 1]])},
            DataError,
            "edges of different graphs are mixed",
        ),
    ],
)
def test_graphs_that_cannot_be_split(change, error, text):
    with pytest.raises(error, match=text):
        split_graphs({"pos": torch.ones(3, 3), "batch": torch.tensor([0, 0, 1])} | change)


def energy(z, pos, edge_index, batch, **others):
    return NET(z, pos, edge_index, batch)


def test_numbers_of_residues_are_not_numbers_of_nodes():
    index = torch.arange(NODES) % 3
    parts = split_graphs({"residue_index": index} | JOINED)
    assert torch.equal(torch.cat([part["residue_index"] for part in parts]), index)
    seen = []

    def model(z, pos, residue_index, edge_index, batch):
        seen.append(int(residue_index.max()))
        return NET(z, pos, edge_index, batch)

    rows = [one | {"residue_index": torch.arange(len(one["z"])) % 3} for one in SAMPLES]
    for data in ({"residue_index": index} | JOINED, rows):
        sym = liegg.discover(model, data, {"pos": liegg.Affine(3)}, controls="none")
        assert sym.name == "se(3)"
    assert max(seen) == 2


def test_a_number_of_a_node_for_every_node_is_one():
    parent = torch.cat([torch.zeros_like(one["z"]) for one in SAMPLES])
    sizes = torch.bincount(JOINED["batch"])
    first = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
    parts = split_graphs(JOINED | {"parent_index": parent + first})
    assert all(not part["parent_index"].any() for part in parts)


def test_several_kinds_of_edges_and_leaves_for_them():
    more = {
        "triplet_index": JOINED["edge_index"][:, ::2],
        "shift": torch.rand(EDGES),
        "triplet_angle": torch.rand((EDGES + 1) // 2),
    }
    parts = split_graphs(JOINED | more)
    for name in ("shift", "triplet_angle"):
        assert torch.equal(torch.cat([part[name] for part in parts]), more[name])
    assert all(len(part["shift"]) == part["edge_index"].shape[1] for part in parts)
    assert all(len(part["triplet_angle"]) == part["triplet_index"].shape[1] for part in parts)
    sym = liegg.discover(energy, JOINED | more, {"pos": liegg.Affine(3)}, controls="none")
    assert sym.name == "se(3)"


def test_entries_that_may_belong_to_two_kinds_of_edges():
    data = {
        "pos": torch.ones(5, 3),
        "batch": torch.tensor([0, 0, 0, 1, 1]),
        "edge_index": torch.tensor([[0, 1, 3], [1, 2, 4]]),
        "far_index": torch.tensor([[0, 3, 4], [1, 4, 3]]),
    }
    with pytest.raises(ShapeError, match="'w' has 3 entries, as 'edge_index', 'far_index' have"):
        split_graphs(data | {"w": torch.ones(3)})
    (one, two) = split_graphs(data | {"far_weight": torch.ones(3)})
    assert (len(one["far_weight"]), len(two["far_weight"])) == (1, 2)


class Pairs(Graph):
    """A graph that says itself what numbers its nodes, as subclasses of PyG's `Data` do."""

    @property
    def num_nodes(self):
        return len(self.values["pos"])

    def __inc__(self, key, value):
        return self.num_nodes if key == "pairs" else 0

    def __cat_dim__(self, key, value):
        return 1 if key == "pairs" else 0

    def __copy__(self):
        return Pairs(**self.values)


def test_a_graph_says_itself_what_numbers_its_nodes():
    def model(data):
        return NET(data.z, data.pos, data.pairs, data.batch)

    graphs = [Pairs(z=one["z"], pos=one["pos"], pairs=one["edge_index"]) for one in SAMPLES]
    sym = liegg.discover(model, graphs, {"pos": liegg.Affine(3)}, controls="none")
    assert sym.name == "se(3)"
    assert "graphs joined to one" in sym.notes[0]


def with_vectors(one):
    i, j = one["edge_index"]
    return one | {"edge_vec": (one["pos"][i] - one["pos"][j]).sin()}


def along_edges(pos, edge_index, edge_vec, batch):
    i, j = edge_index
    along = ((pos[i] - pos[j]) * edge_vec).sum(-1).sin() + edge_vec.square().sum(-1)
    return torch.zeros(int(batch.max()) + 1, dtype=along.dtype).index_add(0, batch[i], along)


A = liegg.Affine(3)


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ({"pos": A, "edge_vec": A.vectors}, "se(3)"),
        ({"edge_vec": A.vectors, "pos": A}, "se(3)"),
        ({"edge_vec": liegg.Linear(3)}, "0"),
    ],
)
@pytest.mark.parametrize("form", ["list", "joined"])
def test_vectors_of_edges_move_with_or_without_the_nodes(action, name, form):
    samples = [with_vectors(one) for one in SAMPLES]
    data = samples if form == "list" else with_vectors(JOINED)
    sym = liegg.discover(along_edges, data, action, controls="none")
    assert (sym.name, sym.samples) == (name, 30)
    assert "graphs joined to one" in sym.notes[0]


@pytest.mark.parametrize("place", [0, 7, 29])
@pytest.mark.parametrize("step", [1, -1])
def test_edges_of_a_list_of_graphs_join_nodes_of_their_own_graph(place, step):
    """Joined, they would be edges to another graph, and nothing would fail."""
    data = [dict(one) for one in SAMPLES]
    data[place]["edge_index"] = data[place]["edge_index"] + step
    with pytest.raises(liegg.LieggError, match=r"'edge_index' holds .* nodes, from 0"):
        liegg.discover(NET, data, {"pos": liegg.Affine(3)})


@pytest.mark.parametrize("place", [0, 7, 29])
def test_a_graph_with_another_number_of_atomic_numbers_than_of_atoms(place):
    data = [dict(one) for one in SAMPLES]
    data[place]["z"] = data[place]["z"][:-1]
    data[place - 1]["z"] = torch.cat([data[place - 1]["z"], data[place]["z"][:1]])  # in all as many
    wrong = min(place, (place - 1) % len(data))
    with pytest.raises(ShapeError, match=rf"sample {wrong} has .* entries in 'z'"):
        liegg.discover(NET, data, {"pos": liegg.Affine(3)})


def test_entries_that_are_not_of_nodes_may_be_as_many_by_chance():
    counts = torch.randint(2, 9, (len(SAMPLES),), generator=torch.Generator().manual_seed(0))
    rows = [
        one | {"levels": torch.ones(n)} for one, n in zip(SAMPLES, counts.tolist(), strict=True)
    ]
    sym = liegg.discover(energy, rows, {"pos": liegg.Affine(3)}, controls="none")
    assert sym.name == "se(3)"
