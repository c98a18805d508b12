"""What `torch.compile` and data parallel training wrap: derivatives are taken of the original.

Every new kind of derivative would be compiled anew, and what is meant for training talks to other processes when called.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import nn

NOTE = "it is compiled by torch.compile, or holds parts that are; what they were compiled from was analysed"
"""What is noted of such models."""


PARALLEL = (nn.parallel.DistributedDataParallel, nn.DataParallel)
"""Wrappers that share batches out in training."""


def original(model: Any) -> Any:
    """The module that `torch.compile`, `DistributedDataParallel` or `DataParallel` was given; anything else as it is.

    >>> net = nn.Linear(2, 1)
    >>> original(net) is net, original(torch.compile(net, backend="eager")) is net
    (True, True)
    """
    while isinstance(model, nn.Module):
        inner = model.module if isinstance(model, PARALLEL) else getattr(model, "_orig_mod", model)
        if inner is model:
            break
        model = inner
    return model


def is_compiled(model: Any) -> bool:
    """Whether a function, a module or a part of a module is compiled, by `torch.compile(module)` or by `module.compile()`."""
    if not isinstance(model, nn.Module):
        return hasattr(model, "_torchdynamo_orig_callable")
    return any(
        "_orig_mod" in part._modules or part._compiled_call_impl is not None
        for part in model.modules()
    )


def unwrap(module: nn.Module) -> nn.Module:
    """Put the originals in place of the wrapped parts of a module, which is the caller's own copy; the module itself."""
    for parent in list(module.modules()):
        for name, part in parent._modules.items():
            parent._modules[name] = original(part)
    return module


@contextmanager
def uncompiled() -> Iterator[None]:
    """Run compiled functions as they were written while a block runs, wherever a model holds them."""
    loaded = (
        "torch._dynamo" in sys.modules
    )  # without it nothing is compiled, and it takes seconds to load
    with torch.compiler.set_stance("force_eager") if loaded else nullcontext():
        yield
