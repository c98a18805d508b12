"""Tensors and irreducible representations: laws, independent oracles, what they are asked about, errors."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy.spatial.transform import Rotation
from scipy.special import sph_harm_y

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Irrep, Linear, Tensor, action_from_settings
from liegg.actions.representations.irrep import Order
from liegg.actions.representations.representation import Representation
from liegg.algebra.bracket import bracket
from liegg.testing import assert_is_action, assert_same_span

SHAPES = [
    (Tensor(3), (3, 3)),
    (Tensor(3), (9,)),
    (Tensor(2, copies=3), (3, 2, 2)),
    (Tensor(3, rank=1), (3,)),
    (Tensor(2, rank=3), (2, 2, 2)),
    (Tensor(3, symmetric=True), (3, 3)),
    (Tensor(3, antisymmetric=True, copies=2), (18,)),
    (Tensor(3, symmetric=True, form="voigt"), (6,)),
    (Tensor(2, symmetric=True, form="voigt", copies=2), (2, 3)),
    (Irrep(1), (3,)),
    (Irrep(2), (1, 5)),
    (Irrep(2, order="standard"), (5,)),
    (Irrep(4, copies=3), (3, 9)),
    (Irrep(4, copies=3), (27,)),
    (Irrep(2, copies=None), (4, 5)),
    (Tensor(3, copies=None), (2, 3, 3)),
    (Tensor(3, copies=None), (18,)),
    (Tensor(3, copies=None), (3, 3)),
]


def harmonics(degree: int, x: np.ndarray, order: str = "standard") -> np.ndarray:
    """Real spherical harmonics by scipy, without Condon-Shortley phase."""
    x = x if order == "standard" else x[..., [2, 0, 1]]
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    polar, azimuth = np.arccos(x[..., 2]), np.arctan2(x[..., 1], x[..., 0])
    columns = []
    for m in range(-degree, degree + 1):
        value = sph_harm_y(degree, abs(m), polar, azimuth) * (-1) ** m
        columns.append(value.real if m == 0 else 2**0.5 * (value.real if m > 0 else value.imag))
    return np.stack(columns, -1)


def test_laws():
    for action, shape in SHAPES:
        action.check(shape)
        assert_is_action(action, normal(5, *shape), tolerance=1e-12)


def test_it_is_a_representation():
    for action in dict(SHAPES):
        one, other = action.basis[:2] + 0.3 * action.basis[-1]
        inside = action.coefficients(bracket(one, other)[None])[0]
        a, b, both = (torch.einsum("g,gij->ij", c, action.images) for c in (
            action.coefficients(one[None])[0], action.coefficients(other[None])[0], inside,
        ))  # fmt: skip
        torch.testing.assert_close(a @ b - b @ a, both, atol=1e-12, rtol=0)


def test_settings_and_code_make_it_again():
    for action in dict(SHAPES):
        again = action_from_settings(action.settings())
        assert repr(again) == repr(action)
        assert repr(eval(action.code(), {"liegg": liegg})) == repr(action)


def test_a_matrix_moves_from_both_sides():
    h, x = normal(3, 3, seed=1), normal(6, 3, 3)
    g = scipy.linalg.expm(h.numpy())
    expected = g @ x.numpy() @ g.T
    np.testing.assert_allclose(Tensor(3).act(h, x), expected, rtol=1e-12, atol=1e-11)


def test_only_the_stated_part_of_a_tensor_moves():
    h, x = normal(3, 3, seed=1), normal(6, 3, 3)
    whole, odd = (x + x.mT) / 2, (x - x.mT) / 2
    full = Tensor(3)
    moved = Tensor(3, symmetric=True).act(h, x)
    torch.testing.assert_close(moved, full.act(h, whole) + odd)
    moved = Tensor(3, antisymmetric=True).act(h, x)
    torch.testing.assert_close(moved, full.act(h, odd) + whole)


def test_voigt_components_move_as_the_matrix_does():
    h, six = normal(3, 3, seed=1), normal(4, 6)
    rows, columns = [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]  # xx yy zz yz xz xy
    full = torch.zeros(4, 3, 3, dtype=torch.float64)
    full[:, rows, columns] = six
    full[:, columns, rows] = six
    moved = Tensor(3, symmetric=True).act(h, full)[:, rows, columns]
    torch.testing.assert_close(Tensor(3, symmetric=True, form="voigt").act(h, six), moved)


def test_values_turn_as_spherical_harmonics_do():
    for degree, order in product([1, 2, 3, 7], get_args(Order)):
        x, turn = normal(20, 3).numpy(), np.array([0.4, -1.1, 0.7])
        h = torch.tensor([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
        rotated = x @ Rotation.from_rotvec(turn).as_matrix().T
        moved = Irrep(degree, order=order).act(h, torch.tensor(harmonics(degree, x, order)))
        np.testing.assert_allclose(moved, harmonics(degree, rotated, order), atol=1e-12)


def test_degree_one_is_a_vector():
    h, x = torch.einsum("d,dij->ij", normal(3), liegg.so(3)), normal(6, 3)
    torch.testing.assert_close(Irrep(1).act(h, x), Linear(3).act(h, x))
    standard = Irrep(1, order="standard").act(h, x[:, [1, 2, 0]])
    torch.testing.assert_close(standard, Linear(3).act(h, x)[:, [1, 2, 0]])


def test_degree_two_is_a_traceless_symmetric_matrix():
    h, x = torch.einsum("d,dij->ij", normal(3), liegg.so(3)), normal(6, 3, 3)
    x = (x + x.mT) / 2
    x = x - torch.eye(3) * x.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]

    def five(t: torch.Tensor) -> torch.Tensor:
        a, b, c = t.diagonal(dim1=1, dim2=2).unbind(1)
        root = 3**0.5
        return torch.stack(
            [root * t[:, 0, 2], root * t[:, 0, 1], b - (a + c) / 2, root * t[:, 1, 2], root / 2 * (c - a)],
            1,
        )  # fmt: skip

    torch.testing.assert_close(Irrep(2).act(h, five(x)), five(Tensor(3).act(h, x)))


def test_high_degrees_stay_orthogonal():
    images = Irrep(40).images
    torch.testing.assert_close(images, -images.mT, atol=1e-11, rtol=0)
    casimir = -2 * (images @ images).sum(0)  # unit generators are L / √2
    torch.testing.assert_close(casimir, 40 * 41 * torch.eye(81).double(), atol=1e-9, rtol=0)


def test_words_and_motions_are_rotations():
    assert Irrep(2).words == ("rotation in x₁–x₂", "rotation in x₁–x₃", "rotation in x₂–x₃")
    assert Irrep(2, names=["x", "y", "z"]).words[0] == "rotation in x–y"
    assert set(Irrep(2).motions((5,))) == set(Tensor(3).motions((3, 3))) == {"rotation"}
    assert Tensor(1).motions((1, 1)) == {}


def quadrupole(x: torch.Tensor) -> torch.Tensor:
    weight = (-x.square().sum(-1)).exp()
    return torch.einsum("bk,bki,bkj->bij", weight, x, x)


@pytest.mark.parametrize(
    "output_action",
    [Tensor(3, symmetric=True), Tensor(3), Tensor(3).restrict(liegg.so(3))],
    ids=str,
)
def test_a_tensor_output_turns_with_its_input(output_action):
    x = normal(120, 4, 3)
    sym = liegg.discover(quadrupole, x, Linear(3, copies=4), output_action=output_action)
    assert (sym.nullity, sym.name) == (3, "so(3)")
    torch.testing.assert_close(sym.output_generators, sym.generators, atol=1e-10, rtol=0)
    said = sym.account.on_output
    assert said is not None
    assert (said.diagnosis, said.values) == (Diagnosis.OUTPUT_SAME_MATRICES, {"name": "so(3)"})
    assert liegg.verify(quadrupole, normal(60, 4, 3, seed=5), sym).holds


def test_an_irrep_output_in_other_coordinates_has_the_same_algebra():
    matrix = normal(3, 3, seed=3) + 2 * torch.eye(3)

    def values(x):
        y = x @ torch.linalg.inv(matrix).T
        a, b, c = y.unbind(1)
        root = 3**0.5
        return torch.stack(
            [root * a * c, root * a * b, b**2 - (a**2 + c**2) / 2, root * b * c, root / 2 * (c**2 - a**2)], 1
        )  # fmt: skip

    sym = liegg.discover(values, normal(120, 3), Linear(3), output_action=Irrep(2))
    assert (sym.nullity, sym.name) == (3, "so(3)")
    conjugated = matrix @ liegg.so(3) @ torch.linalg.inv(matrix)
    assert_same_span(sym.generators, conjugated, tolerance=1e-8)
    assert_same_span(sym.output_generators, liegg.so(3), tolerance=1e-8)
    said = sym.account.on_output
    assert said is not None
    assert said.diagnosis is Diagnosis.OUTPUT_ALGEBRA


def test_a_tensor_of_another_kind_is_told_apart():
    sym = liegg.discover(
        lambda x: quadrupole(x) + 0.5 * torch.diag(torch.tensor([1.0, 0.0, 0.0])),
        normal(120, 4, 3),
        Linear(3, copies=4),
        output_action=Tensor(3, symmetric=True),
    )
    assert (sym.nullity, sym.words) == (1, ("rotation in x₂–x₃",))


def test_an_invariant_of_tensors_as_inputs():
    x = normal(200, 3, 3)
    x = x + x.mT
    sym = liegg.discover(
        lambda t: torch.stack([t.diagonal(dim1=1, dim2=2).sum(1), t.square().sum((1, 2))], 1),
        x,
        Tensor(3, symmetric=True),
    )
    assert (sym.nullity, sym.name) == (3, "so(3)")


def test_it_is_stored_and_read(tmp_path):
    sym = liegg.discover(
        quadrupole,
        normal(60, 4, 3),
        Linear(3, copies=4),
        output_action=Tensor(3, symmetric=True),
        controls="none",
    )
    sym.save(tmp_path / "run")
    again = liegg.load(tmp_path / "run")
    assert repr(again.output_action) == "Tensor(3, rank=2, symmetric=True)"
    assert str(again) == str(sym)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tensor(0), "must be positive"),
        (lambda: Tensor(3, rank=9), "between 1 and 8"),
        (lambda: Tensor(3, symmetric=True, antisymmetric=True), "Choose one"),
        (lambda: Tensor(3, rank=1, symmetric=True), "leave symmetric out"),
        (lambda: Tensor(2, rank=3, antisymmetric=True), "only 0 is antisymmetric"),
        (lambda: Tensor(3, form="voigt"), "symmetric=True, form='voigt'"),
        (lambda: Tensor(30, rank=3), "too many"),
        (lambda: Tensor(3, copies=0), "copies=0"),
        (lambda: Tensor(3, names=["a"]), "names"),
        (lambda: Irrep(0), "a scalar"),
        (lambda: Irrep(-1), "from 1 to 64"),
        (lambda: Irrep(2, copies=0), "copies=0"),
        (lambda: Irrep(2).coefficients(torch.eye(3)[None]), "liegg.so"),
        (lambda: Irrep(2).coefficients(torch.eye(4)[None]), "expected"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


def test_other_shapes_are_refused_with_the_copies_that_fit():
    with pytest.raises(ShapeError, match="copies=4"):
        Tensor(3).check((4, 3, 3))
    with pytest.raises(ShapeError, match="copies=2"):
        Irrep(2).check((10,))
    with pytest.raises(ShapeError, match=r"\(5,\)"):
        Irrep(2).check((7,))
    with pytest.raises(ShapeError, match=r"\(\.\.\., 3, 3\)"):
        Tensor(3, copies=None).check((4, 2))


def test_one_value_per_point_of_structured_samples():
    """A tensor per atom, for molecules of different sizes, with the action on one tensor."""

    def each(pos):
        r = pos - pos.mean(-2, keepdim=True)
        return torch.einsum("...k,...ki,...kj->...kij", (-r.square().sum(-1)).exp(), r, r)

    data = [{"pos": normal(3 + i % 3, 3, seed=i)} for i in range(60)]
    sym = liegg.discover(
        lambda batch: each(batch["pos"]),
        data,
        {"pos": liegg.Affine(3, copies=None)},
        output_action=Tensor(3),
    )
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert sym.account.on_output is not None
    assert sym.account.on_output.values == {"name": "so(3)"}


def test_half_precision_values_are_moved_in_float32():
    x = normal(4, 5).half()
    moved = Irrep(2).act(0.3 * liegg.so(3)[0], x)
    assert moved.dtype is torch.float16
    exact = Irrep(2).act(0.3 * liegg.so(3)[0], x.double())
    torch.testing.assert_close(moved.double(), exact, atol=4e-3, rtol=0)
    assert isinstance(Irrep(2), Representation)
