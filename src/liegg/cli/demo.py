"""`liegg demo`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from liegg.cli._shared import Json, Quiet, bar, mistakes, print_json


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the result, the figure and the report.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Decides data, weights and order.")] = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a small network on an O(5)-invariant function and discover so(5) in it.

    Takes some seconds. Writes a run folder (see `liegg discover --help`) with the figure `o5-demo.png` (and .svg) into --out;
    open its `report.html` in a browser.
    """
    with mistakes():
        from liegg.actions import Linear
        from liegg.algebra.catalog import so
        from liegg.cli.files import check_folder
        from liegg.discovery.discover import discover
        from liegg.report.plots import overview, save_figure
        from liegg.results.run_folder import Clock, write_run
        from liegg.studies import o5

        check_folder(out)
        clock = Clock()
        hidden = quiet or json
        with bar(
            "training 10 → 32 → 32 → 32 → 32 → 1 on 10,000 samples",
            o5.epochs(o5.MAIN),
            "epochs",
            hidden=hidden,
        ) as step:
            network, inputs, error = o5.train(o5.MAIN, seed, progress=step)
        clock.note(f"trained on {len(inputs)} samples: mean squared error {error:.3f}")
        with bar("looking for symmetries", len(inputs), "samples", hidden=hidden) as step:
            sym = discover(
                network,
                inputs,
                Linear(5, copies=2),
                held_out=o5.held_out(seed),
                control="reinitialised",
                progress=step,
            )
        sym = replace(sym, model=f"Perceptron {'-'.join(map(str, o5.SIZES))}")
        clock.note(f"found {sym.nullity} symmetries")
        page = write_run(
            out,
            sym,
            samples=inputs[:8],
            clock=clock,
            title="A network trained on an O(5)-invariant function",
        )
        figures = save_figure(overview(sym, so(5), "so(5)"), out / "o5-demo")
        if json:
            print_json(
                sym.to_dict() | {"figures": [str(path) for path in figures], "report": str(page)}
            )
            return
        if quiet:
            typer.echo(f"{sym.nullity}")
            return
        typer.echo(f"trained: mean squared error {error:.3f}\n\n{sym}\n")
        variances, biases = sym.accumulated.variance(sym.coefficients), sym.generator_bias(so(5))
        typer.echo("  generator   variance   bias against so(5)")
        for i in range(sym.nullity):
            typer.echo(f"  {i + 1:>9}   {float(variances[i]):>8.4f}   {float(biases[i]):>18.4f}")
        typer.echo(f"\nResult: {out / 'record.json'}\nFigure: {figures[0]}\nReport: {page}\n")
        if sym.nullity == len(so(5)):
            angle = float(sym.angles(so(5)).max().rad2deg())
            typer.echo(
                f"The network, never told about symmetry, learned {sym.nullity}: they are those of {sym.name}, all rotations of "
                f"5 dimensions, to within {angle:.2f}°. Open the report and move it."
            )
        else:
            typer.echo(
                f"The network learned {sym.nullity} symmetries; so(5) has {len(so(5))}. Open the report to see why."
            )
