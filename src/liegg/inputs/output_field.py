"""Select one field of a model's return value: by key, attribute or index, or with a function."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, DtypeError, one_line
from liegg.inputs.model import Model
from liegg.inputs.structure.tree import entries

Field = int | str | Callable[[Any], Any] | None
"""A dictionary key, an attribute name, a tuple index, several of these joined by dots (`"prediction.energy"`), or a
function; None selects the obvious field."""

OBVIOUS = "logits"
"""Field that is analysed by default."""

LISTED_FIELDS = 12
"""Maximum number of fields listed in a message."""

LARGEST_DEPTH = 4
"""Fields inside fields that are looked through for the obvious one."""


def fields_of(returned: Any) -> dict[Any, Any]:
    """Return the fields of a model's return value by key, name or index; tensors and plain objects have none.

    >>> fields_of({"a": 1}), fields_of((5, 6))
    ({'a': 1}, {0: 5, 1: 6})
    """
    inside = entries(returned)
    if inside is not None:
        return inside
    if isinstance(returned, Tensor) or callable(returned):
        return {}
    public = getattr(returned, "__dict__", {}).items()
    return {name: value for name, value in public if not name.startswith("_")}


def with_field(
    model: Model, returned: Any, field: Field = None, *, samples: int | None = None
) -> tuple[Model, Tensor]:
    """Restrict a model to one field of its return value.

    Args:
        model: the model.
        returned: its return value for some samples.
        field: the field; None selects the obvious one and adds a note, unless the model returns a single tensor.
        samples: their number.

    Returns:
        The model, and its output for these samples.

    Raises:
        ArgumentError: the field does not exist or is not a tensor.
        DtypeError: the field is ambiguous.
    """
    if field is None and isinstance(returned, Tensor):
        return model, returned
    notes = model.notes
    if field is None:
        field = obvious_field(returned, model.name, samples=samples)
        names = _listed([repr(key) for key in fields_of(returned)])
        note = Diagnosis.OBVIOUS_FIELD(field=repr(field), fields=names)
        notes = (*notes, note)
    y = pick_field(returned, field, model.name)
    function = partial(_picked, model.function, field, model.name)
    return replace(model, function=function, output_field=field, notes=notes), y


def _picked(function: Callable[[Tensor], Any], field: Field, name: str, x: Tensor) -> Tensor:
    return pick_field(function(x), field, name)


def obvious_field(returned: Any, name: str, *, samples: int | None = None) -> int | str:
    """Return the field to analyse by default: `logits`, or the only floating point tensor with a row per sample.

    Nested fields are searched if no tensor is found at the top.

    Args:
        returned: the model's return value; not a tensor.
        name: name of the model.
        samples: for how many samples it was returned; None if not known.

    Raises:
        DtypeError: no field, or more than one field, qualifies.

    Examples:
        >>> import torch
        >>> obvious_field({"logits": torch.ones(2), "hidden": torch.ones(2)}, "model")
        'logits'
        >>> obvious_field((torch.ones(2), torch.ones(2, dtype=torch.int64)), "model")
        0
    """
    inside = fields_of(returned)
    floating = [key for key, value in inside.items() if _is_floating(value)]
    if not floating:
        nested = paths_of(returned)
        floating = [key for key, value in nested.items() if _is_floating(value)]
        inside = nested if floating else inside
    chosen = [key for key in floating if is_logits(key)]
    if len(chosen) == 1:
        return chosen[0]
    per_sample = [key for key in floating if inside[key].shape[:1] == (samples,)]
    for keys in (floating, per_sample):
        if len(keys) == 1:
            return keys[0]
    choice = next((key for key in floating if isinstance(key, int | str)), None)
    if choice is None:
        advice = "Return a tensor, or pass a function that returns one: output=lambda y: ..."
    else:
        advice = f"Choose one of them, for example output={choice!r}"
        advice += ", or pass a function of all of them." if len(inside) > 1 else "."
    raise DtypeError(f"{name} returned {describe(returned)}; expected one tensor. {advice}")


def is_logits(field: Field) -> bool:
    """Whether the name of a field says that it holds logits.

    >>> is_logits("logits"), is_logits("head.logits"), is_logits("hidden"), is_logits(0)
    (True, True, False, False)
    """
    return str(field).rpartition(".")[2] == OBVIOUS


def paths_of(returned: Any, depth: int = LARGEST_DEPTH) -> dict[str, Any]:
    """What lies inside fields, and fields of fields, by its path.

    >>> paths_of({"a": {"b": 1}, "c": (2, 3)})
    {'a.b': 1, 'c.0': 2, 'c.1': 3}
    """
    found: dict[str, Any] = {}
    for key, value in fields_of(returned).items():
        deeper = paths_of(value, depth - 1) if depth > 1 else {}
        found |= {f"{key}.{path}": one for path, one in deeper.items()} or {str(key): value}
    return found


def pick_field(returned: Any, field: Field, name: str) -> Tensor:
    """Return the tensor in one field of a model's return value.

    Args:
        returned: the model's return value.
        field: which field.
        name: name of the model.

    Raises:
        ArgumentError: the field does not exist or is not a tensor.

    Examples:
        >>> import torch
        >>> pick_field({"logits": torch.tensor([1.0])}, "logits", "model")
        tensor([1.])
    """
    if field is None:
        return returned
    value = find_field(returned, field, name)
    if not isinstance(value, Tensor):
        way = "y[...]" if callable(field) else f"y{_access(returned, field)}[0]"
        raise ArgumentError(
            f"{field_settings(field)!r} in what {name} returned is {describe(value)}; expected a tensor. "
            f"Pass a function that returns one, for example output=lambda y: {way}."
        )
    return value


def find_field(returned: Any, field: int | str | Callable[[Any], Any], name: str) -> Any:
    """Return the value of a field; raise `ArgumentError` if the field does not exist."""
    return _apply(returned, field, name) if callable(field) else _look_up(returned, field, name)


def field_settings(field: Field) -> int | str | None:
    """Convert a field to a JSON value; a function becomes its name with parentheses.

    >>> field_settings("logits"), field_settings(1), field_settings(fields_of)
    ('logits', 1, 'fields_of()')
    """
    if not callable(field):
        return field
    inner = field
    while isinstance(inner, partial):
        inner = inner.func
    return f"{getattr(inner, '__name__', type(inner).__name__)}()"


def field_words(setting: int | str | None) -> str:
    """Describe a stored field in words; empty if there is none.

    >>> field_words("logits"), field_words(1), field_words("first()"), field_words("<lambda>()")
    ("'logits'", 'entry 1', 'first(output)', 'a function of the output')
    """
    if setting is None:
        return ""
    if isinstance(setting, int):
        return f"entry {setting}"
    if not is_function(setting):
        return repr(setting)
    return "a function of the output" if "<" in setting else f"{setting[:-2]}(output)"


def is_function(setting: int | str | None) -> bool:
    """Whether the stored field was a function, which cannot be restored."""
    return isinstance(setting, str) and setting.endswith("()")


def describe(value: Any) -> str:
    """Describe the type of a value and its fields.

    >>> import torch
    >>> describe({"a": torch.ones(2, 3), "b": None})
    "a dict with fields 'a' (2, 3) float32, 'b' None"
    """
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype}"
    inside = fields_of(value)
    if not inside:
        return _kind(value)
    listed = _listed([f"{key!r} {_brief(part)}" for key, part in inside.items()])
    return f"{_kind(value)} with fields {listed}"


def _apply(returned: Any, function: Callable[[Any], Any], name: str) -> Any:
    """Apply the user's function to the model's return value."""
    try:
        return function(returned)
    except Exception as error:
        raise ArgumentError(
            f"the function {field_settings(function)} failed on what {name} returned, "
            f"{describe(returned)}: {one_line(error)}. The function receives the complete return value and "
            "must return a tensor."
        ) from error


def _look_up(returned: Any, field: int | str, name: str) -> Any:
    """Return the value of a key, an attribute or an index."""
    if isinstance(returned, Tensor):
        raise ArgumentError(
            f"{name} returned a single tensor, which has no field {field!r}. Leave output out, or pass a function "
            "such as lambda y: y[:, :10] in Python."
        )
    inside = fields_of(returned)
    if field in inside:
        return inside[field]
    key: Any = field
    by_key = isinstance(field, int) or isinstance(returned, Mapping)
    try:  # the last entry of a tuple; outputs of transformers by index; attributes that are computed
        return returned[key] if by_key else getattr(returned, key)
    except (LookupError, TypeError, AttributeError) as error:
        first, dot, rest = str(field).partition(".")
        if dot and first and rest:
            return _look_up(_look_up(returned, _as_key(first), name), _as_key(rest), name)
        usual = next((key for key, value in inside.items() if isinstance(value, Tensor)), None)
        if usual is None:
            nested = paths_of(returned).items()
            usual = next((path for path, value in nested if isinstance(value, Tensor)), None)
        advice = "" if usual is None else f" Choose for example {usual!r}."
        raise ArgumentError(
            f"there is no field {field!r} in what {name} returned, {describe(returned)}.{advice}"
        ) from error


def _as_key(word: str) -> int | str:
    """A part of a path: an index if it is a number."""
    return int(word) if word.isdecimal() else word


def _access(returned: Any, field: Any) -> str:
    """Python expression that selects a field."""
    by_key = isinstance(returned, Mapping) or isinstance(field, int)
    return f"[{field!r}]" if by_key else f".{field}"


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_floating_point


def _brief(value: Any) -> str:
    """Describe a tensor by shape and type, and anything else by its class."""
    if isinstance(value, Tensor):
        return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    return _kind(value)


def _listed(fields: list[str]) -> str:
    """Join the first fields, and say how many follow."""
    rest = f" and {len(fields) - LISTED_FIELDS} more" if len(fields) > LISTED_FIELDS else ""
    return f"{', '.join(fields[:LISTED_FIELDS])}{rest}"


def _kind(value: Any) -> str:
    """Name of a value's class, with its article."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
