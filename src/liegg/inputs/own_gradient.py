"""Models that take a gradient of their own, such as forces by `torch.autograd.grad`."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from liegg.inputs.structure.tree import leaves, rebuild

SWITCHES = (Tensor.requires_grad_, vars(torch._C.TensorBase)["requires_grad"].__set__)
"""Ways to switch gradients of a tensor on."""


@dataclass(frozen=True)
class OwnGradient:
    """A function that takes a gradient of its own, called as it needs it.

    Attributes:
        function: `[b, *x] -> [b, ...]`.
    """

    function: Callable[[Tensor], Any]

    def __call__(self, x: Tensor) -> Any:
        """Outputs of a batch; they carry derivatives where the caller wants them."""
        return call_with_graph(self.function, x)[0]


def call_with_graph(function: Callable[[Tensor], Any], x: Tensor) -> tuple[Any, bool]:
    """Call a function with autograd on, and keep the graph of the gradients that it takes.

    Where the caller has switched autograd off, the outputs are detached.

    Args:
        function: of a batch.
        x: the batch.

    Returns:
        What the function returned, and whether it took a gradient.
    """
    wanted = torch.is_grad_enabled()
    with torch.enable_grad(), _KeepGraph() as mode:
        y = function(x if x.requires_grad else x.detach().requires_grad_())
    return (y if wanted else _detached(y)), mode.took_gradient


def takes_gradient(function: Callable[[Tensor], Any], x: Tensor) -> bool:
    """Whether a function works on a batch when autograd is on, and takes a gradient there.

    >>> takes_gradient(lambda x: torch.autograd.grad(x.square().sum(), x)[0], torch.ones(2, 3))
    True
    >>> takes_gradient(torch.sin, torch.ones(2, 3))
    False
    """
    try:
        with torch.no_grad():
            return call_with_graph(function, x.clone())[1]
    except torch.OutOfMemoryError:
        raise
    except Exception:
        return False


class _KeepGraph(TorchFunctionMode):
    """Make the gradients that a model takes differentiable.

    `requires_grad_()` does nothing where the tensor has a gradient already, which `torch.func` and tensors that are no leaves would
    refuse. `backward()` is left as it is: its graph would keep the input alive for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self.took_gradient = False

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in (torch.autograd.grad, Tensor.backward):
            self.took_gradient = True
        if function is torch.autograd.grad:
            kwargs = {**kwargs, "create_graph": True}
        if function in SWITCHES and args[0].requires_grad and (*args, True)[1] is True:
            if not args[0].is_leaf:
                with suppress(RuntimeError):  # torch.func has no backward()
                    args[0].retain_grad()
            return args[0]
        return function(*args, **kwargs)


def _detached(returned: Any) -> Any:
    """What a model returned, without its graph."""
    values = {p: leaf.detach() for p, leaf in leaves(returned) if isinstance(leaf, Tensor)}
    return rebuild(returned, values, 0)
