"""What names of algebras mean in words, and what else an algebra is called."""

import re

from liegg._utils.errors import ArgumentError
from liegg.algebra.structure.real_forms import abelian, aliases

SAME_MOTION = {"so(2)": ("u(1)",), "u(1)": ("so(2)",), "so(1,1)": ()}
"""One-dimensional algebras are all alike as such; these act alike too."""

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
        homogeneous: the matrices are known to be affine maps; otherwise it is said that affine ones look so.
        usual: the algebra acts as its name says, not in another representation.
        dual: it acts as on covectors.
        copies: on how many subspaces it does the same.

    Examples:
        >>> meaning("so(3)"), meaning("so(3) ⊕ R"), meaning("R²", usual=False)
        ('rotations of 3 dimensions', 'rotations of 3 dimensions; a one-parameter group', 'maps that commute with one another')
        >>> meaning("so(3)", copies=2), meaning("aff(1)", homogeneous=False)
        ('rotations of 3 dimensions, the same on 2 subspaces', 'all affine maps of one dimension, in homogeneous coordinates')
    """
    abelian_name = re.fullmatch("R[⁰¹²³⁴⁵⁶⁷⁸⁹]*", name)
    if not usual and not abelian_name:
        return "in a representation other than the usual one"
    if "⋉" in name:
        linear, _, shifts = name.rpartition(" ⋉ ")
        return f"{linear} together with what looks like translations along {shifts}"
    found = (
        next(
            (
                text.format(*m.groups())
                for pattern, text in MEANING
                if (m := re.fullmatch(pattern, part))
            ),
            "",
        )
        for part in _parts(name)
    )
    words = "; ".join(part for part in dict.fromkeys(found) if part).replace(
        " 1 dimensions", " one dimension"
    )
    words += ", as they act on covectors" if dual and words else ""
    words += f", the same on {copies} subspaces" if copies > 1 and words else ""
    affine = (
        len(_parts(name)) == 1 and not dual and re.match(r"(s?e|s?aff|sim|translation)\(", name)
    )
    return f"{words}, in homogeneous coordinates" if affine and words and not homogeneous else words


def _parts(name: str) -> list[str]:
    return name.split(" ⊕ ")


def other_names(name: str) -> tuple[str, ...]:
    """Other names of the same algebra, whatever it acts on; in a fixed order.

    >>> other_names("so(1,3)"), other_names("so(4)"), other_names("translation(3)")
    (('sl(2,C)', 'so(3,C)', 'sp(2,C)'), ('so(3) ⊕ so(3)', 'su(2) ⊕ su(2)', 'sp(1) ⊕ sp(1)'), ('R³',))
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
