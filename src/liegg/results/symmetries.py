"""The result: one frozen record of what was found, with everything needed to question it."""

import math
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg._utils.linalg import without_zero_rows
from liegg.actions import Action, Displacement, MatrixAction
from liegg.algebra import Identification, identify
from liegg.algebra.identify import too_large, unseen
from liegg.algebra.subspace import distance_to_span
from liegg.decision.controls import RandomControl, ReinitialisedControl
from liegg.decision.decide import Decision
from liegg.decision.grades import Thresholds, evidence
from liegg.decision.intervals import Certainty, Resampled, certainty
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.results.matrices import generators_of, shown
from liegg.spectrum.defects import Defects, defect_of
from liegg.spectrum.equivariance import eliminate
from liegg.spectrum.metrics import angles_to, symmetry_bias, symmetry_variance
from liegg.spectrum.smallest_defects import Bottom, bottom_spectrum
from liegg.spectrum.spectrum import Spectrum, spectrum


@dataclass(frozen=True, eq=False, repr=False)
class Symmetries:
    """Symmetries of a model on some data.

    Attributes:
        action: the candidate generators.
        output_action: the action on the outputs, for equivariance; None for invariance.
        solution: defects of every direction that moves the data, with the trivial directions apart.
        decision: how many directions are symmetries, and why.
        coefficients: `[d, g]`, orthonormal coefficients of the symmetries found, smallest defect first.
        output_coefficients: `[d, m]`, the output generators that go with them; None for invariance.
        kept: all that is kept of the polarization rows, with columns `[−η | ξ]`.
        displacement: how far each direction moves the data.
        samples: number of samples seen.
        model: name of the model.
        settings: every number and choice that decided something, and the versions that ran.
        notes: how the model was read, where that was out of the ordinary.
        bounds: `[r, 2]`, interval of every defect; None if none were made.
        resampled: the draws that the intervals come from; None if there were none.
        control: defects of random directions; None if that was not asked.
        reinitialised: the same architecture with re-initialised weights; None if that was not asked.
        verification: what finite motions of held-out samples showed (`liegg.verify`); None if that was not asked.
        bottom: how the smallest defects were solved for, with residuals, where only these were asked for; None where all were.
    """

    action: Action
    output_action: Action | None
    solution: Defects
    decision: Decision
    coefficients: Float[Tensor, "d g"]
    output_coefficients: Float[Tensor, "d m"] | None
    kept: RFactor | Gram
    displacement: Displacement
    samples: int
    model: str
    settings: dict[str, Any]
    notes: tuple[str, ...] = ()
    bounds: Float[Tensor, "r 2"] | None = None
    resampled: Resampled | None = None
    control: RandomControl | None = None
    reinitialised: ReinitialisedControl | None = None
    verification: Any = None
    bottom: Bottom | None = None

    @property
    def nullity(self) -> int:
        """Number of directions judged to be symmetries."""
        return self.decision.nullity

    @property
    def rows(self) -> int:
        """Number of polarization rows seen."""
        return self.kept.rows

    @property
    def factor(self) -> Float[Tensor, "p q"]:
        """Factor with `factorᵀ factor = EᵀE` for all columns `[−η | ξ]`; without an output action `q` is `g`."""
        return self.kept.r

    @property
    def unsolved(self) -> int:
        """Number of directions that move the data, but were not solved for; see `bottom`."""
        return 0 if self.bottom is None else self.bottom.moving - len(self.defects)

    @property
    def is_lower_bound(self) -> bool:
        """Whether there may be more symmetries of the kind: all defects that were solved for count, and others were not."""
        return self.unsolved > 0 and self.nullity == len(self.defects)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The paper's spectrum: every direction's symmetry variance, in the Frobenius metric. Solved when first asked for.

        Of as many of the smallest as defects, where only the smallest were asked for.
        """
        left = eliminate(self.factor, self.factor.shape[1] - self.action.size).r
        if self.bottom is not None:
            return bottom_spectrum(without_zero_rows(left), self.samples, self.bottom.asked)
        return spectrum(left, self.samples)

    @property
    def variance(self) -> float:
        """The paper's symmetry variance: the smallest of the spectrum."""
        return symmetry_variance(self.spectrum)

    @property
    def defects(self) -> Float[Tensor, " r"]:
        """Scale-free defect δ² of every direction that moves the data, ascending; or of the smallest that were asked for."""
        return self.solution.values

    @property
    def intervals(self) -> Float[Tensor, "r 2"]:
        """Interval of every defect, at the level of `settings["level"]`; NaN where none was made."""
        return (
            torch.full((len(self.defects), 2), torch.nan, dtype=torch.float64)
            if self.bounds is None
            else self.bounds
        )

    @property
    def grades(self) -> tuple[str, ...]:
        """Grade of every direction that moves the data: exact, strong, approximate, weak or none; see `liegg.decision.grades`."""
        return self.decision.grades

    @cached_property
    def certainty(self) -> Certainty | None:
        """Intervals of the number of symmetries and of the angle of their span; None if none were made, or nothing was decided."""
        if self.resampled is None or self.decision.undecided:
            return None
        values, bounds = self.defects, self.bounds
        if self.bottom is not None and self.bottom.whole is not None:
            values, bounds = (
                self.bottom.whole.values,
                self.resampled.bounds(level=self.settings["level"]),
            )
        case = evidence(values, bounds, floor=self.decision.floor, control=self.decision.control)
        return certainty(
            self.resampled,
            case,
            self.nullity,
            Thresholds(**{field.name: self.settings[field.name] for field in fields(Thresholds)}),
        )

    @property
    def nullity_interval(self) -> tuple[int, int]:
        """Interval of the number of symmetries; the number itself twice where none was made."""
        return (self.nullity, self.nullity) if self.certainty is None else self.certainty.nullity

    @cached_property
    def generators(self) -> Float[Tensor, "d n n"]:
        """Generators of the symmetries found, as matrices, orthonormal in the Frobenius inner product.

        Raises:
            ArgumentError: they are too many or too large to be held as matrices; `coefficients` holds them all.
        """
        return generators_of(self.action, self.coefficients)

    @property
    def shown(self) -> bool:
        """Whether the generators are few and small enough to be told in words, drawn and written down as matrices."""
        action = self.action
        return isinstance(action, MatrixAction) and shown(self.nullity, action.ambient)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What each symmetry found does, with terms left out that its error explains."""
        return self.action.describe(self.coefficients, tolerance=self._tolerance)

    @property
    def _tolerance(self) -> float:
        """Share of a generator's largest entry that its error explains."""
        error = self.uncertainty if self.nullity or self.certainty is None else self.certainty.angle
        side = self.action.ambient if isinstance(self.action, MatrixAction) else 1
        return min(max(1e-6, 5 * error / side), 0.24)

    @cached_property
    def output_generators(self) -> Float[Tensor, "d m m"]:
        """Output generators that go with `generators`, one by one.

        Raises:
            ArgumentError: the analysis was of invariance, which has none.
        """
        if self.output_action is None or self.output_coefficients is None:
            raise ArgumentError(
                "this is an analysis of invariance: pass output_action= to discover() to get output generators."
            )
        return generators_of(self.output_action, self.output_coefficients)

    @property
    def uncertainty(self) -> float:
        r"""Relative error of a found unit generator, in radians, as far as the defects tell: $\sqrt{\delta^2_d / \delta^2_{d+1}}$.

        To get its defect, an exact symmetry would have to be mixed with a direction beyond the gap at about this angle. The true
        error is usually several times smaller. At least what the span turns by between draws of the samples, where that is known.
        """
        if not self.nullity:
            return 0.0
        last = max(float(self.defects[self.nullity - 1]), self.decision.floor)
        following = float(self.defects[self.nullity]) if self.nullity < len(self.defects) else 1.0
        turned = 0.0 if self.certainty is None else self.certainty.angle
        return max(math.sqrt(min(last / max(following, last), 1.0)), turned)

    @cached_property
    def identification(self) -> Identification:
        """Which algebra the generators span: its name, its rivals, what it preserves, and a readable basis.

        Unknown without a look where the matrices are too large, or where not all symmetries were solved for.
        """
        action = self.action
        if not isinstance(action, MatrixAction):
            return unseen(
                self.nullity, 1, "the generators are not matrices, so no algebra is named"
            )
        n = action.ambient
        if too_large(self.nullity, n):
            return unseen(self.nullity, n)
        if self.is_lower_bound:
            return unseen(
                self.nullity,
                n,
                "there may be more symmetries than were solved for; a larger bottom= would tell",
            )
        return identify(
            self.generators,
            uncertainty=min(self.uncertainty, 0.5),
            homogeneous=action.homogeneous,
            coordinates=action.axes,
        )

    @property
    def name(self) -> str:
        """Name of the algebra, such as `"so(5)"`; `"0"` if nothing was found, `"unknown"` if it has no name."""
        return self.identification.name

    @property
    def trivial(self) -> Float[Tensor, "t g"]:
        """Coefficients of the directions that do not move the data: nothing can be said of them."""
        return self.solution.trivial

    def bias(self, reference: Float[Tensor, "e ..."]) -> Float[Tensor, " g"]:
        """The paper's symmetry bias of every direction of the spectrum against a reference algebra.

        Args:
            reference: generators such as `liegg.so(5)`, in any basis of the algebra.
        """
        return symmetry_bias(self.spectrum, self.action, reference)

    def generator_bias(self, reference: Float[Tensor, "e ..."]) -> Float[Tensor, " d"]:
        """Distance of each found generator to a reference algebra."""
        return distance_to_span(
            self.coefficients, self.action.as_coefficients(reference).to(self.coefficients)
        )

    def angles(self, reference: Float[Tensor, "e ..."]) -> Float[Tensor, " k"]:
        """Principal angles in radians, ascending, between the found symmetries and a reference algebra."""
        return angles_to(self.coefficients, self.action, reference)

    def defect(
        self,
        generators: Float[Tensor, "d ..."],
        output_generators: Float[Tensor, "d ..."] | None = None,
    ) -> Float[Tensor, " d"]:
        """Defect δ² of any generators of the action, found or not; NaN for one that does not move the data.

        Args:
            generators: input generators.
            output_generators: what each is to do to the output; by default what suits it best (nothing, for invariance).
        """
        h = self.action.as_coefficients(generators).to(self.factor)
        return self.direction_defect(h, output_generators)

    def direction_defect(
        self,
        coefficients: Float[Tensor, "d g"],
        output_generators: Float[Tensor, "d ..."] | None = None,
    ) -> Float[Tensor, " d"]:
        """Defect δ² of any directions, given by coefficients; see `defect`."""
        h = coefficients.to(self.factor)
        k = self._partners(h)
        if output_generators is not None:
            if self.output_action is None:
                raise ArgumentError(
                    "output_generators given, but this is an analysis of invariance: it has no output action."
                )
            k = self.output_action.as_coefficients(output_generators, "output_generators").to(h)
        columns = torch.cat([k, h], dim=1)
        return defect_of(
            h,
            columns @ without_zero_rows(self.factor).mT,
            self.displacement,
            self.samples,
            self.solution.sensitivity,
            trivial_tolerance=self.settings["trivial_tolerance"],
        )

    def defect_interval(self, generators: Float[Tensor, "d ..."]) -> Float[Tensor, "d 2"]:
        """Interval of the defect of any generators that were fixed before the data was seen, at the level of `settings["level"]`.

        A ratio of means over the blocks of samples. Directions that this very analysis found were chosen for their small defect on
        this data: `intervals` allows for that choice, this does not. For equivariance the output generators that suit this data
        best are held fixed, so with few samples it lies a little low.

        Args:
            generators: input generators, such as `liegg.so(3)` or those found in another model.

        Returns:
            Lower and upper ends; NaN for a generator at the numerical floor (rounding has no sampling error), for one that does
            not move the data, and where no intervals were made.
        """
        values = self.defect(generators)
        if self.resampled is None:
            return values.new_full((len(values), 2), torch.nan)
        h = self.action.as_coefficients(generators).to(self.factor)
        return self.resampled.along(
            h, values, floor=self.decision.floor, level=self.settings["level"]
        )

    def direction_variance(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, " d"]:
        """Symmetry variance of any directions, given by coefficients: mean squared change of the output per unit of the motion."""
        h = coefficients.to(self.factor)
        return (
            torch.cat([self._partners(h), h], dim=1) @ without_zero_rows(self.factor).mT
        ).square().sum(1) / self.samples

    def _partners(self, h: Float[Tensor, "d g"]) -> Float[Tensor, "d m"]:
        """Output coefficients that suit given input coefficients best."""
        return h @ eliminate(self.factor, self.factor.shape[1] - self.action.size).partner.mT

    def to_dict(self) -> dict[str, Any]:
        """Everything a reader or a page needs, as JSON values."""
        from liegg.results.summary import summary

        return summary(self)

    def save(self, folder: str | Path) -> Path:
        """Write `record.json` and `arrays.safetensors` into a folder, made if needed; `liegg.load` reads them back."""
        from liegg.results.storage import save

        return save(self, folder)

    def report(
        self,
        path: str | Path,
        *,
        samples: Any = None,
        layers: Any = None,
        title: str | None = None,
        snippet: str | None = None,
    ) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.page.write_report`."""
        from liegg.report.page.page import write_report

        return write_report(
            self, path, samples=samples, layers=layers, title=title, snippet=snippet
        )

    def _repr_html_(self) -> str | None:
        """What a notebook shows; None, and so the text, without the package that fills in templates."""
        from liegg.report.notebook import notebook_html

        try:
            return notebook_html(self)
        except MissingExtraError:
            return None

    def __str__(self) -> str:
        from liegg.results.text import table

        return table(self)

    def __repr__(self) -> str:
        return f"Symmetries(nullity={self.nullity}, action={self.action!r}, samples={self.samples}, model={self.model!r})"
