"""Parse what is written in one word on the command line: actions, thresholds, targets."""

import re
from collections.abc import Callable
from typing import Any

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError
from liegg.actions import (
    Action,
    Affine,
    Color,
    Image,
    Irrep,
    Linear,
    Product,
    Sequence,
    Tensor,
    Volume,
)
from liegg.actions.grid.stencils import BORDERS, SCHEMES

GRID_ACTIONS: dict[str, Callable[..., Action]] = {
    "image": Image,
    "volume": Volume,
    "sequence": Sequence,
    "color": Color,
}
"""Actions on images and other grids, by their word."""

GRID_WORDS = (
    ("derivative", f"({'|'.join(SCHEMES)})", str),
    ("border", f"({'|'.join(BORDERS)})", str),
    ("sigma", r"sigma=(\d+(?:\.\d+)?)", float),
    ("frame", r"frame=(\d+)", int),
    ("step", r"step=(\d+(?:\.\d+)?)", float),
)
COLOR_WORDS = (("channels", r"(\d+)", int),)
"""Arguments that a word after a colon may set, with pattern and type; another word is a group."""

TENSOR_WORDS: dict[str, dict[str, Any]] = {
    "symmetric": {"symmetric": True},
    "antisymmetric": {"antisymmetric": True},
    "voigt": {"symmetric": True, "form": "voigt"},
}
"""Kinds of tensors, and what they set."""

GRAMMAR = (
    "Expected linear:N, linear:NxCOPIES or affine:NxCOPIES, for example linear:5x2; tensor:N:RANK, "
    "tensor:3:2:symmetric, tensor:3:2:voigt; irrep:L or irrep:LxCOPIES; image, "
    "image:affine, image:affine:28x28 (flat samples), image:gaussian:sigma=2, image:frame=1, "
    "volume, sequence, color, color:1 (grey), color:tone; or several joined by +, for example "
    "image+color."
)
"""How an action is written."""


def parse_action(text: str, names: str | None = None) -> Action:
    """Make an action from text such as `linear:5x2`, `image:affine:28x28` or `image+color`.

    Args:
        text: `linear:N[xCOPIES]` or `affine:N[xCOPIES]`; `tensor:N[xCOPIES]:RANK[:symmetric|antisymmetric|voigt]`;
            `irrep:L[xCOPIES][:e3nn|standard]`; or `image`, `volume`, `sequence` or `color`, followed by any of group,
            shape of a flat sample, derivative and border, each after a colon; or several of these joined by `+`.
        names: of the N coordinates of `linear`, `affine`, `tensor` and `irrep`, separated by commas.

    Raises:
        ArgumentError: the action does not exist, or its coordinates cannot have these names; the message shows the grammar.

    Examples:
        >>> parse_action("affine:3x20")
        Affine(n=3, copies=20, layout='copies_first')
        >>> parse_action("image:affine:28x28:central")
        Image(group='affine', derivative='central', border='replicate', shape=(28, 28))
    """
    labels = None if names is None else [name.strip() for name in names.split(",")]
    parts = [_parse_part(part.strip(), text, labels) for part in text.split("+")]
    return parts[0] if len(parts) == 1 else Product(*parts)


def _parse_part(part: str, text: str, names: list[str] | None) -> Action:
    """Parse one action of a sum; `text` is the whole sum, for messages."""
    if match := re.fullmatch(r"(linear|affine):(\d{1,9})(?:x(\d{1,9}))?", part):
        make = Linear if match[1] == "linear" else Affine
        return make(int(match[2]), copies=int(match[3] or 1), names=names)
    if (made := _parse_representation(part, names)) is not None:
        return made
    kind, *words = part.split(":")
    if kind not in GRID_ACTIONS:
        raise ArgumentError(f"action {shown(text)}: {GRAMMAR}")
    if names is not None:
        raise ArgumentError(
            f"--names: the coordinates of {kind} have names of their own. Leave --names out, or use linear:N, affine:N, "
            "tensor:N:RANK or irrep:L."
        )
    arguments: dict[str, Any] = {}
    for word in words:
        name, value = _parse_word(word, kind)
        if name in arguments or not word:
            problem = f"a second {name}, {word!r}" if word else "nothing after a colon"
            raise ArgumentError(f"action {shown(text)}: {problem}. {GRAMMAR}")
        arguments[name] = value
    if kind == "color" and "shape" in arguments:
        arguments.setdefault("channels", arguments["shape"][0])
    try:
        return GRID_ACTIONS[kind](**arguments)
    except ArgumentError as error:
        raise ArgumentError(f"action {shown(text)}: {error} {GRAMMAR}") from error


def _parse_representation(part: str, names: list[str] | None) -> Action | None:
    """A tensor or an irreducible representation; None if it is something else."""
    sizes = r"(\d{1,9})(?:x(\d{1,9}))?"
    if match := re.fullmatch(
        rf"tensor:{sizes}(?::(\d{{1,2}}))?(?::({'|'.join(TENSOR_WORDS)}))?", part
    ):
        kind = TENSOR_WORDS[match[4]] if match[4] else {}
        rank = int(match[3] or 2)
        return Tensor(int(match[1]), rank, copies=int(match[2] or 1), names=names, **kind)
    if match := re.fullmatch(rf"irrep:{sizes}(?::(e3nn|standard))?", part):
        order: Any = match[3] or "e3nn"
        return Irrep(int(match[1]), order, copies=int(match[2] or 1), names=names)
    return None


def _parse_word(word: str, kind: str) -> tuple[str, Any]:
    """The argument that a word after a colon sets, and its value."""
    if re.fullmatch(r"\d{1,9}(x\d{1,9})+", word) or (
        word.isdecimal() and len(word) < 10 and kind == "sequence"
    ):
        return "shape", tuple(int(side) for side in word.split("x"))
    for name, pattern, convert in COLOR_WORDS if kind == "color" else GRID_WORDS:
        if match := re.fullmatch(pattern, word):
            return name, convert(match[1])
    return "group", word


def parse_thresholds(words: list[str]) -> dict[str, float]:
    """Read thresholds such as `threshold=0.05`; `liegg.discover` checks their names.

    >>> parse_thresholds(["threshold=0.05", "minimum-gap=5"])
    {'threshold': 0.05, 'minimum_gap': 5.0}
    """
    thresholds: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            thresholds[name.strip().replace("-", "_")] = float(value)
        except ValueError as error:
            raise ArgumentError(
                f"--limit {word!r}: expected a name and a number, for example --limit threshold=0.05."
            ) from error
    return thresholds


def parse_target(text: str | None) -> int | str | list[int] | None:
    """Parse a target; `liegg.discover` checks it.

    >>> parse_target("3"), parse_target("3, 5"), parse_target("margin")
    (3, [3, 5], 'margin')
    """
    if text is None or re.fullmatch(r"[\d\s,]*\d[\d\s,]*", text) is None:
        return text
    classes = [int(word) for word in re.findall(r"\d+", text)]
    return classes[0] if len(classes) == 1 else classes


def parse_output(text: str | None) -> int | str | None:
    """Parse a field; a number is an index.

    >>> parse_output("-1"), parse_output("logits")
    (-1, 'logits')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text
