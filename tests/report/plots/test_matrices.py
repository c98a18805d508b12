"""Generators: every picture holds the entries of a matrix, every arrow is a velocity of the motion."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.report.plots.matrices import short

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def matrices(made):
    """Entries of every matrix drawn; the colour bar has none."""
    return [image.get_array().data for ax in made.axes for image in ax.images]


def test_generators_as_found(nearly):
    made = plot.generators(nearly, basis="found")
    assert np.array_equal(np.stack(matrices(made)), nearly.generators.numpy())
    assert made.get_suptitle() == "3 of 3 generators, Frobenius-orthonormal"
    assert [ax.get_title() for ax in made.axes[:3]] == ["1", "2", "3"]


def test_positive_is_blue_and_zero_in_the_middle(nearly):
    image = plot.generators(nearly, basis="found").axes[0].images[0]
    low, high = image.get_clim()
    assert low == -high == -float(nearly.generators.abs().max())
    red, _, blue, _ = image.to_rgba(high)
    assert blue > red
    assert min(image.to_rgba(0.0)[:3]) > 0.9


def test_a_readable_basis_in_words(nearly):
    made = plot.generators(nearly)
    readable = nearly.identification.readable
    assert np.array_equal(np.stack(matrices(made)), readable.generators.numpy())
    assert [ax.get_title() for ax in made.axes[:3]] == list(readable.words)
    assert made.get_suptitle() == "3 of 3 generators, readable basis of the same span"


def test_rows_and_columns_are_named_as_the_action_names_them(turned):
    ax = plot.generators(turned).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]


def test_some_of_many(nearly):
    made = plot.generators(nearly, max_generators=2)
    assert len(matrices(made)) == 2
    assert made.get_suptitle().startswith("2 of 3 generators")


def test_a_span_without_a_readable_basis_is_drawn_as_found(nearly, monkeypatch):
    none = nearly.generators[:0]
    readable = replace(
        nearly.identification.readable, generators=none, words=(), framed=none, framed_words=()
    )
    monkeypatch.setattr(type(nearly.identification), "readable", property(lambda _: readable))
    made = plot.generators(nearly)
    assert np.array_equal(np.stack(matrices(made)), nearly.generators.numpy())


def test_none_at_all(nothing, nearly):
    made = plot.generators(nothing)
    assert made.get_suptitle() == "no generator: no symmetry was found"
    assert not made.axes
    assert not plot.generators(nearly, max_generators=0).axes


def test_an_unknown_basis_is_refused(nearly):
    with pytest.raises(ArgumentError, match="basis='nice': expected 'found' or 'readable'"):
        plot.generators(nearly, basis="nice")


def test_long_words_take_two_lines():
    assert short("rotation in x–y") == "rotation in x–y"
    lines = short(
        "rotation in the plane spanned by (0.94, 0.10, −0.29) and (0.00, −0.65, −0.39)"
    ).splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 24 for line in lines)
    assert lines[1].endswith(" …")


# Vector fields


def arrows(ax):
    (quiver,) = [part for part in ax.collections if hasattr(part, "U")]
    return np.asarray(quiver.get_offsets()), np.stack([quiver.U, quiver.V], 1), quiver


def test_arrows_of_a_linear_motion():
    matrix = torch.tensor([[0.5, -1.0], [2.0, 0.0]], dtype=torch.float64)
    places, velocities, _ = arrows(plot.field(matrix))
    assert len(places) == 121
    assert np.allclose(velocities, places @ matrix.numpy().T, atol=1e-12)


def test_arrows_of_an_affine_motion():
    matrix = torch.tensor(
        [[0.0, -1.0, 0.5], [1.0, 0.0, -2.0], [0.0, 0.0, 0.0]], dtype=torch.float64
    )
    places, velocities, _ = arrows(plot.field(matrix, homogeneous=True))
    assert np.allclose(
        velocities, places @ matrix.numpy()[:2, :2].T + matrix.numpy()[:2, 2], atol=1e-12
    )


def test_the_longest_arrow_fits_between_two_places_and_its_speed_is_told():
    ax = plot.field(3 * liegg.so(2)[0])
    places, velocities, quiver = arrows(ax)
    longest = np.linalg.norm(velocities, axis=1).max()
    assert longest == pytest.approx(3 * 2**0.5)
    assert 0.8 < longest / quiver.scale / (places[1, 1] - places[0, 1]) < 1
    assert "longest arrow: speed 4.2 per unit of t" in ax.get_xlabel()


def test_pictures_turn_counter_clockwise_for_a_positive_rotation(turned):
    ax = plot.field(turned)
    places, velocities, _ = arrows(ax)
    spin = places[:, 0] * velocities[:, 1] - places[:, 1] * velocities[:, 0]
    assert np.all(np.sign(spin) * np.sign(float(turned.generators[0][1, 0])) >= 0)
    assert ax.get_title() == "rotation in x–y"
    assert ax.get_ylabel() == "y, in half sides of the image"


def test_a_plane_of_more_dimensions_says_what_it_shows():
    turn = liegg.so(4)[0] + 0.5 * liegg.so(4)[-1]
    ax = plot.field(turn)
    assert ax.get_xlabel().startswith("x₁\nthis plane holds 80 % of the generator\n")
    assert ax.get_ylabel() == "x₂"


def test_the_generator_asked_for(nearly):
    ax = plot.figure().subplots()
    assert plot.field(nearly, ax, 2) is ax
    _, velocities, _ = arrows(ax)
    _, expected, _ = arrows(plot.field(nearly.generators[2]))
    assert np.array_equal(velocities, expected)


def test_no_motion(nearly):
    ax = plot.field(torch.zeros(2, 2))
    assert "no motion in this plane" in ax.get_xlabel()
    ax.figure.draw_without_rendering()


def test_a_line_has_no_field():
    sym = liegg.discover(
        lambda x: 0 * x,
        torch.randn(9, 1, generator=torch.Generator().manual_seed(0)),
        liegg.Linear(1),
    )
    with pytest.raises(ArgumentError, match="which=0: no symmetry was found"):
        plot.field(sym)
    with pytest.raises(ArgumentError, match="a plane needs two or more"):
        plot.field(torch.ones(1, 1))
