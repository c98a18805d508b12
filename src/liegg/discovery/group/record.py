"""The record of a search: identity, elements, name, the sentence."""

import math
from dataclasses import asdict, replace
from typing import Any

import torch

from liegg._utils.diagnoses import Diagnosis, plural
from liegg.algebra import identify
from liegg.algebra.finite.catalog import label
from liegg.algebra.finite.whole_name import TRIVIAL, whole_name
from liegg.decision.grades import GRADES
from liegg.discovery.group.effects import largest_effect
from liegg.discovery.group.grids import kept_rotations
from liegg.discovery.group.judge import Findings, distinct_elements
from liegg.discovery.group.matrices import FLAT_SAMPLES
from liegg.discovery.group.refuted import refuted_components
from liegg.discovery.group.setting import Setting
from liegg.results.group_symmetries import UNDECIDED, Angle, GroupElement, GroupSymmetries
from liegg.results.symmetries import Symmetries

MOST_REJECTED = 32
"""Rejected elements that are recorded; those that are not testable come first, then by their defect."""

FEW_WORDS = 2
"""Generators of permutations that the sentence names."""

MIXED_PAIRS, INFINITE = "mixed pairs", "elements of infinite order"
"""In a name: symmetries of two spaces at once, which are none alone; exact ones whose powers never return to the identity."""


def record(findings: Findings, angles: tuple[Angle, ...] = ()) -> GroupSymmetries:
    """Put everything that was found into one record.

    Args:
        findings: what was found.
        angles: rotations of images with interpolation.
    """
    setting = findings.setting
    thresholds, output = setting.thresholds, setting.search.output_action
    rejected = sorted(
        distinct_elements(findings.rejected),
        key=lambda one: (one.grade != "not testable", one.defect, one.effect),
    )
    draft = GroupSymmetries(
        elements=(*map(_identity, findings.elements[:1]), *findings.elements),
        permutations=tuple(findings.permutations),
        infinite=tuple(findings.infinite),
        rejected=tuple(rejected[:MOST_REJECTED]),
        group=findings.group,
        slots=findings.slots,
        shifts=tuple(findings.shifts),
        angles=angles,
        kept_rotations=kept_rotations(angles, largest_effect(thresholds.strong, thresholds)),
        continuous=setting.continuous,
        name=_name(findings),
        sentence="",
        tried=findings.tried,
        judged=findings.judged,
        samples=(len(setting.search.x), len(setting.held_out.x)),
        floor=setting.floor,
        spread=max(setting.held_out.variance, 0.0) ** 0.5,
        notes=(*setting.search.model.notes, *findings.notes),
        settings={
            "seed": setting.seed,
            "action": setting.action.settings(),
            "output_action": None if output is None else output.settings(),
            "sample": list(setting.search.x.shape[1:]),
            "thresholds": asdict(thresholds),
            "directions": setting.directions,
        }
        | _representatives(setting),
        model=setting.search.model.name,
    )
    return replace(draft, sentence=_sentence(draft, findings))


def _representatives(setting: Setting) -> dict[str, Any]:
    """The continuous symmetries of the name, where they are not the first ones of the continuous result."""
    found = None if setting.local else setting.representatives
    return {} if found is None else {"representatives": found.h.tolist()}


def _name(findings: Findings) -> str:
    """Name of the complete group."""
    setting, continuous = findings.setting, findings.setting.continuous
    if _is_constant(findings):
        return UNDECIDED
    named = "" if continuous is None else _algebra_name(continuous, setting)
    if named.startswith("unknown") and len(setting.algebra):
        # An action without matrices has no name for its span, but the part on this space has.
        named = identify(setting.algebra, uncertainty=setting.uncertainty).name
    name = whole_name(
        named,
        setting.algebra if len(setting.algebra) else None,
        findings.group,
        findings.slots,
        shifts=findings.shift_orders,
        uncertainty=setting.uncertainty,
    )
    further = [MIXED_PAIRS] * bool(findings.pairs) + [INFINITE] * bool(findings.infinite)
    if not further:
        return UNDECIDED if name == TRIVIAL and _is_hidden(findings) else name
    return " and ".join(further if name == TRIVIAL else [name, *further])


def _is_constant(findings: Findings) -> bool:
    """Whether the output is the same for all samples."""
    return any(note.diagnosis is Diagnosis.CONSTANT_HELD_OUT_OUTPUT for note in findings.notes)


def _is_hidden(findings: Findings) -> bool:
    """Whether there may be symmetries that this data cannot show: elements that hold on the span of the samples, or motions out of it."""
    return any(one.reason == FLAT_SAMPLES for one in findings.rejected) or any(
        note.diagnosis is Diagnosis.GROUP_LEAVES_DATA for note in findings.notes
    )


def _algebra_name(continuous: Symmetries, setting: Setting) -> str:
    """The name of the directions that are divided out; empty without any."""
    directions = setting.directions
    if not directions:
        return ""
    if setting.representatives is not None:
        return "unknown"
    if directions == continuous.nullity:
        return continuous.name or "unknown"
    names = [level.name for level in continuous.tower if level.dimension == directions]
    return names[0] if names else "unknown"


