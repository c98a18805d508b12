"""Restrict a model to the part that a question is about: the layers after one, a field of its output, a target in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.inputs.output_field import Field, field_settings, field_words, is_function, with_field
from liegg.inputs.probe import PROBE_SAMPLES, call, check_output
from liegg.inputs.target import PlainTarget, Target, check_target, plain_target, take, target_words


@dataclass(frozen=True)
class Part:
    """A part of a model and of what it returns.

    Attributes:
        output: field of the model's return value; None selects the obvious one.
        target: part of the output; None for the complete output.
        at: the layer behind which the part begins; None for the complete model.
    """

    output: Field = None
    target: PlainTarget = None
    at: str | None = None

    def settings(self) -> dict[str, Any]:
        """Convert the part to JSON values; functions are stored by name."""
        target = list(self.target) if isinstance(self.target, tuple) else self.target
        return {"output": field_settings(self.output), "target": target, "at": self.at}


def asked_part(output: Field, target: Target, *, equivariance: bool, at: str | None = None) -> Part:
    """The part that the user asks about.

    Args:
        output: field of the model's return value.
        target: part of the output.
        equivariance: whether an action moves the outputs.
        at: the layer behind which the part begins.

    Raises:
        ArgumentError: the target is invalid, or is combined with an output action.
    """
    if equivariance and target is not None:
        raise ArgumentError(
            f"target={target!r} was given with an output action, which moves all outputs together. Leave "
            "target out; or leave output_action out, to ask about invariance."
        )
    return Part(output, plain_target(target), at)


def part_of(settings: Mapping[str, Any], given: Part) -> Part:
    """Restore the part that a result is about.

    Args:
        settings: settings of the result; earlier versions store no part.
        given: the part passed with this call, which must match. Functions must be passed again, because
            results cannot store them.

    Raises:
        ArgumentError: the parts differ, or the function is missing.
    """
    output, target = settings.get("output"), settings.get("target")
    at = settings.get("at")
    stored = {"output": output, "target": target, "at": at}
    for name, value in given.settings().items():
        if value is not None and value != stored[name]:
            raise ArgumentError(
                f"{name}={value!r} was given with a result of discover() that has "
                f"{name}={stored[name]!r}. Leave {name} out, or ask discover() with that {name}."
            )
    if is_function(output):
        if given.output is None:
            raise ArgumentError(
                f"the result is about output={output!r}, a function of what the model returns, which "
                "cannot be stored. Pass the same function again with output=."
            )
        output = given.output
    return Part(output, plain_target(target), at)


def part_words(settings: Mapping[str, Any], model: str) -> str:
    """Describe in words what a result is about: the model, or a part of its output.

    Args:
        settings: settings of the result.
        model: name of the model.

    Examples:
        >>> part_words({}, "Net"), part_words({"target": 3, "output": "logits"}, "Net")
        ('Net', "the logit of class 3 of 'logits' of Net")
        >>> part_words({"at": "embeddings"}, "Net")
        "the output of Net behind 'embeddings'"
    """
    words = [target_words(settings.get("target")), field_words(settings.get("output")), model]
    if (at := settings.get("at")) is not None:
        words = ["" if any(words[:2]) else "the output", *words[:2], f"{model} behind {at!r}"]
    return " of ".join(filter(None, words))


def with_part(model: Model, x: Float[Tensor, "b ..."], part: Part) -> Model:
    """Restrict a model to a part of its output; classes are still read from the complete output.

    Args:
        model: the model, before `probe`.
        x: the first batch; a few of its samples are used.
        part: the part. Without one, `probe` selects a field if the model does not return a tensor.

    Raises:
        ArgumentError: the field does not exist, or the target does not fit the output.
        DtypeError: the field is ambiguous, or is not real floating point.
        ShapeError: the output does not have one entry per sample.
        ModelError: the model fails.
    """
    if part.output is None and part.target is None:
        return model
    x = x[evenly_spaced(x, PROBE_SAMPLES)]
    with torch.no_grad():
        model, y = with_field(model, call(model.function, x), part.output, samples=len(x))
    if part.target is None:
        return model
    check_output(y, x, model)
    check_target(part.target, y, model.name)
    return replace(
        model,
        function=partial(_taken, model.function, part.target),
        whole=model.function,
        target=partial(take, part.target),
    )


def _taken(function: Callable[[Tensor], Tensor], target: PlainTarget, x: Tensor) -> Tensor:
    return take(target, function(x).reshape(x.shape[0], -1))
