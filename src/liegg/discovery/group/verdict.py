"""Name, words and sentence of a result, from the record alone."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, MatrixAction
from liegg.algebra import identify
from liegg.algebra.finite.element_words import element_words
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup, permutation_words
from liegg.algebra.finite.whole_name import TRIVIAL, whole_name
from liegg.decision.grades import GRADES
from liegg.discovery.group.algebra import uncertainty_of
from liegg.discovery.group.assemble import BESIDE
from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.symmetries import Symmetries

MIRRORS = ("−1", "sign of an invariant part", "reflection of a form", "sign flip")
"""Structured elements that are mirror images where their determinant is negative."""


def name_of(
    group: FiniteGroup | None,
    algebra: Float[Tensor, "d n n"],
    slots: SlotGroup | None,
    continuous: Symmetries | None,
    *,
    shifts: tuple[int, ...],
) -> str:
    """Name of the whole group.

    Args:
        group: components of the matrices.
        algebra: generators of the identity component, of the size of the elements.
        slots: permutations.
        continuous: the continuous symmetries.
        shifts: orders of the groups of circular shifts.
    """
    named = "" if continuous is None or not continuous.nullity else (continuous.name or "unknown")
    if named.startswith("unknown") and len(algebra):
        # An action without matrices has no name for its span, but the part on this space has.
        named = identify(algebra, uncertainty=uncertainty_of(continuous)).name
    return whole_name(
        named,
        algebra if len(algebra) else None,
        group,
        slots,
        shifts=shifts,
        uncertainty=uncertainty_of(continuous),
    )


def with_words(element: GroupElement, action: Action) -> GroupElement:
    """The element with words for what each factor does."""
    if element.words:
        return element
    names = next((part.axes for part in action.parts if isinstance(part, MatrixAction)), None)
    parts = [
        factor_words(kind, matrix, names)
        for kind, matrix in zip(element.kinds, element.matrices, strict=True)
    ]
    return replace(element, words=" and ".join(parts))


def factor_words(kind: str, matrix: Float[Tensor, "n n"], names: tuple[str, ...] | None) -> str:
    """What one factor of an element does.

    >>> factor_words("slots", torch.eye(3)[[0, 2, 1]], None)
    'swaps slots 2 and 3'
    """
    if kind == "slots":
        return permutation_words(matrix.argmax(1).tolist())
    if kind == "shifts":
        return f"circular shift by {int(matrix[:, 0].argmax())}"
    last = torch.zeros(len(matrix), dtype=torch.float64)
    last[-1] = 1.0
    n = len(matrix)
    homogeneous = (
        n > 1 and bool((matrix[-1] == last).all()) and (names is None or len(names) == n - 1)
    )
    fits = names is not None and len(names) == n - homogeneous
    axes = names if fits else (("x", "y", "z")[:n] if kind == "grid" else None)
    return element_words(matrix, coordinates=axes, homogeneous=homogeneous, tolerance=1e-6)


def sentence(found: GroupSymmetries) -> str:
    """The finding in one or two sentences: the group, how well it holds, what was refuted or is not testable."""
    if found.spread <= 0 or any(
        note.diagnosis.name == "CONSTANT_HELD_OUT_OUTPUT" for note in found.notes
    ):
        return "Undecided: the output is the same for all samples."
    counted = [*found.elements[1:], *found.permutations]
    parts = []
    if found.name == TRIVIAL:
        parts.append("No finite symmetry but the identity was found")
    else:
        parts.append(found.name)
    if counted:
        worst = max(counted, key=lambda one: (GRADES.index(one.grade), one.effect))
        how = (
            "up to rounding"
            if worst.grade == "exact"
            else f"to {worst.effect:.2g} of the output's spread"
        )
        parts[-1] += f": {_counted(found)} {how} ({worst.grade})"
    mirror = _mirror(found)
    if mirror is not None:
        size = f"{mirror.effect * found.spread:.3g}, {mirror.effect:.2g} of the output's spread"
        parts.append(f"mirror images differ by {size}")
    if found.kept_rotations is not None:
        fold, effect = found.kept_rotations
        parts.append(
            f"of the rotations by any angle the network keeps those by multiples of {360 / fold:g}° to {effect:.2g}"
        )
    if any(note.diagnosis.name == "GROUP_MIXED" for note in found.notes):
        parts.append("further symmetries pair a matrix with a permutation (see the notes)")
    if found.not_testable:
        first = found.not_testable[0]
        more = len(found.not_testable) - 1
        others = f" and {more} more" if more else ""
        parts.append(f"not testable on this data: {first.words}{others} ({first.reason})")
    return "; ".join(parts) + "."


def _counted(found: GroupSymmetries) -> str:
    """How many elements hold."""
    parts = []
    if found.order > 1:
        what = "components" if found.group is not None and found.group.dimension else "elements"
        parts.append(f"{found.order} {what}")
    if found.slots is not None and found.slots.order > 1:
        parts.append("the permutations of slots")
    return " and ".join(parts) + (" hold" if parts else "")


def _mirror(found: GroupSymmetries) -> GroupElement | None:
    """The best mirror image that is not a symmetry, where continuous symmetries leave that question open."""
    if found.continuous is None or not found.continuous.nullity:
        return None
    reversing = [one for one in found.elements if _reverses(one)]
    untested = [one for one in found.not_testable if _reverses(one)]
    if reversing or untested:
        return None
    tried = [
        one
        for one in found.rejected
        if one.source in MIRRORS and _reverses(one) and one.reason in ("", BESIDE)
    ]
    return min(tried, key=lambda one: one.effect, default=None)


def _reverses(element: GroupElement) -> bool:
    """Whether an element reverses orientation."""
    return element.kinds[0] == "vectors" and float(torch.linalg.det(element.matrices[0])) < 0
