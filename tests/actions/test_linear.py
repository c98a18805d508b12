"""The linear and the affine action: laws, layouts, coefficients, homogeneous matrices, errors."""

import numpy as np
import pytest
import scipy.linalg
import torch

from cases import normal
from liegg import algebra
from liegg._utils.errors import ArgumentError, RecordError, ShapeError
from liegg.actions import Affine, Linear, action_from_settings
from liegg.testing import assert_is_action

SHAPES = [
    (Linear(1), (1,)),
    (Linear(3), (3,)),
    (Linear(3), (1, 3)),
    (Linear(3, copies=4), (4, 3)),
    (Linear(3, copies=4), (12,)),
    (Linear(3, copies=4, layout="vector_first"), (3, 4)),
    (Linear(3, copies=4, layout="vector_first"), (12,)),
    (Linear(3, copies=3), (3, 3)),
    (Linear(3, copies=3, layout="vector_first"), (3, 3)),
    (Affine(1), (1,)),
    (Affine(3), (3,)),
    (Affine(2, copies=5), (5, 2)),
    (Affine(2, copies=5), (10,)),
    (Affine(2, copies=5, layout="vector_first"), (2, 5)),
]


def test_laws():
    for action, shape in SHAPES:
        action.check(shape)
        assert_is_action(action, normal(5, *shape), tolerance=1e-12)


def test_act_is_the_matrix_exponential_on_every_copy():
    h, x = normal(3, 3, seed=1), normal(6, 4, 3)
    expected = np.einsum("ij,bcj->bci", scipy.linalg.expm(h.numpy()), x.numpy())
    np.testing.assert_allclose(Linear(3, copies=4).act(h, x), expected, rtol=1e-12, atol=1e-12)


def test_coefficients_and_the_matrix_move_alike():
    h, x = normal(3, 3, seed=1), normal(6, 3)
    assert torch.equal(Linear(3).act(h, x), Linear(3).act(h.flatten(), x))


def test_layouts_say_which_axis_is_the_vector():
    h, x = normal(9, seed=1), normal(6, 4, 3)
    first, last = Linear(3, copies=4), Linear(3, copies=4, layout="vector_first")
    torch.testing.assert_close(last.act(h, x.mT), first.act(h, x).mT)
    torch.testing.assert_close(last.act(h, x.mT.flatten(1)), first.act(h, x).mT.flatten(1))
    torch.testing.assert_close(first.act(h, x.flatten(1)), first.act(h, x).flatten(1))


def test_generators_are_unit_matrices_row_by_row():
    matrices = Linear(2).matrices(torch.eye(4))
    assert matrices[1].tolist() == [[0, 1], [0, 0]]
    assert matrices[2].tolist() == [[0, 0], [1, 0]]
    assert torch.equal(Linear(2).coefficients(matrices), torch.eye(4))


def test_field_of_a_unit_matrix():
    field = Linear(3).fields(torch.tensor([[2.0, 3.0, 5.0]]))
    assert field[0, 1].tolist() == [3, 0, 0]  # E_12 sends (x1, x2, x3) to (x2, 0, 0)


def test_displacement_is_the_second_moment_once_per_row():
    x = normal(50, 2, 3)
    displacement = Linear(3, copies=2).displacement(Linear(3, copies=2).moment(x), 50)
    assert displacement.repeat == 3
    flat = x.reshape(100, 3)
    torch.testing.assert_close(displacement.block, flat.mT @ flat / 50)


def test_moments_add_over_samples():
    action, x = Linear(3, copies=2), normal(50, 2, 3)
    torch.testing.assert_close(action.moment(x[:20]) + action.moment(x[20:]), action.moment(x))


def test_acts_in_the_samples_dtype():
    assert (
        Linear(2).act(torch.zeros(4, dtype=torch.float64), torch.ones(1, 2)).dtype == torch.float32
    )


def test_act_is_the_exponential_of_the_homogeneous_matrix():
    h = torch.nn.functional.pad(normal(3, 4, seed=1), (0, 0, 0, 1))
    x = normal(6, 2, 3)
    homogeneous = np.concatenate([x.numpy(), np.ones((6, 2, 1))], axis=2)
    expected = np.einsum("ij,bcj->bci", scipy.linalg.expm(h.numpy()), homogeneous)[..., :3]
    np.testing.assert_allclose(Affine(3, copies=2).act(h, x), expected, rtol=1e-12, atol=1e-12)


