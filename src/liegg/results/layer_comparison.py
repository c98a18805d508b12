"""The result of `compare` for two networks layer by layer, and what that shows."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg._utils.text import root_percent
from liegg.results.comparison import Measured, PairedDefect, SideBySide
from liegg.results.json_values import json_values
from liegg.results.layer_account import algebra_in_brackets, sentences
from liegg.results.layers import LayerDirection, LayerResult, LayerSymmetries, smallest_defect
from liegg.results.symmetries import Symmetries


@dataclass(frozen=True, eq=False)
class LayerPair:
    """A layer that both networks have.

    Attributes:
        a: the layer of the first network.
        b: the layer of the second.
        shared: number of symmetries of its output that both have.
        shared_equivariances: the same for equivariance; None if one of them was not tested.
        directions: the defect of named motions in both.
    """

    a: LayerResult
    b: LayerResult
    shared: int
    shared_equivariances: int | None = None
    directions: tuple[PairedDefect, ...] = ()

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self.a.name

    @property
    def kind(self) -> str:
        """Class of its module; that of both if they differ."""
        return self.a.kind if self.a.kind == self.b.kind else f"{self.a.kind} / {self.b.kind}"

    @property
    def undecided(self) -> bool:
        """Whether the data of one of them leaves directions open."""
        return any(layer.invariance.decision.undecided for layer in (self.a, self.b))

    @property
    def differs(self) -> bool:
        """Whether one of them has a symmetry that the other does not have."""
        counts = (self.a.invariance.nullity, self.b.invariance.nullity)
        return not self.undecided and max(counts) > self.shared

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        sides = {
            side: {
                "kind": layer.kind,
                "nullity": layer.invariance.nullity,
                "name": layer.invariance.name,
                "undecided": layer.invariance.decision.undecided,
                "smallest": smallest_defect(layer.invariance),
                "equivariances": None if layer.equivariance is None else layer.equivariance.nullity,
            }
            for side, layer in (("a", self.a), ("b", self.b))
        }
        own = {
            "name": self.name,
            "shared": self.shared,
            "shared_equivariances": self.shared_equivariances,
            "differs": self.differs,
            "directions": [pair.to_dict() for pair in self.directions],
        }
        return json_values(own | sides)


@dataclass(frozen=True, eq=False, repr=False)
class LayerComparison(SideBySide):
    """Symmetries of the layers of two networks side by side; printed as a table.

    Attributes:
        a: the first result of `discover_layers`.
        b: the second.
        pairs: the layers that both have, in the order of the first.
        notes: what to know about the numbers.
        names: names of the two networks.
    """

    a: LayerSymmetries
    b: LayerSymmetries
    pairs: tuple[LayerPair, ...]
    notes: tuple[Remark, ...] = ()
    names: tuple[str, str] = ("a", "b")

    @property
    def only_a(self) -> tuple[str, ...]:
        """Layers that only the first network has."""
        return tuple(name for name in self.a.names if name not in self.b.names)

    @property
    def only_b(self) -> tuple[str, ...]:
        """Layers that only the second network has."""
        return tuple(name for name in self.b.names if name not in self.a.names)

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the motions that are compared, see `about`."""
        return tuple(pair.words for pair in self.pairs[0].directions) if self.pairs else ()

    @checked()
    def about(self, motions: Any) -> "LayerComparison":
        """The comparison with the defect of named motions in every layer of both.

        Args:
            motions: generators by name, such as `{"rotation": liegg.so(2)}`.

        Raises:
            ArgumentError: something that is not a generator of the action.
        """
        named = list(zip(self.a.about(motions), self.b.about(motions), strict=True))
        pairs = [
            replace(
                pair,
                directions=tuple(
                    PairedDefect(
                        "named",
                        one.name,
                        None,
                        _measured(self.a, one, pair.name),
                        _measured(self.b, other, pair.name),
                    )
                    for one, other in named
                ),
            )
            for pair in self.pairs
        ]
        return replace(self, pairs=tuple(pairs))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """In which layers the networks differ, and which is less sensitive to named motions."""
        named = (one for i in range(len(self.motions)) for one in _along(self, i))
        return (*named, *_counts(self))

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        return sentences(self.remarks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        sides = {
            side: {"model": result.model, "samples": result.samples}
            for side, result in (("a", self.a), ("b", self.b))
        }
        return sides | {
            "action": self.a.action.settings(),
            "sentence": self.sentence,
            "remarks": [remark.to_dict() for remark in self.remarks],
            "layers": [pair.to_dict() for pair in self.pairs],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "notes": [remark.to_dict() for remark in self.notes],
        }

    @checked()
    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.comparisons.write_layer_comparison`."""
        from liegg.report.page.comparisons import write_layer_comparison

        return write_layer_comparison(self, path, title=title)

    @checked()
    def table(self, *, width: int | None = None) -> str:
        """What `print` shows.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
        """
        from liegg.results.layer_comparison_text import table

        return table(self, width=width)

    def __repr__(self) -> str:
        return (
            f"LayerComparison({plural(len(self.pairs), 'layer')}, "
            f"{sum(pair.differs for pair in self.pairs)} differ)"
        )


def _measured(result: LayerSymmetries, direction: LayerDirection, name: str) -> Measured:
    """The defect of a named motion in one layer, exact at the numerical floor; unknown if no sample determines it."""
    place = result.names.index(name)
    decision = result[place].invariance.decision
    value, (low, high) = float(direction.values[place]), direction.intervals[place].tolist()
    if value <= decision.floor:
        unknown = bool(decision.undecided)
        return Measured(math.nan if unknown else value, 0.0, decision.floor, exact=not unknown)
    return Measured(value, low, high, exact=False)


def _counts(comparison: LayerComparison) -> list[Remark]:
    """In which layers the symmetries differ."""
    pairs = [pair for pair in comparison.pairs if not pair.undecided]
    undecided = len(comparison.pairs) - len(pairs)
    notes = (
        [Diagnosis.LAYERS_UNDECIDED(count=undecided, total=len(comparison.pairs))]
        if undecided
        else []
    )
    if not pairs:
        return notes
    if differing := [pair for pair in pairs if pair.differs]:
        first = differing[0]
        differ = Diagnosis.LAYERS_DIFFER(
            count=len(differing),
            total=len(pairs),
            layer=f"layer {first.name} ({first.kind})",
            a=_found(first.a.invariance),
            b=_found(first.b.invariance),
            **comparison.both,
        )
        return [differ, *notes]
    most = max(pair.a.invariance.nullity for pair in pairs)
    if not most:
        return [Diagnosis.LAYERS_SAME_NONE(), *notes]
    return [Diagnosis.LAYERS_SAME_COUNTS(total=len(pairs), most=most), *notes]


def _along(comparison: LayerComparison, i: int) -> list[Remark]:
    """Which network is less sensitive to a named motion in its last layer, and in which layers one clearly is."""
    pairs = [pair for pair in comparison.pairs if not pair.a.same]
    directions = [pair.directions[i] for pair in pairs]
    name, clear = directions[0].words, [one.smaller for one in directions]
    found = [
        Diagnosis.LAYERS_ALONG_CLEARER(
            name=name, model=model, count=clear.count(side), total=len(pairs)
        )
        for side, model in zip("ab", comparison.names, strict=True)
        if side in clear
    ]
    found = found or [Diagnosis.LAYERS_ALONG_ALIKE(name=name)]
    a, b = directions[-1].a, directions[-1].b
    if math.isnan(a.value) or math.isnan(b.value):
        return found
    ends = {
        "a": root_percent(a.value, a.high if a.exact else 0.0),
        "b": root_percent(b.value, b.high if b.exact else 0.0),
    }
    model = comparison.named(clear[-1])
    end = Diagnosis.LAYERS_ALONG_END(
        name=name,
        layer=f"layer {pairs[-1].name}",
        clearly=f"clearly less in {model}" if model else "which is not clearly different",
        **ends,
        **comparison.both,
    )
    return [end, *found]


def _found(sym: Symmetries) -> str:
    """The number of symmetries, and their algebra if it has a name."""
    return f"{plural(sym.nullity, 'symmetry')}{algebra_in_brackets(sym)}"
