"""Forward mode through a network: the tangents of all generators, read at every layer."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
import torch.autograd.forward_ad as forward_ad
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import LieggError, one_line
from liegg._utils.forward_mode import jvp
from liegg._utils.forward_rules import ForwardRules
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.discovery.layers.hooks import Layer, Network, run_to_layers
from liegg.discovery.layers.trace import projection
from liegg.inputs.probe import PROBE_SAMPLES

Batching = Literal["vmap", "repeat"]
"""Tangents batched by vmap, or every sample repeated for each tangent."""

Visit = Callable[[Layer, Float[Tensor, "b c"], Float[Tensor, "g b c"]], None]
"""Receives a layer, its outputs, and their derivatives along each tangent."""

ROUNDING_SHARE, SMALLEST_DIVISOR = 1e-3, 1e-300
"""Fraction of an output's size below which motion may be rounding; a divisor instead of 0."""


@dataclass(frozen=True)
class TangentPlan:
    """How tangents are pushed through the network; fixed before the first batch.

    Attributes:
        batching: how they are batched.
        layers: the layers that they reach.
        unreached: for every other layer, why forward mode does not work for it.
        writes: whether the network writes into its input, so each run gets a copy.
        notes: why the cheapest batching is not used.
    """

    batching: Batching
    layers: tuple[Layer, ...]
    unreached: dict[str, str]
    writes: bool = True
    notes: tuple[Remark, ...] = ()


