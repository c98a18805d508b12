"""Named motions that the slider of a page follows, and the labels that the model predicts under them."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import shown
from liegg._utils.checks import checksum
from liegg._utils.errors import ArgumentError
from liegg.actions import MatrixAction
from liegg.report.motions import extent_of
from liegg.report.page.answers import WHOLE_TURN, from_start, has_sizes
from liegg.results.answer import Answer, FiniteChange
from liegg.results.symmetries import Symmetries

NAMED_BASIS = "named motions"
"""What the list of motions calls them."""

CHECKSUM_LETTERS = 16
"""Letters of the checksum by which a sample is known."""


def named_motions(
    sym: Symmetries,
    stage: dict[str, Any] | None,
    x: Float[Tensor, "k ..."] | None,
    classes: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """The motions of `sym.answers` as the script reads them, each with its action and its matrix.

    Args:
        sym: the result of `discover`.
        stage: what `liegg.report.page.stage.stage_of` returned.
        x: the samples that are shown; None without samples.
        classes: names of the classes; numbers otherwise.
    """
    if stage is None or x is None or stage["kind"] == "none":
        return []
    known = recognised(sym, x)
    motions = []
    for i, answer in enumerate(sym.answers):
        action = _action(sym, answer, tuple(x.shape[1:]))
        if action is None or not _drawn(action, stage):
            continue
        matrix, times = action.matrices(answer.coefficients[:1])[0], _times(answer.finite)
        motions.append(
            {
                "label": answer.name,
                "basis": NAMED_BASIS,
                "curve": f"answer-{i}" if times else None,
                "matrix": matrix,
                "action": action,
                "defect": "",
                "note": _drawn_one(answer, action),
                **_extent(answer.finite, times, matrix),
                **_predictions(answer, times, known, classes),
            }
        )
    return motions


def _action(sym: Symmetries, answer: Answer, shape: tuple[int, ...]) -> MatrixAction | None:
    """The action that a motion belongs to; None if it has no matrices, or is not known any more."""
    action = sym.action
    if not answer.inside:
        motion = sym.action.motions(shape).get(answer.name)
        same = motion is not None and torch.equal(motion.generators, answer.coefficients)
        action = motion.action if motion is not None and same else None
    return action if isinstance(action, MatrixAction) else None


def _drawn(action: MatrixAction, stage: dict[str, Any]) -> bool:
    """Whether the page can draw the motion: colours of images whose channels are all shown."""
    colours = [part for part in action.parts if part.stage == "colour"]
    return not colours or (
        stage["kind"] == "image"
        and all(part.settings()["channels"] == stage["channels"] for part in colours)
    )


def _drawn_one(answer: Answer, action: MatrixAction) -> str:
    """Which generator is drawn, where there are several."""
    count = len(answer.coefficients)
    if count == 1:
        return ""
    words = action.describe(answer.coefficients[:1])[0]
    return f"The first of its {count} generators is drawn: {words}. The curve is the mean over all of them."


def _times(finite: FiniteChange | None) -> list[float]:
    """Times of the first generator at 0, at every size, and at the end of a whole turn; empty if they are not known."""
    if finite is None or finite.times is None or not has_sizes(finite):
        return []
    times = finite.times.tolist()
    return from_start(finite, times, times[-1] * WHOLE_TURN / float(finite.sizes[-1]))


def _extent(
    finite: FiniteChange | None, times: list[float], matrix: Float[Tensor, "n n"]
) -> dict[str, Any]:
    """How far the slider goes, and the size of a time in the unit of the motion."""
    if finite is None or not times:
        longest, both_ways, period = extent_of(matrix)
        return {"longest": longest, "both": both_ways, "period": period, "sizes": None}
    sizes = from_start(finite, finite.sizes.tolist(), WHOLE_TURN)
    return {
        "longest": times[-1],
        "both": False,
        "period": times[-1] if finite.whole_turn else None,
        "sizes": {"times": times, "values": sizes, "unit": finite.unit},
    }


def recognised(sym: Symmetries, x: Float[Tensor, "k ..."]) -> list[str]:
    """The first letters of the checksum of every sample, in the dtype of the model."""
    dtype = getattr(torch, str(sym.settings.get("dtype")), None)
    if not isinstance(dtype, torch.dtype):
        return []
    return [checksum(one)[:CHECKSUM_LETTERS] for one in x.to(dtype)]


def _predictions(
    answer: Answer, times: list[float], known: list[str], classes: Sequence[str] | None
) -> dict[str, Any]:
    """Predicted labels of every sample shown, at every time; None for samples that are not known."""
    finite = answer.finite
    if finite is None or finite.predictions is None or not times:
        return {"places": [], "predictions": None}
    rows = dict(zip(finite.shown, finite.predictions.tolist(), strict=True))
    texts = [
        _texts(rows[name], whole_turn=finite.whole_turn, classes=classes) if name in rows else None
        for name in known
    ]
    largest = finite.largest is not None and not answer.part
    return {"places": times, "predictions": texts, "largest": largest}


def _texts(row: list[int], *, whole_turn: bool, classes: Sequence[str] | None) -> list[str]:
    """Names of predicted classes, "none" where an output is NaN; after a whole turn the first one again.

    >>> _texts([2, -1], whole_turn=True, classes=["a", "b", "c"])
    ['c', 'none', 'c']
    """
    row = [*row, row[0]] if whole_turn else row
    return ["none" if one < 0 else str(one) if classes is None else classes[one] for one in row]


def checked_classes(sym: Symmetries, classes: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of the classes, one for each that was predicted.

    Raises:
        ArgumentError: there are too few.
    """
    if classes is None:
        return None
    found = [one.finite.predictions for one in sym.answers if one.finite is not None]
    largest = max((int(one.max()) for one in found if one is not None and one.numel()), default=-1)
    if largest >= len(classes):
        raise ArgumentError(
            f"classes={shown(classes)} has {len(classes)} names, but the model predicts class {largest}, "
            "counted from 0; expected a name for every output of the model, for example "
            'classes=["cat", "dog"].'
        )
    return tuple(classes)
