"""Forward mode through a network: the tangents of all generators, read at every layer on their way."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.autograd.forward_ad as forward_ad
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import LieggError
from liegg._utils.forward_mode import FixedNorms, jvp
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.discovery.layers.hooks import Layer, Network, one_line, run
from liegg.discovery.layers.trace import projection
from liegg.inputs.model import PROBE_SAMPLES

PassOptions = Literal["vmap", "repeat"]
"""Tangents batched beside one primal run; or every sample repeated for each tangent, which needs forward rules alone."""

See = Callable[[Layer, Float[Tensor, "b c"], Float[Tensor, "g b c"]], None]
"""Takes a layer, its outputs, and their derivatives along each tangent."""


SMALL, TINY = 1e-3, 1e-300
"""Share of an output's size below which its motion may be rounding, and a number to divide by in place of 0."""


@dataclass(frozen=True)
class Carried:
    """How far the tangents of one batch were carried.

    Attributes:
        missing: names of the layers that they did not reach.
        reason: the operation that stopped them, in one line; empty if none did.
    """

    missing: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Course:
    """How the tangents of every batch will be carried; fixed once, before the first batch.

    Attributes:
        way: how they are batched.
        layers: the layers that they reach.
        stopped: by the name of every other layer, why forward mode cannot serve it.
        writes: the network writes into its input, so each run gets a copy.
        notes: why the way is not the cheapest.
    """

    way: PassOptions
    layers: tuple[Layer, ...]
    stopped: dict[str, str]
    writes: bool = True
    notes: tuple[str, ...] = ()


