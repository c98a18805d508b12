"""Why a model is not equivariant: the usual causes, each with the evidence for it."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from liegg._utils.errors import LieggError
from liegg.discovery.assertions.error import Question, reflection_error

REMAINING_ERROR = 0.1
"""Share of the error that may remain once its cause is removed."""

ROUNDING_UNITS = 10
"""Rounding units of the outputs up to which an error may be rounding, where it cannot be repeated in float64."""

STRIDES = (2, 4, 8, 16, 32)
"""Strides that are tried, in pixels."""

ELEMENT = 0.37
"""Share of the longest motion at which causes are looked for; neither a whole number of pixels nor a quarter turn."""

CELLS = ("cell", "lattice", "box")
"""Names of tensors that have to be rotated with the positions."""

UNKNOWN_CAUSE = (
    "None of the usual causes was recognised (rounding, interpolation, padding, stride, a transposed matrix, an output that does "
    "not move, a cell that is not rotated, absolute positions, parity)"
)


Repeat = Callable[[Tensor], float]
"""The error of the same element in float64."""


def likely_causes(asked: Question, *, repeat: Repeat | None = None) -> str:
    """What the evidence says about an error, as a sentence.

    Args:
        asked: the question that failed.
        repeat: the error of the same element in float64; None if that is not known.
    """
    weights = ELEMENT * asked.reach
    error = asked.change(weights)
    looks = (_rounding, _grids, _outputs, _context, _translations, _parity)
    found = [cause for look in looks for cause in _looked_for(look, asked, weights, error, repeat)]
    if not found:
        return f" {UNKNOWN_CAUSE}."
    return " Likely cause: " + "; ".join(found) + "."


def _looked_for(look: Callable[..., Iterator[str]], *given: Any) -> list[str]:
    """The causes that one look finds; none if it is not possible."""
    try:
        return list(look(*given))
    except (LieggError, RuntimeError, TypeError, ValueError):
        return []


def _rounding(
    asked: Question, weights: Tensor, error: float, repeat: Repeat | None
) -> Iterator[str]:
    """The error goes when the model computes with more digits."""
    narrow = asked.model.arithmetic or asked.x.dtype
    if narrow is torch.float64:
        return
    name = str(narrow).removeprefix("torch.")
    other = None if repeat is None else repeat(weights)
    unit = torch.finfo(narrow).eps * float(asked.y.double().square().sum(1).mean().sqrt())
    if other is not None and other <= REMAINING_ERROR * error:
        evidence = f"the error is {error:.1g} in {name} and {other:.1g} in float64"
    elif error <= ROUNDING_UNITS * unit / asked.scale:  # the model may round whatever it is given
        evidence = (
            f"the error is {error:.1g}, and {name} rounds outputs by {unit / asked.scale:.1g}"
        )
    else:
        return
    yield (
        f"rounding: {evidence}, so the tolerance is too small for {name} (an absolute tolerance ignores the size of the outputs)"
    )


def _grids(asked: Question, weights: Tensor, error: float, _repeat: Any) -> Iterator[str]:
    """Interpolation, padding and stride, by motions of whole pixels and images that fade out."""
    x = asked.x
    if not asked.action.interpolates or x.ndim < 3:
        return
    square = x.shape[-1] == x.shape[-2]
    kinds = asked.group.kinds
    if "rotation" in kinds and square:
        quarter = _moved_by(asked, lambda image: image.rot90(1, (-2, -1)))
        if quarter <= REMAINING_ERROR * error:
            yield (
                f"interpolation: a rotation by 90°, which moves pixels onto pixels, has the error {quarter:.1g}, another "
                f"angle {error:.1g}; test with smoother images, or with 90°"
            )
            return
    if "translation" in kinds and (found := list(_shift_causes(asked))):
        yield from found
        return
    faded = asked.x * _window(x)
    inside = asked.change(weights, x=faded)
    if inside <= REMAINING_ERROR * error:
        yield (
            f"padding and the border: on images that fade out towards the border the error is {inside:.1g}, and {error:.1g} on "
            "these; what padding puts outside the image, and what leaves it, does not move with it"
        )


def _shift_causes(asked: Question) -> Iterator[str]:
    """Stride and padding, by shifts of whole pixels, and by the same layers with circular padding."""

    def shifted(one: Question, pixels: int) -> float:
        return _moved_by(one, lambda image: image.roll(pixels, -1))

    error, circular = shifted(asked, 1), _with_circular_padding(asked)
    if error == 0:
        return
    if circular is not None and (one := shifted(circular, 1)) <= REMAINING_ERROR * error:
        yield (
            f"padding: a shift by one pixel has the error {error:.1g}, and {one:.1g} with circular padding; the zeros that "
            "padding puts outside the image do not move with it"
        )
        return
    for question, which in ((asked, ""), (circular, " with circular padding")):
        one = 0.0 if question is None else shifted(question, 1)
        for stride in STRIDES:
            if question is None or stride >= asked.x.shape[-1]:
                break
            if (other := shifted(question, stride)) <= REMAINING_ERROR * one:
                yield (
                    f"stride: shifts by {stride} pixels have the error {other:.1g}{which}, a shift by one has {one:.1g}; strides "
                    "and pooling keep only shifts by their multiples"
                )
                return


def _with_circular_padding(asked: Question) -> Question | None:
    """The question about a module whose convolutions continue the image periodically; None if none pads with zeros."""
    module = asked.model.function
    if not isinstance(module, nn.Module):
        return None
    module = copy.deepcopy(module)
    padded: list[Any] = [
        one
        for one in module.modules()
        if getattr(one, "padding_mode", "") == "zeros" and one.padding
    ]
    for one in padded:
        one.padding_mode = "circular"
    model = replace(asked.model, function=module)
    return replace(asked, model=model, y=model(asked.x).detach()) if padded else None


def _outputs(asked: Question, weights: Tensor, error: float, _repeat: Any) -> Iterator[str]:
    """The output moves the other way, not at all, or in another order."""
    if asked.output_action is None:
        return
    inverse, still = asked.change(weights, sign=-1.0), asked.change(weights, sign=0.0)
    if inverse <= REMAINING_ERROR * error:
        yield (
            f"a transposed matrix: the output moves by the inverse (error {inverse:.1g}); row and column vectors may be mixed up"
        )
    elif still <= REMAINING_ERROR * error:
        yield f"the output does not move at all (error {still:.1g}): it is invariant; leave output_action out"
    for other in asked.output_action.other_conventions:
        value = replace(asked, output_action=other).change(weights)
        if value <= REMAINING_ERROR * error:
            yield f"another order of the components: with {other!r} the error is {value:.1g}"


def _context(asked: Question, _weights: Tensor, error: float, _repeat: Any) -> Iterator[str]:
    """A tensor beside the positions that looks like a cell and stays."""
    layout, n = asked.action.structure, asked.group.dimension
    if layout is None:
        return
    for leaf in layout.held:
        name = leaf.path.rpartition(".")[2].lower()
        matrix = leaf.shape in ((n, n), (1, n, n))
        named = any(word in name for word in CELLS) and 0 not in leaf.shape
        if not leaf.floating or not (matrix or (named and n in leaf.shape)):
            continue
        if matrix:
            what = f"has the shape {leaf.shape} of a matrix of space and stays; move it"
        else:
            what = (
                f"has the shape {leaf.shape}, which cannot be rotated, and stays; pass the cell as the matrix [{n}, {n}] of its "
                "edges, and move it"
            )
        several = all(len(one.shape) > 1 for one in layout.moved)
        one = f"liegg.Linear({n}, copies=None)" if several else f"liegg.Linear({n})"
        moved = ", ".join(f"{one.path!r}: one" for one in (*layout.moved, leaf))
        rotations = f", and test its rotations, 'so({n})'" if asked.group.affine else ""
        yield (
            f"a cell that is not rotated: {leaf.path!r} {what} with the positions by one action object, one = {one} and "
            f"action={{{moved}}}{rotations}"
        )


def _translations(asked: Question, weights: Tensor, error: float, _repeat: Any) -> Iterator[str]:
    """Rotations hold and translations do not: absolute positions."""
    if asked.action.interpolates:
        return
    kinds = asked.group.kinds
    if not {"rotation", "translation"} <= set(kinds):
        return
    turns = torch.tensor([kind == "rotation" for kind in kinds])
    rotation = asked.change(torch.where(turns, weights, 0.0))
    if rotation <= REMAINING_ERROR * error:
        yield (
            f"absolute positions: rotations alone have the error {rotation:.1g}; only translations change the output. Use "
            "differences of positions, or subtract their mean"
        )


def _parity(asked: Question, weights: Tensor, error: float, _repeat: Any) -> Iterator[str]:
    """Rotations hold and a reflection does not, or only with another sign."""
    if not asked.group.reflects:
        return
    mirrored = reflection_error(asked)
    if error > REMAINING_ERROR * mirrored:
        return
    opposite = reflection_error(asked, sign=-1.0)
    kind = "the output is not symmetric under reflections"
    if opposite <= REMAINING_ERROR * mirrored:
        kind = "the output has the opposite parity (a pseudoscalar or pseudovector)"
    yield f"parity: rotations have the error {error:.1g}, a reflection {mirrored:.1g}; {kind}"


def _moved_by(asked: Question, move: Callable[[Tensor], Tensor]) -> float:
    """Change of the output under an exact motion of pixels, which an image output makes too."""
    y = asked.y
    if asked.output_action is not None:
        y = move(y.reshape(len(y), *asked.model.output_shape)).flatten(1)
    return asked.difference(asked.model(move(asked.x)).detach(), y)


def _window(x: Tensor) -> Tensor:
    """A smooth bump in the middle of an image that is almost 0 at its border."""
    sides = [torch.linspace(-1, 1, side, dtype=x.dtype, device=x.device) for side in x.shape[-2:]]
    radius = sides[0][:, None].square() + sides[1].square()
    return torch.exp(-8 * radius)
