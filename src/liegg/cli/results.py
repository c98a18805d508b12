"""`liegg show`, `liegg report` and `liegg compare`: what stored runs say."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from liegg.cli._shared import Json, Quiet, mistakes, print_json

Run = Annotated[
    Path, typer.Argument(help="Folder that liegg discover --out or sym.save(...) wrote.")
]


def show(
    run: Run,
    log: Annotated[
        bool, typer.Option("--log", help="What was typed and when, in place of the result.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print a stored result again.

    With --quiet the number of symmetries and the name of the algebra alone.

    Example: liegg show run
    """
    with mistakes():
        from liegg.results.run_folder import read_log, read_run

        if log:
            text = read_log(run)
            print_json({"log": text}) if json else typer.echo(text, nl=False)
            return
        found = read_run(run)
        sym, layers = found.sym, found.layers
        if json:
            print_json(sym.to_dict() | ({} if layers is None else {"layers": layers.to_dict()}))
        elif quiet:
            typer.echo(f"{sym.nullity} {sym.name}" if sym.nullity else "0")
        else:
            typer.echo("\n\n".join(str(part) for part in (sym, layers) if part is not None))


def report(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(help="The page to write; by default report.html in the folder.")
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option(
            help="x.npy or x.npz:name: samples to move in the page, in place of those in the folder."
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(help="Heading of the page; by default the one it had, or the model's name."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the report of a stored result: one HTML page that needs nothing else. Prints where it is.

    Example: liegg report run --title "Our classifier" --out classifier.html
    """
    with mistakes():
        from liegg.cli.files import first_samples, load_samples
        from liegg.results.run_folder import REPORT, read_run

        found = read_run(run)
        moved = found.samples if samples is None else first_samples(load_samples(samples))
        place = run / REPORT if out is None else out / REPORT if out.is_dir() else out
        page = found.sym.report(
            place, samples=moved, layers=found.layers, title=title or found.title
        )
        if json:
            print_json({"report": str(page), "bytes": page.stat().st_size})
        else:
            typer.echo(str(page) if quiet else f"Report: {page}")


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of one run.")],
    second: Annotated[Path, typer.Argument(help="Folder of another, with the same --action.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Two models side by side: have they the same symmetries, and which is more invariant?

    With --quiet the sentence alone.

    Example: liegg compare plain/ augmented/
    """
    with mistakes():
        from liegg.discovery.compare import compare as hold
        from liegg.results.run_folder import labels
        from liegg.results.storage import load

        results = load(first), load(second)
        named = zip(results, labels(first, second), strict=True)
        found = hold(*(replace(sym, model=f"{label} ({sym.model})") for sym, label in named))
        if json:
            print_json(found.to_dict())
        else:
            typer.echo(found.sentence if quiet else str(found))
