"""What a span of matrices was identified as: one frozen record with everything needed to question it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import structure_constants
from liegg.algebra.closure import Closure
from liegg.algebra.forms.forms import Forms, preserved_forms
from liegg.algebra.forms.standard import Standard, standard_frame
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.invariants import Invariants, invariants
from liegg.algebra.structure.real_forms import UNKNOWN
from liegg.algebra.subspace import orthonormal
from liegg.algebra.words.latex import brackets_latex, generators_latex
from liegg.algebra.words.readable import Readable, adapted

SHOWN = 3
"""Rivals listed in the text."""


@dataclass(frozen=True)
class Alternative:
    """Another algebra that the span might have been.

    Attributes:
        name: what it is called.
        angle: largest principal angle between the span and the nearest algebra of this kind, in radians.
        needs: uncertainty of a unit generator, in radians, that would explain the distance.
        reason: why it was not chosen.
    """

    name: str
    angle: float
    needs: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """The name of an algebra of matrices, how sure it is, and why.

    Attributes:
        name: what it is called, by the way it acts; "unknown" where nothing fits, "0" for no generators.
        span: orthonormal generators as they were given, dependent ones reduced.
        generators: orthonormal generators of the named algebra nearest to them, exactly closed; the span itself if unknown.
        aliases: other names of the same algebra; some of them usually act on other spaces.
        meaning: what the maps do, in words.
        confident: the margin is at least 1.5.
        margin: how many times larger the uncertainty had to be for another name as simple to be possible; at most 1 where another
            algebra fits as well, a larger one in coordinates stretched by no more than 30 among them.
        angle: largest principal angle between the span and `generators`, in radians; NaN if unknown.
        uncertainty: error of a unit generator that was allowed, in radians.
        estimated: it was estimated from the matrices themselves.
        closure: how closed the span is under the bracket; None where it was not looked at.
        alternatives: other algebras near the span, nearest first.
        reasons: the decision in sentences.
        notes: what was done to the input.
        coordinates: names of the coordinates, for words.
        homogeneous: the matrices are affine maps, homogeneous with a zero last row.
        unseen: dimension of a span that was not looked at, because there are too many matrices or too large ones; `span` and
            `generators` are then empty.
    """

    name: str
    span: Float[Tensor, "d n n"]
    generators: Float[Tensor, "d n n"]
    aliases: tuple[str, ...] = ()
    meaning: str = ""
    confident: bool = False
    margin: float = 0.0
    angle: float = math.nan
    uncertainty: float = 0.0
    estimated: bool = True
    closure: Closure | None = None
    alternatives: tuple[Alternative, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    coordinates: tuple[str, ...] | None = None
    homogeneous: bool = False
    unseen: int = 0

    @property
    def known(self) -> bool:
        """Whether it has a name."""
        return self.name != UNKNOWN

    @property
    def dimension(self) -> int:
        """Dimension of the span."""
        return self.unseen or len(self.span)

    @cached_property
    def forms(self) -> Forms:
        """Forms, vectors and volume that the named algebra preserves, and what commutes with it."""
        return preserved_forms(self.generators, uncertainty=0.0 if self.known else self.uncertainty)

    @cached_property
    def metric(self) -> Float[Tensor, "n n"] | None:
        """The metric it preserves, if there is exactly one; of determinant ±1, with no more positive than negative squares."""
        if self.unseen or (
            not len(self.generators) and self.generators.shape[1] > 1
        ):  # nothing preserves every form
            return None
        return self.forms.metric

    @cached_property
    def invariants(self) -> Invariants | None:
        """Invariants of the named algebra; None if it is unknown because it is not closed."""
        if not self.known and (self.closure is None or self.closure.rms > 1e-9):
            return None
        return invariants(structure_constants(self.generators))

    @cached_property
    def abstract(self) -> tuple[str, ...]:
        """Names of the algebra as such, from its structure constants alone."""
        if not self.known and (self.closure is None or self.closure.rms > 1e-9):
            return ()
        return abstract_name(structure_constants(self.generators)).aliases

    @cached_property
    def readable(self) -> Readable:
        """A basis of few entries with words, and one in the frame where the preserved form is standard."""
        if self.unseen:
            return Readable(self.span, ())
        plain = adapted(
            self.span,
            homogeneous=self.homogeneous,
            coordinates=self.coordinates,
            uncertainty=min(self.uncertainty, 0.1),
        )
        axes = self._standard if self.known else None
        if axes is None:
            return plain
        standard = adapted(
            self.generators,
            form=axes.form,
            frame=axes.frame,
            homogeneous=self.homogeneous,
            coordinates=self.coordinates,
            uncertainty=1e-7,
        )
        return replace(standard, generators=plain.generators, words=plain.words)

    @property
    def _standard(self) -> Standard | None:
        """Frame of the named algebra, of its linear parts if it is affine."""
        if not self.homogeneous:
            return standard_frame(self.generators)
        linear = orthonormal(self.generators[:, :-1, :-1])
        return standard_frame(linear) if len(linear) else None

    def latex(self, *, framed: bool = False) -> str:
        """The readable generators and their brackets, for amsmath; with `framed` those in the frame of the preserved form."""
        standard = self.readable.framed
        generators = self.readable.generators if not framed or standard is None else standard
        return f"{generators_latex(generators)}\n{brackets_latex(generators)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything a reader or a page needs, as JSON values; infinities and NaN are left for the writer to replace."""
        readable = self.readable
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "meaning": self.meaning,
            "dimension": self.dimension,
            "confident": self.confident,
            "margin": self.margin,
            "angle": self.angle,
            "uncertainty": self.uncertainty,
            "estimated": self.estimated,
            "generators": self.generators.tolist(),
            "metric": None if self.metric is None else self.metric.tolist(),
            "readable": {"generators": readable.generators.tolist(), "words": list(readable.words)},
            "framed": None
            if readable.framed is None or readable.frame is None
            else {
                "frame": readable.frame.tolist(),
                "generators": readable.framed.tolist(),
                "words": list(readable.framed_words),
            },
            "alternatives": [vars(one) for one in self.alternatives],
            "reasons": list(self.reasons),
            "notes": list(self.notes),
        }

    def title(self) -> str:
        """Name, meaning and sureness in one line."""
        if not self.known:
            return f"unknown algebra of dimension {self.dimension}"
        if not self.dimension:
            return "0: no generators"
        words = f", {self.meaning}" if self.meaning else ""
        return f"{self.name}{words}{'' if self.confident else ' (not sure)'}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Sequence[str]:
        """The whole account, line by line."""
        if not self.dimension:
            return [self.title()]
        also = f"  also known as {', '.join(self.aliases)}" if self.aliases else ""
        needed = f"another name as simple would need an uncertainty of {math.degrees(self.margin * self.uncertainty):.2g}°"
        sure = (
            f"  {needed}, {self.margin:.2g} times as much"
            if self.uncertainty > 1e-6
            else f"  {needed}"
        )
        words = [f"    {i + 1:>2}  {text}" for i, text in enumerate(self.readable.words)]
        new = (
            tuple(text.replace("′", "") for text in self.readable.framed_words)
            != self.readable.words
        )
        framed = [f"    {i + 1:>2}  {text}" for i, text in enumerate(self.readable.framed_words)]
        lines = [self.title(), *([also] if also else []), *(f"  {text}" for text in self.reasons)]
        lines += [sure] if 1 < self.margin < math.inf else []
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  not {one.name}: {one.reason}" for one in self.alternatives[:SHOWN]]
        lines += ["  generators, in a readable basis:", *words] if words else []
        return lines + (
            ["  in the frame where the preserved form is standard:", *framed]
            if framed and new
            else []
        )

    def __repr__(self) -> str:
        return f"Identification(name={self.name!r}, dimension={self.dimension}, margin={self.margin:.3g}, confident={self.confident})"
