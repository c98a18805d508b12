"""The name of a Lie group from its algebra and its components: O(3), E(3), SO⁺(1,3) with parity, SO(2) × C₈."""

import re
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.catalog import TO_SUPERSCRIPTS, label
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.algebra.forms.forms import preserved_forms, signature
from liegg.algebra.subspace import linear_part, orthonormal

TRIVIAL = "trivial"
"""The name of a group of one element."""

CONNECTED = (
    (r"so\((\d+)\)", "SO({0})"),
    (r"so\((\d+),(\d+)\)", "SO⁺({0},{1})"),
    (r"se\((\d+)\)", "SE({0})"),
    (r"e\((\d+),(\d+)\)", "SO⁺({0},{1}) ⋉ R^{sum}"),
    (r"sl\((\d+),R\)", "SL({0},R)"),
    (r"gl\((\d+),R\)", "GL⁺({0},R)"),
    (r"sl\((\d+),C\)", "SL({0},C)"),
    (r"gl\((\d+),C\)", "GL({0},C)"),
    (r"sp\((\d+),R\)", "Sp({0},R)"),
    (r"u\((\d+)\)", "U({0})"),
    (r"su\((\d+)\)", "SU({0})"),
    (r"sim\((\d+)\)", "Sim⁺({0})"),
    (r"aff\((\d+)\)", "Aff⁺({0})"),
    (r"saff\((\d+)\)", "SAff({0})"),
    (r"translation\((\d+)\)", "R^{0}"),
    (r"scaling\((\d+)\)", "R⁺"),
    (r"diagonal\((\d+)\)", "(R⁺)^{0}"),
    (r"heis\((\d+)\)", "Heis({0})"),
    (r"R([⁰¹²³⁴⁵⁶⁷⁸⁹]*)", "R{0}"),
)
"""Connected groups of named algebras, in their usual representations."""

WITH_REFLECTIONS = {
    "SO(": "O(",
    "SE(": "E(",
    "SL(": "SL±(",
    "GL⁺(": "GL(",
    "Sim⁺(": "Sim(",
    "Aff⁺(": "Aff(",
    "SAff(": "SAff±(",
}
"""Names of connected groups, and of the same with the maps that reverse orientation."""

EXACT_ENTRY = 1e-6
"""Largest entry of a difference of exact matrices."""

MOST_TURNS, TURNING = 12, 1e-6
"""Most turns of the slowest plane after which a rotation is back, and least rate of a plane over the fastest."""

PRODUCT_ERRORS = 20.0
"""The same for matrices with an error, over that error: products of up to ten of them."""


def connected_name(algebra: str) -> str:
    """The connected group of an algebra by its name; empty where none is known.

    >>> connected_name("so(3)"), connected_name("so(2) ⊕ R"), connected_name("e(1,3)")
    ('SO(3)', 'SO(2) × R', 'SO⁺(1,3) ⋉ R⁴')
    """
    parts = []
    for part in algebra.split(" ⊕ "):
        for pattern, text in CONNECTED:
            if match := re.fullmatch(pattern, part):
                numbers = [int(one) for one in match.groups() if one.isdecimal()]
                words = text.format(*match.groups(), sum=sum(numbers))
                words = re.sub(r"\^(\d+)", lambda power: _power(int(power[1])), words)
                parts.append(words)
                break
        else:
            return ""
    return " × ".join(f"({one})" if "⋉" in one and len(parts) > 1 else one for one in parts)


def _power(exponent: int) -> str:
    return "" if exponent == 1 else str(exponent).translate(TO_SUPERSCRIPTS)


def whole_name(
    algebra: str,
    generators: Float[Tensor, "d n n"] | None,
    group: FiniteGroup | None,
    slots: SlotGroup | None = None,
    *,
    shifts: Sequence[int] = (),
    uncertainty: float = 0.0,
) -> str:
    """The name of the group that a continuous part, components, permutations of slots and circular shifts make.

    A name such as O(3) is given only if the matrices have that meaning: the algebra preserves one definite metric and the
    other component reverses orientation. Otherwise the algebra and the group of components are named.

    Args:
        algebra: name of the algebra, as `liegg.identify` gives it; "0" or empty for none.
        generators: its matrices, of the size of the elements of `group`; None if they act on something else.
        group: components, or a finite group; None if there are none.
        slots: permutations of slots.
        shifts: orders of the groups of circular shifts along the axes of a grid.
        uncertainty: relative error of each unit generator.

    Examples:
        >>> from liegg.algebra import close, so
        >>> mirror = close(-torch.eye(3)[None], algebra=so(3))
        >>> (
        ...     whole_name("so(3)", so(3), mirror),
        ...     whole_name("so(3)", so(3), close(torch.eye(3)[None])),
        ... )
        ('O(3)', 'SO(3)')
        >>> whole_name("", None, close(torch.eye(2)[[1, 0]][None])), whole_name("0", None, None)
        ('C₂', 'trivial')
    """
    if algebra == "R" and generators is not None and _is_circle(generators, uncertainty):
        algebra = "u(1)"
    parts = [_of_matrices(algebra, generators, group, uncertainty)]
    cyclic = [order for order in shifts if order > 1]
    if cyclic:
        same = len(cyclic) > 1 and len(set(cyclic)) == 1
        text = label("C", cyclic[0]) + _power(len(cyclic)) if same else ""
        text = text or " × ".join(label("C", order) for order in cyclic)
        # Reflections and rotations of a grid do not commute with its shifts.
        mixed = parts[0] and group is not None and (group.order or 1) > 1
        inner = f"({text})" if mixed and " × " in text else text
        parts = [f"{parts[0]} ⋉ {inner}"] if mixed else [*parts, text]
    if slots is not None and slots.order > 1:
        parts.append(slots.name)
    return " × ".join(part for part in parts if part) or TRIVIAL


