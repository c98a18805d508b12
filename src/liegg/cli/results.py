"""`liegg show`, `liegg report` and `liegg compare`: read stored runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from liegg._utils.text import printable
from liegg.cli._shared import (
    INPUT,
    OUTPUT,
    QUESTION,
    Classes,
    Json,
    Quiet,
    Variance,
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
    variance: Variance = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print a stored result, stored layers or layer errors.

    --quiet prints only the number of symmetries and the name of the algebra; of layers and their errors, what they show in words.

    Example: liegg show run
    """
    with exit_codes():
        from liegg.results.load import load
        from liegg.results.run_folder import only_result, read_log, read_run

        if log:
            text = read_log(run)
            print_json({"log": text}) if json else echo(text, newline=False)
            return
        how = {"json": json, "quiet": quiet, "variance": variance}
        if kind := only_result(run):
            found = load(run)
            table = found.table() if kind == "group" else found.table(variance=variance)
            text = found.sentence if quiet else printable(table)
            print_json(found.to_dict()) if json else echo(text)
            return
        stored = read_run(run)
        short = f"{stored.sym.nullity} {stored.sym.name}" if stored.sym.nullity else "0"
        if stored.group is not None:
            short = f"{stored.sym.nullity} {stored.group.name}"
        print_result(stored.sym, stored.layers, short, group=stored.group, **how)


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
        from liegg.results.load import load
        from liegg.results.run_folder import GROUP_REPORT, REPORT, only_result, read_run, write_page

        kind = only_result(run)
        name = GROUP_REPORT if kind == "group" else REPORT
        options: dict[str, Any] = {"title": title or None}
        if kind in ("", "group"):
            moved = None if samples is None else first_samples(load_array(samples))
            options |= {"samples": moved, "classes": class_names(classes)}
        if kind:
            result: Any = load(run)
        else:
            stored = read_run(run)
            result = stored.sym
            given = {key: value for key, value in options.items() if value is not None}
            kept = {key: getattr(stored, key) for key in options}
            options = {"layers": stored.layers, **kept, **given}
        place = out / name if out is not None and out.is_dir() else out
        page = (
            write_page(run, result, **options) if place is None else result.report(place, **options)
        )
        if json:
            print_json({"report": str(page), "bytes": page.stat().st_size})
        else:
            echo(str(page) if quiet else f"Report: {page}")


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of one run.")],
    second: Annotated[Path, typer.Argument(help="Folder of another run with the same --action.")],
    layers: Annotated[
        bool, option(QUESTION, "Compare the layers of both runs instead.", "--layers")
    ] = False,
    group: Annotated[
        bool, option(QUESTION, "Compare the finite symmetries of both runs instead.", "--group")
    ] = False,
    about: Annotated[
        list[str] | None,
        option(
            QUESTION, "Named motion to compare; repeatable (default: those that both answered)."
        ),
    ] = None,
    names: Annotated[
        str | None,
        option(OUTPUT, "What to call the models, as in plain,augmented (default: their folders)."),
    ] = None,
    out: Annotated[
        Path | None, option(OUTPUT, "Write the comparison as one self-contained HTML page as well.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two models: do they share symmetries, and which one is more invariant?

    Folders that hold layers alone are compared layer by layer. --quiet prints only the conclusion.

    Example: liegg compare plain/ augmented/ --out comparison.html
    """
    with exit_codes():
        from liegg.discovery.compare import compare as compare_results
        from liegg.results.group_comparison import GroupComparison
        from liegg.results.group_storage import load_group
        from liegg.results.layer_storage import load_layers
        from liegg.results.load import load
        from liegg.results.run_folder import labels

        read: Any = load_layers if layers else load_group if group else load
        called = labels(first, second) if names is None else names.split(",")
        called = ("a", "b") if first == second and names is None else called
        comparison = compare_results(read(first), read(second), about=about, names=called)
        page = None
        if out is not None and isinstance(comparison, GroupComparison):
            raise typer.BadParameter("comparisons of groups have no HTML page. Leave --out out.")
        if out is not None:
            page = comparison.report(out / "comparison.html" if out.is_dir() else out)
        if json:
            print_json(comparison.to_dict() | ({} if page is None else {"report": str(page)}))
        else:
            echo(comparison.sentence if quiet else printable(str(comparison)))
            if page is not None and not quiet:
                echo(f"Report: {page}")
