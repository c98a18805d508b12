"""Stored results with planted answers: every claim holds, but for the depth under a row for each output."""

import json
from pathlib import Path
from typing import Any

from liegg.studies.provenance import STUDY_FORMAT

READINGS = ("paper, sum", "paper, each")
SEEDS = range(1, 9)


def stored(study: str, **content: Any) -> dict[str, Any]:
    """What all results have, and the content."""
    origin = {
        "command": f"liegg reproduce {study}",
        "date": "2026-11-15",
        "seconds": 1234.5,
        "device": "cpu",
        "versions": {"liegg": "0.1.0", "torch": "2.13.0"},
    }
    return {
        "study": study,
        "format": STUDY_FORMAT,
        "quick": False,
        "seeds": list(SEEDS),
        "provenance": origin,
    } | content


def o5_network(variance: float, **changes: Any) -> dict[str, Any]:
    spectrum = [variance] * 10 + [200 * variance] * 14 + [1000 * variance]
    return {
        "nullity": 10,
        "spectrum": spectrum,
        "mean_variance_of_ten": variance,
        "largest_bias_of_ten": 0.01,
        "gap": 200.0,
    } | changes


def o5(**content: Any) -> dict[str, Any]:
    means = {"100": 0.6, "1000": 0.14, "3000": 0.06, "10000": 0.062}
    networks = {
        size: [o5_network(mean * (1 + seed / 1000)) for seed in SEEDS]
        for size, mean in means.items()
    }
    control = {"spectrum": [1e-30] * 10 + [1.0] * 15, "largest_bias_of_ten": 1e-15}
    return (
        stored("o5", main_size=10_000, networks=networks, invariant_by_construction=control)
        | content
    )


def emlp(variance: float = 5e-32, bias: float = 7e-16) -> dict[str, Any]:
    """As `make peer-emlp` stores it, without a format."""
    networks = {"gain 1": {"relative_variance_of_ten": variance, "largest_bias_of_ten": bias}}
    return {"study": "o5-emlp", "networks": networks, "provenance": stored("o5-emlp")["provenance"]}


def image_network(bias: float) -> dict[str, Any]:
    row = {"spectrum": [1.0, 4.0, 5.0, 10.0], "variance": 1.0, "bias": [bias, 0.99, 0.999, 1.0]}
    return {"test_accuracy": 0.85, "readings": dict.fromkeys(READINGS, row)}


def image_networks(bias: float, count: int = 8) -> list[dict[str, Any]]:
    return [image_network(bias + 4e-4 * seed) for seed in range(count)]


def rotmnist(untrained: dict[str, Any] | None = None, **networks: Any) -> dict[str, Any]:
    trained = {"shallow": image_networks(0.08), "deep": image_networks(0.03)} | networks
    before = {kind: image_networks(0.5) for kind in trained} | (untrained or {})
    return stored("rotmnist", networks=trained, untrained=before)


def cifar10(**content: Any) -> dict[str, Any]:
    return (
        stored(
            "cifar10", data="CIFAR-10", networks=image_networks(0.03), untrained=image_networks(0.5)
        )
        | content
    )


def configuration(parameters: int, depth: int, seed: int) -> dict[str, Any]:
    """Variance falls with parameters; with depth it falls for the sum and rises for each output. Bias is smallest at depth 3."""
    spread = (1 - parameters / 400_000) * (1 + seed / 1000) / 1000
    bias = 0.03 + (200_000 - parameters) * 1e-7 + 0.004 * abs(depth - 3) + seed * 1e-5
    rows = {
        "paper, sum": {"variance": spread * (1 - 0.1 * depth), "bias": [bias, 0.99, 0.99, 0.99]},
        "paper, each": {"variance": spread * (1 + 0.1 * depth), "bias": [bias, 0.99, 0.99, 0.99]},
    }
    accuracy = 0.80 + 0.01 * depth + seed * 1e-5
    return {
        "parameters": parameters,
        "hidden_layers": depth,
        "seed": seed,
        "test_accuracy": accuracy,
        "readings": rows,
    }


