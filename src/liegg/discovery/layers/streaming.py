"""One pass over the data for all layers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.device import DeferredCheck
from liegg._utils.errors import ModelError, NonFiniteError
from liegg._utils.precision import coarsest, convolves, rounding_unit
from liegg.actions import Action
from liegg.discovery.layers import block_squares, fold
from liegg.discovery.layers.fold import FoldPlan, LayerSums, buffer_for
from liegg.discovery.layers.hooks import Layer, Network
from liegg.discovery.layers.tangents import TangentPlan, push_tangents
from liegg.polarization import displacement, gram, sample_sketch
from liegg.polarization.displacement import Workspace
from liegg.polarization.plan import Plan
from liegg.polarization.sample_blocks import BlockAssigner, Parts, count_for
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.state import RowSums, finalise_rows
from liegg.polarization.streaming import PassSums, run_in_pieces
from liegg.results.layers import Problem

LAYER_TANGENT_NUMBERS = {"cpu": 2**23, "cuda": 2**29}
"""Most numbers in the widest output and its tangents: 32 MB and 2 GB in float32.

Forward mode holds a few such tensors at a time."""

BYTES_PER_NUMBER = 64
"""Bytes of a GPU's free memory per such number."""

PIECES = 8
"""Pieces in which tangents of that size are computed."""


@dataclass(frozen=True, eq=False)
class LayerPass:
    """How a pass over all layers is made.

    Attributes:
        network: the network.
        action: candidate generators.
        first: the first batch, for precision and device.
        tangents: how tangents are computed, and for which layers.
        plans: which outputs get rows, by layer.
        output_actions: action on the outputs, by layer; None where there is none.
        widest: numbers in a sample or in the widest output of one.
    """

    network: Network
    action: Action
    first: Float[Tensor, "b ..."]
    tangents: TangentPlan
    plans: Mapping[str, Plan]
    output_actions: Mapping[str, Action | None]
    widest: int

    @property
    def blocks(self) -> int:
        """Number of blocks of samples; 1 if memory does not allow enough of them."""
        most = max((action.size for action in self.output_actions.values() if action), default=0)
        return count_for(most + self.action.size)

    @property
    def unit(self) -> float:
        """Rounding unit of the network's arithmetic."""
        dtype = coarsest(self.first.dtype, self.network.arithmetic)
        return rounding_unit(dtype, self.first.device, convolves=convolves(self.network.root))


