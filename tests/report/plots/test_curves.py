"""Curves of a verification: the numbers of the record, in their unit, with what they are held against."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.report.motions import HIGHEST_CHANGE, LOWEST_CHANGE
from liegg.results.verification import Curve, Verification

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def line(ax, start):
    (found,) = [line for line in ax.lines if line.get_label().startswith(start)]
    return np.asarray(found.get_xdata(), float), np.asarray(found.get_ydata(), float)


def made_up(**changes):
    """A curve that stops holding halfway."""
    times = torch.linspace(0, 2, 5, dtype=torch.float64)
    values = {
        "times": times,
        "change": 0.05 * times**2,
        "control_mean": times**2,
        "control_low": 0.5 * times**2,
        "control_high": 2 * times**2,
        "class_changes": None,
        "control_class_changes": None,
        "resampling": None,
        "period": None,
        "both_ways": True,
        "speed": 3.0,
        "radius": 1.0,
        "control_radius": 0.25,
    }
    return Curve(**(values | changes))


def of(*curves, **changes):
    about = {
        "group": None,
        "fraction": 0.05,
        "variance": 1.0,
        "spread": 1.0,
        "samples": 9,
        "controls": 8,
        "seed": 0,
        "model": "model",
        "action": "action",
    }
    return Verification(tuple(curves), **(about | changes))


def test_the_curve_of_a_motion_that_comes_back(exact):
    curve = exact.verification.curves[0]
    ax = plot.verification(exact, which=0)
    across, heights = line(ax, "_measured")
    assert np.allclose(across, 360 * curve.times.numpy() / curve.period)
    assert np.allclose(heights, curve.change.clamp(LOWEST_CHANGE, HIGHEST_CHANGE).numpy())
    places, means = line(ax, "random directions (8)")
    assert np.allclose(
        np.interp(across, places, means),
        curve.control_mean.clamp(LOWEST_CHANGE, HIGHEST_CHANGE).numpy(),
    )
    assert ax.get_xlabel().startswith("motion as an angle of its period")
    assert ax.get_xticks().tolist() == [0, 90, 180, 270, 360]


def test_the_band_is_what_the_controls_did(exact):
    curve = exact.verification.curves[0]
    (band,) = plot.verification(exact, which=0).collections
    corners = band.get_paths()[0].vertices
    for ends in (curve.control_low, curve.control_high):
        for height in ends.clamp(LOWEST_CHANGE, HIGHEST_CHANGE).tolist():
            assert np.isclose(corners[:, 1], height).any()


def test_other_motions_are_measured_by_the_spread_of_the_data():
    ax = plot.verification(of(made_up()))
    across, heights = line(ax, "_measured")
    assert across.tolist() == [0, 1.5, 3, 4.5, 6]
    assert heights.tolist() == pytest.approx([LOWEST_CHANGE, 0.0125, 0.05, 0.1125, 0.2])
    assert ax.get_xlabel() == "motion, in multiples of the data's spread, either way"


def test_curves_are_drawn_at_equal_steps_however_unevenly_they_were_measured():
    times = torch.tensor([0.1, 2.0], dtype=torch.float64)
    squares = dict.fromkeys(("change", "control_mean", "control_low", "control_high"), times**2)
    ax = plot.verification(of(made_up(times=times, **squares)))
    across, heights = line(ax, "generator 1")
    assert np.diff(across).max() <= 6.0 / 70
    # Roots are interpolated, so that a square stays one; the speed is 3.
    assert heights == pytest.approx(np.clip((across / 3) ** 2, LOWEST_CHANGE, None))


def test_fraction_and_radii_are_marked():
    ax = plot.verification(of(made_up()), which=0)
    assert line(ax, "holds below r = 0.05")[1].tolist() == [0.05, 0.05]
    assert [end.tolist() for end in line(ax, "stops holding")] == [[3.0], [0.05]]
    assert [end.tolist() for end in line(ax, "random directions stop")] == [[0.75], [0.05]]
    assert ax.get_title() == "holds up to a motion of 3 of the data's spread"


def test_what_does_not_stop_has_no_mark():
    ax = plot.verification(of(made_up(radius=2.0, control_radius=2.0)))
    assert not [line for line in ax.lines if "stop" in line.get_label()]
    assert ax.get_title() == "1 of 1 generator holds as far as followed"


def test_controls_of_several_curves_are_taken_together():
    wide = made_up(
        control_low=torch.full((5,), 1e-4, dtype=torch.float64),
        times=torch.linspace(0, 1, 5, dtype=torch.float64),
    )
    ax = plot.verification(of(made_up(), wide))
    assert (
        ax.get_title() == "1 of 2 generators hold as far as followed"
    )  # the radius of the second is its last time
    corners = ax.collections[0].get_paths()[0].vertices
    at_three = corners[np.isclose(corners[:, 0], 3)][:, 1]
    assert at_three.min() == pytest.approx(1e-4)
    assert at_three.max() == pytest.approx(8.0)  # of the curve that went half as far, at its end
    beyond = corners[np.isclose(corners[:, 0], 4.5)][:, 1]
    assert (beyond.min(), beyond.max()) == pytest.approx((0.5 * 1.5**2, 2 * 1.5**2))


def test_many_curves_share_a_look_and_a_name():
    curves = [
        made_up(change=k * torch.linspace(0, 0.01, 5, dtype=torch.float64)) for k in range(1, 7)
    ]
    ax = plot.verification(of(*curves))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "6 generators, r ≤ 0.06" in labels
    assert (
        len(
            {
                line.get_color()
                for line in ax.lines
                if line.get_linestyle() == "-" and len(line.get_xdata()) > 5
            }
        )
        == 1
    )


def test_infinite_changes_run_along_the_upper_edge():
    ax = plot.verification(
        of(made_up(change=torch.tensor([0, 1, 2, torch.inf, torch.inf], dtype=torch.float64)))
    )
    assert line(ax, "_measured")[1].tolist() == [
        LOWEST_CHANGE,
        1,
        2,
        HIGHEST_CHANGE,
        HIGHEST_CHANGE,
    ]
    assert "to 100" in ax.get_ylabel()


def test_the_group_and_candidates(exact):
    ax = plot.figure().subplots()
    assert plot.verification(exact.verification, ax, "group") is ax
    assert np.allclose(
        line(ax, "_measured")[1],
        exact.verification.group.change.clamp(LOWEST_CHANGE, HIGHEST_CHANGE).numpy(),
    )
    ax = plot.verification(of(others=(made_up(),), other_words=("a squeeze",)))
    assert line(ax, "_measured")[1].tolist() == pytest.approx(
        [LOWEST_CHANGE, 0.0125, 0.05, 0.1125, 0.2]
    )
    assert ax.get_title() == "no symmetry was found; nearest candidate"


def test_nothing_to_draw(exact, nothing):
    with pytest.raises(
        ArgumentError, match=r"nothing was verified; pass held_out= to discover\(\)"
    ):
        plot.verification(nothing)
    with pytest.raises(
        ArgumentError, match="there is no curve to draw: there is nothing to follow"
    ):
        plot.verification(of(notes=(Diagnosis.TEXT(text="there is nothing to follow"),)))
    with pytest.raises(
        ArgumentError, match="which=7: expected a number from 0 to 2, 'group', or None"
    ):
        plot.verification(exact, which=7)
    with pytest.raises(ArgumentError, match="fewer than two generators"):
        plot.verification(replace(exact.verification, group=None), which="group")
