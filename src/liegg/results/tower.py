"""The tower: exact, strong, approximate and weak symmetries, each level an algebra that contains the one before."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from liegg._utils.diagnoses import plural
from liegg.actions import Action
from liegg.algebra.identification import Identification
from liegg.decision.decide import Decision
from liegg.decision.directions import symmetry_directions
from liegg.decision.gap import mixing_angle
from liegg.decision.grades import GRADES
from liegg.results.accumulated import Accumulated
from liegg.results.naming import name_symmetries, questioned


@dataclass(frozen=True)
class Level:
    """All directions up to a grade.

    Attributes:
        grade: the worst grade among them.
        dimension: how many they are.
        name: name of their algebra; "unknown" if it has none.
        confident: whether the name is sure.
        largest: their largest defect δ²; where a verification lowered a grade, the largest change under finite transformations
            relative to that of an average direction.
        effect: change of the output relative to its spread that the last of them makes, to first order, when it moves the data as
            far as the data's own spread.
    """

    grade: str
    dimension: int
    name: str
    confident: bool
    largest: float
    effect: float


def tower_of(
    action: Action,
    accumulated: Accumulated,
    decision: Decision,
    identification: Identification,
    *,
    sizes: Sequence[float] = (),
) -> tuple[Level, ...]:
    """The levels that differ, smallest first; names those that the identification of the symmetries does not name.

    Args:
        action: the candidate generators.
        accumulated: what the pass left.
        decision: how many there are up to each grade.
        identification: the name of the counted ones.
        sizes: what the largest defects are taken of; by default the defects.
    """
    sizes, tower, before = sizes or accumulated.solution.values.tolist(), [], 0
    for grade, number in zip(GRADES, decision.levels, strict=False):
        if number == before:
            continue
        before, name = number, identification
        if number != decision.nullity:
            name = _named(action, accumulated, decision, number)
        largest = max(sizes[:number])
        tower.append(
            Level(
                grade=grade,
                dimension=number,
                name=name.name,
                confident=name.confident,
                largest=largest,
                effect=math.sqrt(decision.response * largest),
            )
        )
    return tuple(tower)


def _named(
    action: Action, accumulated: Accumulated, decision: Decision, number: int
) -> Identification:
    """Identify the first directions."""
    solution, exact = accumulated.solution, min(decision.levels[0], number)
    uncertainty = mixing_angle(solution.values, number, decision.floor)
    level = replace(decision, nullity=number, exact=exact, uncertainty=uncertainty)
    coefficients = symmetry_directions(solution, level)
    found = name_symmetries(
        action, coefficients, uncertainty=uncertainty, exact=exact == number, brief=True
    )
    return questioned(found, action, accumulated, level)


def in_words(tower: Sequence[Level], nullity: int) -> str:
    """The levels in one line; empty if there is only the counted one.

    >>> in_words(
    ...     [
    ...         Level("exact", 1, "so(2)", True, 0.0, 0.0),
    ...         Level("weak", 3, "so(3)", True, 0.04, 0.3),
    ...     ],
    ...     1,
    ... )
    'exact: so(2); up to 20 %: so(3), not counted'
    """
    if not tower or (len(tower) == 1 and tower[0].dimension == nullity):
        return ""
    parts = []
    for level in tower:
        size = (
            "exact" if level.grade == "exact" else f"up to {100 * math.sqrt(level.largest):.2g} %"
        )
        name = f"{level.name}{'' if level.confident else ' (not sure)'}"
        if level.name == "unknown":
            name = plural(level.dimension, "direction")
        parts.append(f"{size}: {name}{', not counted' * (level.dimension > nullity)}")
    return "; ".join(parts)
