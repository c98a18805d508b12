"""Samples moved by the elements of a group, as a page draws them, with what the model predicts."""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, action_from_settings
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.structured import as_inputs, pack_samples
from liegg.discovery.verification.evaluating import first_samples
from liegg.inputs.batches import as_batches
from liegg.inputs.model import eval_view
from liegg.report.numbers import number
from liegg.results.group_symmetries import GroupElement, GroupSymmetries

PAGE_SAMPLES = 4
"""Samples that a page shows."""

PAGE_NUMBERS = 400_000
"""Numbers of moved samples in a page; beyond, fewer samples are shown, and then fewer elements."""

DRAWN_POINTS = 400
"""Vectors of a sample up to which they are drawn as points."""


def moved(
    element: GroupElement, action: Action, x: Float[Tensor, "b ..."]
) -> Float[Tensor, "b ..."]:
    """Samples moved by an element: each factor on the space of its kind."""
    spaces = action.spaces(tuple(x.shape[1:]))
    result = x.double()
    for kind, matrix in zip(element.kinds, element.matrices, strict=True):
        space = next((s for s in spaces if s.kind == kind and s.side == len(matrix)), None)
        if space is None:
            raise ArgumentError(
                f"samples have shape {tuple(x.shape[1:])}; the element {element.words!r} does not act on such samples."
            )
        result = space.apply(matrix, result)
    return result.to(x.dtype)


def stage(
    found: GroupSymmetries,
    elements: Sequence[GroupElement],
    samples: Any,
    model: Any,
    *,
    classes: Sequence[str] | None,
) -> dict[str, Any]:
    """What the script draws: the samples under every element, and the labels."""
    own = found.continuous
    action = action_from_settings(found.settings["action"]) if own is None else own.action
    expected = found.settings.get("sample")
    if action.structure is not None:
        model, samples, action = as_rows(model, samples, action)
    else:
        samples = first_samples(as_batches(samples), PAGE_SAMPLES)
    if action.structure is None and expected is not None and [*samples.shape[1:]] != [*expected]:
        raise ArgumentError(
            f"samples have shape {tuple(samples.shape)}; expected [b, {', '.join(map(str, expected))}], as the samples "
            "that were analysed."
        )
    size = max(samples[0].numel(), 1)
    count = max(1, min(PAGE_SAMPLES, PAGE_NUMBERS // (size * (len(elements) + 1))))
    x = samples[:count].detach().cpu()
    shown = elements[: max(1, PAGE_NUMBERS // (size * count))]
    images = [moved(element, action, x) for element in shown]
    kind, drawn = drawing(action, x)
    return {
        "kind": kind,
        "samples": drawn,
        "moved": [drawing(action, image)[1] for image in images],
        "words": [element.words for element in shown],
        "labels": labels(model, x, classes),
        "moved_labels": [labels(model, image, classes) for image in images],
    }


def as_rows(model: Any, samples: Any, action: Action) -> tuple[Any, Float[Tensor, "b D"], Action]:
    """Structured samples as rows, the model of rows, and the action on them."""
    if model is None:
        data, _, action = pack_samples(samples, action)
    else:
        inputs = as_inputs(model, samples, action)
        model, data, action = inputs.model, inputs.data, inputs.action
    return model, first_samples(as_batches(data), PAGE_SAMPLES), action


def drawing(action: Action, x: Float[Tensor, "b ..."]) -> tuple[str, list[Any]]:
    """How samples are drawn, and their numbers: images, points, or bars."""
    spaces = action.spaces(tuple(x.shape[1:]))
    kinds = {space.kind for space in spaces}
    if kinds & {"grid", "shifts"} and x.ndim in (3, 4):
        pixels = x if x.ndim == 3 else x.mean(1) if x.shape[1] not in (1,) else x[:, 0]
        return "image", _rounded(pixels.double())
    vectors = next((space for space in spaces if isinstance(space, VectorSpace)), None)
    if vectors is not None and vectors.kind == "vectors":
        stage = vectors.action.staged
        points = stage(x.double())
        if points.shape[2] in (2, 3) and points.shape[1] <= DRAWN_POINTS:
            exist = stage(action.moving(x, torch.ones_like(x)))[..., 0].bool()
            drawn = zip(_rounded(points), exist.tolist(), strict=True)
            return "points", [list(compress(sample, known)) for sample, known in drawn]
    return "bars", _rounded(x.double().flatten(1)[:, :DRAWN_POINTS])


def _rounded(values: Tensor) -> list[Any]:
    """Four digits of the largest number are enough to draw."""
    values = values.nan_to_num(0.0, 0.0, 0.0)
    largest = float(values.abs().max()) if values.numel() else 1.0
    digits = 4 - len(f"{largest:.0f}") if largest >= 1 else 4
    return values.round(decimals=max(digits, 1)).tolist()


def labels(
    model: Any, x: Float[Tensor, "b ..."], classes: Sequence[str] | None
) -> list[str] | None:
    """What the model predicts: a class where it has several outputs, else the number; None without a model."""
    if model is None:
        return None
    with torch.no_grad(), eval_view(model) as function:
        y = function.function(x.to(device=function.device, dtype=function.dtype))
    if not isinstance(y, Tensor) or not y.ndim or len(y) != len(x):
        return None
    y = y.detach().cpu().double().reshape(len(x), -1)
    if y.shape[1] == 1:
        return [number(float(value)) for value in y[:, 0]]
    if classes is None and y.shape[1] <= 3:
        return [f"({', '.join(number(v) for v in row)})" for row in y.tolist()]
    best = [int(place) for place in y.argmax(1)]
    named = list(classes or ())
    return [named[place] if place < len(named) else str(place) for place in best]
