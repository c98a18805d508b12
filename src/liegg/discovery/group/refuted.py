"""Components that the continuous symmetries leave open and the model refutes: mirror images, parity, time reversal."""

from collections.abc import Callable

import torch
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.component_words import component_kind, has_components, preserves_form
from liegg.algebra.finite.outer import ON_A_PART, ON_ALL_PARTS
from liegg.algebra.forms.frame import standard_frame
from liegg.algebra.subspace import linear_part, orthonormal
from liegg.discovery.group.judge import BESIDE_EXACT, Findings
from liegg.discovery.group.setting import Setting
from liegg.results.group_symmetries import GroupElement, GroupSymmetries

MIRRORS = (
    "−1",
    "sign of an invariant part",
    "reflection of a form",
    "sign flip",
    ON_A_PART,
    ON_ALL_PARTS,
)
"""Structured elements that may be mirror images."""

KINDS = MIRROR_IMAGE, _, _, BOTH = (
    "mirror image",
    "parity",
    "time reversal",
    "parity and time reversal",
)
"""Components with names, in the order in which they are mentioned."""

FORM_ERRORS = 10.0
"""How many times the error of a unit generator the form of a matrix may be off."""


def refuted_components(found: GroupSymmetries, findings: Findings) -> list[str]:
    """How much each component that is not a symmetry changes the output, in words; the best element of it counts.

    Nothing is said of a component that is part of the group, or not testable. Parity and time reversal together are mentioned only
    if both are refuted: otherwise it follows.
    """
    if found.continuous is None or not found.continuous.nullity:
        return []
    kind = _kinds(findings.setting)
    open_ = (*found.elements, *findings.pairs, *found.not_testable)
    known = {kind(one) for one in open_} - {""}
    tried = [
        one
        for one in findings.rejected
        if one.source in MIRRORS and one.reason in ("", BESIDE_EXACT) and one not in open_
    ]
    best: dict[str, GroupElement] = {}
    for one in sorted(tried, key=lambda one: one.effect):
        best.setdefault(kind(one), one)
    named = [name for name in KINDS if name in best and name not in known]
    return [_words(name, best[name], found) for name in named if name != BOTH or not known]


def _words(name: str, element: GroupElement, found: GroupSymmetries) -> str:
    size = f"{element.effect * found.spread:.3g}"
    share = f"{element.effect:.2g} of its spread"
    if name == MIRROR_IMAGE:
        return f"mirror images differ by {size} in the output, {share}"
    if name == BOTH:
        return f"{name} together change the output by {size}, {share}"
    return f"{name} changes the output by {size}, {share}"


def _kinds(setting: Setting) -> Callable[[GroupElement], str]:
    """What an element of the vectors does by name; empty for others.

    Where the algebra is all of so(p, q), it must preserve the form; otherwise a mirror image is whatever reverses orientation.
    """
    spaces = (one for one in setting.spaces if isinstance(one, VectorSpace))
    space = next((one for one in spaces if one.kind == "vectors"), None)
    if space is None:
        return lambda _: ""
    n = space.n
    linear = linear_part(orthonormal(setting.algebra_on(space)), n)
    error = max(1e-6, FORM_ERRORS * setting.uncertainty)
    standard = standard_frame(linear, uncertainty=setting.uncertainty) if len(linear) else None

    def kind(element: GroupElement) -> str:
        if element.kinds[0] != "vectors":
            return ""
        matrix: Tensor = element.matrices[0][:n, :n]
        if has_components(linear, standard):
            preserved = preserves_form(matrix, standard, tolerance=error)
            return component_kind(matrix, linear, standard) if preserved else ""
        return MIRROR_IMAGE if float(torch.linalg.det(matrix)) < 0 else ""

    return kind
