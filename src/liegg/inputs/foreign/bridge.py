"""The bridge: a foreign model as a function of tensors, with its own derivatives where it has any."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import DtypeError
from liegg.inputs.foreign.protocol import ForeignModel


@dataclass(frozen=True)
class Bridge:
    """A foreign model that takes and returns tensors on the CPU.

    Attributes:
        model: the foreign model.
    """

    model: ForeignModel

    def __call__(self, x: Tensor, *held: Tensor) -> Any:
        """Outputs of a batch; they carry derivatives if the model has them. A model may take further tensors, which are held."""
        if self.model.differentiable:
            return _Evaluate.apply(x, self.model, *held)
        return as_tensors(self.model.evaluate(as_array(x)))


def as_array(x: Tensor) -> np.ndarray:
    """A copy of a tensor as an array, which the model may keep or write into."""
    return np.array(x.detach().cpu().numpy(), order="C")


def as_tensors(returned: Any) -> Any:
    """What a foreign model returned, with tensors in place of arrays.

    Examples:
        >>> as_tensors({"mean": np.ones(2), "count": 3})
        {'mean': tensor([1., 1.], dtype=torch.float64), 'count': 3}
        >>> as_tensors([0.5, 1.0])
        tensor([0.5000, 1.0000], dtype=torch.float64)
    """
    if isinstance(returned, Tensor):
        return returned.detach()
    if isinstance(returned, Mapping):
        return {key: as_tensors(value) for key, value in returned.items()}
    if isinstance(returned, tuple | list):
        if _is_numeric(returned):
            return torch.from_numpy(np.asarray(returned))
        return [as_tensors(value) for value in returned]
    if not hasattr(returned, "__array__"):
        return returned
    array = np.asarray(returned)
    if array.dtype.kind not in "fiub":
        return returned
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))


def _is_numeric(value: Any) -> bool:
    """Whether a list holds one number per sample, or one list of as many numbers per sample."""
    rows = [row if isinstance(row, tuple | list) else [row] for row in value]
    numbers = (int, float, np.floating, np.integer)
    same = len({len(row) for row in rows}) == 1 and len({type(row) for row in value}) == 1
    return same and all(isinstance(number, numbers) for row in rows for number in row)


def _one_tensor(returned: Any, name: str) -> Tensor:
    """The output of a differentiable model, which must be one array."""
    tensor = as_tensors(returned)
    if not isinstance(tensor, Tensor):
        raise DtypeError(
            f"{name} returned a {type(returned).__name__}; expected one array. Return one, for "
            "example lambda x: model(x)['logits']."
        )
    return tensor


class _Evaluate(torch.autograd.Function):
    """Outputs of a batch; forward and reverse derivatives are those of the model. Further tensors are held."""

    @staticmethod
    def forward(x: Tensor, model: ForeignModel, *held: Tensor) -> Tensor:
        return _one_tensor(model.evaluate(*map(as_array, (x, *held))), model.name)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.model, *held = inputs
        ctx.save_for_backward(x, *held)
        ctx.save_for_forward(x, *held)

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, *held = ctx.saved_tensors
        slope = _Derivative.apply(x, cotangent, ctx.model, "pull", *held)
        return slope, None, *(None for _ in held)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, *held = ctx.saved_tensors
        return _Derivative.apply(x, tangent, ctx.model, "push", *held)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, model: ForeignModel, *held: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # fmt: skip
        if not model.batched:
            each = _unstacked(info.batch_size, (in_dims[0], *in_dims[2:]), (x, *held))
            return torch.stack([_Evaluate.apply(one, model, *rest) for one, *rest in each]), 0
        batches = x.movedim(in_dims[0], 0)
        y = _Evaluate.apply(batches.flatten(0, 1), model)
        return y.unflatten(0, batches.shape[:2]), 0


class _Derivative(torch.autograd.Function):
    """Forward (`"push"`) or reverse (`"pull"`) derivatives at a batch, along one direction or along many at once under `vmap`."""

    @staticmethod
    def forward(
        x: Tensor, way: Tensor, model: ForeignModel, kind: Literal["push", "pull"], *held: Tensor
    ) -> Tensor:
        return _derivatives(x, way[None], model, kind, *held)[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def vmap(  # pyright: ignore[reportIncompatibleMethodOverride]
        info: Any,
        in_dims: tuple[Any, ...],
        x: Tensor,
        way: Tensor,
        model: Any,
        kind: Any,
        *held: Tensor,
    ) -> Any:
        ways = way if in_dims[1] is None else way.movedim(in_dims[1], 0)
        if all(dim is None for dim in (in_dims[0], *in_dims[4:])):
            return _derivatives(x, ways, model, kind, *held), 0
        # Batches that differ too are taken one after the other.
        each = _unstacked(info.batch_size, (*in_dims[:2], *in_dims[4:]), (x, way, *held))
        found = [_Derivative.apply(one, other, model, kind, *rest) for one, other, *rest in each]
        return torch.stack(found), 0


def _unstacked(
    count: int, in_dims: tuple[int | None, ...], given: tuple[Tensor, ...]
) -> list[tuple[Tensor, ...]]:
    """What `vmap` stacked along axes, one after the other."""
    columns = (
        [one] * count if dim is None else one.unbind(dim)
        for one, dim in zip(given, in_dims, strict=True)
    )
    return list(zip(*columns, strict=True))


def _derivatives(
    x: Tensor, ways: Tensor, model: ForeignModel, kind: Literal["push", "pull"], *held: Tensor
) -> Tensor:
    """Derivatives at a batch along directions `[t, b, ...]`."""
    derivative = model.push if kind == "push" else model.pull
    return _one_tensor(derivative(*map(as_array, (x, ways, *held))), model.name)