def _identity(element: GroupElement) -> GroupElement:
    """The identity on the spaces of an element, which needs no evidence."""
    matrices, output_matrices = (
        tuple(torch.eye(len(matrix), dtype=torch.float64) for matrix in each)
        for each in (element.matrices, element.output_matrices)
    )
    return GroupElement(
        kinds=element.kinds,
        matrices=matrices,
        words="identity",
        source="identity",
        output_kinds=element.output_kinds,
        output_matrices=output_matrices,
        displacement=0.0,
        effect=0.0,
        interval=(0.0, 0.0),
        reference=0.0,
        defect=0.0,
        defect_high=0.0,
        changed=None if element.changed is None else 0.0,
        grade="exact",
        component=0,
    )


def _sentence(found: GroupSymmetries, findings: Findings) -> str:
    """The finding in one or two sentences: the group, how well it holds, what was refuted or is not testable."""
    if found.spread <= 0 or _is_constant(findings):
        return "Undecided: the output is the same for all samples."
    counted = [*found.elements[1:], *found.permutations, *findings.moved_circularly]
    parts = []
    if found.name == TRIVIAL:
        parts.append("No finite symmetry but the identity was found")
    elif found.name == UNDECIDED:
        parts.append("Undecided: no symmetry was found that this data can test")
    else:
        parts.append(found.name)
    if counted:
        worst = max(counted, key=lambda one: (GRADES.index(one.grade), one.effect))
        how = (
            "up to rounding"
            if worst.grade == "exact"
            else f"to {worst.effect:.2g} of the output's spread"
        )
        parts[-1] += f": {_counted(found, findings)} {how} ({worst.grade})"
    parts += _nearly(found)
    if findings.nearly is not None:
        group, own = findings.nearly
        largest = max(one.effect for one in own)
        parts.append(
            f"{group.name} ({len(own) + 1} elements) holds only nearly, to {largest:.2g} of the output's spread"
        )
    parts += refuted_components(found, findings)
    if found.kept_rotations is not None:
        fold, effect = found.kept_rotations
        how = "up to rounding" if effect <= found.floor else f"to {100 * effect:.2g} %"
        parts.append(
            f"of SO(2), the rotations by any angle, the network keeps {label('C', fold)} (multiples of {360 / fold:g}°) {how}"
        )
    if findings.infinite:
        listed = "; ".join(one.words for one in findings.infinite)
        parts.append(f"it is infinite, because these hold any number of times (exact): {listed}")
    if findings.pairs:
        first = findings.pairs[0]
        parts.append(
            f"together, but not alone, these are a symmetry ({first.grade}): {first.words}"
        )
    if untested := _not_testable(found):
        parts.append(f"not testable on this data: {untested}")
    return "; ".join(parts) + "."


def _nearly(found: GroupSymmetries) -> list[str]:
    """What the sentence says of continuous symmetries that are not exact, with their size."""
    continuous = found.continuous
    if continuous is None or found.directions == continuous.nullity == continuous.decision.exact:
        return []
    name, verb = continuous.name or "unknown", "holds"
    if name.startswith("unknown"):
        name = plural(continuous.nullity, "continuous direction")
        verb = "holds" if continuous.nullity == 1 else "hold"
    for note in found.notes:
        if note.diagnosis is Diagnosis.GROUP_LEAVES_DATA:
            return []
        if note.diagnosis is Diagnosis.GROUP_LOCAL:
            size = f"{note.values['effect']:.2g} of the output's spread"
            return [
                f"{name} {verb} only near the samples: finite motions change the output by {size}"
            ]
    largest = max(
        level.largest for level in continuous.tower if level.dimension <= continuous.nullity
    )
    return [
        f"{name} {verb} only nearly, up to {100 * math.sqrt(largest):.2g} % of an average motion"
    ]


def _not_testable(found: GroupSymmetries) -> str:
    """What this data cannot show: continuous motions out of the span of the samples, and elements."""
    left = [one for one in found.notes if one.diagnosis is Diagnosis.GROUP_LEAVES_DATA]
    parts = [
        f"{plural(note.values['count'], 'continuous motion')} out of the subspace in which the samples lie"
        for note in left
    ]
    if found.not_testable:
        first, more = found.not_testable[0], len(found.not_testable) - 1
        others = f" and {more} more" if more else ""
        parts.append(f"{first.words}{others} ({first.reason})")
    return "; ".join(parts)


def _counted(found: GroupSymmetries, findings: Findings) -> str:
    """How many elements hold."""
    parts = []
    if found.group is not None and found.group.order != 1:
        what = "components" if found.group.dimension else "elements"
        order = f"a group of {found.group.order}" if found.group.order else "its"
        listed = f"generators of {order} {what}" if found.group.too_large else what
        parts.append(f"{len(found.group.elements)} {listed}")
    if found.slots is not None and found.slots.order > 1:
        own = [one.words for one in found.permutations[: FEW_WORDS + 1]]
        which = f" ({'; '.join(own)})" if len(own) <= FEW_WORDS else ""
        parts.append(f"the permutations of {found.slots.noun}s{which}")
    if any(order > 1 for order in findings.shift_orders):
        steps = " and ".join(str(step) if step else "none" for step in found.shifts)
        parts.append(f"circular shifts along the axes (by {steps})")
    return " and ".join(parts) + (" hold" if parts else "")
