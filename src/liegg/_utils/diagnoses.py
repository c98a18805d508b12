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

    # discovery/verification: notes
    NOTHING_TO_VERIFY = (Kind.NOTE, "there is no symmetry to verify: none was found")
    NO_GENERATOR_GIVEN = (Kind.NOTE, "no generator was given to verify")
    CONSTANT_OUTPUT = (
        Kind.NOTE,
        "the output is the same for all samples up to rounding, so there is no variance to compare a change with",
    )
    CONTROLS_INSIDE_SPAN = (
        Kind.NOTE,
        "the generators span all candidates, so random directions are combinations of them; an action with more candidates "
        "gives a comparison",
    )
    NEARLY_PERIODIC = (
        Kind.NOTE,
        "{count:?generator|generators} {generators} {count:?returns|return} only nearly, to {gap:.0%} of the data's spread",
    )
    INCOMMENSURABLE = (
        Kind.NOTE,
        "{count:?generator|generators} {generators}: rotations that never return together, followed for one turn of the slowest, "
        "at most {turns} of the fastest",
    )
    NO_PREDICTION_OUTPUTS = (
        Kind.NOTE,
        "no curvature was predicted: the analysis did not take each output alone (outputs='each')",
    )
    NO_PREDICTION_PAPER = (
        Kind.NOTE,
        "no curvature was predicted: derivative='paper' measures slopes in other units than motions",
    )

    # discovery/verification: what a curve shows
    HOLDS_FOR_PERIOD = (Kind.REASON, "holds over the complete period, r at most {change:.2g}")
    HOLDS_THROUGHOUT = (
        Kind.REASON,
        "holds up to {extent}, as far as it was followed, r at most {change:.2g}",
    )
    HOLDS_UP_TO = (Kind.REASON, "holds up to {extent}, r up to {change:.2g}")
    CONTROLS_HOLD_TOO = (
        Kind.REASON,
        "so do random directions of equal displacement: this is no evidence",
    )
    CONTROLS_FAIL = (Kind.REASON, "random directions of equal displacement up to {extent}")
    CLASSES_CHANGE = (
        Kind.REASON,
        "classes change for up to {share:.1%} of the samples (random: {control:.1%})",
    )
    RESAMPLING_CHANGE = (Kind.REASON, "resampling alone makes r up to {change:.2g}")
    CURVATURE_AGREES = (Kind.REASON, "initial curvature agrees with the prediction ({ratio:.3g}×)")
    CURVATURE_DIFFERS = (
        Kind.REASON,
        "initial curvature differs from the prediction ({ratio:.3g}×)",
    )
    CURVATURE_AT_FLOOR = (Kind.REASON, "initial curvature is at the numerical floor, as predicted")
    CURVATURE_UNPREDICTED = (Kind.REASON, "initial curvature is not what was predicted")
    VERIFIED = (
        Kind.REASON,
        "{holding} of {count:generator} {count:?holds|hold} as far as followed, on {samples:held-out sample}, "
        "r at most {change:.2g}",
    )
    CONTROLS_FAIL_AFTER = (
        Kind.REASON,
        "random directions fail after {percent:.2g} % of that distance",
    )
    NEAREST_VERIFIED = (
        Kind.REASON,
        "no symmetry was found to verify; the nearest candidate, {sentence}",
    )

    # discovery/compare: notes
    INDEPENDENT_INTERVALS = (
        Kind.NOTE,
        "intervals are taken as independent: whether both models saw the same data is not known",
    )
    NO_INTERVALS = (Kind.NOTE, "{model} has no intervals")
    NO_INTERVALS_FOR_OTHERS = (
        Kind.NOTE,
        "{model} has no intervals for directions that only the other has",
    )
    SETTING_DIFFERS = (Kind.NOTE, "{name} was {a!r} in a and {b!r} in b")
    ACTION_DIFFERS = (Kind.NOTE, "the motions were computed by {a} in a and by {b} in b")

    # discovery/compare: which symmetries
    NOT_COMPARABLE = (
        Kind.REASON,
        "Not decided: the data of {models} leaves directions open (too few samples, or nothing that moves the output), so the "
        "models cannot be compared",
    )
    SAME_ALGEBRA = (Kind.REASON, "Both are {adjective} under {algebra}")
    SAME_DIRECTIONS = (
        Kind.REASON,
        "Both are {adjective} under the same {shared:direction} ({a}, {b})",
    )
    ONE_CONTAINS_OTHER = (
        Kind.REASON,
        "{larger} has the {part} of {smaller} and {more:more direction}, {algebra} in all",
    )
    PARTLY_SHARED = (
        Kind.REASON,
        "{shared:direction} shared; {only_a} more only in a ({a} in all), {only_b} only in b ({b} in all)",
    )
    NOTHING_SHARED = (
        Kind.REASON,
        "No symmetry in common: {a} in a, {b} in b, at least {angle:.2g}° apart",
    )
    ONLY_ONE_SYMMETRIC = (
        Kind.REASON,
        "{one} is {adjective} under {algebra}, {other} has no symmetry",
    )
    NEITHER_SYMMETRIC = (Kind.REASON, "No symmetry in either")
    DEFECT_IN_OTHER = (Kind.REASON, "along the symmetries of {one}, {other} has a δ² of {defects}")
    NEAREST_CANDIDATES = (Kind.REASON, "the nearest candidate has a δ² of {a} in a and {b} in b")
    CLEARLY_CLOSER = (Kind.REASON, "{model} clearly comes closer")
    NOT_CLEARLY_CLOSER = (Kind.REASON, "neither clearly comes closer")

    # discovery/compare: which model is more symmetric
    BOTH_EXACT = (Kind.REASON, "{where}both are exact")
    ONE_EXACT = (Kind.REASON, "{where}{exact} is exact, {other} has a mean δ² of {defect}")
    AMOUNT_UNKNOWN = (Kind.REASON, "{where}the amounts cannot be compared")
    MEANS_ONLY = (Kind.REASON, "{where}the mean δ² is {a} in a and {b} in b, without intervals")
    MORE_SYMMETRIC = (Kind.REASON, "{where}{model} is {ratio} times more {adjective}")
    NOT_MORE_SYMMETRIC = (
        Kind.REASON,
        "{where}neither is clearly more {adjective} (mean δ² in b over that in a: {ratio})",
    )
    MORE_SYMMETRIC_ON_SOME = (Kind.REASON, "{model} clearly is on {count} of {shared}")
    OUTPUTS_DIFFER = (Kind.REASON, "but they move the outputs differently, by {percent:.0f} %")

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
