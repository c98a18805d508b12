"""Name and sentence of a result, from the record alone."""

from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.symmetries import Symmetries


def whole_name(
    group: FiniteGroup | None,
    slots: SlotGroup | None,
    shifts: tuple[int, ...],
    continuous: Symmetries | None,
) -> str:
    """Name of the whole group."""
    parts = []
    if continuous is not None and continuous.nullity:
        parts.append(continuous.name or f"a {continuous.nullity}-dimensional group")
    if group is not None:
        parts.append(group.name)
    if slots is not None and slots.name:
        parts.append(slots.name)
    return " × ".join(parts) or "trivial"


def sentence(found: GroupSymmetries) -> str:
    """The finding in one sentence."""
    return found.name
