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
from liegg.polarization import gram
from liegg.polarization.displacement import COARSE_FLOOR
from liegg.polarization.r_factor import RFactor
from liegg.polarization.rows import Plan
from liegg.polarization.streaming import Streamed
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
        rows: for either reading of the outputs what is kept of the rows, as Gram matrices or R factors.
        moment: summed moments of the images, from which the action makes the displacement.
        output_square: summed squares of each network's outputs.
        input_square: summed squares of the images.
        first_bad: each network's first image whose output or rows are not finite; the number of images if there is none.
    """

    rows: dict[Outputs, Float[Tensor, "s g g"]]
    moment: Float[Tensor, "g g"]
    output_square: Float[Tensor, " s"]
    input_square: Float[Tensor, ""]
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
    passes: dict[tuple[Scheme, int], tuple[int, list[dict[Outputs, Streamed]]]] = {}
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
) -> list[dict[Outputs, Streamed]]:
    """What `liegg.polarization.streaming` would keep of the images for every network and either reading of the outputs."""
    samples = len(images)
    squared = gram.allowed(images.dtype) and samples > 2 * action.size
    with torch.inference_mode(False), torch.no_grad():
        sums = _on_cpu(_pass(stack, images, action, size, squared=squared))
    _check_finite(sums, stack, images)
    coarse = images.dtype != torch.float64
    noise = action.rounding_motion(
        images.dtype, float(sums.input_square) / samples, tuple(images.shape[1:])
    )
    counts = {"sum": samples, "each": samples * stack.weights[-1].shape[2]}
    kind = gram.Gram if squared else RFactor
    return [
        {
            outputs: Streamed(
                kind(rows[index], counts[outputs]),
                sums.moment,
                samples,
                float(square) / samples,
                "gram" if squared else "qr",
                COARSE_FLOOR if coarse else 0.0,
                noise,
            )
            for outputs, rows in sums.rows.items()
        }
        for index, square in enumerate(sums.output_square)
    ]


def _pass(
    stack: Stack, images: Float[Tensor, "n i"], action: Action, size: int, *, squared: bool
) -> Sums:
    """One pass over the images that reads nothing back from the device; rows are summed to Gram matrices or folded to R factors."""
    zero = torch.zeros(
        len(stack), action.size, action.size, dtype=torch.float64, device=images.device
    )
    each = summed = zero
    moment, output_square, input_square = zero[0], zero[:, 0, 0], zero[0, 0, 0]
    first_bad = torch.full_like(output_square, len(images), dtype=torch.int64)
    fold = _add if squared else _triangle
    generators = torch.eye(action.size, dtype=images.dtype, device=images.device)
    place = torch.arange(len(images), device=images.device)
    precomputed = None
    for x, where in zip(images.split(size), place.split(size), strict=True):
        precomputed = action.precompute(x, precomputed)
        y, slopes = push(stack, x, action.tangents(generators, x))
        columns = slopes.double()
        totals = columns.sum(3)
        each, summed = fold(each, columns.flatten(2).mT), fold(summed, totals.mT)
        moment = moment + action.moment(x, precomputed=precomputed)
        output_square = output_square + y.double().square().sum((1, 2))
        input_square = input_square + x.double().square().sum()
        finite = torch.isfinite(totals.sum(1) + y.sum(2))
        first_bad = torch.minimum(first_bad, torch.where(finite, len(images), where).amin(1))
    return Sums({"sum": summed, "each": each}, moment, output_square, input_square, first_bad)


def _add(matrix: Float[Tensor, "s g g"], rows: Float[Tensor, "s m g"]) -> Float[Tensor, "s g g"]:
    """Gram matrices with new rows, as `liegg.polarization.gram.update`."""
    return torch.baddbmm(matrix, rows.mT, rows)


def _triangle(r: Float[Tensor, "s g g"], rows: Float[Tensor, "s m g"]) -> Float[Tensor, "s g g"]:
    """R factors with new rows, as `liegg.polarization.r_factor.update`."""
    r = torch.linalg.qr(torch.cat([r, rows], dim=1), mode="r").R
    return r * torch.where(r.diagonal(dim1=1, dim2=2) < 0, -1.0, 1.0)[:, :, None]


def _on_cpu(sums: Sums) -> Sums:
    rows, *others = sums
    return Sums(
        {outputs: kept.cpu() for outputs, kept in rows.items()}, *(other.cpu() for other in others)
    )


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
    if not bool(torch.isfinite(sums.moment).all()):
        raise NonFiniteError(
            "the squared motion of the images overflows: their numbers are too large. Divide them by their largest."
        )
