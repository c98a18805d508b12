"""The paper's control with the real EMLP: an O(5)-invariant network with random weights has zero variance and zero bias.

Runs in an environment of its own (`make peer-emlp`), because emlp needs jax. Stores results/o5-emlp.json.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

# Before emlp is imported: it finds its equivariant bases by a jax SVD, which would otherwise be float32.
jax.config.update("jax_enable_x64", True)

import numpy as np
import torch
from emlp.groups import O
from emlp.nn.pytorch import EMLP
from emlp.reps import Scalar, V
from torch import Tensor, nn

from liegg._utils.random import seeded
from liegg.studies import o5
from liegg.studies.provenance import provenance, write_json


def build(seed: int, gain: float) -> nn.Module:
    """An O(5)-invariant EMLP of two vectors in float64.

    `gain` multiplies the raw weights. At 1, emlp's own initialisation, the output hardly depends on the input; any gain is as
    invariant.
    """
    with seeded(seed):
        model = EMLP(2 * V, Scalar, group=O(5), ch=64, num_layers=3)
    for layer in model.modules():
        if hasattr(layer, "proj_w"):
            layer.weight.data *= gain
        elif hasattr(layer, "weight_proj"):
            layer.bi_params.data *= gain
    return model.double()


def run(study: str, described: Callable[[nn.Module, Tensor], dict[str, Any]]) -> None:
    """Analyse two networks, print and store what was found.

    Args:
        study: name of the stored file.
        described: what was found for a network and inputs, as JSON values.
    """
    parser = argparse.ArgumentParser(description=study)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    begin = time.perf_counter()
    inputs = torch.randn(2_000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    networks = {
        f"gain {gain:g}": described(build(seed=1, gain=gain), inputs) for gain in (1.0, 4.0)
    }
    versions = {"emlp": "1.0.3", "jax": jax.__version__, "numpy": np.__version__}
    record = provenance("make peer-emlp", seconds=time.perf_counter() - begin)
    record["versions"] |= versions
    stored = {"study": study, "networks": networks, "provenance": record}
    write_json(stored, chosen.out / f"{study}.json")


def extracted(model: Any, inputs: Tensor) -> dict[str, Any]:
    """What was found for a network, printed and as JSON values."""
    sym = o5.extract(model, inputs)
    print(f"{sym}\n")
    return o5.describe(sym) | {
        "relative_variance_of_ten": float(sym.spectrum.values[9] / sym.spectrum.values[-1]),
        "route": sym.settings["route"],
        "notes": list(sym.notes),
    }


if __name__ == "__main__":
    run("o5-emlp", extracted)
