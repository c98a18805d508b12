"""What the user asks, of one model or of several."""

from dataclasses import dataclass, field
from typing import Any

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.about.questions import About
from liegg.discovery.output_whitening import AskedOutputs
from liegg.discovery.run import Run
from liegg.inputs.batches import Data
from liegg.inputs.part import Part
from liegg.inputs.table import column_labels, is_table, table_values
from liegg.inputs.task import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What the user asks, of one model or of several.

    Attributes:
        data: the samples; a table becomes an array.
        action: the candidate generators; the columns of a table name its coordinates, where it has no names.
        output_action: action on the outputs; None for invariance.
        outputs: how outputs are combined.
        thresholds: what counts as a symmetry.
        run: how the analysis runs.
        part: of what the model returns.
        about: named motions in question, as for `discover`.
        task: what several outputs are, as for `discover`.

    Raises:
        ArgumentError: whitened outputs with an output action.
    """

    data: Data
    action: Any
    output_action: Action | None
    outputs: AskedOutputs
    thresholds: Thresholds
    run: Run
    part: Part = field(default_factory=Part)
    about: About = ()
    task: Task = "auto"

    def __post_init__(self) -> None:
        if self.outputs == "whitened" and self.output_action is not None:
            raise ArgumentError(
                "outputs='whitened' has no meaning with output_action: the action says how the outputs move together, in "
                "their own units. Use outputs='each'."
            )
        if is_table(self.data):
            object.__setattr__(self, "action", self.action.named(column_labels(self.data)))
            object.__setattr__(self, "data", table_values(self.data))

    def settings(self) -> dict[str, Any]:
        """The question as JSON values; it must be the same in all processes, and when a pass resumes."""
        output = None if self.output_action is None else self.output_action.settings()
        part = {name: value for name, value in self.part.settings().items() if value is not None}
        return {
            "action": self.action.settings(),
            "output_action": output,
            "outputs": self.outputs,
            "seed": self.run.seed,
            **part,
        }
