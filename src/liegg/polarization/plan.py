"""How polarization rows are computed."""

from dataclasses import dataclass
from typing import Literal

from liegg._utils.diagnoses import Remark
from liegg.polarization.finite.steps import Steps
from liegg.polarization.output_sketch import Outputs

Route = Literal["jvp", "vjp", "autograd", "moved", "finite"]
"""Forward or reverse derivatives, plain autograd, outputs of samples that are really moved, or finite differences."""


@dataclass(frozen=True)
class Plan:
    """How rows are computed; fixed before the first batch.

    Attributes:
        outputs: `"each"`: one row per output; `"sum"`: the paper's row of the summed outputs; `k`:
            k random ±1 combinations.
        route: `"jvp"`, `"vjp"`, `"autograd"`, `"moved"` or `"finite"`.
        seed: seed of the random combinations.
        together: directions per pass through the model.
        notes: why the cheapest route was not used; what would take less memory.
        steps: how finite differences are taken; None for derivatives.
    """

    outputs: Outputs
    route: Route
    seed: int = 0
    together: int = 1
    notes: tuple[Remark, ...] = ()
    steps: Steps | None = None

    @property
    def forward(self) -> bool:
        """Whether a pass costs one evaluation per candidate, and not one per output."""
        return self.route in ("jvp", "moved", "finite")
