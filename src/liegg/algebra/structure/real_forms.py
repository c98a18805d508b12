r"""Names of real simple Lie algebras, and which names denote the same algebra.

A real form is named by its Dynkin type and the dimension of its noncompact part, the number of
positive eigenvalues of its Killing form. Names write the smaller number first, so(1,3). sp(2m,R)
and sp(2m,C) name the dimension of the space, sp(m) and sp(p,q) count quaternions; su*(2m) is
written sl(m,H).
"""

import functools
import re
from collections.abc import Iterator, Sequence

from liegg._utils.errors import ArgumentError
from liegg.algebra.words.wording import PLAIN_DIGITS, SUPERSCRIPTS

UNKNOWN = "unknown"
"""In place of a name that would be a guess."""

LARGEST_NAMED_RANK = 16
"""Largest rank of the simple algebras whose names `aliases` reads."""

SAME_ALGEBRA: tuple[tuple[str, ...], ...] = (
    ("so(3)", "su(2)", "sp(1)"),
    ("sl(2,R)", "so(1,2)", "su(1,1)", "sp(2,R)"),
    ("so(1,3)", "sl(2,C)", "so(3,C)", "sp(2,C)"),
    ("so(5)", "sp(2)"),
    ("so(1,4)", "sp(1,1)"),
    ("so(2,3)", "sp(4,R)"),
    ("so(5,C)", "sp(4,C)"),
    ("so(6)", "su(4)"),
    ("so(1,5)", "sl(2,H)"),
    ("so(2,4)", "su(2,2)"),
    ("sl(4,R)", "so(3,3)"),
    ("su(1,3)", "so*(6)"),
    ("sl(4,C)", "so(6,C)"),
    ("so(2,6)", "so*(8)"),
    ("g2(split)", "g2(2)"),
    ("R", "so(2)", "so(1,1)", "u(1)"),
)
"""Coincidences in low dimension, the commonest name first."""

SPLIT_ORTHOGONAL: dict[str, tuple[str, ...]] = {
    "so(4)": ("so(3)", "so(3)"),
    "so(2,2)": ("sl(2,R)", "sl(2,R)"),
    "so*(4)": ("so(3)", "sl(2,R)"),
    "so(4,C)": ("so(1,3)", "so(1,3)"),
}
"""Orthogonal algebras in four dimensions that are sums of two simple ones."""

EXCEPTIONAL_FORMS: dict[str, dict[int, str]] = {
    "G2": {0: "g2", 8: "g2(split)"},
    "F4": {0: "f4", 16: "f4(-20)", 28: "f4(4)"},
    "E6": {0: "e6", 26: "e6(-26)", 32: "e6(-14)", 40: "e6(2)", 42: "e6(6)"},
    "E7": {0: "e7", 54: "e7(-25)", 64: "e7(-5)", 70: "e7(7)"},
    "E8": {0: "e8", 112: "e8(-24)", 128: "e8(8)"},
}
"""By the dimension of the noncompact part.

The number in brackets is the character, noncompact minus compact."""


def real_form(dynkin: str, noncompact: int, *, complex_type: bool = False) -> str:
    """Name of a real simple algebra, the commonest one.

    Args:
        dynkin: type of its complexification, such as `"B2"`; of the complex algebra itself with
            `complex_type`.
        noncompact: number of positive eigenvalues of the Killing form.
        complex_type: whether it is a complex simple algebra seen as a real one.

    Returns:
        The name; `"unknown"` if there is no such form. In dimension 153 and above two forms may
        share both numbers: both are named, as in `"so(6,12) or so*(18)"`.

    Examples:
        >>> real_form("B2", 4), real_form("B2", 6), real_form("A1", 3, complex_type=True)
        ('so(1,4)', 'so(2,3)', 'so(1,3)')
    """
    if not re.fullmatch(r"[A-G][1-9]\d*", dynkin):
        raise ArgumentError(
            f"Dynkin type {dynkin!r}; expected a letter and a rank, for example 'B2'."
        )
    if complex_type:
        return _first(_complex_name(dynkin))
    names = dict.fromkeys(_first(name) for size, name in _forms(dynkin) if size == noncompact)
    return " or ".join(names) or UNKNOWN


