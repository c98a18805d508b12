"""Fingerprints: what must be equal in all processes, and when a pass is resumed."""

import json
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.checks import checksum
from liegg.inputs.reachable import modules_inside

OUTPUT_TOLERANCE = 1e-2
"""Relative difference of outputs that rounding on other machines may cause."""

DIFFERENCES = {
    "weights": "the model: its weights are not the same",
    "buffers": "the model: its buffers, such as running means, are not the same; load one state "
    "dict everywhere",
    "groups": "groups: the labels are not the same",
    "spread": "data: samples after the first are not the same",
}
"""Message for each checksum that may differ."""


def fingerprint(
    first: Float[Tensor, "b ..."], y: Float[Tensor, "p c"], settings: dict[str, Any]
) -> dict[str, Any]:
    """Identify an analysis.

    Args:
        first: a batch of the data.
        y: the model's outputs on it.
        settings: action, options, versions, checksums: anything that JSON can hold.
    """
    return {
        "data": f"{tuple(first.shape)} {first.dtype} {checksum(first)[:16]}",
        "answers": y.detach().double().cpu().flatten()[:64].tolist(),
        **{
            name: json.dumps(value, sort_keys=True, default=str) for name, value in settings.items()
        },
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Describe the first difference between two fingerprints; empty if they agree."""
    for name in sorted({*one, *other} - {"answers"}):
        if one.get(name) != other.get(name):
            return DIFFERENCES.get(name) or f"{name}: {one.get(name)} and {other.get(name)}"
    a, b = (torch.tensor(record["answers"], dtype=torch.float64) for record in (one, other))
    size = max(float(a.norm()), float(b.norm()))
    if a.shape != b.shape or float((a - b).norm()) > OUTPUT_TOLERANCE * size:
        return "the model: its outputs for the first samples are not the same"
    return ""


def weight_checksums(model: Any) -> dict[str, str]:
    """Checksums of a model's parameters and of its stored buffers.

    For a function, those of the modules that it reaches; numbers that it holds elsewhere are not
    seen.

    Args:
        model: module or function.
    """
    digests: dict[str, list[str]] = {"weights": [], "buffers": []}
    for module in modules_inside(model):
        parameters = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        for name, tensor in module.state_dict().items():
            if isinstance(tensor, Tensor):
                kind = "weights" if name in parameters else "buffers"
                digests[kind].append(f"{name} {_contents(tensor)}")
    return {kind: checksum(*parts)[:16] for kind, parts in digests.items()}


def _contents(tensor: Tensor) -> str:
    """Checksum of a tensor; if its values cannot be read (packed weights), shape and dtype."""
    try:
        return checksum(tensor)
    except (RuntimeError, TypeError, NotImplementedError):
        return f"{tuple(tensor.shape)} {tensor.dtype}"
