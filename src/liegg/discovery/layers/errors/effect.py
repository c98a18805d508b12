"""What the error of a single layer does to the output of the network."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import PixelMotion
from liegg.discovery.layers.errors.measure import Part, run
from liegg.discovery.layers.hooks import Network, Passage, watching
from liegg.inputs.task import predicted


class Subject(NamedTuple):
    """A network with the samples on which its layers are measured.

    Attributes:
        network: the network.
        x: the samples.
        floor: error, relative to a variance, that counts as none.
        y: outputs of the samples, flattened; None if effects are not measured.
        classes: whether the largest output is a prediction.
    """

    network: Network
    x: Float[Tensor, "n ..."]
    floor: float
    y: Float[Tensor, "n k"] | None = None
    classes: bool = False


class Effect(NamedTuple):
    """What the error of a layer does to the output of the network.

    Attributes:
        change: mean squared change of the output, relative to its variance; NaN if it is not measured.
        changed: share of predictions that change; NaN without classes.
    """

    change: float
    changed: float


def effect(subject: Subject, part: Part, motion: PixelMotion, added: float) -> Effect:
    r"""Add $g^{-1}(l(gu) - g\,l(u))$ to the output of one layer, and see what changes at that of the network.

    The samples themselves do not move, and all other layers are as they were, so that the change is
    due to this layer alone. Where nothing is interpolated, the layer returns $g^{-1} l(gu)$.

    Args:
        subject: the network and its samples.
        part: the layer.
        motion: the motion.
        added: error that the layer adds; nothing is done if it is below the floor.
    """
    y = subject.y
    if y is None:
        return Effect(math.nan, math.nan)
    if added <= subject.floor:
        return Effect(0.0, 0.0 if subject.classes else math.nan)

    def visit(passage: Passage) -> Tensor | None:
        if passage.name != part.layer.name:
            return None
        own, u = passage.output.clone(), passage.args[0]
        error = passage.module(part.before.move(motion, u).clone()) - part.after.move(motion, own)
        error = _where(part.regions(motion).counted, error, torch.zeros_like(error), part)
        back = motion.inverse()
        broken = own + part.after.move(back, error)
        return _where(part.regions(back).counted, broken, own, part)

    with watching(subject.network, {part.layer.module}, visit):
        broken = outputs(subject.network, subject.x)
    variance = float((y - y.mean(0)).square().sum(1).mean())
    change = float((broken - y).square().sum(1).mean())
    changed = float((predicted(broken) != y.argmax(1)).double().mean())
    return Effect(
        change / variance if variance > 0 else 0.0, changed if subject.classes else math.nan
    )


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