def aliases(name: str) -> tuple[str, ...]:
    """All names of an algebra that is simple, or a sum of simple and abelian ones.

    The commonest first.

    >>> aliases("su(2)")
    ('so(3)', 'su(2)', 'sp(1)')
    >>> aliases("so(4)")
    ('so(3) ⊕ so(3)', 'so(4)', 'su(2) ⊕ su(2)', 'sp(1) ⊕ sp(1)')
    >>> aliases("u(3)")
    ('su(3) ⊕ R', 'u(3)')
    """
    terms: list[str] = []
    flat = 0
    for term in name.split(" ⊕ "):
        parts, dimensions = _read(term)
        terms, flat = terms + list(parts), flat + dimensions
    terms.sort(key=lambda term: (-_known()[term][0], _known()[term][1], term))
    return sum_names([_class(term) for term in terms], flat)


def sum_names(classes: Sequence[tuple[str, ...]], flat: int = 0) -> tuple[str, ...]:
    """Names of a direct sum: the commonest, then with pairs or centres merged, then the others.

    Args:
        classes: all names of each summand, the commonest first.
        flat: dimension of an abelian summand.

    Returns:
        Names, each once.
    """
    terms = [names[0] for names in classes]
    tail = [abelian(flat)] if flat else []
    if not terms:
        return _class(tail[0]) if flat else ("0",)
    sums = [terms + tail]
    for whole, (one, other) in SPLIT_ORTHOGONAL.items():
        if one in terms and other in (rest := _without(terms, one)):
            sums.append([whole, *_without(rest, other), *tail])
    for i, names in enumerate(classes):
        for merged, used in (pair for name in names for pair in _with_centre(name)):
            if flat >= used:
                sums.append(
                    [
                        merged,
                        *terms[:i],
                        *terms[i + 1 :],
                        *([abelian(flat - used)] if flat > used else []),
                    ]
                )
    for names in classes:
        sums += [
            [other if term == names[0] else term for term in terms] + tail for other in names[1:]
        ]
    return tuple(
        dict.fromkeys(
            " ⊕ ".join(bracketed(term) for term in sum_) if len(sum_) > 1 else sum_[0]
            for sum_ in sums
        )
    )


def bracketed(name: str, *, sums: bool = False) -> str:
    """The name of a semidirect sum, or with `sums` of any sum, in brackets.

    For use in a longer name.
    """
    return f"({name})" if " ⋉ " in name or (sums and " ⊕ " in name) else name


def pair(p: int, q: int) -> str:
    """Arguments of a name with a signature, the smaller number first; one number if definite.

    >>> pair(3, 1), pair(0, 5)
    ('1,3', '5')
    """
    return f"{min(p, q)},{max(p, q)}" if min(p, q) else str(max(p, q))


def abelian(dimension: int) -> str:
    """Name of the abelian algebra.

    >>> abelian(1), abelian(12)
    ('R', 'R¹²')
    """
    return "R" if dimension == 1 else "R" + str(dimension).translate(SUPERSCRIPTS)


