"""The tables of docs/layers.md on trained classifiers, from results/layer-errors.json."""

from typing import Any

from liegg._utils.text import percentage
from result_files import DOCS, put_tables

PAGE = DOCS / "layers.md"

NETWORKS = {"resnet20": "ResNet-20", "resnet56": "ResNet-56"}

CAUSES = (
    "padding",
    "stride or pooling",
    "nonlinearity",
    "filters",
    "interpolation",
    "global pooling",
)

MENTIONED = 3
"""Layers that change most predictions alone."""


def tables(stored: dict[str, Any]) -> dict[str, str]:
    """The tables, by the name of their place."""
    return {
        "causes": _causes(stored),
        "relu6": _relu6(stored),
        "changed": _changed(stored),
        "defects": _defects(stored),
    }


def size_words(one: dict[str, Any]) -> str:
    """A motion with its size."""
    size = f"{one['size']:g}"
    unit = {"°": "°", "%": " %", "pixels": " pixel" + "s" * (size != "1")}[one["unit"]]
    return f"{one['motion']} by {size}{unit}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _measured(stored: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every motion in both networks, motion by motion."""
    pairs = zip(*(stored[name]["motions"] for name in NETWORKS), strict=True)
    return [
        (label, one) for pair in pairs for label, one in zip(NETWORKS.values(), pair, strict=True)
    ]


def _causes(stored: dict[str, Any]) -> str:
    """What the output changes by, and the share of every cause in what all layers add."""
    heads = ["motion", "network", "output changes by", "effects of all layers", *CAUSES]
    rows = []
    for label, one in _measured(stored):
        whole = sum(layer["effect"] for layer in one["layers"].values())
        shares = [_percent(one["by_cause"].get(cause, 0.0)) for cause in CAUSES]
        rows.append([size_words(one), label, _percent(one["output"]), _percent(whole), *shares])
    return _lines(heads, rows)


def _relu6(stored: dict[str, Any]) -> str:
    """The same of ResNet-20 with ReLU and with ReLU6."""
    heads = ["motion", "nonlinearity", "output changes by", *CAUSES]
    pairs = zip(*(stored[name]["motions"] for name in ("resnet20", "resnet20-relu6")), strict=True)
    rows = [
        [
            size_words(one),
            label,
            _percent(one["output"]),
            *(_percent(one["by_cause"].get(cause, 0.0)) for cause in CAUSES),
        ]
        for pair in pairs
        for label, one in zip(("ReLU", "ReLU6"), pair, strict=True)
    ]
    return _lines(heads, rows)


def _changed(stored: dict[str, Any]) -> str:
    """The layers whose error changes most predictions alone."""
    rows = []
    for label, one in _measured(stored):
        layers = one["layers"]
        worst = sorted(layers, key=lambda name: -layers[name]["changed"])[:MENTIONED]
        cells = [f"`{name}` {percentage(layers[name]['changed'])}" for name in worst]
        rows.append([size_words(one), label, ", ".join(cells)])
    return _lines(["motion", "network", "predictions that single layers change"], rows)


def _defects(stored: dict[str, Any]) -> str:
    """Defects of named motions at the end of every stage and at the output."""
    motions = list(stored["resnet20"]["layers"])
    rows = []
    for name, label in NETWORKS.items():
        found = stored[name]["layers"]
        blocks = list(found[motions[0]])
        ends = [
            [block for block in blocks if block.startswith(f"layer{i}.")][-1] for i in (1, 2, 3)
        ]
        rows += [
            [f"{label}, `{place}`", *(f"{found[motion][place][0]:.2g}" for motion in motions)]
            for place in (*ends, "linear")
        ]
    return _lines(["after", *motions], rows)


def _lines(heads: list[str], rows: list[list[str]]) -> str:
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def write_page(stored: dict[str, Any]) -> None:
    """Put the tables into the page."""
    put_tables(PAGE, tables(stored))
