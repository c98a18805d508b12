"""Exact directions whose brackets leave their span: some of them are no symmetries, though no sample tells which."""

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.decision.decide import DataFacts, Decision, with_words
from liegg.decision.gap import gap_after, mixing_angle
from liegg.decision.grades import COUNTED, GRADES


def undecided_beyond(
    decision: Decision,
    values: Float[Tensor, " r"],
    facts: DataFacts,
    closed: int,
    *,
    residual: float,
) -> Decision:
    """The decision that counts the closed part of the exact directions, leaves the rest undecided, and counts nothing else.

    Args:
        decision: the decision, with the directions of the closed part first.
        values: all defects.
        facts: what it knew of the data.
        closed: dimension of the closed part.
        residual: how far brackets of the exact directions leave their span.
    """
    exact = decision.exact
    warning = Diagnosis.EXACT_UNDECIDED(directions=exact, left=exact - closed, residual=residual)
    weaker = ("weak" if grade in COUNTED else grade for grade in decision.grades[exact:])
    fewer = replace(
        decision,
        nullity=closed,
        exact=closed,
        undecided=exact - closed,
        levels=(closed,) * len(decision.levels),
        grades=("exact",) * closed + ("none",) * (exact - closed) + tuple(weaker),
        borderline=((),) * exact + decision.borderline[exact:],
        gap=gap_after(values, exact, decision.floor),
        uncertainty=mixing_angle(values, closed, decision.floor),
        certainty=None,
        warnings=(*decision.warnings, warning),
    )
    return with_words(fewer, values, facts)


def lowered_beyond(
    decision: Decision,
    values: Float[Tensor, " r"],
    facts: DataFacts,
    closed: int,
    *,
    residual: float,
) -> Decision:
    """The decision whose exact directions are only their closed part, as all that count are closed; the rest joins the next level.

    Args:
        decision: the decision, with the directions of the closed part first.
        values: all defects.
        facts: what it knew of the data.
        closed: dimension of the closed part.
        residual: how far brackets of the exact directions leave their span.
    """
    exact, grade = decision.exact, decision.grades[decision.exact]
    warning = Diagnosis.EXACT_LOWERED(
        directions=exact, left=exact - closed, grade=grade, residual=residual
    )
    place = GRADES.index(grade)
    fewer = replace(
        decision,
        exact=closed,
        levels=(closed,) * place + decision.levels[place:],
        grades=("exact",) * closed + (grade,) * (exact - closed) + decision.grades[exact:],
        warnings=(*decision.warnings, warning),
    )
    return with_words(fewer, values, facts)
