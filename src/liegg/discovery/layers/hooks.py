"""Hooks on the modules of a network that see the output of each call."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from liegg._utils.errors import ArgumentError
from liegg.inputs.output_field import OBVIOUS, Field, describe, fields_of, find_field
from liegg.inputs.structure.entry import Entry
from liegg.inputs.structure.unpack import fold_any

NETWORK_OUTPUT = "output"
"""Name of the output of the complete network, unless a module has that name."""


class Stop(BaseException):
    """Ends a run after the last layer; not an `Exception`, so networks do not catch it."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network and its modules by name.

    Attributes:
        root: the network, in eval mode.
        name: its class name.
        parts: every module that can have hooks, by its first name; the network itself comes last.
        aliases: first name of every module by each of its names.
        arithmetic: coarsest floating point type between input and output; None if it is that of the
            samples.
    """

    root: nn.Module
    name: str
    parts: dict[str, nn.Module]
    aliases: dict[str, str]
    arithmetic: torch.dtype | None = None


@dataclass(frozen=True)
class Layer:
    """One call of one module, whose output is analysed.

    Attributes:
        name: name of the module, with `#2` for its second call, and so on.
        module: name of the module.
        kind: class of the module.
        shape: shape of one sample's output.
        pick: index or key of the output, if the module has several.
        same: earlier layer that returned the same tensor; empty if there is none.
        named: whether the user asked for it by its exact name, so it must not be left out.
    """

    name: str
    module: str
    kind: str
    shape: tuple[int, ...]
    pick: Field = None
    same: str = ""
    named: bool = False


def network_of(root: nn.Module, name: str) -> Network:
    """Modules of a network by name, without those that only compute weights and TorchScript ones.

    Raises:
        ArgumentError: the network is compiled by TorchScript.
    """
    if isinstance(root, torch.jit.ScriptModule):
        raise ArgumentError(
            f"{name} is compiled by TorchScript, which hides its layers. Pass the original module."
        )
    names = list(root.named_modules(remove_duplicate=False))
    if isinstance(root, Entry):
        _check_one_call(root)
        inside = root.model.named_modules(remove_duplicate=False)
        names = [("", root), *((path, module) for path, module in inside if path)]
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
    output = NETWORK_OUTPUT if NETWORK_OUTPUT not in parts else f"{NETWORK_OUTPUT} of {name}"
    aliases = {path: first[id(module)] for path, module in names if id(module) in first}
    return Network(root, name, {**parts, output: root}, aliases | {output: output})


def _check_one_call(root: Entry) -> None:
    """Raise `ArgumentError` unless a batch of structured samples is one call of the module."""
    convention = root.convention
    if convention.mode == "single" or (convention.mode == "stacked" and convention.layout.ragged):
        raise ArgumentError(
            f"layers need one call of the model per batch, but it is called as {convention.words()}. Pass samples of "
            "one size, or graphs that are joined by a vector 'batch'."
        )


def kind_of(module: nn.Module) -> str:
    """Class of a module; of structured samples, that of the user's own."""
    return type(module.model if isinstance(module, Entry) else module).__name__


def per_sample(network: Network, x: Float[Tensor, "b ..."], y: Tensor) -> Tensor:
    """The output of a layer with one entry per sample, where graphs are joined to one."""
    root = network.root
    if isinstance(root, Entry) and root.convention.mode == "joined":
        return fold_any(root.convention.layout, x, y)
    return y


class Passage(NamedTuple):
    """One call of a module.

    Attributes:
        name: name of the call: that of the module, with `#2` for its second call, and so on.
        part: name of the module.
        module: the module; calling it again passes unseen.
        args: its positional arguments.
        kwargs: its other arguments.
        output: what it returned.
    """

    name: str
    part: str
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any


