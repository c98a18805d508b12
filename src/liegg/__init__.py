"""Which continuous symmetries has a trained model learned, how well, and can you trust the answer?

Public names load on first use, so that `import liegg` and `liegg --help` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from liegg._utils.version import __version__

if TYPE_CHECKING:
    from liegg import algebra, testing
    from liegg._utils.errors import LieggError
    from liegg.actions import (
        Action,
        Affine,
        Banded,
        Blocks,
        Color,
        Image,
        KroneckerSum,
        Linear,
        Product,
        Sequence,
        Volume,
        Weights,
        smooth,
    )
    from liegg.algebra import Identification, identify
    from liegg.algebra.catalog import (
        aff,
        diagonal,
        direct_sum,
        gl,
        heis,
        o,
        scaling,
        se,
        shear,
        sl,
        so,
        sp,
        su,
        translation,
        u,
    )
    from liegg.decision.decide import Decision
    from liegg.discovery.compare import compare
    from liegg.discovery.discover import discover
    from liegg.discovery.layers.discover_layers import discover_layers
    from liegg.discovery.verification.verify import verify
    from liegg.polarization import memory
    from liegg.report import plots as plot
    from liegg.results.comparison import Comparison
    from liegg.results.layers import LayerSymmetries
    from liegg.results.storage import load
    from liegg.results.symmetries import Symmetries
    from liegg.results.verification import Verification

_HOME = (
    {
        "Comparison": "liegg.results.comparison",
        "Decision": "liegg.decision.decide",
        "Identification": "liegg.algebra",
        "LayerSymmetries": "liegg.results.layers",
        "LieggError": "liegg._utils.errors",
        "Symmetries": "liegg.results.symmetries",
        "Verification": "liegg.results.verification",
        "compare": "liegg.discovery.compare",
        "discover": "liegg.discovery.discover",
        "discover_layers": "liegg.discovery.layers.discover_layers",
        "identify": "liegg.algebra",
        "load": "liegg.results.storage",
        "verify": "liegg.discovery.verification.verify",
    }
    | dict.fromkeys(
        (
            "Action",
            "Affine",
            "Banded",
            "Blocks",
            "Color",
            "Image",
            "KroneckerSum",
            "Linear",
            "Product",
            "Sequence",
            "Volume",
            "Weights",
            "smooth",
        ),
        "liegg.actions",
    )
    | dict.fromkeys(
        (
            "aff",
            "diagonal",
            "direct_sum",
            "gl",
            "heis",
            "o",
            "scaling",
            "se",
            "shear",
            "sl",
            "so",
            "sp",
            "su",
            "translation",
            "u",
        ),
        "liegg.algebra.catalog",
    )
)
_MODULES = {
    "algebra": "liegg.algebra",
    "memory": "liegg.polarization.memory",
    "plot": "liegg.report.plots",
    "testing": "liegg.testing",
}

__all__ = [
    "Action",
    "Affine",
    "Banded",
    "Blocks",
    "Color",
    "Comparison",
    "Decision",
    "Identification",
    "Image",
    "KroneckerSum",
    "LayerSymmetries",
    "LieggError",
    "Linear",
    "Product",
    "Sequence",
    "Symmetries",
    "Verification",
    "Volume",
    "Weights",
    "__version__",
    "aff",
    "algebra",
    "compare",
    "diagonal",
    "direct_sum",
    "discover",
    "discover_layers",
    "gl",
    "heis",
    "identify",
    "load",
    "memory",
    "o",
    "plot",
    "scaling",
    "se",
    "shear",
    "sl",
    "smooth",
    "so",
    "sp",
    "su",
    "testing",
    "translation",
    "u",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'liegg' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
