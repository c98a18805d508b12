"""What a search has found so far, and the judge of what it tries."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from liegg._utils.diagnoses import Remark
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.discovery.group.candidate import Candidate, with_partner
from liegg.discovery.group.judge import judge
from liegg.discovery.group.random_maps import RandomMaps, random_maps
from liegg.discovery.group.setting import Setting
from liegg.results.group_symmetries import GroupElement

FEWEST_TESTS = 64
"""Number of elements for which intervals are corrected at least."""


@dataclass
class Findings:
    """What the spaces of a sample gave, before it becomes a record.

    Attributes:
        setting: model and samples.
        judged: elements judged so far; intervals are corrected for how many compete.
        random: what random maps of each kind of space change; measured when they are first needed.
        accepted: elements on vectors, channels and the grid that count.
        rejected: elements that were judged and do not.
        permutations: permutations of slots that count.
        group: closed under multiplication; None if no matrix but the identity was found.
        elements: one per element of the group, the identity left out.
        slots: the group of the permutations; None without slots.
        shifts: smallest circular shift along every axis of a grid.
        shift_orders: orders of the groups that they generate.
        tried: number of elements by where they come from.
        notes: remarks.
    """

    setting: Setting
    judged: int = 0
    random: dict[str, RandomMaps | None] = field(default_factory=dict)
    accepted: list[GroupElement] = field(default_factory=list)
    rejected: list[GroupElement] = field(default_factory=list)
    permutations: list[GroupElement] = field(default_factory=list)
    group: FiniteGroup | None = None
    elements: tuple[GroupElement, ...] = ()
    slots: SlotGroup | None = None
    shifts: list[int] = field(default_factory=list)
    shift_orders: list[int] = field(default_factory=list)
    tried: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = field(default_factory=list)

    def judge(self, candidates: Sequence[Candidate]) -> list[GroupElement]:
        """Grade elements on held-out samples, completed with what they do to the output."""
        self.judged += len(candidates)
        completed = [with_partner(candidate, self.setting) for candidate in candidates]
        for candidate in completed:
            space = candidate.factors[0][0]
            if space.kind not in self.random:
                self.random[space.kind] = random_maps(self.setting, space)
        return judge(self.setting, self.random, completed, tests=max(FEWEST_TESTS, self.judged))

    def add(self, elements: Sequence[GroupElement]) -> None:
        """Sort elements by whether they count."""
        self.accepted += [element for element in elements if element.counted]
        self.rejected += [element for element in elements if not element.counted]

    def count(self, source: str, number: int) -> None:
        """Note how many elements were tried."""
        self.tried[source] = self.tried.get(source, 0) + number
