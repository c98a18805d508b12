"""Infinite discrete groups: periods, scalings by a factor and shears are listed, and no finite order is claimed for them."""

import math

import pytest
import torch

import liegg
from cases import normal
from found_groups import element, square_group
from liegg.discovery.group.record import INFINITE
from liegg.results import load_group


def crystal(x):
    """No symmetry but the periods 3 along x and 2 along y."""
    u, v = (2 * math.pi * x / torch.tensor([3.0, 2.0]).to(x)).unbind(1)
    return u.cos() + 0.7 * v.cos() + 0.5 * (u + v).sin() + 0.3 * (2 * u + 0.3).sin()


def periods(found):
    """The translations, which are a basis of the lattice up to signs and order."""
    return torch.stack([one.matrix[:2, 2] for one in found.infinite])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_periods_of_a_crystal(unit):
    x = unit * (1.5 * normal(600, 2) + 7.0)
    found = liegg.discover_group(lambda x: crystal(x / unit), x, liegg.Affine(2))
    assert (found.name, found.order) == (INFINITE, None)
    shifts = periods(found) / unit
    assert sorted(shifts.abs().round(decimals=6).tolist()) == [[0.0, 2.0], [3.0, 0.0]]
    assert all(one.grade == "exact" for one in found.infinite)


def test_a_lattice_that_is_not_rectangular_has_a_basis():
    def function(x):
        a, b, c = x.unbind(1)
        return (a.cos() * b.cos() * c.cos()) + 0.3 * (2 * x).sin().sum(1)

    found = liegg.discover_group(function, 2 * normal(800, 3), liegg.Affine(3))
    shifts = torch.stack([one.matrix[:3, 3] for one in found.infinite]) / math.pi
    assert torch.allclose(shifts, shifts.round(), atol=1e-6)
    assert round(abs(float(torch.linalg.det(shifts)))) == 2  # face-centred
    assert found.name.endswith(f"and {INFINITE}")


def test_a_function_of_the_logarithm_is_scaled():
    found = liegg.discover_group(
        lambda x: (2 * math.pi * x.abs().log2()).sin()[:, 0], normal(600, 1), liegg.Linear(1)
    )
    assert found.name == f"C₂ and {INFINITE}"
    assert [one.words for one in found.infinite] == ["scaling by 2"]
    assert not any("finite group" in one.reason for one in found.rejected)


def test_integer_shears():
    def function(x):
        return (2 * math.pi * x[:, 0] / x[:, 1]).cos() * (-0.1 / x[:, 1].square()).exp() + x[
            :, 1
        ].square()

    found = liegg.discover_group(function, normal(600, 2), liegg.Linear(2))
    assert (found.order, found.name) == (None, f"Z₂² and {INFINITE}")
    (shear,) = found.infinite
    assert shear.matrix.round(decimals=6).abs().tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_no_periods_where_there_are_none():
    found = liegg.discover_group(
        lambda x: crystal(x) + 0.01 * x.square().sum(1), 1.5 * normal(400, 2), liegg.Affine(2)
    )
    assert not found.infinite
    assert INFINITE not in found.name


def test_compact_continuous_symmetries_beside_a_scaling():
    def function(x):
        return (3 * math.pi * x.norm(dim=1).log2()).sin()

    found = liegg.discover_group(function, normal(600, 2), liegg.Linear(2))
    assert found.name.startswith("O(2)")
    assert all("scaling" in one.words for one in found.infinite)


def test_stored_and_read(tmp_path):
    shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]]).double()
    found = square_group(infinite=(element(shear, "shear"),))
    found.save(tmp_path / "run")
    again = load_group(tmp_path / "run")
    assert [one.words for one in again.infinite] == ["shear"]
    assert torch.equal(again.infinite[0].matrix, shear)
    assert "shear" in again.table(width=100)


def test_a_larger_group_that_holds_nearly_is_in_the_sentence():
    x = normal(600, 3)
    found = liegg.discover_group(
        lambda x: x.pow(4).sum(1) + 1e-3 * x[:, 0].pow(3), x, liegg.Linear(3)
    )
    assert (found.name, found.order) == ("D₄", 8)
    assert "O_h (48 elements) holds only nearly" in found.sentence
    exact = liegg.discover_group(lambda x: x.pow(4).sum(1), x, liegg.Linear(3))
    assert "nearly" not in exact.sentence


@pytest.mark.parametrize(("unit", "offset"), [(1.0, 50.0), (100.0, 5e3), (0.01, 1.0)])
def test_the_unit_and_the_origin_of_points_do_not_matter(unit, offset):
    weights = normal(16, seed=1)

    def function(x):
        squares = ((x[:, :, None] - x[:, None]) / unit).square().sum(-1)
        return (-squares).exp().flatten(1) @ weights

    found = liegg.discover_group(
        function, unit * normal(400, 4, 3) + offset, liegg.Affine(3, copies=4)
    )
    assert (found.name, found.order) == ("E(3)", 2)
    assert found.words == ("identity", "mirror image (inversion)")
