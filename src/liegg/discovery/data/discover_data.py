"""The verb for data sets: samples in, symmetries of their distribution out; no model, no training."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg._utils.errors import ArgumentError, DataError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.random import seeded
from liegg._utils.threads import threads
from liegg.actions import Action, MatrixAction
from liegg.actions.own_motion import check_own_motion
from liegg.decision.thresholds import Thresholds
from liegg.decision.two_sample import MOVED_LEVEL, PERMUTATIONS, MovedTest
from liegg.discovery.data.callables import called_on, device_of
from liegg.discovery.data.classes import Classes, as_classes
from liegg.discovery.data.conclude import conclude
from liegg.discovery.data.functions import FUNCTIONS, choose_functions, is_own
from liegg.discovery.data.further import further_tests
from liegg.discovery.data.level import discover_level, level_function
from liegg.discovery.data.moved import FEWEST_HALVES, move_by_elements, move_held_out
from liegg.discovery.data.reading import Reading, means_of
from liegg.discovery.data.verdict import FEWEST_DECIDED
from liegg.discovery.run import Run
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.table import column_labels, is_table, table_values
from liegg.polarization import sample_sketch
from liegg.polarization.distributed import join, leave, run_collectively
from liegg.polarization.sample_blocks import BLOCKS, BlockAssigner, as_groups
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.sample_sketch import clusters
from liegg.results.symmetries import Symmetries

FARTHEST_MEAN = 3.0
"""Distance of the data's mean from 0, in multiples of its spread, up to which affine maps are told apart."""

SCALE_SAMPLES = 4096
"""Samples from which the scales of the test functions are taken."""


@checked()
@one_at_a_time
def discover_data(
    data: Data,
    action: Action,
    *,
    question: Literal["density", "support", "discriminator", "label"] = "density",
    functions: Any = None,
    labels: Tensor | np.ndarray | Sequence[Any] | None = None,
    held_out: Data | None = None,
    elements: Mapping[str, Any] | None = None,
    thresholds: Thresholds | None = None,
    run: Run | None = None,
) -> Symmetries:
    r"""Find the motions that leave the distribution of a data set unchanged, without any model.

    A distribution is invariant under the flow of $X$ if and only if $E[\langle \nabla\phi, X \rangle] = 0$ for every test function
    $\phi$. The means of these derivatives are computed in one pass, for every candidate, and tested against their sampling noise.

    Args:
        data: the samples, as for `liegg.discover`. They may be on any device: the analysis runs on the CPU in float64, and functions
            of yours are called with samples on the device of the data.
        action: the candidate generators, such as `liegg.Linear(4)`.
        question: `"density"` asks for motions that leave the distribution unchanged, `"support"` for motions along the surface on
            which the data lies, whatever its density there: polynomials that vanish on the data are fitted. `"discriminator"` is
            the paper's way to the density: a small network learns to tell the data from an isotropic Gaussian, and its symmetries
            are found. It sees only motions that leave the Gaussian unchanged, and the candidates are restricted to these: rotations
            about the mean. `"label"` asks for motions that leave the label of a sample unchanged, whatever the density: two small
            networks learn to predict it from halves of the samples, and the symmetries of their mean are found.
        functions: test functions: their number, `"monomials"` up to degree 4, or a differentiable callable on batches, such as the
            features of a network. By default 128 random Fourier features at three scales; for images, of smooth random filters.
        labels: a label of every sample, which the motions do not change: the joint distribution of samples and labels is tested,
            or with `question="label"` the label given the sample.
            At most 16 different ones; numbers that are all different are sorted into 4 classes of equal size.
        held_out: samples that are moved along each symmetry and compared with others by a two-sample test.
        elements: finite transformations to test, by names: matrices, or callables on batches; samples are moved and compared.
        thresholds: what counts as a symmetry; see `liegg.Thresholds`.
        run: seed of the test functions, groups of samples, size of batches, progress, processes; see `liegg.Run`. Its other
            fields are about models.

    Returns:
        The symmetries, as for a model; `sym.distribution` holds the tests. It is None for questions other than the density.

    Raises:
        LieggError: bad data, or arguments that make no sense.

    Examples:
        >>> import liegg
        >>> x = torch.randn(
        ...     4000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64
        ... )
        >>> sym = liegg.discover_data(x, liegg.Linear(2))
        >>> sym.nullity, sym.name
        (1, 'so(2)')
    """
    run = _checked_run(run or Run())
    if is_table(data):
        action, data = action.named(column_labels(data)), table_values(data)
    place = device_of(as_batches(data))
    batches = _on_cpu(data, run.batch_size)
    fewest = 2 * FEWEST_HALVES if question in ("density", "discriminator") else 2
    held = None if held_out is None else _checked_held_out(held_out, action, fewest=fewest)
    if is_own(functions) and callable(functions):
        functions = called_on(functions, place)
    if elements is not None:
        elements = {
            name: called_on(one, place) if callable(one) else one for name, one in elements.items()
        }
    classes = as_classes(labels)
    if question == "density":
        return _density(
            batches,
            action,
            functions=functions,
            classes=classes,
            held=held,
            elements=elements,
            thresholds=thresholds,
            run=run,
        )
    _check_model_free(question, functions=functions, labels=labels, elements=elements)
    x = _together(batches, action)
    # Networks and batches are small: on a busy machine more threads would wait for each other.
    with threads(1):
        function = level_function(question, x, action, classes=classes, seed=run.seed)
    sym = discover_level(
        function,
        x,
        question=question,
        thresholds=thresholds,
        held_out=None if held is None else torch.cat([*held]),
        run=Run(groups=run.groups, seed=run.seed),
    )
    if question == "discriminator" and sym.nullity:
        density = _density(
            batches, sym.action.restrict(sym.coefficients), classes=classes, held=held, run=run
        )
        _check_agreement(sym, density)
    return sym


