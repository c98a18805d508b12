"""Diagnoses: every reason, warning and note of a result, as members of one enumeration."""

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

    A member is called with its values and gives a `Remark`: `Diagnosis.TEXT(text="as it was
    stored")`. Members stand in groups, one for each folder that states them. `{n:sample}` counts a
    noun, `{n:?is|are}` chooses a word by number.
    """

    TEXT = (Kind.NOTE, "{text}")

    # inputs
    COMPILED_MODEL = (
        Kind.NOTE,
        "the model, or a part of it, is compiled by torch.compile; the original was analysed",
    )
    MODEL_NOT_COPIED = (
        Kind.NOTE,
        "the model could not be copied ({error}), so it was analysed in place and restored",
    )
    SEVERAL_WEIGHT_TYPES = (
        Kind.NOTE,
        "the weights have several types ({types}); the samples were passed as {dtype}",
    )
    COARSE_ARITHMETIC = (
        Kind.NOTE,
        "the model computes in {arithmetic} on {dtype} samples: differences within the rounding of "
        "{arithmetic} count as zero",
    )
    UNCALIBRATED = (
        Kind.NOTE,
        "normalisation layers have mean 0 and variance 1 after the reset; "
        "liegg.inputs.reinitialise.calibrate takes them from data",
    )
    PARAMETERS_NOT_RESET = (
        Kind.NOTE,
        "{n} of {total} parameters keep their trained values because no reset writes them: {names}",
    )
    RESET_NOT_CALLED = (Kind.NOTE, "{method} of {module} was not called: {error}")

    # polarization
    MANY_ROWS = (
        Kind.NOTE,
        "each sample gives {rows} rows of {columns} numbers ({size}); outputs=16 takes random "
        "combinations instead",
    )
    ROUTE_NOT_USED = (Kind.NOTE, "torch.func.{route} cannot transform this model ({reason})")
    AUTOGRAD_ROUTE = (Kind.NOTE, "plain autograd was used instead")
    CONSTANT_SUM = (
        Kind.REASON,
        "the sum of the outputs is the same for {where} although each output varies (a "
        "softmax head?). Use outputs='each'.",
    )
    CONSTANT_OUTPUT = (
        Kind.REASON,
        "the output is the same for {where} and nothing moves it: its symmetries are "
        "undecided. Check the model's weights and the scale of the data.",
    )
    PIECEWISE_CONSTANT = (
        Kind.REASON,
        "the output varies over the data, but its derivative is zero at every sample in every "
        "candidate direction: either the model is piecewise constant (rounding, argmax, step), and "
        "derivatives cannot show its symmetries (analyse the layer before), or no candidate moves "
        "what it reads.",
    )
    DEAD_OUTPUTS = (
        Kind.WARNING,
        "{n} of {total} outputs never move on this data ({outputs}): the verdict rests on the "
        "other {rest}.",
    )
    UNEVEN_OUTPUTS = (
        Kind.WARNING,
        "the outputs' sensitivities differ by a factor of {factor:.0f}: the verdict rests on the "
        "largest. Scale the outputs, or analyse them one by one.",
    )
    SATURATED = (
        Kind.WARNING,
        "the sensitivity rests on {n} of {total} samples; at the others almost nothing moves the "
        "output (a saturated softmax or sigmoid?). Analyse the logits, or samples near the places "
        "where the output changes.",
    )
    ZERO_DERIVATIVES = (
        Kind.WARNING,
        "the derivative is exactly zero at {n} of {total} samples (dead units, or rounding): the "
        "verdict rests on the other {rest}.",
    )
    LAST_CHECKPOINT_FAILED = (
        Kind.NOTE,
        "the last checkpoint could not be written; the result is complete: {error}",
    )

    # discovery/layers
    LAYER_LEFT_OUT = (Kind.NOTE, "left out: {reason}")
    LAYER_ZERO_OUTPUTS = (
        Kind.NOTE,
        "{n} of {total} samples have an output of exactly 0, which has no unit length",
    )
    LAYER_ANALYSED_ALONE = (
        Kind.NOTE,
        "forward derivatives do not reach this layer ({reason}): it was analysed separately",
    )
    LAYER_COMBINATIONS = (
        Kind.NOTE,
        "its {n} outputs were read by {combinations} random combinations",
    )
    SAMPLES_REPEATED = (
        Kind.NOTE,
        "torch.func.vmap cannot batch this model ({reason}): every sample was repeated for each "
        "direction instead",
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

    It is a string, so that it can be printed and joined; what it means is read from the member,
    never from the words.

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


def stored_remark(remark: str) -> dict[str, Any]:
    """A remark as JSON values; a plain string becomes a `TEXT`."""
    return (remark if isinstance(remark, Remark) else Diagnosis.TEXT(text=remark)).to_dict()
