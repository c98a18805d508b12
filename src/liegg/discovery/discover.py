"""The verb: a model and data in, symmetries out."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from torch import Tensor
from torch.utils.data import DataLoader, SequentialSampler

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, plural
from liegg._utils.errors import ArgumentError, DataError, LieggError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.agreement import everything
from liegg.discovery.analyse import analyse
from liegg.discovery.inner import Asked, at_inner_point
from liegg.discovery.output_whitening import AskedOutputs
from liegg.discovery.reinitialised import with_reinitialised
from liegg.discovery.request import Request
from liegg.discovery.run import Run
from liegg.discovery.structured import Inputs, as_samples, with_inputs
from liegg.discovery.verification.verify import verify
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.foreign.recognise import with_columns
from liegg.inputs.output_field import Field
from liegg.inputs.part import asked_part
from liegg.inputs.reinitialise import reinitialise
from liegg.inputs.target import Target
from liegg.inputs.task import split_task
from liegg.polarization.checkpoint import check_path
from liegg.polarization.distributed import (
    Group,
    PassOptions,
    check_agreement,
    join,
    leave,
    run_collectively,
)
from liegg.polarization.sample_blocks import BlockAssigner, as_groups, count_for
from liegg.results.symmetries import Symmetries
from liegg.results.verified import with_verification

Control = Literal["none", "random", "reinitialised"]

TOLERANCE_ADVICE = (
    "Pass thresholds=liegg.Thresholds(threshold=...), the largest defect of a symmetry."
)
INTERVAL_ADVICE = (
    "Intervals are always made; pass thresholds=liegg.Thresholds(level=...) for another coverage."
)

ADVICE = {
    "device": "The model runs on its own device: move the model, for example model.cuda().",
    "dtype": "The model runs in its own precision: convert the model, for example model.double().",
    "control": "Pass controls='reinitialised'.",
    "limits": "Pass thresholds=liegg.Thresholds(...).",
    **dict.fromkeys(("tol", "tolerance", "rtol", "rank_tol"), TOLERANCE_ADVICE),
    **dict.fromkeys(("bootstrap", "confidence", "ci", "alpha"), INTERVAL_ADVICE),
    **dict.fromkeys(
        ("questions", "question", "motions"),
        "Pass about='rotation', or a mapping of names to generators.",
    ),
    **dict.fromkeys(("held", "test", "validation"), "Pass held_out= samples."),
    **dict.fromkeys(
        ("group", "generators", "candidates"),
        "Pass the candidates as action=, for example liegg.Linear(3).",
    ),
    "n_samples": "Pass fewer samples, for example data[:1000].",
    "num_workers": "Pass a DataLoader with num_workers=.",
    "shuffle": "The order of the samples does not matter.",
    "verbose": "Pass run=liegg.Run(progress=...), a function of the number of samples done.",
    "task": "Pass target='classes' or target='values'.",
    "verify": "Pass held_out= samples, or call liegg.verify.",
    **{name: f"Pass run=liegg.Run({name}=...)." for name in Run.__dataclass_fields__},
    **{
        name: f"Pass thresholds=liegg.Thresholds({name}=...)."
        for name in Thresholds.__dataclass_fields__
    },
}
"""Keywords of `Run`, of `Thresholds` and of other libraries, and what to type instead."""


VERIFIED_SAMPLES = 256
"""Held-out samples that are read."""


@checked(ADVICE)
@one_at_a_time
def discover(
    model: Any,
    data: Data,
    action: Action | Mapping[Any, Any],
    *,
    output_action: Action | None = None,
    outputs: AskedOutputs = "each",
    target: Target = None,
    output: Field = None,
    call: Callable[..., Any] | None = None,
    at: str | None = None,
    about: Any = None,
    held_out: Data | None = None,
    controls: Control = "random",
    thresholds: Thresholds | None = None,
    run: Run | None = None,
) -> Symmetries:
    r"""Find the generators of the Lie group under which a model's output does not change, or changes in a known way.

    Solves $\langle \partial f_c(x), \xi_h(x) \rangle = 0$ for all samples and outputs by least squares, in one pass over the data.

    Args:
        model: `nn.Module` (analysed in eval mode and left as it was), exported program, or callable on batches.
        data: tensor or array `[N, *x]`, DataFrame (its columns name the coordinates of an action without `names=`), Dataset,
            DataLoader, or re-iterable of batches; labels are ignored. Or structured samples: trees of tensors (dictionaries,
            tuples, dataclasses, NamedTuples, TensorDicts), graphs of PyG, and lists of samples of different sizes.
        action: the candidate generators, such as `liegg.Linear(5, copies=2)`; for structured samples a mapping from paths to
            actions, `{"pos": liegg.Affine(3)}`. One action object at several paths moves them together, different ones move
            independently; all other tensors are context that stays.
        output_action: action on the outputs; the question is then equivariance, $f(e^{h}x) = e^{k} f(x)$.
        outputs: `"each"` output is a constraint of its own; `"sum"` is what the paper does; a number `k` takes k random
            combinations. `"whitened"` takes every independent combination of the outputs in units of its own spread, so that
            defects do not depend on how outputs are scaled, mixed or repeated; small combinations then count as much as large ones.
        target: what is asked of the output of a classifier: a class (`3`, its logit), several (`[3, 5]`), the difference of two
            logits (`"3 minus 5"`), the `"margin"` of the predicted class over the next, `"probabilities"` or
            `"log_probabilities"` (softmax of the logits). Classes count from 0, in the flattened output. None asks about all
            outputs. So do `"classes"` and `"values"`, which also say what several outputs are, for answers about finite motions:
            scores of classes, of which the largest is the prediction, or values, as in a regression. Without these words they are
            classes if a target, the field `logits`, labels in the data or probabilities say so, or if their sum hardly varies,
            as cross-entropy leaves it; a note says how they were read.
        output: the field of what the model returns: a key, an attribute or an index, or a function of all of it. None takes a
            tensor as it is, and otherwise `logits` or the only floating point tensor, with a note.
        call: how a model takes structured samples, a function of the model and a batch, such as
            `lambda model, batch: model(batch["z"], batch["pos"])`. None follows its signature: `model(batch)`,
            `model(*batch)` or `model(**batch)`, with a note.
        at: an inner point of the model, for token ids and other inputs that cannot be moved: the name of a module, whose output is
            then moved, or `"embeddings"` for the model's input embeddings. The part of the model behind it is analysed; the
            samples are what arrives there for `data`, which may hold integers and is otherwise given as the model takes it.
        about: named motions to answer for: names that the action knows (`"rotation"`), or a mapping from names to generators
            (`{"rotation": liegg.so(2)}`) or to `liegg.actions.Motion`. They are in `sym.answers`: defect with interval, effect, and what
            finite motions of up to 256 samples change, beside random motions. By default the standard set of images, volumes,
            sequences and colours, on as many samples as a small part of the analysis affords; `()` for none.
        held_out: samples on which the symmetries are verified by finite transformations, see `liegg.verify`; those that fail are
            no longer counted.
        controls: `"random"` computes intervals and compares every direction with random ones; `"reinitialised"` also analyses the
            same architecture with re-initialised weights and says which directions were learned; `"none"` saves that time.
        thresholds: what counts as a symmetry; see `liegg.Thresholds`.
        run: batches, groups of samples, derivatives, seed, processes, checkpoints; see `liegg.Run`.

    Returns:
        The symmetries with defects, intervals, decision, name and settings.

    Raises:
        LieggError: bad data, a model that is not a function of one sample, arguments that make no sense, or more candidates than
            there is memory for.

    Examples:
        >>> import liegg, torch
        >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
        >>> sym.nullity, sym.name, bool(sym.angles(liegg.so(3)).max() < 1e-12)
        (3, 'so(3)', True)
    """
    run = run or Run()
    group = join(timeout=run.timeout) if run.processes == "all" else None

    def work() -> Symmetries:
        task, part = split_task(target)
        asked = Request(
            data=data,
            action=action,
            output_action=output_action,
            outputs=outputs,
            thresholds=thresholds or Thresholds(),
            run=run,
            part=asked_part(output, part, equivariance=output_action is not None, at=at),
            about=about,
            task=task,
        )
        given = Asked(with_columns(model, data), data, action, call, held_out)
        inner = at_inner_point(given, at, seed=run.seed)
        return with_inputs(
            lambda given: _discovered(inner, given, asked, group, controls=controls),
            inner.model,
            inner.data,
            inner.action,
            call=inner.call,
            seed=run.seed,
        )

    try:
        return run_collectively(group, work)
    finally:
        leave(group)


def _discovered(
    inner: Asked, given: Inputs, asked: Request, group: Group | None, *, controls: Control
) -> Symmetries:
    """The analysis with its verification and its control.

    Args:
        inner: the model and the data as the user gave them, or from an inner point on.
        given: the same as the analysis takes them.
        asked: the question.
        group: the processes that share the data; None for a single one.
        controls: what the result is compared with.
    """
    request = replace(asked, data=given.data, action=given.action)
    run, labels, held_out = request.run, as_groups(request.run.groups), inner.held_out
    _check_early(given.model, inner.data, labels, controls=controls)
    if held_out is not None:
        _check_held_out(held_out, request)
    if group is not None:
        check_agreement(
            group, everything(request, controls=controls, labels=labels, held_out=held_out)
        )
    columns = request.action.row_action.size
    columns += 0 if request.output_action is None else request.output_action.size
    assigner = None if controls == "none" else BlockAssigner(count_for(columns), labels)
    path = None if run.checkpoint is None else check_path(run.checkpoint)
    options = PassOptions(run.progress, group, path, run.checkpoint_every)
    start = time.perf_counter()
    sym = analyse(given.model, request, assigner, options)
    seconds = time.perf_counter() - start
    if held_out is not None:  # first, because it may change what the control is about
        sym = _verified(inner, held_out, sym, request)
    elif _is_refuted(sym) and request.action.structure is None:
        batches = as_batches(request.data, batch_size=run.batch_size)
        with seeded(run.seed), closing(iter(batches)) as iterator:
            sym = _verified(inner, batches.some(VERIFIED_SAMPLES, next(iterator)), sym, request)
    if controls == "reinitialised":
        sym = with_reinitialised(given.model, request, sym, options, seconds=seconds)
    return sym


def _check_early(model: Any, data: Data, labels: Tensor | None, *, controls: str) -> None:
    """Raise `ArgumentError` for what would otherwise fail only after the pass."""
    if labels is not None and controls == "none":
        raise ArgumentError(
            "groups= is for intervals, which controls='none' switches off. Leave one of them out."
        )
    sampler = getattr(data, "sampler", None)
    shuffled = isinstance(data, DataLoader) and not isinstance(sampler, SequentialSampler)
    if labels is not None and shuffled:
        raise ArgumentError(
            "groups= needs the samples in a fixed order, but the loader shuffles them. Pass shuffle=False."
        )
    if controls == "reinitialised":
        reinitialise(model, seed=0)


def _check_held_out(held_out: Data, request: Request) -> None:
    """Raise `DataError` for held-out samples that could not be verified on after the pass."""
    count = 0
    try:
        with seeded(request.run.seed):
            samples, action = as_samples(held_out, request.action)
        with seeded(request.run.seed), closing(iter(as_batches(samples))) as batches:
            for batch in batches:
                action.check(tuple(batch.shape[1:]))
                count += len(batch)
                if count >= VERIFIED_SAMPLES:
                    break
    except DataError as error:
        raise type(error)(f"held_out: {error}") from error
    if count < 2:
        raise ArgumentError(
            f"held_out has {plural(count, 'sample')}; at least 2 are needed to verify anything."
        )


def _is_refuted(sym: Symmetries) -> bool:
    """Whether finite motions along the exact directions change the output."""
    return any(one.diagnosis is Diagnosis.EXACT_REFUTED for one in sym.decision.warnings)


def _verified(here: Asked, held_out: Data, sym: Symmetries, request: Request) -> Symmetries:
    """The result with its verification, or with a note that says why there is none: it is not lost."""
    run = request.run
    try:
        found = verify(
            here.model,
            held_out,
            sym,
            target=request.part.target,
            output=request.part.output,
            call=here.call,
            seed=run.seed,
            effort=run.verify_effort,
            progress=run.verify_progress,
        )
        return with_verification(sym, found)
    except LieggError as error:
        note = Diagnosis.VERIFICATION_FAILED(error=str(error))
        return replace(sym, notes=(*sym.notes, note))
