"""The symmetries of every layer, in the order of the network, and their table."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark, plural
from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.results.symmetries import Symmetries
from liegg.results.tables import as_html
from liegg.spectrum.spectrum import symmetry_variance

Problem = Literal["invariance", "unit", "equivariance"]
"""Of the output, of the output scaled to unit length, or of the pair with an output action."""

LONGEST_NAME = 32
"""Most characters of a layer's name; the beginning of a longer one is cut."""


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


@dataclass(frozen=True, eq=False, repr=False)
class LayerSymmetries:
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

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the layers."""
        return tuple(layer.name for layer in self.layers)

    def __iter__(self) -> Iterator[LayerResult]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    @checked()
    def __getitem__(self, which: int | str) -> LayerResult:
        if not isinstance(which, str):
            if -len(self) <= which < len(self):
                return self.layers[which]
            raise ArgumentError(f"there is no layer {which}: {len(self)} were analysed.")
        for layer in self.layers:
            if layer.name == which:
                return layer
        raise ArgumentError(f"no layer {which!r} was analysed; there are {', '.join(self.names)}.")

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
        self, reference: Float[Tensor, "e n n"] | None = None, of: Problem = "invariance"
    ) -> Float[Tensor, " l"]:
        """Largest defect of given generators per layer, or the smallest defect of any direction.

        Args:
            reference: generators; None for each layer's most symmetric direction. NaN if one of
                them does not move the data.
            of: as for `variance`.
        """
        if reference is None:
            return self._each(of, _smallest_defect)
        return self._each(of, lambda sym: float(sym.defect(reference).max()))

    def to_dict(self) -> dict[str, Any]:
        """The complete result, as JSON values."""
        return {
            "model": self.model,
            "samples": self.samples,
            "action": self.action.settings(),
            "output_action": None if self.output_action is None else self.output_action.settings(),
            "layers": [layer.to_dict() for layer in self.layers],
            "notes": list(self.notes),
        }

    @checked()
    def save(self, folder: str | Path) -> Path:
        """Write `layers.json` and every layer's results into a folder; see `load_layers`."""
        from liegg.results.layer_storage import save_layers

        return save_layers(self, folder)

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return as_html(self)

    def __str__(self) -> str:
        return _table(self)

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


def _table(result: LayerSymmetries) -> str:
    """All layers: number of symmetries, smallest defect, the paper's variance."""
    pairs = result.output_action is not None
    heads = ["layer", "kind", "output", "symmetries", "defect δ²", "variance", "unit variance"]
    heads += ["equivariances", "their δ²"] if pairs else []
    lines = [heads, *(_cells(layer, pairs=pairs) for layer in result)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    outputs = dict.fromkeys(str(layer.invariance.settings["outputs"]) for layer in result)
    first = result[0].invariance
    return "\n".join(
        [
            f"{plural(len(result), 'layer')} of {result.model} under {result.action}",
            *([f"equivariance with {result.output_action} on the outputs"] if pairs else []),
            f"{result.samples} samples, outputs={' or '.join(outputs)}, {first.settings['dtype']}",
            "",
            *(
                "  "
                + "  ".join(_padded(cell, i, widths[i]) for i, cell in enumerate(line)).rstrip()
                for line in lines
            ),
            *([""] if any(layer.notes for layer in result) or result.notes else []),
            *(f"  note: {note}" for note in result.notes),
            *(
                f"  note on {layer.name}: {note}"
                for layer in result
                if not layer.same
                for note in layer.notes
            ),
        ]
    )


def _cells(layer: LayerResult, *, pairs: bool) -> list[str]:
    name = layer.name if len(layer.name) <= LONGEST_NAME else "…" + layer.name[1 - LONGEST_NAME :]
    cells = [
        name,
        layer.kind,
        f"as {layer.same}" if layer.same else "×".join(map(str, layer.shape)) or "1",
        *_count_and_defect(layer.invariance),
        f"{symmetry_variance(layer.invariance.spectrum):.2e}",
        f"{symmetry_variance(layer.unit.spectrum):.2e}",
    ]
    return cells + _count_and_defect(layer.equivariance) if pairs else cells


def _count_and_defect(sym: Symmetries | None) -> list[str]:
    """The number of symmetries and the smallest defect; dashes for what there is not."""
    if sym is None:
        return ["–", "–"]
    return [str(sym.nullity), f"{_smallest_defect(sym):.2e}".replace("nan", "–")]


def _smallest_defect(sym: Symmetries) -> float:
    return float(sym.defects[0]) if len(sym.defects) else torch.nan


def _padded(cell: str, column: int, width: int) -> str:
    """Align words to the left, numbers to the right."""
    return cell.ljust(width) if column < 3 else cell.rjust(width)
