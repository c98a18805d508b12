"""What the layers of a network show, in words: where a symmetry arises, and which layer loses it."""

import math
from collections.abc import Sequence
from itertools import pairwise

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import root_percent
from liegg.results.layers import LayerDirection, LayerResult, LayerSymmetries, smallest_defect
from liegg.results.symmetries import Symmetries

MENTIONED_LAYERS = 3
"""Layers that gain or lose symmetries, and are named."""

CONTINUED = frozenset(
    {
        Diagnosis.LAYERS_KEEP,
        Diagnosis.LAYER_IS_LAST,
        Diagnosis.LAYER_GAINS,
        Diagnosis.LAYER_LOSES,
        Diagnosis.LAYER_WEAKENS,
        Diagnosis.LAYER_STRENGTHENS,
    }
)
"""Remarks that go on with the sentence before."""

CLEAR_RATIO = 1.25
"""Least ratio of two defects without intervals that is mentioned as a change."""


def remarks(result: LayerSymmetries) -> list[Remark]:
    """Where the network becomes invariant or equivariant, and where it stops.

    Args:
        result: the result of `discover_layers`.
    """
    layers = [layer for layer in result if not layer.same]
    invariant, equivariant = _invariance(result, layers), _equivariance(layers)
    some = any(layer.invariance.nullity for layer in layers)
    pairs = any(layer.equivariance and layer.equivariance.nullity for layer in layers)
    return [*equivariant, *invariant] if pairs and not some else [*invariant, *equivariant]


def sentences(remarks: Sequence[Remark]) -> str:
    """Remarks as one text.

    >>> sentences([Diagnosis.LAYERS_NOT_EQUIVARIANT(), Diagnosis.LAYER_IS_LAST()])
    'No layer that was tested is equivariant; no layer follows.'
    """
    return " ".join(in_sentences(remarks))


def in_sentences(remarks: Sequence[Remark]) -> list[str]:
    """The same as one text per sentence."""
    parts: list[str] = []
    for remark in remarks:
        if parts and remark.diagnosis in CONTINUED:
            parts[-1] += f"; {remark}"
        else:
            parts.append(remark[0].upper() + remark[1:])
    return [f"{part}." for part in parts]


def label(layer: LayerResult) -> str:
    """How a layer is called in a sentence."""
    return f"layer {layer.name} ({layer.kind})"


def _invariance(result: LayerSymmetries, layers: Sequence[LayerResult]) -> list[Remark]:
    counts = [layer.invariance.nullity for layer in layers]
    undecided = sum(bool(layer.invariance.decision.undecided) for layer in layers)
    notes = [Diagnosis.LAYERS_UNDECIDED(count=undecided, total=len(layers))] if undecided else []
    if not any(counts):
        known = [layer for layer in layers if not layer.invariance.decision.undecided]
        known = [one for one in known if not math.isnan(smallest_defect(one.invariance))]
        if not known:
            return notes or [Diagnosis.LAYERS_UNDECIDED(count=len(layers), total=len(layers))]
        nearest = min(known, key=lambda layer: smallest_defect(layer.invariance))
        defect = root_percent(smallest_defect(nearest.invariance))
        return [
            Diagnosis.LAYERS_WITHOUT_SYMMETRY(
                model=result.model, layer=label(nearest), percent=defect
            ),
            *notes,
        ]
    first = next(i for i, count in enumerate(counts) if count)
    values = {
        "model": result.model,
        "layer": label(layers[first]),
        "count": counts[first],
        "name": algebra_in_brackets(layers[first].invariance),
    }
    start = (
        Diagnosis.LAYERS_ARISE(place=first + 1, total=len(layers), **values)
        if first
        else Diagnosis.LAYERS_FROM_START(**values)
    )
    return [start, *_changes(layers, counts, first), *notes]


def _changes(layers: Sequence[LayerResult], counts: Sequence[int], first: int) -> list[Remark]:
    """Layers after the first symmetric one that lose or gain symmetries, those that lose first."""
    gains, losses = [], []
    for i in range(first + 1, len(layers)):
        before, now, layer = counts[i - 1], counts[i], label(layers[i])
        if layers[i].invariance.decision.undecided or before == now:
            continue
        if now < before:
            losses.append(Diagnosis.LAYER_LOSES(layer=layer, lost=before - now, before=before))
        else:
            gains.append(Diagnosis.LAYER_GAINS(layer=layer, more=now - before, count=now))
    if losses or gains:
        return [
            *losses[:MENTIONED_LAYERS],
            *gains[: MENTIONED_LAYERS - len(losses[:MENTIONED_LAYERS])],
        ]
    if first == len(layers) - 1:
        return [Diagnosis.LAYER_IS_LAST()]
    return [Diagnosis.LAYERS_KEEP(count=counts[first])]


