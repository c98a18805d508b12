"""All families of traps, and the cases of a series."""

from collections.abc import Mapping
from dataclasses import dataclass

from liegg.studies.error_rates.traps_algebras import ALGEBRA_TRAPS
from liegg.studies.error_rates.traps_everyday import EVERYDAY
from liegg.studies.error_rates.traps_hidden import HIDDEN
from liegg.studies.error_rates.traps_layers import LAYERS
from liegg.studies.error_rates.traps_models import MODELS
from liegg.studies.error_rates.traps_names import NAMES, NameMaker, NameTrap
from liegg.studies.error_rates.traps_neighbours import NEIGHBOURS
from liegg.studies.error_rates.traps_outputs import OUTPUTS
from liegg.studies.error_rates.traps_record import Maker, Trap, seeded
from liegg.studies.error_rates.traps_samples import SAMPLE_TRAPS
from liegg.studies.error_rates.traps_scales import SCALES

THEMES: dict[str, Mapping[str, Maker | NameMaker]] = {
    "hidden derivatives": HIDDEN,
    "scales": SCALES,
    "samples": SAMPLE_TRAPS,
    "functions": MODELS,
    "neighbours": NEIGHBOURS,
    "algebras": ALGEBRA_TRAPS,
    "equivariance": OUTPUTS,
    "everyday": EVERYDAY | LAYERS,
    "names": NAMES,
}

FAMILIES: dict[str, Maker | NameMaker] = {
    name: maker for families in THEMES.values() for name, maker in families.items()
}
"""Every family by its name."""

WEIGHTS = {
    "hidden derivatives": 20,
    "scales": 30,
    "samples": 32,
    "functions": 32,
    "neighbours": 30,
    "algebras": 30,
    "equivariance": 24,
    "everyday": 24,
    "names": 60,
}
"""Cases of each family of a theme in the full form."""

MORE = {
    "verified on held-out samples": 8,
    "less common algebras": 92,
    "random functions": 100,
    "invariant networks": 100,
}
"""Families with more cases than others of their theme."""


@dataclass(frozen=True)
class Key:
    """Which case: its family, its place there, and the seed of the series."""

    family: str
    index: int
    seed: int


def make(key: Key) -> Trap | NameTrap:
    """The trap of a key."""
    generator = seeded(key.family, key.index, seed=key.seed)
    return FAMILIES[key.family](generator, key.index)


def cases(seed: int, *, each: int | None = None) -> list[Key]:
    """The cases of a series: the first of every family, then the second, and so on.

    Args:
        seed: seed of the series.
        each: number of cases of each family; by default that of the full form.
    """
    counts = {
        family: each or MORE.get(family, WEIGHTS[theme])
        for theme, families in THEMES.items()
        for family in families
    }
    keys = [Key(family, index, seed) for family, count in counts.items() for index in range(count)]
    return sorted(keys, key=lambda key: key.index)
