"""Functions in JAX of trees, with their own derivatives: the real tensors of a call are one vector for JAX."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import ModelError
from liegg.inputs.foreign.bridge import Bridge
from liegg.inputs.foreign.jax_function import JaxFunction, is_jax_array
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.foreign.tree_function import TreeFunction
from liegg.inputs.structure.entry import Custom
from liegg.inputs.structure.tree import leaves, rebuild

Run = Callable[[Any], Any]
"""A function of a tree of jax arrays."""


class JaxTree(TreeFunction):
    """A function in JAX that is called with trees of tensors; what it returns carries derivatives.

    Attributes:
        model: the function, with the precision of JAX.
    """

    def __init__(self, given: Any, model: JaxFunction) -> None:
        super().__init__(given, model.function, model.name, model.notes)
        self.model, self.compiled = model, {}

    def __call__(self, *parts: Any, **named: Any) -> Any:
        """Call the function."""
        return self._called((parts, named), lambda tree: self.__wrapped__(*tree[0], **tree[1]))

    def custom(self, call: Custom, batch: Any) -> Any:
        """What the user's function returns for the function in JAX and a batch of jax arrays."""
        return self._called(batch, lambda tree: call(self.model.function, tree))

    def _called(self, tree: Any, run: Run) -> Any:
        """What a function returns for a tree, with tensors in place of arrays."""
        found = {path: leaf for path, leaf in leaves(tree) if isinstance(leaf, Tensor)}
        real = {path: leaf for path, leaf in found.items() if leaf.is_floating_point()}
        held = {path: leaf for path, leaf in found.items() if path not in real}
        rest = tuple((path, repr(leaf)) for path, leaf in leaves(tree) if path not in found)
        shapes = {path: tuple(leaf.shape) for path, leaf in real.items()}
        key = (*shapes.items(), *((path, tuple(leaf.shape)) for path, leaf in held.items()), *rest)
        if key not in self.compiled:
            self.compiled[key] = _Compiled(self.model, run, tree, shapes, held=tuple(held))
        compiled = self.compiled[key]
        pieces = [leaf.reshape(-1).to(self.model.precision) for leaf in real.values()]
        x = torch.cat(pieces)
        y = Bridge(compiled)(x.cpu(), *held.values())
        return compiled.tree_of(y.to(x.device))


class _Compiled(ForeignModel):
    """A function of trees of one form as a function of the vector of their real numbers.

    Attributes:
        run: the function.
        tree: what it takes, without tensors.
        shapes: of its real leaves, by path.
        held: paths of the others, which are further arguments.
        returned: what it returned, and the shapes of the arrays there; known once it was called.
    """

    differentiable, batched = True, False

    def __init__(
        self,
        model: JaxFunction,
        run: Run,
        tree: Any,
        shapes: Mapping[str, tuple[int, ...]],
        *,
        held: tuple[str, ...],
    ) -> None:
        self.jax, self.name, self.precision = model.jax, model.name, model.precision
        self.run, self.shapes, self.held = run, shapes, held
        self.tree = rebuild(tree, dict.fromkeys((*shapes, *held)), 0)
        self.returned: Any = None
        ways = (self.vector, self.pushed, self.pulled)
        self.jitted = {way: self.jax.jit(way) for way in ways}

    def evaluate(self, x: np.ndarray, *held: np.ndarray) -> Any:
        """The real numbers of what the function returns."""
        return self._run(self.vector, x, *held)

    def push(self, x: np.ndarray, tangents: np.ndarray, *held: np.ndarray) -> np.ndarray:
        """Derivatives along tangents `[t, n]`."""
        return np.asarray(self._run(self.pushed, x, tangents, *held))

    def pull(self, x: np.ndarray, cotangents: np.ndarray, *held: np.ndarray) -> np.ndarray:
        """Gradients of combinations `[t, m]`."""
        return np.asarray(self._run(self.pulled, x, cotangents, *held))

    def _run(self, way: Callable[..., Any], *given: np.ndarray) -> Any:
        """Call it compiled; step by step where it cannot be compiled."""
        errors, arrays = self.jax.errors, list(map(self.jax.numpy.asarray, given))
        if self.jitted:
            try:
                return self.jitted[way](*arrays)
            except (errors.JAXTypeError, errors.JAXIndexError):  # it looks at numbers
                self.jitted = {}
        return way(*arrays)

    def pushed(self, x: Any, tangents: Any, *held: Any) -> Any:
        """`push` for arrays of JAX."""
        jax = self.jax

        def along(tangent: Any) -> Any:
            return jax.jvp(lambda x: self.vector(x, *held), (x,), (tangent,))[1]

        return jax.vmap(along)(tangents)

    def pulled(self, x: Any, cotangents: Any, *held: Any) -> Any:
        """`pull` for arrays of JAX."""
        y, back = self.jax.vjp(lambda x: self.vector(x, *held), x)
        return self.jax.vmap(lambda cotangent: back(cotangent)[0])(cotangents.astype(y.dtype))

    def vector(self, x: Any, *held: Any) -> Any:
        """The real numbers of what the function returns, one after the other, for arrays of JAX."""
        values, start = dict(zip(self.held, held, strict=True)), 0
        for path, shape in self.shapes.items():
            size = torch.Size(shape).numel()
            values[path] = x[start : start + size].reshape(shape)
            start += size
        returned = self.run(rebuild(self.tree, values, 0))
        arrays = {p: one for p, one in leaves(returned) if is_jax_array(one)}
        real = {p: one for p, one in arrays.items() if one.dtype.kind in "fV"}
        if not real:
            raise ModelError(f"{self.name} returned no floating point array of JAX.")
        forms = {path: tuple(one.shape) if path in real else None for path, one in arrays.items()}
        self.returned = (rebuild(returned, dict.fromkeys(arrays), 0), forms)
        return self.jax.numpy.concatenate([one.reshape(-1) for one in real.values()])

    def tree_of(self, y: Tensor) -> Any:
        """What the function returned, with tensors; arrays of integers are left out."""
        returned, forms = self.returned
        values, start = {}, 0
        for path, shape in forms.items():
            if shape is not None:
                size = torch.Size(shape).numel()
                values[path] = y[start : start + size].reshape(shape)
                start += size
        return rebuild(returned, values, 0)
