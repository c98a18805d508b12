"""Readable generators: sparse bases, words and frames together."""

import pytest
import torch

from algebra.words.spans import angle, diag, disturbed, mixed
from cases import normal, regular
from liegg import algebra
from liegg._utils.errors import ArgumentError
from liegg.algebra import se, sl, so, su
from liegg.algebra.words.readable import adapted
from liegg.algebra.words.sparse import sparse_basis


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


def test_lorentz_in_any_basis_is_three_rotations_and_three_boosts():
    for uncertainty in [0.0, 1e-3, 1e-2]:
        for seed in range(3):
            s = regular(4, seed=seed, condition=100.0 if uncertainty == 0 else 5.0)
            back = torch.linalg.inv(s)
            metric = back.mT @ diag(1, -1, -1, -1) @ back
            found = adapted(
                disturbed(s @ so(1, 3) @ back, uncertainty, seed=seed),
                form=metric,
                uncertainty=uncertainty,
            )
            assert (found.rotations, found.boosts) == (3, 3)
            assert [words.split()[0] for words in found.framed_words] == ["rotation"] * 3 + [
                "boost"
            ] * 3
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
    found = adapted(mixed(so(1, 3)), form=diag(1, -1, -1, -1), coordinates=("t", "x", "y", "z"))
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


def test_errors():
    for make, text in [
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
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()
