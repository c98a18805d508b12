"""How often finite differences evaluate a model, before they do."""

from dataclasses import dataclass

from liegg.actions import Action
from liegg.inputs.hidden_derivatives import HIDDEN_PAIRS
from liegg.inputs.nonlinearity import MIDPOINT_PAIRS
from liegg.polarization.finite.errors import error_samples
from liegg.polarization.finite.noise import POINTS
from liegg.polarization.finite.steps import MOST_STEPS, STEP_SAMPLES


@dataclass(frozen=True)
class Evaluations:
    """Evaluations of a sample by a model, at most.

    Attributes:
        candidates: number of candidates.
        samples: number of samples.
        batches: number of batches.
    """

    candidates: int
    samples: int
    batches: int

    @property
    def each(self) -> int:
        """Evaluations per sample: one, and two along every candidate."""
        return 2 * self.candidates + 1

    @property
    def calls(self) -> int:
        """Calls of the model in the pass over the data."""
        return self.each * self.batches

    @property
    def trials(self) -> int:
        """Evaluations on a few samples: noise, steps, errors and checks."""
        steps = STEP_SAMPLES * (2 * self.candidates * (MOST_STEPS + 2) + 8 * POINTS + 4)
        errors = 6 * self.candidates * error_samples(self.candidates, 1)
        return steps + errors + 2 * MIDPOINT_PAIRS + 20 * HIDDEN_PAIRS

    @property
    def total(self) -> int:
        """All evaluations, at most; named motions and held-out samples take more."""
        return self.each * self.samples + self.trials

    def __str__(self) -> str:
        return (
            f"{self.candidates} candidates: {self.each} evaluations per sample, {self.calls} calls for "
            f"{self.samples} samples in {self.batches} batches; at most {self.total} evaluations"
        )


def expected(action: Action, *, samples: int, batch_size: int | None = None) -> Evaluations:
    """How often finite differences evaluate a model.

    Args:
        action: the candidates.
        samples: number of samples.
        batch_size: samples per batch; None for all in one.

    Examples:
        >>> from liegg.actions import Linear
        >>> expected(Linear(5), samples=1000, batch_size=100).calls
        510
    """
    candidates = action.row_action.size
    batches = -(-samples // (batch_size or max(samples, 1)))
    return Evaluations(candidates, samples, batches)


def affordable(action: Action, budget: int) -> int:
    """Samples that a number of evaluations allows; 0 if it does not even allow the trials."""
    nothing = expected(action, samples=0)
    return max(0, (budget - nothing.trials) // nothing.each)
