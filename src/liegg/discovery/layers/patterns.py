"""Patterns of layer names: `*` stays within one level of the name, `**` crosses the dots between levels."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache

TOKEN = re.compile(
    r"(?P<levels>\*\*+\.)|(?P<any>\*\*+)|(?P<star>\*)|(?P<one>\?)|(?P<set>\[!?\]?[^\]]*\])|.", re.S
)
"""Pieces of a pattern; what is none of these stands for itself."""

NEAR = 5
"""Near names in a message."""


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches a complete name.

    `*` stands for any letters but dots, `?` for one letter but a dot, `[ab]` for one of some letters, `**` for any letters, and
    `**.` for any number of levels, also none.

    >>> [matches("layer*", name) for name in ("layer1", "layer1.0")]
    [True, False]
    >>> [matches("**.conv*", name) for name in ("conv1", "layer1.0.conv2", "layer1.0.conv2.act")]
    [True, True, False]
    >>> [matches("layer1.**", name) for name in ("layer1", "layer1.0.conv2")]
    [False, True]
    """
    return pattern == name or _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(map(_as_regex, TOKEN.finditer(pattern))), re.S)


def _as_regex(token: re.Match[str]) -> str:
    text = token.group()
    if token.lastgroup == "set":
        inside = text[1:-1].replace("\\", r"\\").replace("[", r"\[")
        if not inside.lstrip("!"):  # no closing bracket belongs to it
            return re.escape(text)
        inside = "^" + inside[1:] if inside.startswith("!") else inside.replace("^", r"\^")
        return f"[{inside}]"
    regexes = {"levels": r"(?:.*\.)?", "any": ".*", "star": r"[^.]*", "one": r"[^.]"}
    return regexes.get(token.lastgroup or "") or re.escape(text)


def advice(pattern: str, names: Iterable[str]) -> str:
    """What may have been meant by a pattern that matches nothing; empty if nothing is near.

    >>> advice("layer*.conv1", ["layer1.0.conv1"])
    " '*' stops at dots, '**' crosses them: 'layer**.conv1' matches layer1.0.conv1."
    >>> advice("covn1", ["conv1", "conv2", "head"])
    ' The nearest are conv1, conv2.'
    """
    names = list(dict.fromkeys(names))
    crossing = re.sub(r"\*+", "**", pattern)
    found = [name for name in names if fnmatchcase(name, pattern) and matches(crossing, name)]
    if found and crossing != pattern:
        return f" '*' stops at dots, '**' crosses them: {crossing!r} matches {', '.join(found[:NEAR])}."
    plain = re.sub(r"[*?\[\]]", "", pattern)
    near = get_close_matches(plain, names, n=NEAR, cutoff=0.5) or [
        name for name in names if plain and plain.strip(".") in name
    ]
    return f" The nearest are {', '.join(near[:NEAR])}." if near else ""
