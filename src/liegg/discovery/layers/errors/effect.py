"""What the error of a single layer does to the output of the network."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import PixelMotion
from liegg.discovery.layers.errors.measure import Part, run
from liegg.discovery.layers.hooks import Network, Passage, watching


class Effect(NamedTuple):
    """What the error of a layer does to the output of the network.

    Attributes:
        change: mean squared change of the output, relative to its variance.
        changed: share of predictions that change; NaN without classes.
    """

    change: float
    changed: float


def effect(
    network: Network,
    x: Float[Tensor, "n ..."],
    y: Float[Tensor, "n k"],
    part: Part,
    motion: PixelMotion,
    *,
    classes: bool,
) -> Effect:
    r"""Add $g^{-1}(l(gu) - g\,l(u))$ to the output of one layer, and see what changes at that of the network.

    The samples themselves do not move, and all other layers are as they were, so that the change is
    due to this layer alone. Where nothing is interpolated, the layer returns $g^{-1} l(gu)$.

    Args:
        network: the network.
        x: samples.
        y: outputs of the network for them, flattened.
        part: the layer.
        motion: the motion.
        classes: whether the largest output is a prediction.
    """

    def visit(passage: Passage) -> Tensor | None:
        if passage.name != part.layer.name:
            return None
        own, u = passage.output.clone(), passage.args[0]
        error = passage.module(part.before.move(motion, u).clone()) - part.after.move(motion, own)
        error = _where(part.regions(motion).counted, error, torch.zeros_like(error), part)
        back = motion.inverse()
        broken = own + part.after.move(back, error)
        return _where(part.regions(back).counted, broken, own, part)

    with watching(network, {part.layer.module}, visit):
        broken = outputs(network, x)
    variance = float((y - y.mean(0)).square().sum(1).mean())
    change = float((broken - y).square().sum(1).mean())
    changed = float((broken.argmax(1) != y.argmax(1)).double().mean()) if classes else math.nan
    return Effect(change / variance if variance > 0 else 0.0, changed)


def outputs(network: Network, x: Float[Tensor, "n ..."]) -> Float[Tensor, "n k"]:
    """Outputs of a network, flattened, in float64."""
    return run(network, x).double().flatten(1)


def _where(
    pixels: Bool[Tensor, " p"] | None,
    a: Float[Tensor, "n ..."],
    b: Float[Tensor, "n ..."],
    part: Part,
) -> Float[Tensor, "n ..."]:
    """One tensor at some pixels, another elsewhere; the first where there are no pixels."""
    if pixels is None:
        return a
    maps = (t.reshape(len(t), part.after.view[0], -1) for t in (a, b))
    return torch.where(pixels.to(a.device), *maps).reshape(b.shape)
