"""How much stated finite elements change a model's output, without a search."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions.finite.space import Space
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.judge import effects
from liegg.discovery.group.question import read
from liegg.discovery.group.setting import Setting
from liegg.discovery.inner import Asked
from liegg.discovery.structured import Moves
from liegg.discovery.verification.evaluating import evaluating
from liegg.inputs.batches import Data
from liegg.inputs.output_field import Field
from liegg.inputs.part import asked_part
from liegg.results.group_symmetries import GroupElement, GroupSymmetries

SINGULAR = 1e12
"""Condition number from which on a matrix is not invertible."""


class ElementEffects(NamedTuple):
    """What elements do to a model's output.

    Attributes:
        effect: root mean square change of the output over its spread, of each element.
        displacement: root mean square motion of the samples over their spread.
        words: what each element is called in messages.
        unit: rounding unit of the model's arithmetic.
        model: name of the model.
    """

    effect: Float[Tensor, " k"]
    displacement: Float[Tensor, " k"]
    words: tuple[str, ...]
    unit: float
    model: str


def element_effects(
    model: Any, data: Data, elements: Any, action: Moves, *, output: Field = None
) -> ElementEffects:
    """Measure stated elements on the data.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover_group`.
        elements: matrices `[k, n, n]`, permutations of slots as lists, a group, or what `discover_group` found.
        action: what they act on.
        output: the field of what the model returns, as for `liegg.discover`.

    Raises:
        ArgumentError: nothing that the action moves has elements of this size.
        AssertionError: there is no element.
    """
    listed = _listed(elements)
    if not listed:
        raise AssertionError("no elements were given, so nothing was checked.")
    with evaluating(Asked(model, data, action), None, seed=0) as (function, inputs):
        part = asked_part(output, None, equivariance=False)
        setting = Setting(*read(function, inputs, None, part=part, output_action=None))
        named = [_candidate(one, setting) for one in listed]
        measured = effects(setting, [candidate for candidate, _ in named])
        return ElementEffects(
            measured.change.mean(1).sqrt(),
            measured.displacement,
            tuple(words for _, words in named),
            float(setting.held_out.eps),
            setting.held_out.model.name,
        )


def _listed(elements: Any) -> list[Any]:
    """Elements one by one: matrices, permutations or elements with evidence."""
    if isinstance(elements, GroupSymmetries):
        return [*elements.elements[1:], *elements.permutations, *elements.infinite]
    if isinstance(elements, FiniteGroup):
        return list(elements.elements[1:])
    if isinstance(elements, SlotGroup):
        return list(elements.generators)
    if isinstance(elements, Tensor) and elements.ndim == 2:
        return [elements]
    return list(elements)


def _candidate(element: Any, setting: Setting) -> tuple[Candidate, str]:
    """An element on the space that it fits, and its name."""
    if isinstance(element, GroupElement):
        factors = tuple(
            (_space(setting, matrix, kind), matrix)
            for kind, matrix in zip(element.kinds, element.matrices, strict=True)
        )
        return Candidate(factors, element.source), element.words
    if isinstance(element, Tensor) and element.ndim != 1:
        matrix = element.detach().to("cpu", torch.float64)
        candidate = Candidate(((_space(setting, matrix), matrix),), "given")
        if not float(torch.linalg.cond(matrix)) < SINGULAR:
            raise ArgumentError(
                f"an element is the singular matrix {matrix.tolist()}; expected invertible matrices: a projection is no symmetry."
            )
        return candidate, candidate.words
    order = [int(i) for i in element]
    if sorted(order) != list(range(len(order))):
        raise ArgumentError(
            f"an element is {order}; expected a matrix [n, n], or a permutation of 0, ..., {len(order) - 1}."
        )
    matrix = torch.eye(len(order), dtype=torch.float64)[order]
    factor = (_space(setting, matrix, "slots"), matrix)
    return Candidate((factor,), "given"), f"the permutation {order}"


def _space(setting: Setting, matrix: Tensor, kind: str | None = None) -> Space:
    """The first space with matrices of this size."""
    spaces = setting.spaces
    fitting = [s for s in spaces if s.side == len(matrix) and kind in (None, s.kind)]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not fitting:
        sides = ", ".join(f"{s.kind}: {s.side}" for s in spaces) or "nothing"
        raise ArgumentError(
            f"an element has shape {tuple(matrix.shape)}; {setting.action!r} moves {sides}. Pass square matrices of one of these "
            "sizes (homogeneous ones for Affine), or permutations."
        )
    return fitting[0]
