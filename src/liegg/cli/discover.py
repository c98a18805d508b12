"""`liegg discover`."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from liegg._utils.errors import LieggError
from liegg.cli._shared import (
    RESUMABLE,
    STOPPED,
    Classes,
    Json,
    Quiet,
    Variance,
    deliver,
    exit_codes,
    increments,
    print_error,
    print_result,
    progress_bar,
    progress_bars,
)
from liegg.cli.discover_options import (
    NEEDS_MODEL,
    NEEDS_NO_MODEL,
    About,
    ActionText,
    AtText,
    BatchSize,
    Bottom,
    Budget,
    Checkpoint,
    CheckpointEvery,
    Control,
    ControlDraws,
    Controls,
    Data,
    DataQuestion,
    Device,
    Group,
    Groups,
    HeldOut,
    Labels,
    Layers,
    Limit,
    Model,
    Moves,
    Names,
    NumberOfSamples,
    Out,
    OutputAction,
    Outputs,
    OutputText,
    Route,
    Seed,
    Size,
    TargetText,
    Timeout,
    Title,
    TrustModel,
    VerifyEffort,
    Weights,
)

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from liegg import Run
    from liegg.cli.files import Samples
    from liegg.results.group_symmetries import GroupSymmetries
    from liegg.results.layers import LayerSymmetries
    from liegg.results.run_folder import Clock
    from liegg.results.symmetries import Symmetries


def discover(
    data: Data,
    action: ActionText,
    model: Model = None,
    labels: Labels = None,
    question: DataQuestion = "density",
    weights: Weights = None,
    trust_model: TrustModel = False,
    groups: Groups = None,
    size: Size = None,
    samples: NumberOfSamples = None,
    device: Device = None,
    moves: Moves = None,
    names: Names = None,
    output_action: OutputAction = None,
    outputs: Outputs = "each",
    target: TargetText = None,
    output: OutputText = None,
    at: AtText = None,
    about: About = None,
    limit: Limit = None,
    layers: Layers = False,
    group: Group = False,
    controls: Controls = True,
    control: Control = None,
    control_draws: ControlDraws = None,
    held_out: HeldOut = None,
    verify_effort: VerifyEffort = "auto",
    seed: Seed = 0,
    out: Out = None,
    title: Title = None,
    variance: Variance = False,
    classes: Classes = None,
    json: Json = False,
    quiet: Quiet = False,
    batch_size: BatchSize = None,
    route: Route = "auto",
    budget: Budget = None,
    bottom: Bottom = None,
    checkpoint: Checkpoint = None,
    checkpoint_every: CheckpointEvery = 30.0,
    timeout: Timeout = 1800.0,
) -> None:
    """Find the symmetries of your model on your data, or without --model those of the data set.

    --out writes a run folder: record.json and arrays.safetensors (read by liegg.load), the first samples, report.html (open
    it in a browser) and log.txt; with --group also group.json and group.html. `liegg show`, `liegg report` and `liegg compare`
    read the folder. --quiet prints only the number of symmetries, and the name of the group with --group.

    Examples:

    liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action linear:5x2 --out run

    liegg discover --model nets:cnn --weights w.pt --data images.npy --action image:affine --held-out 0.2 --layers --out run

    liegg discover --model nets:energy --data molecules.npy --action affine:3x9 --group --out run

    liegg discover --model net.onnx --data table.csv --action linear:5 --samples 1000

    liegg discover --model nets:energy --weights last.ckpt --data molecules.npz --moves pos --action affine:3x20

    liegg discover --model model.pt2 --trust-model --data x.npz:points --action affine:3x20 --output-action linear:3 --json

    liegg discover --data x.npy --action linear:4 --held-out 0.2 --out run

    torchrun --nproc-per-node 4 -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda

    srun --ntasks 4 python -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda
    """  # noqa: D412
    options = SimpleNamespace(**locals())  # all parameters: helpers take them together
    with exit_codes(STOPPED if checkpoint is None else RESUMABLE):
        _check_options(options)
        if model is None:
            from liegg.cli.discover_data import discover_data

            discover_data(options)
        else:
            _discover(options)


def _check_options(options: SimpleNamespace) -> None:
    """Raise for options that need a model where there is none, or the other way round."""
    for name, parameter in signature(discover).parameters.items():
        if getattr(options, name) == parameter.default:
            continue
        flag = f"--{name.replace('_', '-')}"
        if options.model is None and name in NEEDS_MODEL:
            raise typer.BadParameter(f"{flag} needs a model: pass --model, or leave {flag} out.")
        if options.model is not None and name in NEEDS_NO_MODEL:
            raise typer.BadParameter(f"{flag} is for a data set alone: leave out --model.")
    for name, moves in (("layers", "the input"), ("moves", "an array of the file")):
        if getattr(options, name) and options.at is not None:
            raise LieggError(
                f"--{name} is for motions of {moves}, and --at for motions of the output of a layer, computed from all arrays "
                "of the file. Leave one of them out."
            )


class _Inputs(NamedTuple):
    """Loaded inputs: `shown` and `classes` are for the report, `question` is shared with the layers."""

    model: Any
    samples: "Samples"
    shown: "Tensor | None"
    classes: list[str] | None
    question: dict[str, Any]


def _discover(options: SimpleNamespace) -> None:
    """Load, analyse, write and print; the options are the parameters of `discover`."""
    import liegg
    from liegg.cli.models import FACTORY_WEIGHTS, uses_factory_weights
    from liegg.polarization import launcher
    from liegg.results.run_folder import Clock

    names = "seed batch_size route budget bottom control_draws verify_effort checkpoint checkpoint_every timeout"
    run = liegg.Run(**{name: getattr(options, name) for name in names.split()})
    clock = Clock()
    is_first = launcher.rank() == 0  # of several processes only the first prints and writes
    say = print_error if is_first else str
    hidden = options.quiet or options.json or not is_first
    inputs = _in_all_processes(lambda: _load(options, say), options.timeout)
    samples = inputs.samples
    count = samples.number
    clock.note(f"loaded {options.model} and {count} samples of {options.data}")
    if uses_factory_weights(inputs.model, options.weights):
        clock.note(FACTORY_WEIGHTS)
        say(FACTORY_WEIGHTS)
    if (evaluations := _expected_evaluations(inputs, run)) is not None:
        clock.note(evaluations)
        print_error(evaluations) if not hidden else None
    own = count // launcher.world_size()
    with progress_bars(hidden, "samples") as advance:
        sym = liegg.discover(
            inputs.model,
            samples.analysed,
            **inputs.question,
            target=_target(options, inputs),
            at=options.at,
            about=() if options.about == ["none"] else options.about,
            controls=_controls(options.controls, options.control),
            held_out=samples.held_out,
            run=replace(
                run,
                groups=samples.groups,
                progress=lambda done: advance("reading the data through the model", done, own),
                about_progress=increments("trying named motions", advance),
                verify_progress=increments("verifying on held-out samples", advance),
            ),
        )
    clock.note(f"found {sym.nullity} symmetries")
    if is_first:
        _finish(options, sym, inputs, clock, hidden=hidden)
    launcher.end()


def _expected_evaluations(inputs: _Inputs, run: "Run") -> str | None:
    """How often finite differences will evaluate the model; None if there are derivatives."""
    from liegg.actions import Action
    from liegg.inputs.foreign.recognise import as_foreign
    from liegg.polarization.finite.evaluations import expected

    foreign, action = as_foreign(inputs.model), inputs.question["action"]
    finite = run.route == "finite" or (foreign is not None and not foreign.differentiable)
    if not finite or not isinstance(action, Action):
        return None
    count = expected(action, samples=inputs.samples.number, batch_size=run.batch_size)
    limit = "" if run.budget is None else f", limited to {run.budget}"
    return f"finite differences: {count}{limit}."


def _finish(
    options: SimpleNamespace, sym: "Symmetries", inputs: _Inputs, clock: "Clock", *, hidden: bool
) -> None:
    """Analyse the layers if asked, print, and write; failures are reported after everything else is stored."""
    from liegg._utils.diagnoses import Diagnosis
    from liegg.results.run_folder import add_page, write_run

    layers, group, failure = None, None, None
    try:
        if options.group:
            group = _search_group(options, sym, inputs, clock)
        if options.layers:
            layers = _analyse_layers(inputs, clock, options, hidden=hidden)
    except (Exception, KeyboardInterrupt) as error:  # what was found before it is not lost
        failure = error

    def say() -> None:
        how = {name: getattr(options, name) for name in ("json", "quiet", "variance")}
        short = str(sym.nullity) if group is None else f"{sym.nullity} {group.name}"
        print_result(sym, layers, short, group=group, **how)

    def store(out: "Path") -> "Path":
        shown = {"samples": inputs.shown, "classes": inputs.classes}
        more = {"layers": layers, "group": group, "clock": clock, "title": options.title}
        page = write_run(out, sym, **more, **shown)
        if group is not None:
            drawn = inputs.samples.analysed if options.moves else inputs.shown
            add_page(out, group, model=inputs.model, **shown | {"samples": drawn})
        return page

    results, silent = (sym, layers, group), options.json or options.quiet
    unprinted = deliver(results, say, store, out=options.out, hidden=silent)
    for note in sym.notes:
        if note.diagnosis is Diagnosis.VERIFICATION_FAILED:
            raise LieggError(str(note))
    if isinstance(failure, LieggError):
        missing = "group is" if options.group and group is None else "layers are"
        raise LieggError(f"the result is complete, but its {missing} missing: {failure}")
    for error in (unprinted, failure):
        if error is not None:
            raise error


def _load(options: SimpleNamespace, say: Callable[[str], object]) -> _Inputs:
    """Read everything that the options name, and check what would fail only after the analysis."""
    from torch.nn import Module

    import liegg
    from liegg.cli import files
    from liegg.cli.models import load_model
    from liegg.cli.parse import parse_action, parse_output, parse_thresholds
    from liegg.polarization import launcher
    from liegg.results.run_folder import check_run_folder

    samples = files.load_samples(
        options.data,
        options.held_out,
        options.groups,
        size=options.size,
        samples=options.samples,
        named=True if options.moves else False if options.at is None else None,
    )
    device = options.device and launcher.local_device(options.device)
    model = load_model(options.model, options.weights, device, trusted=options.trust_model, say=say)
    if options.layers and not isinstance(model, Module):
        raise LieggError(
            f"--layers needs a torch.nn.Module; {options.model} gave a {type(model).__name__}. Leave "
            "--layers out, or name a factory that returns a module."
        )
    if options.out is not None and launcher.rank() == 0:
        check_run_folder(options.out)
    outputs, output_action = options.outputs, options.output_action
    action = parse_action(options.action, options.names)
    question = {
        "action": dict.fromkeys(options.moves, action) if options.moves else action,
        "output_action": None if output_action is None else parse_action(output_action),
        "outputs": int(outputs) if outputs.isdigit() else outputs,
        "output": parse_output(options.output),
        "thresholds": liegg.Thresholds(**parse_thresholds(options.limit or [])),
    }
    shown = None  # an inner point has other samples than the file
    if options.at is None:
        shown = files.first_samples(samples.analysed)  # their predictions are stored
    return _Inputs(model, samples, shown, files.class_names(options.classes), question)


def _in_all_processes(load: Callable[[], _Inputs], timeout: float) -> _Inputs:
    """Load in every process; if one fails, all of them report why and none waits for it."""
    from liegg.polarization import launcher
    from liegg.polarization.distributed import JOIN_SECONDS, join, leave, run_collectively

    launcher.join(min(JOIN_SECONDS, timeout))
    group = join(timeout=timeout)
    try:
        return run_collectively(group, load)
    finally:
        leave(group)


def _target(options: SimpleNamespace, inputs: _Inputs) -> Any:
    """The target; `--classes` says that outputs are classes."""
    from liegg.cli.parse import parse_target

    if options.target is not None:
        return parse_target(options.target)
    return "classes" if inputs.classes else None


def _controls(controls: bool, control: str | None) -> Any:
    """The controls of `liegg.discover` that --no-controls and --control ask for."""
    if control is not None and not controls:
        raise typer.BadParameter("--control needs the controls that --no-controls switches off.")
    return control if control is not None else "random" if controls else "none"


def _search_group(
    options: SimpleNamespace, sym: "Symmetries", inputs: _Inputs, clock: "Clock"
) -> "GroupSymmetries":
    """Search for finite symmetries, with the continuous ones as the identity component."""
    import liegg
    from liegg.cli.parse import parse_target

    asked = ("action", "output_action", "output", "thresholds")
    found = liegg.discover_group(
        inputs.model,
        inputs.samples.analysed,
        **{name: inputs.question[name] for name in asked},
        continuous=sym,
        run=liegg.Run(seed=options.seed),
        target=parse_target(options.target),
        held_out=inputs.samples.held_out,
    )
    clock.note(f"searched for finite symmetries: {found.name}")
    return found


def _analyse_layers(
    inputs: _Inputs, clock: "Clock", options: SimpleNamespace, *, hidden: bool
) -> "LayerSymmetries":
    """Find the symmetries of every layer."""
    import liegg

    samples = inputs.samples
    with progress_bar("analysing the layers", samples.number, "samples", hidden=hidden) as progress:
        run = liegg.Run(seed=options.seed, batch_size=options.batch_size, progress=progress)
        result = liegg.discover_layers(inputs.model, samples.analysed, **inputs.question, run=run)
    clock.note(f"analysed {len(result)} layers")
    return result
