"""What the tests of pages in a browser share."""

import torch

from cases import normal

HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
"""A name that would run a script, or load something, if it were not escaped."""


def blobs(count: int, side: int = 20, seed: int = 0):
    """Smooth images that vanish towards the border."""
    fine = torch.nn.functional.interpolate(
        normal(count, 3, 4, 4, seed=seed), size=(side, side), mode="bicubic"
    )
    axis = torch.linspace(-1, 1, side, dtype=torch.float64)
    return fine * torch.sigmoid(12 * (0.6 - (axis[:, None].square() + axis.square()).sqrt()))
