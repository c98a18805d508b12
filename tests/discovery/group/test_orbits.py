"""Can data tell an element from the continuous symmetries?"""

import torch

import liegg
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.orbits import told_apart


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def vectors_of(action, shape):
    space = action.spaces(shape)[0]
    assert isinstance(space, VectorSpace)
    return space


def told(x, copies, *, element=None):
    space = vectors_of(liegg.Linear(3, copies=copies), tuple(x.shape[1:]))
    element = -torch.eye(3, dtype=torch.float64) if element is None else element
    return told_apart(space, element, liegg.so(3), x, tolerance=1e-6, seed=0)


def test_inversion_of_clouds_is_told_by_their_volume():
    assert told(normal(16, 4, 3), 4) == "by the data"


def test_planar_clouds_in_any_orientation_cannot_tell():
    x = normal(16, 4, 3)
    x[..., 2] = 0
    frames = torch.linalg.qr(normal(16, 3, 3)).Q
    assert told(x @ frames, 4) == "not by this data"


def test_two_vectors_of_space_cannot_tell_whatever_they_are():
    assert told(normal(16, 2, 3), 2) == "by no data"


def test_a_rotation_is_no_other_element():
    turn = torch.linalg.matrix_exp(liegg.so(3)[0].double())
    assert told(normal(16, 4, 3), 4, element=turn) == "by no data"
    nothing = torch.zeros(0, 3, 3, dtype=torch.float64)
    space = vectors_of(liegg.Linear(3, copies=4), (4, 3))
    answer = told_apart(space, turn, nothing, normal(4, 4, 3), tolerance=1e-6, seed=0)
    assert answer == "by the data"
