"""The affine action: laws, homogeneous matrices, errors."""

import numpy as np
import pytest
import scipy.linalg
import torch

from cases import normal
from liegg import algebra
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Affine, Linear, action_from_settings
from liegg.testing import assert_is_action

SHAPES = [
    (Affine(1), (1,)),
    (Affine(3), (3,)),
    (Affine(2, copies=5), (5, 2)),
    (Affine(2, copies=5), (10,)),
    (Affine(2, copies=5, layout="vector_first"), (2, 5)),
]


@pytest.mark.parametrize(("action", "shape"), SHAPES, ids=str)
def test_laws(action, shape):
    action.check(shape)
    assert_is_action(action, normal(5, *shape), tolerance=1e-12)


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


@pytest.mark.parametrize(("action", "shape"), SHAPES, ids=str)
def test_settings_make_it_again(action, shape):
    assert action_from_settings(action.settings()) == action


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
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
