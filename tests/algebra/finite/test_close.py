# pyright: reportOptionalMemberAccess=false, reportArgumentType=false
"""Closing matrices under multiplication: known point groups in sheared coordinates and with noise; what does not close."""

import json
import math
from itertools import product

import pytest
import torch

from algebra.finite.groups import (
    ABSTRACT,
    POINT_GROUPS,
    about,
    conjugated,
    is_group,
    noisy,
    plane,
    signs,
)
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.algebra import FiniteGroup, close

AXES = ["x", "y", "z"]


def generators_of(name):
    matrices = POINT_GROUPS[name][1]
    return torch.stack(matrices) if matrices else torch.zeros(0, 3, 3).double()


def assert_exact(group):
    """The elements multiply as the table says, up to rounding at their condition number."""
    products = group.elements[:, None] @ group.elements
    error = torch.linalg.matrix_norm(products - group.elements[group.table]).max()
    size = torch.linalg.matrix_norm(group.elements).max() ** 2
    assert float(error) <= 1e-11 * float(size)
    assert is_group(group.table.numpy())
    assert torch.equal(group.elements[0], group.elements[0].round())


def test_point_groups_of_space():
    for name, (order, _) in POINT_GROUPS.items():
        group = close(conjugated(generators_of(name), 1.0, 3))
        assert (group.order, group.schoenflies) == (order, name)
        assert group.abstract == ABSTRACT.get(name, group.abstract)
        assert group.closed
        assert_exact(group)


@pytest.mark.parametrize("name", ["C₅", "D₃d", "T_d", "O_h"])
def test_sheared_coordinates_and_noise(name):
    for condition, noise in [(1, 1e-4), (10, 1e-4), (10, 1e-8), (30, 1e-6), (100, 1e-12)]:
        given = noisy(conjugated(generators_of(name), condition, 1), noise, 2)
        group = close(given, tolerance=max(noise, 1e-9))
        assert (group.order, group.schoenflies) == (POINT_GROUPS[name][0], name)
        assert_exact(group)
        size = torch.linalg.matrix_norm(given)
        change = torch.linalg.matrix_norm(given - group.elements[list(group.sources)]) / size
        assert float(change.square().mean().sqrt()) <= 1.5 * max(noise, 1e-9), (condition, noise)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["C₈", "D₃", "O", "I_h"])
def test_noise_never_makes_a_wrong_order(name):
    for condition, noise, seed in product([1, 10, 100], [1e-3, 1e-2, 0.05], range(3)):
        given = noisy(conjugated(generators_of(name), condition, seed), noise, seed)
        order = close(given, tolerance=noise).order
        assert order in (None, POINT_GROUPS[name][0]), (condition, noise, seed)


@pytest.mark.parametrize("k", [3, 4, 5, 6, 12, 100])
def test_groups_of_the_plane(k):
    turn, mirror = plane(360 / k), signs(1, -1)
    cyclic, dihedral = close(turn[None]), close(torch.stack([turn, mirror]))
    assert (cyclic.order, dihedral.order) == (k, 2 * k)
    assert cyclic.name == f"C{str(k).translate(str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉'))}"
    assert dihedral.name[0] == "D"
    assert sorted(cyclic.orders.tolist())[-1] == k
    assert len(dihedral.classes) == (k // 2 + 3 if k % 2 == 0 else (k - 1) // 2 + 2)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 1e-4, 1e-3, 1e-2])
def test_arbitrary_angles_have_no_order(tolerance):
    angles = torch.rand(12, generator=torch.Generator().manual_seed(5)) * 360
    closed = [close(plane(float(angle))[None], tolerance=tolerance, limit=300) for angle in angles]
    # Angles within the tolerance of a small fraction of a turn are of that order.
    assert sum(group.closed for group in closed) <= (1 if tolerance >= 1e-2 else 0)
    assert all(group.order is None for group in closed if not group.closed)


@pytest.mark.parametrize(
    ("matrices", "reason"),
    [
        ([plane(57.29577951308232)], Diagnosis.GROUP_BEYOND_LIMIT),
        ([about((0, 0, 1), 90), about((1, 1, 1), 50)], Diagnosis.GROUP_BEYOND_LIMIT),
        ([torch.tensor([[1.0, 1.0], [0.0, 1.0]]).double()], None),
        ([signs(2, 0.5)], None),
        ([plane(90), signs(1.0, -1.01)], None),
    ],
)
def test_infinite_groups_are_not_given_an_order(matrices, reason):
    group = close(torch.stack(matrices), limit=300)
    assert (group.closed, group.order, group.name) == (False, None, "does not close")
    assert "infinite" in str(group)
    assert group.table.numel() == 0
    assert len(group.elements) == len(group.words) == len(matrices)
    if reason is not None:
        assert group.reason.diagnosis is reason


def test_a_tolerance_that_hides_an_element_claims_nothing():
    group = close(plane(1.0)[None], tolerance=0.01)
    assert not group.closed


def test_the_order_of_the_generators_does_not_matter():
    one = close(torch.stack(POINT_GROUPS["O_h"][1]), coordinates=AXES)
    other = close(one.elements[torch.randperm(48)], coordinates=AXES)
    assert one.words == other.words
    torch.testing.assert_close(one.elements, other.elements, rtol=0, atol=1e-12)
    assert torch.equal(one.table, other.table)
    assert sorted(other.sources) == list(range(48))


def test_affine_maps_have_their_centre():
    shift = torch.eye(3).double()
    shift[:2, 2] = torch.tensor([1.0, 2.0])
    square = torch.eye(3).double().repeat(2, 1, 1)
    square[:, :2, :2] = torch.stack([plane(90), signs(1, -1)])
    moved = shift @ square @ torch.linalg.inv(shift)
    group = close(moved, homogeneous=True, coordinates=["x", "y"])
    assert group.name == "D₄"
    assert "rotation by 90° about the point (1.0, 2.0)" in group.words
    assert "reflection y → 4 − y" in group.words


def test_no_elements_are_the_trivial_group():
    for given in (torch.zeros(0, 2, 2), torch.eye(2)[None], torch.eye(2).repeat(3, 1, 1)):
        group = close(given)
        assert (group.order, group.name, group.words) == (1, "C₁", ("identity",))
    assert close(torch.eye(2).repeat(3, 1, 1)).sources == (0, 0, 0)


def test_a_record_comes_back_from_json():
    for group in (close(torch.stack(POINT_GROUPS["T_d"][1])), close(plane(57.3)[None])):
        again = FiniteGroup.from_dict(json.loads(json.dumps(group.to_dict())))
        assert again.to_dict() == group.to_dict()
        assert str(again) == str(group)
        assert repr(again) == repr(group)
        assert again.inverses.tolist() == group.inverses.tolist()


def test_the_record_prints_its_table():
    group = close(torch.stack([plane(90), signs(1, -1)]), coordinates=["x", "y"])
    assert str(group).splitlines()[:3] == [
        "D₄ (order 8)",
        "   order  element",
        "       1  identity",
    ]
    assert close(torch.stack(POINT_GROUPS["O"][1])).title().startswith("O (order 24, also S₄")
    assert group.invariants.centre == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (torch.zeros(1, 2, 2), "element 0 is singular"),
        (torch.full((1, 2, 2), math.nan), "element 0 contains NaN"),
        (torch.zeros(2, 2), "expected a tensor"),
        (torch.zeros(1, 2, 3), "expected a tensor"),
    ],
)
def test_bad_matrices_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        close(given)


