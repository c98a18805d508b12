"""Functions in JAX, with their own derivatives: `jax.jvp`, `jax.vjp` and `jax.vmap`."""

from typing import Any

import numpy as np
import torch

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg.inputs.foreign.protocol import ForeignModel


class JaxFunction(ForeignModel):
    """A function of jax arrays; models of flax and equinox are such functions.

    It takes the type of new arrays in JAX: float32, or float64 if `jax_enable_x64` is set.

    Attributes:
        trees: whether it returns a tree of arrays, for which `JaxTree` has the derivatives.
    """

    differentiable = True
    no_batch = "If it takes one sample, as models of equinox do, pass jax.vmap(model)."

    def __init__(self, function: Any, name: str, *, trees: bool = False):
        jax = _jax()
        self.jax, self.name, self.trees = jax, name, trees
        self.precision = torch.float64 if jax.config.jax_enable_x64 else torch.float32
        dtype = str(self.precision).removeprefix("torch.")
        self.notes = (Diagnosis.JAX_FUNCTION(dtype=dtype),)
        self.function = function
        self.evaluated = jax.jit(lambda x: function(x))  # models of equinox have no hash

        def push(x: Any, tangents: Any) -> Any:
            return jax.vmap(lambda tangent: jax.jvp(function, (x,), (tangent,))[1])(tangents)

        def pull(x: Any, cotangents: Any) -> Any:
            y, back = jax.vjp(function, x)
            return jax.vmap(lambda cotangent: back(cotangent)[0])(cotangents.astype(y.dtype))

        self.pushed, self.pulled = jax.jit(push), jax.jit(pull)

    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch."""
        return self.evaluated(self.jax.numpy.asarray(x))

    def push(self, x: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Derivatives along tangents, all in one pass."""
        return np.asarray(self.pushed(*map(self.jax.numpy.asarray, (x, tangents))))

    def pull(self, x: np.ndarray, cotangents: np.ndarray) -> np.ndarray:
        """Gradients of combinations of the outputs, all in one pass."""
        return np.asarray(self.pulled(*map(self.jax.numpy.asarray, (x, cotangents))))


@checked()
def from_jax(function: Any, *, name: str | None = None) -> ForeignModel:
    """A function in JAX as a model, with exact derivatives; install with `pip install 'liegg[jax]'`.

    Args:
        function: takes a batch `[b, *x]` as a jax array, or the leaves of structured samples as jax arrays, and returns
            an array `[b, ...]`; for structured samples also a tree of them. For a function of
            one sample, such as most models of equinox, pass `jax.vmap(function)`; for flax
            `lambda x: model.apply(variables, x)`.
        name: for messages and reports; by default that of the function.

    Raises:
        MissingExtraError: jax is not installed.
        ArgumentError: it is not callable.
    """
    if not callable(function):
        raise ArgumentError(
            f"function is a {type(function).__name__}; expected a function of a batch of jax arrays, "
            "for example jax.vmap(model)."
        )
    return JaxFunction(function, name or getattr(function, "__name__", type(function).__name__))


def is_jax_array(value: Any) -> bool:
    """Whether a value is an array of JAX; JAX itself is not imported.

    >>> is_jax_array(np.zeros(3))
    False
    """
    home = type(value).__module__.partition(".")[0]
    return home in ("jax", "jaxlib") and hasattr(value, "__array__")


def _jax() -> Any:
    """The package."""
    try:
        import jax  # pyright: ignore[reportMissingImports]
        import jax.numpy  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise  # it is installed, and something that it needs is not
        raise MissingExtraError(
            "models in JAX need jax. Install it with: pip install 'liegg[jax]'"
        ) from error
    return jax