@contextmanager
def hooked(
    parts: Mapping[str, nn.Module],
    after: Callable[[Passage], Any],
    before: Callable[[str, tuple[Any, ...]], None] | None = None,
) -> Iterator[None]:
    """Set hooks on modules inside the block; calls that a hook itself makes pass unseen.

    Args:
        parts: the modules by name.
        after: called after each call; what it returns replaces the output, unless it is None.
        before: called with a module's name and its positional arguments before each call.
    """
    counts: Counter[str] = Counter()
    handles, unseen = [], False

    def enter(name: str, args: tuple[Any, ...]) -> None:
        if before is not None and not unseen:
            before(name, args)

    def leave(name: str, *call: Any) -> Any:
        nonlocal unseen
        if unseen:
            return None
        counts[name] += 1
        count, unseen = counts[name], True
        try:
            return after(Passage(name if count == 1 else f"{name}#{count}", name, *call))
        finally:
            unseen = False

    try:
        for name, module in parts.items():
            handles.append(module.register_forward_hook(partial(leave, name), with_kwargs=True))
            handles.append(
                module.register_forward_pre_hook(lambda *call, name=name: enter(name, call[1]))
            )
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def watching(
    network: Network, modules: Collection[str], visit: Callable[[Passage], Any]
) -> Iterator[None]:
    """See the calls of some modules inside the block, with their arguments as they were before the call.

    Args:
        network: the network.
        modules: names of the modules.
        visit: called after each call; what it returns replaces the output, unless it is None.
    """
    given: dict[str, list[tuple[Any, ...]]] = {name: [] for name in modules}

    def before(name: str, args: tuple[Any, ...]) -> None:
        # A module that works in place would overwrite them.
        given[name].append(tuple(a.clone() if isinstance(a, Tensor) else a for a in args))

    def after(passage: Passage) -> Any:
        return visit(passage._replace(args=given[passage.part].pop()))

    parts = {name: part for name, part in network.parts.items() if name in modules}
    with hooked(parts, after, before):
        yield


def run_to_layers(
    network: Network,
    x: Float[Tensor, "b ..."],
    layers: Iterable[Layer],
    visit: Callable[[Layer, Tensor], None],
) -> list[str]:
    """Run a network up to the last of some layers.

    Args:
        network: the network.
        x: a batch; the network may write into it.
        layers: the calls of interest.
        visit: called with each of them and its output at once, before anything can write into it.

    Returns:
        Names of the layers that were not called.
    """
    remaining = {layer.name: layer for layer in layers}

    def after(passage: Passage) -> None:
        layer = remaining.pop(passage.name, None)
        if layer is not None:
            tensor = pick_tensor(passage.output, layer.pick, layer.name)
            visit(layer, per_sample(network, x, tensor))
            if not remaining:
                raise Stop

    modules = {layer.module for layer in remaining.values()}
    with hooked({name: part for name, part in network.parts.items() if name in modules}, after):
        try:
            network.root(x)
        except Stop:
            return []
    return list(remaining)


def truncate(network: Network, layer: Layer) -> Callable[[Tensor], Tensor]:
    """The network truncated at a layer: a function from a batch to that layer's outputs."""

    def truncated(x: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        run_to_layers(network, x, [layer], lambda _, output: outputs.append(output))
        return outputs[0].reshape(len(x), *layer.shape)

    truncated.__name__ = f"{network.name}.{layer.name}"
    return truncated


def pick_tensor(output: Any, pick: Field, name: str) -> Tensor:
    """The first floating point tensor of a module's output, or of the entry that the user chose.

    Raises:
        ArgumentError: there is none.
    """
    entry = fields_of(output).get(OBVIOUS, output)
    if pick is not None:
        entry = find_field(output, pick, f"layer {name!r}")
    tensor = next(_tensors(entry), None)
    if tensor is None:
        raise ArgumentError(
            f"the output of layer {name!r} is {describe(entry)}, which holds no floating point "
            "tensor."
        )
    return tensor


def _tensors(value: Any) -> Iterator[Tensor]:
    """Floating point tensors in tuples, lists, mappings and records, in order."""
    if isinstance(value, Tensor):
        if value.dtype.is_floating_point:
            yield value
        return
    for entry in fields_of(value).values():
        yield from _tensors(entry)