def _density(
    batches: Batches,
    action: Action,
    *,
    classes: Classes,
    held: Batches | None,
    run: Run,
    functions: Any = None,
    elements: Mapping[str, Any] | None = None,
    thresholds: Thresholds | None = None,
) -> Symmetries:
    """The symmetries of the distribution, by test functions."""
    group = join(timeout=run.timeout) if run.processes == "all" else None
    try:
        with seeded(run.seed), torch.inference_mode(False), torch.no_grad():
            return run_collectively(
                group,
                partial(
                    _analysed,
                    batches,
                    action,
                    classes=classes,
                    held=held,
                    run=run,
                    group=group,
                    functions=functions,
                    elements=elements,
                    thresholds=thresholds,
                ),
            )
    finally:
        leave(group)


def _analysed(
    batches: Batches,
    action: Action,
    *,
    classes: Classes,
    held: Batches | None,
    run: Run,
    group: Any,
    functions: Any,
    elements: Mapping[str, Any] | None,
    thresholds: Thresholds | None,
) -> Symmetries:
    """The passes over the data, and what follows from them."""
    first, seed = _some(batches), run.seed
    action.check(tuple(first.shape[1:]))
    check_own_motion(action, first)
    _check_spread(first)
    if elements:
        move_by_elements(elements, action, first[: 2 * FEWEST_HALVES], seed=seed)
    chosen = choose_functions(functions, action, first, seed=seed, classes=classes.count)
    reading = Reading(
        batches=batches,
        action=action,
        first=first,
        classes=classes,
        assigner=BlockAssigner(BLOCKS, as_groups(run.groups)),
        group=group,
        progress=run.progress,
    )
    reading.check_alike(functions=chosen.name, seed=seed)
    sums = means_of(reading, chosen)
    with threads(1):
        concluded = partial(
            conclude,
            action,
            sums,
            thresholds or Thresholds(),
            functions=classes.in_words(chosen.name),
            shape=tuple(first.shape[1:]),
            seed=seed,
        )
        doubts = _doubts(first, action, clustered=functions is None)
        sym = concluded(doubts=doubts)
        own = is_own(functions)
        count = FUNCTIONS if own else chosen.size
        further, finer = further_tests(sym, reading, count=count, own=own, seed=seed)
        moved, fails = _held_out_tests(sym, held, seed=seed)
        if more := tuple(one for one in (finer, fails) if one is not None):
            sym = concluded(doubts=(*doubts, *more))
        if elements:
            some, label = _with_labels(batches, classes)
            moved += move_by_elements(elements, action, some, seed=seed, label=label)
    if sym.distribution is None:
        return sym
    return replace(sym, distribution=replace(sym.distribution, moved=moved, further=further))


def _check_agreement(sym: Symmetries, density: Symmetries) -> None:
    """Raise `ArgumentError` if something rejects what the discriminator found: it then has not learned what breaks it."""
    tests, doubts = density.distribution, {one.diagnosis: one for one in density.decision.warnings}
    further = doubts.get(Diagnosis.DATA_FAILS_FURTHER)
    failing = doubts.get(Diagnosis.DATA_FAILS_WHEN_MOVED)
    if Diagnosis.DATA_CLUSTERED in doubts:
        why = "the samples lie in tight clusters"
    elif failing is not None:
        why = f"held-out samples that are moved do not look like the others (p = {failing.values['p']:.2g})"
    elif further is not None:
        why = f"test functions reject it (p = {further.values['p']:.1g})"
    elif tests is not None and tests.found != sym.nullity:
        why = f"test functions reject it (p = {tests.next_p:.1g})"
    else:
        return
    raise ArgumentError(
        f"the discriminator hardly changes under {', '.join(sym.words) or sym.name}, but {why}: the network has not learned what tells "
        "the data apart. Use question='density'."
    )


def _on_cpu(data: Data, batch_size: int | None = None) -> Batches:
    """Batches in float64 on the CPU, wherever the data is: many small sums are not worth a GPU."""
    return as_batches(data, batch_size=batch_size).prepared(torch.float64, torch.device("cpu"))


def _checked_held_out(held_out: Data, action: Action, *, fewest: int) -> Batches:
    """Held-out samples, read once before anything is computed, so that bad ones cost no result."""
    held, count = _on_cpu(held_out), 0
    try:
        for batch in held:
            action.check(tuple(batch.shape[1:]))
            count += len(batch)
    except DataError as error:
        raise type(error)(f"held_out: {error}") from error
    if count < fewest:
        raise ArgumentError(
            f"held_out has {plural(count, 'sample')}; at least {fewest} are needed to verify anything."
        )
    return held


