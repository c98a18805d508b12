"""The EMLP of `emlp_o5.py` in JAX itself: `liegg.foreign.from_jax` instead of emlp's bridge to torch.

It has the weights of the network in torch. The two are not the same function, because emlp draws the terms of its bilinear layers
for each network; both are O(5)-invariant by construction.

Runs in the environment of `make peer-emlp`. Stores results/o5-emlp-jax.json.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import emlp_o5  # first: it switches jax to float64 before emlp is imported
import jax
import numpy as np
import torch
from emlp.groups import O
from emlp.nn import objax
from emlp.reps import Scalar, V

import liegg
from liegg.studies import o5
from liegg.studies.provenance import provenance, write_json


def in_jax(model: torch.nn.Module) -> Any:
    """The network in JAX with the weights of the one in torch."""
    network = objax.EMLP(2 * V, Scalar, group=O(5), ch=64, num_layers=3)
    weights = [value.numpy() for value in model.state_dict().values()]
    blocks = list(network.network)
    places = [
        place
        for block in blocks[:-1]
        for place in (block.linear.w, block.linear.b, block.bilinear.w)
    ]
    places += [blocks[-1].w, blocks[-1].b]
    for place, value in zip(places, weights, strict=True):
        if place.value.shape != value.shape:
            raise SystemExit(f"weights of shape {value.shape} do not fit {place.value.shape}")
        place.assign(jax.numpy.asarray(value), check=False)  # it knows older versions of jax
    return network


def main() -> None:
    """Analyse two networks, print and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    begin = time.perf_counter()
    inputs = torch.randn(2_000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    networks: dict[str, Any] = {}
    for gain in (1.0, 4.0):
        bridged = emlp_o5.build(seed=1, gain=gain)
        network = in_jax(bridged)
        with torch.no_grad():
            there = bridged(inputs[:100]).numpy()
        here = np.asarray(network(jax.numpy.asarray(inputs[:100].numpy())))
        sym = o5.extract(liegg.foreign.from_jax(network, name="EMLP"), inputs)
        networks[f"gain {gain:g}"] = o5.describe(sym) | {
            "relative_variance_of_ten": float(sym.spectrum.values[9] / sym.spectrum.values[-1]),
            "route": sym.settings["route"],
            "notes": list(sym.notes),
            "difference_from_torch": float(np.abs(here - there).max() / np.abs(there).max()),
        }
        print(f"gain {gain:g}\n{sym}\n")
    versions = {"emlp": "1.0.3", "jax": jax.__version__, "numpy": np.__version__}
    record = provenance("make peer-emlp", seconds=time.perf_counter() - begin)
    record["versions"] |= versions
    write_json(
        {"study": "o5-emlp-jax", "networks": networks, "provenance": record},
        chosen.out / "o5-emlp-jax.json",
    )


if __name__ == "__main__":
    main()
