"""`liegg discover`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer

from liegg.cli._shared import PLAIN, RESUMABLE, Json, Quiet, bar, mistakes, print_json

ACTIONS = [
    ("linear:3", "invertible maps of vectors of dimension 3"),
    ("linear:5x2", "the same map of two vectors of dimension 5 to a sample"),
    ("affine:3x20", "maps and translations of 20 points in space"),
    ("image", "linear maps of the plane, about the middle of a picture"),
    ("image:affine", "and translations"),
    ("image:similarity", "rotation and scaling"),
    ("image:euclidean", "rotation and translations"),
    ("image:affine:28x28", "of pictures that come flat"),
    ("image+color", "the plane and the colours in one spectrum"),
    ("color", "maps of the colours"),
    ("volume", "linear maps of space, on volumes"),
    ("sequence", "stretching time about the middle"),
    ("sequence:affine", "and shifting it"),
]
"""What tab completion offers for an action."""


def _actions(incomplete: str) -> list[tuple[str, str]]:
    return [(word, told) for word, told in ACTIONS if word.startswith(incomplete)]


def _one_of(*words: str) -> Any:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


Acting = (
    "linear:5x2 (gl(5) on two vectors), affine:3x20, image, image:affine:28x28, color, image+color."
)


def discover(
    model: Annotated[
        str,
        typer.Option(
            help="package.module:factory (called without arguments), or an exported program model.pt2."
        ),
    ],
    data: Annotated[
        str, typer.Option(help="x.npy with samples along the first axis, or x.npz:name.")
    ],
    action: Annotated[str, typer.Option(help=Acting, autocompletion=_actions)],
    weights: Annotated[
        Path | None,
        typer.Option(
            help="Weights loaded into the factory's module: .safetensors, or a state dict .pt or .pth."
        ),
    ] = None,
    output_action: Annotated[
        str | None,
        typer.Option(
            help="Ask for equivariance: action on the outputs, as for --action.",
            autocompletion=_actions,
        ),
    ] = None,
    outputs: Annotated[
        str,
        typer.Option(
            help="each, sum (the paper's reading), or a number of random combinations.",
            autocompletion=_one_of("each", "sum"),
        ),
    ] = "each",
    batch_size: Annotated[
        int | None, typer.Option(help="Samples to a batch; by default what suits their size.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For random combinations.")] = 0,
    route: Annotated[
        str,
        typer.Option(
            help="auto, jvp, vjp or autograd: how derivatives are taken.",
            autocompletion=_one_of("auto", "jvp", "vjp", "autograd"),
        ),
    ] = "auto",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="What counts as a symmetry, as often as needed: threshold=0.05, strong, minimum_gap, …"
        ),
    ] = None,
    controls: Annotated[
        bool, typer.Option(help="Make intervals and hold directions against random ones.")
    ] = True,
    control: Annotated[
        str | None,
        typer.Option(
            help="reinitialised: the same architecture with fresh weights, too.",
            autocompletion=_one_of("reinitialised"),
        ),
    ] = None,
    control_draws: Annotated[int, typer.Option(help="Models with fresh weights.")] = 5,
    groups: Annotated[
        str | None,
        typer.Option(help="g.npy with a label for every sample; those of a label belong together."),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            help="Finite motions are verified on these samples: as for --data, or a share of the data, such as 0.2."
        ),
    ] = None,
    bottom: Annotated[
        int | None,
        typer.Option(
            help="Solve for so many of the smallest defects only; for many thousands of candidates."
        ),
    ] = None,
    layers: Annotated[
        bool,
        typer.Option(
            "--layers",
            help="Look into every layer, too, with the same outputs and thresholds; no intervals there.",
        ),
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(
            help="Where to run the model: cpu, cuda, cuda:1, mps; by default where its weights are."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File to keep what was read in: type the same again after a crash, and it goes on."
        ),
    ] = None,
    checkpoint_every: Annotated[
        float, typer.Option(help="Seconds between two writings of the checkpoint, at least.")
    ] = 30.0,
    timeout: Annotated[
        float,
        typer.Option(
            help="Seconds that a process waits for the others, where there are several; two minutes at the start."
        ),
    ] = 1800.0,
    out: Annotated[
        Path | None, typer.Option(help="Run folder for the result and its report.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the symmetries of your model on your data.

    With --out a run folder is written: record.json and arrays.safetensors (liegg.load reads them), the first samples, report.html
    (open it in a browser) and log.txt; `liegg show`, `liegg report` and `liegg compare` read it back. With --quiet the number of
    symmetries alone is printed.

    Examples:

    liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action linear:5x2 --out run

    liegg discover --model nets:cnn --weights w.pt --data images.npy --action image:affine --held-out 0.2 --layers --out run

    liegg discover --model model.pt2 --data x.npz:points --action affine:3x20 --output-action linear:3 --json

    torchrun --nproc-per-node 4 -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda

    srun --ntasks 4 python -m liegg discover --model nets:cnn --weights w.pt --data x.npy --action image --device cuda
    """  # noqa: D412
    with mistakes(PLAIN if checkpoint is None else RESUMABLE):
        from liegg.cli import files
        from liegg.discovery.discover import discover as run
        from liegg.results.run_folder import Clock
        from liegg.studies.ensemble import processes

        clock = Clock()
        tells = processes.rank() == 0  # where several run, the first prints and writes
        hidden = quiet or json or not tells
        wanted = _Wanted(
            model,
            weights,
            data,
            groups,
            held_out,
            device,
            action,
            output_action,
            outputs,
            limit or [],
        )
        folder = out if tells else None
        with files.removed_if_empty(None if folder is None or folder.exists() else folder):
            given = _in_step(lambda: _loaded(wanted, folder), timeout)
            clock.note(f"loaded {model} and {len(given.samples)} samples of {data}")
            if own := files.own_weights(given.network, weights):
                clock.note(own)
                typer.echo(f"liegg: {own}", err=True) if tells else None
            share = len(given.samples) // processes.count()  # that of the first, which shows it
            with bar("reading the data through the model", share, "samples", hidden=hidden) as step:
                sym = run(
                    given.network,
                    given.samples,
                    given.action,
                    output_action=given.reply,
                    outputs=given.outputs,
                    batch_size=batch_size,
                    seed=seed,
                    route=cast(Any, route),
                    controls=controls,
                    control=cast(Any, control),
                    control_draws=control_draws,
                    groups=given.labels,
                    held_out=given.apart,
                    bottom=bottom,
                    progress=step,
                    checkpoint=checkpoint,
                    checkpoint_every=checkpoint_every,
                    timeout=timeout,
                    **given.thresholds,
                )
        clock.note(f"found {sym.nullity} symmetries")
        if tells:
            found = _looked_into(given, batch_size, seed, clock, hidden=hidden) if layers else None
            _told(sym, found, given, clock, out, title, json=json, quiet=quiet)
        processes.end()


