"""`liegg reproduce`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from liegg.cli._shared import RESUMABLE, Json, Quiet, mistakes, named_bars, print_json


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


def reproduce(
    study: Annotated[
        Study,
        typer.Argument(
            help="Which study; all of them; or claims, which reads what is stored and trains nothing."
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer and smaller networks on shipped data: a look in seconds."
        ),
    ] = False,
    device: Annotated[
        str, typer.Option(help="Where to train and extract: cpu, cuda, cuda:1, mps.")
    ] = "cpu",
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
    with mistakes(RESUMABLE):
        from liegg._utils.errors import ArgumentError
        from liegg.cli.files import check_device, check_folder
        from liegg.studies import claims, runner
        from liegg.studies.ensemble import processes

        if study is not Study.claims:
            check_device(processes.device_here(device))
            check_folder(out)
        elif quick:
            raise ArgumentError(
                "claims reads what is stored and trains nothing: type it without --quick."
            )
        with named_bars(hidden=quiet or json) as progress:
            if study is Study.all:
                results = runner.run_all(out, quick=quick, device=device, progress=progress)
            elif study is Study.claims:
                results = runner.write_claims(out) if processes.rank() == 0 else None
            else:
                results = runner.run(
                    study.value, out, quick=quick, device=device, progress=progress
                )
        whole = study in (Study.all, Study.claims)
        if json and results is not None:
            print_json(results)
        elif results is not None:  # else another process tells
            if not quiet:
                typer.echo(
                    claims.table(claims.evaluate(out))
                    if whole
                    else runner.table(study.value, results)
                )
            typer.echo(
                f"Page: {out / 'index.html'}"
                if whole
                else f"Results: {out / (study.value + '.json')}"
            )
        processes.end()
