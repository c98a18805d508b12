"""How classifiers are read: the symmetries of many stacked networks from one pass over the images."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liegg._utils.errors import EmptyDataError, NonFiniteError
from liegg._utils.forward_mode import jvp
from liegg.actions import Action, Image
from liegg.actions.grid.stencils import Scheme
from liegg.decision.grades import Thresholds
from liegg.discovery.solve_and_decide import ModelInfo, solve_and_decide
from liegg.inputs.batches import BATCH_SIZE
from liegg.polarization import displacement, gram, sample_blocks
from liegg.polarization.displacement import InputSums, Workspace
from liegg.polarization.rows import Plan
from liegg.polarization.sample_blocks import BlockRows, Parts, RowBatch
from liegg.polarization.streaming import PassSums
from liegg.results.symmetries import Symmetries
from liegg.studies.ensemble import Stack

Outputs = Literal["sum", "each"]

Readings = dict[str, tuple[Scheme, Outputs, int]]
"""By name: derivative scheme, reading of the outputs, pixels left out at the border."""

NUMBERS = {"cpu": 2**23, "cuda": 2**27}
"""Activations of all networks and generators held at once, at most: 32 MB and 512 MB in float32."""


class Sums(NamedTuple):
    """What one pass over the images keeps, for all networks together.

    Attributes:
        rows: rows of each network, for either reading of the outputs.
        inputs: sums over the images.
        output_square: summed squares of each network's outputs.
        first_bad: each network's first image whose output or rows are not finite; the number of images if there is none.
    """

    rows: dict[Outputs, BlockRows]
    inputs: InputSums
    output_square: Float[Tensor, " s"]
    first_bad: Int[Tensor, " s"]


def action(scheme: Scheme, shape: tuple[int, ...], frame: int = 0) -> Action:
    """The paper's candidates: all linear maps of the plane."""
    return Image("linear", derivative=scheme, shape=shape, frame=frame)


def unit(logits: Float[Tensor, "... c"]) -> Float[Tensor, "... c"]:
    """Logits scaled to unit length, as the paper scales them before it extracts symmetries."""
    return nn.functional.normalize(logits, dim=-1)


def read_stack(
    stack: Stack,
    images: Float[Tensor, "n i"],
    shape: tuple[int, ...],
    readings: Readings,
    *,
    numbers: int | None = None,
) -> list[dict[str, Symmetries]]:
    """Symmetries of every network of a stack, its logits scaled to unit length, under each reading.

    They are those that `discover` finds for one network after the other. Here the images are derived once for all networks, and one
    pass serves both readings of the outputs.

    Args:
        stack: the classifiers.
        images: flat images on the device of the networks.
        shape: their shape before they were flattened.
        readings: in which ways each is read.
        numbers: activations to hold at once, at most; by default what suits the device.

    Returns:
        For each network the symmetries by the name of the reading.

    Raises:
        EmptyDataError: there is no image.
        NonFiniteError: an output or a derivative is not finite; the message names network and image.
    """
    if not len(images):
        raise EmptyDataError("there is no image to read the networks on. Pass at least one.")
    images = images.to(stack.weights[0])
    found: list[dict[str, Symmetries]] = [{} for _ in range(len(stack))]
    passes: dict[tuple[Scheme, int], tuple[int, list[dict[Outputs, PassSums]]]] = {}
    for name, (scheme, outputs, frame) in readings.items():
        candidates = action(scheme, shape, frame)
        if (scheme, frame) not in passes:
            candidates.check(tuple(images.shape[1:]))
            size = _batch_size(
                stack, candidates, numbers or NUMBERS.get(images.device.type, NUMBERS["cpu"])
            )
            passes[scheme, frame] = size, _streamed(stack, images, candidates, size)
        size, seen = passes[scheme, frame]
        for index, (network, kept) in enumerate(zip(found, seen, strict=True)):
            network[name] = solve_and_decide(
                kept[outputs],
                candidates,
                Plan(outputs, "jvp"),
                Thresholds(),
                ModelInfo(
                    images.dtype,
                    images.device.type,
                    f"network {index}",
                    size,
                    numbers=images[0].numel(),
                    shape=tuple(images.shape[1:]),
                ),
            )
    return found


