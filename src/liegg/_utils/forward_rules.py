r"""Forward derivatives of norms and attention in few passes over the tangents.

torch differentiates these by general formulas: a dozen operations, each as large as the tangents of all directions. Here

- a batch norm with fixed statistics is the elementwise product that it is;
- the derivative of a layer norm without its weights is a symmetric matrix, so that torch's fused reverse rule is its forward rule;
- attention $O = PV$, $P = \mathrm{softmax}(S)$ has $\dot O = P\dot V + (P \circ \dot S)V - rO$, where $r$ are the sums of the rows of
  $P \circ \dot S$ and $\dot S$ is bilinear. It is formed for one direction after the other, in place.

Values are those of the same formulas, to rounding. Whatever a rule does not cover is left to torch.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

PRECISE = (torch.float32, torch.float64)
"""Types in which layer norms and attention have rules; half precision is left to torch, which rounds in other places."""

MAX_BATCHED = 2**20
"""Most numbers in the largest tensor of the directions that are formed together: small ones cost calls, large ones copies."""


class ForwardRules(TorchFunctionMode):
    """Differentiate norms and attention by rules of their own, where only their inputs have tangents."""

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function by its rule, if it has one that applies; else as torch does."""
        rule, given = FORWARD_RULES.get(func), kwargs or {}
        if rule is None:
            return func(*args, **given)
        try:
            return rule(func, args, given)
        except NotImplementedError:
            # A model with derivatives of its own: rules are not differentiated again.
            return func(*args, **given)