def _forms(dynkin: str) -> Iterator[tuple[int, str]]:
    """Noncompact dimension and name of every real form of a type.

    The same form may come under several names.
    """
    letter, n = dynkin[0], int(dynkin[1:])
    yield from EXCEPTIONAL_FORMS.get(dynkin, {}).items()
    if letter == "A":
        yield 0, f"su({n + 1})"
        yield from (
            (2 * p * (n + 1 - p), f"su({p},{n + 1 - p})") for p in range(1, (n + 1) // 2 + 1)
        )
        yield n * (n + 3) // 2, f"sl({n + 1},R)"
        if n % 2 and n > 1:
            m = (n + 1) // 2
            yield 2 * m * m - m - 1, f"sl({m},H)"
    if letter in "BD":
        size = 2 * n + (letter == "B")
        yield 0, f"so({size})"
        yield from ((p * (size - p), f"so({p},{size - p})") for p in range(1, size // 2 + 1))
    if letter == "C":
        yield 0, f"sp({n})"
        yield from ((4 * p * (n - p), f"sp({p},{n - p})") for p in range(1, n // 2 + 1))
        yield n * n + n, f"sp({2 * n},R)"
    if letter == "D":
        yield n * n - n, f"so*({2 * n})"


def _complex_name(dynkin: str) -> str:
    letter, n = dynkin[0], int(dynkin[1:])
    named = {
        "A": f"sl({n + 1},C)",
        "B": f"so({2 * n + 1},C)",
        "C": f"sp({2 * n},C)",
        "D": f"so({2 * n},C)",
    }
    return named.get(letter, f"{dynkin.lower()}(C)")


@functools.cache
def _known() -> dict[str, tuple[int, int]]:
    """Dimension and noncompact dimension of every simple algebra by each of its names."""
    sizes: dict[str, tuple[int, int]] = {}
    ranks = {"A": 1, "B": 2, "C": 2, "D": 4}
    types = [
        f"{letter}{n}" for letter, low in ranks.items() for n in range(low, LARGEST_NAMED_RANK + 1)
    ] + list(EXCEPTIONAL_FORMS)
    for dynkin in types:
        sizes |= {name: (_dimension(dynkin), size) for size, name in _forms(dynkin)}
        sizes[_complex_name(dynkin)] = 2 * _dimension(dynkin), _dimension(dynkin)
    for names in SAME_ALGEBRA:
        equal = [sizes[name] for name in names if name in sizes]
        sizes |= dict.fromkeys(names, equal[0]) if equal else {}
    return sizes


def _dimension(dynkin: str) -> int:
    letter, n = dynkin[0], int(dynkin[1:])
    classical = {"A": n * (n + 2), "B": n * (2 * n + 1), "C": n * (2 * n + 1), "D": n * (2 * n - 1)}
    return (
        classical[letter]
        if letter in classical
        else {"G2": 14, "F4": 52, "E6": 78, "E7": 133, "E8": 248}[dynkin]
    )


def _class(name: str) -> tuple[str, ...]:
    return next((names for names in SAME_ALGEBRA if name in names), (name,))


def _first(name: str) -> str:
    return _class(name)[0]


def _read(term: str) -> tuple[tuple[str, ...], int]:
    """Simple summands of a name without ⊕, and the dimension of its centre."""
    if term in SPLIT_ORTHOGONAL:
        return SPLIT_ORTHOGONAL[term], 0
    if _first(term) in _known():
        return (_first(term),), 0
    if _first(term) == "R":
        return (), 1
    if match := re.fullmatch("R([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", term):
        return (), int(match[1].translate(PLAIN_DIGITS))
    if match := re.fullmatch(r"(u|gl)(\(.*\))", term):
        simple = {"u": "su", "gl": "sl"}[match[1]] + match[2]
        if _first(simple) in _known():
            return (_first(simple),), 2 if simple.endswith("C)") else 1
    raise ArgumentError(
        f"{term!r} is not the name of a simple or abelian algebra; "
        "expected for example 'so(1,3)' or 'su(2) ⊕ R'."
    )


def _with_centre(name: str) -> Iterator[tuple[str, int]]:
    """Name of the sum of an algebra with its scalars, and how many there are."""
    if name.startswith("su("):
        yield f"u{name[2:]}", 1
    if name.startswith("sl("):
        yield f"gl{name[2:]}", 2 if name.endswith("C)") else 1


def _without(terms: Sequence[str], one: str) -> list[str]:
    i = list(terms).index(one)
    return [*terms[:i], *terms[i + 1 :]]
