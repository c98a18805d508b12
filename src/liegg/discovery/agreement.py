"""Several processes must ask the same question: everything that was asked, in comparable form."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from liegg._utils.checks import checksum
from liegg._utils.random import seeded
from liegg.discovery.request import Request
from liegg.discovery.structured import as_samples
from liegg.inputs.batches import Data, as_batches

HELD_OUT_SAMPLES = 256
"""Samples of `held_out` that are compared: as many as `verify` reads."""

MAY_DIFFER = (
    "seed",
    "groups",
    "progress",
    "about_progress",
    "verify_progress",
    "checkpoint",
    "checkpoint_every",
    "processes",
    "timeout",
)
"""Fields of `Run` that do not change the answer, or are compared as `seed` and `groups`."""


def everything(
    request: Request, *, controls: str, labels: Tensor | None, held_out: Data | None
) -> dict[str, str | None]:
    """Everything that was asked but the model and the data, by the name of the argument.

    Args:
        request: the question.
        controls: as for `discover`.
        labels: groups as integers.
        held_out: as for `discover`; its first samples are read.
    """
    thresholds = {
        f"thresholds.{one.name}": getattr(request.thresholds, one.name)
        for one in fields(request.thresholds)
    }
    run = {
        f"run.{one.name}": getattr(request.run, one.name)
        for one in fields(request.run)
        if one.name not in MAY_DIFFER
    }
    about = {"about": _questions(request), "task": request.task}
    options: dict[str, Any] = request.settings() | {"controls": controls} | about | thresholds | run
    return {
        **{name: json.dumps(value, sort_keys=True, default=str) for name, value in options.items()},
        "groups": None if labels is None else checksum(labels),
        "held_out": None if held_out is None else _first_samples(held_out, request),
    }


def _questions(request: Request) -> Any:
    """The named motions in question, as far as they can be compared without the data."""
    about = request.about
    return sorted(map(str, about)) if isinstance(about, Mapping) else about


def _first_samples(held_out: Data, request: Request) -> str:
    """Checksum of the samples that `verify` will read."""
    parts: list[Tensor] = []
    with seeded(request.run.seed):
        samples, _ = as_samples(held_out, request.action)
        source = as_batches(samples, batch_size=HELD_OUT_SAMPLES)
    with seeded(request.run.seed), closing(iter(source)) as batches:
        for batch in batches:
            parts.append(batch[: HELD_OUT_SAMPLES - sum(map(len, parts))].cpu())
            if sum(map(len, parts)) == HELD_OUT_SAMPLES:
                break
    return checksum(torch.cat(parts))