class _Wanted(NamedTuple):
    """What was typed, of what is loaded."""

    model: str
    weights: Path | None
    data: str
    groups: str | None
    held_out: str | None
    device: str | None
    action: str
    output_action: str | None
    outputs: str
    thresholds: list[str]


class _Given(NamedTuple):
    """What was loaded."""

    network: Any
    samples: Any
    apart: Any
    labels: Any
    shown: Any
    action: Any
    reply: Any
    outputs: Any
    thresholds: Any


def _in_step(load: Callable[[], _Given], timeout: float) -> _Given:
    """Load where several processes do the same: if one cannot, all say why, and none waits for it."""
    from liegg.polarization.distributed import (
        JOIN_SECONDS,
        check_timeout,
        join,
        leave,
        run_collectively,
    )
    from liegg.studies.ensemble import processes

    check_timeout(timeout)
    processes.joined(min(JOIN_SECONDS, timeout))
    group = join(timeout=timeout)
    try:
        return run_collectively(group, load)
    finally:
        leave(group)


def _loaded(wanted: _Wanted, out: Path | None) -> _Given:
    """Read the words and the files, and try the folder."""
    from liegg.cli import files
    from liegg.studies.ensemble import processes

    action = files.parse_action(wanted.action)
    reply = None if wanted.output_action is None else files.parse_action(wanted.output_action)
    thresholds = files.parse_limits(wanted.thresholds)
    outputs: Any = int(wanted.outputs) if wanted.outputs.isdigit() else wanted.outputs
    samples, apart = files.load_parts(wanted.data, wanted.held_out)
    labels = None
    if wanted.groups is not None:
        labels = files.load_labels(
            wanted.groups, len(samples), 0 if apart is None else len(apart), wanted.held_out
        )
    shown = files.first_samples(samples if apart is None else apart)
    device = None if wanted.device is None else processes.device_here(wanted.device)
    network = files.load_model(wanted.model, wanted.weights, device)
    if out is not None:
        files.check_folder(out)
    return _Given(network, samples, apart, labels, shown, action, reply, outputs, thresholds)


def _looked_into(
    given: _Given, batch_size: int | None, seed: int, clock: Any, *, hidden: bool
) -> Any:
    """The symmetries of every layer."""
    from liegg.discovery.layers.discover_layers import discover_layers

    with bar("looking into the layers", len(given.samples), "samples", hidden=hidden) as step:
        found = discover_layers(
            given.network,
            given.samples,
            given.action,
            output_action=given.reply,
            outputs=given.outputs,
            batch_size=batch_size,
            seed=seed,
            progress=step,
            **given.thresholds,
        )
    clock.note(f"looked into {len(found)} layers")
    return found


def _told(
    sym: Any,
    found: Any,
    given: _Given,
    clock: Any,
    out: Path | None,
    title: str | None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Write the run folder and print the result."""
    from liegg.results.run_folder import write_run

    page = (
        None
        if out is None
        else write_run(out, sym, samples=given.shown, layers=found, clock=clock, title=title)
    )
    if json:
        print_json(sym.to_dict() | ({} if found is None else {"layers": found.to_dict()}))
    elif quiet:
        typer.echo(str(sym.nullity))
    else:
        typer.echo("\n\n".join(str(part) for part in (sym, found) if part is not None))
        typer.echo(f"\nRun folder: {out}\nReport: {page}") if page is not None else None
