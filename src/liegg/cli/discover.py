"""`liegg discover`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast

import typer

from liegg.cli._shared import (
    INPUT,
    LARGE_RUNS,
    OUTPUT,
    QUESTION,
    RESUMABLE,
    STOPPED,
    TRUST,
    Json,
    Quiet,
    exit_codes,
    print_error,
    print_result,
    progress_bar,
)

if TYPE_CHECKING:
    from torch import Tensor

    from liegg.actions import Action
    from liegg.cli.files import Samples
    from liegg.results.layers import LayerSymmetries
    from liegg.results.run_folder import Clock

Loaded = TypeVar("Loaded")

ACTION_EXAMPLES = [
    ("linear:3", "linear maps of a vector in 3 dimensions"),
    ("linear:5x2", "the same linear map of two vectors in 5 dimensions"),
    ("affine:3x20", "linear maps and translations of 20 points in space"),
    ("image", "linear maps of the plane about the centre of an image"),
    ("image:affine", "linear maps and translations of the plane"),
    ("image:similarity", "rotation, scaling and translations"),
    ("image:euclidean", "rotation and translations"),
    ("image:affine:28x28", "the same for flattened images"),
    ("image+color", "the plane and the colours in one spectrum"),
    ("color", "affine maps of the colours"),
    ("volume", "linear maps of space, for volumes"),
    ("sequence", "stretching time about the middle"),
    ("sequence:affine", "stretching and shifting time"),
]
"""What tab completion offers for an action."""

FACTORY_WEIGHTS = (
    "no --weights: the model is analysed with the weights that its factory gives it (under seed 0)."
)


def _complete_action(incomplete: str) -> list[tuple[str, str]]:
    return [(word, meaning) for word, meaning in ACTION_EXAMPLES if word.startswith(incomplete)]


def _option(panel: str, help: str, *names: str, choices: tuple[str, ...] = ()) -> Any:  # noqa: A002
    """An option of a panel; tab completion offers the choices."""
    complete = (
        (lambda incomplete: [word for word in choices if word.startswith(incomplete)])
        if choices
        else None
    )
    return typer.Option(*names, help=help, rich_help_panel=panel, autocompletion=complete)


Model = Annotated[
    str,
    _option(
        INPUT,
        "package.module:factory (called without arguments), or an exported program model.pt2.",
    ),
]
Weights = Annotated[
    Path | None,
    _option(
        INPUT, "Weights for the factory's module: .safetensors, or a state dict in .pt or .pth."
    ),
]
Data = Annotated[str, _option(INPUT, "x.npy with samples along the first axis, or x.npz:name.")]
Groups = Annotated[
    str | None,
    _option(INPUT, "g.npy with one label per sample; samples with the same label stay together."),
]
Device = Annotated[
    str | None,
    _option(
        INPUT, "Where to run the model: cpu, cuda, cuda:1, mps (default: where its weights are)."
    ),
]
ActionText = Annotated[
    str,
    typer.Option(
        help="What may move a sample: linear:5x2 (gl(5) on two vectors), affine:3x20, image, "
        "image:affine:28x28, color, image+color.",
        rich_help_panel=QUESTION,
        autocompletion=_complete_action,
    ),
]
OutputAction = Annotated[
    str | None,
    typer.Option(
        help="Test for equivariance: action on the outputs, written as --action.",
        rich_help_panel=QUESTION,
        autocompletion=_complete_action,
    ),
]
Outputs = Annotated[
    str,
    _option(
        QUESTION,
        "each output, their sum (as in the paper), or a number of random combinations.",
        choices=("each", "sum"),
    ),
]
Limit = Annotated[
    list[str] | None,
    _option(
        QUESTION,
        "Threshold of the decision; repeatable: threshold=0.05, strong=0.001, minimum_gap=5, …",
    ),
]
Layers = Annotated[
    bool,
    _option(
        QUESTION,
        "Analyse every layer as well, with the same outputs and thresholds but no intervals.",
        "--layers",
    ),
]
Controls = Annotated[bool, _option(TRUST, "Compute intervals, and compare with random directions.")]
Control = Annotated[
    str | None,
    _option(
        TRUST,
        "reinitialised: compare with the same architecture with re-initialised weights as well.",
        choices=("reinitialised",),
    ),
]
ControlDraws = Annotated[int, _option(TRUST, "Number of re-initialised models.")]
HeldOut = Annotated[
    str | None,
    _option(
        TRUST,
        "Verify finite transformations on these samples: a file as for --data, or a fraction of the "
        "data such as 0.2.",
    ),
]
Seed = Annotated[int, _option(TRUST, "Random seed.")]
BatchSize = Annotated[
    int | None, _option(LARGE_RUNS, "Samples per batch (default: chosen automatically).")
]
Route = Annotated[
    str,
    _option(
        LARGE_RUNS,
        "How to differentiate the model: auto, jvp, vjp or autograd.",
        choices=("auto", "jvp", "vjp", "autograd"),
    ),
]
Bottom = Annotated[
    int | None,
    _option(LARGE_RUNS, "Compute only the k smallest defects; for many thousands of candidates."),
]
Checkpoint = Annotated[
    Path | None, _option(LARGE_RUNS, "Checkpoint file; repeat the command after a crash to resume.")
]
CheckpointEvery = Annotated[float, _option(LARGE_RUNS, "Minimum seconds between two checkpoints.")]
Timeout = Annotated[
    float,
    _option(
        LARGE_RUNS, "Seconds that one process waits for the others (two minutes at the start)."
    ),
]
Out = Annotated[Path | None, _option(OUTPUT, "Run folder for the result and its report.")]
Title = Annotated[str | None, _option(OUTPUT, "Heading of the report.")]


def discover(
    model: Model,
    data: Data,
    action: ActionText,
    weights: Weights = None,
    groups: Groups = None,
    device: Device = None,
    output_action: OutputAction = None,
    outputs: Outputs = "each",
    limit: Limit = None,
    layers: Layers = False,
    controls: Controls = True,
    control: Control = None,
    control_draws: ControlDraws = 5,
    held_out: HeldOut = None,
    seed: Seed = 0,
    out: Out = None,
    title: Title = None,
    json: Json = False,
    quiet: Quiet = False,
    batch_size: BatchSize = None,
    route: Route = "auto",
    bottom: Bottom = None,
    checkpoint: Checkpoint = None,
    checkpoint_every: CheckpointEvery = 30.0,
    timeout: Timeout = 1800.0,
) -> None:
    """Find the symmetries of your model on your data.

    --out writes a run folder: record.json and arrays.safetensors (read by liegg.load), the first samples, report.html (open
    it in a browser) and log.txt. `liegg show`, `liegg report` and `liegg compare` read the folder. --quiet prints only the
    number of symmetries.

    Examples:

    liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action linear:5x2 --out run

    liegg discover --model nets:cnn --weights w.pt --data images.npy --action image:affine --held-out 0.2 --layers --out run

    liegg discover --model model.pt2 --data x.npz:points --action affine:3x20 --output-action linear:3 --json

    torchrun --nproc-per-node 4 -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda

    srun --ntasks 4 python -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda
    """  # noqa: D412
    with exit_codes(STOPPED if checkpoint is None else RESUMABLE):
        from liegg.cli import files
        from liegg.cli.actions import parse_action, parse_thresholds
        from liegg.cli.models import load_model, uses_factory_weights
        from liegg.decision.thresholds import Thresholds
        from liegg.discovery.discover import discover as analyse
        from liegg.discovery.run import Run
        from liegg.polarization import launcher
        from liegg.results.run_folder import Clock, write_run

        def load() -> _Inputs:
            samples = files.load_samples(data, held_out, groups)
            network = load_model(model, weights, device and launcher.local_device(device))
            if folder is not None:
                files.make_folder(folder)
            arguments = {
                "output_action": None if output_action is None else parse_action(output_action),
                "outputs": int(outputs) if outputs.isdigit() else outputs,
                "seed": seed,
                "thresholds": Thresholds(**parse_thresholds(limit or [])),
            }
            return _Inputs(
                network,
                samples,
                parse_action(action),
                files.first_samples(
                    samples.analysed if samples.held_out is None else samples.held_out
                ),
                arguments,
            )

        run = Run(
            batch_size=batch_size,
            route=cast(Any, route),
            bottom=bottom,
            control_draws=control_draws,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            timeout=timeout,
        )
        clock = Clock()
        is_first = launcher.rank() == 0  # of several processes only the first prints and writes
        folder = out if is_first else None
        hidden = quiet or json or not is_first
        with files.removed_on_failure(folder):
            inputs = _in_all_processes(load, timeout)
            count = len(inputs.samples.analysed)
            clock.note(f"loaded {model} and {count} samples of {data}")
            if uses_factory_weights(inputs.model, weights):
                clock.note(FACTORY_WEIGHTS)
                print_error(FACTORY_WEIGHTS) if is_first else None
            label = "reading the data through the model"
            with progress_bar(
                label, count // launcher.world_size(), "samples", hidden=hidden
            ) as progress:
                sym = analyse(
                    inputs.model,
                    inputs.samples.analysed,
                    inputs.action,
                    **inputs.arguments,
                    controls=_controls(controls, control),
                    groups=inputs.samples.groups,
                    held_out=inputs.samples.held_out,
                    run=replace(run, progress=progress),
                )
        clock.note(f"found {sym.nullity} symmetries")
        if is_first:
            of_layers = None
            if layers:
                of_layers = _analyse_layers(inputs, clock, batch_size, hidden=hidden)
            page = out and write_run(
                out, sym, samples=inputs.shown, layers=of_layers, clock=clock, title=title
            )
            print_result(sym, of_layers, str(sym.nullity), json=json, quiet=quiet)
            if page and not (json or quiet):
                typer.echo(f"\nRun folder: {out}\nReport: {page}")
        launcher.end()


class _Inputs(NamedTuple):
    """What was loaded: `shown` are the samples of the report, `arguments` are those that layers share."""

    model: Any
    samples: "Samples"
    action: "Action"
    shown: "Tensor"
    arguments: dict[str, Any]


def _in_all_processes(load: Callable[[], Loaded], timeout: float) -> Loaded:
    """Load in every process; if one fails, all of them report why and none waits for it."""
    from liegg.polarization import launcher
    from liegg.polarization.distributed import JOIN_SECONDS, join, leave, run_collectively

    launcher.join(min(JOIN_SECONDS, timeout))
    group = join(timeout=timeout)
    try:
        return run_collectively(group, load)
    finally:
        leave(group)


def _controls(controls: bool, control: str | None) -> Any:
    """The controls of `liegg.discover` that --no-controls and --control ask for."""
    if control is not None and not controls:
        raise typer.BadParameter("--control needs the controls that --no-controls switches off.")
    return control if control is not None else "random" if controls else "none"


def _analyse_layers(
    inputs: _Inputs, clock: "Clock", batch_size: int | None, *, hidden: bool
) -> "LayerSymmetries":
    """Find the symmetries of every layer."""
    from liegg.discovery.layers.discover_layers import discover_layers
    from liegg.discovery.run import Run

    samples = inputs.samples.analysed
    with progress_bar("analysing the layers", len(samples), "samples", hidden=hidden) as progress:
        result = discover_layers(
            inputs.model,
            samples,
            inputs.action,
            **inputs.arguments,
            run=Run(batch_size=batch_size, progress=progress),
        )
    clock.note(f"analysed {len(result)} layers")
    return result
