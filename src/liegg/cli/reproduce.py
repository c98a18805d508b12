"""`liegg reproduce`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from liegg.cli._shared import (
    INPUT,
    LARGE_RUNS,
    OUTPUT,
    RESUMABLE,
    Json,
    Quiet,
    echo,
    exit_codes,
    option,
    print_json,
    progress_bars,
)

Study = StrEnum(
    "Study",
    [
        "o5",
        "rotmnist",
        "configurations",
        "draws",
        "layerwise",
        "sample-complexity",
        "cifar10",
        "false-discovery",
        "traps",
        "all",
        "claims",
    ],
)
"""The studies of the paper; all of them; or its claims against the stored results."""


def reproduce(
    study: Annotated[
        Study,
        typer.Argument(
            help="A study; all of them; or claims, which reads the stored results and trains nothing."
        ),
    ],
    quick: Annotated[
        bool,
        option(INPUT, "Fewer and smaller networks on included data; takes seconds.", "--quick"),
    ] = False,
    device: Annotated[
        str, option(LARGE_RUNS, "Where to train and analyse: cpu, cuda, cuda:1, mps.")
    ] = "cpu",
    out: Annotated[Path, option(OUTPUT, "Folder for results and figures.")] = Path("results"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the paper and store its results and figures.

    Repeat the command to resume an interrupted run. With several GPUs or machines, start it with torchrun: every process
    trains its share of the networks.

    Examples: liegg reproduce all --device cuda --out results, or
    torchrun --nproc-per-node 4 -m liegg reproduce configurations --device cuda
    """
    with exit_codes(RESUMABLE):
        from liegg._utils.errors import ArgumentError
        from liegg._utils.file_set import check_target
        from liegg.cli.models import check_device
        from liegg.polarization import launcher
        from liegg.studies import claims, runner

        if study is not Study.claims:
            check_device(launcher.local_device(device))
            check_target(out, ())
        elif quick:
            raise ArgumentError(
                "claims reads the stored results and trains nothing: run it without --quick."
            )
        with progress_bars(hidden=quiet or json) as progress:
            if study is Study.claims:
                results = runner.write_claims(out) if launcher.rank() == 0 else None
            elif study is Study.all:
                results = runner.run_all(out, quick=quick, device=device, progress=progress)
            else:
                results = runner.run(str(study), out, quick=quick, device=device, progress=progress)
        if results is not None and json:
            print_json(results)
        elif results is not None:  # only the first process has results
            if study in (Study.all, Study.claims):
                table, place = claims.table(claims.evaluate(out)), f"Page: {out / 'index.html'}"
            else:
                table = runner.table(str(study), results)
                place = f"Results: {out / str(study)}.json"
            echo(place if quiet else f"{table}\n{place}")
        launcher.end()
