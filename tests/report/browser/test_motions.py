"""What the script of a page moves, in a browser: the same as the actions do."""

from typing import Literal

import numpy as np
import pytest
import scipy.linalg
import torch

import liegg
from browser_cases import blobs
from cases import normal
from liegg.report.page.stage import stage_of

pytestmark = pytest.mark.slow

ROTATION = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


def test_the_matrix_exponential_is_that_of_scipy(view, image_page):
    page = view(image_page)
    for n in (2, 3, 6):
        for size in (1e-3, 0.05, 1.0, 20.0):
            a = normal(n, n, seed=n)
            a = size * (a - a.mT + 0.1 * normal(n, n, seed=n + 1)) / n
            result = np.array(page.evaluate("(a) => lieggReport.expm(a)", a.tolist()))
            exact = scipy.linalg.expm(a.numpy())
            error = np.linalg.norm(result - exact) / np.linalg.norm(exact)
            assert error < 1e-14 * max(10.0, 20 * size), (n, size)


def warped(page, stage, motion, t):
    code = """([stage, motion, t]) => {
        const values = Uint8Array.from(atob(stage.samples[0]), (letter) => letter.charCodeAt(0));
        return [...lieggReport.warped(stage, values, motion, t)];
    }"""
    return np.array(page.evaluate(code, [stage, motion, t])).reshape(
        stage["channels"], stage["height"], stage["width"]
    )


def test_images_move_as_the_action_moves_them(view, image_page):
    page, t = view(image_page), 0.9
    x = blobs(1, side=24)[..., 3:]  # taller than wide
    x[..., 5:8, 10:12] += 1.0
    matrices = [
        torch.nn.functional.pad(ROTATION, (0, 1, 0, 1)),
        torch.tensor([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]),
        torch.tensor([[0.4, 0.1, 0.2], [-0.2, 0.1, -0.3], [0.0, 0.0, 0.0]]),
    ]
    borders: list[Literal["replicate", "zeros", "periodic"]] = ["replicate", "zeros", "periodic"]
    for border in borders:
        action = liegg.Image("affine", border=border)
        stage = stage_of(action, x)
        assert stage is not None
        for matrix in matrices:
            found = warped(page, stage, {"place": matrix.tolist(), "colour": None}, t)
            expected = action.act(t * matrix.double(), x)[0].numpy()
            still = np.abs(expected - x[0].numpy()).mean()
            # linear interpolation in the page, splines in the action
            assert np.abs(found - expected).mean() < 0.2 * still, (border, matrix)
            assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.95, (border, matrix)


def test_signals_move_as_the_action_moves_them(view, image_page):
    page, t = view(image_page), 0.4
    place = torch.linspace(-1, 1, 40, dtype=torch.float64)
    x = torch.stack([torch.exp(-((place - 0.2) ** 2) / 0.05), place.sin()])[None]
    borders: list[Literal["replicate", "zeros", "periodic"]] = ["replicate", "zeros", "periodic"]
    for border in borders:
        action = liegg.Sequence("affine", border=border)
        stage = stage_of(action, x)
        assert stage is not None
        for matrix in ([[0.0, 0.5], [0.0, 0.0]], [[0.6, -0.3], [0.0, 0.0]]):
            found = page.evaluate(
                "([stage, motion, t]) => lieggReport.movedSignal(stage, stage.samples[0], motion, t)",
                [stage, {"place": matrix}, t],
            )
            expected = action.act(t * torch.tensor(matrix, dtype=torch.float64), x)[0].numpy()
            still = np.abs(expected - x[0].numpy()).mean()
            assert np.abs(np.array(found) - expected).mean() < 0.1 * still, (border, matrix)


def test_volumes_move_as_the_action_moves_them(view, image_page):
    page = view(image_page)
    x = normal(1, 3, 3, 3)
    x = torch.nn.functional.interpolate(x[None], size=(9, 9, 9), mode="trilinear")[0]
    action = liegg.Volume()
    stage = stage_of(action, x)
    assert stage is not None
    low, high = float(x.min()), float(x.max())
    for plane in range(3):  # quarter rotations in every plane are exact
        matrix = liegg.so(3)[plane]
        expected = action.act(torch.pi / 2 * matrix, x)[0]
        for axis in range(3):
            found = page.evaluate(
                """([stage, motion, t, axis]) => lieggReport.movedSlice(
                    stage, Uint8Array.from(atob(stage.samples[0]), (c) => c.charCodeAt(0)), motion, t, axis)""",
                [stage, {"place": matrix.tolist()}, np.pi / 2, axis],
            )
            slice_ = expected.select(axis, 4).flatten()
            levels = low + (high - low) * np.array(found) / 255
            np.testing.assert_allclose(levels, slice_, atol=(high - low) / 250)


def test_quarter_rotations_are_exact(view, image_page):
    x = blobs(1, side=16)
    stage = stage_of(liegg.Image(), x)
    assert stage is not None
    found = warped(view(image_page), stage, {"place": ROTATION.tolist(), "colour": None}, np.pi / 2)
    np.testing.assert_allclose(
        found, torch.rot90(x[0], 1, (1, 2)), atol=(stage["high"] - stage["low"]) / 400
    )


def test_colours_move_as_the_action_moves_them(view, image_page):
    x = blobs(1, side=12)
    action = liegg.Color()
    matrix = torch.zeros(4, 4, dtype=torch.float64)
    matrix[:3] = 0.3 * normal(3, 4)
    stage = stage_of(action, x)
    assert stage is not None
    found = warped(view(image_page), stage, {"place": None, "colour": matrix.tolist()}, 0.7)
    np.testing.assert_allclose(
        found, action.act(0.7 * matrix, x)[0], atol=(stage["high"] - stage["low"]) / 200
    )
