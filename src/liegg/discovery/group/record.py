"""The record of a search: identity, elements, names, the sentence."""

from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.discovery.group.assemble import Assembled
from liegg.discovery.group.grids import kept_rotations
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.verdict import name_of, sentence, with_words
from liegg.results.group_symmetries import Angle, GroupElement, GroupSymmetries
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from liegg.algebra.finite.slots import SlotGroup
    from liegg.discovery.group.search import Findings

MOST_REJECTED = 32
"""Rejected elements that are recorded; those that are not testable come first, then by their defect."""


def record(
    setting: Setting,
    findings: "Findings",
    assembled: Assembled | None,
    slots: "SlotGroup | None",
    action: Action,
    continuous: Symmetries | None,
    *,
    floor: float,
    judged: int,
    algebra: Float[Tensor, "d n n"] | None = None,
    angles: tuple[Angle, ...] = (),
) -> GroupSymmetries:
    """Put everything that was found into one record.

    Args:
        setting: model and samples.
        findings: elements by space.
        assembled: the group of matrices; None where nothing was searched.
        slots: permutations of slots.
        action: the candidates of the continuous problem.
        continuous: its answer.
        floor: effect that rounding alone may cause.
        judged: number of elements judged.
        algebra: generators of the identity component, of the size of the elements of the group.
        angles: rotations of images with interpolation.
    """
    group = None if assembled is None else assembled.group
    elements = () if assembled is None else assembled.elements
    most = (
        setting.thresholds.effect
        * (setting.thresholds.strong / setting.thresholds.threshold) ** 0.5
    )
    rejected = sorted(
        findings.rejected, key=lambda one: (one.grade != "not testable", one.defect, one.effect)
    )
    values: dict[str, Any] = {
        "elements": (*_identity(elements), *elements),
        "permutations": tuple(with_words(one, action) for one in findings.slots),
        "rejected": tuple(with_words(one, action) for one in rejected[:MOST_REJECTED]),
        "group": group,
        "slots": slots,
        "shifts": tuple(findings.shifts),
        "angles": angles,
        "kept_rotations": kept_rotations(angles, most),
        "continuous": continuous,
        "tried": dict(findings.tried),
        "judged": judged,
        "samples": (len(setting.search.x), len(setting.held_out.x)),
        "floor": floor,
        "spread": max(setting.held_out.variance, 0.0) ** 0.5,
        "notes": (*setting.search.model.notes, *findings.notes),
        "settings": _settings(setting, action),
        "model": setting.search.model.name,
    }
    name = name_of(
        group,
        torch.zeros(0, 1, 1, dtype=torch.float64) if algebra is None else algebra,
        slots,
        continuous,
        shifts=tuple(findings.shift_orders),
    )
    draft = GroupSymmetries(**values, name=name, sentence="")
    return GroupSymmetries(**values, name=name, sentence=sentence(draft))


def _identity(elements: tuple[GroupElement, ...]) -> tuple[GroupElement, ...]:
    """The identity on the spaces of the elements, which needs no evidence; none without elements."""
    if not elements:
        return ()
    first = elements[0]
    one = tuple(torch.eye(len(matrix), dtype=torch.float64) for matrix in first.matrices)
    outputs = tuple(torch.eye(len(m), dtype=torch.float64) for m in first.output_matrices)
    return (
        GroupElement(
            kinds=first.kinds,
            matrices=one,
            words="identity",
            source="identity",
            output_kinds=first.output_kinds,
            output_matrices=outputs,
            displacement=0.0,
            effect=0.0,
            interval=(0.0, 0.0),
            reference=0.0,
            defect=0.0,
            defect_high=0.0,
            changed=None if first.changed is None else 0.0,
            grade="exact",
            component=0,
        ),
    )


def _settings(setting: Setting, action: Action) -> dict[str, Any]:
    """JSON values that say what was asked."""
    thresholds = setting.thresholds
    output = setting.search.output_action
    return {
        "seed": setting.seed,
        "action": action.settings(),
        "output_action": None if output is None else output.settings(),
        "sample": list(setting.search.x.shape[1:]),
        "thresholds": {name: getattr(thresholds, name) for name in thresholds.__dataclass_fields__},
    }