def test_bad_arguments_are_refused():
    one = torch.eye(2)[None]
    for how, message in (
        ({"tolerance": 0.0}, "expected the relative error"),
        ({"tolerance": 1.0}, "expected the relative error"),
        ({"limit": 0}, "expected at least 1"),
        ({"coordinates": ["x"]}, "expected 2 names"),
        ({"algebra": torch.zeros(1, 3, 3)}, "expected the same"),
        ({"homogeneous": True, "algebra": None, "tolerence": 1e-3}, "Did you mean tolerance"),
    ):
        with pytest.raises(ArgumentError, match=message):
            close(one, **how)
    with pytest.raises(ArgumentError, match="final 1"):
        close(torch.tensor([[[1.0, 0.0], [1.0, 1.0]]]), homogeneous=True)


def test_large_matrices_are_closed_too():
    shift = torch.eye(30)[[*range(1, 30), 0]]
    assert close(shift[None]).name == "C₃₀"
    sheared = conjugated(torch.stack([shift.double(), torch.eye(30).double().flip(0)]), 3.0, 1)
    assert close(sheared, tolerance=1e-8).name == "D₃₀"
    assert not close(2 * shift[None]).closed


def test_inaccurate_affine_elements_become_affine_ones():
    quarter = torch.eye(3, dtype=torch.float64)
    quarter[:2] = torch.tensor([[0.0, -1.0, 2.0], [1.0, 0.0, 0.5]])
    noise = torch.randn(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    quarter[:2] += 0.01 * noise
    group = close(quarter[None], homogeneous=True, tolerance=0.05)
    assert group.order == 4
    assert group.elements[:, 2].tolist() == [[0.0, 0.0, 1.0]] * 4
    products = torch.einsum("aij,bjk->abik", group.elements, group.elements)
    assert torch.allclose(products, group.elements[group.table], atol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-3, 0.005, 0.01, 0.02, 0.05])
@pytest.mark.parametrize("shift", [0.3, 0.7028643745744514, 1.4057287491489028])
def test_translations_are_no_finite_group(shift, tolerance):
    matrices = torch.eye(3).double().repeat(2, 1, 1)
    matrices[0, 1, 2] = shift
    matrices[1, :2, 2] = torch.tensor([-shift, 2 * shift])
    group = close(matrices, homogeneous=True, tolerance=tolerance)
    assert (group.closed, group.order) == (False, None)


@pytest.mark.parametrize(("unit", "offset"), [(1.0, 0.0), (1e-3, 0.02), (1e3, 2e4), (1.0, 1e3)])
def test_affine_groups_in_any_unit(unit, offset):
    quarter = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()
    mirror = torch.tensor([[1.0, 0.0], [0.0, -1.0]]).double()
    centre = torch.tensor([offset + 0.3 * unit, offset]).double()
    matrices = torch.eye(3).double().repeat(2, 1, 1)
    matrices[:, :2, :2] = torch.stack([quarter, mirror])
    matrices[:, :2, 2] = centre - matrices[:, :2, :2] @ centre
    frame = torch.diag(torch.tensor([unit, unit, 1.0])).double()
    frame[:2, 2] = offset
    group = close(matrices, homogeneous=True, frame=frame)
    assert (group.name, group.order) == ("D₄", 8)
    moved = group.elements[:, :2, :2] @ centre + group.elements[:, :2, 2]
    assert torch.allclose(moved, centre.expand_as(moved), rtol=1e-9)
