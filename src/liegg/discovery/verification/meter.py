"""Progress of a verification."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Meter:
    """Counts samples that a model evaluates, and reports them.

    Attributes:
        report: called with `done` and `total`; None for nothing.
        total: evaluations expected, at least 1.
        done: evaluations so far, at most `total`.
    """

    report: Callable[[int, int], object] | None = None
    total: int = 1
    done: int = 0

    def advance(self, count: int) -> None:
        """Count evaluations."""
        self.done = min(self.done + count, self.total)
        if self.report is not None:
            self.report(self.done, self.total)

    def finish(self) -> None:
        """Report the end."""
        self.advance(self.total)
