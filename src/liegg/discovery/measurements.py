"""What is measured on the model again, where a verdict depends on it."""

from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from liegg._utils.threads import TINY_PRODUCTS, one_if, threads
from liegg.discovery.each_output import rows_of_outputs
from liegg.discovery.finite import measured_error
from liegg.discovery.saturation import halves_of
from liegg.inputs.model import Model
from liegg.polarization.rounding_noise import Scatter, scatter
from liegg.polarization.streaming import PassPlan


@dataclass(frozen=True, eq=False)
class Measurements:
    """Measurements on the first batch, each made when it is first needed.

    Attributes:
        steps: how the pass was made.
        unit: rounding unit of the model's arithmetic.
    """

    steps: PassPlan
    unit: float

    @cached_property
    def scatter(self) -> Scatter:
        """How the rows scatter by rounding, or by the error of finite differences."""
        steps = self.steps
        with threads(model_threads(steps.model, steps.first)):
            if steps.row_plan.steps is not None:
                return measured_error(steps)
            return scatter(
                steps.model,
                steps.action,
                steps.first,
                steps.row_plan,
                unit=self.unit,
                output_action=steps.output_action,
            )

    @cached_property
    def halves(self) -> list[Float[Tensor, "p p"]]:
        """Factors of the rows of two halves of the samples; see `saturated`."""
        with threads(model_threads(self.steps.model, self.steps.first)):
            return halves_of(self.steps)

    @cached_property
    def single_outputs(self) -> Float[Tensor, "b c p"] | None:
        """Rows of each output at a few samples; None if all outputs are one question."""
        with threads(model_threads(self.steps.model, self.steps.first)):
            return rows_of_outputs(self.steps)


def model_threads(model: Model, batch: Tensor) -> int:
    """Threads of the model's own passes: the caller's, unless its weights and the batch are tiny."""
    places = len(batch) if batch.ndim == 2 else batch.numel()  # where each weight may be used
    return one_if(model.weights is not None and model.weights * places <= TINY_PRODUCTS)
