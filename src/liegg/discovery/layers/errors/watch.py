"""Hooks that see what goes into a layer and what comes out, and may replace the latter."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn

from liegg.discovery.layers.hooks import Network, call_name


class Passage(NamedTuple):
    """One call of a module.

    Attributes:
        name: name of the call.
        module: the module; calling it again passes unseen.
        args: its positional arguments, as they were before the call.
        kwargs: its other arguments.
        output: what it returned.
    """

    name: str
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any


@contextmanager
def watching(
    network: Network, modules: Collection[str], visit: Callable[[Passage], Any]
) -> Iterator[None]:
    """See the calls of some modules inside the block.

    Args:
        network: the network.
        modules: names of the modules.
        visit: called after each call; what it returns replaces the output, unless it is None.
    """
    counts: Counter[str] = Counter()
    given: dict[
        str, list[tuple[Any, ...]]
    ] = {}  # by module, arguments of the calls that are running
    inside: list[bool] = []  # not empty while `visit` runs
    handles = []

    def before(name: str, args: tuple[Any, ...]) -> None:
        if not inside:  # a module that works in place would overwrite them
            kept = tuple(arg.clone() if isinstance(arg, Tensor) else arg for arg in args)
            given.setdefault(name, []).append(kept)

    def after(name: str, module: nn.Module, kwargs: dict[str, Any], output: Any) -> Any:
        if inside:
            return None
        counts[name] += 1
        inside.append(True)
        try:
            call = call_name(name, counts[name])
            return visit(Passage(call, module, given[name].pop(), kwargs, output))
        finally:
            inside.pop()

    try:
        for name, module in network.parts.items():
            if name not in modules:
                continue
            handles.append(
                module.register_forward_pre_hook(
                    lambda *args, name=name: before(name, args[1]), with_kwargs=True
                )
            )
            handles.append(
                module.register_forward_hook(
                    lambda module, _args, kwargs, output, name=name: after(
                        name, module, kwargs, output
                    ),
                    with_kwargs=True,
                )
            )
        yield
    finally:
        for handle in handles:
            handle.remove()
