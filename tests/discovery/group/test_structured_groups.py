"""Finite elements of structured samples: potentials of molecules, with forces, velocities, masks and context."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Slots

CHARGES = torch.tensor([1, 1, 6, 8])


def potential(batch):
    """A sum over pairs, which depends on the charges."""
    pos, charge = batch["pos"], batch["z"].to(batch["pos"])
    apart = pos[..., :, None, :] - pos[..., None, :, :]
    weights = charge[..., :, None] * charge[..., None, :]
    return (weights * torch.exp(-apart.square().sum(-1))).sum((-1, -2))


def chiral(batch):
    """The potential with a signed volume, which mirror images reverse."""
    pos = batch["pos"]
    return potential(batch) + torch.linalg.det(pos[..., :3, :] - pos.mean(-2, keepdim=True))


def molecules(count=200):
    """Three to seven atoms each, with charges."""
    sizes = [3 + i % 5 for i in range(count)]
    return [
        {"pos": normal(size, 3, seed=i), "z": 1 + torch.arange(size) % 3}
        for i, size in enumerate(sizes)
    ]


def alike(count=300):
    """Four atoms each, two of them hydrogen."""
    return {"pos": normal(count, 4, 3), "z": CHARGES.expand(count, 4)}


class Forces(nn.Module):
    """The negative gradient of the potential."""

    def forward(self, batch):
        pos = batch["pos"]
        with torch.enable_grad():
            pos = pos if pos.requires_grad else pos.requires_grad_()
            energy = potential({"pos": pos, "z": batch["z"]}).sum()
            return -torch.autograd.grad(energy, pos, create_graph=True)[0]


@pytest.mark.parametrize(
    ("model", "data", "name"),
    [
        (potential, molecules(), "E(3)"),
        (chiral, molecules(), "SE(3)"),
        (potential, alike(), "E(3) × S₂"),
    ],
)
def test_a_potential_satisfies_e3_or_only_se3(model, data, name):
    found = liegg.discover_group(model, data, {"pos": liegg.Affine(3)}, starts=0)
    assert found.name == name
    assert ("mirror images differ" in found.sentence) == (model is chiral)


def test_forces_turn_around_in_a_mirror():
    found = liegg.discover_group(
        Forces(), molecules(), {"pos": liegg.Affine(3)}, output_action=liegg.Linear(3), starts=0
    )
    assert found.name == "E(3)"
    output = found.elements[1].output_matrices[-1]
    assert torch.allclose(output @ output.mT, torch.eye(3).double(), atol=1e-8)
    assert float(torch.linalg.det(output)) < 0


def test_forces_are_permuted_with_their_atoms():
    found = liegg.discover_group(
        Forces(), alike(), {"pos": liegg.Affine(3)}, output_action=liegg.Linear(3), starts=0
    )
    assert found.name == "E(3) × S₂"
    assert found.permutations[0].words == "swaps slots 1 and 2"


def test_leaves_move_together_and_a_cell_is_not_permuted():
    atoms = liegg.Affine(3)

    def model(batch):
        velocity = (batch["vel"].square().sum(-1) + 1).log().sum(-1)
        along = (batch["pos"] - batch["pos"].mean(-2, keepdim=True)) * batch["vel"]
        volume = torch.linalg.det(batch["cell"]).square()
        return velocity + along.sum(-1).square().sum(-1) + volume

    data = {"pos": normal(300, 5, 3), "vel": normal(300, 5, 3, seed=1), "cell": normal(300, 3, 3)}
    moves = {"pos": atoms, "vel": atoms.vectors, "cell": atoms.vectors}
    found = liegg.discover_group(model, data, moves, starts=0)
    assert found.name == "E(3) × S₅"


def test_masked_points_stay_and_are_not_permuted():
    mask = torch.arange(6) < 3 + torch.arange(300)[:, None] % 4
    data = {"pos": normal(300, 6, 3) * mask[..., None], "mask": mask}
    found = liegg.discover_group(
        lambda pos, mask: potential({"pos": pos, "z": mask}), data, {"pos": liegg.Affine(3)}
    )
    assert found.name == "E(3)"
    assert found.slots is None
    assert [one.diagnosis.name for one in found.notes].count("GROUP_RAGGED_SLOTS") == 1


def test_slots_of_a_leaf_alone():
    def model(batch):
        return batch["pos"].sum(-1).tanh().sum(-1) * batch["weight"]

    data = {"pos": normal(200, 4, 3), "weight": normal(200).abs()}
    assert liegg.discover_group(model, data, {"pos": Slots()}).name == "S₄"


def test_a_known_continuous_part_and_held_out_samples():
    data, moves = molecules(), {"pos": liegg.Affine(3)}
    sym = liegg.discover(potential, data, moves)
    found = liegg.discover_group(
        potential, data[:100], moves, continuous=sym, held_out=data[100:], starts=0
    )
    assert found.name == "E(3)"
    assert found.samples == (100, 100)
    with pytest.raises(ArgumentError, match="continuous is a result for"):
        liegg.discover_group(potential, data, {"pos": liegg.Linear(3)}, continuous=sym)
    small = [one for one in data if len(one["pos"]) < 6]
    with pytest.raises(ShapeError, match="held_out has samples with 7 points in 'pos'"):
        liegg.discover_group(potential, small, moves, held_out=data[:50])


def test_what_cannot_be_searched_is_refused():
    data = {"pos": normal(100, 4, 3), "vel": normal(100, 4, 3, seed=1)}
    apart = {"pos": liegg.Linear(3), "vel": liegg.Linear(3)}
    with pytest.raises(ArgumentError, match="move together"):
        liegg.discover_group(lambda b: (b["pos"] * b["vel"]).sum((1, 2)), data, apart)
    with pytest.raises(ArgumentError, match="no finite elements; expected vectors"):
        liegg.discover_group(
            lambda b: b["pixels"].square().sum((1, 2, 3)),
            {"pixels": normal(60, 1, 6, 6)},
            {"pixels": liegg.Image()},
        )


def test_an_assertion_moves_structured_samples():
    inversion, moves = -torch.eye(3)[None], {"pos": liegg.Linear(3)}
    liegg.testing.assert_invariant(potential, molecules(), elements=inversion, action=moves)
    with pytest.raises(AssertionError, match="not invariant under inversion"):
        liegg.testing.assert_invariant(chiral, molecules(), elements=inversion, action=moves)


def test_storage_and_the_page_with_the_samples(tmp_path):
    data = molecules()
    found = liegg.discover_group(potential, data, {"pos": liegg.Affine(3)}, starts=0)
    loaded = liegg.load(found.save(tmp_path / "group"))
    assert loaded.sentence == found.sentence
    page = loaded.report(tmp_path / "group.html", samples=data[:4], model=potential)
    scene = page.read_text()
    assert '"kind":"points"' in scene.replace(" ", "")
    assert "mirror image" in scene


@pytest.mark.parametrize(
    "output_action", [liegg.actions.Tensor(3), liegg.actions.Tensor(3, rank=1)]
)
def test_outputs_that_are_tensors_move_by_what_suits_them(output_action):
    x = normal(300, 4, 3)
    rank = output_action.rank

    def model(x):
        weighted = x * torch.exp(-x.square().sum(2, keepdim=True))
        return weighted.mT @ x if rank == 2 else weighted.sum(1)

    found = liegg.discover_group(
        model, x, liegg.Linear(3, copies=4), output_action=output_action, starts=0
    )
    assert found.name == "O(3) × S₄"
    wanted = torch.eye(3**rank).double() * (-1) ** rank
    inversion = next(one for one in found.elements if one.words == "mirror image (inversion)")
    assert torch.allclose(inversion.output_matrices[-1], wanted, atol=1e-8)
