"""The EMLP of `emlp_o5.py` in JAX itself: `liegg.foreign.from_jax` instead of emlp's bridge to torch.

It has the weights of the network in torch. The two are not the same function, because emlp draws the terms of its bilinear layers
for each network; both are O(5)-invariant by construction.

Runs in the environment of `make peer-emlp`. Stores results/o5-emlp-jax.json, and runs its part of docs/howto-packages.md.
"""

from typing import Any

import emlp_o5  # first: it switches jax to float64 before emlp is imported
import jax
import numpy as np
import shown
import torch
from emlp.groups import O
from emlp.nn import objax
from emlp.reps import Scalar, V
from torch import Tensor, nn

import liegg


def in_jax(model: nn.Module) -> Any:
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


def described(bridged: nn.Module, inputs: Tensor) -> dict[str, Any]:
    """What was found for the network in JAX, and how far it is from the one in torch."""
    network = in_jax(bridged)
    with torch.no_grad():
        there = bridged(inputs[:100]).numpy()
    here = np.asarray(network(jax.numpy.asarray(inputs[:100].numpy())))
    found = emlp_o5.extracted(liegg.foreign.from_jax(network, name="EMLP"), inputs)
    return found | {
        "difference_from_torch": float(np.abs(here - there).max() / np.abs(there).max())
    }


if __name__ == "__main__":
    emlp_o5.run("o5-emlp-jax", described)
    shown.check("emlp")
