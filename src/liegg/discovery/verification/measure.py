"""Finite motions of samples, and how much they change the output."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import call_in_parts, layout
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.model import Model
from liegg.inputs.pieces import BATCH_ELEMENTS, BATCH_SIZE, GPU_FACTOR
from liegg.inputs.task import SIGNALS, predicted, read_outputs

CONSTANT = 4.0
"""Rounding units of the model's dtype up to which the outputs of all samples are equal."""

CPU_ELEMENTS = 2**18
"""Most numbers per call of a model on a CPU: activations of larger batches leave the cache, which
makes a small convolutional network on images of 64 x 64 pixels about three times slower."""

OUTPUT_UNITS = 100.0
"""Rounding units of the model's dtype, relative to its outputs, that a change may be off by."""

LARGEST_ROUNDING = 0.05
"""Largest share of the outputs that rounding may change; with more, half precision would excuse everything."""


@dataclass
class Meter:
    """Counts samples that a model evaluates, and reports them.

    Attributes:
        report: called with `done` and `total`; None for nothing.
        total: evaluations expected, at least 1.
        done: evaluations so far, at most `total`.
    """

    report: Callable[[int, int], object] | None = None
    total: int = 1
    done: int = 0

    def advance(self, count: int) -> None:
        """Count evaluations."""
        self.done = min(self.done + count, self.total)
        if self.report is not None:
            self.report(self.done, self.total)

    def finish(self) -> None:
        """Report the end."""
        self.advance(self.total)


class Directions(NamedTuple):
    """Coefficients of motions, one per row.

    Attributes:
        h: of the input.
        k: of the output motion that goes with it; None for invariance.
    """

    h: Float[Tensor, "m g"]
    k: Float[Tensor, "m p"] | None

    def map(self, function: Callable[[Tensor], Tensor]) -> "Directions":
        """A function of the coefficients of both."""
        return Directions(function(self.h), None if self.k is None else function(self.k))

    def rows(self, some: slice | list[int] | Int[Tensor, " r"]) -> "Directions":
        """Some of the motions."""
        return self.map(lambda part: part[some])

    def scaled(self, by: float) -> "Directions":
        """Every motion times a number."""
        return self.map(lambda part: part * by)

    def along(self, times: Float[Tensor, "*m t"]) -> "Directions":
        """All motions at all times, or each at times of its own; time after time within a motion."""
        return self.map(lambda part: (times[..., None] * part[:, None]).flatten(0, 1))