def _is_circle(generators: Float[Tensor, "1 n n"], uncertainty: float) -> bool:
    """Whether the exponentials of one generator return to the identity: planes that turn at rates of 1 and 3, or of 3 and 5."""
    rates = torch.linalg.eigvals(generators[0].double()).imag.abs()
    turning = rates[rates > TURNING * rates.max()]
    if len(generators) != 1 or not len(turning):
        return False
    turns = 2 * torch.pi * torch.arange(1, MOST_TURNS + 1, dtype=torch.float64) / turning.min()
    back = torch.linalg.matrix_exp(turns[:, None, None] * generators[0].double())
    gaps = (back - torch.eye(back.shape[1]).double()).abs().amax((1, 2))
    error = torch.maximum(EXACT_ENTRY * turns.new_ones(()), uncertainty * turns * rates.max())
    return bool((gaps <= error).any())


def _of_matrices(
    algebra: str, generators: Tensor | None, group: FiniteGroup | None, uncertainty: float
) -> str:
    """The name of the group of matrices; empty for the identity alone."""
    continuous = algebra not in ("", "0")
    base = connected_name(algebra) if continuous else ""
    if group is None or group.order == 1:
        return (base or algebra) if continuous else ""
    if not continuous:
        return group.name if group.closed or group.too_large else "elements that do not close"
    if not group.closed and not group.too_large:
        return f"{algebra} with components that do not close"
    if group.closed and generators is not None and generators.shape[1:] == group.elements.shape[1:]:
        named = _special(base, orthonormal(generators), group, uncertainty)
        if named:
            return named
    return f"{algebra} with a component group {group.name}"


def _special(
    base: str, span: Float[Tensor, "d n n"], group: FiniteGroup, uncertainty: float
) -> str:
    """A name that the matrices themselves justify; empty where there is none."""
    n = span.shape[1] - group.homogeneous
    linear, elements = linear_part(span, n), group.elements[:, :n, :n]
    reversed_ = torch.linalg.det(elements) < 0
    match = re.fullmatch(r"[A-Za-z]+⁺?\((\d+)(,R)?\)", base)
    mirrored = match and int(match[1]) == n and bool(reversed_.any()) and group.order == 2
    if mirrored and (not base.startswith(("SO(", "SE(")) or _is_definite(linear, uncertainty)):
        prefix = next((one for one in WITH_REFLECTIONS if base.startswith(one)), "")
        return base.replace(prefix, WITH_REFLECTIONS[prefix]) if prefix else ""
    lorentz = re.match(r"SO⁺\((\d+),(\d+)\)", base)
    if lorentz and int(lorentz[1]) + int(lorentz[2]) == n and min(map(int, lorentz.groups())) == 1:
        return _lorentz(base, group)
    if group.homogeneous and re.fullmatch("R[⁰¹²³⁴⁵⁶⁷⁸⁹]*", base) and not len(linear):
        own = f"({group.name})" if " " in group.name else group.name
        return f"{own} ⋉ {base}" if len(span) == n else ""
    return f"{base} × {group.name}" if base and _is_product(span, group) else ""


def _is_definite(linear: Float[Tensor, "d n n"], uncertainty: float) -> bool:
    metric = preserved_forms(linear, uncertainty=uncertainty).metric if len(linear) else None
    return metric is not None and signature(metric)[1:] == (0, 0)


def _lorentz(base: str, group: FiniteGroup) -> str:
    """The components of a group with one time axis, by their words."""
    kinds = {words.partition(" (")[0] for words in group.words[1:]}
    if group.order == 4 and kinds == {"parity", "time reversal", "parity and time reversal"}:
        return base.replace("SO⁺", "O", 1)
    if group.order == 2 and len(kinds) == 1:
        kind = kinds.pop()
        if kind == "parity and time reversal":
            return base.replace("SO⁺", "SO", 1)
        return f"{base} with {kind}" if kind in ("parity", "time reversal") else ""
    return ""


def _is_product(span: Float[Tensor, "d n n"], group: FiniteGroup) -> bool:
    """Whether the matrices commute with the algebra and are a group themselves: a direct product."""
    elements = group.elements
    moved = elements[:, None] @ span - span @ elements[:, None]
    products = elements[:, None] @ elements - elements[group.table]
    allowed = max(EXACT_ENTRY, PRODUCT_ERRORS * group.tolerance)
    return float(moved.abs().max()) <= allowed and float(products.abs().max()) <= allowed
