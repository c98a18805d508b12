"""Models of arrays that take structured samples: functions, estimators and sessions of trees of arrays."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ModelError, NoOutputError, one_line
from liegg._utils.forward_mode import jvp
from liegg.inputs.foreign.jax_function import JaxFunction, from_jax
from liegg.inputs.foreign.jax_tree import JaxTree
from liegg.inputs.foreign.onnx_file import OnnxSession
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.foreign.recognise import as_foreign, in_jax, takes_tensors
from liegg.inputs.foreign.tree_function import TreeFunction
from liegg.inputs.structure.calling import convention_for
from liegg.inputs.structure.entry import Convention, Custom, entry
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import leaves


class RowFunction(ForeignModel):
    """A function of trees of arrays, as one of rows."""

    precision = torch.float64

    def __init__(self, model: TreeFunction, convention: Convention) -> None:
        self.model, self.convention, self.name = model, convention, model.__name__
        self.notes = (*convention.notes, *model.notes)

    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch of rows."""
        return self.convention.run(self.model, torch.from_numpy(x))


def how_called(
    model: Any,
    function: Any,
    packed: Packed,
    tree: Any,
    *,
    call: Custom | None,
    rows: Float[Tensor, "b D"],
) -> tuple[Any, Convention]:
    """Find how a model takes structured samples: with tensors, or else with arrays.

    Args:
        model: the user's model.
        function: the same in eval mode.
        packed: the data.
        tree: its first sample or batch.
        call: the user's own function of the model and a batch; None to follow the signature.
        rows: a few samples.

    Returns:
        The model as it is called, which is a `TreeFunction` if it takes arrays; and how that is done.

    Raises:
        ModelError: no way works.
    """
    on_arrays, foreign = _tree_function(model, call), as_foreign(model)
    if on_arrays is not None and (in_jax(tree) or isinstance(foreign, JaxFunction)):
        try:
            return _with_derivatives(on_arrays, foreign, packed, tree, call=call, rows=rows)
        except ModelError:
            if foreign is not None:
                raise
    found, problem = None, None
    if foreign is None:
        try:
            found = convention_for(function, packed, tree, call=call, rows=rows)
            if on_arrays is None or takes_tensors(partial(found.run, function), rows[:1]):
                return model, found
        except ModelError as error:
            if on_arrays is None:
                raise
            problem = error
    try:
        convention = convention_for(on_arrays, packed, tree, call=_custom(call), rows=rows)
    except ModelError as error:
        if found is not None:
            return model, found
        if isinstance(error, NoOutputError):  # a function of arrays
            raise
        raise problem or error from None
    if on_arrays is not None and on_arrays.in_jax:
        with suppress(ModelError):  # it leaves JAX inside, so that JAX cannot differentiate it
            return _with_derivatives(on_arrays, foreign, packed, tree, call=call, rows=rows)
    return on_arrays, convention


def _with_derivatives(
    on_arrays: TreeFunction,
    foreign: ForeignModel | None,
    packed: Packed,
    tree: Any,
    *,
    call: Custom | None,
    rows: Float[Tensor, "b D"],
) -> tuple[JaxTree, Convention]:
    """A function in JAX that is differentiated by JAX, and how it is called.

    Raises:
        ModelError: no way works, or JAX cannot differentiate it.
    """
    given = on_arrays.given
    in_its_type = foreign if isinstance(foreign, JaxFunction) else from_jax(given)
    model = JaxTree(given, cast("JaxFunction", in_its_type))
    found = convention_for(model, packed, tree, call=_custom(call), rows=rows)
    convention = replace(found, dtype=in_its_type.precision)

    def first(x: Tensor) -> Tensor:
        returned = (leaf for _, leaf in leaves(convention.run(model, x)))
        return next(leaf for leaf in returned if isinstance(leaf, Tensor))

    try:
        jvp(first, rows[:1], torch.zeros_like(rows[:1]))
    except Exception as error:
        raise ModelError(
            f"{model.__name__} has no derivative in JAX: {one_line(error)}."
        ) from error
    return model, convention


def _custom(call: Custom | None) -> Custom | None:
    """The user's way to call a model, for a `TreeFunction`."""
    return None if call is None else lambda model, batch: model.custom(call, batch)


def row_model(model: Any, convention: Convention) -> Any:
    """A model as a function of rows."""
    if isinstance(model, JaxTree):
        return entry(model, replace(convention, notes=(*convention.notes, *model.notes)))
    if isinstance(model, TreeFunction):
        return RowFunction(model, convention)
    return entry(model, convention)


def _tree_function(model: Any, call: Custom | None) -> TreeFunction | None:
    """A model as a function of trees of arrays; None for models of torch."""
    foreign, arrays = as_foreign(model), (Diagnosis.ARRAY_FUNCTION(),)
    if foreign is not None:
        notes = foreign.notes if call is None else arrays
        if isinstance(foreign, OnnxSession):
            return TreeFunction(
                model, foreign.evaluate_named, foreign.name, notes, names=list(foreign.inputs)
            )
        # Its argument has no name that a leaf could have by chance.
        return TreeFunction(model, lambda batch, /: foreign.evaluate(batch), foreign.name, notes)
    if isinstance(model, nn.Module | torch.export.ExportedProgram) or not callable(model):
        return None
    return TreeFunction(model, model, getattr(model, "__name__", type(model).__name__), arrays)
