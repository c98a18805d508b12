"""Symmetries of many stacked classifiers from one pass over the images per reading."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Action, Image
from liegg.actions.grid.stencils import Scheme
from liegg.discovery.layers.discover_layers import discover_layers
from liegg.results.symmetries import Symmetries
from liegg.studies.ensemble import Stack

Readings = dict[str, tuple[Scheme, Literal["sum", "each"], int]]
"""By name: derivative scheme, treatment of the outputs, pixels left out at the border."""


class StackModule(nn.Module):
    """A stack as one module, in which the logits of every network are the output of a layer."""

    def __init__(self, stack: Stack) -> None:
        super().__init__()
        self.stack = stack
        self.leaves = nn.ParameterList(stack.leaves)
        self.logits = nn.ModuleList(nn.Identity() for _ in range(len(stack)))

    def forward(self, x: Float[Tensor, "b i"]) -> Float[Tensor, "b s o"]:
        """Logits of every network on the same images."""
        logits = self.stack(x.expand(len(self.stack), *x.shape))
        outputs = [layer(values) for layer, values in zip(self.logits, logits, strict=True)]
        return torch.stack(outputs, dim=1)


def action(scheme: Scheme, shape: tuple[int, ...], frame: int = 0) -> Action:
    """The paper's candidates: all linear maps of the plane."""
    return Image("linear", derivative=scheme, shape=shape, frame=frame)


def read_stack(
    stack: Stack, images: Float[Tensor, "n i"], shape: tuple[int, ...], readings: Readings
) -> list[dict[str, Symmetries]]:
    """Symmetries of every network of a stack, with logits scaled to unit length as in the paper.

    They are those that `discover` finds for each network; the images are differentiated once for
    all networks.

    Args:
        stack: the classifiers.
        images: flat images on the device of the networks.
        shape: shape of an image.
        readings: how each network is read.

    Returns:
        For each network the symmetries by the name of the reading.

    Raises:
        EmptyDataError: there are no images.
        NonFiniteError: an output or a derivative is not finite; the message names the layer and the
            image.
    """
    model, images = StackModule(stack), images.to(stack.weights[0])
    names = [f"logits.{index}" for index in range(len(stack))]
    symmetries: list[dict[str, Symmetries]] = [{} for _ in names]
    for reading, (scheme, outputs, frame) in readings.items():
        candidates = action(scheme, shape, frame)
        layers = discover_layers(model, images, candidates, layers=names, outputs=outputs)
        for network, name in zip(symmetries, names, strict=True):
            network[reading] = layers[name].unit
    return symmetries
