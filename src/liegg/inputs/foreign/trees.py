"""Models of arrays that take structured samples: functions, estimators and sessions of trees of arrays."""

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ModelError
from liegg.inputs.foreign.bridge import as_array, as_tensors
from liegg.inputs.foreign.onnx_file import OnnxSession
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.foreign.recognise import as_foreign, takes_tensors
from liegg.inputs.structure.calling import convention_for
from liegg.inputs.structure.entry import Convention, Custom, entry
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import leaves, rebuild


class TreeFunction:
    """A function of trees of arrays that is called with trees of tensors, and returns tensors.

    Attributes:
        given: the model as the user gave it, which `call=` gets.
        notes: remarks on how it is called.
    """

    def __init__(
        self,
        given: Any,
        function: Callable[..., Any],
        name: str,
        notes: tuple[Remark, ...],
        names: Sequence[str] = (),
    ) -> None:
        self.given, self.notes, self.__name__ = given, notes, name
        self.__wrapped__ = function  # its signature is that of the function, unless there are names
        if all(map(str.isidentifier, names)) and names:
            kind = Parameter.POSITIONAL_OR_KEYWORD
            self.__signature__ = Signature([Parameter(name, kind) for name in names])

    def __call__(self, *parts: Any, **named: Any) -> Any:
        """Call the function."""
        given = {name: _as_arrays(part) for name, part in named.items()}
        return as_tensors(self.__wrapped__(*map(_as_arrays, parts), **given))


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
    on_arrays, foreign = _tree_function(model, call), as_foreign(model) is not None
    found, problem = None, None
    if not foreign:
        try:
            found = convention_for(function, packed, tree, call=call, rows=rows)
            if on_arrays is None or takes_tensors(partial(found.run, function), rows[:1]):
                return model, found
        except ModelError as error:
            if on_arrays is None:
                raise
            problem = error
    custom = None if call is None else partial(_call_with_arrays, call)
    try:
        return on_arrays, convention_for(on_arrays, packed, tree, call=custom, rows=rows)
    except ModelError as error:
        if found is not None:
            return model, found
        raise problem or error from None


def row_model(model: Any, convention: Convention) -> Any:
    """A model as a function of rows."""
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
                model, foreign.evaluate_named, foreign.name, notes, list(foreign.inputs)
            )
        # Its argument has no name that a leaf could have by chance.
        return TreeFunction(model, lambda batch, /: foreign.evaluate(batch), foreign.name, notes)
    if isinstance(model, nn.Module | torch.export.ExportedProgram) or not callable(model):
        return None
    return TreeFunction(model, model, getattr(model, "__name__", type(model).__name__), arrays)


def _call_with_arrays(call: Custom, model: TreeFunction, batch: Any) -> Any:
    """What the user's function returns for the user's model and a batch of arrays."""
    return as_tensors(call(model.given, _as_arrays(batch)))


def _as_arrays(tree: Any) -> Any:
    """A tree with arrays in place of tensors."""
    arrays = {path: as_array(leaf) for path, leaf in leaves(tree) if isinstance(leaf, Tensor)}
    return rebuild(tree, arrays, max(map(len, arrays.values()), default=0))
