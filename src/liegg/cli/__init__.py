"""The command line: parse, call, print. Imports torch only inside a command, so that help is instant."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from liegg._errors import LieggError
from liegg._version import __version__

app = typer.Typer(
    help="Which continuous symmetries has a trained model learned, how well, and can you trust the answer?",
    epilog="Exit codes: 0 done, 1 an unexpected failure, 2 a mistake in what was typed or given, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no text, only results.")]


class Study(StrEnum):
    """Studies that can be reproduced; all of them; the claims of the paper against what is stored."""

    o5 = "o5"
    rotmnist = "rotmnist"
    configurations = "configurations"
    draws = "draws"
    layerwise = "layerwise"
    sample_complexity = "sample-complexity"
    cifar10 = "cifar10"
    false_discovery = "false-discovery"
    all = "all"
    claims = "claims"


@app.callback(invoke_without_command=True)
def _main(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        typer.echo(f"liegg {__version__}")
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure and the result.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Decides data, weights and order.")] = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a small network on an O(5)-invariant function and discover so(5) in it.

    Takes some seconds. Writes the figure `o5-demo.png` (and .svg) and the result, which `liegg.load` reads, into --out.
    """
    with _mistakes():
        from liegg.algebra.catalog import so
        from liegg.report.plots import overview, save_figure
        from liegg.studies import o5

        with _bar("training 10 → 32 → 32 → 32 → 32 → 1 on 10,000 samples", o5.epochs(o5.MAIN), hidden=quiet or json) as step:
            network, inputs, error = o5.train(o5.MAIN, seed, progress=step)
        sym = o5.extract(network, inputs)
        sym.save(out)
        figures = save_figure(overview(sym, so(5), "so(5)"), out / "o5-demo")
        if json:
            _print_json(sym.to_dict() | {"figures": [str(path) for path in figures]})
            return
        if quiet:
            typer.echo(f"{sym.nullity}")
            return
        typer.echo(f"trained: mean squared error {error:.3f}\n\n{sym}\n")
        variances, biases = sym.direction_variance(sym.coefficients), sym.generator_bias(so(5))
        typer.echo("  generator   variance   bias against so(5)")
        for i in range(sym.nullity):
            typer.echo(f"  {i + 1:>9}   {float(variances[i]):>8.4f}   {float(biases[i]):>18.4f}")
        if sym.nullity == len(so(5)):
            angle = float(sym.angles(so(5)).max().rad2deg())
            typer.echo(f"\nThe network learned {sym.nullity} symmetries; they span so(5) to within {angle:.2f}°.")
        else:
            typer.echo(f"\nThe network learned {sym.nullity} symmetries; so(5) has {len(so(5))}.")
        typer.echo(f"Figure: {figures[0]}\nResult: {out / 'record.json'}")


