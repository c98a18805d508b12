"""Continuous symmetries of data in a subspace: which of their finite motions are known."""

import pytest
import torch

import liegg
from group_cases import gram, normal
from liegg._utils.diagnoses import Diagnosis

TWO_VECTORS = liegg.Linear(3, copies=2)
METRIC = torch.diag(torch.tensor([1.0, 1.0, 5.0], dtype=torch.float64))


def planar(*shape):
    """Vectors in the plane x₃ = 0."""
    x = normal(*shape, 3)
    x[..., 2] = 0
    return x


def diagnoses(found):
    return {note.diagnosis for note in found.notes}


def lengths(x):
    return gram(x).sum(1)


def with_metric(x):
    """Inner products of another metric, which is the usual one in the plane."""
    return lengths(x @ METRIC.sqrt())


def flat_alone(x):
    """Rotations of the plane only; out of it, the output changes to second order."""
    return x[..., :2].square().sum((1, 2)).tanh() + (x[..., 2].square() * x[..., 0]).sum(1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("more", [0.0, 1.0])
def test_rotations_of_vectors_in_a_plane_hold_for_finite_motions(more, dtype):
    def function(x):
        return lengths(x) + more * x[:, 0].square().sum(1)

    found = liegg.discover_group(function, planar(300, 2).to(dtype), TWO_VECTORS)
    assert found.name == ("SO(3)" if more else "SO(3) × S₂")
    assert found.directions == 3
    assert Diagnosis.GROUP_LOCAL not in diagnoses(found)
    assert Diagnosis.GROUP_COMPLETED in diagnoses(found)


def test_the_plane_may_have_any_place():
    frame = torch.linalg.qr(normal(3, 3)).Q
    x = planar(300, 4) @ frame + normal(1, 1, 3)
    near = lambda x: (-torch.cdist(x, x).square()).exp().sum((1, 2))  # noqa: E731
    found = liegg.discover_group(near, x, liegg.Affine(3, copies=4))
    assert found.name == "SE(3) × S₄"


def test_the_output_may_move_too():
    def function(x):
        return x * x.norm(dim=1, keepdim=True).tanh()

    found = liegg.discover_group(
        function, planar(300), liegg.Linear(3), output_action=liegg.Linear(3)
    )
    assert (found.name, found.directions) == ("SO(3)", 3)


def test_the_motion_is_that_of_the_model_and_not_of_the_usual_metric():
    one = liegg.discover_group(lengths, planar(300, 2), TWO_VECTORS)
    other = liegg.discover_group(with_metric, planar(300, 2), TWO_VECTORS)
    assert one.name == other.name == "SO(3) × S₂"
    for found, metric in ((one, torch.eye(3).double()), (other, METRIC)):
        generators = TWO_VECTORS.matrices(torch.tensor(found.settings["representatives"]).double())
        moved = generators.mT @ metric + metric @ generators
        assert float(moved.abs().max()) < 1e-6
    assert "different groups" in liegg.compare(one, other).sentence
    again = liegg.discover_group(lengths, planar(200, 2), TWO_VECTORS)
    assert "have the same group" in liegg.compare(one, again).sentence


def test_only_the_motions_in_the_plane_are_named_if_the_others_hold_to_first_order():
    found = liegg.discover_group(flat_alone, planar(300, 2), TWO_VECTORS)
    assert found.continuous is not None
    assert found.continuous.nullity == 3
    assert (found.name, found.directions) == ("SO(2) × S₂", 1)
    (note,) = (one for one in found.notes if one.diagnosis is Diagnosis.GROUP_LEAVES_DATA)
    assert note.values == {"count": 2}


def test_a_tight_cluster_decides_nothing():
    x = 1 + 1e-6 * normal(300, 3)
    found = liegg.discover_group(lambda x: x.pow(4).sum(1), x, liegg.Linear(3))
    assert (found.name, found.directions) == ("undecided", 0)
    assert Diagnosis.GROUP_LEAVES_DATA in diagnoses(found)
    assert found.not_testable


def test_a_network_without_symmetry_has_none_in_a_plane():
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    ).double()
    found = liegg.discover_group(network, planar(300), liegg.Linear(3), starts=0)
    assert (found.name, found.directions) == ("trivial", 0)


def test_data_that_spans_the_space_leaves_nothing_open():
    found = liegg.discover_group(lengths, normal(300, 2, 3), TWO_VECTORS)
    assert found.name == "O(3) × S₂"
    assert "representatives" not in found.settings
    assert not {Diagnosis.GROUP_COMPLETED, Diagnosis.GROUP_LEAVES_DATA} & diagnoses(found)
