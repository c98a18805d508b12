"""Which modules a network calls on its data, and whether their outputs are functions of one sample each."""

import math
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, LieggError, ModelError
from liegg._utils.precision import coarsest, watched
from liegg.discovery.layers.hooks import Network, Pick, call_name, hooked, one_line, picked
from liegg.inputs.model import PROBE_SAMPLES


class Call(NamedTuple):
    """One call of a module, with all that was seen of its output.

    Attributes:
        name: of the call, as `Layer.name`.
        module: name of the module.
        kind: its class.
        shape: shape of one sample's output.
        leaf: it called no other module.
        fresh: its output is a tensor that no call inside it put out.
        same: earlier call that put out the very same tensor; empty if there is none.
        random: relative change between two runs on the same samples, where it is more than rounding; else 0.
        trouble: why it cannot be analysed; empty if it can.
    """

    name: str
    module: str
    kind: str
    shape: tuple[int, ...]
    leaf: bool
    fresh: bool
    same: str
    random: float
    trouble: str


class _Heard(NamedTuple):
    """A call in one run; `output` is the shape, and `marks` a random projection and the length of every sample's output."""

    name: str
    module: str
    leaf: bool
    fresh: bool
    same: str
    trouble: str
    output: tuple[int, ...] = ()
    marks: Float[Tensor, "2 n"] | None = None
    eps: float = 0.0


def survey(
    network: Network, x: Float[Tensor, "b ..."], pick: Callable[[str, str], Pick]
) -> tuple[list[Call], bool]:
    """Run a network on a few samples and list its calls in the order in which they end.

    Outputs are compared by a random projection, so none is kept.

    Args:
        network: the network.
        x: the first batch; a few samples of it are used.
        pick: says which part of an output to look at, from the names of the call and of its module.

    Returns:
        The calls, and whether the network writes into its input.

    Raises:
        ModelError: the network fails.
        ArgumentError: an entry that was picked does not exist.
    """
    spread = torch.linspace(
        0, len(x) - 1, PROBE_SAMPLES if len(x) > 1 else 2
    ).long()  # a lone sample is taken twice
    x = x[spread.to(x.device)]
    (whole, writes), (again, _) = (_listen(network, x, pick) for _ in range(2))
    alone = [
        {heard.name: heard for heard in _listen(network, x[i : i + 1], pick)[0]}
        for i in range(len(x))
    ]
    repeated = {heard.name: heard for heard in again}
    calls = []
    for heard in whole:
        second = repeated.get(heard.name)
        random = 0.0 if heard.marks is None or second is None else _change(heard, second.marks)
        random = random if random > min(100 * heard.eps, 0.1) else 0.0
        trouble = heard.trouble or _mixing(
            heard, [single[heard.name] for single in alone if heard.name in single], len(x)
        )
        kind, shape = (
            type(network.parts[heard.module]).__name__,
            _sample_shape(heard.output, len(x)),
        )
        calls.append(
            Call(
                heard.name,
                heard.module,
                kind,
                shape,
                heard.leaf,
                heard.fresh,
                heard.same,
                random,
                trouble,
            )
        )
    return calls, writes


def with_arithmetic(network: Network, x: Float[Tensor, "b ..."]) -> Network:
    """The network with the coarsest floating point type that it computes in, found on one sample; as it is where it fails there."""
    try:
        with torch.enable_grad(), watched() as seen:
            network.root(x[:1].clone().requires_grad_())
    except Exception:  # which the survey reports
        return network
    return replace(network, arithmetic=coarsest(x.dtype, *seen()))


def projection(size: int, like: Tensor) -> Float[Tensor, " c"]:
    """A fixed vector without structure onto which outputs of a size are projected: chirped waves, as good as random ones."""
    place = torch.arange(1, size + 1, dtype=torch.float64, device=like.device)
    return (place.square() * math.sqrt(2)).cos()


