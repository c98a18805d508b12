"""The meaning of names of algebras in words, and other names of an algebra."""

import re

from liegg._utils.errors import ArgumentError
from liegg.algebra.structure.real_forms import abelian, aliases

SAME_MOTION = {"so(2)": ("u(1)",), "u(1)": ("so(2)",), "so(1,1)": ()}
"""Other names of one-dimensional algebras that also act alike.

As abstract algebras all are the same."""

MEANING = (
    (
        r"so\(1,3\)",
        "Lorentz group: rotations and boosts that preserve a metric of signature (1, 3)",
    ),
    (
        r"e\(1,3\)",
        "Poincaré group: translations, rotations and boosts that preserve a metric of signature (1, 3)",
    ),
    (r"so\(2\)", "rotations of a plane"),
    (r"so\((\d+)\)", "rotations of {0} dimensions"),
    (r"so\(1,1\)", "boosts in a plane"),
    (r"so\((\d+),(\d+)\)", "linear maps that preserve a metric of signature ({0}, {1})"),
    (r"sl\((\d+),R\)", "linear maps of {0} dimensions that preserve volume"),
    (r"sl\((\d+),C\)", "complex linear maps of {0} complex dimensions with determinant one"),
    (r"gl\((\d+),R\)", "all linear maps of {0} dimensions"),
    (r"gl\((\d+),C\)", "all complex linear maps of {0} complex dimensions"),
    (
        r"sp\((\d+),R\)",
        "symplectic maps of {0} dimensions: they preserve the area form of positions and momenta",
    ),
    (r"su\((\d+)\)", "unitary maps of {0} complex dimensions with determinant one"),
    (r"u\(1\)", "a common phase"),
    (r"u\((\d+)\)", "unitary maps of {0} complex dimensions"),
    (
        r"su\((\d+),(\d+)\)",
        "complex maps with determinant one that preserve a Hermitian form of signature ({0}, {1})",
    ),
    (r"u\((\d+),(\d+)\)", "complex maps that preserve a Hermitian form of signature ({0}, {1})"),
    (r"se\((\d+)\)", "rigid motions of {0} dimensions: rotations and translations"),
    (
        r"e\((\d+),(\d+)\)",
        "motions that preserve a metric of signature ({0}, {1}): its rotations, boosts and translations",
    ),
    (r"sim\((\d+)\)", "similarities of {0} dimensions: rotations, translations and scaling"),
    (r"aff\((\d+)\)", "all affine maps of {0} dimensions"),
    (r"saff\((\d+)\)", "affine maps of {0} dimensions that preserve volume"),
    (r"translation\(1\)", "a translation or shear"),
    (r"translation\((\d+)\)", "translations along {0} axes"),
    (r"scaling\(1\)", "scaling of one direction"),
    (r"scaling\((\d+)\)", "uniform scaling of {0} dimensions"),
    (r"diagonal\((\d+)\)", "independent scalings of {0} axes"),
    (r"shear\((\d+)\)", "all shears along a flag: strictly upper triangular matrices of size {0}"),
    (r"heis\((\d+)\)", "Heisenberg group of dimension {0}"),
    (r"R", "a one-parameter group"),
    (r"R([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", "maps that commute with one another"),
    (r"0", "nothing moves"),
)


def meaning(
    name: str, *, homogeneous: bool = True, usual: bool = True, dual: bool = False, copies: int = 1
) -> str:
    """What the maps of a named algebra do, in words; empty for a name without words of its own.

    Args:
        name: the name.
        homogeneous: whether the matrices are known to be affine maps; if not, the words mention
            homogeneous coordinates.
        usual: whether the algebra acts as its name says, not in another representation.
        dual: whether it acts as on covectors.
        copies: number of subspaces on which it acts in the same way.

    Examples:
        >>> meaning("so(3)"), meaning("so(3) ⊕ R")
        ('rotations of 3 dimensions', 'rotations of 3 dimensions; a one-parameter group')
        >>> meaning("so(3)", copies=2)
        'rotations of 3 dimensions, the same on 2 subspaces'
    """
    abelian_name = re.fullmatch("R[⁰¹²³⁴⁵⁶⁷⁸⁹]*", name)
    if not usual and not abelian_name:
        return "in a representation other than the usual one"
    if "⋉" in name:
        linear, _, shifts = name.rpartition(" ⋉ ")
        return f"{linear} together with what looks like translations along {shifts}"
    parts = name.split(" ⊕ ")
    words = "; ".join(dict.fromkeys(filter(None, map(_words, parts))))
    if not words:
        return ""
    affine = len(parts) == 1 and not dual and re.match(r"(s?e|s?aff|sim|translation)\(", name)
    words += ", as they act on covectors" if dual else ""
    words += f", the same on {copies} subspaces" if copies > 1 else ""
    return f"{words}, in homogeneous coordinates" if affine and not homogeneous else words


def _words(name: str) -> str:
    """Words for a name without ⊕; empty if there are none."""
    for pattern, text in MEANING:
        if match := re.fullmatch(pattern, name):
            return text.format(*match.groups()).replace(" 1 dimensions", " one dimension")
    return ""


def other_names(name: str) -> tuple[str, ...]:
    """Other names of the same abstract algebra, in a fixed order.

    >>> other_names("so(1,3)"), other_names("so(4)"), other_names("translation(3)")
    (('sl(2,C)', 'so(3,C)', 'sp(2,C)'), ('so(3) ⊕ so(3)', 'su(2) ⊕ su(2)', 'sp(1) ⊕ sp(1)'),
    ('R³',))
    """
    if match := re.fullmatch(r"(translation|diagonal|scaling)\((\d+)\)", name):
        return (abelian(1 if match[1] == "scaling" else int(match[2])),)
    if name in SAME_MOTION:
        return (*SAME_MOTION[name], "R")
    if match := re.fullmatch(r"s?e\(([\d,]+)\)", name):
        group = match[1]
        linear = f"so({group})" if group != "1,1" else "R"
        size = sum(int(part) for part in group.split(","))
        return (*((f"e({group})",) if "," not in group else ()), f"{linear} ⋉ {abelian(size)}")
    if match := re.fullmatch(r"(s?)aff\((\d+)\)", name):
        n = int(match[2])
        return (f"{'sl' if match[1] else 'gl'}({n},R) ⋉ {abelian(n)}",) if n > 1 else ()
    try:
        return tuple(other for other in aliases(name) if other != name)
    except ArgumentError:
        return ()
