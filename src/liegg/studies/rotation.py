"""Images rotated about their centres."""

import torch
from jaxtyping import Float, Num
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from liegg._utils.errors import DtypeError, ShapeError

CHUNK = 4096
"""Images rotated at once: the sampling grid takes twice the memory of grey images."""


def rotated(
    images: Num[Tensor, "b *image"], angles: Float[Tensor, " a"]
) -> Float[Tensor, "b *image"]:
    r"""Rotate images about their centres, each by its own angle.

    With $(x, y)$ measured from the centre in pixels, $x$ to the right and $y$ up, the result at
    $R_\theta (x, y)$ is the image at $(x, y)$; bilinear between pixels, zero outside. Pixels are
    square for every height and width.

    Args:
        images: `[b, h, w]` or `[b, c, h, w]`, floating point, on any device.
        angles: radians, one per image; a positive angle rotates counter-clockwise.

    Returns:
        Images of the same shape, dtype and device.

    Raises:
        DtypeError: the images are not real floating point.
        ShapeError: the images are not `[b, h, w]` or `[b, c, h, w]`, or there is not one angle per
            image.

    Examples:
        >>> image = torch.tensor([[[0.0, 0, 0], [0, 0, 1], [0, 0, 0]]])
        >>> rotated(image, torch.tensor([torch.pi / 2])).round().abs()
        tensor([[[0., 1., 0.],
                 [0., 0., 0.],
                 [0., 0., 0.]]])
    """
    if not images.is_floating_point():
        raise DtypeError(
            f"images have dtype {images.dtype}; rotation interpolates pixels. Pass "
            "images.float() / 255."
        )
    if images.ndim not in (3, 4):
        raise ShapeError(f"images are {list(images.shape)}; expected [b, h, w] or [b, c, h, w].")
    if len(angles) != len(images):
        raise ShapeError(
            f"{len(angles)} angles for {len(images)} images; expected one angle per image."
        )
    if images.numel() == 0:
        return images.clone()
    channels = images[:, None] if images.ndim == 3 else images
    chunks = map(_rotate, channels.split(CHUNK), angles.split(CHUNK))
    return torch.cat(list(chunks)).reshape(images.shape)


def _rotate(
    images: Float[Tensor, "b c h w"], angles: Float[Tensor, " b"]
) -> Float[Tensor, "b c h w"]:
    """Sample each image at positions rotated back.

    `affine_grid` counts y downwards and from -1 to 1 along either side.
    """
    height, width = images.shape[-2:]
    cos, sin, zero = angles.cos(), angles.sin(), torch.zeros_like(angles)
    rows = [cos, -sin * (height / width), zero, sin * (width / height), cos, zero]
    inverse = torch.stack(rows, dim=1).reshape(-1, 2, 3).to(images)
    grid = affine_grid(inverse, list(images.shape), align_corners=False)
    return grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