def carry(
    network: Network,
    x: Float[Tensor, "b ..."],
    tangents: Float[Tensor, "g b ..."],
    layers: Sequence[Layer],
    see: See,
    *,
    way: PassOptions = "vmap",
    copy: bool = True,
) -> Carried:
    """Carry tangents through a network and look at them in every layer.

    Each layer's are looked at when they are made and then forgotten, so no more is held than forward mode itself holds.

    Args:
        network: the network.
        x: a batch.
        tangents: velocities of its samples, one to a direction.
        layers: where to look.
        see: called at each layer.
        way: how tangents are batched.
        copy: hand the network a copy that it may write into.

    Returns:
        Which layers were not reached, and why: where an operation has no forward rule, those before it were.
    """
    g, b = tangents.shape[:2]
    missing = [layer.name for layer in layers]
    reason = ""

    def look(layer: Layer, output: Tensor) -> None:
        def shown(y: Tensor, slopes: Tensor) -> None:
            if way == "repeat":
                y = y.reshape(g, b, -1)[0]
            with torch.no_grad():  # torch.func switches gradients on
                see(layer, y.reshape(b, -1), slopes.reshape(g, b, -1))

        y, slope = forward_ad.unpack_dual(output)
        _Look.apply(
            y, torch.zeros_like(y) if slope is None else slope, g if way == "vmap" else 0, shown
        )
        missing.remove(layer.name)

    def through(moving: Tensor) -> Tensor:
        nonlocal reason
        try:
            run(network, moving, layers, look)
        except (LieggError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever forward mode cannot do, reverse mode is the remedy
            reason = one_line(error)
        return moving.new_zeros(())

    if way == "vmap":
        x = x.clone()  # the tangent of a view is made as large as the tensor it looks into
        torch.func.vmap(
            lambda tangent: jvp(lambda at: through(at.clone() if copy else at), x, tangent)[1]
        )(tangents)
    else:
        with forward_ad.dual_level(), FixedNorms():
            moving = forward_ad.make_dual(x.repeat(g, *[1] * (x.ndim - 1)), tangents.flatten(0, 1))
            through(moving.clone() if copy else moving)
    return Carried(tuple(missing), reason)


def course(
    network: Network,
    action: Action,
    x: Float[Tensor, "b ..."],
    layers: Sequence[Layer],
    *,
    writes: bool,
) -> Course:
    """Try forward mode on a few samples, hold it to reverse mode, and choose the way that reaches the most layers.

    Args:
        network: the network.
        action: the candidate generators.
        x: the first batch.
        layers: the layers that are to be reached.
        writes: whether the network writes into its input.
    """
    x = x[:PROBE_SAMPLES]
    h = torch.randn(action.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    motion = action.field(h.to(x), x)
    trials: dict[PassOptions, tuple[Carried, dict[str, Tensor]]] = {}
    ways: tuple[PassOptions, ...] = ("vmap", "repeat")
    for way in ways:
        marks: dict[str, Tensor] = {}

        def mark(layer: Layer, y: Tensor, slopes: Tensor, marks: dict[str, Tensor] = marks) -> None:
            onto = projection(y.shape[1], y)
            marks[layer.name] = torch.stack([slopes[-1].double() @ onto, y.double() @ onto])

        with (
            warnings.catch_warnings()
        ):  # where torch batches by a slow loop of its own, repeating the samples is faster
            warnings.filterwarnings("error", message="There is a performance drop")
            trials[way] = (
                carry(network, x, motion.expand(2, *motion.shape), layers, mark, way=way),
                marks,
            )
        if not trials[way][0].missing:
            break
    way = min(trials, key=lambda way: len(trials[way][0].missing))
    carried, marks = trials[way]
    stopped = dict.fromkeys(carried.missing, carried.reason or "it was not called")
    stopped |= _disagreeing(
        network, x, motion, [layer for layer in layers if layer.name not in stopped], marks
    )
    notes = ()
    if way == "repeat":
        reason = trials["vmap"][0].reason
        notes = (
            f"torch.func.vmap cannot batch this model ({reason}): every sample was repeated for each direction instead",
        )
    return Course(
        way, tuple(layer for layer in layers if layer.name not in stopped), stopped, writes, notes
    )


def _disagreeing(
    network: Network,
    x: Float[Tensor, "n ..."],
    motion: Float[Tensor, "n ..."],
    layers: Sequence[Layer],
    marks: dict[str, Tensor],
) -> dict[str, str]:
    """Layers whose forward derivatives are not those of reverse mode: one reverse pass for all, and one for each on suspicion."""
    eps = torch.finfo(coarsest(x.dtype, network.arithmetic)).eps
    allowed = 10 * eps**0.5
    stretch = float(motion.double().norm() / x.double().norm().clamp_min(TINY))

    def gap(some: Sequence[Layer]) -> float:
        sizes = {
            layer.name: marks[layer.name].norm(dim=1).tolist() for layer in some
        }  # of the motion, and of the output
        scales = {
            name: 1 / (max(moved, SMALL * size) or 1.0) for name, (moved, size) in sizes.items()
        }
        forward = torch.stack([scales[layer.name] * marks[layer.name][0] for layer in some])
        reverse = _reverse(network, x, motion, scales, some)
        if reverse is None:
            return 0.0
        slope, reach = reverse
        reach += stretch * sum(
            scales[name] * size for name, (_, size) in sizes.items()
        )  # terms inside are as large as the output
        return float(
            (forward.sum(0) - slope).norm()
            / (forward.norm() + 1000 * eps / allowed * reach).clamp_min(TINY)
        )

    if not layers or gap(layers) <= allowed:
        return {}
    gaps = {layer.name: gap([layer]) for layer in layers}
    return {
        name: f"forward and reverse derivatives differ by {size:.1e}"
        for name, size in gaps.items()
        if size > allowed
    }


def _reverse(
    network: Network,
    x: Float[Tensor, "n ..."],
    motion: Float[Tensor, "n ..."],
    scales: dict[str, float],
    layers: Sequence[Layer],
) -> tuple[Float[Tensor, " n"], float] | None:
    """By plain autograd, the derivative of the projected and scaled outputs of all layers together, and how large it could be.

    None if autograd cannot take it.
    """
    leaf = x.clone().requires_grad_()
    totals: list[Tensor] = []

    def add(layer: Layer, output: Tensor) -> None:
        flat = output.reshape(len(x), -1).double()
        totals.append(scales[layer.name] * (flat @ projection(flat.shape[1], flat)))

    try:
        with torch.enable_grad():
            run(network, leaf.clone(), layers, add)
            whole = torch.stack(totals).sum()
        gradient = (
            torch.autograd.grad(whole, leaf, materialize_grads=True)[0]
            if whole.requires_grad
            else torch.zeros_like(leaf)
        )
    except RuntimeError:
        return None
    gradient, motion = gradient.double().flatten(1), motion.double().flatten(1)
    return (gradient * motion).sum(1), float((gradient.norm(dim=1) * motion.norm(dim=1)).norm())


class _Look(torch.autograd.Function):
    """Shows the tangents behind `torch.func.vmap` to a function, all directions at once."""

    @staticmethod
    def forward(
        y: Tensor, slope: Tensor, directions: int, shown: Callable[[Tensor, Tensor], None]
    ) -> Tensor:
        """Outside of `vmap`, or where nothing depends on the direction."""
        shown(y, slope.expand(directions, *slope.shape) if directions else slope)
        return y.new_zeros(())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is differentiated."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Tensor, None]:
        """Inside of `vmap` both come with all directions, unless they do not depend on them."""
        y, slope, directions, shown = args
        slopes = (
            slope.expand(directions, *slope.shape)
            if in_dims[1] is None
            else slope.movedim(in_dims[1], 0)
        )
        shown(y if in_dims[0] is None else y.select(in_dims[0], 0), slopes)
        return y.new_zeros(()), None
