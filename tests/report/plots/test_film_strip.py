"""Film strips: each panel shows the samples as the action moves them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import expm

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.report.motions import extent_of
from liegg.report.plots.film_strip import times_of

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def panels(made):
    return [ax for ax in made.axes if ax.images or ax.lines]


def test_pictures_are_moved_as_the_action_moves_them(turned, pictures):
    made = plot.motion(turned, pictures[:3], steps=5)
    shown = panels(made)
    assert len(shown) == 15
    period = 2 * math.pi * math.sqrt(2)  # of a rotation of Frobenius norm 1
    for j in range(5):
        expected = turned.action.act(j / 4 * period * turned.generators[0], pictures[:3])
        for i in range(3):
            assert np.allclose(
                shown[5 * i + j].images[0].get_array(), expected[i].numpy(), atol=1e-9
            )
    assert [ax.get_title() for ax in shown[:5]] == ["0°", "90°", "180°", "270°", "360°"]
    assert [ax.get_ylabel() for ax in shown[::5]] == ["sample 1", "sample 2", "sample 3"]
    assert len({ax.images[0].get_clim() for ax in shown}) == 1
    assert made.get_suptitle() == "rotation in x–y"


def test_colours_and_many_channels(pictures):
    for channels in (3, 5):
        x = torch.stack([pictures[k * 10 : k * 10 + 10] for k in range(channels)], 1)
        sym = liegg.discover(lambda x: x.square().mean((1, 2, 3)), x, liegg.Image("affine"))
        matrix = liegg.translation(2)[0]
        made = plot.motion(sym, x[:1], which=matrix, steps=3)
        assert panels(made)[1].images[0].get_array().shape == (
            (16, 16, 3) if channels == 3 else (16, 16)
        )
        assert made.get_suptitle().endswith("mean of 5 channels") is (channels == 5)
        whole = x[0] if channels == 3 else x[0].mean(0)
        middle = panels(made)[1].images[0].get_array()
        assert (
            np.corrcoef(
                np.asarray(middle).flatten(),
                (whole.permute(1, 2, 0) if channels == 3 else whole).flatten().numpy(),
            )[0, 1]
            > 0.999
        )


def test_signals_are_curves():
    x = torch.exp(-(torch.linspace(-3, 3, 32, dtype=torch.float64) - normal(30, 1)).square())
    sym = liegg.discover(lambda x: x.square().mean(1), x, liegg.Sequence("affine"))
    made = plot.motion(sym, x[:2], which=liegg.translation(1)[0], steps=3)
    assert [len(ax.lines) for ax in panels(made)] == [1] * 6
    assert np.allclose(panels(made)[1].lines[0].get_ydata(), x[0].numpy())  # t = 0 in the middle


def test_vectors_are_moved_by_the_exponential(exact):
    x = normal(4, 3)
    turn = liegg.so(3)[0]  # in x₁–x₂
    made = plot.motion(exact, x, which=turn, steps=5)
    shown = panels(made)
    assert len(shown) == 5
    for j, ax in enumerate(shown):
        moved = x.numpy() @ expm(j * math.pi / 2 * turn.numpy()).T
        marks = [line for line in ax.lines if line.get_marker() not in ("", "None")]
        drawn = np.array([[line.get_xdata()[0], line.get_ydata()[0]] for line in marks])
        assert np.allclose(drawn, moved[:, :2])
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in shown}) == 1
    assert shown[0].get_xlabel() == "x₁"
    assert shown[0].get_ylabel() == "x₂"


def test_paths_run_through_the_marks(exact):
    ax = panels(plot.motion(exact, normal(1, 3), which=liegg.so(3)[1], steps=3))[1]
    path, mark = ax.lines
    middle = len(path.get_xdata()) // 2
    assert (path.get_xdata()[middle], path.get_ydata()[middle]) == (
        mark.get_xdata()[0],
        mark.get_ydata()[0],
    )


def test_clouds_have_a_row_each_and_show_where_they_started():
    cloud = normal(2, 40, 2)
    sym = liegg.discover(
        lambda x: (x - x.mean(1, keepdim=True)).square().sum((1, 2)),
        normal(60, 40, 2),
        liegg.Affine(2, copies=40),
    )
    made = plot.motion(sym, cloud, which=liegg.translation(2)[0], steps=3)
    shown = panels(made)
    assert len(shown) == 6
    start, now = shown[2].lines
    assert np.allclose(start.get_xdata(), cloud[0, :, 0].numpy())
    assert np.allclose(now.get_xdata(), cloud[0, :, 0].numpy() + 1)
    assert np.allclose(now.get_ydata(), start.get_ydata())
    assert shown[3].get_ylabel() == "sample 2\nx₂"


def test_a_figure_of_your_own_and_arrays(exact):
    made = plot.figure(8, 3).subfigures(1, 2)[1]
    assert plot.motion(exact, normal(2, 3).numpy(), made) is made


def test_the_samples_stay_as_they_are(turned, pictures):
    before = pictures[:2].clone()
    plot.motion(turned, pictures[:2], steps=2)
    assert torch.equal(pictures[:2], before)


def test_a_motion_is_followed_no_further_than_it_was_verified(exact):
    curves = tuple(replace(curve, times=curve.times / 4) for curve in exact.verification.curves)
    short = replace(exact, verification=replace(exact.verification, curves=curves))
    _, whole = times_of(exact, exact.generators[0], 0, 5)
    assert whole == ("0°", "90°", "180°", "270°", "360°")
    assert times_of(short, exact.generators[0], 0, 5)[1] == ("0°", "22.5°", "45°", "67.5°", "90°")
    assert times_of(short, exact.generators[0], None, 5)[1] == whole


def test_motions_that_do_not_come_back():
    spiral = torch.tensor([[0.1, -1.0], [1.0, 0.1]], dtype=torch.float64)
    assert extent_of(spiral) == (pytest.approx(2 * math.pi), False, None)
    assert extent_of(torch.diag(torch.tensor([2.0, -1.0]))) == (pytest.approx(0.5), True, None)
    shear = torch.tensor([[0.0, 4.0], [0.0, 0.0]])
    assert extent_of(shear) == (pytest.approx(0.25), True, None)


def test_times_are_told_with_enough_digits(exact):
    names = times_of(
        exact, torch.diag(torch.tensor([30.0, 1.0, 1.0], dtype=torch.float64)), None, 3
    )[1]
    assert names == ("t = −0.033", "t = 0", "t = 0.033")


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (torch.zeros(3), r"samples=a tensor of shape \(3,\)"),
        (torch.zeros(0, 3), "expected a few inputs of the model"),
        (torch.full((2, 3), torch.nan), "finite numbers"),
        (torch.zeros(2, 3, dtype=torch.complex64), "finite numbers"),
    ],
)
def test_samples_that_are_none(exact, samples, message):
    with pytest.raises(ArgumentError, match=message):
        plot.motion(exact, samples)


def test_what_cannot_be_drawn(exact, nothing):
    with pytest.raises(ShapeError):
        plot.motion(exact, normal(2, 4))
    with pytest.raises(ArgumentError, match="steps=1: expected 2 to 25 columns"):
        plot.motion(exact, normal(2, 3), steps=1)
    with pytest.raises(ArgumentError, match="no symmetry was found"):
        plot.motion(nothing, normal(2, 2))


def test_volumes_are_drawn_by_their_middle_slice():
    volumes = normal(20, 5, 6, 7)
    sym = liegg.discover(lambda x: x.square().mean((1, 2, 3)), volumes, liegg.Volume())
    fig = plot.motion(sym, volumes[:2], which=liegg.so(3)[0], steps=3)
    drawn = [np.asarray(ax.images[0].get_array()) for ax in fig.axes]
    assert [one.shape for one in drawn] == [(6, 7)] * 6
    first = fig.axes[0].images[0].get_array()
    np.testing.assert_allclose(first, volumes[0, 2], atol=1e-9)  # a rotation starts at 0
