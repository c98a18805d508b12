"""Diagnoses: every reason, warning and note that a result can carry, as members of one enumeration."""

import re
import string
from enum import Enum, StrEnum
from typing import Any

COUNTED = re.compile(r"[A-Za-z][A-Za-z -]{2,}")
"""A noun in place of a format: `{n:sample}` becomes "1 sample" or "2 samples"."""

CHOSEN = re.compile(r"\?(.*)\|(.*)")
"""A choice in place of a format: `{n:?is|are}` becomes "is" where n is 1, else "are"."""


class Kind(StrEnum):
    """What a diagnosis is for."""

    REASON = "reason"
    WARNING = "warning"
    NOTE = "note"


class Diagnosis(Enum):
    """What liegg may have to say about an analysis: the kind, and a template for the words.

    A member is called with its values and gives a `Remark`: `Diagnosis.TEXT(text="as it was stored")`. Members stand in groups, one
    for each folder that states them. `{n:sample}` counts a noun, `{n:?is|are}` chooses a word by number.
    """

    TEXT = (Kind.NOTE, "{text}")

    # algebra: identification of a span
    DEPENDENT_GENERATORS = (
        Kind.NOTE,
        "{given} generators were given, {dependent} of them dependent on the others: "
        "their span has dimension {dimension}",
    )
    TOO_LARGE_TO_IDENTIFY = (
        Kind.REASON,
        "{count} matrices of {side} × {side} are too large to be identified",
    )
    CLOSED_BY_DIMENSION = (Kind.REASON, "closed under the bracket, as every span of its dimension")
    CLOSED = (Kind.REASON, "closed under the bracket to {rms:.0e}")
    CLOSED_WITHIN_NOISE = (
        Kind.REASON,
        "brackets leave the span by {rms:.2g}, as they do when generators are off by {degrees:.2g}°",
    )
    NOT_CLOSED = (
        Kind.REASON,
        "not closed under the bracket: brackets leave the span by {rms:.2g}, which no small error "
        "explains; generators and brackets span {generated:dimension}",
    )
    NOT_CLOSED_WITHIN_NOISE = (
        Kind.REASON,
        "not closed under the bracket: brackets leave the span by {rms:.2g}, which only generators "
        "off by {degrees:.2g}° would explain; generators and brackets span {generated:dimension}",
    )
    PRESERVES = (Kind.REASON, "preserves {what}")
    COMMUTANT = (Kind.REASON, "besides scalings, {maps:map} {maps:?commutes|commute} with it")
    FITS_EXACTLY = (Kind.REASON, "in suitable coordinates the span is {name}, to {angle:.0e}")
    FITS_WITHIN_NOISE = (
        Kind.REASON,
        "within {degrees:.2g}° of {name}, which an uncertainty of {needs:.2g}° explains; "
        "{allowed:.2g}° was allowed",
    )
    RIVAL_NEEDS_ERROR = (
        Kind.REASON,
        "{degrees:.2g}° away, which would take an uncertainty of {needs:.2g}°",
    )
    RIVAL_NEEDS_MORE_NOISE = (
        Kind.REASON,
        "{degrees:.2g}° away, which would take an uncertainty of {needs:.2g}°, "
        "{factor:.2g} times as much",
    )
    RIVAL_FITS = (Kind.REASON, "{degrees:.2g}° away, which the uncertainty explains")
    RIVAL_OF_LARGER_FAMILY = (
        Kind.REASON,
        "{degrees:.2g}° away, which the uncertainty explains as well, but of a larger family "
        "({parameters} parameters, {simpler} has {fewer}): the simpler one is named",
    )
    NEAR_SIMPLER_ALGEBRA = (
        Kind.REASON,
        "it is near {name}: state the uncertainty, for example uncertainty={uncertainty:g}, "
        "to let that explain the rest",
    )
    HIDDEN_BY_NOISE = (
        Kind.REASON,
        "an uncertainty of {degrees:.2g}° hides which of several algebras it is",
    )
    ONE_PARAMETER_GROUP = (
        Kind.REASON,
        "a single matrix generates a one-parameter group, whatever it is",
    )

    # algebra: names from structure constants
    JACOBI_VIOLATED = (
        Kind.REASON,
        "the constants violate the Jacobi identity by {violation:.1e} of their size, "
        "too much at tolerance {tolerance:g}",
    )
    DIMENSIONS = (Kind.REASON, "dimension {dimension}, rank {rank}, centre of dimension {centre}")
    ABELIAN = (Kind.REASON, "all brackets vanish: the algebra is abelian")
    SEMISIMPLE = (Kind.REASON, "there is no solvable ideal: the algebra is semisimple")
    REDUCTIVE = (Kind.REASON, "the radical is the centre: the algebra is reductive")
    NILPOTENT = (
        Kind.REASON,
        "the algebra is nilpotent; dimensions of the derived series {derived}, "
        "of the lower central series {lower}",
    )
    SOLVABLE = (
        Kind.REASON,
        "the algebra is solvable but not nilpotent; dimensions of the derived series {derived}, "
        "of the lower central series {lower}, of the nilradical {nilradical}",
    )
    NEITHER_SOLVABLE_NOR_REDUCTIVE = (
        Kind.REASON,
        "the algebra is neither solvable nor reductive; dimensions of the Levi factor {levi}, "
        "of the radical {radical}, of the nilradical {nilradical}",
    )
    SIMPLE_IDEAL = (
        Kind.REASON,
        "simple ideal of dimension {dimension}, type {dynkin}, "
        "Killing form of signature ({positive},{negative}): {name}",
    )
    COMPLEX_SIMPLE_IDEAL = (
        Kind.REASON,
        "simple ideal of dimension {dimension}, type {dynkin} over the complex numbers, "
        "Killing form of signature ({positive},{negative}): {name}",
    )
    ABELIAN_SUMMAND = (
        Kind.REASON,
        "an abelian summand of dimension {dimension}, in the centre and outside all brackets",
    )
    HEISENBERG = (Kind.REASON, "all brackets lie in the centre, which is one-dimensional: {name}")
    FILIFORM = (
        Kind.REASON,
        "in dimension four, the only algebra with a lower central series of dimensions 4, 2, 1, 0: "
        "{name}",
    )
    TRIANGULAR = (
        Kind.REASON,
        "its lower central series has dimensions 6, 3, 1, 0, and the form [u, [b, v]], with b the "
        "direction that commutes with all brackets, has signature (1,1): {name}",
    )
    ACTS_ON_PLANE = (Kind.REASON, "one element acts on the plane of brackets as {action}: {name}")
    ACTS_ON_TRANSLATIONS = (
        Kind.REASON,
        "an abelian ideal of dimension {dimension}, on which the rest acts {action}: {name}",
    )
    LEVI_AND_RADICAL = (
        Kind.REASON,
        "Levi factor {levi} with the radical {radical}; how one acts on the other is not decided",
    )
    ELEMENT_AND_NILRADICAL = (
        Kind.REASON,
        "one element that acts on the nilradical {nilradical}; how it acts is not decided",
    )
    NOT_IN_LISTS = (
        Kind.REASON,
        "a summand of dimension {dimension}, with a derived series of dimensions {derived} and a "
        "lower central series of dimensions {lower}, is not in the lists",
    )

    def __call__(self, **values: Any) -> "Remark":
        """State this diagnosis with its values.

        Args:
            **values: what the template names: numbers, strings, or lists of them.
        """
        return Remark(self, values)

    @property
    def kind(self) -> Kind:
        """Reason, warning or note."""
        return self.value[0]

    @property
    def template(self) -> str:
        """The words, with the names of the values in braces."""
        return self.value[1]


