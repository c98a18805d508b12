"""How much is measured for questions about named motions: how many samples are moved, how often, and by which motions."""

from typing import NamedTuple

from liegg.actions import Motion
from liegg.results.run_folder import STORED_SAMPLES
from liegg.results.symmetries import Symmetries

MOST_MOVED, FEWEST_MOVED = 256, 32
"""Most and fewest samples that are moved, as far as there are so many: with 32, a share of one half is known to ±17 %."""

FEWEST_SHOWN = 8
"""Samples below which the standard questions are answered by derivatives alone."""

STANDARD_SHARE = 0.035
"""Share of the evaluations of the analysis that the standard questions may take, beyond those of the first motion."""

MOVED_COST = 2.0
"""Evaluations of the model that a moved sample counts for: it is interpolated as well."""

FOLLOWED_GENERATORS = 6
"""Most generators of a motion that are followed; of more, evenly spaced ones."""


class Effort(NamedTuple):
    """How often every sample is moved.

    Attributes:
        angles: over a whole turn; several generators share them.
        fewest_angles: but each has this many at least.
        sizes: shares of the largest size at which other motions are measured, in both senses.
        directions: random directions for comparison, of every group of samples.
        levels: displacements at which these are measured; between two of them, values are interpolated.
    """

    angles: int
    fewest_angles: int
    sizes: tuple[float, ...]
    directions: int
    levels: int

    def angles_each(self, generators: int) -> int:
        """Angles of each of several generators."""
        return max(self.fewest_angles, self.angles // generators)

    def evaluations(self, motion: Motion) -> int:
        """How often each sample is moved by a motion, at most."""
        count = min(len(motion.generators), FOLLOWED_GENERATORS)
        both_senses = 2 * len(self.sizes)
        if motion.longest is not None:
            return both_senses * count
        return max(self.angles_each(count), both_senses) * count

    def times_shown(self, motion: Motion) -> int:
        """How often each sample whose predictions are stored is moved: by the first generator, in one sense."""
        if motion.longest is not None:
            return len(self.sizes)
        return max(
            self.angles_each(min(len(motion.generators), FOLLOWED_GENERATORS)), len(self.sizes)
        )


THOROUGH = Effort(angles=8, fewest_angles=4, sizes=(0.5, 1.0), directions=4, levels=3)
"""For motions that the user names."""

BRIEF = Effort(angles=4, fewest_angles=2, sizes=(1.0,), directions=1, levels=3)
"""For the standard set of motions, which are reported without being asked for."""


class Moves(NamedTuple):
    """What is moved.

    Attributes:
        samples: how many samples.
        names: motions that are tried at finite size; the others are answered by derivatives.
        effort: how often each sample is moved.
    """

    samples: int
    names: tuple[str, ...]
    effort: Effort


def plan_moves(sym: Symmetries, motions: dict[str, Motion], *, standard: bool) -> Moves:
    """Choose what is moved: everything for questions that were asked, what is affordable for the standard ones.

    The first standard motion always moves some samples: a fixed number of evaluations, so that the first sentence is about finite
    motions. The others may take a share of the model's evaluations in the analysis, a derivative counted as two. If not all motions
    are affordable, the first ones are tried.

    Args:
        sym: the analysis.
        motions: what is asked.
        standard: whether that is the standard set of the action.
    """
    names = tuple(motions)
    if not standard:
        return Moves(MOST_MOVED, names, THOROUGH)
    if sym.samples < FEWEST_SHOWN or not names:
        return Moves(FEWEST_MOVED, (), BRIEF)
    rows = sym.accumulated.rows.rows / max(1, sym.samples)
    each = (
        sym.action.row_action.size if sym.settings["route"] in ("jvp", "moved", "finite") else rows
    )
    affordable = STANDARD_SHARE * sym.samples * (1 + 2 * each) / MOVED_COST
    affordable += _evaluations(FEWEST_MOVED, motions, names[:1])
    while len(names) > 1 and _evaluations(FEWEST_MOVED, motions, names) > affordable:
        names = names[:-1]
    fixed = _evaluations(0, motions, names)
    count = (affordable - fixed) / (_evaluations(1, motions, names) - fixed)
    return Moves(min(MOST_MOVED, max(FEWEST_MOVED, int(count))), names, BRIEF)


def _evaluations(samples: int, motions: dict[str, Motion], names: tuple[str, ...]) -> int:
    """How often the model evaluates a moved sample: of those moved by the motions, and of the first, whose predictions are stored."""
    some = [motions[name] for name in names]
    moved = sum(map(BRIEF.evaluations, some)) + BRIEF.directions * BRIEF.levels
    return samples * moved + STORED_SAMPLES * sum(map(BRIEF.times_shown, some))
