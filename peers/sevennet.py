"""SevenNet-0, a potential with its published weights: its energy has SE(3), and mirror images of a molecule differ.

Runs in an environment of its own (`make peer-sevennet`). Stores results/sevennet.json.
"""

import argparse
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import liegg
from liegg.studies.provenance import provenance, write_json

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # parts that only training needs are missing
    from sevenn.calculator import SevenNetCalculator

MOLECULES: dict[str, tuple[tuple[int, ...], tuple[tuple[float, float, float], ...]]] = {
    "water": ((8, 1, 1), ((0.0, 0.0, 0.117), (0.0, 0.757, -0.469), (0.0, -0.757, -0.469))),
    "ethanol": (
        (6, 6, 8, 1, 1, 1, 1, 1, 1),
        (
            (1.168, -0.404, 0.0),
            (0.0, 0.554, 0.0),
            (-1.190, -0.215, 0.0),
            (2.117, 0.139, 0.0),
            (1.130, -1.044, 0.886),
            (1.130, -1.044, -0.886),
            (0.049, 1.200, 0.885),
            (0.049, 1.200, -0.885),
            (-1.946, 0.382, 0.0),
        ),
    ),
}
"""Atomic numbers, and places in ångström."""

NOISE = 0.06
"""Standard deviation of the displacement of every atom, in ångström."""

MIRROR = torch.diag(torch.tensor([1.0, 1.0, -1.0]))
ROTATION = torch.linalg.matrix_exp(liegg.so(3)[0].float())
CUTOFF = 5.0
"""Distance of neighbours in ångström; both molecules are smaller, so that all atoms are neighbours."""


class Energy(nn.Module):
    """Energy of a molecule in eV, from the places of its atoms."""

    def __init__(self, network: nn.Module, numbers: tuple[int, ...]) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("numbers", torch.tensor(numbers))
        pairs = [(i, j) for i in range(len(numbers)) for j in range(len(numbers)) if i != j]
        self.register_buffer("pairs", torch.tensor(pairs).T.contiguous())

    def forward(self, places: Tensor) -> Tensor:
        """Energies `[b]` of molecules `[b, atoms, 3]`."""
        count, atoms = places.shape[:2]
        first = atoms * torch.arange(count)
        edges = (self.pairs[:, None] + first[:, None]).flatten(1)
        flat = places.flatten(0, 1)
        graph: dict[str, Any] = {
            "atomic_numbers": self.numbers.repeat(count),
            "x": self.numbers.repeat(count),
            "pos": flat,
            "edge_index": edges,
            "edge_vec": flat[edges[1]] - flat[edges[0]],
            "batch": torch.arange(count).repeat_interleave(atoms),
            "num_atoms": torch.full((count,), atoms),
            "cell_volume": torch.ones(count, dtype=places.dtype),
        }
        return self.network(graph)["inferred_total_energy"]


def potential() -> nn.Module:
    """SevenNet-0 in its own precision, without the part that differentiates the energy."""
    network = SevenNetCalculator("7net-0", device="cpu").model
    network.delete_module_by_key("force_output")
    network.set_is_batch_data(True)
    network.key_grad = None
    return network.eval()


def conformations(molecule: str, count: int, seed: int) -> Tensor:
    """The molecule with its atoms displaced; none is rotated, shifted or reflected, so that the data shows no symmetry."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.tensor(MOLECULES[molecule][1], dtype=torch.float32)
    return places + NOISE * torch.randn(count, *places.shape, generator=draw, dtype=torch.float32)


def described(
    molecule: str, network: nn.Module, count: int, seed: int
) -> tuple[liegg.results.GroupSymmetries, dict[str, Any]]:
    """The group of the energy of one molecule, and what a mirror changes, as JSON values too."""
    model = Energy(network, MOLECULES[molecule][0])
    x, held_out = conformations(molecule, count, seed), conformations(molecule, count, seed + 1)
    with torch.no_grad():
        energies, mirrored = model(held_out), model(held_out @ MIRROR)
        turned = model(held_out @ ROTATION)
    start = time.perf_counter()
    found = liegg.discover_group(
        model, x, liegg.Affine(3, copies=x.shape[1]), held_out=held_out, starts=0
    )
    return found, {
        "atoms": x.shape[1],
        "samples": count,
        "spread_meV": 1000 * float(energies.std()),
        "mirror_meV": 1000 * float((mirrored - energies).square().mean().sqrt()),
        "largest_mirror_meV": 1000 * float((mirrored - energies).abs().max()),
        "rotation_meV": 1000 * float((turned - energies).square().mean().sqrt()),
        "name": found.name,
        "continuous": "" if found.continuous is None else found.continuous.name,
        "says": str(found.sentence),
        "seconds": time.perf_counter() - start,
    }


def title(row: dict[str, Any]) -> str:
    """The title of the page: what a mirror changes, in the unit of energies, which a model does not state."""
    return (
        f"SevenNet-0, ethanol: mirror images change the energy by {row['mirror_meV']:.2f} meV "
        f"(at most {row['largest_mirror_meV']:.2f} meV)"
    )


def main() -> None:
    """Analyse both molecules; print and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--page", type=Path, help="write the page of ethanol here")
    parser.add_argument("--samples", type=int, default=64)
    chosen = parser.parse_args()
    start, network = time.perf_counter(), potential()
    molecules: dict[str, Any] = {}
    for molecule in MOLECULES:
        found, molecules[molecule] = described(molecule, network, chosen.samples, 0)
        print(found, molecules[molecule], sep="\n\n", end="\n\n")
        if chosen.page is not None and molecule == "ethanol":
            found.report(
                chosen.page, samples=conformations(molecule, 4, 2), title=title(molecules[molecule])
            )
    record = provenance("make peer-sevennet", seconds=time.perf_counter() - start)
    record["versions"] |= {"sevenn": version("sevenn"), "e3nn": version("e3nn")}
    write_json(
        {"study": "sevennet", "model": "SevenNet-0", "molecules": molecules, "provenance": record},
        chosen.out / "sevennet.json",
    )


if __name__ == "__main__":
    main()
