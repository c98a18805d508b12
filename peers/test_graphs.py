"""Networks of torch-geometric straight from lists of `Data` with different numbers of atoms."""
# ruff: noqa: S101

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg.testing import assert_same_span

with warnings.catch_warnings():
    warnings.filterwarnings(
        "ignore", "`torch.jit", DeprecationWarning
    )  # torch-geometric scripts a class when it is imported
    from torch_geometric.data import Batch, Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import PPFConv, SchNet, global_add_pool

POSITIONS = {"pos": liegg.Affine(3)}


def neighbours(positions: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    """All ordered pairs of atoms of one molecule, and their distances; torch-geometric's own needs a compiled package."""
    same = (batch[:, None] == batch) & ~torch.eye(len(batch), dtype=torch.bool)
    i, j = same.nonzero().T
    return torch.stack([j, i]), (positions[j] - positions[i]).norm(dim=1)


def molecules(count: int = 60) -> list[Data]:
    """Four to twelve atoms at places of their own, with normals, bonds in a ring, a label and a name."""
    draw = torch.Generator().manual_seed(1)
    graphs = []
    for number, atoms in enumerate(torch.randint(4, 13, (count,), generator=draw).tolist()):
        ring = torch.arange(atoms)
        normal = torch.randn(atoms, 3, generator=draw, dtype=torch.float64)
        graphs.append(
            Data(
                z=torch.randint(1, 10, (atoms,), generator=draw),
                pos=1.5 * torch.randn(atoms, 3, generator=draw, dtype=torch.float64),
                normal=nn.functional.normalize(normal),
                edge_index=torch.stack([ring, ring.roll(-1)]),
                y=torch.tensor([float(number)]),
                name=f"molecule {number}",
            )
        )
    return graphs


def energy() -> SchNet:
    """SchNet in float64, with neighbours that need no compiled package."""
    return SchNet(
        hidden_channels=32, num_filters=32, num_interactions=3, interaction_graph=neighbours
    ).double()


class Forces(nn.Module):
    """Minus the gradient of the energy: one vector per atom, of all molecules together."""

    def __init__(self, energy: nn.Module) -> None:
        super().__init__()
        self.energy = energy

    def forward(self, z: Tensor, pos: Tensor, batch: Tensor) -> Tensor:
        """Molecules do not see each other, so the gradient of the sum is that of each."""
        return -torch.func.grad(lambda p: self.energy(z, p, batch).sum())(pos)


class PointPairs(nn.Module):
    """Two layers of point pair features: distances and angles between normals."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.first = PPFConv(nn.Sequential(nn.Linear(12, 16), nn.Tanh()), add_self_loops=False)
        self.second = PPFConv(nn.Sequential(nn.Linear(20, 16), nn.Tanh()), add_self_loops=False)
        self.readout = nn.Linear(16, 1)

    def forward(self, data: Batch) -> Tensor:
        """Called with a batch of PyG, as its own training loops do it."""
        x = self.embedding(data.z)
        for layer in (self.first, self.second):
            x = layer(x, data.pos, data.normal, data.edge_index)
        return self.readout(global_add_pool(x, data.batch, data.num_graphs))


@pytest.mark.parametrize("form", ["list", "batch", "loader"])
def test_schnet_from_graphs(form: str, discovered_graphs: Callable) -> None:
    """Rotations and translations, exactly, however the graphs are given."""
    graphs = molecules()
    data = {"list": graphs, "batch": Batch.from_data_list(graphs), "loader": DataLoader(graphs, 16)}
    sym = discovered_graphs(f"SchNet, graphs as a {form}", energy(), data[form], POSITIONS)
    assert (sym.nullity, sym.name, sym.samples) == (6, "se(3)", 60)
    assert set(sym.decision.grades[:6]) == {"exact"}
    assert_same_span(sym.generators, liegg.se(3), tolerance=1e-10)


def test_forces_of_graphs_turn_with_them(discovered_graphs: Callable) -> None:
    """One vector per atom of molecules of different sizes: its generators are rotations."""
    sym = discovered_graphs(
        "SchNet, forces of graphs",
        Forces(energy()),
        molecules(),
        POSITIONS,
        output_action=liegg.Linear(3),
    )
    assert (sym.nullity, sym.name) == (6, "se(3)")
    torch.testing.assert_close(sym.output_generators, sym.generators[:, :3, :3], rtol=0, atol=1e-10)
    turns = sym.output_generators.flatten(1).norm(dim=1) > 1e-6
    assert liegg.identify(sym.output_generators[turns]).name == "so(3)"


def test_point_pairs_with_normals(discovered_graphs: Callable) -> None:
    """Positions and normals that move together: translations do not move normals."""
    moves = liegg.Affine(3)
    both = {"pos": moves, "normal": moves.vectors}
    sym = discovered_graphs("point pair features", PointPairs().double(), molecules(), both)
    assert (sym.nullity, sym.name) == (6, "se(3)")
    alone = liegg.discover(PointPairs().double(), molecules(), POSITIONS)
    assert alone.name == "R³" or alone.nullity == 3  # translations: normals stay


def test_layers_and_controls_of_graphs() -> None:
    """The module stays a module: its layers have their names, and it can be re-initialised."""
    found = liegg.discover_layers(energy(), molecules(20), POSITIONS)
    assert found[-1].invariance.name == "se(3)"
    assert "interactions.0.lin" in found.names
    sym = liegg.discover(
        energy(),
        molecules(20),
        POSITIONS,
        controls="reinitialised",
        run=liegg.Run(control_draws=2),
        held_out=molecules(30)[20:],
    )
    assert sym.model == "SchNet"
    assert sym.verification is not None
    assert sym.verification.holds
