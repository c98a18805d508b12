"""How far a model is from a symmetry under finite elements of a group: one number."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.checks import check_seed
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.analyse import reading
from liegg.discovery.assertions.groups import Group, action_on, as_group, on_outputs
from liegg.discovery.request import Request
from liegg.discovery.run import Run
from liegg.discovery.structured import as_inputs
from liegg.discovery.verification.evaluating import first_samples
from liegg.inputs.batches import Data
from liegg.inputs.model import Model
from liegg.inputs.output_field import Field
from liegg.inputs.part import Part
from liegg.inputs.probed import in_dtype_of, probed
from liegg.inputs.spot_check import check_samples
from liegg.polarization.output_fit import fitted_output_action

LARGEST_TURN, LARGEST_OTHER = math.pi, 0.5
"""Longest rotation, in radians, and longest motion of another kind but translations, in units of its generator."""

LARGEST_PIXEL_SHIFT = 0.25
"""Longest shift of images, in units of half the shorter side: 4 pixels of 32."""

MOST_ELEMENTS = 100_000
"""Elements that may be asked for."""

READ_AT_MOST = 1024
"""Samples that are read."""

CONSTANT_SPREAD = 1e-6
"""Spread of an output, relative to its size, below which it counts as constant."""

OutputAction = Action | Literal["same"] | None


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked about a model.

    Attributes:
        model: the model.
        data: the samples.
        group: the group.
        action: on the samples.
        output: field of what the model returns.
        output_action: on the outputs; None for invariance.
        output_generators: on the outputs; by default the matrices of the group.
    """

    model: Any
    data: Data
    group: Group
    action: Any
    output: Field
    output_action: Action | None = None
    output_generators: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """A model, samples and a group, as they are tried.

    Attributes:
        model: the probed model.
        x: the samples.
        group: the group.
        action: how it moves a sample.
        output_action: how it moves an output; None if it should not.
        h: `[d, g]`, its generators on samples.
        k: `[d, m]`, its generators on outputs; None if these should not move.
        reach: `[d]`, how far to go along each.
        y: outputs of the samples.
        scale: size of a change that counts as 1: the spread of the outputs, or their size if they are constant.
    """

    model: Model
    x: Float[Tensor, "b ..."]
    group: Group
    action: Action
    output_action: Action | None
    h: Float[Tensor, "d g"]
    k: Float[Tensor, "d m"] | None
    reach: Float[Tensor, " d"]
    y: Float[Tensor, "b c"]
    scale: float

    def change(
        self, weights: Float[Tensor, " d"], *, sign: float = 1.0, x: Tensor | None = None
    ) -> float:
        """Root mean square change of the output, over its scale, under one element.

        Args:
            weights: how far to go along every generator.
            sign: of the motion of the output: 1 for the right one, -1 for its inverse, 0 for none.
            x: other samples, whose outputs have their own scale.
        """
        if x is not None:
            y = self.model(x).detach()
            return replace(self, x=x, y=y, scale=_scale(y)).change(weights, sign=sign)
        moved = self.model(self.action.act((weights @ self.h).to(self.x), self.x)).detach()
        return self.difference(moved, self.expected(self.y, weights, sign=sign))

    def expected(self, y: Tensor, weights: Float[Tensor, " d"], *, sign: float = 1.0) -> Tensor:
        """What an output should be after the motion."""
        if self.output_action is None or self.k is None or sign == 0:
            return y
        shaped = y.reshape(len(y), *self.model.output_shape)
        return self.output_action.act(sign * (weights @ self.k).to(y), shaped).flatten(1)

    def difference(self, one: Float[Tensor, "b c"], other: Float[Tensor, "b c"]) -> float:
        """Root mean square difference of outputs, over their scale; 0 if both are equal."""
        square = float((one.double() - other.double()).square().sum(1).mean())
        return math.sqrt(square) / self.scale if square else 0.0

    def elements(self, count: int, seed: int) -> Float[Tensor, "k d"]:
        """How far to go along every generator, for random elements."""
        drawn = torch.Generator().manual_seed(seed)
        uniform = torch.rand(count, len(self.h), generator=drawn, dtype=torch.float64)
        return (2 * uniform - 1) * self.reach


