"""Readable generators: sparse bases, words for motions, the frame of a form, and all of it together."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg import algebra
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    aff,
    diagonal,
    principal_angles,
    scaling,
    se,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.forms.frame import frame_of
from liegg.algebra.words.describe import describe
from liegg.algebra.words.readable import adapted
from liegg.algebra.words.sparse import pivots, sparse_basis
from liegg.algebra.words.wording import coordinate_names, direction, listed, number, vector

CATALOGUE = {
    **{
        f"{name}({n})": getattr(algebra, name)(n)
        for name in (
            "so",
            "gl",
            "sl",
            "u",
            "su",
            "se",
            "aff",
            "translation",
            "scaling",
            "diagonal",
            "shear",
        )
        for n in range(1, 5)
    },
    **{f"sp({n})": sp(n) for n in (2, 4, 6)},
    **{f"so({p},{q})": so(p, q) for p, q in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3))},
    "so(5)": so(5),
    "so(8)": so(8),
    "so(3)+R": torch.cat([so(3), scaling(3)]),
    "conformal plane": torch.cat(
        [se(2), torch.diag(torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))[None]]
    ),
}

every_algebra = pytest.mark.parametrize("generators", CATALOGUE.values(), ids=CATALOGUE.keys())


def mixed(generators, seed=0, condition=20.0):
    """Another basis of the same span, without structure."""
    if len(generators) == 0:
        return generators
    return torch.einsum(
        "ab,bij->aij", regular(len(generators), seed=seed, condition=condition), generators
    )


def disturbed(generators, uncertainty, seed=0):
    """Orthonormal generators, mixed, each off by a random matrix of Frobenius norm about `uncertainty`."""
    unit = algebra.orthonormal(mixed(generators, seed))
    return unit + uncertainty / unit.shape[1] * normal(*unit.shape, seed=seed + 50)


def angle(one, other):
    """Largest angle between two spans of the same dimension."""
    assert one.shape == other.shape
    return float(principal_angles(one.flatten(1), other.flatten(1)).max()) if len(one) else 0.0


def matrix(n, **entries):
    """Matrix from entries such as `_12=-1`, counted from one."""
    out = torch.zeros(n, n, dtype=torch.float64)
    for place, value in entries.items():
        out[int(place[1]) - 1, int(place[2]) - 1] = value
    return out


def diag(*values):
    return torch.diag(torch.tensor(values, dtype=torch.float64))


# Sparse bases.


@every_algebra
def test_every_mixed_algebra_comes_back_in_small_integers(generators):
    found = sparse_basis(mixed(generators))
    assert found.dtype == torch.float64
    assert set(found.unique().tolist()) <= {-2.0, -1.0, 0.0, 1.0, 2.0}
    assert angle(found, generators) < 1e-13
    assert int(found.ne(0).sum()) <= int(generators.ne(0).sum())


@every_algebra
def test_the_basis_depends_on_the_span_alone(generators):
    assert torch.equal(
        sparse_basis(mixed(generators, seed=1)), sparse_basis(mixed(generators, seed=2))
    )


@every_algebra
def test_noise_is_rounded_away(generators):
    assert torch.equal(
        sparse_basis(disturbed(generators, 1e-2), uncertainty=1e-2), sparse_basis(generators)
    )


def test_rotations_are_those_of_the_catalogue():
    assert torch.equal(sparse_basis(mixed(so(5))), so(5))


def test_traceless_matrices_are_units_and_differences_of_the_diagonal():
    found = sparse_basis(mixed(sl(3)))
    ones, twos = (
        found[found.ne(0).flatten(1).sum(1) == 1],
        found[found.ne(0).flatten(1).sum(1) == 2],
    )
    assert torch.equal(
        ones.sum(0), torch.ones(3, 3, dtype=torch.float64) - torch.eye(3, dtype=torch.float64)
    )
    assert [t.diagonal().tolist() for t in twos] == [[1, 0, -1], [0, 1, -1]]


def test_fractions_become_integers():
    # Rotations that preserve x² + 2y² + 3z²: QA antisymmetric, A_ij / A_ji = -q_j / q_i.
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    found = sparse_basis(mixed(so(3) / weights[:, None]))
    expected = [matrix(3, _21=1, _12=-2), matrix(3, _31=1, _13=-3), matrix(3, _32=2, _23=-3)]
    assert torch.equal(found, torch.stack(expected))


def test_without_integers_the_largest_entry_is_one():
    found = sparse_basis(torch.tensor([[[0.0, -5.0], [math.pi, 0.0]]], dtype=torch.float64))
    np.testing.assert_allclose(found[0], [[0, -1], [math.pi / 5, 0]], atol=1e-15)


def test_sums_with_other_generators_leave_fewer_entries():
    # Overlapping bands: their echelon form has 4 rows of up to 7 entries, the bands have 3 each.
    bands = torch.zeros(4, 9, dtype=torch.float64)
    for k in range(4):
        bands[k, k : k + 3] = torch.tensor([1.0, 1.0, 2.0])
    found = sparse_basis(mixed(bands.unflatten(1, (3, 3)).mT))
    assert int(found.ne(0).sum()) == 12
    assert angle(found, bands.unflatten(1, (3, 3)).mT) < 1e-12


@given(n=st.integers(1, 4), d=st.integers(0, 8), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_spans_without_structure_are_kept(n, d, seed):
    generators = normal(min(d, n * n), n, n, seed=seed)
    found = sparse_basis(generators)
    assert angle(found, generators) < 1e-7
    torch.testing.assert_close(sparse_basis(mixed(generators)), found, atol=1e-6, rtol=0)


@pytest.mark.parametrize("uncertainty", [1e-3, 1e-2, 1e-1])
@pytest.mark.parametrize("n", [3, 5])
def test_noise_moves_a_span_without_zeros_by_no_more_than_the_noise(n, uncertainty):
    p = regular(n, condition=10)
    given_ = disturbed(p @ so(n) @ torch.linalg.inv(p), uncertainty)
    assert angle(sparse_basis(given_, uncertainty=uncertainty), given_) < 3 * uncertainty


def test_real_entries_are_not_taken_for_noise():
    tilted = torch.stack([matrix(3, _12=1, _13=0.1), matrix(3, _32=1)])
    found = sparse_basis(disturbed(tilted, 1e-3), uncertainty=1e-3)
    np.testing.assert_allclose(sorted(found[found != 0]), [0.1, 1, 1], atol=3e-3)


def test_single_precision_is_an_uncertainty():
    assert torch.equal(sparse_basis(mixed(su(3)).float()), sparse_basis(su(3)))


def test_dependent_generators_are_reduced():
    assert torch.equal(sparse_basis(torch.cat([so(3), so(3).sum(0, keepdim=True)])), so(3))


@pytest.mark.parametrize("condition", [1.0, 10.0, 100.0])
def test_a_frame_is_undone(condition):
    s = regular(4, condition=condition)
    assert torch.equal(
        sparse_basis(mixed(s @ so(1, 3) @ torch.linalg.inv(s)), frame=s), sparse_basis(so(1, 3))
    )


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_followed_through_a_frame(seed):
    s = regular(4, condition=10.0, seed=seed)
    seen = disturbed(s @ so(1, 3) @ torch.linalg.inv(s), 1e-2, seed=seed)
    assert torch.equal(sparse_basis(seen, frame=s, uncertainty=1e-2), sparse_basis(so(1, 3)))


def test_pivots_take_axes_inside_first_and_the_first_of_equals():
    inside = torch.tensor([[0.0, 0.0, 1.0], [0.5**0.5, -(0.5**0.5), 0.0]], dtype=torch.float64)
    assert pivots(inside.mT @ inside, 2) == [2, 0]


# Words.

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


@pytest.mark.parametrize(
    ("generator", "options", "words"), WORDS, ids=[f"{w[2]}-{i}" for i, w in enumerate(WORDS)]
)
def test_words(generator, options, words):
    assert describe(generator, **options) == words


@pytest.mark.parametrize(
    ("generator", "options", "words"), [w for w in WORDS if "eigenvalues" not in w[2]]
)
@pytest.mark.parametrize("factor", [-1.0, 1e-5, -7e4])
def test_neither_size_nor_sign_matters(generator, options, words, factor):
    assert describe(factor * generator, **options) == words


@given(seed=st.integers(0, 1000), centre=st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
@settings(deadline=None, max_examples=25)
def test_the_point_of_a_rotation_stays(seed, centre):
    place = torch.tensor(centre, dtype=torch.float64)
    turn = float(normal(1, seed=seed)) * TURN
    generator = torch.zeros(3, 3, dtype=torch.float64)
    generator[:2, :2], generator[:2, 2] = turn, -turn @ place
    expected = f"rotation about the point {vector(place)}" if any(centre) else "rotation in x₁–x₂"
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
    assert vector(torch.tensor([-0.001, 1.0])) == "(0.0, 1.0)"
    assert vector(torch.tensor([-0.004, 0.71])) == "(0.00, 0.71)"
    assert direction(torch.tensor([-3.0, -4.0]), ("x", "y"), 1e-6) == ("(0.6, 0.8)", -5.0)
    assert coordinate_names(2, ["u", "v"]) == ("u", "v")


# Frames.


@pytest.mark.parametrize(
    "signs", [(1, 1, 1), (1, -1, -1, -1), (-1, 1, 1), (-1, 1, -1, 1), (-1, -1)]
)
def test_a_form_that_is_standard_already_has_the_identity(signs):
    torch.testing.assert_close(
        frame_of(diag(*signs)), torch.eye(len(signs), dtype=torch.float64), atol=1e-14, rtol=0
    )


@given(
    p=st.integers(0, 3),
    q=st.integers(1, 3),
    condition=st.sampled_from([1.0, 10.0, 100.0]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=40)
def test_a_form_is_standard_in_its_frame(p, q, condition, seed):
    s = regular(p + q, seed=seed, condition=condition)
    form = s.mT @ diag(*[1.0] * p, *[-1.0] * q) @ s
    frame = frame_of(form)
    seen = frame.mT @ form @ frame
    torch.testing.assert_close(seen, torch.diag(seen.diagonal().sign()), atol=1e-9, rtol=0)
    assert int((seen.diagonal() > 0).sum()) == p


def test_the_frame_of_a_definite_form_is_its_root():
    s = regular(3)
    frame = frame_of(s.mT @ s)
    torch.testing.assert_close(frame, frame.mT)
    torch.testing.assert_close(frame @ frame, torch.linalg.inv(s.mT @ s))


def test_axes_stay_near_their_coordinates():
    turn = torch.linalg.matrix_exp(0.2 * torch.einsum("a,aij->ij", normal(6), so(4)))
    frame = frame_of(turn @ LORENTZ @ turn.mT)
    assert frame.abs().argmax(0).tolist() == [0, 1, 2, 3]
    assert bool((frame.diagonal() > 0).all())


# All together.


def test_noisy_rotations_of_five_dimensions_are_the_ten_planes():
    planes = [f"rotation in x{'₁₂₃₄₅'[i]}–x{'₁₂₃₄₅'[j]}" for i in range(5) for j in range(i + 1, 5)]
    for seed in range(5):
        found = adapted(disturbed(so(5), 1e-2, seed=seed), uncertainty=1e-2)
        assert list(found.words) == planes
        assert found.frame is None
        assert found.framed is None


def test_affine_maps_in_words():
    found = adapted(mixed(se(2)), homogeneous=True, coordinates=("x", "y"))
    assert found.words == ("rotation in x–y", "translation along x", "translation along y")


@pytest.mark.parametrize("uncertainty", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize("seed", range(3))
def test_lorentz_in_any_basis_is_three_rotations_and_three_boosts(seed, uncertainty):
    s = regular(4, seed=seed, condition=100.0 if uncertainty == 0 else 5.0)
    back = torch.linalg.inv(s)
    metric = back.mT @ LORENTZ @ back
    found = adapted(
        disturbed(s @ so(1, 3) @ back, uncertainty, seed=seed), form=metric, uncertainty=uncertainty
    )
    assert (found.rotations, found.boosts) == (3, 3)
    assert [words.split()[0] for words in found.framed_words] == ["rotation"] * 3 + ["boost"] * 3
    assert found.frame is not None
    assert found.framed is not None
    assert set(found.framed.unique().tolist()) == {-1.0, 0.0, 1.0}
    signs = (found.frame.mT @ metric @ found.frame).diagonal().round()
    moved = torch.diag(signs) @ found.framed
    assert torch.equal(moved, -moved.mT)
    image = found.frame @ found.framed @ torch.linalg.inv(found.frame)
    assert angle(image, s @ so(1, 3) @ back) < 1e-8


def test_a_form_that_is_itself_uncertain_still_gives_planes():
    s = regular(4, condition=10.0)
    back = torch.linalg.inv(s)
    seen = disturbed(s @ so(1, 3) @ back, 1e-2)
    # The form that the generators preserve best: least eigenvector of Q ↦ AᵀQ + QA on an orthonormal basis of symmetric ones.
    symmetric = algebra.orthonormal(algebra.gl(4) + algebra.gl(4).mT)
    images = torch.stack([(seen.mT @ q + q @ seen).flatten() for q in symmetric])
    form = torch.einsum("a,aij->ij", torch.linalg.eigh(images @ images.mT)[1][:, 0], symmetric)
    found = adapted(seen, form=form, uncertainty=1e-2)
    assert (found.rotations, found.boosts) == (3, 3)


def test_a_span_that_is_not_the_algebra_of_its_form_is_not_taken_for_it():
    found = adapted(normal(3, 3, 3), form=diag(1, 1, -1), uncertainty=0.05)
    assert (found.rotations, found.boosts) == (0, 0)
    assert found.framed is not None
    assert angle(found.framed, normal(3, 3, 3)) < 0.15


def test_lorentz_in_its_own_coordinates():
    found = adapted(mixed(so(1, 3)), form=LORENTZ, coordinates=("t", "x", "y", "z"))
    boosts = tuple(f"boost along {c} (time t)" for c in "xyz")
    turns = ("rotation in x–y", "rotation in x–z", "rotation in y–z")
    assert found.words == boosts + turns
    assert found.framed_words == turns + boosts


def test_a_part_of_the_rotations_stays_a_part():
    s = regular(4)
    back = torch.linalg.inv(s)
    found = adapted(mixed(s @ su(2) @ back), form=back.mT @ back, frame=s)
    assert found.framed is not None
    assert angle(found.framed, su(2)) < 1e-12
    assert (found.rotations, found.boosts) == (3, 0)
    assert found.framed_words[0] == "rotation in x₁′–x₂′ and x₃′–x₄′ together"


def test_a_frame_without_a_form():
    s = regular(3)
    found = adapted(mixed(s @ sl(3) @ torch.linalg.inv(s)), frame=s, coordinates=("x", "y", "z"))
    assert found.framed is not None
    assert torch.equal(found.framed, sparse_basis(sl(3)))
    assert found.framed_words[:2] == ("squeeze of x′ against z′", "shear of y′ by x′")
    assert (found.rotations, found.boosts) == (0, 0)


def test_a_form_on_the_space_of_affine_maps():
    s = regular(2)
    whole = torch.block_diag(s, torch.eye(1, dtype=torch.float64))
    back = torch.linalg.inv(s)
    found = adapted(
        mixed(whole @ se(2) @ torch.linalg.inv(whole)), form=back.mT @ back, homogeneous=True
    )
    assert found.framed_words == (
        "rotation in x₁′–x₂′",
        "translation along x₁′",
        "translation along x₂′",
    )
    assert (found.rotations, found.boosts) == (1, 0)
    assert found.words[1:] == ("translation along x₁", "translation along x₂")


def test_nothing_has_no_words():
    found = adapted(torch.zeros(0, 3, 3), form=diag(1, 1, 1))
    assert found.generators.shape == (0, 3, 3)
    assert found.words == found.framed_words == ()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sparse_basis(so(3), uncertainty=-1.0), r"uncertainty is -1\.0; expected"),
        (lambda: sparse_basis(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (lambda: sparse_basis(math.nan * so(3)), r"generator 0 holds NaN or infinity"),
        (lambda: describe(so(3)), r"the generator has shape \(3, 3, 3\); expected one matrix"),
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
        (
            lambda: frame_of(torch.zeros(2, 3)),
            r"the form has shape \(2, 3\); expected a symmetric matrix",
        ),
        (
            lambda: frame_of(math.nan * torch.eye(2)),
            r"the form has complex entries, NaN or infinity",
        ),
        (lambda: frame_of(so(2)[0]), r"the form is not symmetric"),
        (lambda: frame_of(diag(1, 0)), r"the form is degenerate, with eigenvalues \[0\.0, 1\.0\]"),
        (lambda: frame_of(torch.zeros(2, 2)), r"the form is degenerate"),
        (
            lambda: adapted(so(3), form=diag(1, 1)),
            r"the form has shape \(2, 2\); expected \(3, 3\)",
        ),
        (
            lambda: adapted(se(3), frame=torch.eye(4), homogeneous=True),
            r"the frame has shape \(4, 4\); expected \(3, 3\)",
        ),
        (lambda: adapted(so(3), frame=torch.zeros(3, 3)), r"the frame is singular or not finite"),
        (lambda: adapted(so(3), coordinates=("x", "y")), r"expected 3 names"),
    ],
)
def test_errors(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()
