"""Recognise models that are not PyTorch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from liegg.inputs.foreign.arrays import ArrayFunction, from_arrays
from liegg.inputs.foreign.bridge import as_array, as_tensors
from liegg.inputs.foreign.estimator import Estimator, by_columns, is_estimator
from liegg.inputs.foreign.jax_function import JaxFunction, from_jax, is_jax_array
from liegg.inputs.foreign.onnx_file import OnnxSession, is_session
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import leaves
from liegg.inputs.table import is_table


def as_foreign(model: Any) -> ForeignModel | None:
    """The model of another framework; None for models of torch and for functions, which may be either.

    >>> as_foreign(np.tanh) is None
    True
    """
    if isinstance(model, ForeignModel):
        return model
    if isinstance(model, nn.Module):
        return None
    if is_session(model):
        return OnnxSession(model, "ONNX model")
    return Estimator(model) if is_estimator(model) else None


def advice_for(model: Any) -> str:
    """What to pass in place of something that is not a model; empty if that is not known.

    >>> advice_for("net.onnx")
    " Pass liegg.foreign.from_onnx('net.onnx')."
    """
    if isinstance(model, str | Path):
        path = str(model)
        if path.endswith(".onnx"):
            return f" Pass liegg.foreign.from_onnx({path!r})."
        return f" Load {path!r} first, and pass the model."
    if callable(getattr(model, "predict", None)):
        if type(model).__module__.partition(".")[0] == "xgboost":
            return " Pass lambda x: model.predict(xgboost.DMatrix(x))."
        return " Pass the method that takes an array, for example model.predict."
    return ""


def takes_tensors(function: Any, x: Tensor) -> bool:
    """Whether a function takes tensors and returns tensors that depend on them, so that it is no function of arrays.

    Functions of numpy take tensors too, but none that is to be differentiated.

    Args:
        function: a function of tensors or arrays.
        x: a few samples, on which it is tried.

    Examples:
        >>> x = torch.zeros(1, 3)
        >>> takes_tensors(lambda x: (x, 2 * x), x), takes_tensors(lambda x: np.tanh(x), x)
        (True, False)
    """
    try:
        with torch.enable_grad():
            returned = function(x.detach().clone().requires_grad_())
    except Exception:  # the error of the analysis is reported
        return False
    parts = (part for _, part in leaves(returned))
    return any(isinstance(part, Tensor) and part.requires_grad for part in parts)


def array_function(function: Any, name: str, x: np.ndarray) -> ForeignModel | None:
    """A function that takes arrays and returns arrays, of numpy or of JAX; None if it does not.

    Args:
        function: a function that failed on tensors.
        name: its name.
        x: a few samples, on which it is tried.
    """
    try:
        returned = function(x.copy())
    except Exception:  # the error that tensors gave is reported
        return None
    given = dict(leaves(returned))
    if any(map(is_jax_array, given.values())):
        found = JaxFunction(function, name, trees=not is_jax_array(returned))
        try:
            found.jax.jvp(
                function, *((found.jax.numpy.asarray(one),) for one in (x, np.zeros_like(x)))
            )
        except Exception:  # it leaves JAX inside, so that JAX cannot differentiate it
            return ArrayFunction(function, name, found.precision)
        return found
    arrays = any(
        isinstance(part, Tensor) and not isinstance(given.get(path), Tensor)
        for path, part in leaves(as_tensors(returned))
    )
    return from_arrays(function, name=name) if arrays else None


def call_for_one_sample(function: Callable[[Any], Any], x: Tensor) -> str | None:
    """What makes a function of one sample one of batches; None if it does not take one sample.

    Args:
        function: a function that failed on a batch.
        x: the batch.

    Examples:
        >>> x = torch.zeros(4, 3)
        >>> call_for_one_sample(lambda x: torch.ones(2, 3) @ x, x)
        'torch.func.vmap(model)'
        >>> call_for_one_sample(lambda x: np.linspace(0, 1, x.size) * np.asarray(x), x)
        'lambda x: np.stack([model(sample) for sample in x])'
        >>> call_for_one_sample(lambda x: float(np.dot(x, x)), x)
        'lambda x: np.stack([model(sample) for sample in x])'
        >>> call_for_one_sample(lambda x: torch.ones(2, 5) @ x, x) is None
        True
    """
    if not len(x):
        return None
    for prepared in (torch.clone, as_array):
        parts = _returned(function, prepared, x[0].detach())
        if any(map(is_jax_array, parts)):
            return "jax.vmap(model)"
        numbers = (int, float) if prepared is as_array else ()
        if any(isinstance(part, (np.ndarray, np.generic, *numbers)) for part in parts):
            return "lambda x: np.stack([model(sample) for sample in x])"
        if any(isinstance(part, Tensor) for part in parts):
            return "torch.func.vmap(model)"
    return None


def _returned(
    function: Callable[[Any], Any], prepared: Callable[[Tensor], Any], x: Tensor
) -> list[Any]:
    """What a function returns for a sample in another form, as leaves; nothing if it does not take it."""
    try:
        with torch.no_grad():
            return [part for _, part in leaves(function(prepared(x)))]
    except Exception:  # the error that a batch gave is reported
        return []


def with_columns(model: Any, data: Any) -> Any:
    """The model; an estimator that was fitted on named columns takes tables, if the data is one.

    Args:
        model: the user's model.
        data: the user's data.
    """
    if is_table(data) and is_estimator(model) and by_columns(model):
        return Estimator(model, data)
    return model


def for_data(model: Any, data: Any) -> Any:
    """The model; a function becomes one in JAX if the data are arrays of JAX.

    Args:
        model: the user's model.
        data: the user's data.
    """
    if isinstance(data, Packed) or not in_jax(data):
        return model
    if not callable(model) or isinstance(model, nn.Module) or as_foreign(model) is not None:
        return model
    return from_jax(model)


def in_jax(data: Any) -> bool:
    """Whether the first sample or batch of the data holds arrays of JAX.

    >>> in_jax({"x": np.zeros(3)})
    False
    """
    first = data[0] if isinstance(data, list) and data else data
    return any(is_jax_array(leaf) for _, leaf in leaves(first))
