"""The same direction has the same words in print, page, figures, verification and comparison."""

from functools import cache

import pytest
import torch

import liegg
from cases import normal
from liegg.algebra.words.readable import word_tolerance
from liegg.report import motions
from liegg.report.page.generators import bases
from liegg.results.account import direction_error, words_of

SIDE = 14


def coordinates():
    places = (torch.arange(SIDE, dtype=torch.float64) + 0.5) / SIDE * 2 - 1
    x, y = torch.meshgrid(places, places, indexing="xy")
    return x, -y


def images(count, seed=0):
    """Sums of Gaussian spots near the centre."""
    x, y = coordinates()
    spots = normal(count, 5, 3, seed=seed)
    squares = (x - 0.25 * spots[:, :, 0, None, None]) ** 2
    squares = squares + (y - 0.25 * spots[:, :, 1, None, None]) ** 2
    return (spots[:, :, 2, None, None] * torch.exp(-squares / 0.06)).sum(1)


def rings(centre, breaking=0.0):
    """Sums over rings about a point, with a part that breaks the symmetry."""
    x, y = coordinates()
    radius = ((x - centre[0]) ** 2 + (y - centre[1]) ** 2).sqrt()
    weights = torch.stack([torch.exp(-((radius - r) ** 2) / 0.08) for r in (0.1, 0.35, 0.6)])
    weights = weights + breaking * (x * y)[None] * torch.arange(1.0, 4)[:, None, None]
    return lambda image: torch.tanh(torch.einsum("bhw,rhw->br", image, weights) / 5)


@cache
def found(centre, breaking, seed):
    return liegg.discover(
        rings(centre, breaking), images(100, seed), liegg.Image("affine"), held_out=images(8, 9)
    )


def everywhere(sym, other):
    """All words for the one symmetry, or for the nearest candidate if there is none."""
    action, error = sym.action, direction_error(sym.decision)
    if sym.nullity:
        own = (*sym.words, *sym.account.words, *words_of(action, sym.coefficients, error))
        drawn = (motions.motion_words(sym, 0), motions.motion_words(sym, sym.generators[0]))
    else:
        own, nearest = (sym.candidates[0].words,), sym.candidates[0].coefficients
        drawn = (motions.motion_words(sym, action.matrices(nearest[None])[0]),)
    page = tuple(basis["words"][0] for basis in bases(sym, sym.to_dict()))
    verified = sym.verification.other_words[:1]
    pairs = [pair for pair in liegg.compare(sym, other).directions if pair.generator is not None]
    compared = pairs[0].words.removeprefix("nearest of a: ")
    return {*own, *drawn, *page, *verified, compared}


CASES = {
    "about another point": ((0.3, 0.2), 0.0),
    "about the centre, within its uncertainty": ((0.0, 0.0), 0.03),
    "about another point, with uncertainty": ((0.3, 0.2), 0.02),
}


SLOW = {"about the centre": ((0.0, 0.0), 0.0), "not a symmetry": ((0.0, 0.0), 0.3)}


@pytest.mark.parametrize(
    ("centre", "breaking"),
    [
        *(pytest.param(*case, id=name) for name, case in CASES.items()),
        *(pytest.param(*case, id=name, marks=pytest.mark.slow) for name, case in SLOW.items()),
    ],
)
def test_a_direction_has_one_description(centre, breaking):
    sym = found(centre, breaking, 0)
    assert len(everywhere(sym, sym)) == 1


@pytest.mark.parametrize("breaking", [0.0, 0.02])
def test_a_rotation_about_another_point_is_called_that(breaking):
    (words,) = everywhere(found((0.3, 0.2), breaking, 0), found((0.3, 0.2), breaking, 0))
    assert words.startswith("rotation about the point (0.3")


def test_a_rotation_about_the_centre_is_called_that_within_its_uncertainty():
    sym = found((0.0, 0.0), 0.03, 0)
    assert sym.nullity == 1
    assert sym.decision.uncertainty > 0.02
    assert float(sym.generators[0, :2, 2].abs().max()) > 1e-4  # the centre as it was found
    assert everywhere(sym, sym) == {"rotation in x–y"}


@pytest.mark.slow
def test_comparison_with_other_data_says_the_same():
    one, other = found((0.0, 0.0), 0.03, 0), found((0.0, 0.0), 0.03, 1)
    assert everywhere(one, other) == everywhere(other, one) == {"rotation in x–y"}


def test_an_offset_beyond_the_error_is_never_left_out():
    """The error of a unit generator is an angle: one entry cannot be off by more."""
    action = liegg.Affine(2)
    for error in (0.01, 0.03, 0.1):
        matrix = liegg.se(2)[:1] + 3 * error * liegg.se(2)[1:2]
        (words,) = words_of(action, action.coefficients(matrix / matrix.norm()), error)
        assert words.startswith("rotation about the point")
        matrix = liegg.se(2)[:1] + 0.5 * error * liegg.se(2)[1:2]
        (words,) = words_of(action, action.coefficients(matrix / matrix.norm()), error)
        assert words == "rotation in x₁–x₂"


def test_the_tolerance_of_words():
    assert word_tolerance(3, 0.0) == 1e-6
    assert word_tolerance(10, 0.02) == pytest.approx(0.01)
    assert word_tolerance(2, 0.02) == 0.02
    assert word_tolerance(2, 10.0) < 0.25
