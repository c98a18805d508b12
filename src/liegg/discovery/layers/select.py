"""Which layers the user asked for: by name, by pattern, by type, or all that compute something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from torch import nn

from liegg._utils.errors import ArgumentError, ModelError, RandomModelError
from liegg.discovery.layers.hooks import Layer, Network, Pick
from liegg.discovery.layers.trace import Call

Layers = (
    None | str | Sequence[str] | type[nn.Module] | tuple[type[nn.Module], ...] | Mapping[str, Pick]
)
"""None, names or patterns, types of modules, or a mapping from names to the entry of their output that is meant."""

LISTED = 12
"""Names listed in a message, at most."""


class Wanted(NamedTuple):
    """What the user asked for, in one form; all layers if it is empty.

    Attributes:
        patterns: names or patterns, each with the entry of the output that is meant.
        types: classes of modules.
    """

    patterns: Mapping[str, Pick]
    types: tuple[type[nn.Module], ...] = ()

    def pick(self, call: str, module: str, network: Network) -> Pick:
        """Entry of a call's output that is meant; None for the first tensor."""
        return next(
            (
                entry
                for pattern, entry in self.patterns.items()
                if _matches(pattern, call, module, network)
            ),
            None,
        )


def wanted(layers: Any) -> Wanted:
    """Read the user's `layers`.

    Raises:
        ArgumentError: it has none of the forms that `Layers` names, or is empty.
    """
    if layers is None:
        return Wanted({})
    entries = (
        layers
        if isinstance(layers, Mapping)
        else [layers]
        if isinstance(layers, str | type)
        else layers
    )
    picks = list(entries.values()) if isinstance(entries, Mapping) else []
    if isinstance(entries, Mapping | Sequence) and len(entries):
        if all(isinstance(entry, str) for entry in entries) and all(
            _is_pick(pick) for pick in picks
        ):
            return Wanted(dict(entries) if isinstance(entries, Mapping) else dict.fromkeys(entries))
        if (
            all(isinstance(entry, type) and issubclass(entry, nn.Module) for entry in entries)
            and not picks
        ):
            return Wanted({}, tuple(entries))
    raise ArgumentError(
        f"layers={layers!r}: expected None for all, names such as ['conv1', 'block*'], types such as nn.Conv2d, or a mapping such "
        "as {'rnn': 0} from names to the entry of their output."
    )


def choose(calls: Sequence[Call], asked: Wanted, network: Network) -> tuple[list[Layer], list[str]]:
    """Layers that are to be analysed, in the order of the network.

    Args:
        calls: all calls of the network.
        asked: what the user asked for.
        network: the network.

    Returns:
        The layers, and notes on those that had to be left out.

    Raises:
        ArgumentError: a name or type that does not exist or is never called.
        RandomModelError: a chosen layer draws random numbers.
        ModelError: a layer asked for by its exact name cannot be analysed, or none is left.
    """
    kept: list[Layer] = []
    notes: list[str] = []
    first: dict[
        str, str
    ] = {}  # by the call that made a tensor, the first chosen layer that shows it
    for call in _asked_for(calls, asked, network):
        named = any(name in asked.patterns for name in (call.name, *_names(call.module, network)))
        if call.random:
            raise RandomModelError(
                f"two runs of {network.name} on the same samples differ by {call.random:.1e} of the size of layer {call.name!r}: "
                "it, or what comes before it, draws random numbers. Fix its noise, or choose layers before it."
            )
        if call.trouble and named:
            raise ModelError(
                f"{call.trouble}. Leave it out, or choose another entry of its output: layers={{{call.name!r}: 1}}."
            )
        if call.trouble:
            notes.append(f"left out: {call.trouble}")
            continue
        layer = Layer(
            call.name,
            call.module,
            call.kind,
            call.shape,
            asked.pick(call.name, call.module, network),
            named=named,
        )
        shown = first.setdefault(call.same or call.name, call.name)
        kept.append(layer if shown == call.name else replace(layer, same=shown))
    if not kept:
        raise ModelError(
            f"no layer of {network.name} is left to analyse: {'; '.join(notes) or 'it calls no module'}."
        )
    return kept, notes


def _asked_for(calls: Sequence[Call], asked: Wanted, network: Network) -> list[Call]:
    """Calls that were asked for, whether they can be analysed or not."""
    if asked.types:
        found = [call for call in calls if isinstance(network.parts[call.module], asked.types)]
        if not found:
            names = " or ".join(kind.__name__ for kind in asked.types)
            raise ArgumentError(
                f"{network.name} calls no {names} on this data; it calls {_listed(call.kind for call in calls)}."
            )
        return found
    for pattern in asked.patterns:
        if not any(_matches(pattern, call.name, call.module, network) for call in calls):
            there = _listed(call.name for call in calls)
            if any(fnmatchcase(name, pattern) for name in network.aliases):
                raise ArgumentError(
                    f"layer {pattern!r} is never called by {network.name} on this data; those called are {there}."
                )
            raise ArgumentError(f"{network.name} has no layer {pattern!r}; it has {there}.")
    if not asked.patterns:
        return [call for call in calls if call.leaf or call.fresh]
    return [
        call
        for call in calls
        if any(_matches(pattern, call.name, call.module, network) for pattern in asked.patterns)
    ]


def _matches(pattern: str, call: str, module: str, network: Network) -> bool:
    return any(fnmatchcase(name, pattern) for name in (call, *_names(module, network)))


def _names(module: str, network: Network) -> list[str]:
    """All names of a module; a shared one has several."""
    return [name for name, first in network.aliases.items() if first == module]


def _is_pick(value: Any) -> bool:
    return value is None or (isinstance(value, int | str) and not isinstance(value, bool))


def _listed(names: Iterable[str]) -> str:
    """The first of some names, each once."""
    each = list(dict.fromkeys(names))
    return ", ".join(each[:LISTED]) + (
        f" and {len(each) - LISTED} more" if len(each) > LISTED else ""
    )
