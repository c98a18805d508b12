"""Which layer breaks a symmetry: the equivariance error that each layer adds under one motion."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark
from liegg._utils.text import percentage
from liegg.actions import Action
from liegg.results.json_values import json_values
from liegg.results.layers import LayerSequence
from liegg.results.tables import table_width

Role = Literal[
    "convolution", "pooling", "padding", "nonlinearity", "normalisation", "linear", "block", "other"
]
"""What a layer is; a block calls other modules."""

Cause = Literal[
    "padding",
    "stride or pooling",
    "nonlinearity",
    "filters",
    "global pooling",
    "flattening",
    "interpolation",
    "other",
]
"""What an error is due to; interpolation is that of the motion itself."""

POINTWISE: tuple[Role, ...] = ("nonlinearity", "normalisation")
"""Layers that treat every pixel alike and alone."""


@dataclass(frozen=True, kw_only=True)
class LayerError:
    r"""The equivariance error of one layer, relative to the variance of its output.

    Effects are changes of the network's output, relative to its variance, if only this layer has its
    error: $g^{-1}(l(gu) - g\,l(u))$ is added to its output $l(u)$, and the samples do not move.

    Attributes:
        name: name of the module, with `#2` for its second call, and so on.
        kind: class of the module.
        role: what it is, in words.
        shape: shape of one sample's output.
        cause: what its error is due to, away from the border.
        pads: whether it pads its input.
        total: $|\Phi_l(gx) - g\Phi_l(x)|^2$ of the network up to this layer.
        added: $|l(gu) - g\,l(u)|^2$, which the layer adds to an input that moves exactly.
        interior: the same for the pixels that see nothing of the border; NaN if there are none.
        unstrided: the same for a convolution with a stride, without it, which its filters alone cause; NaN
            for other layers.
        resampling: error of moving its output there and back, which no layer is to blame for.
        exact: whether the motion takes pixels to pixels here, so that nothing is interpolated.
        effect: change of the output of the network; NaN if it was not asked for.
        changed: share of the network's predictions that this error alone changes; NaN without classes.
    """

    name: str
    kind: str
    role: Role
    shape: tuple[int, ...]
    cause: Cause
    pads: bool
    total: float
    added: float
    interior: float
    unstrided: float
    resampling: float
    exact: bool
    effect: float = math.nan
    changed: float = math.nan

    def causes(self) -> dict[Cause, float]:
        """The effect of the layer, or the error it adds if effects are not known, divided into causes.

        The shares are those of the error that the layer adds. What the interior does not have is padding,
        if the layer pads. As much of the rest as moving there and back makes is interpolation, except
        for nonlinearities: at a single pixel, interpolation commutes with every linear layer. What a strided
        convolution has without its stride is due to its filters.
        """
        whole = self.effect if math.isfinite(self.effect) else self.added
        if not (0 < whole < math.inf and 0 < self.added < math.inf):
            return {}
        inner = self.interior if self.pads and math.isfinite(self.interior) else self.added
        own = min(inner, self.added) / self.added * whole
        found: dict[Cause, float] = {"padding": whole - own}
        if inner > 0 and self.role not in POINTWISE:
            found["interpolation"] = min(1.0, self.resampling / inner) * own
            own -= found["interpolation"]
        if self.interior > 0 and math.isfinite(self.unstrided):
            found["filters"] = min(1.0, self.unstrided / self.interior) * own
            own -= found["filters"]
        found[self.cause] = found.get(self.cause, 0.0) + own
        return {cause: value for cause, value in found.items() if value > 0}

    @property
    def weight(self) -> float:
        """The effect of the layer, or the error it adds if effects are not known; without interpolation."""
        return math.fsum(
            value for cause, value in self.causes().items() if cause != "interpolation"
        )

    @property
    def main_cause(self) -> Cause:
        """The cause of the largest part of its error; interpolation only if there is no other."""
        found = self.causes()
        ranked = sorted(found, key=lambda cause: (cause == "interpolation", -found[cause]))
        return ranked[0] if ranked else self.cause

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values; NaN becomes null."""
        return json_values(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LayerErrors(LayerSequence[LayerError]):
    """The equivariance errors of the layers of a network under one motion, first layer first.

    Attributes:
        motion: name of the motion.
        size: how far it goes, in `unit`.
        unit: `"°"`, `"pixels"`, `"%"`, or empty for units of the generators.
        model: name of the network.
        action: the action that the motion belongs to.
        samples: number of samples.
        output: change of the output, relative to its variance; of a map, its equivariance error.
        floor: error that rounding alone may cause.
        layers: one record per layer, also available as `result["conv1"]` and `result[0]`.
        notes: layers that could not be measured, and why.
        changed: share of the predictions that the motion changes; NaN without classes.
    """

    motion: str
    size: float
    unit: str
    model: str
    action: Action
    samples: int
    output: float
    floor: float
    layers: tuple[LayerError, ...]
    notes: tuple[Remark, ...] = ()
    changed: float = math.nan

    @property
    def single(self) -> tuple[LayerError, ...]:
        """The layers that call no other module; blocks, if there are only blocks."""
        return tuple(layer for layer in self.layers if layer.role != "block") or self.layers

    @property
    def worst(self) -> tuple[LayerError, ...]:
        """The layers that add something, the one that adds most first."""
        found = [layer for layer in self.single if layer.weight > self.floor]
        return tuple(sorted(found, key=lambda layer: -layer.weight))

    def by_cause(self) -> dict[Cause, float]:
        """Share of every cause in the sum over the layers, the largest first; empty if none adds anything.

        Effects of single layers need not add up to the error of the network: errors of different layers
        may cancel or reinforce each other.
        """
        sums: dict[Cause, float] = {}
        for layer in self.single:
            for cause, value in layer.causes().items():
                if value > self.floor:
                    sums[cause] = sums.get(cause, 0.0) + value
        whole = sum(sums.values())
        return {cause: sums[cause] / whole for cause in sorted(sums, key=lambda one: -sums[one])}

    @property
    def explained(self) -> bool:
        """Whether the effects of the layers can add up to the error of the network, all in one direction.

        If not, operations that are not modules, or layers that were left out, add to it as well. True if
        effects are not known.
        """
        if any(math.isnan(layer.effect) for layer in self.single):
            return True
        return (
            self.output <= sum(math.sqrt(layer.effect) for layer in self.single) ** 2 + self.floor
        )

    @property
    def sentence(self) -> str:
        """The answer: how much the motion changes, and which layer adds most of it."""
        what = f"{self.motion[:1].upper()}{self.motion[1:]} by {self.amount}"
        worst = self.worst
        if self.output <= self.floor:
            more = "; errors of its layers do not reach it" if worst else ""
            return f"{what} does not change the output of {self.model}{more}."
        of_variance = f"{percentage(self.output)} of its variance"
        change = f"{what} changes the output of {self.model} by {of_variance}"
        if math.isfinite(self.changed):
            predictions = f"{percentage(self.changed)} of the predictions of {self.model}"
            change = f"{what} changes {predictions}, and its output by {of_variance}"
        if not worst:
            return f"{change}; no layer that was measured adds to it, so other operations do."
        first = worst[0]
        share = first.weight / sum(layer.weight for layer in worst)
        part = "most" if share > 0.5 else "the largest part"
        of = "is" if self.explained else "of what its layers explain is"
        rest = "" if self.explained else " Other operations, which are not modules, add the rest."
        place = f"layer {first.name}" if first.name.isdigit() else first.name
        causes = ", ".join(
            f"{cause} {percentage(value)}"
            for cause, value in self.by_cause().items()
            if value >= 0.005
        )
        return (
            f"{change}; {part} {of} added by {place} ({first.main_cause}, {percentage(share)} of "
            f"what all layers add). By cause: {causes}.{rest}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The complete result, as JSON values; NaN becomes null."""
        plain = (
            "motion",
            "size",
            "unit",
            "model",
            "samples",
            "output",
            "changed",
            "floor",
            "explained",
        )
        return json_values(
            {name: getattr(self, name) for name in plain}
            | {
                "action": self.action.settings(),
                "by_cause": self.by_cause(),
                "layers": self.layers,
                "notes": self.notes,
            }
        )

    @property
    def amount(self) -> str:
        """The size of the motion in words."""
        return amount(self.size, self.unit)

    @checked()
    def save(self, folder: str | Path) -> Path:
        """Write the errors into a folder, which is created if needed; `liegg.load` reads them back."""
        from liegg.results.layer_storage import save_layer_errors

        return save_layer_errors(self, folder)

    @checked()
    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.layer_errors.write_layer_errors`."""
        from liegg.report.page.layer_errors import write_layer_errors

        return write_layer_errors(self, path, title=title)

    @checked()
    def table(self, *, width: int | None = None, variance: bool = False) -> str:
        """What `print` shows: the sentence, and the layers that add most.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
            variance: as for other results; errors have no variance of the paper.
        """
        from liegg.results.layer_errors_text import lines

        return "\n".join(lines(self, table_width(width)))

    def __repr__(self) -> str:
        return (
            f"LayerErrors({self.motion} by {self.amount}, {len(self)} layers, model={self.model!r})"
        )


def amount(size: float, unit: str) -> str:
    """A size in words.

    >>> amount(1.0, "pixels"), amount(90.0, "°"), amount(25.0, "%"), amount(0.5, "")
    ('1 pixel', '90°', '25 %', '0.5')
    """
    digits = f"{size:.3g}"
    if unit == "pixels":
        return f"{digits} pixel{'s' * (digits != '1')}"
    return f"{digits}{' ' * (unit == '%')}{unit}"