def _checked_run(run: Run) -> Run:
    """Raise `ArgumentError` for a field that is about models."""
    used, plain = ("seed", "groups", "batch_size", "progress", "processes", "timeout"), Run()
    for field in fields(run):
        value = getattr(run, field.name)
        if field.name not in used and value != getattr(plain, field.name):
            raise ArgumentError(
                f"run=liegg.Run({field.name}={value!r}) is about models, and discover_data() has none. Of Run it uses "
                f"{', '.join(used)}."
            )
    return run


def _together(batches: Batches, action: Action) -> Float[Tensor, "b ..."]:
    """All samples at once, checked."""
    x = torch.cat([*batches])
    if len(x) < FEWEST_DECIDED:
        raise ArgumentError(f"the data has {len(x)} samples; at least {FEWEST_DECIDED} are needed.")
    action.check(tuple(x.shape[1:]))
    check_own_motion(action, x)
    _check_spread(x)
    return x


def _check_spread(x: Float[Tensor, "b ..."]) -> None:
    """Raise `ArgumentError` for samples that are all the same, or too small for their squares."""
    largest = float((x - x[:1]).abs().max())
    if largest == 0:
        raise ArgumentError("all samples are the same; expected samples that differ.")
    if largest**2 < torch.finfo(torch.float64).tiny:
        raise ArgumentError(
            f"the samples differ by {largest:.0e} at most, too little to be squared. Rescale the data."
        )


def _check_model_free(question: str, **given: Any) -> None:
    """Raise `ArgumentError` for arguments that only the test of a distribution has."""
    for name, value in given.items():
        if value is not None and (name, question) != ("labels", "label"):
            raise ArgumentError(
                f"{name}= is for question='density', not for question={question!r}. Leave it out."
            )


def _held_out_tests(
    sym: Symmetries, held: Batches | None, *, seed: int
) -> tuple[tuple[MovedTest, ...], Remark | None]:
    """Tests of held-out samples moved along the symmetries, and what speaks against these."""
    if held is None:
        return (), None
    tests = move_held_out(sym, _some(held), seed=seed)
    level = max(MOVED_LEVEL / max(len(tests), 1), 1 / (1 + PERMUTATIONS))
    failing = [one for one in tests if one.p_value <= level]
    if not failing:
        return tests, None
    return tests, Diagnosis.DATA_FAILS_WHEN_MOVED(
        count=len(failing),
        names=", ".join(one.name for one in failing),
        p=min(one.p_value for one in failing),
    )


def _doubts(x: Float[Tensor, "b ..."], action: Action, *, clustered: bool) -> tuple[Remark, ...]:
    """Why the answer about such samples cannot be trusted, whatever it is."""
    doubt = _off_centre(x, action) or (_clustered(x) if clustered else None)
    return () if doubt is None else (doubt,)


def _off_centre(x: Float[Tensor, "b ..."], action: Action) -> Remark | None:
    """Say that affine maps move vectors about a far point, where rotations are nearly translations; None if it is near."""
    if not isinstance(action, MatrixAction) or not action.homogeneous or x.ndim != 2:
        return None
    if action.ambient != x.shape[1] + 1:
        return None
    mean = x.mean(0)
    ratio = float(mean.norm()) / float((x - mean).square().sum(1).mean().sqrt())
    return Diagnosis.DATA_OFF_CENTRE(ratio=ratio) if ratio > FARTHEST_MEAN else None


def _clustered(x: Float[Tensor, "b ..."]) -> Remark | None:
    """Say that samples lie in tight clusters; None if they do not."""
    found = clusters(sample_sketch.update(sample_sketch.init(), sample_hashes(x).cpu(), x))
    return Diagnosis.DATA_CLUSTERED(clusters=found) if found else None


def _with_labels(
    batches: Batches, classes: Classes
) -> tuple[Float[Tensor, "b ..."], Int[Tensor, " b"] | None]:
    """Some samples with their classes; None without labels."""
    if classes.numbers is None:
        return _some(batches), None
    step = max(1, len(classes.numbers) // SCALE_SAMPLES)
    some, labels = [], []
    for number, x in batches.numbered():
        places = torch.arange(-number % step, len(x), step)
        some.append(x[places])
        labels.append(classes.numbers[number + places])
    return torch.cat(some), torch.cat(labels)


def _some(batches: Batches) -> Float[Tensor, "b ..."]:
    """Some samples: evenly spaced ones, or the first if samples cannot be indexed."""
    with closing(iter(batches)) as iterator:
        first = next(iterator)
        some = batches.some(SCALE_SAMPLES, first) if len(first) < SCALE_SAMPLES else first
        if len(some) > len(first) or len(first) >= SCALE_SAMPLES:
            return some
        parts, count = [first], len(first)
        while count < SCALE_SAMPLES and (following := next(iterator, None)) is not None:
            parts.append(following)
            count += len(following)
    return torch.cat(parts)
