"""Generators as matrices: every picture holds the entries of a generator."""

from typing import Any

import numpy as np
import pytest

import liegg
from liegg._utils.errors import ArgumentError
from liegg.report.plots.matrices import short

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def matrices(made):
    """Entries of every matrix drawn; the colour bar has none."""
    return [image.get_array().data for ax in made.axes for image in ax.images]


def test_generators_as_found(nearly):
    made = plot.generators(nearly)
    assert np.array_equal(np.stack(matrices(made)), nearly.generators.numpy())
    assert made.get_suptitle() == "3 of 3 generators, Frobenius-orthonormal"
    assert [ax.get_title() for ax in made.axes[:3]] == ["1", "2", "3"]


def test_positive_is_blue_and_zero_in_the_middle(nearly):
    image = plot.generators(nearly).axes[0].images[0]
    low, high = image.get_clim()
    assert low == -high == -float(nearly.generators.abs().max())
    red, _, blue, _ = image.to_rgba(high)
    assert blue > red
    assert min(image.to_rgba(0.0)[:3]) > 0.9


def test_a_readable_basis_in_words(nearly):
    made = plot.generators(nearly, basis="readable")
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
    assert made.get_suptitle() == "2 of 3 generators, Frobenius-orthonormal"


def test_none_at_all(nothing, nearly):
    made = plot.generators(nothing)
    assert made.get_suptitle() == "no generator: no symmetry was found"
    assert not made.axes
    assert not plot.generators(nearly, max_generators=0).axes


def test_an_unknown_basis_is_refused(nearly):
    with pytest.raises(ArgumentError, match="basis='nice': expected 'found' or 'readable'"):
        getattr(plot.generators, "__wrapped__", plot.generators)(nearly, basis="nice")


def test_long_words_take_two_lines():
    assert short("rotation in x–y") == "rotation in x–y"
    lines = short(
        "rotation in the plane spanned by (0.94, 0.10, −0.29) and (0.00, −0.65, −0.39)"
    ).splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 24 for line in lines)
    assert lines[1].endswith(" …")
