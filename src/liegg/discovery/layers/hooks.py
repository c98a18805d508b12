"""Hooks on the modules of a network: each call's output is seen when it is made, and no hook stays behind."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from liegg._utils.errors import ArgumentError

WHOLE = "output"
"""What the output of the whole network is called, unless a module has that name."""


Pick = int | str | None
"""Index or key of one entry of a module's output; None for its first tensor."""


class Stop(BaseException):
    """Ends a run of a network when the last layer has been seen; no `Exception`, so that networks do not catch it."""


@dataclass(frozen=True, eq=False)
class Network:
    """A module and its parts by name.

    Attributes:
        root: the whole, in eval mode.
        name: its class name.
        parts: every module that can be watched, by its first name; the whole comes last.
        aliases: first name of every module by each of its names.
        arithmetic: coarsest floating point type between input and output; None where it is that of the samples.
    """

    root: nn.Module
    name: str
    parts: dict[str, nn.Module]
    aliases: dict[str, str]
    arithmetic: torch.dtype | None = None

    @property
    def whole(self) -> str:
        """Name of the whole network's output."""
        return next(reversed(self.parts))


@dataclass(frozen=True)
class Layer:
    """One call of one module, whose output is analysed.

    Attributes:
        name: name of the module; `#2` is added for its second call, and so on.
        module: name of the module.
        kind: class of the module.
        shape: shape of one sample's output.
        pick: index or key of the output, where the module has several.
        same: earlier layer that put out the very same tensor; empty if there is none.
        named: whether the user asked for it by its exact name, so that it must not be left out.
    """

    name: str
    module: str
    kind: str
    shape: tuple[int, ...]
    pick: Pick = None
    same: str = ""
    named: bool = False


def network_of(root: nn.Module, name: str) -> Network:
    """Parts of a module under their names; those that only compute weights, and compiled ones, cannot be watched.

    Raises:
        ArgumentError: the whole is compiled by TorchScript.
    """
    if isinstance(root, torch.jit.ScriptModule):
        raise ArgumentError(
            f"{name} is compiled by TorchScript, which hides its layers. Pass the nn.Module that it was made of."
        )
    names = list(root.named_modules(remove_duplicate=False))
    weights = {
        id(part)
        for _, module in names
        if isinstance(module, ParametrizationList)
        for part in module.modules()
    }
    first: dict[int, str] = {}
    for path, module in names[1:]:
        if id(module) not in weights and not isinstance(module, torch.jit.ScriptModule):
            first.setdefault(id(module), path)
    parts = {path: module for path, module in names if path and first.get(id(module)) == path}
    whole = WHOLE if WHOLE not in parts else f"{WHOLE} of {name}"
    aliases = {path: first[id(module)] for path, module in names if id(module) in first}
    return Network(root, name, {**parts, whole: root}, aliases | {whole: whole})


@contextmanager
def hooked(
    parts: Mapping[str, nn.Module],
    after: Callable[[str, Any], None],
    before: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Watch modules while a block runs.

    Args:
        parts: the modules by name.
        after: called with a module's name and its output after each of its calls.
        before: called with a module's name before each of its calls.
    """
    handles = []
    try:
        for name, module in parts.items():
            handles.append(module.register_forward_hook(_after(name, after)))
            if before is not None:
                handles.append(module.register_forward_pre_hook(_before(name, before)))
        yield
    finally:
        for handle in handles:
            handle.remove()


def call_name(module: str, count: int) -> str:
    """Name of a module's call: `block`, then `block#2`."""
    return module if count == 1 else f"{module}#{count}"


def run(
    network: Network,
    x: Float[Tensor, "b ..."],
    layers: Iterable[Layer],
    see: Callable[[Layer, Tensor], None],
) -> list[str]:
    """Run a network up to the last of some layers.

    Args:
        network: the network.
        x: a batch; the network may write into it.
        layers: the calls to be seen.
        see: called with each of them and its output, at the moment it is made: nothing later can have written into it.

    Returns:
        Names of the layers that were not called.
    """
    wanted = {layer.name: layer for layer in layers}
    counts: Counter[str] = Counter()

    def after(module: str, output: Any) -> None:
        counts[module] += 1
        layer = wanted.pop(call_name(module, counts[module]), None)
        if layer is not None:
            see(layer, picked(output, layer.pick, layer.name))
            if not wanted:
                raise Stop

    modules = {layer.module for layer in wanted.values()}
    with hooked({name: part for name, part in network.parts.items() if name in modules}, after):
        try:
            network.root(x)
        except Stop:
            return []
    return list(wanted)


def until(network: Network, layer: Layer) -> Callable[[Tensor], Tensor]:
    """The network truncated at a layer: a function from a batch to that layer's outputs, one per sample."""

    def truncated(x: Tensor) -> Tensor:
        caught: list[Tensor] = []
        run(network, x, [layer], lambda _, output: caught.append(output))
        return caught[0].reshape(len(x), *layer.shape)

    truncated.__name__ = f"{network.name}.{layer.name}"
    return truncated


def picked(output: Any, pick: Pick, name: str) -> Tensor:
    """The tensor of a module's output that is looked at: what was picked, and the first floating point tensor of that.

    Raises:
        ArgumentError: there is none.
    """
    chosen = output
    if pick is not None:
        try:
            attribute = isinstance(pick, str) and not isinstance(output, Mapping)
            chosen = getattr(output, str(pick)) if attribute else output[pick]
        except (LookupError, TypeError, AttributeError) as error:
            raise ArgumentError(
                f"the output of layer {name!r} has no entry {pick!r}: it is {_described(output)}."
            ) from error
    tensor = next(_tensors(chosen), None)
    if tensor is None:
        raise ArgumentError(
            f"the output of layer {name!r} is {_described(chosen)}, which holds no floating point tensor."
        )
    return tensor


def one_line(error: Exception) -> str:
    """Type and first sentence of an error."""
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0].split('. ')[0].rstrip('.')}"


def _after(name: str, tell: Callable[[str, Any], None]) -> Callable[[nn.Module, Any, Any], None]:
    return lambda _module, _inputs, output: tell(name, output)


def _before(name: str, tell: Callable[[str], None]) -> Callable[[nn.Module, Any], None]:
    return lambda _module, _inputs: tell(name)


def _tensors(value: Any) -> Iterator[Tensor]:
    """Floating point tensors in tuples, lists and mappings, in order."""
    if isinstance(value, Tensor):
        if value.dtype.is_floating_point:
            yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _tensors(entry)
    elif isinstance(value, tuple | list):
        for entry in value:
            yield from _tensors(entry)


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype}"
    if isinstance(value, Mapping):
        return f"a {type(value).__name__} with keys {', '.join(map(repr, value))}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
