"""Functions of trees of arrays, as functions of trees of tensors."""

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.inputs.foreign.bridge import as_array, as_tensors
from liegg.inputs.foreign.jax_function import is_jax_array
from liegg.inputs.structure.entry import Custom
from liegg.inputs.structure.tree import leaves, rebuild


class TreeFunction:
    """A function of trees of arrays that is called with trees of tensors, and returns tensors.

    Attributes:
        given: the model as the user gave it, which `call=` gets.
        notes: remarks on how it is called.
        in_jax: whether it returned arrays of JAX when it was called last.
    """

    in_jax = False

    def __init__(
        self,
        given: Any,
        function: Callable[..., Any],
        name: str,
        notes: tuple[Remark, ...],
        *,
        names: Sequence[str] = (),
    ) -> None:
        self.given, self.notes, self.__name__ = given, notes, name
        self.__wrapped__ = function  # its signature is that of the function, unless there are names
        if all(map(str.isidentifier, names)) and names:
            kind = Parameter.POSITIONAL_OR_KEYWORD
            self.__signature__ = Signature([Parameter(name, kind) for name in names])

    def __call__(self, *parts: Any, **named: Any) -> Any:
        """Call the function."""
        given = {name: as_arrays(part) for name, part in named.items()}
        returned = self.__wrapped__(*map(as_arrays, parts), **given)
        self.in_jax = any(is_jax_array(part) for _, part in leaves(returned))
        return as_tensors(returned)

    def custom(self, call: Custom, batch: Any) -> Any:
        """What the user's function returns for the user's model and a batch of arrays."""
        return as_tensors(call(self.given, as_arrays(batch)))


def as_arrays(tree: Any) -> Any:
    """A tree with arrays in place of tensors."""
    arrays = {path: as_array(leaf) for path, leaf in leaves(tree) if isinstance(leaf, Tensor)}
    return rebuild(tree, arrays, max(map(len, arrays.values()), default=0))