def _listen(
    network: Network, x: Float[Tensor, "n ..."], pick: Callable[[str, str], Pick]
) -> tuple[list[_Heard], bool]:
    """All calls of one run, and whether it wrote into its input."""
    given = x.clone()
    version = given._version  # torch's own count of writes: the values may not show it
    heard: list[_Heard] = []
    counts: Counter[str] = Counter()
    born: dict[int, tuple[weakref.ref[Tensor], int, str]] = {}
    inside: list[set[str]] = [
        set()
    ]  # per module that is running, the names of the calls that ended in it

    def before(_module: str) -> None:
        inside.append(set())

    def after(module: str, output: Any) -> None:
        counts[module] += 1
        name = call_name(module, counts[module])
        nested = inside.pop()
        choice = pick(name, module)
        try:
            tensor = picked(output, choice, name)
        except ArgumentError as error:
            if choice is not None:
                raise
            heard.append(_Heard(name, module, not nested, True, "", str(error)))
        else:
            known = born.get(id(tensor))
            same = (
                known[2]
                if known is not None and known[0]() is tensor and known[1] == tensor._version
                else ""
            )
            born[id(tensor)] = (weakref.ref(tensor), tensor._version, same or name)
            try:
                marks, trouble = _marks(tensor, len(x)), ""
            except (
                RuntimeError
            ) as error:  # inside of a transform of the network's own, where numbers cannot be read
                marks, trouble = (
                    None,
                    f"the output of layer {name!r} cannot be read ({one_line(error)})",
                )
            eps = max(
                torch.finfo(dtype).eps
                for dtype in (tensor.dtype, coarsest(x.dtype, network.arithmetic))
            )
            heard.append(
                _Heard(
                    name,
                    module,
                    not nested,
                    same not in nested,
                    same,
                    trouble,
                    tuple(tensor.shape),
                    marks,
                    eps,
                )
            )
        inside[-1] |= {name, *nested}

    with hooked(network.parts, after, before), torch.no_grad():
        try:
            network.root(given)
        except LieggError:
            raise
        except Exception as error:
            raise ModelError(
                f"{network.name} failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: {type(error).__name__}: {error}. "
                "It must accept a batch of any length."
            ) from error
    return heard, given._version != version


def _marks(output: Tensor, samples: int) -> Float[Tensor, "2 n"] | None:
    """Projection and length of each sample's output; None if the outputs cannot be shared out among the samples."""
    if output.ndim == 0 or output.shape[0] % samples or output.numel() == 0:
        return None
    flat = output.reshape(samples, -1).double()
    return torch.tensor(
        [(flat @ projection(flat.shape[1], flat)).tolist(), flat.norm(dim=1).tolist()],
        dtype=torch.float64,
    )


def _sample_shape(output: tuple[int, ...], samples: int) -> tuple[int, ...]:
    """Shape of one sample's output; where a sample has several entries along the first axis, they stay an axis."""
    if not output or output[0] % samples:
        return ()
    several = output[0] // samples
    return output[1:] if several == 1 else (several, *output[1:])


def _mixing(heard: _Heard, singles: list[_Heard], samples: int) -> str:
    """Why an output is not one entry per sample; empty if it is."""
    shape = f"the output of layer {heard.name!r} has shape {heard.output} for {samples} samples"
    if heard.marks is None or any(
        single.output != (heard.output[0] // samples, *heard.output[1:]) for single in singles
    ):
        return f"{shape}: its first axis is not that of the samples"
    if len(singles) < samples:
        return f"{shape}, but it is not called for every sample alone"
    change = _change(
        heard, torch.cat([single.marks for single in singles if single.marks is not None], dim=1)
    )
    if change > min(1000 * heard.eps, 0.1):
        return f"the output of layer {heard.name!r} for a sample changes by {change:.1e} of its size with the other samples of a batch"
    return ""


def _change(heard: _Heard, marks: Float[Tensor, "2 n"] | None) -> float:
    """Largest change of a projection, relative to the largest output."""
    if heard.marks is None or marks is None or marks.shape != heard.marks.shape:
        return 1.0
    size = float(heard.marks[1].max()) + torch.finfo(torch.float64).tiny
    return float((marks[0] - heard.marks[0]).abs().max()) / size