def _equivariance(layers: Sequence[LayerResult]) -> list[Remark]:
    tested = [
        (layer, layer.equivariance)
        for layer in layers
        if layer.equivariance is not None and not layer.equivariance.decision.undecided
    ]
    if not tested:
        return []
    counts = [sym.nullity for _, sym in tested]
    if not any(counts):
        return [Diagnosis.LAYERS_NOT_EQUIVARIANT()]
    values = {"count": counts[0], "name": algebra_in_brackets(tested[0][1])}
    lost = next((i for i in range(1, len(counts)) if counts[i] < counts[i - 1]), None)
    if not counts[0]:
        first = next(i for i, count in enumerate(counts) if count)
        values = {"count": counts[first], "name": algebra_in_brackets(tested[first][1])}
        return [Diagnosis.LAYERS_EQUIVARIANT_LATER(layer=label(tested[first][0]), **values)]
    if lost is None:
        return [Diagnosis.LAYERS_EQUIVARIANT(**values)]
    before = tested[lost - 1]
    return [
        Diagnosis.LAYERS_EQUIVARIANT_UNTIL(
            last=label(before[0]),
            count=counts[lost - 1],
            name=algebra_in_brackets(before[1]),
            layer=label(tested[lost][0]),
            lost=counts[lost - 1] - counts[lost],
        )
    ]


def along_remarks(result: LayerSymmetries, direction: LayerDirection) -> list[Remark]:
    """What a named motion does to the first and the last layer, and where that changes most.

    Args:
        result: the result of `discover_layers`.
        direction: the defect of the motion in every layer.
    """
    values = direction.values.tolist()
    problems = [layer.problem(direction.of) for layer in result]
    floor = [0.0 if one is None else one.decision.floor for one in problems]
    known = [i for i, layer in enumerate(result) if not layer.same and not math.isnan(values[i])]
    if not known:
        return [Diagnosis.LAYERS_DO_NOT_MOVE(name=direction.name)]
    percents = {i: root_percent(values[i], floor[i]) for i in known}
    if len(known) == 1:
        only = {"layer": label(result[known[0]]), "percent": percents[known[0]]}
        return [Diagnosis.LAYERS_ALONG_ONE(name=direction.name, **only)]
    found = [
        Diagnosis.LAYERS_ALONG(
            name=direction.name,
            first=label(result[known[0]]),
            start=percents[known[0]],
            last=label(result[known[-1]]),
            end=percents[known[-1]],
        )
    ]
    steps = list(pairwise(known))
    for diagnosis, sign in ((Diagnosis.LAYER_STRENGTHENS, 1), (Diagnosis.LAYER_WEAKENS, -1)):
        clear = [step for step in steps if _is_clear(direction, *step, sign=sign)]
        if clear:
            before, after = max(clear, key=lambda step: abs(_ratio(values, *step)))
            layer = label(result[after])
            values_of = {"before": percents[before], "after": percents[after]}
            found.append(diagnosis(layer=layer, **values_of))
    return found


def _ratio(values: Sequence[float], before: int, after: int) -> float:
    """Logarithm of the ratio of two defects; infinite if one is 0."""
    if values[before] <= 0 or values[after] <= 0:
        return math.inf
    return math.log(values[after] / values[before])


def _is_clear(direction: LayerDirection, before: int, after: int, *, sign: int) -> bool:
    """Whether the defect clearly rises (sign 1) or falls (-1) from one layer to another."""
    small, large = (before, after) if sign > 0 else (after, before)
    values = direction.values.tolist()
    if not values[large] > CLEAR_RATIO * values[small]:
        return False
    high, low = float(direction.intervals[small][1]), float(direction.intervals[large][0])
    return math.isnan(high) or math.isnan(low) or high < low


def algebra_in_brackets(sym: Symmetries) -> str:
    """The name of an algebra in brackets; empty if it has none."""
    return f" ({sym.name})" if sym.nullity and sym.identification.known else ""