def test_translations_add_the_same_to_every_sample():
    x = normal(6, 2, 3)
    moved = Affine(3, copies=2).act(2 * algebra.translation(3)[1], x)
    torch.testing.assert_close(
        moved - x, torch.tensor([0.0, 2.0, 0.0], dtype=torch.float64).expand_as(x)
    )


def test_linear_generators_move_as_in_the_linear_action():
    x = normal(6, 3)
    for h in algebra.so(3):
        torch.testing.assert_close(
            Affine(3).act(Affine(3).coefficients(h[None])[0], x), Linear(3).act(h, x)
        )


def test_matrices_have_a_zero_last_row():
    matrices = Affine(2).matrices(normal(4, 6))
    assert matrices.shape == (4, 3, 3)
    assert not matrices[:, 2].any()
    assert torch.equal(Affine(2).coefficients(matrices), normal(4, 6))


def test_no_generators_have_no_coefficients():
    assert Affine(2).coefficients(torch.zeros(0, 3, 3)).shape == (0, 6)


def test_a_tiny_generator_is_judged_by_its_own_size():
    pair = torch.zeros(2, 3, 3)
    pair[0, 0, 0], pair[1, 2, 2] = 1.0, 1e-13
    with pytest.raises(ArgumentError, match="last row other than zero"):
        Affine(2).coefficients(pair)


def test_settings_make_it_again():
    for action, _ in SHAPES:
        assert action_from_settings(action.settings()) == action


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: Linear(0),
            ArgumentError,
            r"Linear\(0, copies=1\): both must be positive, for example Linear\(5, copies=2\)",
        ),
        (
            lambda: Linear(3, copies=0),
            ArgumentError,
            r"Linear\(3, copies=0\): both must be positive",
        ),
        (
            lambda: Linear(2).coefficients(torch.zeros(4, 3, 3)),
            ArgumentError,
            r"4, 3, 3\); expected \[d, 2, 2\], matrices of L",
        ),
        (
            lambda: Linear(3).check((4,)),
            ShapeError,
            r"a sample has shape \(4,\).*expects \(3,\) or \(1, 3\).*pass Linear\(4\)",
        ),
        (
            lambda: Linear(3).check((6,)),
            ShapeError,
            r"For 2 vectors of dimension 3 pass Linear\(3, copies=2\)",
        ),
        (
            lambda: Linear(3, copies=2).check((3, 2)),
            ShapeError,
            r"axes are swapped: pass .*layout='vector_first'",
        ),
        (
            lambda: Linear(3, copies=2).check((5, 4)),
            ShapeError,
            r"For 5 vectors of dimension 4 pass Linear\(4, copies=5\)",
        ),
        (
            lambda: Linear(3).check((2, 3, 4)),
            ShapeError,
            r"\(2, 3, 4\); Linear\(3, copies=1\) expects.* pass liegg.Image",
        ),
        (
            lambda: action_from_settings({"kind": "warp"}),
            RecordError,
            "known are linear, affine, vectors, tensor, irrep, grid",
        ),
        (lambda: Affine(0), ArgumentError, r"Affine\(0, copies=1\): both must be positive"),
        (
            lambda: Affine(2).coefficients(torch.eye(3)[None]),
            ArgumentError,
            "last row other than zero",
        ),
        (
            lambda: Affine(2).coefficients(torch.zeros(1, 4, 4)),
            ArgumentError,
            r"expected homogeneous \[d, 3, 3\].*\[d, 2, 2\]",
        ),
        (
            lambda: Affine(2, copies=3).check((3, 3)),
            ShapeError,
            r"Affine\(2, copies=3\) expects \(6,\) or \(3, 2\)",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("kind", [Linear, Affine])
def test_only_one_vector_has_rows_that_are_outer_products(kind):
    x, gradients = normal(5, 6), normal(5, 2, 6, seed=1)
    left, right = kind(6).outer_factors(gradients, x) or pytest.fail("one vector has factors")
    rows = torch.einsum("bki,bkj->bkij", left, right).flatten(2)
    torch.testing.assert_close(rows, kind(6).contract(gradients, x))
    assert kind(3, copies=2).outer_factors(gradients, x) is None


@pytest.mark.parametrize("make", [Linear, Affine])
def test_the_noun_of_the_vectors_is_a_setting_that_changes_no_motion(make):
    plain, atoms = make(3, copies=4), make(3, copies=4, noun="atom")
    assert "noun" not in plain.settings()
    assert action_from_settings(atoms.settings()) == atoms
    assert eval(repr(atoms)) == atoms
    assert atoms.same_motions(plain)
    assert atoms.spaces((4, 3))[1].noun == "atom"
    with pytest.raises(ArgumentError, match="noun=''"):
        make(3, noun="")
