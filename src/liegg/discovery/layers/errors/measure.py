r"""Equivariance errors of layers: what each has in all, and what it adds.

For a motion $g$, a layer $l$ with input $u$ on samples $x$, and features $\Phi_l(x) = l(u)$:

$$E_l = \frac{\mathrm{mean}\,|\Phi_l(gx) - g\Phi_l(x)|^2}{\mathrm{var}\,\Phi_l}, \qquad
  e_l = \frac{\mathrm{mean}\,|l(gu) - g\,l(u)|^2}{\mathrm{var}\,\Phi_l}.$$
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import LieggError, ModelError, one_line
from liegg.actions.grid.pixel_motion import PixelMotion
from liegg.discovery.layers.errors.spaces import Regions, Space, Spaces, regions
from liegg.discovery.layers.errors.traits import Traits, traits, without_stride
from liegg.discovery.layers.hooks import Layer, Network, Passage, pick_tensor, watching


class Local(NamedTuple):
    """The errors of a layer under one motion, relative to the variance of its output.

    Attributes:
        total: $E_l$.
        added: $e_l$.
        interior: $e_l$ of the pixels that see nothing of the border; NaN if there are none.
        unstrided: the same for a convolution without its stride; NaN for other layers.
        resampling: error of moving the output there and back; 0 if pixels go to pixels.
        exact: whether pixels go to pixels, in the input and in the output.
    """

    total: float
    added: float
    interior: float
    unstrided: float
    resampling: float
    exact: bool


@dataclass(frozen=True)
class Part:
    """A layer that can be measured.

    Attributes:
        layer: the layer.
        traits: what its module does.
        before: space of its input.
        after: space of its output.
    """

    layer: Layer
    traits: Traits
    before: Space
    after: Space

    def regions(self, motion: PixelMotion) -> Regions:
        """Pixels of its output after a motion."""
        return regions(motion, self.before, self.after, self.traits.reach)


class Measured(NamedTuple):
    """What a pass over the layers found.

    Attributes:
        parts: the layers that could be measured, by name.
        errors: their errors, by name.
        output: total error of the output of the network.
        changed: share of the samples whose largest output becomes another one.
        notes: layers that could not be measured, and why.
    """

    parts: dict[str, Part]
    errors: dict[str, Local]
    output: float
    changed: float
    notes: dict[str, Remark]


def measure(
    network: Network,
    x: Float[Tensor, "n ..."],
    motion: PixelMotion,
    layers: Sequence[Layer],
    *,
    view: tuple[int, ...],
    leaves: frozenset[str],
) -> Measured:
    """Run a network on samples and moved samples, and measure every layer on the way.

    Args:
        network: the network.
        x: samples.
        motion: the motion.
        layers: the layers in question.
        view: shape of a sample with channels first.
        leaves: names of the calls that call no other module.
    """
    n, spaces = len(x), Spaces(tuple(x.shape[1:]), view)
    wanted = {layer.name: layer for layer in layers}
    parts: dict[str, Part] = {}
    errors: dict[str, Local] = {}
    notes: dict[str, Remark] = {}

    def visit(passage: Passage) -> None:
        layer = wanted.get(passage.name)
        if layer is None:
            return
        found = traits(passage.module, motion.dimension, leaf=layer.name in leaves)
        part = _part(layer, found, passage, spaces, samples=2 * n)
        if isinstance(part, str):
            notes[layer.name] = Diagnosis.LAYER_LEFT_OUT(reason=f"{layer.name} ({part})")
            return
        try:
            errors[layer.name] = _errors(part, passage, motion, n)
            parts[layer.name] = part
        except Exception as error:  # of the module, on a moved map
            reason = f"{layer.name} ({one_line(error)})"
            notes[layer.name] = Diagnosis.LAYER_LEFT_OUT(reason=reason)

    start = Space(view, (1.0,) * motion.dimension)
    both = torch.cat([x, start.move(motion, x)])
    with watching(network, {layer.module for layer in layers}, visit):
        y = run(network, both)
    after = spaces.of(tuple(y.shape[1:])) or Space()
    target = after.move(motion, y[:n])
    if not bool(torch.isfinite(y).all()):
        raise ModelError(
            f"the output of {network.name} on moved samples is not finite. Choose a smaller size=."
        )
    output = _relative(y[n:], target, after.inside(motion), after, variance=_variance(y[:n], after))
    if math.isinf(output):
        raise ModelError(
            f"the output of {network.name} is the same for all samples, so that its error has no "
            "scale. Pass different samples."
        )
    largest = y.flatten(1).argmax(1)
    changed = float((largest[n:] != largest[:n]).double().mean())
    return Measured(parts, errors, output, changed, notes)


def run(network: Network, x: Float[Tensor, "b ..."]) -> Tensor:
    """The output of a network, its first tensor.

    Raises:
        ModelError: the network fails.
    """
    try:
        return pick_tensor(network.root(x), None, "output")
    except LieggError:
        raise
    except Exception as error:
        raise ModelError(
            f"{network.name} failed on moved samples of shape {tuple(x.shape)}: {one_line(error)}."
        ) from error


def _part(
    layer: Layer, found: Traits, passage: Passage, spaces: Spaces, *, samples: int
) -> Part | str:
    """The layer with its spaces, or why it cannot be measured."""
    args, y = passage.args, passage.output
    if len(args) != 1 or passage.kwargs or not isinstance(args[0], Tensor):
        return "it does not take one tensor alone"
    if not isinstance(y, Tensor) or not y.is_floating_point():
        return "it does not return one tensor of real numbers"
    if not args[0].is_floating_point() or len(args[0]) != samples or len(y) != samples:
        return "its input or output is not one tensor of real numbers per sample"
    before = spaces.of(tuple(args[0].shape[1:]))
    step = found.step if before is not None and before.is_map else ()
    after = spaces.of(tuple(y.shape[1:]), before, step)
    if before is None or after is None:
        return "the axes of its input or output are not those of a feature map"
    return Part(layer, found, before, after)


def _errors(part: Part, passage: Passage, motion: PixelMotion, n: int) -> Local:
    """Errors of one layer; the first half of the batch are the samples, the second the moved ones."""
    u, y = passage.args[0][:n], passage.output[:n].clone()
    target = part.after.move(motion, y)
    local = passage.module(part.before.move(motion, u).clone())
    if local.shape != target.shape or not bool(torch.isfinite(local).all()):
        raise ValueError("its output on moved maps is not finite")
    counted, interior = part.regions(motion)
    variance = _variance(y, part.after)

    def error(a: Tensor, b: Tensor, where: Bool[Tensor, " p"] | None) -> float:
        return _relative(a, b, where, part.after, variance=variance)

    exact = part.before.is_exact(motion) and part.after.is_exact(motion)
    back = motion.inverse()
    return Local(
        total=error(passage.output[n:], target, counted),
        added=error(local, target, counted),
        interior=error(local, target, interior),
        unstrided=_unstrided(part, passage.module, u, motion),
        resampling=0.0
        if exact
        else error(part.after.move(back, target), y, part.regions(back).counted),
        exact=exact,
    )


def _unstrided(
    part: Part, module: nn.Module, u: Float[Tensor, "n ..."], motion: PixelMotion
) -> float:
    """Interior error of a convolution at every place of its input, which its filters alone cause."""
    dense = without_stride(module)
    if dense is None or not part.before.is_map:
        return math.nan
    y, local = dense(u), dense(part.before.move(motion, u))
    after = Space(tuple(y.shape[1:]), part.before.pitch)
    interior = regions(motion, part.before, after, part.traits.reach).interior
    return _relative(local, after.move(motion, y), interior, after, variance=_variance(y, after))


def _variance(y: Float[Tensor, "n ..."], space: Space) -> float:
    """Variance of features over samples, and over the places of a map; summed over the channels."""
    channels = _channels(y, space)
    return float((channels - channels.mean((0, 2), keepdim=True)).square().mean((0, 2)).sum())


def _channels(y: Float[Tensor, "n ..."], space: Space) -> Float[Tensor, "n c p"]:
    """Features as channels over places; a vector has one place."""
    y = y.double()
    return y.reshape(len(y), space.view[0], -1) if space.is_map else y.reshape(len(y), -1, 1)


def _relative(
    a: Float[Tensor, "n ..."],
    b: Float[Tensor, "n ..."],
    where: Bool[Tensor, " p"] | None,
    space: Space,
    *,
    variance: float,
) -> float:
    """Mean squared difference over samples and some places, relative to a variance; NaN without places."""
    gaps = (_channels(a, space) - _channels(b, space)).square().sum(1)
    if where is not None:
        gaps = gaps[:, where.to(gaps.device)]
    if not gaps.numel():
        return math.nan
    mean = float(gaps.mean())
    return mean / variance if variance > 0 else (0.0 if mean == 0 else math.inf)
