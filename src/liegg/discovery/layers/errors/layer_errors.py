"""Which layer breaks a symmetry: the equivariance error that each layer adds under a named motion."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.precision import coarsest, full_precision_products
from liegg.actions import Action, Motion
from liegg.actions.grid.pixel_motion import PixelMotion, pixel_motion
from liegg.decision.thresholds import Thresholds
from liegg.discovery.about.questions import motions_asked
from liegg.discovery.analyse import reading
from liegg.discovery.layers.errors.effect import Effect, Subject, effect, outputs
from liegg.discovery.layers.errors.measure import Local, Part, measure, run
from liegg.discovery.layers.hooks import Network, network_of
from liegg.discovery.layers.select import Layers, Selection, parse_selection, select_layers
from liegg.discovery.layers.trace import trace, with_arithmetic
from liegg.discovery.request import Request
from liegg.discovery.run import Run
from liegg.inputs.batches import Data
from liegg.inputs.model import Model
from liegg.inputs.output_field import OBVIOUS, fields_of
from liegg.inputs.task import labels_in, read_outputs
from liegg.results.layer_errors import Cause, LayerError, LayerErrors

QUARTER_TURN, OTHER_TURN = 90.0, 15.0
"""Default rotation in degrees: one that takes the pixels of a square to pixels, and one for other grids."""

ROUNDINGS = 16
"""Rounding units by which a layer may be off on a moved map."""

NO_ERROR = 1e-9
"""Error, relative to the variance, that counts as none in any precision."""


@checked()
@one_at_a_time
def layer_errors(
    model: Any,
    data: Data,
    action: Action,
    about: Any = "rotation",
    *,
    size: float | None = None,
    layers: Layers = None,
    samples: int = 64,
    effects: bool = True,
    target: Literal["classes", "values"] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> LayerErrors:
    r"""Find the layers that break a symmetry: the equivariance error that each adds under one motion.

    A layer is given its own input $u$, moved as a feature map, and its output is compared with the moved
    output: $|l(gu) - g\,l(u)|^2$ relative to the variance of $l(u)$, at all pixels and at those that see
    nothing of the border. Vectors, such as the output of global pooling, do not move. Then the error of
    each layer alone is put into the network, and the change of the output is its effect.

    Args:
        model: `nn.Module`, run in eval mode through a copy with hooks; it is left as it was.
        data: as for `discover`.
        action: an image, volume or sequence action, such as `liegg.Image()`. Its border rule says what
            lies beyond the border of feature maps as well.
        about: name of one motion, such as `"rotation"`, `"shift"`, `"scaling"` or `"shear"`, or a mapping
            from one name to generators. The errors of several generators are averaged.
        size: how far to move, in the unit of the motion: degrees, pixels of the input, or per cent. Sizes
            that take pixels to pixels need no interpolation, such as 90° for square maps, or shifts by a
            multiple of the network's stride. By default 90° (15° if the grid is not square), 1 pixel, or
            the largest size that `about=` of `discover` uses.
        layers: which layers, as for `discover_layers`.
        samples: most samples, evenly spaced in the data, or in its first batch if it cannot be indexed.
        effects: whether to measure the effect on the output, which takes a run of the network
            per layer that adds something; otherwise the table has the errors alone.
        target: what several outputs are, as for `discover`: of `"classes"`, the predictions that change are counted.
        seed: seed of whatever a loader draws.
        progress: called after each layer with 1 and the number of layers whose effect is measured.

    Returns:
        The layers with their errors, a sentence, and the shares of padding, stride, pooling,
        nonlinearity and filters.

    Raises:
        LieggError: invalid data or arguments, a motion that does not move places, or a size that moves
            everything out of the grid.

    Examples:
        >>> import liegg
        >>> _ = torch.manual_seed(0)
        >>> model = nn.Sequential(
        ...     nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        ... ).double()
        >>> x = torch.randn(8, 1, 8, 8, dtype=torch.float64)
        >>> found = layer_errors(model, x, liegg.Image("affine"), "shift", size=2)
        >>> [layer.main_cause for layer in found.worst]
        ['padding']
    """
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise ArgumentError(
            f"model is a {kind}; layer_errors needs an nn.Module, whose layers are modules."
        )
    if samples < 2:
        raise ArgumentError(f"samples={samples}: expected 2 or more, for example samples=64.")
    request = Request(
        data=data,
        action=action,
        output_action=None,
        outputs="each",
        thresholds=Thresholds(),
        run=Run(seed=seed),
        about=about,
        task=target or "auto",
    )
    selection = parse_selection(layers)
    with reading(model, request) as (function, batches, (_, first), rest):
        rest.close()
        name, motion = _one_motion(request, first)
        x = batches.some(samples, first)
        if len(x) < 2:
            raise ArgumentError("layer_errors compares samples; the data has only one.")
        module = cast(nn.Module, function.function)
        network = with_arithmetic(network_of(module, function.name), first)
        with full_precision_products():
            length = _length(name, motion, size, tuple(action.staged(x[:1]).shape[2:]))
            moves = _moves(name, motion, action, length, x=x)
            subject, task_note = _subject(network, x, request if effects else None)
            (output, changed), found, notes = _measured(
                subject, moves, selection, action, progress=progress
            )
    return LayerErrors(
        motion=name,
        size=length,
        unit=motion.unit,
        model=function.name,
        action=action,
        samples=len(x),
        output=output,
        changed=changed,
        layers=found,
        floor=subject.floor,
        notes=(*function.notes, *notes, *filter(None, [task_note])),
    )


def _one_motion(request: Request, first: Float[Tensor, "b ..."]) -> tuple[str, Motion]:
    """The motion in question."""
    shape = tuple(first.shape[1:])
    motions = motions_asked(request.about, request.action, shape)
    if len(motions) != 1:
        names = ", ".join(map(repr, motions)) or "none"
        raise ArgumentError(
            f"about= names {names}; layer_errors takes one motion at a time, for example "
            "about='rotation'."
        )
    return next(iter(motions.items()))


def _length(name: str, motion: Motion, size: float | None, sides: tuple[int, ...]) -> float:
    """The size of the motion, in its unit."""
    if size is not None:
        motion.time(size)  # refuses what is not a size
        return size
    if motion.unit == "°" and motion.longest is None:
        return QUARTER_TURN if len(set(sides)) == 1 else OTHER_TURN
    if motion.unit == "pixels":
        return 1.0
    if motion.longest is None:
        raise ArgumentError(f"size= is needed for {name!r}, which has no size of its own.")
    return motion.size(motion.longest) if motion.unit else motion.longest


def _moves(
    name: str, motion: Motion, action: Action, length: float, *, x: Float[Tensor, "n ..."]
) -> list[PixelMotion]:
    """The motion of every generator, in pixels."""
    shape = tuple(x.shape[1:])
    time = motion.time(length)
    moves = [
        pixel_motion(motion.action or action, time * row, shape, repr(name))
        for row in motion.generators
    ]
    sides = tuple(action.staged(x[:1]).shape[2:])
    for move in moves:
        if not bool(move.inside(sides, (1.0,) * len(sides)).any()):
            raise ArgumentError(
                f"size={length:g}: {name} moves everything out of a grid of "
                f"{' × '.join(map(str, sides))} pixels. Choose a smaller size."
            )
    return moves


def _measured(
    subject: Subject,
    moves: Sequence[PixelMotion],
    selection: Selection,
    action: Action,
    *,
    progress: Callable[[int, int], object] | None,
) -> tuple[tuple[float, float], tuple[LayerError, ...], tuple[Remark, ...]]:
    """Error of the output and predictions changed, errors of the layers, and notes."""
    network, x = subject.network, subject.x
    calls, _ = trace(network, x, lambda call, module: selection.pick(call, module, network))
    chosen, notes = select_layers(calls, selection, network)
    leaves = frozenset(call.name for call in calls if call.leaf)
    chosen = [
        layer
        for layer in chosen
        if (layer.named or not layer.same)
        and (layer.name in leaves or network.parts[layer.module] is not network.root)
    ]
    view = tuple(action.staged(x[:1]).shape[1:])
    runs = [measure(network, x, move, chosen, view=view, leaves=leaves) for move in moves]
    parts = {
        name: part for name, part in runs[0].parts.items() if all(name in one.parts for one in runs)
    }
    left_out = {name: note for one in runs for name, note in one.notes.items()}
    if not parts:
        reasons = "; ".join([*notes, *left_out.values()]) or "it calls no module"
        raise ModelError(f"no layer of {network.name} can be measured: {reasons}.")
    layers = []
    for part in parts.values():
        each = [one.errors[part.layer.name] for one in runs]
        found = [
            effect(subject, part, move, local.added)
            for move, local in zip(moves, each, strict=True)
        ]
        layers.append(_record(part, each, found))
        if progress is not None:
            progress(1, len(parts))
    output = sum(one.output for one in runs) / len(runs)
    changed = sum(one.changed for one in runs) / len(runs) if subject.classes else math.nan
    border = [layer.name for layer in layers if layer.pads and math.isnan(layer.interior)]
    small = (Diagnosis.LAYERS_ALL_BORDER(layers=", ".join(border)),) if border else ()
    return (output, changed), tuple(layers), (*notes, *left_out.values(), *small)


def _subject(
    network: Network, x: Float[Tensor, "n ..."], request: Request | None
) -> tuple[Subject, Remark | None]:
    """The network with its samples, and how its outputs were read; these are left out without a request."""
    subject = Subject(network, x, _floor(network, x))
    if request is None:
        return subject, None
    shape = tuple(run(network, x[:1]).shape[1:])
    field = OBVIOUS if OBVIOUS in fields_of(network.root(x[:1])) else None
    y = outputs(network, x)
    model = Model(
        network.root,
        network.name,
        output_shape=shape,
        arithmetic=network.arithmetic,
        output_field=field,
    )
    labels = labels_in(request.data, y.shape[1])
    read = read_outputs(model, y, task=request.task, labels=labels, signals=True)
    return subject._replace(y=y, classes=read.classes), read.note


def _floor(network: Network, x: Float[Tensor, "n ..."]) -> float:
    """Error that rounding alone may cause, relative to a variance."""
    eps = torch.finfo(coarsest(x.dtype, network.arithmetic)).eps
    return max(NO_ERROR, (ROUNDINGS * eps) ** 2)


def _record(part: Part, each: Sequence[Local], effects: Sequence[Effect]) -> LayerError:
    """The record of a layer: means over the generators."""

    def mean(of: Callable[[Local], float]) -> float:
        return sum(map(of, each)) / len(each)

    cause = part.traits.cause
    if part.before.is_map and not part.after.is_map:
        cause: Cause = "global pooling" if part.traits.role == "pooling" else "flattening"
    elif cause == "other" and part.before.sides != part.after.sides:
        cause = "stride or pooling"
    return LayerError(
        name=part.layer.name,
        kind=part.layer.kind,
        role=part.traits.role,
        shape=part.layer.shape,
        cause=cause,
        pads=part.traits.pads,
        total=mean(lambda one: one.total),
        added=mean(lambda one: one.added),
        interior=mean(lambda one: one.interior),
        unstrided=mean(lambda one: one.unstrided),
        resampling=mean(lambda one: one.resampling),
        exact=all(one.exact for one in each),
        effect=sum(one.change for one in effects) / len(effects),
        changed=sum(one.changed for one in effects) / len(effects),
    )
