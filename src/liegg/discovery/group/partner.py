"""What the output does when the input is moved: the output's own element by least squares."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions.finite.grid import GridSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.setting import Setting

Factors = tuple[tuple[Space, Tensor], ...]


def with_partner(candidate: Candidate, setting: Setting) -> Candidate:
    """The candidate with the element of the output that suits it best on the search samples.

    Matrices of the output are solved for by least squares; grids and slots of the output move as those of the input do, or not at
    all, whichever fits better.
    """
    if not setting.equivariance:
        return candidate
    question = setting.search
    moved = torch.cat(
        [
            question.taken(question.reply(candidate.apply(question.x[part].double())), part)
            for part in question.parts
        ]
    )
    y = setting.shaped(question.y)
    target = setting.shaped(moved)
    fits = [
        _with_matrix(discrete, setting, y, target) for discrete in _discrete(candidate, setting)
    ]
    best = min(fits, key=lambda fit: fit[1])
    return replace(candidate, outputs=best[0])


def _discrete(candidate: Candidate, setting: Setting) -> list[Factors]:
    """Elements of grids and slots of the output: nothing, or what the input does."""
    options: list[Factors] = [()]
    for space in setting.output_spaces:
        if isinstance(space, GridSpace):
            choices = list(space.elements)
        elif isinstance(space, SlotSpace):
            choices = [torch.eye(space.side, dtype=torch.float64)] + [
                matrix
                for one, matrix in candidate.factors
                if isinstance(one, SlotSpace) and one.side == space.side
            ]
        else:
            choices = []
        if choices:
            options = [(*start, (space, matrix)) for start in options for matrix in choices]
    return options


def _with_matrix(
    discrete: Factors, setting: Setting, y: Tensor, target: Tensor
) -> tuple[Factors, float]:
    """The element with the matrix on the vectors of the output, and its squared error."""
    for space, matrix in discrete:
        y = space.apply(matrix, y)
    factors = discrete
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
    inputs, wanted = space.vectors(y).flatten(0, 1), space.vectors(target).flatten(0, 1)
    if space.homogeneous:
        inputs = pad(inputs, (0, 1), value=1.0)
    gram = inputs.mT @ inputs
    inverse = torch.linalg.pinv(gram, rtol=1e-12, hermitian=True)
    change = wanted - inputs[:, : wanted.shape[1]]
    linear = (inverse @ (inputs.mT @ change)).mT
    matrix = torch.eye(space.side, dtype=torch.float64, device=y.device)
    matrix[: wanted.shape[1]] += linear
    return matrix.cpu()
