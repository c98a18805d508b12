"""The command line: parse, call, print. Imports torch only inside a command, so that help is instant."""

from typing import Annotated

import typer

from liegg._utils.version import __version__
from liegg.cli.demo import demo
from liegg.cli.discover import discover
from liegg.cli.reproduce import reproduce
from liegg.cli.results import compare, report, show

EPILOG = """Examples:

liegg demo

liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action image:affine --held-out 0.2 --out run

liegg show run; liegg report run; liegg compare run other-run

Exit codes: 0 done, 1 an unexpected failure, 2 a mistake in what was typed or given, 130 interrupted (Ctrl-C).
Tab completion: liegg --install-completion."""

app = typer.Typer(
    help="Which continuous symmetries has a trained model learned, how well, and can you trust the answer?",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"liegg {__version__}")
        raise typer.Exit


for command in (demo, discover, show, report, compare, reproduce):
    app.command()(command)
