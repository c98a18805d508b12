r"""The symmetries of a result as vector fields, and what they do to the output."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Displacement, MatrixAction
from liegg.algebra.words.latex import equations_latex
from liegg.algebra.words.readable import word_tolerance
from liegg.algebra.words.vector_fields import vector_field, vector_field_latex
from liegg.algebra.words.wording import coordinate_names
from liegg.results.account import direction_error, is_printable, matrices_of
from liegg.results.symmetries import Symmetries


def field_texts(sym: Symmetries, *, latex: bool = False) -> tuple[str, ...]:
    """Every symmetry as a vector field, in the basis of `sym.words`; empty where there are no matrices, or large ones.

    Args:
        sym: the result of `discover`.
        latex: as LaTeX, not as text.
    """
    action = sym.action
    basis = _basis(sym)
    if basis is None or not isinstance(action, MatrixAction):
        return ()
    return _written(action, basis, action.axes, direction_error(sym.decision), latex=latex)


def output_field_texts(sym: Symmetries, *, latex: bool = False) -> tuple[str, ...]:
    """What each of `field_texts` does to the output, as a vector field there; empty for invariance."""
    action, basis = sym.output_action, _basis(sym)
    if basis is None or not isinstance(action, MatrixAction):
        return ()
    # Rounded entries may leave a restricted action slightly: the nearest combination of what was found.
    found = sym.generators.flatten(1)
    shares, gram = basis.to(found).flatten(1) @ found.mT, found @ found.mT
    if not torch.allclose(
        gram, torch.eye(len(gram)).to(gram), atol=1e-9
    ):  # of an action of the user's own
        shares = shares @ torch.linalg.pinv(gram)
    coefficients = shares @ sym.coefficients
    matrices = matrices_of(action, sym.accumulated.partners(coefficients))
    if matrices is None:
        return ()
    names, error = output_names(action), direction_error(sym.decision)
    tolerance = word_tolerance(action.ambient, error)
    noise = tolerance * _largest_beside(sym, action, coefficients)
    matrices = torch.where(matrices.abs() > noise, matrices, 0.0)
    return _written(action, matrices, names, error, latex=latex)


def _largest_beside(
    sym: Symmetries, action: MatrixAction, coefficients: Float[Tensor, "d g"]
) -> Float[Tensor, "d n n"]:
    """The largest output entry that goes with any direction which moves the data as far as each of these does.

    Entries are compared with it, because those of a generator that does not move the output are nothing but errors. Linear maps and
    translations have units of their own.
    """
    found = sym.accumulated
    directions = found.solution.directions.to(coefficients)
    partners = action.matrices(found.partners(directions)).abs()
    rates = partners / _motion(found.displacement, directions)[:, None, None]
    largest = rates.max().expand(rates.shape[1:]).clone()
    if action.homogeneous:
        largest[:, :-1], largest[:, -1] = rates[:, :, :-1].max(), rates[:, :, -1].max()
    return _motion(found.displacement, coefficients)[:, None, None] * largest


def _motion(displacement: Displacement, h: Float[Tensor, "d g"]) -> Float[Tensor, " d"]:
    """Root mean square motion of the data along each direction."""
    block = displacement.block.to(h)
    parts = h.unflatten(1, (-1, len(block)))
    return torch.einsum("dri,ij,drj->d", parts, block, parts).clamp_min(0).sqrt()


def output_names(action: MatrixAction) -> tuple[str, ...]:
    """Names of the coordinates of an output: those of its action, or y₁, y₂, ...

    >>> from liegg.actions import Linear
    >>> output_names(Linear(2)), output_names(Linear(2, names=["F1", "F2"]))
    (('y₁', 'y₂'), ('F1', 'F2'))
    """
    default = coordinate_names(action.ambient - action.homogeneous)
    return action.axes or tuple(name.replace("x", "y") for name in default)


def fields_latex(sym: Symmetries) -> str:
    """The vector fields as an `align*` for amsmath, those of the output beside them; empty if there are none."""
    texts = field_texts(sym, latex=True)
    outputs = output_field_texts(sym, latex=True)
    if outputs:
        numbers = [f"Y_{{{i}}}" if i > 9 else f"Y_{i}" for i in range(1, len(outputs) + 1)]
        sides = zip(texts, numbers, outputs, strict=True)
        texts = tuple(f"{text} & {number} &= {output}" for text, number, output in sides)
    return equations_latex(texts)


def _basis(sym: Symmetries) -> Float[Tensor, "d n n"] | None:
    """The matrices that `sym.words` describes; None where there are none, or they are too large."""
    generators = sym.account.generators
    if generators is None or not len(generators):
        return None
    readable = sym.identification.readable.generators
    if not sym.identification.known or not len(readable):
        readable = generators / generators.abs().amax((1, 2), keepdim=True)
    return readable if is_printable(len(readable), readable.shape[1]) else None


def _written(
    action: MatrixAction,
    matrices: Float[Tensor, "d n n"],
    names: tuple[str, ...] | None,
    error: float,
    *,
    latex: bool,
) -> tuple[str, ...]:
    """Matrices as vector fields; entries that the error explains are left out, as words do."""
    write = vector_field_latex if latex else vector_field
    tolerance = word_tolerance(action.ambient, error)
    return tuple(
        write(matrix, coordinates=names, homogeneous=action.homogeneous, tolerance=tolerance)
        for matrix in matrices
    )