def stream_layers(
    plan: LayerPass,
    numbered: Iterable[tuple[int, Float[Tensor, "b ..."]]],
    *,
    progress: Callable[[int], object] | None = None,
) -> dict[str, dict[Problem, PassSums]]:
    """Push the tangents of every batch through the network once, and fold the rows of all layers.

    Batches are split so that the widest output of the network and its tangents stay within
    `LAYER_TANGENT_NUMBERS`; no other memory grows with the data or with the number of layers.

    Args:
        plan: how the pass is made.
        numbered: batches, each with the position of its first sample in the data.
        progress: called with the number of samples after each part of a batch.

    Returns:
        For every layer what later stages need of each of its problems, on the CPU.

    Raises:
        NonFiniteError: an output or a derivative is not finite; the message names layer and sample.
        ModelError: the network does not make the same calls on every batch.
        DeviceMemoryError: not even one sample fits into device memory.
    """
    action, device = plan.action, plan.first.device
    numbers = numbers_on(device)
    size = max(1, numbers // ((1 + action.size) * plan.widest))
    plans = _fold_plans(plan, buffer_for(action.size, plan.widest, size, device))
    check, workspace = DeferredCheck(), Workspace(action)
    tangents = torch.empty(0, dtype=plan.first.dtype, device=device)
    assigner, sketch = BlockAssigner(plan.blocks), sample_sketch.init()
    samples = torch.zeros(plan.blocks, dtype=torch.int64)
    inputs, fits = displacement.init(action, plan.first, plan.blocks), 0
    sums = {name: fold.init(action.size, how, plan.blocks) for name, how in plans.items()}

    def prepare(x: Tensor, number: int) -> Callable[[], None]:
        nonlocal tangents
        hashes = sample_hashes(x).cpu()  # before the rows, which a GPU still computes
        block = assigner.assign(number, hashes)
        workspace.prepare(x)
        tangents = _tangents(action, x, tangents, numbers // PIECES)
        more, finite = _fold_rows(
            plan, plans, sums, x, tangents=tangents, number=number, block=block
        )
        moved = displacement.update(inputs, x, workspace, block)

        def commit() -> None:
            nonlocal inputs, sums, samples, sketch
            samples = samples + torch.bincount(block, minlength=plan.blocks)
            sketch = sample_sketch.update(sketch, hashes, x)
            # One answer from the device for all layers.
            passed = torch.stack([flags.all() for flags in finite.values()]).all()
            check.submit(passed, partial(_raise_nonfinite, finite, plan.network, number))
            inputs, sums = moved, more

        return commit

    def recover(samples: int) -> None:
        nonlocal tangents, fits
        check.resolve()
        workspace.clear()
        tangents, fits = tangents.new_empty(0), samples

    run_in_pieces(numbered, size, prepare, recover=recover, progress=progress)
    check.resolve()
    moment, floor, noise = displacement.finalise(inputs, action, plan.first)
    finalised = partial(PassSums, moment=moment, trivial_floor=floor, noise=noise, fits=fits)

    def parts(state: block_squares.BlockSquares | None) -> Parts | None:
        return (
            None
            if state is None
            else block_squares.finalise(state, inputs.moments, samples, sketch)
        )

    return {
        name: _finalise(layer, inputs.samples, finalised, parts) for name, layer in sums.items()
    }


def _fold_plans(plan: LayerPass, buffer: Float[Tensor, " n"]) -> dict[str, FoldPlan]:
    """How the rows of every layer are folded."""
    return {
        layer.name: FoldPlan(
            plan.plans[layer.name], buffer, plan.unit, layer.shape, plan.output_actions[layer.name]
        )
        for layer in plan.tangents.layers
    }


def _fold_rows(
    plan: LayerPass,
    plans: Mapping[str, FoldPlan],
    sums: Mapping[str, LayerSums],
    x: Float[Tensor, "b ..."],
    *,
    tangents: Float[Tensor, "g b ..."],
    number: int,
    block: Int[Tensor, " b"],
) -> tuple[dict[str, LayerSums], dict[str, Bool[Tensor, " b"]]]:
    """Sums of all layers with the rows of one more batch, and which of its samples are finite."""
    more, finite = dict(sums), {}
    squared = gram.allowed(x.dtype) and number + len(x) > 2 * plan.action.size

    def visit(layer: Layer, y: Tensor, slopes: Tensor) -> None:
        name = layer.name
        more[name], finite[name] = fold.update(
            more[name], y, slopes, plans[name], squared=squared, first=number, block=block
        )

    missing = push_tangents(
        plan.network,
        x,
        tangents,
        plan.tangents.layers,
        visit=visit,
        batching=plan.tangents.batching,
        copy=plan.tangents.writes,
    )
    for name, reason in missing.items():
        raise ModelError(
            f"layer {name!r} of {plan.network.name} was reached before, but not at samples {number} "
            f"to {number + len(x) - 1} ({reason}). Every batch must run through the same layers."
        )
    return more, finite


def _finalise(
    sums: LayerSums,
    samples: int,
    finalised: Callable[..., PassSums],
    parts: Callable[[block_squares.BlockSquares | None], Parts | None],
) -> dict[Problem, PassSums]:
    """What later stages need of one layer; `finalised` and `parts` know what all layers share."""
    blocks = {"invariance": parts(sums.blocks), "equivariance": parts(sums.pair_blocks)}
    lengths: dict[Problem, Tensor] = {
        "invariance": sums.square,
        "unit": sums.nonzero,
        "equivariance": sums.square,
    }
    problems: dict[Problem, PassSums] = {}
    for problem, square in lengths.items():
        rows: RowSums | None = getattr(sums, problem)
        if rows is not None:
            factor, accumulator = finalise_rows(rows)
            mean = float(square) / samples
            problems[problem] = finalised(
                rows=factor,
                samples=samples,
                output_square=mean,
                accumulator=accumulator,
                parts=blocks.get(problem),
            )
    return problems


def numbers_on(device: torch.device) -> int:
    """Numbers in the widest output and its tangents that a device can hold."""
    if device.type != "cuda":
        return LAYER_TANGENT_NUMBERS["cpu"]
    free = torch.cuda.mem_get_info(device)[0]
    return max(
        LAYER_TANGENT_NUMBERS["cpu"], min(LAYER_TANGENT_NUMBERS["cuda"], free // BYTES_PER_NUMBER)
    )


def _tangents(
    action: Action, x: Float[Tensor, "b ..."], buffer: Float[Tensor, "..."], most: int
) -> Float[Tensor, "g b ..."]:
    """Velocities of all samples under all generators, computed piece by piece into a buffer."""
    size = action.size * x.numel()
    if buffer.numel() < size:
        buffer = torch.empty(size, dtype=x.dtype, device=x.device)
    tangents = buffer.view(-1)[:size].view(action.size, *x.shape)
    generators = torch.eye(action.size, dtype=x.dtype, device=x.device)
    step = max(1, most * len(x) // size)
    for piece, target in zip(x.split(step), tangents.split(step, dim=1), strict=True):
        target.copy_(action.tangents(generators, piece))
    return tangents


def _raise_nonfinite(
    finite: Mapping[str, Bool[Tensor, " b"]], network: Network, first: int
) -> None:
    """Raise `NonFiniteError` naming the first layer and sample with a number that is not finite."""
    name, flags = next((name, flags) for name, flags in finite.items() if not bool(flags.all()))
    raise NonFiniteError(
        f"the output of layer {name!r} of {network.name}, or its derivative, is NaN, infinite or "
        f"too large to be squared for sample {first + int(flags.to(torch.int8).argmin())}. Check "
        "the layer there, or remove the sample."
    )
