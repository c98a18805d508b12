"""Rotated images: direction, exact quarter turns, and scipy's interpolation as the oracle."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from liegg.studies import datasets
from liegg.studies.datasets import rotated

SIDES = st.integers(1, 7)
ANGLES = st.floats(-7, 7)


def pixels(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def by(*angles: float) -> torch.Tensor:
    return torch.tensor(angles, dtype=torch.float64)


@pytest.mark.parametrize(("height", "width"), [(7, 7), (7, 9), (9, 7)])
def test_a_quarter_turn_takes_what_is_right_of_the_centre_above_it(height: int, width: int) -> None:
    row, column = height // 2, width // 2
    image = torch.zeros(1, height, width)
    image[0, row, column + 2] = 1
    expected = torch.zeros(1, height, width)
    expected[0, row - 2, column] = 1
    torch.testing.assert_close(
        rotated(image, torch.tensor([math.pi / 2])), expected, rtol=0, atol=1e-5
    )


@given(side=SIDES, quarters=st.integers(-8, 8))
@settings(max_examples=25, deadline=None)
def test_quarter_turns_of_square_images_are_exact(side: int, quarters: int) -> None:
    images = pixels(2, side, side)
    found = rotated(images, by(quarters * math.pi / 2, quarters * math.pi / 2))
    torch.testing.assert_close(found, images.rot90(quarters, dims=(-2, -1)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 5, 5), (3, 4, 7), (3, 2, 6, 6), (3, 3, 5, 8)])
def test_no_turn_and_a_half_turn(shape: tuple[int, ...]) -> None:
    images = pixels(*shape)
    torch.testing.assert_close(rotated(images, by(0, 2 * math.pi, 0)), images, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        rotated(images, by(*[math.pi] * 3)), images.flip(-2, -1), rtol=0, atol=1e-12
    )


def test_four_quarter_turns_are_none() -> None:
    images = pixels(2, 6, 6).float()
    moved = images
    for _ in range(4):
        moved = rotated(moved, torch.full((2,), math.pi / 2))
    torch.testing.assert_close(moved, images, rtol=0, atol=1e-5)


@given(height=SIDES, width=SIDES, angle=ANGLES)
@settings(max_examples=40, deadline=None)
def test_any_angle_is_what_scipy_makes_of_it(height: int, width: int, angle: float) -> None:
    image = pixels(height, width)
    cos, sin = math.cos(angle), math.sin(angle)
    back = np.array(
        [[cos, sin], [-sin, cos]]
    )  # rows count downwards: from places in the result to places in the image
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    whole = np.vstack([np.column_stack([back, centre - back @ centre]), [0, 0, 1]])
    expected = ndimage.affine_transform(
        image.numpy(), whole, order=1, mode="grid-constant", prefilter=False
    )
    np.testing.assert_allclose(
        rotated(image[None], by(angle))[0].numpy(), expected, rtol=0, atol=1e-10
    )


def test_each_image_has_its_own_angle_and_channels_rotate_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images, angles = pixels(5, 2, 6, 6), by(0.1, -2.0, 3.0, 0.7, 5.0)
    whole = rotated(images, angles)
    for i in range(5):
        for channel in range(2):
            torch.testing.assert_close(
                whole[i, channel], rotated(images[i : i + 1, channel], angles[i : i + 1])[0]
            )
    monkeypatch.setattr(datasets, "IMAGES_AT_ONCE", 2)
    torch.testing.assert_close(rotated(images, angles), whole, rtol=0, atol=1e-12)


def test_dtype_and_shape_are_kept_and_the_input_too() -> None:
    for dtype in (torch.float32, torch.float64):
        images = pixels(2, 5, 6).to(dtype)
        before = images.clone()
        found = rotated(images, by(1.0, 2.0))
        assert found.dtype == dtype
        assert found.shape == images.shape
        assert torch.equal(images, before)


def test_the_result_is_on_the_device_of_the_images() -> None:
    assert (
        rotated(torch.empty(2, 5, 6, device="meta"), by(1.0, 2.0)).device.type == "meta"
    )  # the angles are on the CPU


def test_gradients_flow() -> None:
    images = pixels(2, 4, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rotated(x, by(0.3, 1.1)), (images,))
