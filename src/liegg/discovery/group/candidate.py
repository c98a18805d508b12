"""A finite element that may be a symmetry, and what goes with it on the output."""

import itertools
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.element_words import element_words
from liegg.algebra.finite.slots import permutation_words
from liegg.discovery.group.setting import Setting

Factors = tuple[tuple[Space, Float[Tensor, "_ _"]], ...]
"""Spaces, and a matrix on each."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Matrices on one or several spaces of a sample, applied one after the other.

    Attributes:
        factors: space and matrix of every factor; they commute.
        source: where the element comes from, such as `"sign flip"` or `"random start"`.
        outputs: space and matrix of what goes with it on the output; empty for invariance.
    """

    factors: Factors
    source: str
    outputs: Factors = ()

    def apply(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Moved samples."""
        return _applied(self.factors, x)

    def apply_output(self, y: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """What the output should become."""
        return _applied(self.outputs, y)

    @property
    def words(self) -> str:
        """What each factor does."""
        return " and ".join(_factor_words(space, matrix) for space, matrix in self.factors)


def _factor_words(space: Space, matrix: Float[Tensor, "n n"]) -> str:
    if isinstance(space, SlotSpace):
        return permutation_words(matrix.argmax(1).tolist(), noun=space.noun)
    if isinstance(space, ShiftSpace):
        return f"circular shift by {int(matrix[:, 0].argmax())}"
    homogeneous = isinstance(space, VectorSpace) and space.homogeneous
    return element_words(matrix, coordinates=space.coordinates, homogeneous=homogeneous)


def _applied(factors: Factors, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
    for space, matrix in factors:
        x = space.apply(matrix, x)
    return x


def with_partner(candidate: Candidate, setting: Setting) -> Candidate:
    """The candidate with the element of the output that suits it best on the search samples.

    Matrices of the output are solved for by least squares. Grids of the output move by any element of the grid; slots and circular
    shifts of the output move as those of the input do, or not at all, whichever fits better.
    """
    if not setting.output_spaces:
        return candidate
    question = setting.search
    replies = [
        question.taken(question.reply(candidate.apply(question.x[part].double())), part)
        for part in question.parts
    ]
    y, target = setting.shaped(question.y), setting.shaped(torch.cat(replies))
    fits = [_with_matrices(exact, setting, y, target) for exact in _exact(candidate, setting)]
    return replace(candidate, outputs=min(fits, key=lambda fit: fit[1])[0])


def _exact(candidate: Candidate, setting: Setting) -> list[Factors]:
    """Elements of grids and slots of the output."""
    choices = []
    for space in setting.output_spaces:
        if isinstance(space, GridSpace):
            choices.append([(space, matrix) for matrix in space.elements])
        elif isinstance(space, SlotSpace):
            own = [
                matrix
                for one, matrix in candidate.factors
                if isinstance(one, SlotSpace) and one.side == space.side
            ]
            choices.append([(space, matrix) for matrix in (_still(space), *own)])
        elif isinstance(space, ShiftSpace):
            own = [
                matrix
                for one, matrix in candidate.factors
                if isinstance(one, ShiftSpace) and _from_the_end(one) == _from_the_end(space)
            ]
            choices.append([(space, matrix) for matrix in (_still(space), *own)])
    return list(itertools.product(*choices))


def _still(space: Space) -> Float[Tensor, "n n"]:
    return torch.eye(space.side, dtype=torch.float64)


def _from_the_end(space: ShiftSpace) -> tuple[int, int]:
    """Which axis is shifted, and its side: outputs may have other leading axes."""
    return space.axis - len(space.shape), space.side


def _with_matrices(
    exact: Factors, setting: Setting, y: Tensor, target: Tensor
) -> tuple[Factors, float]:
    """The element with matrices on the vectors of the output, and its squared error."""
    factors, y = exact, _applied(exact, y)
    for space in setting.output_spaces:
        if isinstance(space, VectorSpace):
            matrix = fitted_matrix(space, y, target)
            y = space.apply(matrix, y)
            factors = (*factors, (space, matrix))
    return factors, float((y - target).square().sum())


def fitted_matrix(
    space: VectorSpace, y: Float[Tensor, "b ..."], target: Float[Tensor, "b ..."]
) -> Float[Tensor, "p p"]:
    """The linear or affine map that takes the vectors of one batch to those of another, by least squares.

    Directions that the outputs do not span are left as they are.
    """
    inputs, wanted = space.factors(y).flatten(0, 1), space.vectors(target).flatten(0, 1)
    gram = inputs.mT @ inputs
    inverse = torch.linalg.pinv(gram, rtol=1e-12, hermitian=True)
    change = wanted - inputs[:, : wanted.shape[1]]
    linear = (inverse @ (inputs.mT @ change)).mT
    matrix = torch.eye(space.side, dtype=torch.float64, device=y.device)
    matrix[: wanted.shape[1]] += linear
    return matrix.cpu()
