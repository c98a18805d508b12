"""How models are called with structured samples: with everything that they take."""

from typing import Any

import pytest
import torch

import liegg
from structures import POSITIONS

FAST: dict[str, Any] = {"controls": "none"}
DRAW = torch.Generator().manual_seed(0)
POS = torch.randn(100, 5, 3, generator=DRAW, dtype=torch.float64)
FIELD = torch.randn(100, 3, generator=DRAW, dtype=torch.float64)


def energy(pos):
    return torch.exp(-(pos[:, :, None] - pos[:, None]).square().sum(-1)).sum((1, 2))


def required(pos, **inputs):
    return in_field(pos, inputs)


def optional(pos=None, **inputs):
    return in_field(pos, inputs)


def everything(**inputs):
    return in_field(inputs.pop("pos"), inputs)


def in_field(pos, inputs):
    e = energy(pos)
    return e + (pos.mean(1) * inputs["field"]).sum(-1).sin() if "field" in inputs else e


@pytest.mark.parametrize("model", [required, optional, everything])
def test_a_model_of_any_keywords_gets_all_tensors(model):
    sym = liegg.discover(model, {"pos": POS, "field": FIELD}, POSITIONS, **FAST)
    assert sym.nullity == 0, "the field breaks all symmetries"
    assert "field=..." in sym.notes[0]
