"""The frozen result of `liegg.discover_group`: finite elements, their evidence, and the group that they form."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.decision.grades import COUNTED
from liegg.results.symmetries import Symmetries
from liegg.results.tables import Printed

UNDECIDED = "undecided"
"""The name where this data cannot tell whether there is a symmetry."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupElement:
    """A finite element with its evidence on held-out samples.

    Attributes:
        kinds: what it moves: `"vectors"`, `"channels"`, `"grid"`, `"shifts"` or `"slots"`, one per factor.
        matrices: one per factor: a linear or homogeneous matrix, a signed permutation of the axes of a grid, or a permutation.
        words: what it does, such as "reflection x → −x".
        source: where it comes from: a structured element, a random start, or a product of others.
        output_kinds: what it moves of the output; empty for invariance.
        output_matrices: what it does to the output.
        displacement: root mean square motion of the samples, in multiples of their spread.
        effect: root mean square change of the output, over its spread.
        interval: of the effect, at the level of the thresholds, corrected for the number of elements that were judged.
        reference: effect of random maps that move the samples as far.
        defect: squared effect over squared reference; 0 is exact, 1 is what a random map does.
        defect_high: upper end of its interval.
        changed: share of changed predictions; None without classes.
        grade: exact, strong, approximate, weak, none; or "not testable" where the data cannot tell.
        reason: why it is not testable, or why it is not counted in spite of its grade; empty otherwise.
        component: number of the component of the group that it represents; None if it does not belong to it.
    """

    kinds: tuple[str, ...]
    matrices: tuple[Float[Tensor, "_ _"], ...]
    words: str
    source: str
    output_kinds: tuple[str, ...]
    output_matrices: tuple[Float[Tensor, "_ _"], ...]
    displacement: float
    effect: float
    interval: tuple[float, float]
    reference: float
    defect: float
    defect_high: float
    changed: float | None
    grade: str
    reason: str = ""
    component: int | None = None

    @property
    def counted(self) -> bool:
        """Whether it counts as a symmetry: its grade does, and nothing contradicts it."""
        return self.grade in COUNTED and not self.reason

    @property
    def matrix(self) -> Float[Tensor, "n n"]:
        """The matrix of its first factor."""
        return self.matrices[0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Angle:
    """A finite rotation of images, with interpolation.

    Attributes:
        degrees: the angle.
        effect: root mean square change of the output, over its spread.
        interval: of the effect.
        changed: share of changed predictions; None without classes.
    """

    degrees: float
    effect: float
    interval: tuple[float, float]
    changed: float | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupSymmetries(Printed):
    """Which finite elements, beyond the continuous ones, leave a model's output as it is.

    Attributes:
        elements: one per component of the group on the vectors, channels or the grid, identity first; they are closed under
            multiplication up to the identity component.
        permutations: generators of the permutations of slots, with their evidence.
        rejected: elements that were tried and are not symmetries, or not testable; nearest first.
        infinite: exact symmetries whose powers never return to the identity, such as the periods of a crystal: a basis of the shortest
            translations, or one other element. The complete group is then infinite.
        group: the component group of matrices; None if nothing but slots was searched.
        slots: permutations of slots; None if there are none to permute.
        shifts: for every axis of a grid, the smallest circular shift that is a symmetry, in places; 0 for none.
        angles: finite rotations of images with interpolation; empty for other inputs.
        kept_rotations: largest k such that rotations by multiples of 360°/k return the output, and the largest effect among them; None
            if there is none beyond the exact ones.
        continuous: the continuous symmetries, of which the identity component consists; None if there are none to search.
        name: of the complete group, such as "O(3) ⋉ R³ × S₄"; "trivial" if there is no symmetry, "undecided" if none was found that this
            data can test.
        sentence: the finding in one sentence.
        tried: number of elements by where they come from.
        judged: number of elements judged on held-out samples.
        samples: numbers of samples that were searched on and judged on.
        floor: effect that rounding alone may cause.
        spread: root mean square distance of the outputs from their mean, in the unit of the output.
        notes: remarks.
        settings: seed, thresholds and actions.
        model: name of the model.
    """

    elements: tuple[GroupElement, ...]
    permutations: tuple[GroupElement, ...]
    rejected: tuple[GroupElement, ...]
    infinite: tuple[GroupElement, ...] = ()
    group: FiniteGroup | None
    slots: SlotGroup | None
    shifts: tuple[int, ...]
    angles: tuple[Angle, ...]
    kept_rotations: tuple[int, float] | None
    continuous: Symmetries | None
    name: str
    sentence: str
    tried: dict[str, int]
    judged: int
    samples: tuple[int, int]
    floor: float
    spread: float
    notes: tuple[Remark, ...]
    settings: dict[str, Any]
    model: str

    @property
    def order(self) -> int | None:
        """Number of components on vectors, channels or the grid; permutations are in `slots`, circular shifts in `shifts`.

        None if it is infinite, see `infinite`. Where the name says "more than", it is this lower bound.
        """
        if self.infinite:
            return None
        if self.group is None:
            return 1
        if self.group.reason is not None and self.group.too_large and self.group.order is None:
            return int(self.group.reason.values["limit"]) + 1
        return self.group.order or len(self.group.elements)

    @property
    def directions(self) -> int:
        """Number of continuous symmetries in the name: all of them, or only the exact ones where something is exact."""
        return self.settings.get(
            "directions", 0 if self.continuous is None else self.continuous.nullity
        )

    @property
    def words(self) -> tuple[str, ...]:
        """What the elements do."""
        return tuple(element.words for element in self.elements)

    @property
    def not_testable(self) -> tuple[GroupElement, ...]:
        """Elements about which this data says nothing."""
        return tuple(one for one in self.rejected if one.grade == "not testable")

    @checked()
    def table(self, *, width: int | None = None) -> str:
        """What `print` shows: the finding, then one line per element.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
        """
        from liegg.results.group_text import table

        return table(self, width=width)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        from liegg.results.group_storage import as_dict

        return as_dict(self)

    @checked()
    def save(self, folder: str | Path) -> Path:
        """Write the result into a folder, which is created if needed; `liegg.load` reads it back."""
        from liegg.results.group_storage import save_group

        return save_group(self, folder)

    @checked()
    def report(
        self,
        path: str | Path,
        *,
        samples: Any = None,
        model: Any = None,
        classes: Sequence[str] | None = None,
        title: str | None = None,
    ) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.group.write_group`."""
        from liegg.report.page.group import write_group

        return write_group(self, path, samples=samples, model=model, classes=classes, title=title)

    def __repr__(self) -> str:
        return f"GroupSymmetries(name={self.name!r}, order={self.order}, model={self.model!r})"