def push_tangents(
    network: Network,
    x: Float[Tensor, "b ..."],
    tangents: Float[Tensor, "g b ..."],
    layers: Sequence[Layer],
    *,
    visit: Visit,
    batching: Batching = "vmap",
    copy: bool = True,
) -> dict[str, str]:
    """Push tangents through a network and visit every layer.

    Each layer is visited when its output is computed, so only forward mode itself holds memory.

    Args:
        network: the network.
        x: a batch.
        tangents: velocities of its samples, for each direction.
        layers: the layers to visit.
        visit: called at each layer.
        batching: how tangents are batched.
        copy: pass a copy that the network may write into.

    Returns:
        Layers that were not reached, and why: an operation without a forward rule stops the run.
    """
    g, b = tangents.shape[:2]
    missing = {layer.name: "it was not called" for layer in layers}

    def look(layer: Layer, output: Tensor) -> None:
        def receive(y: Tensor, slopes: Tensor) -> None:
            if batching == "repeat":
                y = y.reshape(g, b, -1)[0]
            with torch.no_grad():  # torch.func switches gradients on
                visit(layer, y.reshape(b, -1), slopes.reshape(g, b, -1))

        y, slope = forward_ad.unpack_dual(output)
        slope = torch.zeros_like(y) if slope is None else slope
        _Look.apply(y, slope, g if batching == "vmap" else 0, receive)
        del missing[layer.name]

    def through(moving: Tensor) -> Tensor:
        try:
            run_to_layers(network, moving, layers, look)
        except (LieggError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever forward mode cannot do, reverse mode can
            missing.update(dict.fromkeys(missing, one_line(error)))
        return moving.new_zeros(())

    if batching == "vmap":
        x = x.clone()  # the tangent of a view is as large as the tensor behind it
        torch.func.vmap(
            lambda tangent: jvp(lambda at: through(at.clone() if copy else at), x, tangent)[1]
        )(tangents)
    else:
        with forward_ad.dual_level(), ForwardRules():
            moving = forward_ad.make_dual(x.repeat(g, *[1] * (x.ndim - 1)), tangents.flatten(0, 1))
            through(moving.clone() if copy else moving)
    return missing


def plan_tangents(
    network: Network,
    action: Action,
    x: Float[Tensor, "b ..."],
    layers: Sequence[Layer],
    *,
    writes: bool,
) -> TangentPlan:
    """Try forward mode on a few samples, compare it with reverse mode, choose the best batching.

    Args:
        network: the network.
        action: the candidate generators.
        x: the first batch.
        layers: the layers to reach.
        writes: whether the network writes into its input.
    """
    x = x[:PROBE_SAMPLES]
    h = torch.randn(action.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    motion = action.field(h.to(x), x)
    trials: dict[Batching, tuple[dict[str, str], dict[str, Tensor]]] = {}
    for batching in get_args(Batching):
        marks: dict[str, Tensor] = {}

        def mark(layer: Layer, y: Tensor, slopes: Tensor, marks: dict[str, Tensor] = marks) -> None:
            onto = projection(y.shape[1], y)
            marks[layer.name] = torch.stack([slopes[-1].double() @ onto, y.double() @ onto])

        with warnings.catch_warnings():
            # Where torch batches by a slow loop of its own, repeating the samples is faster.
            warnings.filterwarnings("error", message="There is a performance drop")
            pair = motion.expand(2, *motion.shape)
            missing = push_tangents(network, x, pair, layers, visit=mark, batching=batching)
        trials[batching] = missing, marks
        if not missing:
            break
    batching = min(trials, key=lambda batching: len(trials[batching][0]))
    unreached, marks = trials[batching]
    forward = [layer for layer in layers if layer.name not in unreached]
    unreached |= _disagreements(network, x, motion, forward, marks=marks)
    notes = ()
    if batching == "repeat":
        notes = (Diagnosis.SAMPLES_REPEATED(reason=next(iter(trials["vmap"][0].values()))),)
    reached = tuple(layer for layer in layers if layer.name not in unreached)
    return TangentPlan(batching, reached, unreached, writes, notes)


def _disagreements(
    network: Network,
    x: Float[Tensor, "n ..."],
    motion: Float[Tensor, "n ..."],
    layers: Sequence[Layer],
    *,
    marks: dict[str, Tensor],
) -> dict[str, str]:
    """Layers whose forward and reverse derivatives differ: one reverse pass, more on suspicion."""
    eps = torch.finfo(coarsest(x.dtype, network.arithmetic)).eps
    tolerance = 10 * eps**0.5
    scale = float(motion.double().norm() / x.double().norm().clamp_min(SMALLEST_DIVISOR))

    def gap(some: Sequence[Layer]) -> float:
        # Sizes of the motion and of the output.
        sizes = {layer.name: marks[layer.name].norm(dim=1).tolist() for layer in some}
        scales = {
            name: 1 / (max(motion, ROUNDING_SHARE * size) or 1.0)
            for name, (motion, size) in sizes.items()
        }
        forward = torch.stack([scales[layer.name] * marks[layer.name][0] for layer in some])
        reverse = _reverse(network, x, motion, scales, layers=some)
        if reverse is None:
            return 0.0
        slope, bound = reverse
        # Terms inside are as large as the output.
        bound += scale * sum(scales[name] * size for name, (_, size) in sizes.items())
        size = (forward.norm() + 1000 * eps / tolerance * bound).clamp_min(SMALLEST_DIVISOR)
        return float((forward.sum(0) - slope).norm() / size)

    if not layers or gap(layers) <= tolerance:
        return {}
    gaps = {layer.name: gap([layer]) for layer in layers}
    return {
        name: f"forward and reverse derivatives differ by {size:.1e}"
        for name, size in gaps.items()
        if size > tolerance
    }


def _reverse(
    network: Network,
    x: Float[Tensor, "n ..."],
    motion: Float[Tensor, "n ..."],
    scales: dict[str, float],
    *,
    layers: Sequence[Layer],
) -> tuple[Float[Tensor, " n"], float] | None:
    """Derivative of the projected outputs of all layers by plain autograd, and a bound of its size.

    None if autograd fails.
    """
    leaf = x.clone().requires_grad_()
    totals: list[Tensor] = []

    def add(layer: Layer, output: Tensor) -> None:
        flat = output.reshape(len(x), -1).double()
        totals.append(scales[layer.name] * (flat @ projection(flat.shape[1], flat)))

    try:
        with torch.enable_grad():
            run_to_layers(network, leaf.clone(), layers, add)
            total = torch.stack(totals).sum()
        gradient = (
            torch.autograd.grad(total, leaf, materialize_grads=True)[0]
            if total.requires_grad
            else torch.zeros_like(leaf)
        )
    except RuntimeError:
        return None
    gradient, motion = gradient.double().flatten(1), motion.double().flatten(1)
    return (gradient * motion).sum(1), float((gradient.norm(dim=1) * motion.norm(dim=1)).norm())


class _Look(torch.autograd.Function):
    """Passes the tangents behind `torch.func.vmap` to a function, all directions at once."""

    @staticmethod
    def forward(
        y: Tensor, slope: Tensor, directions: int, receive: Callable[[Tensor, Tensor], None]
    ) -> Tensor:
        """Outside of `vmap`, or if nothing depends on the direction."""
        receive(y, slope.expand(directions, *slope.shape) if directions else slope)
        return y.new_zeros(())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing to differentiate."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Tensor, None]:
        """Inside of `vmap` both have an axis of directions, unless they do not depend on them."""
        y, slope, directions, receive = args
        slopes = (
            slope.expand(directions, *slope.shape)
            if in_dims[1] is None
            else slope.movedim(in_dims[1], 0)
        )
        receive(y if in_dims[0] is None else y.select(in_dims[0], 0), slopes)
        return y.new_zeros(()), None
