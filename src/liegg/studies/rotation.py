"""Pictures turned about their centres."""

import torch
from jaxtyping import Float, Num
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from liegg._utils.errors import DtypeError, ShapeError

TURNED_AT_ONCE = 4096
"""Pictures turned in one go: the sampling grid takes twice the memory of grey pictures."""


def rotated(
    images: Num[Tensor, "b *picture"], angles: Float[Tensor, " a"]
) -> Float[Tensor, "b *picture"]:
    r"""Pictures turned about their centres, each by its own angle.

    With $(x, y)$ measured from the centre in pixels, $x$ to the right and $y$ up, the result at $R_\theta (x, y)$ is the picture
    at $(x, y)$; between pixels bilinear, zero outside. Pixels are square whatever the picture's sides.

    Args:
        images: `[b, h, w]` or `[b, c, h, w]`, floating point, on any device.
        angles: radians, one per picture; positive turns counter-clockwise as one looks at the picture.

    Returns:
        Pictures of the same shape, dtype and device.

    Raises:
        DtypeError: the pictures are not real floating point.
        ShapeError: no pictures `[b, h, w]` or `[b, c, h, w]`, or not one angle per picture.

    Examples:
        >>> picture = torch.tensor([[[0.0, 0, 0], [0, 0, 1], [0, 0, 0]]])
        >>> rotated(picture, torch.tensor([torch.pi / 2])).round().abs()
        tensor([[[0., 1., 0.],
                 [0., 0., 0.],
                 [0., 0., 0.]]])
    """
    if not images.is_floating_point():
        raise DtypeError(
            f"images have dtype {images.dtype}; turning blends pixels. Pass images.float() / 255."
        )
    if images.ndim not in (3, 4):
        raise ShapeError(f"images are {list(images.shape)}; expected [b, h, w] or [b, c, h, w].")
    if len(angles) != len(images):
        raise ShapeError(
            f"{len(angles)} angles for {len(images)} images; expected one angle per image."
        )
    if images.numel() == 0:
        return images.clone()
    pictures = images[:, None] if images.ndim == 3 else images
    parts = zip(pictures.split(TURNED_AT_ONCE), angles.split(TURNED_AT_ONCE), strict=True)
    return torch.cat([_turn(some, by) for some, by in parts]).reshape(images.shape)


def _turn(
    pictures: Float[Tensor, "b c h w"], angles: Float[Tensor, " b"]
) -> Float[Tensor, "b c h w"]:
    """Read each picture at the places turned back; `affine_grid` counts y downwards and from -1 to 1 along either side."""
    height, width = pictures.shape[-2:]
    cos, sin, zero = angles.cos(), angles.sin(), torch.zeros_like(angles)
    back = torch.stack(
        [cos, -sin * (height / width), zero, sin * (width / height), cos, zero], dim=1
    ).reshape(-1, 2, 3)
    grid = affine_grid(back.to(pictures), list(pictures.shape), align_corners=False)
    return grid_sample(pictures, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