def push(
    stack: Stack, x: Float[Tensor, "b i"], tangents: Float[Tensor, "g b i"]
) -> tuple[Float[Tensor, "s b c"], Float[Tensor, "s g b c"]]:
    """Unit outputs of every network on the same images, and their derivatives along the tangents.

    A layer takes the values and all derivatives in one product per network. `torch.func.vmap` would copy images and weights once
    per network and tangent for that, and takes three times as long.
    """
    both = torch.cat([x[None], tangents])
    moved = both.flatten(0, 1).expand(len(stack), -1, -1)
    for weight, bias in zip(stack.weights[:-1], stack.biases[:-1], strict=True):
        layer = torch.bmm(moved, weight).unflatten(1, both.shape[:2])
        value = layer[:, 0] + bias
        layer[:, 0], rate = jvp(nn.functional.silu, value, torch.ones_like(value))
        layer[:, 1:] *= rate[:, None]
        moved = layer.flatten(1, 2)
    logits = torch.bmm(moved, stack.weights[-1]).unflatten(1, both.shape[:2])
    value = logits[:, 0] + stack.biases[-1]
    slopes = torch.func.vmap(lambda slope: jvp(unit, value, slope)[1], in_dims=1, out_dims=1)(
        logits[:, 1:]
    )
    return unit(value), slopes


def _batch_size(stack: Stack, action: Action, numbers: int) -> int:
    """Images to a batch, so that what all networks and generators hold of them stays within `numbers`."""
    networks, inputs, _ = stack.weights[0].shape
    widest = max(weight.shape[2] for weight in stack.weights)
    return min(BATCH_SIZE, max(1, numbers // ((1 + action.size) * max(inputs, networks * widest))))


def _streamed(
    stack: Stack, images: Float[Tensor, "n i"], action: Action, size: int
) -> list[dict[Outputs, PassSums]]:
    """What `liegg.polarization.streaming` would keep of the images for every network and either reading of the outputs."""
    with torch.inference_mode(False), torch.no_grad():
        sums = _pass(stack, images, action, size)
    _check_finite(sums, stack, images)
    moment, floor, noise = displacement.finalise(sums.inputs, action, images)
    moments = moment.expand(len(stack), *moment.shape)
    parts: dict[Outputs, tuple[Parts, str]] = {
        outputs: sample_blocks.finalise(rows, moments)[1:] for outputs, rows in sums.rows.items()
    }
    return [
        {
            outputs: PassSums(
                rows=networks.rows[index],
                moment=moment,
                samples=len(images),
                output_square=float(square) / len(images),
                accumulator=accumulator,
                trivial_floor=floor,
                noise=noise,
            )
            for outputs, (networks, accumulator) in parts.items()
        }
        for index, square in enumerate(sums.output_square)
    ]


def _pass(stack: Stack, images: Float[Tensor, "n i"], action: Action, size: int) -> Sums:
    """One pass over the images that reads nothing back from the device; each network is a block of rows."""
    squared = gram.allowed(images.dtype) and len(images) > 2 * action.size
    names: tuple[Outputs, ...] = ("sum", "each")
    rows: dict[Outputs, BlockRows] = {
        outputs: sample_blocks.init(len(stack), action.size, images.device) for outputs in names
    }
    inputs, workspace = displacement.init(action, images), Workspace(action)
    output_square = torch.zeros(len(stack), dtype=torch.float64, device=images.device)
    first_bad = torch.full_like(output_square, len(images), dtype=torch.int64)
    generators = torch.eye(action.size, dtype=images.dtype, device=images.device)
    place = torch.arange(len(images), device=images.device)
    for x, where in zip(images.split(size), place.split(size), strict=True):
        workspace.prepare(x)
        y, slopes = push(stack, x, action.tangents(generators, x))
        columns = slopes.double()
        totals = columns.sum(3)
        counts = torch.full((len(stack),), len(x))
        new: dict[Outputs, Tensor] = {"sum": totals.mT, "each": columns.flatten(2).mT}
        for outputs, values in new.items():
            batch = RowBatch(values, counts, values.shape[1] // len(x), squared)
            rows[outputs] = sample_blocks.update(rows[outputs], batch)
        inputs = displacement.update(inputs, x, workspace)
        output_square = output_square + y.double().square().sum((1, 2))
        finite = torch.isfinite(totals.sum(1) + y.sum(2))
        first_bad = torch.minimum(first_bad, torch.where(finite, len(images), where).amin(1))
    return Sums(rows, inputs, output_square, first_bad)


def _check_finite(sums: Sums, stack: Stack, images: Float[Tensor, "n i"]) -> None:
    """Raise `NonFiniteError` naming the first image that a network cannot be read on, in the words of `liegg.polarization.streaming`."""
    network = int(sums.first_bad.argmin())
    image = int(sums.first_bad[network])
    if image < len(images):
        with torch.no_grad():
            y = stack(images[image].expand(len(stack), 1, -1))[network]
        if not bool(torch.isfinite(y).all()):
            raise NonFiniteError(
                f"network {network} returned NaN or infinity for image {image}. Check it there, or remove the image."
            )
        raise NonFiniteError(
            f"the derivative of network {network} at image {image} is NaN or infinite, as it is where the logits are 0 or too "
            "large to be scaled to unit length. Remove the image."
        )
