"""The paper's control with the real EMLP: an O(5)-invariant network with random weights has zero variance and zero bias.

Runs in an environment of its own (`make peer-emlp`), because emlp needs jax. Stores results/o5-emlp.json.
"""

import argparse
import os
import time
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

from liegg._utils.random import seeded
from liegg.studies import o5
from liegg.studies.provenance import provenance, write_json


def build(seed: int, gain: float) -> torch.nn.Module:
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


def main() -> None:
    """Analyse two networks, print and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    begin = time.perf_counter()
    inputs = torch.randn(2_000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    networks: dict[str, Any] = {}
    for gain in (1.0, 4.0):
        sym = o5.extract(build(seed=1, gain=gain), inputs)
        networks[f"gain {gain:g}"] = o5.describe(sym) | {
            "relative_variance_of_ten": float(sym.spectrum.values[9] / sym.spectrum.values[-1]),
            "route": sym.settings["route"],
            "notes": list(sym.notes),
        }
        print(f"gain {gain:g}\n{sym}\n")
    versions = {"emlp": "1.0.3", "jax": jax.__version__, "numpy": np.__version__}
    record = provenance("make peer-emlp", seconds=time.perf_counter() - begin)
    record["versions"] |= versions
    write_json(
        {"study": "o5-emlp", "networks": networks, "provenance": record},
        chosen.out / "o5-emlp.json",
    )


if __name__ == "__main__":
    main()