@checked()
@one_at_a_time
def equivariance_error(
    model: Any,
    batch: Data,
    group: str | Float[Tensor, "d ..."] = "so(3)",
    *,
    action: Action | Mapping[Any, Any] | None = None,
    output_action: OutputAction = None,
    output: Field = None,
    elements: int = 8,
    seed: int = 0,
) -> float:
    r"""Largest change of the output under random elements of a group, relative to the output's spread.

    Measures $\sqrt{\mathrm{mean}\,|f(gx) - \rho(g) f(x)|^2 / \mathrm{var} f}$ with $\rho = 1$ if the output
    should stay, for rotations up to 180°, translations up to the spread of the data (images: a quarter
    of half a side), and half a unit of other generators. 0.01 is 1 % of the spread of the outputs over the batch;
    if they are constant there, or if there is one sample, it is 1 % of their size.

    Args:
        model: as for `liegg.discover`.
        batch: as `data` of `liegg.discover`; the first 1024 samples are read.
        group: a name such as `"so(3)"`, `"so(1,3)"`, `"se(3)"`, `"translation(2)"`; `"o(3)"` and `"e(3)"` also try a reflection;
            or generators `[d, n, n]`.
        action: how the group moves a sample; by default on the only axis of its dimension, or on images.
        output_action: how it moves an output: an action, or `"same"` for that of the samples; None if it should not.
        output: the field of what the model returns, as for `liegg.discover`.
        elements: how many random elements are tried.
        seed: of these.

    Returns:
        The largest relative change; exact models reach about the rounding unit (1e-15 in float64, 1e-6 in float32).

    Raises:
        LieggError: no such group, or it is not clear how it acts.

    Examples:
        >>> import liegg
        >>> x = torch.randn(
        ...     20, 5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64
        ... )
        >>> equivariance_error(lambda x: torch.cdist(x, x).sum((1, 2)), x, "se(3)") < 1e-12
        True
        >>> equivariance_error(
        ...     lambda x: x.mean(1), x, "so(3)", output_action=liegg.Linear(3)
        ... ) < 1e-12
        True
    """
    if not 1 <= elements <= MOST_ELEMENTS:
        raise ArgumentError(
            f"elements={elements}: expected a number from 1 to {MOST_ELEMENTS}, for example 8."
        )
    check_seed(seed)
    named = as_group(group)
    action = action_on(named, batch, action)
    own = action if output_action == "same" else output_action
    if isinstance(own, Mapping):
        own = next(iter(own.values()))
    with question(Case(model, batch, named, action, output, own)) as asked:
        errors = [asked.change(weights) for weights in asked.elements(elements, seed)]
        if asked.group.reflects:
            errors.append(reflection_error(asked))
        return max(errors)


@contextmanager
def question(case: Case) -> Iterator[Question]:
    """Read the samples, open the model and make the group act on both."""
    inputs, group = as_inputs(case.model, case.data, case.action), case.group
    own, k = case.output_action, None
    if own is not None and case.output_generators is not None:
        k = own.as_coefficients(case.output_generators).to(torch.float64)
    request = Request(
        data=inputs.data,
        action=inputs.action,
        output_action=own,
        outputs="each",
        thresholds=Thresholds(),
        run=Run(processes="alone"),
        part=Part(case.output),
    )
    with reading(inputs.model, request) as (function, _, (_, first), rest):
        x = first_samples(chain([first], (batch for _, batch in rest)), READ_AT_MOST)
        dtype = function.dtype
        function = probed(function, x, request.part)
        x = in_dtype_of(x, function, dtype)
        check_samples(function, x)
        own = fitted_output_action(own, inputs.action, function)
        h = inputs.action.as_coefficients(group.generators, "group").to(torch.float64)
        y = function(x).detach()
        yield Question(
            model=function,
            x=x,
            group=group,
            action=inputs.action,
            output_action=own,
            h=h,
            k=k if k is not None else on_outputs(own, group),
            reach=_reach(group, inputs.action, x),
            y=y,
            scale=_scale(y),
        )


def reflection_error(asked: Question, *, sign: float = 1.0) -> float:
    """Change of the output under the reflection of the first axis.

    Args:
        asked: the question.
        sign: by which the output is multiplied besides: -1 for the opposite parity.

    Raises:
        ArgumentError: it is not clear how a reflection acts.
    """
    n = asked.group.dimension
    for action in (asked.action, asked.output_action):
        if action is not None and (action.stage != "points" or not action.has_matrices):
            raise ArgumentError(
                f"{asked.group.name} contains reflections, and how these act is not known for {action!r}. "
                f"Test its rotations, group='so({n})'."
            )
    mirror = torch.zeros(1, n, n, dtype=torch.float64)
    mirror[0, 0, 0] = -2.0  # the reflection minus the identity

    def reflected(action: Action, x: Tensor) -> Tensor:
        # The field of a linear map is its product with the vectors.
        return x + action.field(action.as_coefficients(mirror)[0].to(x), x)

    y = asked.y
    if asked.output_action is not None:
        shaped = y.reshape(len(y), *asked.model.output_shape)
        y = reflected(asked.output_action, shaped).flatten(1)
    moved = asked.model(reflected(asked.action, asked.x)).detach()
    return asked.difference(moved, sign * y)


def _scale(y: Float[Tensor, "b c"]) -> float:
    """Spread of outputs over the samples; their size if they are constant."""
    wide = y.double()
    spread = math.sqrt(float((wide - wide.mean(0)).square().sum(1).mean()))
    size = math.sqrt(float(wide.square().sum(1).mean()))
    return spread if spread > CONSTANT_SPREAD * size else (size or 1.0)


def _reach(group: Group, action: Action, x: Tensor) -> Float[Tensor, " d"]:
    """How far to go along each generator: half a turn, the spread of the data, or half a unit."""
    spread = float(x.double().std()) if x.numel() > 1 else 1.0
    shift = LARGEST_PIXEL_SHIFT if action.interpolates else spread or 1.0
    reach = {"rotation": LARGEST_TURN, "translation": shift, "other": LARGEST_OTHER}
    return torch.tensor([reach[kind] for kind in group.kinds], dtype=torch.float64)
