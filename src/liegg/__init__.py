"""Which continuous symmetries has a trained model learned, how well, and can you trust the answer?

Public names load on first use, so that `import liegg` and `liegg --help` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from liegg._utils.version import __version__

if TYPE_CHECKING:
    from liegg import actions, algebra, results, testing
    from liegg._utils.errors import LieggError
    from liegg.actions import Action, Affine, Color, Image, Linear, Product, Sequence, Volume
    from liegg.algebra import identify
    from liegg.algebra.catalog import scaling, se, so, translation
    from liegg.decision.thresholds import Thresholds
    from liegg.discovery.compare import compare
    from liegg.discovery.data.discover_data import discover_data
    from liegg.discovery.discover import discover
    from liegg.discovery.group.discover_group import discover_group
    from liegg.discovery.layers.discover_layers import discover_layers
    from liegg.discovery.layers.errors.layer_errors import layer_errors
    from liegg.discovery.run import Run
    from liegg.discovery.verification.verify import verify
    from liegg.inputs import foreign
    from liegg.report import plots as plot
    from liegg.results.load import load
    from liegg.results.symmetries import Symmetries

_HOMES = {
    "liegg._utils.errors": ("LieggError",),
    "liegg.actions": (
        "Action",
        "Affine",
        "Color",
        "Image",
        "Linear",
        "Product",
        "Sequence",
        "Volume",
    ),
    "liegg.algebra": ("identify",),
    "liegg.algebra.catalog": ("scaling", "se", "so", "translation"),
    "liegg.decision.thresholds": ("Thresholds",),
    "liegg.discovery.compare": ("compare",),
    "liegg.discovery.data.discover_data": ("discover_data",),
    "liegg.discovery.discover": ("discover",),
    "liegg.discovery.group.discover_group": ("discover_group",),
    "liegg.discovery.layers.discover_layers": ("discover_layers",),
    "liegg.discovery.layers.errors.layer_errors": ("layer_errors",),
    "liegg.discovery.run": ("Run",),
    "liegg.discovery.verification.verify": ("verify",),
    "liegg.results.load": ("load",),
    "liegg.results.symmetries": ("Symmetries",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {
    "actions": "liegg.actions",
    "algebra": "liegg.algebra",
    "foreign": "liegg.inputs.foreign",
    "plot": "liegg.report.plots",
    "results": "liegg.results",
    "testing": "liegg.testing",
}

__all__ = [
    "Action",
    "Affine",
    "Color",
    "Image",
    "LieggError",
    "Linear",
    "Product",
    "Run",
    "Sequence",
    "Symmetries",
    "Thresholds",
    "Volume",
    "__version__",
    "actions",
    "algebra",
    "compare",
    "discover",
    "discover_data",
    "discover_group",
    "discover_layers",
    "foreign",
    "identify",
    "layer_errors",
    "load",
    "plot",
    "results",
    "scaling",
    "se",
    "so",
    "testing",
    "translation",
    "verify",
]

_MOVED = {
    **dict.fromkeys(
        ("Banded", "Blocks", "Irrep", "KroneckerSum", "Tensor", "Weights", "smooth"),
        "liegg.actions.{}",
    ),
    **dict.fromkeys(
        ("aff", "diagonal", "direct_sum", "gl", "heis", "o", "shear", "sl", "sp", "su", "u"),
        "liegg.algebra.{}",
    ),
    **dict.fromkeys(
        ("Comparison", "Decision", "Identification", "LayerSymmetries", "Verification"),
        "liegg.results.{}",
    ),
    "memory": "liegg.polarization.memory",
}
"""Names of earlier versions, and where they are now."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        hint = f"; it is {_MOVED[name].format(name)} now" if name in _MOVED else ""
        raise AttributeError(f"module 'liegg' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
