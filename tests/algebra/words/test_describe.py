"""Words for motions."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.words.spans import diag, matrix
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.algebra import aff, diagonal, scaling, se, so, sp, su, translation, u
from liegg.algebra.words.describe import describe
from liegg.algebra.words.motions import View, parts
from liegg.algebra.words.wording import coordinate_names, direction, listed, number, vector

TURN = matrix(2, _12=-1, _21=1)
LORENTZ = diag(1, -1, -1, -1)
ROOT = math.sqrt(0.5)

WORDS = [
    (so(2)[0], {}, "rotation in x₁–x₂"),
    (-3 * so(2)[0], {}, "rotation in x₁–x₂"),
    (so(4)[4], {}, "rotation in x₂–x₄"),
    (so(12)[-1], {}, "rotation in x₁₁–x₁₂"),
    (so(3)[1], {"coordinates": ("x", "y", "z")}, "rotation in x–z"),
    (so(3)[0] + so(3)[1], {}, "rotation about the axis (0.00, 0.71, −0.71)"),
    (so(3)[1] - so(3)[0], {}, "rotation about the axis (0.00, 0.71, 0.71)"),
    (0.6 * so(3)[2] + 0.8 * so(3)[0], {}, "rotation about the axis (0.6, 0.0, 0.8)"),
    (
        so(4)[0] + so(4)[1],
        {},
        "rotation in the plane spanned by (1.0, 0.0, 0.0, 0.0) and (0.00, 0.71, 0.71, 0.00)",
    ),
    (so(4)[0] + so(4)[5], {}, "rotation in x₁–x₂ and x₃–x₄ together"),
    (so(4)[0] - so(4)[5], {}, "rotation in x₁–x₂ and x₄–x₃ together"),
    (so(4)[0] - 2 * so(4)[5], {}, "rotation in x₁–x₂ (speed 1) and x₄–x₃ (speed 2) together"),
    (torch.block_diag(TURN, TURN, TURN), {}, "rotation in x₁–x₂, x₃–x₄ and x₅–x₆ together"),
    # Speeds a, b with a² + b² = 1 + 1 + 9 (sum of squares) and ab = 1·3 (Pfaffian): b/a = √((11 - √85) / (11 + √85)).
    (so(4)[0] + so(4)[1] + 3 * so(4)[5], {}, "rotation in 2 tilted planes at speeds 1 and 0.3"),
    (su(2)[2], {}, "rotation in x₁–x₃ and x₄–x₂ together"),
    (u(2)[-1], {}, "common phase"),
    (-u(3)[-1], {}, "common phase"),
    (u(1)[0], {}, "rotation in x₁–x₂"),
    (matrix(2, _12=-4, _21=1), {}, "elliptic rotation in x₁–x₂ (axes 2 : 1)"),
    (matrix(2, _12=-4, _21=1), {"form": diag(1, 4)}, "rotation in x₁–x₂"),
    (so(1, 1)[0], {}, "hyperbolic rotation in x₁–x₂"),
    (so(1, 1)[0], {"form": diag(1, 1)}, "hyperbolic rotation in x₁–x₂"),
    (so(1, 1)[0], {"form": diag(1, -1)}, "boost in x₁–x₂"),
    (matrix(2, _12=1, _21=4), {}, "hyperbolic rotation in x₁–x₂ (axes 1 : 2)"),
    (matrix(2, _12=4, _21=1), {"form": diag(1, -4)}, "boost in x₁–x₂"),
    (so(1, 1)[0], {"form": diag(1, -4)}, "hyperbolic rotation in x₁–x₂"),
    (so(1, 1)[0], {"form": matrix(2, _12=1, _21=1)}, "hyperbolic rotation in x₁–x₂"),
    (so(1, 3)[0], {"form": LORENTZ}, "boost along x₂ (time x₁)"),
    (
        so(1, 3)[2],
        {"form": -LORENTZ, "coordinates": ("t", "x", "y", "z")},
        "boost along z (time t)",
    ),
    (so(1, 3)[4], {"form": LORENTZ}, "rotation in x₂–x₄"),
    (so(3, 1)[4], {"form": diag(1, 1, 1, -1)}, "boost along x₂ (time x₄)"),
    (so(2, 2)[1], {"form": diag(1, 1, -1, -1)}, "boost in x₁–x₃"),
    (
        0.6 * so(1, 3)[0] + 0.8 * so(1, 3)[1],
        {"form": LORENTZ},
        "boost along (0.6, 0.8, 0.0) (time x₁)",
    ),
    (
        so(1, 3)[0] - so(1, 3)[3],
        {"form": LORENTZ},
        "boost along x₂ (time x₁) with rotation 1 in x₂–x₃",
    ),
    (scaling(3)[0], {}, "uniform scaling"),
    (diagonal(3)[1], {}, "scaling of x₂"),
    (diag(2, 0, 2), {}, "scaling of x₁ and x₃"),
    (diag(1, 1, 1, 0), {}, "scaling of x₁, x₂ and x₃"),
    (diag(0, -1, 1), {}, "squeeze of x₂ against x₃"),
    (diag(1, 1, -2), {}, "scaling of x₁ (rate 1), x₂ (rate 1) and x₃ (rate −2)"),
    (torch.full((2, 2), 1.0, dtype=torch.float64), {}, "scaling along (0.71, 0.71)"),
    (matrix(3, _12=1), {}, "shear of x₁ by x₂"),
    (matrix(2, _21=-5), {"coordinates": ("x", "y")}, "shear of y by x"),
    (matrix(3, _12=0.6, _13=0.8), {}, "shear of x₁ by (0.0, 0.6, 0.8)"),
    (
        torch.outer(torch.tensor([1.0, 1.0]), torch.tensor([1.0, -1.0])),
        {},
        "shear along (0.71, 0.71) by (0.71, −0.71)",
    ),
    (TURN + 0.3 * torch.eye(2), {}, "rotation in x₁–x₂ with scaling 0.3"),
    (-TURN + 0.3 * torch.eye(2), {}, "rotation in x₁–x₂ with scaling −0.3"),
    (so(3)[0] + diag(0, 0, 2), {}, "rotation in x₁–x₂ with scaling 2 of x₃"),
    (matrix(2, _11=1, _12=1, _22=1), {}, "shear of x₁ by x₂ with scaling 1"),
    (sp(4)[1], {}, "shear of x₁ by x₂ with shear −1 of x₄ by x₃"),
    (translation(2)[1], {"homogeneous": True}, "translation along x₂"),
    (translation(2)[1], {"homogeneous": True, "coordinates": ("x", "y")}, "translation along y"),
    (translation(2)[1], {}, "shear of x₂ by x₃"),
    (
        0.6 * translation(2)[0] + 0.8 * translation(2)[1],
        {"homogeneous": True},
        "translation along (0.6, 0.8)",
    ),
    (se(2)[0], {"homogeneous": True}, "rotation in x₁–x₂"),
    (
        se(2)[0] + 2 * se(2)[1] - se(2)[2],
        {"homogeneous": True},
        "rotation about the point (1.0, 2.0)",
    ),
    (
        se(3)[0] + 2 * se(3)[3] - se(3)[4],
        {"homogeneous": True},
        "rotation in x₁–x₂ about the point (1.0, 2.0, 0.0)",
    ),
    (
        se(3)[0] + 0.5 * se(3)[5],
        {"homogeneous": True},
        "rotation in x₁–x₂ with translation 0.5 along x₃",
    ),
    (
        se(3)[0] + se(3)[1] + se(3)[3],
        {"homogeneous": True},
        "rotation about the axis (0.00, 0.71, −0.71) through the point (0.0, 0.5, 0.5)",
    ),
    (
        matrix(3, _11=1, _22=1, _13=-1, _23=-2),
        {"homogeneous": True},
        "uniform scaling about the point (1.0, 2.0)",
    ),
    (aff(2)[0] + aff(2)[5], {"homogeneous": True}, "scaling of x₁ with translation 1 along x₂"),
    (torch.zeros(3, 3), {}, "no motion"),
    (diag(1, 2, 3) + matrix(3, _12=1, _23=1), {}, "linear map with eigenvalues 3, 2 and 1"),
    (
        torch.block_diag(0.5 * torch.eye(2) + TURN, matrix(2, _11=2, _12=1, _22=2)),
        {},
        "linear map with eigenvalues 2 (×2) and 0.5 ± 1i",
    ),
    (matrix(3, _12=2, _13=1, _23=3), {}, "nilpotent linear map of rank 2"),
]


def test_words():
    for generator, options, words in WORDS:
        assert describe(generator, **options) == words


def test_neither_size_nor_sign_matters():
    for generator, options, words in [w for w in WORDS if "eigenvalues" not in w[2]]:
        for factor in [-1.0, 1e-5, -7e4]:
            assert describe(factor * generator, **options) == words


@given(seed=st.integers(0, 1000), centre=st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
@settings(deadline=None, max_examples=25)
def test_the_point_of_a_rotation_stays(seed, centre):
    place = torch.tensor(centre, dtype=torch.float64)
    turn = float(normal(1, seed=seed)) * TURN
    generator = torch.zeros(3, 3, dtype=torch.float64)
    generator[:2, :2], generator[:2, 2] = turn, -turn @ place
    expected = (
        f"rotation about the point {vector(place.numpy())}" if any(centre) else "rotation in x₁–x₂"
    )
    assert describe(generator, homogeneous=True) == expected


@given(seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_the_axis_of_a_rotation_is_what_it_leaves(seed):
    generator = torch.einsum("a,aij->ij", normal(3, seed=seed), so(3))
    text = (
        describe(generator)
        .removeprefix("rotation about the axis (")
        .removesuffix(")")
        .replace("−", "-")
    )
    axis = np.array([float(part) for part in text.split(", ")])
    null = np.linalg.svd(generator.numpy())[2][-1]
    assert abs(axis @ null) == pytest.approx(1, abs=0.02)


def test_a_tolerance_hides_noise():
    noisy = so(3)[0] + 0.01 * normal(3, 3)
    assert describe(noisy, tolerance=0.05) == "rotation in x₁–x₂"
    assert describe(noisy) != "rotation in x₁–x₂"


def test_parts_of_sentences():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert [number(x) for x in (-0.0, 1.0, 100.0, -0.126, 1.999)] == ["0", "1", "100", "−0.13", "2"]
    assert vector(np.array([-0.001, 1.0])) == "(0.0, 1.0)"
    assert vector(np.array([-0.004, 0.71])) == "(0.00, 0.71)"
    assert direction(np.array([-3.0, -4.0]), ("x", "y"), 1e-6) == ("(0.6, 0.8)", -5.0)
    assert coordinate_names(2, ["u", "v"]) == ("u", "v")


def test_errors():
    for make, text in [
        (
            lambda: describe(so(3)),
            r"the generator has shape \(3, 3, 3\); expected one square matrix",
        ),
        (lambda: describe(math.inf * torch.eye(2)), r"complex entries, NaN or infinity"),
        (lambda: describe(torch.eye(2), tolerance=0.5), r"tolerance is 0\.5; expected a share"),
        (
            lambda: describe(torch.eye(2), coordinates=("x",)),
            r"coordinates are \('x',\); expected 2 names, .* \(\"x\", \"y\"\)",
        ),
        (
            lambda: describe(torch.eye(2), coordinates="xy"),
            r"coordinates are 'xy'; expected 2 names",
        ),
        (
            lambda: describe(torch.eye(2), homogeneous=True),
            r"the last row of the generator is \[0\.0, 1\.0\]",
        ),
        (
            lambda: describe(torch.eye(2), form=torch.eye(3)),
            r"the form has shape \(3, 3\); expected \(2, 2\)",
        ),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()


def test_parts_of_a_matrix_add_up_to_it():
    whole = np.array([[3.0, -1.0], [2.0, 1.0]])
    ways = parts(whole, View(("x", "y"), None, 1e-9))
    assert len(ways) == 3
    for first, second in ways:
        assert (first + second).tolist() == whole.tolist()
