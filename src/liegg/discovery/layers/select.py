"""Selection of layers: by name, by pattern, by type, or all that compute something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from torch import nn

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError, RandomModelError
from liegg.discovery.layers.hooks import Layer, Network
from liegg.discovery.layers.patterns import advice, matches
from liegg.discovery.layers.trace import Call
from liegg.inputs.output_field import Field

Layers = (
    None | str | Sequence[str] | type[nn.Module] | tuple[type[nn.Module], ...] | Mapping[str, Field]
)
"""None, names or patterns, types of modules, or a mapping from names to output entries."""

LISTED_NAMES = 12
"""Most names listed in a message."""


class Selection(NamedTuple):
    """The user's selection in one form; all layers if it is empty.

    Attributes:
        patterns: names or patterns, each with the entry of the output to use.
        types: classes of modules.
        output: entry of the output of the complete network, unless a pattern names one.
    """

    patterns: Mapping[str, Field]
    types: tuple[type[nn.Module], ...] = ()
    output: Field = None

    def pick(self, call: str, module: str, network: Network) -> Field:
        """Entry of a call's output to use; None for `logits` or the first tensor."""
        entry = next(
            (
                entry
                for pattern, entry in self.patterns.items()
                if _matches(pattern, call, module, network)
            ),
            None,
        )
        return self.output if entry is None and network.parts[module] is network.root else entry


def parse_selection(layers: Any) -> Selection:
    """Parse the user's `layers`.

    Raises:
        ArgumentError: it is empty, or none of the forms of `Layers`.
    """
    if layers is None:
        return Selection({})
    entries = (
        layers
        if isinstance(layers, Mapping)
        else [layers]
        if isinstance(layers, str | type)
        else layers
    )
    picks = list(entries.values()) if isinstance(entries, Mapping) else []
    if isinstance(entries, Mapping | Sequence) and len(entries):
        valid = all(
            callable(pick) or (isinstance(pick, int | str | None) and not isinstance(pick, bool))
            for pick in picks
        )
        if valid and all(isinstance(entry, str) for entry in entries):
            return Selection(entries if isinstance(entries, Mapping) else dict.fromkeys(entries))
        modules = all(isinstance(entry, type) and issubclass(entry, nn.Module) for entry in entries)
        if modules and not picks:
            return Selection({}, tuple(entries))
    raise ArgumentError(
        f"layers={layers!r}: expected None for all, names such as ['conv1', 'block*'], types such "
        "as nn.Conv2d, or a mapping such as {'rnn': 0} from names to the entry of their output."
    )


def select_layers(
    calls: Sequence[Call], selection: Selection, network: Network
) -> tuple[list[Layer], list[Remark]]:
    """The layers to analyse, in the order of the network.

    Args:
        calls: all calls of the network.
        selection: the user's selection.
        network: the network.

    Returns:
        The layers, and notes on those that are left out.

    Raises:
        ArgumentError: a name or type that does not exist or is never called.
        RandomModelError: a selected layer draws random numbers.
        ModelError: a layer selected by its exact name cannot be analysed, or none is left.
    """
    layers: list[Layer] = []
    notes: list[Remark] = []
    first: dict[
        str, str
    ] = {}  # first selected layer that returns a tensor, by the call that made it
    for call in _selected(calls, selection, network):
        named = any(
            name in selection.patterns for name in (call.name, *_names(call.module, network))
        )
        if call.random:
            raise RandomModelError(
                f"two runs of {network.name} on the same samples differ by {call.random:.1e} of "
                f"the size of layer {call.name!r}: it, or a layer before it, draws random numbers. "
                "Fix its noise, or choose layers before it."
            )
        if call.problem and named:
            raise ModelError(
                f"{call.problem}. Leave it out, or choose another entry of its output: "
                f"layers={{{call.name!r}: 1}}."
            )
        if call.problem:
            notes.append(Diagnosis.LAYER_LEFT_OUT(reason=call.problem))
            continue
        layer = Layer(
            call.name,
            call.module,
            call.kind,
            call.shape,
            selection.pick(call.name, call.module, network),
            named=named,
        )
        shown = first.setdefault(call.same or call.name, call.name)
        layers.append(layer if shown == call.name else replace(layer, same=shown))
    if not layers:
        raise ModelError(
            f"no layer of {network.name} is left to analyse: "
            f"{'; '.join(notes) or 'it calls no module'}."
        )
    return layers, notes


def _selected(calls: Sequence[Call], selection: Selection, network: Network) -> list[Call]:
    """Selected calls, whether they can be analysed or not."""
    if selection.types:
        found = [call for call in calls if isinstance(network.parts[call.module], selection.types)]
        if not found:
            names = " or ".join(kind.__name__ for kind in selection.types)
            raise ArgumentError(
                f"{network.name} calls no {names} on this data; it calls "
                f"{_list(call.kind for call in calls)}."
            )
        return found
    for pattern in selection.patterns:
        if not any(_matches(pattern, call.name, call.module, network) for call in calls):
            there = _list(call.name for call in calls)
            if any(matches(pattern, name) for name in network.aliases):
                raise ArgumentError(
                    f"layer {pattern!r} is never called by {network.name} on this data; those "
                    f"called are {there}."
                )
            names = [call.name for call in calls]
            names += [name for call in calls for name in _names(call.module, network)]
            raise ArgumentError(
                f"{network.name} has no layer {pattern!r}; it has {there}.{advice(pattern, names)}"
            )
    if not selection.patterns:
        return [call for call in calls if call.leaf or call.new]
    return [
        call
        for call in calls
        if any(_matches(pattern, call.name, call.module, network) for pattern in selection.patterns)
    ]


def _matches(pattern: str, call: str, module: str, network: Network) -> bool:
    return any(matches(pattern, name) for name in (call, *_names(module, network)))


def _names(module: str, network: Network) -> list[str]:
    """All names of a module; a shared one has several."""
    return [name for name, first in network.aliases.items() if first == module]


def _list(names: Iterable[str]) -> str:
    """The first of some names, without repeats."""
    each = list(dict.fromkeys(names))
    return ", ".join(each[:LISTED_NAMES]) + (
        f" and {len(each) - LISTED_NAMES} more" if len(each) > LISTED_NAMES else ""
    )