def _batch_norm(func: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """A batch norm whose statistics and weights are fixed."""
    arguments: dict[str, Any] = _BATCH_NORM.bind(*args, **given).arguments
    value, slope = _unpacked(arguments["input"])
    mean, var = arguments["running_mean"], arguments["running_var"]
    fixed = ("running_mean", "running_var", "weight", "bias")
    if (
        slope is None
        or mean is None
        or var is None
        or arguments.get("training")
        or any(_moves(arguments.get(name)) for name in fixed)
    ):
        return func(*args, **given)
    # In half precision only the product is rounded.
    exact = torch.promote_types(slope.dtype, torch.float32)
    scale = (var.to(exact) + arguments.get("eps", 1e-5)).rsqrt()
    scale = scale if arguments.get("weight") is None else scale * arguments["weight"].to(exact)
    tangent = (slope * scale.reshape(-1, *[1] * (value.ndim - 2))).to(slope.dtype)
    return forward_ad.make_dual(func(**arguments | {"input": value}), tangent)


def _layer_norm(func: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """A layer norm whose weights are fixed."""
    arguments: dict[str, Any] = _LAYER_NORM.bind(*args, **given).arguments
    value, slope = _unpacked(arguments["input"])
    weight, bias = arguments.get("weight"), arguments.get("bias")
    same = all(part is None or part.dtype == value.dtype for part in (weight, bias))
    if (
        slope is None
        or value.dtype not in PRECISE
        or not same
        or _recorded(value, slope, weight, bias)
        or _moves(weight)
        or _moves(bias)
    ):
        return func(*args, **given)
    shape, eps = list(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    y, mean, scale = torch.native_layer_norm(value, shape, weight, bias, eps)
    if weight is not None:  # with all axes, so that one of directions may come before them
        weight = weight.reshape(*[1] * (value.ndim - len(shape)), *shape)
    function = partial(layer_norm_tangent, shape=shape)
    tangent = _Tangent.apply(function, 4, value, mean, scale, weight, slope)
    return forward_ad.make_dual(y, tangent)


def _attention(func: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """Attention without dropout, whose mask is fixed."""
    q, k, v, mask, dropout, causal, scale, grouped = _attention_arguments(*args, **given)
    values, slopes = zip(*map(_unpacked, (q, k, v)), strict=True)
    plain = all(part.dtype in PRECISE and part.ndim == q.ndim >= 2 for part in values)
    if (
        all(slope is None for slope in slopes)
        or dropout
        or grouped
        or not plain
        or _recorded(*values, *slopes, mask)
        or _moves(mask)
    ):
        return func(*args, **given)
    q, k, v = values
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    q = q * factor
    scores = q @ k.mT
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    if mask is not None:
        added = (
            torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, -torch.inf)
            if mask.dtype == torch.bool
            else mask
        )
        scores = scores + added
    shares = scores.softmax(-1)
    if mask is not None:  # a query that sees nothing has no output
        shares = shares.nan_to_num(0.0)
    y = shares @ v
    dq, dk, dv = slopes
    dq = None if dq is None else dq * factor
    tangent = _Tangent.apply(attention_tangent, 5, q, k, v, shares, y, dq, dk, dv)
    return forward_ad.make_dual(y, tangent)


def _attention_layer(func: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """The function behind torch's attention layers: with the rule for the attention inside."""
    return _ATTENTION_LAYER(*args, **given)  # as torch does, but for the attention


def _moves(part: Tensor | None) -> bool:
    """Whether a tensor has a tangent."""
    return part is not None and _unpacked(part)[1] is not None


def _recorded(*parts: Tensor | None) -> bool:
    """Whether reverse mode will differentiate what is computed, as where a model takes a gradient itself."""
    return any(part is not None and part.requires_grad for part in parts)


def _unpacked(part: Tensor) -> tuple[Tensor, Tensor | None]:
    """Value and tangent of a tensor; behind a `vmap` of the model's own it cannot be unpacked, and no rule applies."""
    try:
        return forward_ad.unpack_dual(part)
    except RuntimeError:
        return part, None


def _attention_arguments(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Any, ...]:
    """The arguments of `scaled_dot_product_attention` in their order."""
    return query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa


def layer_norm_tangent(
    x: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    slope: Tensor,
    *,
    shape: list[int],
    out: Tensor | None = None,
) -> Tensor:
    """Derivative of a layer norm: torch's fused reverse rule of the norm without weights, whose matrix is symmetric."""
    backward = torch.ops.aten.native_layer_norm_backward
    # The kernel reads expanded statistics as if they were contiguous.
    slope, x, mean, scale = (part.contiguous() for part in (slope, x, mean, scale))
    found = backward(slope, x, shape, mean, scale, None, None, [True, False, False])[0]
    return torch.mul(found, 1.0 if weight is None else weight, out=out)


def attention_tangent(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    shares: Tensor,
    y: Tensor,
    dq: Tensor | None,
    dk: Tensor | None,
    dv: Tensor | None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Derivative of attention; queries are scaled already, and one of the three moves."""
    change = None if dq is None else dq @ k.mT
    if dk is not None:
        change = q @ dk.mT if change is None else change.add_(q @ dk.mT)
    if change is None:
        return torch.matmul(shares, dv if dv is not None else torch.zeros_like(v), out=out)
    change.mul_(shares)
    tangent = change @ v if dv is None else (change @ v).add_(shares @ dv)
    return torch.sub(tangent, change.sum(-1, keepdim=True) * y, out=out)


class _Tangent(torch.autograd.Function):
    """A derivative along a direction, behind `torch.func.vmap` for a few directions at a time.

    It takes the function, how many of its tensors are values, and the tensors; the others are tangents.
    """

    @staticmethod
    def forward(function: Callable[..., Tensor], fixed: int, *tensors: Any) -> Tensor:
        """Along one direction."""
        return function(*tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is differentiated again."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Tensor, int]:
        """Along all directions."""
        function, fixed, *tensors = args
        return along_all(function, info.batch_size, in_dims[2:], tensors, fixed=fixed), 0


def along_all(
    function: Callable[..., Tensor],
    count: int,
    in_dims: Sequence[int | None],
    parts: Sequence[Tensor | None],
    *,
    fixed: int,
) -> Tensor:
    """A derivative along all directions that `vmap` batches: one at a time where it is large, without copies of what they share.

    Args:
        function: of tensors, and `out=`.
        count: number of directions.
        in_dims: batched axis of each tensor; None for those that do not depend on the direction.
        parts: the tensors, None for those that do not exist.
        fixed: how many of the tensors are values; the others are tangents.
    """
    batched = [axis is not None for axis in in_dims]
    front = [
        part if part is None or axis is None else part.movedim(axis, 0)
        for part, axis in zip(parts, in_dims, strict=True)
    ]
    largest = max(
        part.numel() // (count if own else 1)
        for part, own in zip(front, batched, strict=True)
        if part is not None
    )
    # Values that differ from direction to direction belong to a vmap of the model's own, over many samples.
    step = count if any(batched[:fixed]) else min(count, max(1, MAX_BATCHED // max(1, largest)))

    def some(start: int, out: Tensor | None = None) -> Tensor:
        """The derivative along the directions from `start`; a single one has no axis of directions."""
        rows = start if step == 1 else slice(start, start + step)
        size = [] if step == 1 else [min(step, count - start)]
        here = [
            part if part is None else part[rows] if own else part.expand(*size, *part.shape)
            for part, own in zip(front, batched, strict=True)
        ]
        return function(*here, out=None if out is None else out[rows])

    first = some(0) if step > 1 else some(0)[None]
    if step == count:
        return first
    out = first.new_empty(count, *first.shape[1:])
    out[:step] = first
    for start in range(step, count, step):
        some(start, out)
    return out


_BATCH_NORM = inspect.signature(functional.batch_norm)
_LAYER_NORM = inspect.signature(functional.layer_norm)
_LAYER: Any = functional.multi_head_attention_forward
_ATTENTION_LAYER = FunctionType(
    _LAYER.__code__,
    _LAYER.__globals__
    | {
        # Inside of its own rule the function would ask for the rule again.
        "has_torch_function": lambda *_: False,
        "scaled_dot_product_attention": lambda *args, **given: _attention(
            functional.scaled_dot_product_attention, args, given
        ),
    },
    _LAYER.__name__,
    _LAYER.__defaults__,
    _LAYER.__closure__,
)
"""`multi_head_attention_forward` that looks for attention in this module."""

FORWARD_RULES: dict[Any, Callable[..., Any]] = {
    functional.batch_norm: _batch_norm,
    functional.layer_norm: _layer_norm,
    functional.scaled_dot_product_attention: _attention,
    functional.multi_head_attention_forward: _attention_layer,
}
"""Functions that have rules."""
