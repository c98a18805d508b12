"""Smooth signals on a grid whose values are known everywhere."""

import numpy as np
import torch

import liegg

MAKERS = {1: liegg.Sequence, 2: liegg.Image, 3: liegg.Volume}


def places(sides):
    """Coordinates (x, y, z) of the pixels `[*sides, d]`, as the documentation states them."""
    unit = min(sides) / 2
    axes = [(np.arange(side) - (side - 1) / 2) / unit for side in sides]
    if len(sides) > 1:
        axes[-2] = -axes[-2]
    return np.stack(np.meshgrid(*axes, indexing="ij")[::-1], axis=-1)


def mixture(sides, *, width=3.0, samples=2, channels=(), spread=0.04, seed=0):
    """Parameters of smooth signals that fade to the border: amplitudes, centres and widths (in coordinates) of Gaussian bumps."""
    rng, unit = np.random.default_rng(seed), min(sides) / 2
    shape = (samples, *channels, 4)
    return (
        rng.uniform(0.5, 1.5, shape),
        2 * spread * rng.uniform(-1, 1, (*shape, len(sides))),
        width / unit,
    )


def evaluate(parameters, at):
    """Values `[b, (c), ...]` of such signals at places `[..., d]`."""
    amplitude, centre, width = parameters
    extra = (None,) * (at.ndim - 1)
    distance = ((at - centre[(..., *extra, slice(None))]) ** 2).sum(-1)
    return (amplitude[(..., *extra)] * np.exp(-distance / (2 * width**2))).sum(-at.ndim)


def bumps(sides, **knobs):
    return torch.tensor(evaluate(mixture(sides, **knobs), places(sides)))


def off(got, wanted):
    """Relative error."""
    return np.linalg.norm(got.numpy() - wanted) / np.linalg.norm(wanted)
