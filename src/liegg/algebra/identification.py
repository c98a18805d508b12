"""The identification of a span of matrices: a frozen record of its name and the evidence."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ArgumentError
from liegg.algebra.bracket import structure_constants
from liegg.algebra.closure import ROUNDING_RESIDUAL, Closure
from liegg.algebra.forms.forms import Forms, preserved_forms
from liegg.algebra.forms.frame import standard_frame
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.invariants import Invariants, invariants
from liegg.algebra.structure.real_forms import UNKNOWN
from liegg.algebra.subspace import orthonormal
from liegg.algebra.words.latex import brackets_latex, equations_latex, generators_latex, name_latex
from liegg.algebra.words.readable import Readable, adapted, with_frame, word_tolerance
from liegg.algebra.words.vector_fields import vector_field, vector_field_latex

SHOWN_FIELDS = 30
"""Generators that a notebook shows as vector fields."""


@dataclass(frozen=True)
class Alternative:
    """Another algebra that the span might have been.

    Attributes:
        name: what it is called.
        angle: largest principal angle between the span and the nearest algebra of this kind, in
            radians.
        needs: uncertainty of a unit generator, in radians, that would explain the distance.
        reason: why it was not chosen.
    """

    name: str
    angle: float
    needs: float
    reason: Remark


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """The name of an algebra of matrices, how sure it is, and why.

    Attributes:
        name: name of the algebra, by the way it acts; "unknown" where nothing fits, "0" for no
            generators.
        span: orthonormal generators of the span that was given; dependent ones are reduced.
        generators: orthonormal generators of the nearest algebra of that name, exactly closed; the
            span itself if unknown.
        aliases: other names of the same algebra; some of them usually act on other spaces.
        meaning: what the maps do, in words.
        confident: whether the margin is at least 1.5.
        margin: factor by which the uncertainty would have to grow for another name to be possible.
            At most 1 where another algebra fits as well, or an error within the uncertainty may
            have made another algebra of it; below 1.5 where a simpler one is that near.
        angle: largest principal angle between the span and `generators`, in radians; NaN if
            unknown.
        uncertainty: error of a unit generator that was allowed, in radians.
        estimated: whether the uncertainty was estimated from the matrices themselves.
        closure: how closed the span is under the bracket; None where this was not computed.
        alternatives: other algebras near the span, nearest first.
        reasons: why the name was given.
        notes: how the input was changed.
        coordinates: names of the coordinates, for words.
        homogeneous: whether the matrices are affine maps, homogeneous with a zero last row.
        unseen: dimension of a span that was not identified, because there are too many matrices or
            they are too large; `span` and `generators` are then empty.
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
    reasons: tuple[Remark, ...] = ()
    notes: tuple[Remark, ...] = ()
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
        """The metric that is preserved, if there is exactly one.

        It has determinant ±1, and no more positive than negative squares unless it is definite.
        """
        # Without generators every form is preserved.
        undetermined = not len(self.generators) and self.generators.shape[1] > 1
        return None if self.unseen or undetermined else self.forms.metric

    @property
    def _constants(self) -> Float[Tensor, "d d d"] | None:
        """Structure constants; None for an unknown span that is not closed."""
        if not self.known and (self.closure is None or self.closure.rms > ROUNDING_RESIDUAL):
            return None
        return structure_constants(self.generators)

    @cached_property
    def invariants(self) -> Invariants | None:
        """Invariants of the named algebra; None if it is unknown because it is not closed."""
        return None if (constants := self._constants) is None else invariants(constants)

    @cached_property
    def abstract(self) -> tuple[str, ...]:
        """Names of the abstract algebra, from its structure constants alone."""
        return () if (constants := self._constants) is None else abstract_name(constants).aliases

    @cached_property
    def readable(self) -> Readable:
        """A basis with few entries, in words; and one in the frame of the preserved form."""
        if self.unseen:
            return Readable(self.span, ())
        how: dict[str, Any] = {"homogeneous": self.homogeneous, "coordinates": self.coordinates}
        plain = adapted(self.span, uncertainty=self.uncertainty, **how)
        # Of the linear parts, if the maps are affine.
        linear = orthonormal(self.generators[:, :-1, :-1]) if self.homogeneous else self.generators
        axes = standard_frame(linear) if self.known else None
        if axes is None:
            return plain
        how |= {"uncertainty": 1e-7, "error": self.uncertainty}
        return with_frame(plain, self.generators, **axes._asdict(), **how)

    @property
    def vector_fields(self) -> tuple[str, ...]:
        """The readable generators as vector fields, such as `x₁∂₂ − x₂∂₁`, in the order of `readable.words`."""
        return tuple(vector_field(matrix, **self._how) for matrix in self.readable.generators)

    @checked()
    def latex(self, *, framed: bool = False, fields: bool = False) -> str:
        """The readable generators and their brackets, as LaTeX for amsmath.

        Args:
            framed: write the generators in the frame of the preserved form, where there is one.
            fields: write the generators as vector fields, not as matrices; in the original coordinates.

        Raises:
            ArgumentError: both are requested.
        """
        if framed and fields:
            raise ArgumentError(
                "framed=True and fields=True: vector fields are written in the original "
                "coordinates. Leave one of them out."
            )
        standard = self.readable.framed if framed else None
        generators = self.readable.generators if standard is None else standard
        if fields:
            texts = [vector_field_latex(matrix, **self._how) for matrix in generators]
            return f"{equations_latex(texts)}\n{brackets_latex(generators)}"
        return f"{generators_latex(generators)}\n{brackets_latex(generators)}"

    def _repr_latex_(self) -> str:
        """What a notebook shows: the name, and the generators as vector fields."""
        title = rf"\text{{{self.dimension} generators of unknown algebra}}"
        title = name_latex(self.name) if self.known else title
        texts = [vector_field_latex(matrix, **self._how) for matrix in self.readable.generators]
        shown = texts[:SHOWN_FIELDS] + [r"\ldots"] * (len(texts) > SHOWN_FIELDS)
        lines = [rf"X_{{{i}}} &= {text}" for i, text in enumerate(shown, start=1)]
        return "\n".join(
            [r"$$\begin{aligned}", " \\\\\n".join([rf"&{title}", *lines]), r"\end{aligned}$$"]
        )

    @property
    def _how(self) -> dict[str, Any]:
        """How the generators are written as formulas."""
        tolerance = word_tolerance(max(self.span.shape[-1], 1), self.uncertainty)
        return {
            "coordinates": self.coordinates,
            "homogeneous": self.homogeneous,
            "tolerance": tolerance,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything that a page shows, as JSON values; infinities and NaN stay as they are."""
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
            "readable": {
                "generators": readable.generators.tolist(),
                "words": list(readable.words),
                "vector_fields": list(self.vector_fields),
            },
            "framed": None
            if readable.framed is None or readable.frame is None
            else {
                "frame": readable.frame.tolist(),
                "generators": readable.framed.tolist(),
                "words": list(readable.framed_words),
            },
            "alternatives": [vars(rival) for rival in self.alternatives],
            "reasons": list(self.reasons),
            "notes": list(self.notes),
        }

    def title(self) -> str:
        """Name, meaning and confidence in one line."""
        if not self.known:
            return f"unknown algebra of dimension {self.dimension}"
        if not self.dimension:
            return "0: no generators"
        words = f", {self.meaning}" if self.meaning else ""
        return f"{self.name}{words}{'' if self.confident else ' (not sure)'}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The full account, line by line."""
        lines = [self.title()]
        if not self.dimension:
            return lines
        if self.aliases:
            lines.append(f"  also known as {', '.join(self.aliases)}")
        lines += [f"  {text}" for text in self.reasons]
        if 1 < self.margin < math.inf and (self.confident or not self.estimated):
            degrees = math.degrees(self.margin * self.uncertainty)
            times = f", {self.margin:.2g} times as much" if self.uncertainty > 1e-6 else ""
            lines.append(
                f"  another name as simple would need an uncertainty of {degrees:.2g}°{times}"
            )
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  not {rival.name}: {rival.reason}" for rival in self.alternatives[:3]]
        lines += _numbered("  generators, in a readable basis:", self.readable.words)
        if self.readable.frame_changes_words:
            heading = "  in the frame where the preserved form is standard:"
            lines += _numbered(heading, self.readable.framed_words)
        return lines

    def __repr__(self) -> str:
        return (
            f"Identification(name={self.name!r}, dimension={self.dimension}, "
            f"margin={self.margin:.3g}, confident={self.confident})"
        )


def _numbered(heading: str, texts: tuple[str, ...]) -> list[str]:
    rows = [f"    {i:>2}  {text}" for i, text in enumerate(texts, start=1)]
    return [heading, *rows] if rows else []
