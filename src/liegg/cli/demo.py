"""`liegg demo`."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from liegg.cli._shared import (
    OUTPUT,
    TRUST,
    Json,
    Quiet,
    echo,
    exit_codes,
    option,
    print_json,
    progress_bar,
)

if TYPE_CHECKING:
    from torch import Tensor

    from liegg.results.symmetries import Symmetries


FIGURES = ("o5-demo.png", "o5-demo.svg")


def demo(
    seed: Annotated[int, option(TRUST, "Random seed of data, weights and batches.")] = 1,
    out: Annotated[
        Path, option(OUTPUT, "Folder for the result, the figure and the report.")
    ] = Path("demo"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a small network on an O(5)-invariant function and discover so(5) in it.

    Takes a few seconds. Writes a run folder (see `liegg discover --help`) with the figure `o5-demo.png` (and .svg) to --out;
    open its `report.html` in a browser.

    Example: liegg demo --out demo
    """
    with exit_codes():
        import liegg
        from liegg.results.run_folder import Clock, check_run_folder, write_run
        from liegg.results.storage import add_files
        from liegg.studies import o5

        check_run_folder(out, *FIGURES)
        clock = Clock()
        hidden = quiet or json
        label = f"training {' → '.join(map(str, o5.SIZES))} on {o5.MAIN:,} samples"
        with progress_bar(label, o5.epochs(o5.MAIN), "epochs", hidden=hidden) as progress:
            network, inputs, error = o5.train(o5.MAIN, seed, progress=progress)
        clock.note(f"trained on {len(inputs)} samples: mean squared error {error:.3f}")
        label = "searching for symmetries"
        with progress_bar(label, len(inputs), "samples", hidden=hidden) as progress:
            sym = liegg.discover(
                network,
                inputs,
                liegg.Linear(5, copies=2),
                held_out=o5.held_out(seed),
                controls="reinitialised",
                run=liegg.Run(progress=progress),
            )
        sym = replace(sym, model=f"Perceptron {'-'.join(map(str, o5.SIZES))}")
        clock.note(f"found {sym.nullity} symmetries")
        title = "A network trained on an O(5)-invariant function"
        page = write_run(out, sym, samples=inputs[:8], clock=clock, title=title)
        so5 = liegg.so(5)
        with tempfile.TemporaryDirectory() as place:
            overview = liegg.plot.overview(sym, so5, "so(5)")
            drawn = liegg.plot.save_figure(overview, Path(place) / "o5-demo")
            add_files(out, {path.name: path.read_bytes() for path in drawn})
        figures = [out / path.name for path in drawn]
        if json:
            paths = {"figures": [str(path) for path in figures], "report": str(page)}
            print_json(sym.to_dict() | paths)
        elif quiet:
            echo(str(sym.nullity))
        else:
            echo(
                f"trained: mean squared error {error:.3f}\n\n{sym}\n\n"
                f"{_comparison_with_so5(sym, so5)}\n\n"
                f"Result: {out / 'record.json'}\nFigure: {figures[0]}\nReport: {page}\n\n"
                f"{_conclusion(sym, so5)}"
            )


def _comparison_with_so5(sym: "Symmetries", so5: "Tensor") -> str:
    """Variance and bias of each generator as a table."""
    from liegg.algebra.subspace import distance_to_span

    reference = sym.action.as_coefficients(so5).to(sym.coefficients)
    biases = distance_to_span(sym.coefficients, reference)
    rows = zip(sym.account.variances.tolist(), biases.tolist(), strict=True)
    lines = [
        f"  {i:>9}   {variance:>8.4f}   {bias:>18.4f}" for i, (variance, bias) in enumerate(rows, 1)
    ]
    return "\n".join(["  generator   variance   bias against so(5)", *lines])


def _conclusion(sym: "Symmetries", so5: "Tensor") -> str:
    if sym.nullity != len(so5):
        return (
            f"The network learned {sym.nullity} symmetries; so(5) has {len(so5)}. Open the report "
            "to see why."
        )
    angle = float(sym.angles(so5).max().rad2deg())
    return (
        f"Nothing in the network enforces a symmetry, yet it learned {sym.nullity}: those of "
        f"{sym.name}, all rotations in 5 dimensions, to within {angle:.2f}°. Open the report and "
        "move the slider."
    )
