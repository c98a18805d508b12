"""What `identify` accepts, refuses and reduces."""

import math

import numpy as np
import pytest
import torch

import liegg
from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.algebra import so


def hidden(
    generators: torch.Tensor, seed: int, condition: float = 10.0, noise: float = 0.0
) -> torch.Tensor:
    """The algebra in other coordinates and a mixed orthonormal basis, each generator off by `noise`."""
    d, n, _ = generators.shape
    frame = regular(n, seed=seed, condition=condition)
    rows = torch.linalg.qr((frame @ generators @ torch.linalg.inv(frame)).flatten(1).mT)[0].mT
    rows = torch.linalg.qr(normal(d, d, seed=seed + 2))[0] @ rows + noise / n * normal(
        d, n * n, seed=seed + 3
    )
    return rows.unflatten(1, (n, n))


def test_dependent_generators_are_reduced_and_it_is_said():
    found = liegg.identify(torch.cat([so(3), so(3).sum(0, keepdim=True)]))
    assert (found.name, found.dimension) == ("so(3)", 3)
    assert found.notes[0].diagnosis is Diagnosis.DEPENDENT_GENERATORS
    assert found.notes[0].values == {"given": 4, "dependent": 1, "dimension": 3}
    assert found.notes[0] in str(found)


def test_lists_arrays_and_integers_are_taken():
    assert liegg.identify(list(so(3))).name == "so(3)"
    assert liegg.identify([np.array([[0, -1], [1, 0]])]).name == "so(2)"
    assert liegg.identify(so(3).int()).name == "so(3)"


def test_nothing_is_called_zero():
    found = liegg.identify(torch.zeros(0, 3, 3))
    assert (found.name, found.dimension, str(found)) == ("0", 0, "0: no generators")
    assert liegg.identify(torch.zeros(2, 3, 3)).name == "0"


def test_bad_input():
    for generators, text in [
        ([], "no generators given"),
        (torch.zeros(3, 3), r"generators have shape \(3, 3\)"),
        (torch.zeros(2, 3, 4), r"generators have shape \(2, 3, 4\)"),
        (torch.zeros(1, 2, 2, dtype=torch.complex64), "complex"),
        (torch.full((1, 2, 2), math.nan), "finite"),
        ([torch.eye(2), torch.eye(3)], "generators of type list"),
        ("so(3)", "generators of type str"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            liegg.identify(generators)


def test_bad_uncertainty():
    for uncertainty, text in [
        (-0.1, "uncertainty"),
        (math.inf, "uncertainty"),
        (torch.ones(2), r"uncertainty has shape \(2,\)"),
        ("a", "uncertainty='a'"),
        (True, "uncertainty=True"),
        ([1e-3, -1e-3, 1e-3], "expected the relative error"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            liegg.identify(so(3), uncertainty=uncertainty)


def test_bad_names_of_coordinates_and_bad_affine_matrices():
    with pytest.raises(ArgumentError, match="expected 3 names"):
        liegg.identify(so(3), coordinates=("x",))
    with pytest.raises(ArgumentError, match="homogeneous=True, but a last row is not zero"):
        liegg.identify(so(3), homogeneous=True)


def test_generators_of_very_different_size_count_alike():
    scaled = so(3) * torch.tensor([1.0, 1e-6, 1e6], dtype=torch.float64)[:, None, None]
    found = liegg.identify(scaled)
    assert (found.name, found.notes) == ("so(3)", ())


def test_dependent_ones_are_reduced_in_float32_too():
    generators = hidden(so(3), 2, condition=3.0)
    assert (
        liegg.identify(torch.cat([generators, generators[:1] + generators[1:2]]).float()).dimension
        == 3
    )


def test_the_input_is_left_alone_and_may_carry_gradients():
    generators = so(3).clone().requires_grad_()
    before = generators.detach().clone()
    assert liegg.identify(generators).name == "so(3)"
    assert torch.equal(generators, before)
    assert liegg.identify(so(3).tolist()).uncertainty == 1e-9


def test_names_of_coordinates():
    found = liegg.identify(liegg.se(2), coordinates=("x", "y"))
    assert found.readable.words == ("rotation in x–y", "translation along x", "translation along y")
    assert found.homogeneous
    assert not liegg.identify(so(3)).homogeneous
