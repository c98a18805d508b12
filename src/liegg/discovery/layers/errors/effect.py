"""What the error of a single layer does to the output of the network."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import PixelMotion
from liegg.discovery.layers.errors.measure import Part, run
from liegg.discovery.layers.errors.watch import Passage, watching
from liegg.discovery.layers.hooks import Network


def effect(network: Network, x: Float[Tensor, "n ..."], part: Part, motion: PixelMotion) -> float:
    r"""Add $g^{-1}(l(gu) - g\,l(u))$ to the output of one layer, and see what changes at that of the network.

    The samples themselves do not move, and all other layers are as they were, so that the change is
    due to this layer alone. Where nothing is interpolated, the layer returns $g^{-1} l(gu)$.

    Args:
        network: the network.
        x: samples.
        part: the layer.
        motion: the motion.

    Returns:
        The mean squared change of the output of the network, relative to its variance.
    """
    n = len(x)

    def visit(passage: Passage) -> Tensor | None:
        if passage.name != part.layer.name:
            return None
        y, u = passage.output[:n].clone(), passage.args[0][:n]
        error = passage.module(part.before.move(motion, u).clone()) - part.after.move(motion, y)
        error = _where(part.regions(motion).counted, error, torch.zeros_like(error), part)
        back = motion.inverse()
        broken = y + part.after.move(back, error)
        return torch.cat([y, _where(part.regions(back).counted, broken, y, part)])

    with watching(network, {part.layer.module}, visit):
        y = run(network, torch.cat([x, x])).double().flatten(1)
    variance = float((y[:n] - y[:n].mean(0)).square().sum(1).mean())
    change = float((y[n:] - y[:n]).square().sum(1).mean())
    return change / variance if variance > 0 else 0.0


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
