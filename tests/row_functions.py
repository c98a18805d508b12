"""Functions with rows by hand, for the tests of rows and of their plan."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from liegg.actions import Action
from liegg.inputs.model import Model, eval_view
from liegg.inputs.probe import probe
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Route
from liegg.polarization.rows import plan
from liegg.polarization.rows import polarize as rows_and_outputs

ROUTES: tuple[Route, ...] = ("jvp", "vjp", "autograd")


def polarize(*given: Any, **named: Any) -> Tensor:
    """The rows alone."""
    return rows_and_outputs(*given, **named)[0]


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def curved(outputs: int, features: int) -> Any:
    """A smooth function with `outputs` outputs and no symmetry."""
    inner, outer = draw(features, 7, seed=1), draw(7, outputs, seed=2)
    return lambda x: (x.flatten(1) @ inner).tanh() @ outer


@contextmanager
def ready(function: Any, x: Tensor) -> Iterator[Model]:
    """The model as `discover` has it when it takes rows."""
    with torch.no_grad(), eval_view(function) as model:
        yield probe(model, x)


def rows_of(
    function: Any, action: Action, x: Tensor, outputs: Outputs, route: Route, seed: int = 0
) -> Tensor:
    with ready(function, x) as model:
        how = plan(model, action, x, outputs=outputs, route=route)
        return polarize(model, action, x, replace(how, seed=seed))


def dense_rows(function: Any, action: Action, x: Tensor) -> Tensor:
    """The definition: the Jacobian of one sample after the other, contracted with explicit fields."""
    jacobians = [
        torch.func.jacrev(lambda one: function(one[None])[0].flatten())(sample) for sample in x
    ]
    return torch.einsum(
        "bcx,bgx->bcg", torch.stack(jacobians).flatten(2), action.fields(x).flatten(2)
    )
