"""The target: the part of a classifier's output that the question is about.

The class of a sample is the place of its largest output. It is always taken of the complete output,
never of the target.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError

Target = int | str | Sequence[int] | None
"""A class, several classes, `"3 minus 5"`, `"margin"`, `"probabilities"` or `"log_probabilities"`; None
for everything, and so `"classes"` and `"values"`, which `liegg.inputs.task` reads."""

PlainTarget = int | str | tuple[int, ...] | None
"""A target in its plainest form, see `plain_target`."""

NAMED_TARGETS = ("margin", "probabilities", "log_probabilities")
"""Targets that need the outputs of all classes."""

DIFFERENCE = re.compile(r"\s*(\d+)\s+minus\s+(\d+)\s*")
"""The output of one class minus that of another."""

EXPECTED_TARGET = (
    "a class such as target=3, several such as target=[3, 5], a difference such as target='3 minus 5', "
    "'margin', 'probabilities' or 'log_probabilities', or for all outputs 'classes' or 'values'"
)

LISTED_CLASSES = 6
"""Most classes named in a headline."""

SUM_UNITS = 100.0
"""Rounding units by which probabilities may miss the sum of one."""


def plain_target(target: Any) -> PlainTarget:
    """A target in its plainest form.

    Raises:
        ArgumentError: it is none of the forms, names a class twice, or a negative one.

    Examples:
        >>> plain_target([3, 5]), plain_target(" 3  minus 5"), plain_target([4])
        ((3, 5), '3 minus 5', 4)
    """
    if target is None or (isinstance(target, str) and target in NAMED_TARGETS):
        return target
    if isinstance(target, str):
        if (pair := DIFFERENCE.fullmatch(target)) is None:
            raise ArgumentError(f"target={shown(target)}: expected {EXPECTED_TARGET}.")
        one, other = map(int, pair.groups())
        if one == other:
            raise ArgumentError(f"target={shown(target)} is 0 everywhere: name two classes.")
        return f"{one} minus {other}"
    classes = (target,) if isinstance(target, int) else tuple(target)
    for one in classes:
        if isinstance(one, bool) or not isinstance(one, int) or one < 0:
            raise ArgumentError(
                f"target={shown(target)}: classes are whole numbers, counted from 0. Expected {EXPECTED_TARGET}."
            )
    if not classes:
        raise ArgumentError(f"target={shown(target)} names no class; expected {EXPECTED_TARGET}.")
    if len(set(classes)) < len(classes):
        raise ArgumentError(f"target={shown(target)} names a class twice. Name each class once.")
    first, *others = classes
    return classes if others else first


def check_target(target: PlainTarget, y: Float[Tensor, "b ..."], name: str) -> None:
    """Check a target against outputs.

    Args:
        target: in its plainest form.
        y: complete outputs of a few samples.
        name: of the model.

    Raises:
        ArgumentError: there is one output only, no such class, no axis of classes, or the outputs are
            probabilities already.
    """
    count, shape = math.prod(y.shape[1:]), tuple(y.shape[1:])
    if count < 2:
        raise ArgumentError(
            f"target={target!r}: {name} has one output only, so there is nothing to choose. Leave target out."
        )
    if (largest := max(classes_of(target), default=0)) >= count:
        raise ArgumentError(
            f"target={target!r}: {name} has {count} outputs, counted from 0, and so no class {largest}. "
            f"The last one is target={count - 1}."
        )
    if target not in NAMED_TARGETS:
        return
    if count != max(shape):
        place = "[:, -1]" if len(shape) == 2 else "[:, :, 0, 0]"
        raise ArgumentError(
            f"target={target!r}: an output of {name} has shape {shape}; expected one axis of classes. "
            f"Choose a place first, for example output=lambda y: y{place}."
        )
    if target != "margin" and is_normalised(y.detach().reshape(len(y), -1).double(), y.dtype):
        raise ArgumentError(
            f"target={target!r}: the outputs of {name} are probabilities already (positive, with the sum 1). "
            "Leave target out."
        )


def classes_of(target: PlainTarget) -> tuple[int, ...]:
    """Classes that a target names.

    >>> classes_of((3, 5)), classes_of("3 minus 5"), classes_of("margin")
    ((3, 5), (3, 5), ())
    """
    if isinstance(target, int):
        return (target,)
    if isinstance(target, str):
        pair = DIFFERENCE.fullmatch(target)
        return () if pair is None else (int(pair[1]), int(pair[2]))
    return target or ()


def take(
    target: PlainTarget, outputs: Float[Tensor, "... k"], classes: Int[Tensor, "..."] | None = None
) -> Float[Tensor, "... c"]:
    r"""The target of complete outputs.

    The margin is $z_c - \max_{j \ne c} z_j$ with $c$ the class of the sample. Along a motion $c$ stays
    that of the unmoved sample, so the margin is continuous and turns negative where the motion changes
    the prediction. At the sample itself, and so for derivatives, it is the largest output minus the
    second largest.

    Args:
        target: in its plainest form.
        outputs: complete outputs, flattened.
        classes: class of every sample before it was moved; None for that of the outputs themselves.

    Examples:
        >>> z = torch.tensor([[1.0, 4.0, 2.0]])
        >>> take("margin", z), take("margin", z, torch.tensor([2])), take("0 minus 2", z)
        (tensor([[2.]]), tensor([[-2.]]), tensor([[-1.]]))
    """
    if target == "margin":
        return _margin(outputs, classes)
    if target in ("probabilities", "log_probabilities"):
        dtype = torch.promote_types(
            outputs.dtype, torch.float32
        )  # half precision has no digits to spare
        function = torch.softmax if target == "probabilities" else torch.log_softmax
        return function(outputs, -1, dtype=dtype)
    chosen = [outputs[..., place : place + 1] for place in classes_of(target)]
    return chosen[0] - chosen[1] if isinstance(target, str) else torch.cat(chosen, -1)


def target_words(target: int | str | Sequence[int] | None) -> str:
    """A target in words; empty for none.

    >>> target_words(3), target_words([3, 5]), target_words("3 minus 5")
    ('the logit of class 3', 'the logits of classes 3, 5', 'the logit of class 3 minus that of class 5')
    """
    if isinstance(target, str):
        named = classes_of(target)
        if named:
            return f"the logit of class {named[0]} minus that of class {named[1]}"
        return f"the {target.replace('_', '-')}"
    if target is None:
        return ""
    if isinstance(target, int):
        return f"the logit of class {target}"
    if len(target) > LISTED_CLASSES:
        return f"the logits of {len(target)} classes"
    return f"the logits of classes {', '.join(map(str, target))}"


def _margin(
    outputs: Float[Tensor, "... k"], classes: Int[Tensor, "..."] | None
) -> Float[Tensor, "... 1"]:
    """The output of a class minus the largest of the others."""
    if classes is None:
        largest = outputs.topk(2, -1).values
        return largest[..., :1] - largest[..., 1:]
    places = classes.expand(outputs.shape[:-1])[..., None]
    others = outputs.scatter(-1, places, -torch.inf).amax(-1, keepdim=True)
    return outputs.gather(-1, places) - others


def is_normalised(y: Float[Tensor, "b k"], dtype: torch.dtype) -> bool:
    """Whether outputs are positive with the sum 1."""
    off = (y.sum(1) - 1).abs().max()
    return bool((y >= 0).all()) and float(off) <= SUM_UNITS * torch.finfo(dtype).eps
