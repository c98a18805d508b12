"""The symmetries of every layer, in the order of the network."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.results.json_values import json_values
from liegg.results.symmetries import Symmetries
from liegg.results.tables import Printed
from liegg.spectrum.spectrum import symmetry_variance

Problem = Literal["invariance", "unit", "equivariance"]
"""Of the output, of the output scaled to unit length, or of the pair with an output action."""


@dataclass(frozen=True, eq=False)
class LayerResult:
    """Symmetries of one layer's output.

    Attributes:
        name: name of the module, with `#2` for its second call, and so on.
        kind: class of the module.
        shape: shape of one sample's output.
        invariance: symmetries of the output.
        unit: symmetries of the output scaled to unit length, whose variance does not depend on the
            layer's scale.
        equivariance: symmetries of the pair with an action on the outputs; None if no such action
            fits.
        same: earlier layer that returned the same tensor, as for dropout in eval mode; empty if the
            layer computes something.
        notes: remarks on how the layer was analysed.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    invariance: Symmetries
    unit: Symmetries
    equivariance: Symmetries | None = None
    same: str = ""
    notes: tuple[Remark, ...] = ()

    def problem(self, of: str) -> Symmetries | None:
        """One of the layer's problems by name; None if the layer does not have it."""
        if of not in get_args(Problem):
            raise ArgumentError(f"of={of!r}: expected 'invariance', 'unit' or 'equivariance'.")
        return getattr(self, of)

    def to_dict(self) -> dict[str, Any]:
        """The complete layer, as JSON values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "shape": list(self.shape),
            "invariance": self.invariance.to_dict(),
            "unit": self.unit.to_dict(),
            "equivariance": None if self.equivariance is None else self.equivariance.to_dict(),
            "same": self.same,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class LayerDirection:
    """The defect of a named motion in every layer.

    Attributes:
        name: what the motion is called.
        of: the problem, as for `LayerSymmetries.variance`.
        values: `[l]`, largest defect δ² of its generators; NaN if a layer does not have the problem, or if it does not move the data.
        intervals: `[l, 2]`, interval of each; NaN where there is none.
    """

    name: str
    of: Problem
    values: Float[Tensor, " l"]
    intervals: Float[Tensor, "l 2"]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN becomes null."""
        return json_values(self)


@runtime_checkable
class NamedLayer(Protocol):
    """What was found for one layer."""

    @property
    def name(self) -> str:
        """Name of the module."""
        ...


L = TypeVar("L", bound=NamedLayer)