def configurations(**content: Any) -> dict[str, Any]:
    counts, depths = (40_000, 120_000, 200_000), range(1, 7)
    networks = [
        configuration(count, depth, seed) for count in counts for depth in depths for seed in SEEDS
    ]
    window = {"variance": {"rho": -0.57, "p": 1e-30}, "bias": {"rho": -0.33, "p": 1e-9}}
    beside = {"variance": {"rho": -0.61, "p": 1e-40}, "bias": {"rho": -0.11, "p": 0.02}}
    correlations = {reading: {"1-5": window, "2-6": beside} for reading in READINGS}
    return stored("configurations", networks=networks, correlations=correlations) | content


def draws(**content: Any) -> dict[str, Any]:
    """Two draws with the correlations of the configurations, and a little more."""
    found = configurations()["correlations"]
    both = [
        {
            "draw": draw,
            "networks": 360,
            "correlations": {
                reading: {
                    name: one | {"rho": one["rho"] + draw / 100}
                    for name, one in windows["1-5"].items()
                }
                for reading, windows in found.items()
            },
        }
        for draw in (1, 2)
    ]
    return stored("draws", **({"draws": both} | content))


def layerwise(**content: Any) -> dict[str, Any]:
    """All claims hold: regimes meet in the last two layers, and differ by a factor of three before."""

    def network(seed: int, layers: int, factor: float) -> dict[str, Any]:
        scale = 1 + seed / 100
        rows = [
            {"variance": scale * 0.001 * factor, "bias": scale * 0.02 * factor}
            for _ in range(layers - 2)
        ]
        rows += [{"variance": scale * 0.002, "bias": scale * 0.03}] * 2
        return {"readings": dict.fromkeys(READINGS, rows)}

    networks = {
        "MLP-7": [network(seed, 8, 3.0) for seed in SEEDS],
        "sub MLP-3": [network(seed, 5, 1.0) for seed in SEEDS],
        "MLP-7[F]": [network(seed, 8, 1.0) for seed in SEEDS],
        "MLP-7[L]": [network(seed, 8, 1.1) for seed in SEEDS],
    }
    for net in networks["sub MLP-3"]:  # three hidden layers and the logits
        for reading in READINGS:
            net["readings"][reading] = net["readings"][reading][1:]
    return stored("layerwise", networks=networks) | content


def samples(**content: Any) -> dict[str, Any]:
    """Both claims hold: the paper's shares suffice, and for the images a smaller one does not."""
    rows = [(0.0025, 0.08, 0.011), (0.01, 0.085, 0.011), (0.1, 0.09, 0.010), (1.0, 0.1, 0.008)]
    vectors = [
        {
            "fraction": share,
            "samples": round(share * 10_000),
            "mean_variance_of_ten": variance,
            "mean_bias_of_ten": bias,
        }
        for share, variance, bias in rows
    ]
    shares = [(0.01, 0.1), (0.05, 0.01), (1.0, 0.0)]
    images = [
        [
            {
                "fraction": share,
                "samples": round(share * 10_000),
                "readings": {
                    reading: {"variance": 1.0, "bias": 0.04 + change + 0.03 * (-1) ** seed}
                    for reading in READINGS
                },
            }
            for share, change in shares
        ]
        for seed in SEEDS
    ]
    content = {
        "o5": {"networks": [vectors for _ in SEEDS]},
        "rotmnist": {"networks": images},
    } | content
    return stored("sample-complexity", **content)


def everything() -> dict[str, dict[str, Any]]:
    """All studies by name."""
    return {
        "o5": o5(),
        "o5-emlp": emlp(),
        "rotmnist": rotmnist(),
        "cifar10": cifar10(),
        "configurations": configurations(),
        "draws": draws(),
        "layerwise": layerwise(),
        "sample-complexity": samples(),
        "false-discovery": stored("false-discovery"),
        "traps": stored("traps"),
    }


def store(folder: Path, *results: dict[str, Any]) -> Path:
    """Write results as the studies do."""
    for value in results:
        (folder / f"{value['study']}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder
