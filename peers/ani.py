"""ANI-1ccx, a potential of eight networks with its published weights: its energy has E(3) and permutes like atoms, its forces turn.

Runs in an environment of its own (`make peer-ani`), because the weights are in torchani 2.0 only. Stores results/ani.json, and runs
its part of docs/howto-packages.md.
"""

import argparse
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import shown
import torch
from torch import Tensor, nn

import liegg
from liegg.studies.provenance import provenance, write_json

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for parts that only training needs
    import torchani

MOLECULES: dict[str, tuple[tuple[int, ...], tuple[tuple[float, float, float], ...]]] = {
    "water": ((8, 1, 1), ((0.0, 0.0, 0.117), (0.0, 0.757, -0.469), (0.0, -0.757, -0.469))),
    "ammonia": (
        (7, 1, 1, 1),
        (
            (0.0, 0.0, 0.116),
            (0.0, 0.940, -0.271),
            (0.814, -0.470, -0.271),
            (-0.814, -0.470, -0.271),
        ),
    ),
    "methane": (
        (6, 1, 1, 1, 1),
        (
            (0.0, 0.0, 0.0),
            (0.629, 0.629, 0.629),
            (-0.629, -0.629, 0.629),
            (-0.629, 0.629, -0.629),
            (0.629, -0.629, -0.629),
        ),
    ),
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

POSITIONS = {1: liegg.Affine(3)}
"""What moves in `(species, coordinates)`."""

RIGID = 6

MIRROR = torch.diag(torch.tensor([1.0, 1.0, -1.0], dtype=torch.float64))

CONFORMATIONS = 64
"""Conformations of each molecule that are searched on, and as many that are judged on."""


class Energy(nn.Module):
    """Energy of one molecule, from the places of its atoms."""

    def __init__(self, potential: nn.Module, numbers: tuple[int, ...]) -> None:
        super().__init__()
        self.potential = potential
        self.register_buffer("numbers", torch.tensor(numbers))

    def forward(self, places: Tensor) -> Tensor:
        """Energies `[b]` in hartree of molecules `[b, atoms, 3]`."""
        return self.potential((self.numbers.expand(len(places), -1), places)).energies


class Forces(nn.Module):
    """Minus the gradient of the energy, one vector per atom."""

    def __init__(self, potential: nn.Module) -> None:
        super().__init__()
        self.potential = potential

    def forward(self, species_coordinates: tuple[Tensor, Tensor]) -> Tensor:
        """In the way of most scripts, which `torch.func` cannot look into."""
        species, coordinates = species_coordinates
        with torch.enable_grad():
            moved = (
                coordinates if coordinates.requires_grad else coordinates.detach().requires_grad_()
            )
            energies = self.potential((species, moved)).energies
            return -torch.autograd.grad(energies.sum(), moved, create_graph=True)[0]


def conformations(each: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Every molecule with its atoms displaced a little; none is rotated or shifted, so the data shows no symmetry."""
    draw = torch.Generator().manual_seed(seed)
    samples = []
    for numbers, places in MOLECULES.values():
        start = torch.tensor(places, dtype=torch.float64)
        for _ in range(each):
            noise = NOISE * torch.randn(start.shape, generator=draw, dtype=torch.float64)
            samples.append((torch.tensor(numbers), start + noise))
    return samples


def displaced(molecule: str, count: int, seed: int) -> Tensor:
    """One molecule `[count, atoms, 3]` with its atoms displaced a little."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.tensor(MOLECULES[molecule][1], dtype=torch.float64)
    return places + NOISE * torch.randn(count, *places.shape, generator=draw, dtype=torch.float64)


def group_of(potential: nn.Module, molecule: str, count: int) -> dict[str, Any]:
    """The complete group of the energy of one molecule, and what a mirror changes, as JSON values."""
    model = Energy(potential, MOLECULES[molecule][0])
    x, held_out = displaced(molecule, count, 0), displaced(molecule, count, 1)
    start = time.perf_counter()
    found = liegg.discover_group(
        model, x, liegg.Affine(3, copies=x.shape[1]), held_out=held_out, starts=0
    )
    print(found)
    with torch.no_grad():
        energies = model(held_out)
        change = (model(held_out @ MIRROR) - energies).square().mean().sqrt()
    return {
        "name": found.name,
        "order": found.order,
        "says": str(found.sentence),
        "samples": count,
        "mirror_over_spread": float(change / energies.std()),
        "largest_effect": max(
            one.effect for one in (*found.elements[1:], *found.permutations, *found.not_testable)
        ),
        "not_testable": [one.words for one in found.not_testable],
        "notes": list(found.notes),
        "seconds": time.perf_counter() - start,
    }


def described(sym: liegg.Symmetries, seconds: float) -> dict[str, Any]:
    """What was found, as JSON values."""
    return {
        "samples": sym.samples,
        "candidates": sym.action.size,
        "nullity": sym.nullity,
        "name": sym.name,
        "grades": list(sym.decision.grades[: sym.nullity]),
        "largest_defect_found": float(sym.defects[sym.nullity - 1]) if sym.nullity else None,
        "next_defect": float(sym.defects[sym.nullity]),
        "angle_to_se3": float(sym.angles(liegg.se(3)).max()) if sym.nullity == RIGID else None,
        "route": sym.settings["route"],
        "says": sym.sentence,
        "notes": list(sym.notes),
        "seconds": seconds,
    }


def main() -> None:
    """Analyse energy and forces; print and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--each", type=int, default=12, help="conformations of every molecule")
    parser.add_argument(
        "--conformations", type=int, default=CONFORMATIONS, help="of every molecule, for its group"
    )
    chosen = parser.parse_args()
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        potential = torchani.models.ANI1ccx(periodic_table_index=True).double()
    data, held_out = conformations(chosen.each, 0), conformations(max(2, chosen.each // 5), 1)

    start = time.perf_counter()
    energy = liegg.discover(potential, data, POSITIONS, held_out=held_out)
    found = {"energy": described(energy, time.perf_counter() - start)}
    check = energy.verification
    found["energy"] |= {
        "holds": check is not None and check.holds,
        "largest_change": None
        if check is None
        else max(float(curve.change.max()) for curve in check.curves),
    }
    print(energy)
    start = time.perf_counter()
    forces = liegg.discover(
        Forces(potential),
        data[:: max(1, chosen.each // 10)],
        POSITIONS,
        output_action=liegg.Linear(3),
    )
    print(forces)
    turns = forces.output_generators.flatten(1).norm(dim=1) > 1e-6
    found["forces"] = described(forces, time.perf_counter() - start) | {
        "output_name": liegg.identify(forces.output_generators[turns]).name
    }
    found["groups"] = {
        molecule: group_of(potential, molecule, chosen.conformations) for molecule in MOLECULES
    }
    record = provenance("make peer-ani", seconds=time.perf_counter() - begin)
    record["versions"] |= {"torchani": version("torchani")}
    weights = sum(weight.numel() for weight in potential.parameters())
    write_json(
        {"study": "ani", "model": "ANI-1ccx", "parameters": weights, **found, "provenance": record},
        chosen.out / "ani.json",
    )


if __name__ == "__main__":
    main()
    shown.check("ani")
