"""Unwrap `torch.compile` and data-parallel wrappers: derivatives are taken of the original module.

Each kind of derivative would be compiled again, and wrappers for parallel training communicate with
other processes when called.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import nn

PARALLEL_WRAPPERS = (nn.parallel.DistributedDataParallel, nn.DataParallel)
"""Wrappers that split batches across devices or processes."""


def original(model: Any) -> Any:
    """The module inside `torch.compile` or a data-parallel wrapper; anything else unchanged.

    >>> net = nn.Linear(2, 1)
    >>> original(net) is net, original(torch.compile(net, backend="eager")) is net
    (True, True)
    """
    while isinstance(model, nn.Module):
        inner = (
            model.module
            if isinstance(model, PARALLEL_WRAPPERS)
            else getattr(model, "_orig_mod", model)
        )
        if inner is model:
            break
        model = inner
    return model


def is_compiled(model: Any) -> bool:
    """Whether a function, a module or a submodule is compiled by torch."""
    if not isinstance(model, nn.Module):
        return hasattr(model, "_torchdynamo_orig_callable")
    return any(
        "_orig_mod" in part._modules or part._compiled_call_impl is not None
        for part in model.modules()
    )


def unwrap(module: nn.Module) -> nn.Module:
    """Replace wrapped submodules by their originals, in place; return the module."""
    for parent in list(module.modules()):
        for name, part in parent._modules.items():
            parent._modules[name] = original(part)
    return module


@contextmanager
def uncompiled() -> Iterator[None]:
    """Run compiled functions eagerly inside the block."""
    # Nothing is compiled unless dynamo is loaded, and loading it takes seconds.
    loaded = "torch._dynamo" in sys.modules
    with torch.compiler.set_stance("force_eager") if loaded else nullcontext():
        yield