@dataclass(frozen=True, eq=False)
class Question:
    """A model with samples that are moved.

    Motions are computed in float64, so that the only rounding left is the model's own.

    Attributes:
        model: the probed model.
        action: on the input.
        output_action: on the output; None for invariance.
        x: samples in the model's dtype.
        meter: counts the samples that the model evaluates.
        classes: whether the largest of several outputs is a prediction; None finds out.
        most: samples per call of the model, at most; None for the usual number.
    """

    model: Model
    action: Action
    output_action: Action | None
    x: Float[Tensor, "n ..."]
    meter: Meter = field(default_factory=Meter)
    classes: bool | None = None
    most: int | None = None

    @property
    def eps(self) -> float:
        """Spacing of numbers around 1 in the coarsest arithmetic of the model."""
        return torch.finfo(coarsest(self.x.dtype, self.model.arithmetic)).eps

    @cached_property
    def complete(self) -> Float[Tensor, "n k"]:
        """Complete outputs of the samples before any motion, from which their classes are read."""
        return torch.cat([self.reply(self.x[part]) for part in self.parts])

    @cached_property
    def has_classes(self) -> bool:
        """Whether the largest of several outputs is a prediction."""
        if self.output_action is not None or self.complete.shape[1] < 2:
            return False
        if self.classes is not None:
            return self.classes
        return read_outputs(self.model, self.complete, signals=self.action.stage in SIGNALS).classes

    @cached_property
    def y(self) -> Float[Tensor, "n c"]:
        """Outputs of the samples before any motion."""
        return self.taken(self.complete, slice(None))

    @cached_property
    def variance(self) -> float:
        """Mean squared distance of the outputs from their mean."""
        return float((self.y - self.y.mean(0)).square().sum(1).mean())

    @cached_property
    def output_square(self) -> float:
        """Mean squared length of the outputs."""
        return float(self.y.square().sum(1).mean())

    @cached_property
    def spread(self) -> float:
        """Root mean square distance of the samples from their mean; their size if all are equal."""
        flat = self.action.moving(self.x).double().flatten(1)
        movable = self.action.movable(self.x)
        if movable is None:
            about = (flat - flat.mean(0)).square().sum(1).mean().sqrt()
        else:  # points that a sample does not have are not away from the mean
            known = movable.flatten(1)
            mean = flat.sum(0) / known.sum(0).clamp_min(1)
            about = ((flat - mean) * known).square().sum(1).mean().sqrt()
        return float(about) or float(flat.square().sum(1).mean().sqrt())

    @property
    def parts(self) -> list[slice]:
        """Slices of the samples that fit into a batch."""
        most = min(self.most or BATCH_SIZE, max(1, self.capacity // self.x[0].numel()))
        return [slice(start, start + most) for start in range(0, len(self.x), most)]

    @property
    def capacity(self) -> int:
        """Most numbers per call of the model; a GPU idles between small ones."""
        if self.x.device.type == "cpu":
            return min(BATCH_ELEMENTS, CPU_ELEMENTS)
        return (GPU_FACTOR if self.x.device.type == "cuda" else 1) * BATCH_ELEMENTS

    @property
    def room(self) -> int:
        """Most samples per call of the model."""
        most = min(self.most or BATCH_SIZE, self.capacity // self.x[0].numel())
        outputs = BATCH_ELEMENTS // max(1, self.complete[0].numel())
        return max(1, min(most, outputs))

    def share(self, which: int, of: int) -> "Question":
        """The same question about every `of`-th sample; f(x) is not evaluated again; its variance and the spread are those of all."""
        x = self.x[which::of].clone(memory_format=layout(self.x))
        one = self.changed(self.complete[which::of], x=x, classes=self.has_classes)
        one.__dict__.update(variance=self.variance, spread=self.spread)
        return one

    def changed(self, complete: Float[Tensor, "m k"], **changes: Any) -> "Question":
        """The question with other fields, and with complete outputs that are known, so that they are not evaluated again."""
        one = replace(self, **changes)
        one.__dict__["complete"] = complete
        return one

    @property
    def resamples(self) -> bool:
        """Whether moving interpolates."""
        actions = (self.action, self.output_action)
        return any(action.interpolates for action in actions if action is not None)

    def distance(self, h: Float[Tensor, " g"], other: Float[Tensor, " g"] | None = None) -> float:
        """Root mean square distance of moved samples from the start, or from another motion's end."""
        total = 0.0
        for part in self.parts:
            x = self.x[part].double()
            gap = self.action.act(h, x) - (x if other is None else self.action.act(other, x))
            total += float(gap.square().sum())
        return (total / len(self.x)) ** 0.5

    def slope_gaps(self, h: Float[Tensor, "m g"], samples: int = 16) -> Float[Tensor, " m"]:
        """Mean squared difference of the initial velocity of finite motions and the action's field.

        Between pixels both are approximations, by different schemes, so no slope of the output is
        known better than this. A few samples suffice.
        """
        x = self.x[:samples].double()
        gaps = []
        for row in h:
            field = self.action.field(row.to(x), x).flatten(1)
            step = 1e-4 * self.spread / max(float(field.square().sum(1).mean().sqrt()), 1e-300)
            there, back = (self.action.act(sign * step * row, x).flatten(1) for sign in (1, -1))
            gaps.append(((there - back) / (2 * step) - field).square().sum(1).mean())
        return torch.stack(gaps).cpu()

    def outputs(self, h: Float[Tensor, "m g"], part: slice) -> Float[Tensor, "m b c"]:
        """Outputs of some samples after every motion."""
        return self.taken(torch.cat([complete for _, _, complete in self.moved(h, part)]), part)

    def moved(
        self, h: Float[Tensor, "m g"], part: slice
    ) -> Iterator[tuple[slice, Float[Tensor, "r b ..."], Float[Tensor, "r b k"]]]:
        """Move some samples, by as many motions at a time as fit into memory.

        Yields:
            Which motions these are, the samples after each of them, and their complete outputs.
        """
        for rows, ends in self.ends(h, part):
            yield rows, ends, self.reply(ends.flatten(0, 1)).unflatten(0, ends.shape[:2])

    def ends(
        self, h: Float[Tensor, "m g"], part: slice
    ) -> Iterator[tuple[slice, Float[Tensor, "r b ..."]]]:
        """Some samples after as many motions at a time as fit into memory, and which motions these are."""
        x = self.x[part].double()
        room = max(1, self.room // len(x))
        for start in range(0, len(h), room):
            rows = slice(start, start + room)
            yield rows, self.action.act_all(h[rows], x)

    def squares(
        self, complete: Float[Tensor, "r b k"], k: Float[Tensor, "r p"] | None, part: slice
    ) -> Float[Tensor, "r b"]:
        """Squared distance of the outputs of some samples from their targets after every motion."""
        return (self.taken(complete, part) - self.targets(k, part)).square().sum(2)

    def reply(self, moved: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Complete outputs of moved samples, given to the model in the dtype and layout of the samples."""
        moved = moved.to(self.x.dtype, memory_format=layout(self.x))
        replies = call_in_parts(self.model.complete, moved).double()
        self.meter.advance(len(moved))
        return replies

    def taken(self, complete: Float[Tensor, "... b k"], part: slice) -> Float[Tensor, "... b c"]:
        """Outputs from complete ones of some samples; the classes of a target are those before any motion."""
        if self.model.target is None:
            return complete
        return self.model.target(complete, self.complete[part].argmax(1))

    def targets(self, k: Float[Tensor, "m p"] | None, part: slice) -> Float[Tensor, "_ b c"]:
        """Targets of the outputs of some samples after every motion; the same for all if outputs stay."""
        y = self.y[part]
        if self.output_action is None or k is None:
            return y[None]
        shaped = y.reshape(len(y), *self.model.output_shape)
        return torch.stack([self.output_action.act(row, shaped).reshape(y.shape) for row in k])


def changes(question: Question, motions: Directions) -> Float[Tensor, "2 m"]:
    """What every motion does to the output.

    Returns:
        The mean squared distance from the target over the variance, infinite where an output is not
        finite; and the share of samples for which another one of the complete outputs is the largest,
        which has a meaning if outputs are classes.
    """
    totals = torch.zeros(2, len(motions.h), dtype=torch.float64, device=question.y.device)
    for part in question.parts:
        before = question.complete[part].argmax(1)
        for rows, _, complete in question.moved(motions.h, part):
            totals[0, rows] += question.squares(complete, motions.rows(rows).k, part).sum(1)
            totals[1, rows] += (predicted(complete) != before).sum(1)
    change, others = totals.cpu() / len(question.x)
    change = (change / question.variance).nan_to_num(nan=torch.inf, posinf=torch.inf)
    return torch.stack([change, others])


def there_and_back(question: Question, motions: Directions) -> Float[Tensor, " m"]:
    """Half of the mean squared change of the output by moving samples (and outputs) there and back.

    This interpolates twice where a motion interpolates once. Independent errors double, blur
    quadruples, what leaves at the border does so once; half is between them.
    """
    total = torch.zeros(len(motions.h), dtype=torch.float64, device=question.x.device)
    for part in question.parts:
        x, y = question.x[part].double(), question.y[part]
        shaped = y.reshape(len(y), *question.model.output_shape)
        for i, h in enumerate(motions.h):
            back = question.action.act(-h, question.action.act(h, x))
            total[i] += (question.taken(question.reply(back), part) - y).square().sum()
            if question.output_action is not None and motions.k is not None:
                k, act = motions.k[i], question.output_action.act
                total[i] += (act(-k, act(k, shaped)) - shaped).square().sum()
    return total / (2 * len(question.x))


def summed(model: Model) -> Model:
    """The sum of a model's outputs; the classes stay those of the complete output."""
    taken = model.target

    def total(outputs: Tensor, classes: Tensor) -> Tensor:
        return (outputs if taken is None else taken(outputs, classes)).sum(-1, keepdim=True)

    return replace(
        model,
        function=lambda x: model(x).sum(1, keepdim=True),
        output_shape=(1,),
        whole=model.whole or model.function,
        target=total,
    )