class LayerSequence(Printed, Generic[L]):
    """What results about layers share: one record per layer, in the order of the network, and a table."""

    layers: tuple[L, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the layers."""
        return tuple(layer.name for layer in self.layers)

    def __iter__(self) -> Iterator[L]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    @checked()
    def __getitem__(self, which: int | str) -> L:
        place = self.names.index(which) if which in self.names else which
        if isinstance(place, str):
            raise ArgumentError(
                f"no layer {which!r} was analysed; there are {', '.join(self.names)}."
            )
        if not -len(self) <= place < len(self):
            raise ArgumentError(f"there is no layer {which}: {len(self)} were analysed.")
        return self.layers[place]


@dataclass(frozen=True, eq=False, repr=False)
class LayerSymmetries(LayerSequence[LayerResult]):
    """Symmetries of the layers of a network on some data, first layer first.

    Attributes:
        layers: one result per layer, also available as `result["conv1"]` and `result[0]`.
        model: name of the network.
        action: the candidate generators.
        output_action: the action on the outputs of the layers that it fits; None if there is none.
        samples: number of samples.
        notes: remarks on layers that were left out, and on how the network was analysed.
    """

    layers: tuple[LayerResult, ...]
    model: str
    action: Action
    output_action: Action | None
    samples: int
    notes: tuple[Remark, ...] = ()

    @checked()
    def variance(self, of: Problem = "invariance") -> Float[Tensor, " l"]:
        """The paper's symmetry variance of every layer; NaN if a layer does not have the problem.

        Args:
            of: `"invariance"` of the output, of the `"unit"` output, or `"equivariance"`.
        """
        return self._each(of, lambda sym: symmetry_variance(sym.spectrum))

    @checked()
    def bias(
        self, reference: Float[Tensor, "e n n"], of: Problem = "invariance"
    ) -> Float[Tensor, " l"]:
        """The paper's symmetry bias of every layer's most invariant direction.

        Args:
            reference: generators such as `liegg.so(2)`, in any basis of the algebra.
            of: as for `variance`.
        """
        return self._each(of, lambda sym: float(sym.bias(reference)[0]))

    @checked()
    def defect(
        self, reference: Float[Tensor, "e *n"] | None = None, of: Problem = "invariance"
    ) -> Float[Tensor, " l"]:
        """Largest defect of given generators per layer, or the smallest defect of any direction.

        Args:
            reference: generators as matrices or coefficients; None for each layer's most symmetric direction. NaN if one of
                them does not move the data.
            of: as for `variance`.
        """
        if reference is None:
            return self._each(of, smallest_defect)
        return self._each(of, lambda sym: float(sym.defect(reference).max()))

    @checked()
    def defect_interval(
        self, reference: Float[Tensor, "e *n"], of: Problem = "invariance"
    ) -> Float[Tensor, "l 2"]:
        """Interval of the largest defect of given generators per layer, as `Symmetries.defect_interval`.

        Args:
            reference: generators that were fixed before the data was seen.
            of: `"invariance"` or `"equivariance"`.

        Returns:
            Lower and upper ends of the generator that has the largest defect; NaN at the numerical floor, for `of="unit"`, for
            layers that forward derivatives do not reach, and with too few samples.
        """

        def interval(sym: Symmetries | None) -> Float[Tensor, " 2"]:
            if sym is None:
                return torch.full((2,), torch.nan, dtype=torch.float64)
            return sym.defect_interval(reference)[int(sym.defect(reference).argmax())]

        return torch.stack([interval(layer.problem(of)) for layer in self.layers])

    @checked()
    def about(self, motions: Any, of: Problem = "invariance") -> tuple[LayerDirection, ...]:
        """The defect of named motions in every layer, with intervals.

        Args:
            motions: names of motions that the action knows (`"rotation"`, `["rotation", "scaling"]`), or generators by name, such as
                `{"rotation": liegg.so(2)}`: matrices or coefficients.
            of: as for `variance`.

        Raises:
            ArgumentError: a name that is not a text, or something that is not a generator of the action.
        """
        from liegg.discovery.about.questions import motions_asked

        shape = tuple(self[0].invariance.settings.get("sample") or ())
        found = []
        for name, motion in motions_asked(motions, self.action, shape).items():
            if motion.action is not None:
                raise ArgumentError(
                    f"about={name!r} is not among the candidates of {self.action!r}. Layers know the "
                    "defects of their candidates alone."
                )
            h = motion.generators
            found.append(LayerDirection(name, of, self.defect(h, of), self.defect_interval(h, of)))
        return tuple(found)

    @checked()
    def remarks(self, about: Any = None) -> tuple[Remark, ...]:
        """Where in the network the symmetry is, and which layer loses it.

        Args:
            about: named motions, as for `about`; they come first.
        """
        from liegg.results.layer_account import along_remarks, remarks

        named = [] if about is None else self.about(about)
        return (*(one for each in named for one in along_remarks(self, each)), *remarks(self))

    @property
    def sentence(self) -> str:
        """Where in the network the symmetry is, and which layer loses it, in plain words."""
        from liegg.results.layer_account import sentences

        return sentences(self.remarks())

    def to_dict(self) -> dict[str, Any]:
        """The complete result, as JSON values."""
        return {
            "model": self.model,
            "samples": self.samples,
            "action": self.action.settings(),
            "output_action": None if self.output_action is None else self.output_action.settings(),
            "sentence": self.sentence,
            "remarks": [remark.to_dict() for remark in self.remarks()],
            "layers": [layer.to_dict() for layer in self.layers],
            "notes": list(self.notes),
        }

    @checked()
    def save(self, folder: str | Path) -> Path:
        """Write the layers into a folder, which is created if needed; `liegg.load` reads them back."""
        from liegg.results.layer_storage import save_layers

        return save_layers(self, folder)

    @checked()
    def report(self, path: str | Path, *, about: Any = None, title: str | None = None) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.layers.write_layers`."""
        from liegg.report.page.layers import write_layers

        return write_layers(self, path, about=about, title=title)

    @checked()
    def table(self, about: Any = None, *, width: int | None = None, variance: bool = False) -> str:
        """What `print` shows: one line per layer.

        Args:
            about: named motions, as for `about`; a column for each.
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
            variance: list the paper's symmetry variance of the output and of the output of unit length as well.
        """
        from liegg.results.layers_text import table

        named = () if about is None else self.about(about)
        return table(self, named, self.remarks(about), width=width, variance=variance)

    def __repr__(self) -> str:
        return (
            f"LayerSymmetries({len(self)} layers, action={self.action!r}, samples={self.samples}, "
            f"model={self.model!r})"
        )

    def _each(self, of: Problem, number: Any) -> Float[Tensor, " l"]:
        """One number per layer, as a tensor."""
        problems = [layer.problem(of) for layer in self.layers]
        return torch.tensor(
            [torch.nan if sym is None else number(sym) for sym in problems], dtype=torch.float64
        )


def smallest_defect(sym: Symmetries) -> float:
    """Defect of the most symmetric direction; NaN if no direction moves the data."""
    return float(sym.defects[0]) if len(sym.defects) else torch.nan


def first_question(sym: Symmetries, layers: LayerSymmetries) -> dict[str, Float[Tensor, "k g"]]:
    """The first motion that a result answers for, to follow it through the layers; empty if it is not among their candidates."""
    inside = [one for one in sym.answers if one.inside] if layers.action == sym.action else []
    return {one.name: one.coefficients for one in inside[:1]}
