"""Stage 7, results: the frozen records, as text and on disk.

Records, and functions of them, load on first use: `liegg.results.Decision`, `Candidate`, `Comparison`, `rank_among`, ...
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Accumulated": "liegg.results.accumulated",
    "Candidate": "liegg.results.account",
    "Certainty": "liegg.decision.intervals",
    "Comparison": "liegg.results.comparison",
    "Controls": "liegg.decision.controls",
    "Decision": "liegg.decision.decide",
    "Diagnosis": "liegg._utils.diagnoses",
    "GroupComparison": "liegg.results.group_comparison",
    "GroupSymmetries": "liegg.results.group_symmetries",
    "Identification": "liegg.algebra.identification",
    "LayerComparison": "liegg.results.layer_comparison",
    "LayerErrors": "liegg.results.layer_errors",
    "LayerSymmetries": "liegg.results.layers",
    "RankTest": "liegg.decision.controls",
    "Remark": "liegg._utils.diagnoses",
    "Symmetries": "liegg.results.symmetries",
    "Verification": "liegg.results.verification",
    "load_group": "liegg.results.group_storage",
    "load_layer_errors": "liegg.results.layer_storage",
    "load_layers": "liegg.results.layer_storage",
    "rank_among": "liegg.results.control_models",
    "with_verification": "liegg.results.verified",
}

__all__ = [*_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'liegg.results' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
