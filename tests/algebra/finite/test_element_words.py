"""Words for finite transformations."""

import math

import numpy as np
import pytest
import torch

from algebra.finite.groups import about, plane, signs
from liegg._utils.errors import ArgumentError
from liegg.algebra.finite import element_words
from liegg.algebra.finite.element_words import degrees, monomial_words

ROOT = math.sqrt(2)
SWAP = torch.tensor([[0.0, ROOT], [1 / ROOT, 0.0]]).double()
SHEAR = torch.tensor([[1.0, 0.5], [0.0, 2.0]]).double()


def permutation(*order):
    return torch.eye(len(order)).double()[list(order)]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (signs(1, 1), "identity"),
        (signs(-1), "reflection x → −x"),
        (signs(-1, 1), "reflection x → −x"),
        (signs(-1, -1), "rotation by 180°"),
        (signs(-1, -1, -1), "inversion"),
        (signs(-1, -1, 1), "rotation by 180° about z"),
        (signs(-1, 1, -1, 1), "changes the signs of x and z"),
        (permutation(1, 0), "swaps x and y"),
        (permutation(1, 0, 3, 2), "swaps x and y and swaps z and w"),
        (permutation(2, 0, 1), "cycles x → y → z → x"),
        (SWAP, "swaps x and 1.41 y"),
        (SWAP.mT, "swaps y and 1.41 x"),
        (-permutation(1, 0), "swaps x and −y"),
        (plane(72), "rotation by 72°"),
        (plane(-360 / 7), "rotation by −51.43°"),
        (plane(90), "rotation by 90°"),
        (about((1, 1, 1), 120), "cycles x → y → z → x"),
        (about((1, 1, -1), 120), "rotation by 120° about (1, 1, −1)"),
        (about((1, 2, 0), 40), "rotation by 40° about (1, 2, 0)"),
        (about((0, 0, 1), -60), "rotation by −60° about z"),
        (-about((0, 0, 1), 120), "rotoreflection by −60° about z"),
        (-about((1, -1, 0), 180), "swaps x and y"),
        (-about((1, 2, 2), 180), "reflection in the plane with normal (1, 2, 2)"),
        (-about((0.3, 0.5, 0.81), 180), "reflection in the plane with normal (0.30, 0.50, 0.81)"),
        (plane(60) @ signs(1, -1), "reflection in the line with normal (−0.50, 0.87)"),
    ],
)
def test_words(matrix, words):
    names = ["x", "y", "z", "w"][: len(matrix)]
    assert element_words(matrix, coordinates=names) == words


def test_words_in_many_dimensions():
    five = torch.block_diag(plane(72), plane(144), torch.ones(1, 1).double())
    left, _ = torch.linalg.qr(
        torch.randn(5, 5, generator=torch.Generator().manual_seed(0)).double()
    )
    assert element_words(left @ five @ left.mT) == "rotation by 72° and 144° in 2 planes"
    mirror = left @ signs(-1, 1, 1, 1, 1) @ left.mT
    assert element_words(mirror).startswith("reflection in the hyperplane with normal (")
    half = left @ signs(-1, -1, 1, 1, 1) @ left.mT
    assert element_words(half) == "reversal of a subspace of dimension 2"
    assert (
        element_words(permutation(1, 2, 0, 3) @ signs(-1, 1, 1, 1)) == "x₁ → −x₃, x₂ → x₁, x₃ → x₂"
    )


def test_words_in_sheared_coordinates():
    inverse = torch.linalg.inv(SHEAR)
    turned = SHEAR @ plane(120) @ inverse
    assert element_words(turned, frame=SHEAR) == "rotation by 120° (in suitable coordinates)"
    mirror = SHEAR @ signs(1, -1) @ inverse
    assert (
        element_words(mirror, frame=SHEAR)
        == "reflection (in suitable coordinates) that reverses (1, 4)"
    )
    space = torch.block_diag(SHEAR, torch.ones(1, 1).double())
    turned = space @ about((1, 0, 0), 90) @ torch.linalg.inv(space)
    words = element_words(turned, frame=space)
    assert words == "rotation by 90° about x₁ (in suitable coordinates)"
    # Without a frame only eigenvalues are known.
    assert element_words(SHEAR @ plane(120) @ inverse) == "rotation by 120° in a plane"
    assert element_words(signs(2, 0.5)) == "linear map with eigenvalues of size 0.5 and 2"


def test_affine_words():
    def affine(linear, *shift):
        matrix = torch.eye(len(linear) + 1).double()
        matrix[:-1, :-1] = linear
        matrix[:-1, -1] = torch.tensor(shift)
        return matrix

    how = {"homogeneous": True, "coordinates": ["x", "y"]}
    assert element_words(affine(signs(1, 1), 0, 0), **how) == "identity"
    assert element_words(affine(signs(1, 1), 1, 2), **how) == "translation by (1.0, 2.0)"
    assert (
        element_words(affine(plane(90), 2, 0), **how)
        == "rotation by 90° about the point (1.0, 1.0)"
    )
    assert element_words(affine(signs(-1, 1), 3, 0), **how) == "reflection x → 3 − x"
    glide = element_words(affine(signs(-1, 1), 0, 1), **how)
    assert glide == "reflection x → −x with translation by (0.0, 1.0)"


def test_noise_within_the_tolerance_does_not_change_words():
    noise = 1e-5 * torch.randn(3, 3, generator=torch.Generator().manual_seed(1)).double()
    matrix = about((1, 1, -1), 120) + noise
    assert element_words(matrix, tolerance=1e-4) == "rotation by 120° about (1, 1, −1)" + ""


def test_bad_elements_are_refused():
    for matrix in (torch.zeros(2, 3), torch.zeros(0, 0), torch.zeros(2, 2, 2)):
        with pytest.raises(ArgumentError, match="expected one matrix"):
            element_words(matrix)
    with pytest.raises(ArgumentError, match="expected a real one"):
        element_words(torch.full((2, 2), math.inf))
    with pytest.raises(ArgumentError, match="expected 2 names"):
        element_words(torch.eye(2), coordinates=["x"])


def test_helpers():
    assert degrees(math.pi) == degrees(-math.pi) == "180°"
    assert monomial_words(np.eye(2), ("x", "y"), 1e-6) == "identity"
    assert monomial_words(np.ones((2, 2)), ("x", "y"), 1e-6) == ""