@app.command()
def discover(
    model: Annotated[
        str, typer.Option(help="package.module:factory (called without arguments), or an exported program model.pt2.")
    ],
    data: Annotated[str, typer.Option(help="x.npy with samples along the first axis, or x.npz:name.")],
    action: Annotated[
        str, typer.Option(help="linear:5x2 (gl(5) on two vectors), affine:3x20, image, image:affine:28x28, color, image+color.")
    ],
    weights: Annotated[Path | None, typer.Option(help="safetensors file loaded into the factory's module.")] = None,
    output_action: Annotated[str | None, typer.Option(help="Ask for equivariance: action on the outputs, as for --action.")] = None,
    outputs: Annotated[str, typer.Option(help="each, sum (the paper's reading), or a number of random combinations.")] = "each",
    batch_size: Annotated[int | None, typer.Option(help="Samples to a batch; by default what suits their size.")] = None,
    seed: Annotated[int, typer.Option(help="For random combinations.")] = 0,
    route: Annotated[str, typer.Option(help="auto, jvp, vjp or autograd: how derivatives are taken.")] = "auto",
    limit: Annotated[
        list[str] | None, typer.Option(help="What counts as a symmetry, as often as needed: threshold=0.05, strong, minimum_gap, …")
    ] = None,
    controls: Annotated[bool, typer.Option(help="Make intervals and hold directions against random ones.")] = True,
    control: Annotated[str | None, typer.Option(help="reinitialised: the same architecture with fresh weights, too.")] = None,
    control_draws: Annotated[int, typer.Option(help="Models with fresh weights.")] = 5,
    groups: Annotated[
        str | None, typer.Option(help="g.npy with a label for every sample; those of a label belong together.")
    ] = None,
    held_out: Annotated[str | None, typer.Option(help="Samples, as for --data, on which finite motions are verified.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to save the result into.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the symmetries of your model on your data.

    Example: liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action linear:5x2 --out run
    """
    with _mistakes():
        from liegg import files
        from liegg.discovery import discover as run

        acting = files.parse_action(action)
        reply = None if output_action is None else files.parse_action(output_action)
        chosen: Any = int(outputs) if outputs.isdigit() else outputs
        samples = files.load_samples(data)
        apart = None if held_out is None else files.load_samples(held_out)
        labels = None if groups is None else files.load_samples(groups)
        network = files.load_model(model, weights)
        with _bar("reading the data through the model", len(samples), hidden=quiet or json) as step:
            sym = run(
                network, samples, acting, output_action=reply, outputs=chosen, batch_size=batch_size, seed=seed,
                route=cast(Any, route), controls=controls, control=cast(Any, control), control_draws=control_draws,
                groups=labels, held_out=apart, progress=step, **cast(Any, files.parse_limits(limit or [])),
            )  # fmt: skip
        if out is not None:
            sym.save(out)
        if json:
            _print_json(sym.to_dict())
        else:
            typer.echo(str(sym.nullity) if quiet else str(sym))


@app.command()
def reproduce(
    study: Annotated[
        Study, typer.Argument(help="Which study; all of them; or claims, which reads what is stored and trains nothing.")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller networks on shipped data: a look in seconds.")] = False,
    device: Annotated[str, typer.Option(help="Where to train and extract: cpu, cuda, cuda:1, mps.")] = "cpu",
    out: Annotated[Path, typer.Option(help="Folder for results and figures.")] = Path("results"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the paper and store its results and figures.

    A run that was interrupted goes on where it was when the same is typed again. With several GPUs or machines, start it by
    torchrun: every process trains its share of the networks.

    For example: liegg reproduce all --device cuda --out results, or
    torchrun --nproc-per-node 4 -m liegg reproduce configurations --device cuda
    """
    with _mistakes():
        from liegg._errors import ArgumentError
        from liegg.files import check_device, check_folder
        from liegg.studies import claims, runner
        from liegg.studies.ensemble import processes

        if study is not Study.claims:
            check_device(processes.device_here(device))
            check_folder(out)
        elif quick:
            raise ArgumentError("claims reads what is stored and trains nothing: type it without --quick.")
        with _resumable(), _named_bars(hidden=quiet or json) as progress:
            if study is Study.all:
                results = runner.run_all(out, quick=quick, device=device, progress=progress)
            elif study is Study.claims:
                results = runner.write_claims(out) if processes.rank() == 0 else None
            else:
                results = runner.run(study.value, out, quick=quick, device=device, progress=progress)
        if results is None:  # another process tells
            return
        if json:
            _print_json(results)
            return
        whole = study in (Study.all, Study.claims)
        if not quiet:
            typer.echo(claims.table(claims.evaluate(out)) if whole else runner.table(study.value, results))
        typer.echo(f"Page: {out / 'index.html'}" if whole else f"Results: {out / (study.value + '.json')}")


def _print_json(value: dict[str, Any]) -> None:
    from json import dumps

    typer.echo(dumps(value, indent=1, allow_nan=False))


@contextmanager
def _mistakes() -> Iterator[None]:
    """A user's mistake ends with its message and exit code 2, without a traceback."""
    try:
        yield
    except LieggError as error:
        _fail(str(error))


@contextmanager
def _resumable() -> Iterator[None]:
    """Ctrl-C ends with a word on how to go on, and the exit code that shells give it."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("liegg: interrupted. Type the same again to go on from there.", err=True)
        raise typer.Exit(130) from None


def _fail(message: str) -> NoReturn:
    typer.echo(f"liegg: {message}", err=True)
    raise typer.Exit(2)


@contextmanager
def _bar(label: str, total: int, *, hidden: bool) -> Iterator[Callable[[int], object]]:
    """Progress bar on a terminal's standard error; nothing when piped or asked to be quiet."""
    with _named_bars(hidden) as progress:
        yield lambda done: progress(label, done, total)


@contextmanager
def _named_bars(hidden: bool) -> Iterator[Callable[[str, int, int], object]]:
    """Progress bar whose label may change on the way."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), disable=hidden or not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("", total=None)

        def advance(label: str, done: int, total: int) -> None:
            if bar.tasks[0].total != total or bar.tasks[0].finished:  # another piece of work begins
                bar.reset(task, total=total)
            bar.update(task, description=label, advance=done)

        yield advance
