"""All families of traps, the cases of a series, and the verdicts on them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liegg.studies.error_rates.cases import Maker, Trap, seeded
from liegg.studies.error_rates.tally import Row, upper_limit
from liegg.studies.error_rates.traps_algebras import ALGEBRA_TRAPS
from liegg.studies.error_rates.traps_everyday import EVERYDAY_TRAPS
from liegg.studies.error_rates.traps_hidden import HIDDEN_TRAPS
from liegg.studies.error_rates.traps_judgement import CLAIM_LEVELS, VERDICTS, judge_trap
from liegg.studies.error_rates.traps_layers import LAYER_TRAPS
from liegg.studies.error_rates.traps_models import MODEL_TRAPS
from liegg.studies.error_rates.traps_names import NAME_TRAPS, NameMaker, NameTrap, judge_name
from liegg.studies.error_rates.traps_neighbours import NEIGHBOUR_TRAPS
from liegg.studies.error_rates.traps_outputs import OUTPUT_TRAPS
from liegg.studies.error_rates.traps_samples import SAMPLE_TRAPS
from liegg.studies.error_rates.traps_scales import SCALE_TRAPS

THEMES: dict[str, Mapping[str, Maker | NameMaker]] = {
    "hidden derivatives": HIDDEN_TRAPS,
    "scales": SCALE_TRAPS,
    "samples": SAMPLE_TRAPS,
    "functions": MODEL_TRAPS,
    "neighbours": NEIGHBOUR_TRAPS,
    "algebras": ALGEBRA_TRAPS,
    "equivariance": OUTPUT_TRAPS,
    "everyday": EVERYDAY_TRAPS | LAYER_TRAPS,
    "names": NAME_TRAPS,
}

TRAP_FAMILIES: dict[str, Maker | NameMaker] = {
    name: maker for families in THEMES.values() for name, maker in families.items()
}
"""Every family by its name."""

FAMILY_SIZES = {
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

LARGER_FAMILIES = {
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
    return TRAP_FAMILIES[key.family](generator, key.index)


def cases(seed: int, *, each: int | None = None) -> list[Key]:
    """The cases of a series: the first of every family, then the second, and so on.

    Args:
        seed: seed of the series.
        each: number of cases of each family; by default that of the full form.
    """
    counts = {
        family: each or LARGER_FAMILIES.get(family, FAMILY_SIZES[theme])
        for theme, families in THEMES.items()
        for family in families
    }
    keys = [Key(family, index, seed) for family, count in counts.items() for index in range(count)]
    return sorted(keys, key=lambda key: key.index)


def judged(key: Key) -> Row:
    """A case: its key, its verdict and its numbers."""
    theme = next(theme for theme, families in THEMES.items() if key.family in families)
    row = {"family": key.family, "theme": theme, "index": key.index, "seed": key.seed}
    trap = make(key)
    try:
        return row | (judge_name(trap) if isinstance(trap, NameTrap) else judge_trap(trap))
    except Exception as error:
        error.add_note(f"The case was {key}.")
        raise


def tally(rows: Sequence[Row]) -> dict[str, Any]:
    """Verdicts of some cases, their false claims by kind and level, and the upper limit of the rate.

    Returns:
        `cases`; a number for each of `VERDICTS`; `findable`, cases with symmetries that the data
        show, and `found`, the right ones of these; `undergraded`, right ones whose exact symmetries
        have a lower grade; `claims` and `levels` of the confident wrong ones, each case once at its
        strongest false level; `upper`, the upper end of the interval of their rate.
    """
    verdicts = Counter(row["verdict"] for row in rows)
    wrong = [row for row in rows if row["verdict"] == VERDICTS[-1]]
    strongest = Counter(
        min((one["level"] for one in row["false"]), key=CLAIM_LEVELS.index) for row in wrong
    )
    findable = [row for row in rows if row["decidable"] and row["findable"]]
    claims = Counter(claim for row in wrong for claim in {one["claim"] for one in row["false"]})
    return {
        "cases": len(rows),
        **{verdict: verdicts[verdict] for verdict in VERDICTS},
        "findable": len(findable),
        "found": sum(row["verdict"] == VERDICTS[0] for row in findable),
        "undergraded": sum(row.get("undergraded", False) for row in rows),
        "claims": dict(sorted(claims.items())),
        "levels": {level: strongest[level] for level in CLAIM_LEVELS},
        "upper": upper_limit(len(wrong), len(rows)),
    }


def tally_by(key: str, rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The same for every value of `"family"` or `"theme"`, in the order of the cases."""
    return {
        value: tally([row for row in rows if row[key] == value])
        for value in dict.fromkeys(row[key] for row in rows)
    }
