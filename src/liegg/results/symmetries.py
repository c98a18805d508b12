"""The result: one frozen record of what was found, with everything needed to question it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ArgumentError, MissingExtraError, UnavailableError
from liegg.actions import Action
from liegg.algebra.identification import Identification
from liegg.decision.controls import Controls
from liegg.decision.decide import Decision
from liegg.decision.distribution_test import DistributionTest
from liegg.inputs.part import part_words
from liegg.results.account import Account, Candidate, generators_of
from liegg.results.accumulated import Accumulated
from liegg.results.answers import Answers
from liegg.results.tower import Level
from liegg.spectrum.spectrum import Spectrum, angles_to, paper_spectrum, symmetry_bias


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Symmetries:
    """Symmetries of a model on some data.

    Attributes:
        model: name of the model.
        action: the candidate generators.
        output_action: the action on the outputs, for equivariance; None for invariance.
        samples: number of samples.
        decision: how many directions are symmetries, how sure that is, and why.
        coefficients: `[d, g]`, orthonormal coefficients of the symmetries, smallest defect first.
        intervals: `[r, 2]`, interval of every defect; NaN where there is none.
        identification: the name of the algebra that the generators span, with reasons and a readable basis.
        tower: the levels exact, strong, approximate and weak as far as they differ, each with its own name.
        controls: random directions and re-initialised models for comparison.
        verification: what finite transformations of held-out samples showed; None if not requested.
        accumulated: sums over the data, which answer questions about any direction.
        account: words and numbers of the generators and of the nearest candidates.
        answers: what was asked about named motions, such as rotation, in the order of the questions.
        settings: every choice that decided something, and the versions that ran.
        notes: how the model was read, if that was unusual.
        distribution: how a data set was tested, for a result of `liegg.discover_data`; None for a model.
    """

    model: str
    action: Action
    output_action: Action | None
    samples: int
    decision: Decision
    coefficients: Float[Tensor, "d g"]
    intervals: Float[Tensor, "r 2"]
    identification: Identification
    tower: tuple[Level, ...]
    controls: Controls
    verification: Any
    accumulated: Accumulated
    account: Account
    settings: dict[str, Any]
    notes: tuple[Remark, ...] = ()
    answers: Answers = field(default_factory=Answers)
    distribution: DistributionTest | None = None
    _spectrum: Spectrum | None = None

    @property
    def nullity(self) -> int:
        """Number of symmetries."""
        return self.decision.nullity

    @property
    def subject(self) -> str:
        """What was analysed, in words: the model, or the part of what it returns, such as `"the logit of class 3 of Net"`."""
        return part_words(self.settings, self.model)

    @property
    def name(self) -> str:
        """Name of the algebra, such as `"so(5)"`; `"0"` if nothing was found, `"unknown"` if it has no name."""
        return self.identification.name

    @property
    def words(self) -> tuple[str, ...]:
        """What the symmetries do, such as `"rotation in x₁–x₂"`: those of the readable basis if the algebra has a name."""
        return (
            self.identification.readable.words if self.identification.known else self.account.words
        )

    @checked()
    def vector_fields(self, *, of_output: bool = False) -> tuple[str, ...]:
        """What `words` describes as vector fields, such as `x₁∂₂ − x₂∂₁`; empty if the action has no matrices.

        Args:
            of_output: what each of them does to the output, such as `y₁ ∂y₂ − y₂ ∂y₁`; empty for invariance.
        """
        from liegg.results.vector_fields import field_texts, output_field_texts

        return output_field_texts(self) if of_output else field_texts(self)

    def latex(self) -> str:
        """`vector_fields` as LaTeX for amsmath, with those of the output; see also `identification.latex`."""
        from liegg.results.vector_fields import fields_latex

        return fields_latex(self)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The nearest directions after the last symmetry, with words, defects and intervals."""
        return self.account.candidates

    @property
    def defects(self) -> Float[Tensor, " r"]:
        """Scale-free defect δ² of every direction that moves the data, ascending; or of the smallest that were solved for."""
        return self.accumulated.solution.values

    @property
    def generators(self) -> Float[Tensor, "d n n"]:
        """Generators of the symmetries as matrices, orthonormal in the Frobenius inner product.

        Raises:
            UnavailableError: the action has no matrices, or they are too large; `coefficients` holds them all.
        """
        if self.account.generators is not None:
            return self.account.generators
        return generators_of(self.action, self.coefficients)

    @property
    def output_generators(self) -> Float[Tensor, "d m m"]:
        """Output generators that go with `generators`, one by one.

        Raises:
            UnavailableError: this is an analysis of invariance, which has none.
        """
        if self.output_action is None:
            raise UnavailableError(
                "this is an analysis of invariance: pass output_action= to discover() to get output generators."
            )
        if self.account.output_generators is not None:
            return self.account.output_generators
        return generators_of(self.output_action, self.accumulated.partners(self.coefficients))

    @cached_property
    def spectrum(self) -> Spectrum:
        """The paper's spectrum: every direction's symmetry variance, in the Frobenius metric; the first value is the model's.

        Stored with the result up to 512 candidates; above, it is solved when it is first used.
        """
        if self._spectrum is not None:
            return self._spectrum
        bottom = self.accumulated.bottom
        return paper_spectrum(
            self.accumulated.factor,
            self.action.size,
            self.samples,
            smallest=None if bottom is None else bottom.requested,
        )

    @checked()
    def bias(self, reference: Float[Tensor, "e n n"]) -> Float[Tensor, " g"]:
        """The paper's symmetry bias of every direction of the spectrum against a reference algebra.

        Args:
            reference: generators such as `liegg.so(5)`, in any basis of the algebra.
        """
        return symmetry_bias(self.spectrum, self.action, reference)

    @checked()
    def angles(self, reference: Float[Tensor, "e n n"]) -> Float[Tensor, " k"]:
        """Principal angles in radians, ascending, between the symmetries and a reference algebra."""
        return angles_to(self.coefficients, self.action, reference)

    @checked()
    def defect(
        self,
        generators: Float[Tensor, "d *n"],
        output_generators: Float[Tensor, "d *m"] | None = None,
    ) -> Float[Tensor, " d"]:
        """Defect δ² of any generators of the action, found or not; NaN for one that does not move the data.

        Args:
            generators: matrices `[d, n, n]` or coefficients `[d, g]`.
            output_generators: what each does to the output; by default what suits it best (nothing, for invariance).
        """
        k = None
        if output_generators is not None:
            if self.output_action is None:
                raise ArgumentError(
                    "output_generators given, but this is an analysis of invariance: it has no output action."
                )
            k = self.output_action.as_coefficients(output_generators, "output_generators")
        tolerance = self.decision.thresholds.trivial_tolerance
        return self.accumulated.defect(
            self.action.as_coefficients(generators).to(torch.float64),
            k,
            trivial_tolerance=tolerance,
        )

    @checked()
    def defect_interval(self, generators: Float[Tensor, "d *n"]) -> Float[Tensor, "d 2"]:
        """Interval of the defect of any generators that were fixed before the data was seen.

        A ratio of means over the blocks of samples. Directions that this analysis found were chosen for their small defect on this
        data: `intervals` allows for that choice, this does not. For equivariance the output generators that suit this data best are
        fixed, so that with few samples the interval lies slightly low.

        Args:
            generators: matrices or coefficients, such as `liegg.so(3)` or those found in another model.

        Returns:
            Lower and upper ends at the level of `decision.thresholds.level`; NaN for a generator at the numerical floor (rounding
            has no sampling error), for one that does not move the data, and without intervals.
        """
        return self.accumulated.interval(
            self.action.as_coefficients(generators).to(torch.float64),
            self.defect(generators),
            floor=self.decision.floor,
            level=self.decision.thresholds.level,
        )

    @checked()
    def about(
        self,
        about: Any = None,
        *,
        model: Any = None,
        data: Any = None,
        output: int | str | Callable[[Any], Any] | None = None,
        call: Callable[..., Any] | None = None,
    ) -> Answers:
        """Answer for named motions afterwards: from the stored sums, or with the model on samples.

        Args:
            about: names, or a mapping from names to generators, as for `liegg.discover`; by default all that the action knows.
            model: the model, to move samples and see what changes; without it, answers that the result holds are returned, and
                others are about derivatives alone.
            data: samples, with a model; up to 256 are moved.
            output: the function of what the model returns, if the analysis was about one; results cannot store it.
            call: how the model takes structured samples, as for `liegg.discover`.

        Raises:
            ArgumentError: a motion that the action does not know, or only one of model and data.
        """
        from liegg.discovery.about.ask import ask

        return ask(self, about, model=model, data=data, output=output, call=call)

    def to_dict(self) -> dict[str, Any]:
        """Everything a reader or a page needs, as JSON values: finite numbers, strings, lists; infinities and NaN become null.

        So do generators that are too many or too large for a text, and those of actions without matrices.
        """
        from liegg.results.as_dict import as_dict

        return as_dict(self)

    @checked()
    def save(self, folder: str | Path) -> Path:
        """Write the result into a folder, which is created if needed; `liegg.load` reads it back."""
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
        classes: Any = None,
    ) -> Path:
        """Write one self-contained HTML page; see `liegg.report.page.page.write_report`."""
        from liegg.report.page.page import write_report

        return write_report(
            self,
            path,
            samples=samples,
            layers=layers,
            title=title,
            snippet=snippet,
            classes=classes,
        )

    def _repr_html_(self) -> str | None:
        """What a notebook shows; None, and so the text, without the package that fills in templates."""
        from liegg.report.page.page import notebook_html

        try:
            return notebook_html(self)
        except MissingExtraError:
            return None

    @property
    def sentence(self) -> Remark:
        """What was found, in one sentence of plain words; `decision.sentence` is the verdict in terms of directions."""
        from liegg.results.sentence import sentence_of

        return sentence_of(self)

    @checked()
    def table(self, *, width: int | None = None, variance: bool = False) -> str:
        """What `print` shows: the sentence, how it was found and how sure it is, and a table of directions.

        Args:
            width: columns of a line, from 60 to 200; those of the terminal by default, 120 if there is none.
            variance: list the paper's symmetry variance σ²/|D| as well, in its own order.
        """
        from liegg.results.text import table

        return table(self, width=width, variance=variance)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Symmetries(nullity={self.nullity}, action={self.action!r}, samples={self.samples}, model={self.model!r})"
