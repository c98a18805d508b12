"""All families of traps, and the cases of a series."""

from dataclasses import dataclass

from liegg.studies.error_rates.traps_algebras import ALGEBRA_TRAPS
from liegg.studies.error_rates.traps_hidden import HIDDEN
from liegg.studies.error_rates.traps_models import MODELS
from liegg.studies.error_rates.traps_outputs import OUTPUTS
from liegg.studies.error_rates.traps_record import Maker, Trap, seeded
from liegg.studies.error_rates.traps_samples import SAMPLE_TRAPS
from liegg.studies.error_rates.traps_scales import SCALES

THEMES: dict[str, dict[str, Maker]] = {
    "hidden derivatives": HIDDEN,
    "scales": SCALES,
    "samples": SAMPLE_TRAPS,
    "functions": MODELS,
    "algebras": ALGEBRA_TRAPS,
    "equivariance": OUTPUTS,
}

FAMILIES: dict[str, Maker] = {
    name: maker for families in THEMES.values() for name, maker in families.items()
}
"""Every family by its name."""

WEIGHTS = {
    "hidden derivatives": 20,
    "scales": 30,
    "samples": 32,
    "functions": 32,
    "algebras": 30,
    "equivariance": 24,
}
"""Cases of each family of a theme in the full form."""

MORE = {"less common algebras": 92, "random functions": 100, "invariant networks": 100}
"""Families with more cases than others of their theme."""


@dataclass(frozen=True)
class Key:
    """Which case: its family, its place there, and the seed of the series."""

    family: str
    index: int
    seed: int


def make(key: Key) -> Trap:
    """The trap of a key."""
    generator = seeded(key.family, key.index, seed=key.seed)
    return FAMILIES[key.family](generator, key.index)


def cases(seed: int, *, each: int | None = None) -> list[Key]:
    """The cases of a series, family by family.

    Args:
        seed: seed of the series.
        each: number of cases of each family; by default that of the full form.
    """
    counts = {
        family: each or MORE.get(family, WEIGHTS[theme])
        for theme, families in THEMES.items()
        for family in families
    }
    return [Key(family, index, seed) for family, count in counts.items() for index in range(count)]