class _Words(string.Formatter):
    """Fills templates in; counts nouns and chooses words by number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if choice := CHOSEN.fullmatch(format_spec):
            return choice[1] if value == 1 else choice[2]
        if COUNTED.fullmatch(format_spec):
            return plural(value, format_spec)
        return super().format_field(value, format_spec)


def plural(number: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "sample"), plural(2, "sample"), plural(3, "symmetry")
    ('1 sample', '2 samples', '3 symmetries')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


class Remark(str):
    """A sentence that knows which diagnosis it states, and with which values.

    It is a string, so that it can be printed and joined; what it means is read from the member, never from the words.

    >>> remark = Diagnosis.TEXT(text="two words")
    >>> remark, remark.diagnosis.name, remark.values
    ('two words', 'TEXT', {'text': 'two words'})
    """

    __slots__ = ("diagnosis", "values")
    diagnosis: Diagnosis
    values: dict[str, Any]

    def __new__(cls, diagnosis: Diagnosis, values: dict[str, Any]) -> "Remark":
        """Fill the template in."""
        remark = super().__new__(cls, _Words().format(diagnosis.template, **values))
        remark.diagnosis, remark.values = diagnosis, values
        return remark

    def __reduce__(self) -> tuple[type["Remark"], tuple[Diagnosis, dict[str, Any]]]:
        return type(self), (self.diagnosis, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The member's name, its kind, its values and the words, as JSON values."""
        return {
            "diagnosis": self.diagnosis.name.lower(),
            "kind": self.diagnosis.kind.value,
            "values": self.values,
            "text": str(self),
        }


def remark_from_dict(stored: dict[str, Any] | str) -> Remark:
    """Read what `Remark.to_dict` wrote; a member or values of another version stay as text.

    >>> remark_from_dict("as an older version wrote it").diagnosis.name
    'TEXT'
    """
    if isinstance(stored, str):
        return Diagnosis.TEXT(text=stored)
    try:
        return Diagnosis[str(stored["diagnosis"]).upper()](**stored["values"])
    except (KeyError, IndexError, ValueError, TypeError):
        return Diagnosis.TEXT(text=str(stored["text"]))
