"""`liegg show`, `liegg report` and `liegg compare`: read stored runs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from liegg.cli._shared import (
    INPUT,
    OUTPUT,
    Classes,
    Json,
    Quiet,
    echo,
    exit_codes,
    option,
    print_json,
    print_result,
)

Run = Annotated[
    Path, typer.Argument(help="Folder written by liegg discover --out or sym.save(...).")
]


def show(
    run: Run,
    log: Annotated[
        bool, option(OUTPUT, "Print the log of the commands instead of the result.", "--log")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print a stored result.

    --quiet prints only the number of symmetries and the name of the algebra.

    Example: liegg show run
    """
    with exit_codes():
        from liegg.results.run_folder import read_log, read_run

        if log:
            text = read_log(run)
            print_json({"log": text}) if json else echo(text, newline=False)
            return
        stored = read_run(run)
        short = f"{stored.sym.nullity} {stored.sym.name}" if stored.sym.nullity else "0"
        print_result(stored.sym, stored.layers, short, json=json, quiet=quiet)


def report(
    run: Run,
    out: Annotated[
        Path | None, option(OUTPUT, "Page to write (default: report.html in the folder).")
    ] = None,
    samples: Annotated[
        str | None,
        option(
            INPUT,
            "x.npy or x.npz:name: samples to move on the page, instead of those in the folder.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        option(OUTPUT, "Heading of the page (default: the stored one, or the name of the model)."),
    ] = None,
    classes: Classes = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the report of a stored result as one self-contained HTML page, and print its path.

    Example: liegg report run --title "Our classifier" --out classifier.html
    """
    with exit_codes():
        from liegg.cli.files import class_names, first_samples, load_array
        from liegg.results.run_folder import REPORT, read_run, write_page

        stored = read_run(run)
        options = {
            "samples": stored.samples if samples is None else first_samples(load_array(samples)),
            "layers": stored.layers,
            "title": title or stored.title,
            "classes": class_names(classes) or stored.classes,
        }
        if out is None:
            page = write_page(run, stored.sym, **options)
        else:
            page = stored.sym.report(out / REPORT if out.is_dir() else out, **options)
        if json:
            print_json({"report": str(page), "bytes": page.stat().st_size})
        else:
            echo(str(page) if quiet else f"Report: {page}")


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of one run.")],
    second: Annotated[Path, typer.Argument(help="Folder of another run with the same --action.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two models: do they share symmetries, and which one is more invariant?

    --quiet prints only the conclusion.

    Example: liegg compare plain/ augmented/
    """
    with exit_codes():
        from liegg.discovery.compare import compare as compare_results
        from liegg.results.run_folder import labels
        from liegg.results.storage import load

        named = zip((load(first), load(second)), labels(first, second), strict=True)
        comparison = compare_results(
            *(replace(sym, model=f"{label} ({sym.model})") for sym, label in named)
        )
        if json:
            print_json(comparison.to_dict())
        else:
            echo(comparison.sentence if quiet else str(comparison))
