"""What the error of a single layer does to the output of the network."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import PixelMotion
from liegg.discovery.layers.errors.measure import Part
from liegg.discovery.layers.errors.watch import Passage, watching
from liegg.discovery.layers.hooks import Network, pick_tensor


class Effect(NamedTuple):
    """Mean squared change of the output, relative to its variance.

    Attributes:
        layer: with the layer's error.
        resampling: with its output moved there and back instead, which shows interpolation alone.
    """

    layer: float
    resampling: float


def inject(
    network: Network, x: Float[Tensor, "n ..."], part: Part, motion: PixelMotion, *, exact: bool
) -> Effect:
    r"""Replace $l(u)$ by $g^{-1} l(gu)$ in one layer, and see what changes at the output.

    The samples themselves do not move, and all other layers are as they were, so that the change is
    due to this layer alone.

    Args:
        network: the network.
        x: samples.
        part: the layer.
        motion: the motion.
        exact: whether the motion takes pixels to pixels, so that nothing is interpolated.
    """
    n = len(x)
    copies = 2 if exact else 3

    def visit(passage: Passage) -> Tensor | None:
        if passage.name != part.layer.name:
            return None
        y, u = passage.output[:n].clone(), passage.args[0][:n]
        back = motion.inverse()
        broken = part.moved_back(passage.module, u, motion)
        counted = part.regions(back).counted
        found = [y, _where(counted, broken, y, part)]
        if not exact:
            there = part.after.move(back, part.after.move(motion, y))
            found.append(_where(counted, there, y, part))
        return torch.cat(found)

    with watching(network, {part.layer.module}, visit):
        whole = network.root(x.repeat(copies, *[1] * (x.ndim - 1)))
    y = pick_tensor(whole, None, "output").double().flatten(1).unflatten(0, (copies, n))
    variance = float((y[0] - y[0].mean(0)).square().sum(1).mean())
    changes = [float((other - y[0]).square().sum(1).mean()) for other in y[1:]]
    changes = [change / variance if variance > 0 else 0.0 for change in changes]
    return Effect(*changes, *([0.0] if exact else []))


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
