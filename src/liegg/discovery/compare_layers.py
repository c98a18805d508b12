"""Compare two networks layer by layer."""

from dataclasses import replace
from typing import Any

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg.discovery.compare import check_same_question, compare_results
from liegg.results.layer_comparison import LayerComparison, LayerPair
from liegg.results.layers import LayerResult, LayerSymmetries
from liegg.results.symmetries import Symmetries

LISTED = 8
"""Layers named in a note or a message."""


def compare_layers(
    a: LayerSymmetries,
    b: LayerSymmetries,
    *,
    about: Any = None,
    names: tuple[str, str] = ("a", "b"),
) -> LayerComparison:
    """Compare the layers of two networks that have the same names; see `liegg.compare`.

    Args:
        a: result of `liegg.discover_layers`.
        b: a result with the same candidates.
        about: named motions, as for `LayerSymmetries.about`; None for none.
        names: what the two networks are called.

    Raises:
        ArgumentError: different candidates, different questions, or no layer in common.
    """
    check_same_question(a, b)
    shared = [name for name in a.names if name in b.names]
    if not shared:
        raise ArgumentError(
            f"the two networks have no layer in common: {names[0]} has {_list(a.names)}, {names[1]} "
            f"has {_list(b.names)}. Compare networks of the same architecture."
        )
    pairs = tuple(_pair(a[name], b[name]) for name in shared)
    comparison = LayerComparison(a, b, pairs, names=names)
    comparison = replace(comparison, notes=tuple(_notes(comparison)))
    return comparison if about is None else comparison.about(about)


def _pair(a: LayerResult, b: LayerResult) -> LayerPair:
    shared = _shared(a.invariance, b.invariance)
    return LayerPair(a, b, shared or 0, _shared(a.equivariance, b.equivariance))


def _shared(a: Symmetries | None, b: Symmetries | None) -> int | None:
    """Number of symmetries that two results share; None if one of them is missing."""
    if a is None or b is None:
        return None
    if not a.nullity or not b.nullity:
        return 0
    return compare_results(a, b).shared


def _notes(comparison: LayerComparison) -> list[Remark]:
    """Layers that only one network has, and modules of other classes."""
    notes = [
        Diagnosis.LAYERS_ONLY_IN_ONE(model=model, names=_list(names))
        for model, names in zip(
            comparison.names, (comparison.only_a, comparison.only_b), strict=True
        )
        if names
    ]
    notes += [
        Diagnosis.LAYER_KIND_DIFFERS(
            layer=pair.name, a=pair.a.kind, b=pair.b.kind, **comparison.both
        )
        for pair in comparison.pairs
        if pair.a.kind != pair.b.kind
    ][:LISTED]
    first = comparison.pairs[0]
    for key in ("outputs", "level", "threshold", "minimum_gap"):
        one, other = (layer.invariance.settings[key] for layer in (first.a, first.b))
        if one != other:
            notes.append(Diagnosis.SETTING_DIFFERS(name=key, a=one, b=other, **comparison.both))
    return [*notes, Diagnosis.INDEPENDENT_INTERVALS()]


def _list(names: Any) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
