"""Marks: what must be the same in all processes, and in a pass that is taken up again."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from liegg.inputs.model import modules_inside

ALIKE = 1e-2
"""Relative difference of outputs that rounding on different machines may make; another model makes more."""

WORDS = {
    "weights": "the model: its weights are not the same",
    "buffers": "the model: its buffers, such as running means, are not the same; load one state dict everywhere",
    "groups": "groups: the labels are not the same",
    "spread": "data: samples after the first are not the same",
}
"""What is said where a checksum differs."""

SHOWN = 16
"""Digits of a checksum that are kept: enough that two are never equal by chance."""


def fingerprint(
    first: Float[Tensor, "b ..."], y: Float[Tensor, "p c"], asked: dict[str, Any]
) -> dict[str, Any]:
    """What an analysis is about.

    Args:
        first: a batch of the data.
        y: what the model says of it.
        asked: action, options, versions, checksums: anything that JSON can hold.
    """
    return {
        "data": f"{tuple(first.shape)} {first.dtype} {checksum([first])}",
        "answers": y.detach().double().cpu().flatten()[:64].tolist(),
        **{name: json.dumps(value, sort_keys=True, default=str) for name, value in asked.items()},
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """What differs between two fingerprints, in words; empty if nothing does."""
    for name in sorted({*one, *other} - {"answers"}):
        if one.get(name) != other.get(name):
            return WORDS.get(name) or f"{name}: {one.get(name)} and {other.get(name)}"
    a, b = (torch.tensor(record["answers"], dtype=torch.float64) for record in (one, other))
    if a.shape != b.shape or float((a - b).norm()) > ALIKE * max(float(a.norm()), float(b.norm())):
        return "the model: its outputs for the first samples are not the same"
    return ""


def checksum(tensors: Iterable[Shaped[Tensor, "..."]]) -> str:
    """First digits of the SHA-256 of the contents of tensors, one after the other.

    >>> checksum([torch.zeros(3)]) == checksum([torch.zeros(2), torch.zeros(1)])
    True
    """
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:SHOWN]


def weights_of(model: Any) -> dict[str, str]:
    """Checksums of the weights of a model: of its parameters, and of the buffers that are stored with them.

    Of a function that is no module, those of the modules that it reaches; numbers that it holds elsewhere are not seen.

    Args:
        model: module or function.
    """
    modules = modules_inside(model)
    stored = [
        entry
        for module in modules
        for entry in module.state_dict().items()
        if isinstance(entry[1], Tensor)
    ]
    learned = {
        name for module in modules for name, _ in module.named_parameters(remove_duplicate=False)
    }
    return {
        "weights": _named_checksum([(name, tensor) for name, tensor in stored if name in learned]),
        "buffers": _named_checksum(
            [(name, tensor) for name, tensor in stored if name not in learned]
        ),
    }


def _named_checksum(entries: list[tuple[str, Tensor]]) -> str:
    """One checksum of names, shapes and contents; of contents that cannot be read, such as packed weights, the names alone."""
    digest = hashlib.sha256()
    for name, tensor in entries:
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype} ".encode())
        try:
            digest.update(checksum([tensor]).encode())
        except (RuntimeError, TypeError, NotImplementedError):
            digest.update(b"unread")
    return digest.hexdigest()[:SHOWN]
